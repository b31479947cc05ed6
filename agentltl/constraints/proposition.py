"""What a proposition asks of one event: a call of some tool, whose arguments and outcome match."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from agentltl.constraints import judgement as j
from agentltl.constraints.compare import Condition, Literal_, Operand, Test, simply
from agentltl.constraints.comparison import glob
from agentltl.constraints.judgement import Judgement
from agentltl.constraints.path import Env, Frame
from agentltl.constraints.trace import ABSENT, Call, Position
from agentltl.constraints.value import Json


class Atom(Protocol):
    """What stands in a `Proposition`: a call pattern or a fact."""

    @property
    def variables(self) -> frozenset[str]:
        """The variables that occur."""

    @property
    def binds(self) -> frozenset[str]:
        """The variables to which it gives their values: it is false, or undecidable, for every value not found."""

    @property
    def compared(self) -> frozenset[str]:
        """The variables that are used in any way whose values `values` does not list."""

    def judge(self, position: Position, env: Env) -> Judgement:
        """Whether it is true at a position, under values for its variables."""

    def values(self, position: Position) -> Iterator[tuple[str, Json]]:
        """Every value that a variable could take here (perhaps more)."""


@dataclass(frozen=True, slots=True)
class Tools:
    """Which tools: names and globs. A group is its members and is printed by its name."""

    members: frozenset[str]
    group: str | None = field(default=None, compare=False)
    exact: frozenset[str] = field(init=False, compare=False, repr=False)
    globs: tuple[str, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        globs = tuple(sorted(m for m in self.members if "*" in m or "?" in m))
        object.__setattr__(self, "globs", globs)
        object.__setattr__(self, "exact", self.members - frozenset(globs))

    @classmethod
    def named(cls, name: str) -> Tools:
        """One name or glob."""
        return cls(frozenset({name}))

    def match(self, tool: str) -> bool:
        return tool in self.exact or any(pattern == "*" or glob(tool, pattern) for pattern in self.globs)


ANY = Tools.named("*")


@dataclass(frozen=True, slots=True)
class Called:
    """A call of one of these tools, whose arguments and whose outcome match."""

    tools: Tools
    args: tuple[Condition, ...] = ()
    outcome: tuple[Condition, ...] = ()
    _hash: int = field(default=0, init=False, compare=False, repr=False)
    _simple: tuple[tuple[str, Test, Operand], ...] | None = field(default=None, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.tools, self.args, self.outcome)))
        simple = [simply(condition) for condition in self.args]
        if all(simple):
            object.__setattr__(self, "_simple", tuple(simple))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return Called, (self.tools, self.args, self.outcome)

    @property
    def variables(self) -> frozenset[str]:
        return frozenset().union(*(c.variables for c in (*self.args, *self.outcome)))

    @property
    def binds(self) -> frozenset[str]:
        return frozenset().union(*(c.binds for c in (*self.args, *self.outcome)))

    @property
    def compared(self) -> frozenset[str]:
        return frozenset().union(*(c.compared for c in (*self.args, *self.outcome)))

    def judge(self, position: Position, env: Env) -> Judgement:
        return self.judge_call(position.call, env)

    def judge_call(self, call: Call, env: Env) -> Judgement:
        """Whether it is true of a call, wherever that stands."""
        if call.tool not in self.tools.exact and not self.tools.match(call.tool):
            return j.NO
        if self._simple is not None and not (self.outcome and call.outcome is not None):
            called = self._called(call.args, self._simple, env)
            return j.every((called, j.RUNNING)) if self.outcome else called
        frame = self.frame(call)
        called = j.every(c.judge(frame, env) for c in self.args)
        if not self.outcome or called == j.NO:
            return called
        if call.outcome is None:
            return j.every((called, j.RUNNING))
        return j.every((called, *(c.judge(frame, env) for c in self.outcome)))

    @staticmethod
    def _called(args: Json, simple: tuple[tuple[str, Test, Operand], ...], env: Env) -> Judgement:
        """Whether the arguments match, where each condition asks for one of them."""
        called = j.YES
        for name, test, right in simple:
            if not isinstance(args, dict):
                called = j.UNDECIDABLE
                continue
            left = args.get(name, ABSENT)
            if left is ABSENT:
                return j.NO
            judged = test(left, right.value if isinstance(right, Literal_) else env[right.name])  # type: ignore[union-attr]
            if judged == j.NO:
                return judged
            if judged != j.YES:
                called = judged
        return called

    def frame(self, call: Call) -> Frame:
        """Where its paths start. The event `approved` has the tool that was approved only where it is named."""
        return Frame(call if call.approves is None or call.tool in self.tools.exact else call._replace(approves=None))

    def values(self, position: Position) -> Iterator[tuple[str, Json]]:
        if self.tools.match(position.call.tool):
            frame = self.frame(position.call)
            for condition in (*self.args, *self.outcome):
                yield from condition.values(frame)


Groups = Mapping[str, list[str] | tuple[str, ...]]
"""Names of groups, and for each its members: tool names, globs, and other groups as `@name`."""
