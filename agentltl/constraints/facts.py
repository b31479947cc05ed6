"""Facts: what is asked of the position itself, of what the user has said and of what earlier results have shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from agentltl.constraints import judgement as j
from agentltl.constraints.compare import Operand, Var, _inside, operand
from agentltl.constraints.comparison import TESTS
from agentltl.constraints.judgement import Judgement
from agentltl.constraints.occurs import occurs_in_text, occurs_in_value
from agentltl.constraints.path import Env, Frame, Other, Path
from agentltl.constraints.proposition import Tools
from agentltl.constraints.trace import ABSENT, Call, Position
from agentltl.constraints.value import Json, Opaque
from agentltl.errors import TraceError

_NONE: frozenset[str] = frozenset()


def _names(*operands: Operand) -> frozenset[str]:
    own = (o.name for o in operands if isinstance(o, Var))
    return frozenset(own).union(*(_inside(o) for o in operands if isinstance(o, Path)))


def _messages(position: Position, fact: str) -> list[str]:
    if position.said is None:
        raise TraceError(
            f"the rule asks for `{fact}`, and this trace does not record what the user said\n"
            "give the messages of the user with the trace, or leave the rule out"
        )
    return [message.text for message in position.said]


class _Unbound:
    """What all facts share: they give no variable its value."""

    __slots__ = ()

    @property
    def variables(self) -> frozenset[str]:
        return _NONE

    @property
    def binds(self) -> frozenset[str]:
        return _NONE

    @property
    def compared(self) -> frozenset[str]:
        return self.variables

    def values(self, position: Position) -> Iterator[tuple[str, Json]]:
        yield from ()


def _each_leaf(value: Json, occurs: Callable[[Json], Judgement]) -> Judgement:
    """Every leaf of a list or object; null occurs nowhere, and of a value that nothing has named it is not known."""
    match value:
        case list():
            return j.every(_each_leaf(v, occurs) for v in value)
        case dict():
            return j.every(_each_leaf(v, occurs) for v in value.values())
        case None:
            return j.NO
        case Opaque() | Other():
            return j.UNDECIDABLE
        case _:
            return occurs(value)


@dataclass(frozen=True, slots=True)
class Said(_Unbound):
    """`said(x)`: x occurs in what the user has said so far."""

    what: Operand

    @property
    def variables(self) -> frozenset[str]:
        return _names(self.what)

    def judge(self, position: Position, env: Env) -> Judgement:
        texts = _messages(position, "said(...)")

        def occurs(value: Json) -> Judgement:
            return j.of(any(occurs_in_text(value, text) for text in texts))

        return operand(self.what, Frame(position.call), env, lambda value: _each_leaf(value, occurs))


@dataclass(frozen=True, slots=True)
class Seen(_Unbound):
    """`seen(x, tool, ...)`: x occurs in the successful result of an earlier call that had settled by then."""

    what: Operand
    tools: tuple[Tools, ...] = ()

    @property
    def variables(self) -> frozenset[str]:
        return _names(self.what)

    def judge(self, position: Position, env: Env) -> Judgement:
        def occurs(value: Json) -> Judgement:
            return j.some(self._in(call, position, value) for call in position.earlier())

        return operand(self.what, Frame(position.call), env, lambda value: _each_leaf(value, occurs))

    def _in(self, call: Call, position: Position, value: Json) -> Judgement:
        if self.tools and not any(tools.match(call.tool) for tools in self.tools):
            return j.NO
        outcome = call.outcome
        if not _settled_before(call, position.call):
            return j.NO
        if outcome is None:
            return j.RUNNING
        if not outcome.ok:
            return j.NO
        if outcome.value is ABSENT or isinstance(outcome.value, Opaque):
            return j.of(outcome.text is not None and occurs_in_text(value, outcome.text))
        return j.of(occurs_in_value(value, outcome.value))


def _settled_before(call: Call, now: Call) -> bool:
    """Had the call settled when this one started: by times, else by steps, else by order."""
    outcome = call.outcome
    if call.start is not None and now.start is not None and (outcome is None or outcome.end is not None):
        return outcome is not None and outcome.end is not None and outcome.end <= now.start
    if call.step is not None and now.step is not None:
        return call.step != now.step
    return True


@dataclass(frozen=True, slots=True)
class Words(_Unbound):
    """`user op x`, `task op x`: a comparison with the latest or the first message of the user."""

    which: Literal["user", "task"]
    op: str
    right: Operand

    @property
    def variables(self) -> frozenset[str]:
        return _names(self.right)

    def judge(self, position: Position, env: Env) -> Judgement:
        texts = _messages(position, self.which)
        if not texts:
            return j.NO
        left, test = texts[-1 if self.which == "user" else 0], TESTS[self.op]
        return operand(self.right, Frame(position.call), env, lambda right: test(left, right))


@dataclass(frozen=True, slots=True)
class SameStep(_Unbound):
    """`same_step`: this call has the step of the one before it."""

    def judge(self, position: Position, env: Env) -> Judgement:
        before = position.previous
        for call in (before, position.call):
            if call is not None and call.step is None:
                raise TraceError(
                    f"the rule asks for `same_step`, and a call of `{call.tool}` has no step\n"
                    "give each call the number of its model message, or leave the rule out"
                )
        return j.of(before is not None and before.step == position.call.step)


@dataclass(frozen=True, slots=True)
class First(_Unbound):
    """`first`: this is the first event."""

    def judge(self, position: Position, env: Env) -> Judgement:
        return j.of(position.previous is None)


@dataclass(frozen=True, slots=True)
class Predicate(_Unbound):
    """`$name(x, ...)`: a Python predicate registered under its name, over the prefix and the values of its operands."""

    name: str
    operands: tuple[Operand, ...] = ()

    @property
    def variables(self) -> frozenset[str]:
        return _names(*self.operands)

    def judge(self, position: Position, env: Env) -> Judgement:
        from agentltl.constraints.predicates import ask

        return ask(self.name, self.operands, position, env)


def paths(fact: object) -> Iterator[Path]:
    """The paths that a fact looks at."""
    for name in ("what", "right"):
        if isinstance(value := getattr(fact, name, None), Path):
            yield value
