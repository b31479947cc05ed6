"""What a guard counts of its refusals: soft ones, identical ones, and the calls that were warned about."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace

from agentltl.constraints.trace import Call
from agentltl.constraints.value import Json, key


@dataclass(frozen=True, slots=True)
class Soft:
    """How many calls a soft constraint has refused in all, and since the last call that was allowed."""

    refused: int = 0
    in_a_row: int = 0


@dataclass(frozen=True, slots=True)
class Warned:
    """A call that `BLOCK_AND_WARN` has refused: in which message (None: not known), and at which proposal."""

    message: int | None
    proposal: int

    def followed_by(self, message: int | None, proposal: int) -> bool:
        """Whether a call belongs to the message after the refusal; without numbers, whether it is the next proposal."""
        if self.message is None or message is None:
            return proposal == self.proposal + 1
        return message == self.message + 1


@dataclass(frozen=True, slots=True)
class Counts:
    """`soft` by the name of a constraint, `warned` by constraint and call; `last` is the call refused last, and
    `repeated` how often it was in a row; `violations` and `overrides` count by constraint."""

    soft: Mapping[str, Soft] = field(default_factory=dict)
    warned: Mapping[tuple[str, Hashable], Warned] = field(default_factory=dict)
    last: Hashable = None
    repeated: int = 0
    violations: Mapping[str, int] = field(default_factory=dict)
    overrides: Mapping[str, int] = field(default_factory=dict)

    @property
    def changed(self) -> bool:
        """Whether an allowed call would change anything."""
        return self.last is not None

    def allowed(self) -> Counts:
        """After a call that was allowed."""
        if not self.soft and self.last is None:
            return self
        soft = {name: Soft(one.refused) for name, one in self.soft.items()}
        return replace(self, soft=soft, last=None, repeated=0)

    def refused(self, call: Call, names: list[str]) -> Counts:
        """After a call that was refused, by these soft constraints among others."""
        own = identity(call)
        soft = {**self.soft}
        for name in names:
            before = soft.get(name, Soft())
            soft[name] = Soft(before.refused + 1, before.in_a_row + 1)
        return replace(self, soft=soft, last=own, repeated=self.repeated + 1 if own == self.last else 1)

    def warn(self, name: str, call: Call, message: int | None, proposal: int) -> Counts:
        """After a refusal that the identical call in the next message overrides."""
        return replace(self, warned={**self.warned, (name, identity(call)): Warned(message, proposal)})

    def insists(self, name: str, call: Call, message: int | None, proposal: int) -> bool:
        """Whether a call insists on what was refused in the message before."""
        warned = self.warned.get((name, identity(call)))
        return warned is not None and warned.followed_by(message, proposal)

    @property
    def insisted_on(self) -> set[str]:
        """The constraints that may give way to a call that was warned about."""
        return {name for name, _ in self.warned}

    def overridden(self, name: str, call: Call) -> Counts:
        """After a call that insisted: it was good for once."""
        left = {own: warned for own, warned in self.warned.items() if own != (name, identity(call))}
        return replace(self, warned=left, overrides={**self.overrides, name: self.overrides.get(name, 0) + 1})

    def handed_over(self) -> Counts:
        """For another model, which has been refused nothing and warned of nothing: what is on record stays."""
        return Counts(violations=self.violations, overrides=self.overrides)

    def violated(self, name: str) -> Counts:
        """After one more violation of a constraint."""
        return replace(self, violations={**self.violations, name: self.violations.get(name, 0) + 1})


def identity(call: Call) -> Hashable:
    """Equal for calls of one tool with equal arguments, in whatever order these are written. NaN, which equals nothing,
    is the same as NaN here; what is opaque is equal to itself alone."""
    return call.tool, _identity(call.args)


def _identity(value: Json) -> Hashable:
    if (own := key(value)) is not None:
        return own
    match value:  # somewhere in it is a NaN
        case dict():
            return "object", frozenset((name, _identity(member)) for name, member in value.items())
        case list():
            return "list", tuple(map(_identity, value))
    return ("number", "NaN")
