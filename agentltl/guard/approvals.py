"""What a guard has asked people about and what they have allowed: each answer is for one call, once, until a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from agentltl.constraints.constraint import Constraint
from agentltl.constraints.names import tools_named
from agentltl.constraints.trace import Call, Outcome
from agentltl.constraints.value import FrozenDict, key, same_value
from agentltl.errors import ConstraintError
from agentltl.guard.decision import Decision

APPROVED = "approved"
"""The name of the event that a person has approved a call; no tool can have it."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A person has allowed a call: for these constraints, between two times in seconds, the ends included."""

    call: Call
    constraints: frozenset[str]
    since: float
    until: float

    def holds(self, call: Call) -> bool:
        """Whether it is for this call, now. A call without a time is at no time."""
        return call.start is not None and self.since <= call.start <= self.until and identical(self.call, call)


@dataclass(frozen=True, slots=True)
class Approvals:
    """`asked` are the refused calls that a person could allow and nobody has answered, the latest of identical ones;
    `grants` the approvals that have not been used: a call that starts uses up all that are for it; `answered` the ids
    of decisions that a person has answered."""

    asked: tuple[Decision, ...] = ()
    grants: tuple[Grant, ...] = ()
    answered: frozenset[str] = frozenset()

    def ask(self, decision: Decision) -> Approvals:
        """A call is refused that a person could allow."""
        return replace(self, asked=(*self._others(decision.call), decision))

    def grant(self, call: Call, constraints: frozenset[str], since: float, until: float) -> Approvals:
        """A call is allowed; for the same constraints that is renewed and not added to, for others what was allowed
        before stays for its own time."""
        left = tuple(g for g in self.grants if not (g.constraints <= constraints and identical(g.call, call)))
        return replace(self, asked=self._others(call), grants=(*left, Grant(call, constraints, since, until)))

    def answer(self, call: Call, id: str) -> Approvals:
        """A person has answered what a decision asked."""
        return replace(self, asked=self._others(call), answered=self.answered | {id})

    def handed_over(self) -> Approvals:
        """For another model: nothing is asked and nothing allowed, and what was asked has no answer any more."""
        ids = (str(decision.id) for decision in self.asked)
        return Approvals(answered=self.answered.union(ids))

    def covers(self, call: Call, constraint: str) -> bool:
        """Whether a person has allowed this call for a constraint."""
        return any(constraint in grant.constraints and grant.holds(call) for grant in self.grants)

    def again(self, call: Call) -> bool:
        """Whether a call is one that was approved and comes a second time."""
        return any(grant.holds(call) for grant in self.grants)

    def used(self, call: Call) -> Approvals:
        """After this call has started: an approval is good for once."""
        left = tuple(grant for grant in self.grants if not identical(grant.call, call))
        return self if len(left) == len(self.grants) else replace(self, asked=self._others(call), grants=left)

    def _others(self, call: Call | None) -> tuple[Decision, ...]:
        return tuple(d for d in self.asked if d.call is None or call is None or not identical(d.call, call))


def identical(one: Call, other: Call) -> bool:
    """Whether two calls are of one agent and one tool, with equal arguments as JSON values. What is opaque is equal to
    itself alone; NaN, which equals nothing, is the same as NaN here."""
    if one.tool != other.tool or one.agent != other.agent:
        return False
    own = key(one.args)
    return same_value(one.args, other.args) if own is None else own == key(other.args)


def event_of(call: Call, by: str | None, step: int | None, start: float) -> Call:
    """The event `approved` for a call. It is ok at once, and its result says by whom, if that is known."""
    came = Outcome.of(FrozenDict() if by is None else FrozenDict(by=by), end=start)
    return Call(APPROVED, call.args, call.id, step, call.agent, start, came, call.tool)


@lru_cache(maxsize=256)
def naming(event: str, constraints: tuple[Constraint, ...]) -> frozenset[str]:
    """The names of the constraints that name an event: `approved`, or `final_answer`, which no others see."""
    return frozenset(constraint.name for constraint in constraints if event in tools_named(constraint.formula))


def refused_call(decision: Decision, approvals: Approvals, forgotten: int) -> Call:
    """The call of a decision that a person can answer; `forgotten` is the number of proposals before a reset."""
    if not isinstance(decision, Decision):
        raise TypeError("an approval is for the decision that `propose` gave")
    call, id = decision.call, decision.id
    if decision.allowed or decision.action == "stop" or call is None or id is None or decision.index is not None:
        raise ConstraintError(
            "this decision asks nobody\napprove or deny one that refuses a call and does not stop the run"
        )
    if id in approvals.answered or proposal_of(decision) <= forgotten:
        raise ConstraintError("this decision has been answered, or forgotten by a reset\npropose the call again")
    return call


def check_answer(by: object, reason: object = "", **times: object) -> None:
    """Raises `ConstraintError` for an answer that cannot be recorded: texts are texts, times are seconds."""
    for name, text in (("reason", reason), ("by", "" if by is None else by)):
        if not isinstance(text, str):
            raise ConstraintError(f"`{name}` of an answer is `{type(text).__name__}`\ngive a text")
    for name, seconds in times.items():
        if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, int | float)):
            raise ConstraintError(f"`{name}` of an approval is `{type(seconds).__name__}`\ngive a Unix time in seconds")


def proposal_of(decision: Decision) -> int:
    """The number of the proposal that a decision refused; 0 for one that refused none."""
    number = (decision.id or "").rpartition("-")[2]
    return int(number) if decision.index is None and number.isdecimal() else 0


def check_name(constraints: tuple[Constraint, ...]) -> None:
    """A tool has the name of the event: under constraints a call of it would pass for an approval."""
    if constraints:
        raise ConstraintError(
            "a tool is named `approved`, and that is the event that a person has approved a call\n"
            "give the tool another name"
        )
