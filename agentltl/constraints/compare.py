"""Comparisons: what is asked of the value that a path leads to.

A missing path makes a comparison false, a negated one too; a value of the wrong kind makes it undecidable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from agentltl.constraints import judgement as j
from agentltl.constraints.comparison import BY_VARIABLE, TESTS
from agentltl.constraints.judgement import Judgement
from agentltl.constraints.path import Env, Filter, Frame, Key, Path, find, reached
from agentltl.constraints.value import Json, key


@dataclass(frozen=True, slots=True)
class Literal_:
    """A JSON value written in a formula; `=` between two of them is JSON's."""

    value: Json

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal_) and key(self.value) == key(other.value)

    def __hash__(self) -> int:
        return hash(key(self.value))


@dataclass(frozen=True, slots=True)
class Var:
    """A variable, written `?name`."""

    name: str


Operand = Literal_ | Var | Path


def operand(right: Operand, frame: Frame, env: Env, leaf: Callable[[Json], Judgement]) -> Judgement:
    """Judge the value of the right side of a comparison, or of what a fact asks for."""
    match right:
        case Literal_(value):
            return leaf(value)
        case Var(name):
            return leaf(env[name])
        case Path():
            return find(right, frame, env, leaf)


@dataclass(frozen=True, slots=True)
class Compare:
    """`path op right`."""

    path: Path
    op: str
    right: Operand

    @property
    def test(self) -> Test:
        """How two values that are there are judged."""
        return BY_VARIABLE[self.op] if isinstance(self.right, Var) and self.op in BY_VARIABLE else TESTS[self.op]

    def judge(self, frame: Frame, env: Env) -> Judgement:
        test = self.test
        return find(
            self.path, frame, env, lambda left: operand(self.right, frame, env, lambda right: test(left, right))
        )

    @property
    def variables(self) -> frozenset[str]:
        right = self.right
        return _names(right) | _inside(self.path) | (_inside(right) if isinstance(right, Path) else frozenset())

    @property
    def binds(self) -> frozenset[str]:
        """The variables to which this condition gives their value: it is false for every value that does not occur."""
        if not self.path.certain:
            return frozenset()
        own = frozenset({self.right.name}) if self.op == "=" and isinstance(self.right, Var) else frozenset()
        return own if self.path.length else own | _bound_inside(self.path)

    @property
    def compared(self) -> frozenset[str]:
        """The variables that are used other than by `=` and `!=`: `values` does not list what matters to them."""
        right = self.right
        own = _names(right) if self.op not in ("=", "!=") else frozenset()
        inside = _compared_inside(right) if isinstance(right, Path) else frozenset()
        return own | inside | _compared_inside(self.path)

    def values(self, frame: Frame) -> Iterator[tuple[str, Json]]:
        """Every value that a variable could take here, or that its use by `=` or `!=` tells from others."""
        if self.op in ("=", "!=") and isinstance(self.right, Var):
            yield from ((self.right.name, value) for value in reached(self.path, frame))
        yield from _values_inside(self.path, frame)
        if isinstance(self.right, Path):
            yield from _values_inside(self.right, frame)


@dataclass(frozen=True, slots=True)
class Present:
    """A bare path: it is there (null too)."""

    path: Path

    def judge(self, frame: Frame, env: Env) -> Judgement:
        return find(self.path, frame, env, lambda value: j.YES)

    @property
    def variables(self) -> frozenset[str]:
        return _inside(self.path)

    @property
    def compared(self) -> frozenset[str]:
        return _compared_inside(self.path)

    @property
    def binds(self) -> frozenset[str]:
        return _bound_inside(self.path) if self.path.certain and not self.path.length else frozenset()

    def values(self, frame: Frame) -> Iterator[tuple[str, Json]]:
        yield from _values_inside(self.path, frame)


@dataclass(frozen=True, slots=True)
class Flag:
    """`ok` or `failed`: how a call settled."""

    name: Literal["ok", "failed"]

    def judge(self, frame: Frame, env: Env) -> Judgement:
        outcome = frame.call.outcome
        return j.of(outcome is not None and (outcome.ok if self.name == "ok" else outcome.failed))

    @property
    def variables(self) -> frozenset[str]:
        return frozenset()

    binds = compared = variables

    def values(self, frame: Frame) -> Iterator[tuple[str, Json]]:
        yield from ()


Condition = Compare | Present | Flag


Test = Callable[[Json, Json], Judgement]


def simply(condition: Condition) -> tuple[str, Test, Operand] | None:
    """The one argument that a condition asks for, how, and what it is compared with; None where there is more to it."""
    if not isinstance(condition, Compare) or isinstance(condition.right, Path):
        return None
    path = condition.path
    if path.root != "args" or path.length or len(path.steps) != 1 or not isinstance(path.steps[0], Key):
        return None
    return path.steps[0].name, condition.test, condition.right


def _filters(path: Path) -> Iterator[Condition]:
    for step in path.steps:
        if isinstance(step, Filter):
            yield from step.conditions


def _names(right: Operand) -> frozenset[str]:
    return frozenset({right.name}) if isinstance(right, Var) else frozenset()


def _compared_inside(path: Path) -> frozenset[str]:
    return frozenset().union(*(c.compared for c in _filters(path)))


def _inside(path: Path) -> frozenset[str]:
    return frozenset().union(*(c.variables for c in _filters(path)))


def _bound_inside(path: Path) -> frozenset[str]:
    return frozenset().union(*(c.binds for c in _filters(path)))


def _values_inside(path: Path, frame: Frame) -> Iterator[tuple[str, Json]]:
    for place, step in enumerate(path.steps):
        if isinstance(step, Filter) and any(c.variables for c in step.conditions):
            for element in reached(Path(path.root, (*path.steps[:place], step)), frame):
                for condition in step.conditions:
                    yield from condition.values(frame.within(element))
