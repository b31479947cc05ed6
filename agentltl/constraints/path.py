"""Paths into arguments and results: where a comparison looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from agentltl.constraints import judgement as j
from agentltl.constraints.judgement import Judgement
from agentltl.constraints.trace import ABSENT, Call
from agentltl.constraints.value import Json
from agentltl.errors import TraceError

if TYPE_CHECKING:
    from agentltl.constraints.compare import Condition

Root = Literal["args", "tool", "agent", "result", "text", "error", "status", "duration", "it", "user", "task"]


@dataclass(frozen=True, slots=True)
class Key:
    name: str


@dataclass(frozen=True, slots=True)
class Index:
    index: int


@dataclass(frozen=True, slots=True)
class Some:
    """`[*]`: some element."""


@dataclass(frozen=True, slots=True)
class Every:
    """`[all]`: every element."""


@dataclass(frozen=True, slots=True)
class Filter:
    """`[kind = "card"]`: some element that matches."""

    conditions: tuple[Condition, ...]


Step = Key | Index | Some | Every | Filter


@dataclass(frozen=True, slots=True)
class Path:
    """A root, the steps from there, and whether the length of what is found is meant."""

    root: Root
    steps: tuple[Step, ...] = ()
    length: bool = False

    @property
    def certain(self) -> bool:
        """A condition on this path is false when nothing is found: there is no `[all]` that an empty list satisfies."""
        return not any(isinstance(step, Every) for step in self.steps)


@dataclass(frozen=True, slots=True)
class Other:
    """The value of a variable that stands for all values not seen: it equals nothing that occurs."""


OTHER = Other()
Env = Mapping[str, Json]
"""What the variables stand for: a value each, or `OTHER`."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What a path may start from: a call, and inside a filter the element. `words` is a message of the user."""

    call: Call
    element: Json = ABSENT
    words: Json = ABSENT

    def within(self, element: Json) -> Frame:
        return replace(self, element=element)

    def root(self, root: Root) -> Json:
        """The value at a root, or `ABSENT`."""
        call = self.call
        match root:
            case "args":
                return call.args
            case "tool":
                return call.approves or call.tool
            case "agent":
                return ABSENT if call.agent is None else call.agent
            case "it":
                return self.element
            case "user" | "task":
                return self.words
            case _:
                return _outcome(call, root)


def _outcome(call: Call, root: Root) -> Json:
    outcome = call.outcome
    if outcome is None or not outcome.settled:
        return ABSENT
    match root:
        case "result":
            return outcome.value
        case "text":
            return ABSENT if outcome.text is None else outcome.text
        case "error":
            return outcome.error or ABSENT
        case "status":
            return ABSENT if outcome.status is None else outcome.status
        case _:
            if call.start is None or outcome.end is None:
                raise TraceError(
                    f"`outcome.duration` needs the times of each call, and a call of `{call.tool}` has none\n"
                    "record a start and an end, or leave the rule out"
                )
            return outcome.end - call.start


def find(path: Path, frame: Frame, env: Env, leaf: Callable[[Json], Judgement]) -> Judgement:
    """Judge what a path leads to.

    `leaf` judges each value that is found; nothing found is no, a step into a value of the wrong kind is undecidable.
    """
    value = frame.root(path.root)
    return j.NO if value is ABSENT else _walk(value, path.steps, path.length, frame, env, leaf)


def _walk(
    value: Json, steps: tuple[Step, ...], length: bool, frame: Frame, env: Env, leaf: Callable[[Json], Judgement]
) -> Judgement:
    if not steps:
        if not length:
            return leaf(value)
        return leaf(len(value)) if isinstance(value, list | dict) else j.UNDECIDABLE
    step, rest = steps[0], steps[1:]
    if isinstance(step, Key):
        if not isinstance(value, dict):
            return j.UNDECIDABLE
        return _walk(value[step.name], rest, length, frame, env, leaf) if step.name in value else j.NO
    if not isinstance(value, list):
        return j.UNDECIDABLE
    match step:
        case Index(index):
            return _walk(value[index], rest, length, frame, env, leaf) if index < len(value) else j.NO
        case Some():
            return j.some(_walk(v, rest, length, frame, env, leaf) for v in value)
        case Every():
            return j.every(_walk(v, rest, length, frame, env, leaf) for v in value)
        case Filter(conditions):
            matching = [j.every(c.judge(frame.within(v), env) for c in conditions) for v in value]
            if length and not rest:
                if j.UNDECIDABLE in matching:
                    return j.UNDECIDABLE
                return leaf(sum(m == j.YES for m in matching))
            return j.some(
                j.every((m, _walk(v, rest, length, frame, env, leaf))) if m != j.NO else j.NO
                for m, v in zip(matching, value, strict=True)
            )
    raise TypeError(f"not a step: {step!r}")


def reached(path: Path, frame: Frame) -> Iterator[Json]:
    """Every value that a path could lead to, whatever its filters say."""
    value = frame.root(path.root)
    values = [] if value is ABSENT else [value]
    for step in path.steps:
        match step:
            case Key(name):
                values = [v[name] for v in values if isinstance(v, dict) and name in v]
            case Index(index):
                values = [v[index] for v in values if isinstance(v, list) and index < len(v)]
            case _:
                values = [element for v in values if isinstance(v, list) for element in v]
    if path.length:
        last_filter = bool(path.steps) and isinstance(path.steps[-1], Filter)
        if last_filter:  # any number of matches up to the length of the list
            short = replace(path, steps=path.steps[:-1], length=False)
            yield from range(max((len(v) for v in reached(short, frame) if isinstance(v, list)), default=-1) + 1)
        else:
            yield from (len(v) for v in values if isinstance(v, list | dict))
    else:
        yield from values


def collect(path: Path, frame: Frame) -> list[Json] | None:
    """The values that a path leads to, filters applied; None where a step meets a value of the wrong kind."""
    steps, per_list = path.steps, path.length and bool(path.steps) and isinstance(path.steps[-1], Filter)
    if per_list:  # how many match, in each list that is found
        lists = collect(replace(path, steps=steps[:-1], length=False), frame)
        inside = [_collect([v], steps[-1:], frame) for v in lists] if lists is not None else [None]
        return None if None in inside else [len(found) for found in inside if found is not None]
    value = frame.root(path.root)
    values = _collect([] if value is ABSENT else [value], steps, frame)
    if not path.length or values is None:
        return values
    return [len(v) for v in values] if all(isinstance(v, list | dict) for v in values) else None


def _collect(values: list[Json], steps: tuple[Step, ...], frame: Frame) -> list[Json] | None:
    for step in steps:
        found: list[Json] = []
        for v in values:
            match step:
                case Key(name):
                    if not isinstance(v, dict):
                        return None
                    found += [v[name]] if name in v else []
                case _ if not isinstance(v, list):
                    return None
                case Index(index):
                    found += v[index : index + 1]
                case Filter(conditions):
                    matching = [j.every(c.judge(frame.within(e), {}) for c in conditions) for e in v]
                    if j.UNDECIDABLE in matching:
                        return None
                    found += [e for e, m in zip(v, matching, strict=True) if m == j.YES]
                case _:
                    found += v
        values = found
    return values
