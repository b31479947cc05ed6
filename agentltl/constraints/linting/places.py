"""Where a path leads in the schemas of a tool, and what a comparison can find there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentltl.constraints.compare import Compare, Literal_
from agentltl.constraints.linting.schema import Shape, shapes
from agentltl.constraints.path import Filter, Key, Step

_COUNTED = {"type": "integer", "minimum": 0}


@dataclass(frozen=True, slots=True)
class Stuck:
    """A path that leads nowhere: how many of its steps lead somewhere, and the names there are at the next."""

    done: int
    known: tuple[str, ...] = ()


def walk(found: list[Shape], steps: Sequence[Step]) -> list[Shape] | Stuck:
    """What stands at the end of a path. Filters are not looked at: what they select are elements."""
    for done, step in enumerate(steps):
        if isinstance(step, Key):
            after = [inner for shape in found for inner in shape.at_key(step.name)]
            known = tuple(name for shape in found for name in shape.keys or ())
        else:
            after, known = [inner for shape in found for inner in shape.elements()], ()
        if not after:
            return Stuck(done, known)
        found = after
    return found


def passes(found: list[Shape], condition: Compare) -> bool:
    """Whether some value can pass, wherever a path leads to these shapes. An empty list passes whatever stands after
    `[all]`."""
    path = condition.path
    if not path.certain:
        return True
    if path.length:
        measured = any(shape.kinds & {"list", "object"} for shape in found)
        if path.steps and isinstance(path.steps[-1], Filter):
            measured = True  # how many match
        found = shapes(_COUNTED) if measured else []
    if isinstance(condition.right, Literal_):
        return any(shape.passes(condition.op, condition.right.value) for shape in found)
    return bool(found)


def told(found: list[Shape]) -> str:
    """What a schema says of a value, in short."""
    for shape in found:
        if (values := shape.listed) is not None:
            return f"one of {', '.join(f'`{v}`' for v in values[:6])}"
    said = sorted(frozenset[str]().union(*(shape.kinds for shape in found)))
    limits = [
        f"{name} {shape.own[name]}" for shape in found
        for name in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum") if name in shape.own
    ]  # fmt: skip
    return ", ".join([" or ".join(said) or "nothing", *limits])
