"""A planned call: what a plan needs of one call, and no more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agentltl.constraints.candidates import FAILED
from agentltl.constraints.trace import ABSENT, Call, Outcome
from agentltl.constraints.value import FrozenDict, Json, show


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One call of a plan.

    `tool` is a name, a glob that rules name (any tool that matches), or `*` (any tool of which no rule speaks).
    `args` are the arguments that matter; `"..."` stands for a value that no rule asks for.
    `outcome` is how it must settle, `any` if that does not matter; `result` is one that serves, absent if any does, and
    empty if one serves in which the rules find nothing. `also` are conditions on the rest of the outcome, as in a rule.
    """

    tool: str
    args: Json
    outcome: Literal["any", "ok", "failed"] = "any"
    result: Json = ABSENT
    also: tuple[str, ...] = ()

    @classmethod
    def of(cls, call: Call, *, exact: bool = False) -> PlannedCall:
        """A settled call as it is planned; `exact`: what came of it matters, if only that it was nothing."""
        came = call.outcome or Outcome()
        how: Literal["ok", "failed"] = "failed" if came.failed else "ok"
        if not exact:
            return cls(call.tool, call.args, how)
        more = {"text": came.text, "status": came.status, "error": came.error if came.error != FAILED.error else None}
        also = tuple(f"outcome.{name} = {show(text)}" for name, text in more.items() if text is not None)
        nothing = ABSENT if also else FrozenDict()
        return cls(call.tool, call.args, how, nothing if came.value is ABSENT else came.value, also)

    @property
    def rests_on_result(self) -> bool:
        """Whether the plan serves only if this call returns something that the rules ask for."""
        return bool(self.also) or (self.result is not ABSENT and self.result != FrozenDict())

    def __str__(self) -> str:
        """As a proposition: `get_order(order_id = "W1")[ok]`."""
        args = ", ".join(f"{name} = {show(value)}" for name, value in self.args.items())
        needs: list[str] = [] if self.outcome == "any" else [self.outcome]
        if isinstance(self.result, dict) and self.result:
            needs += [f"{name} = {show(value)}" for name, value in self.result.items()]
        elif self.result is not ABSENT:
            needs.append(f"result = {show(self.result)}")
        needs += self.also
        return self.tool + (f"({args})" if args else "") + (f"[{', '.join(needs)}]" if needs else "")


def without_argument(call: Call) -> list[Call]:
    """The same call without one of its arguments."""
    args = call.args
    return [call._replace(args=FrozenDict({k: v for k, v in args.items() if k != name})) for name in args]


def without_result(call: Call) -> list[Call]:
    """The same call with one thing less in a result that holds several."""
    came = call.outcome or Outcome()
    if not isinstance(came.value, dict) or len(came.value) < 2:
        return []
    less = [FrozenDict({k: v for k, v in came.value.items() if k != name}) for name in came.value]
    return [call.settle(came._replace(value=value)) for value in less]
