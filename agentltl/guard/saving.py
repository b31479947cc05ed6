"""A guard as plain JSON data: its rules and settings, and what has happened; nothing that follows from these.

It is made again by letting the same things happen to a new guard.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from agentltl.constraints.trace import ABSENT, Call, Outcome
from agentltl.constraints.value import Json, Lost, Opaque, as_text, freeze, read_text, same_value
from agentltl.errors import ConstraintError

if TYPE_CHECKING:
    from agentltl.guard.state import Event, Turn

VERSION = 1
_BITS = 2_000
"""Integers of at most so many bits are written as numbers; Python and JSON readers bound what they read as digits."""
_KINDS: dict[str, type] = {
    "constraints": list, "severities": dict, "settings": dict, "limits": dict, "fields": dict, "before": list,
    "events": list,
}  # fmt: skip
_DAMAGED = "give what `guard.to_state()` gave, unchanged"


class Known:
    """The opaque values of one state: each object has a number in it, so that it stays the same as itself and no other.

    In another process it is a new object, equal to none that is met there.
    """

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._values: dict[int, Opaque] = {}

    def number(self, value: Opaque) -> int:
        """The number of the object."""
        return self._numbers.setdefault(id(value.value), len(self._numbers))

    def value(self, number: int, text: str, kind: str) -> Opaque:
        """The object of that number, which had this text and was of a class of this name."""
        return self._values.setdefault(number, Opaque(Lost(text, kind)))


def encoded(value: Json, known: Known) -> Json:
    """A frozen value as JSON: what JSON has no words for (NaN, infinities, integers of hundreds of digits, opaque
    values) as an object of a `$` key."""
    match value:
        case dict():
            plain = {name: encoded(member, known) for name, member in value.items()}
            return {"$object": plain} if len(plain) == 1 and next(iter(plain)).startswith("$") else plain
        case list():
            return [encoded(member, known) for member in value]
        case Opaque():
            return {"$opaque": [known.number(value), as_text(value.value), repr(value)[1:-1]]}
        case float() if not math.isfinite(value):
            return {"$number": repr(value)}
        case int() if value.bit_length() > _BITS:
            return {"$number": hex(value)}
        case _:
            return value


def decoded(value: Json, known: Known) -> Json:
    """What `encoded` was made from."""
    match value:
        case {"$opaque": [int(number), str(text), str(kind)]}:
            return known.value(number, text, kind)
        case {"$number": text}:
            return int(text, 16) if "x" in text else float(text)
        case {"$object": members}:
            return freeze({name: decoded(member, known) for name, member in members.items()})
        case dict():
            return freeze({name: decoded(member, known) for name, member in value.items()})
        case list():
            return freeze([decoded(member, known) for member in value])
        case _:
            return value


def event_data(
    event: Event, calls: list[Call], turns: Mapping[int, tuple[int | None, Turn]], known: Known
) -> dict[str, Json]:
    """One event as JSON; `turns` are the messages of managed agents, by their steps."""
    match event:
        case ("said", text):
            return {"said": text}
        case ("watching", on):
            return {"watching": on}
        case ("handed over",):
            return {"handed_over": True}
        case Call():
            return event_data(("propose", event, event.step), calls, turns, known)
        case int():
            return {"settled": event, **outcome_data(calls[event].outcome or Outcome(), known)}
        case ("approve" | "deny" as kind, Call() as call, Mapping() as answer):
            data = {kind: call.tool, "args": encoded(call.args, known), **_present(call), "step": call.step}
            said = {name: encoded(value, known) for name, value in answer.items() if value is not None}
            return {**data, "answer": said}
        case ("finish", call, step, last):
            given = {} if call is None else {"args": encoded(call.args, known), **_present(call)}
            return {"finish": last, "step": step, **given}
        case (kind, Call() as call, step):
            asked = None if call.step is None else turns.get(call.step)
            turn = {} if asked is None else {"turn": list(asked[1])}
            return {str(kind): call.tool, "args": encoded(call.args, known), "step": step, **_present(call), **turn}
    raise TypeError(f"not an event of a guard: {event!r}")


def _present(call: Call) -> dict[str, Json]:
    given = {"id": call.id, "agent": call.agent, "start": call.start}
    return {name: value for name, value in given.items() if value is not None}


def outcome_data(outcome: Outcome, known: Known) -> dict[str, Json]:
    """An outcome as JSON; its value only where the text does not say it."""
    data: dict[str, Json] = {"text": outcome.text, "error": outcome.error, "status": outcome.status, "end": outcome.end}
    kept = {name: value for name, value in data.items() if value is not None}
    read = ABSENT if outcome.text is None else read_text(outcome.text, ABSENT)
    if outcome.value is ABSENT:
        return kept if read is ABSENT else {**kept, "plain": True}
    return kept if same_value(read, outcome.value) else {**kept, "value": encoded(outcome.value, known)}


def outcome_of(data: Mapping[str, Json], known: Known) -> Outcome:
    """The outcome that `outcome_data` was made from."""
    text = data.get("text")
    value = ABSENT if text is None or data.get("plain") else read_text(text, ABSENT)
    if "value" in data:
        value = decoded(data["value"], known)
    return Outcome(text, value, data.get("error"), data.get("status"), data.get("end"))


def checked(state: object) -> Mapping[str, Any]:
    """The data, if it is that of a guard in a version that this package reads, and has all its parts."""
    if not isinstance(state, Mapping) or state.get("kind") != "agentltl guard":
        raise ConstraintError("this is not the state of a guard\ngive what `guard.to_state()` gave")
    if state.get("version") != VERSION:
        raise ConstraintError(
            f"this state of a guard has version {state.get('version')}, and this package reads version {VERSION}\n"
            "read it with the release that wrote it"
        )
    for name, kind in _KINDS.items():
        if not isinstance(state.get(name), kind):
            found = "is missing" if name not in state else f"is no {'list' if kind is list else 'object'}"
            raise ConstraintError(f"`{name}` of this state of a guard {found}\n{_DAMAGED}")
    before = state["before"]
    if len(before) != 2 or any(type(number) is not int or number < 0 for number in before):
        raise ConstraintError(f"`before` of this state of a guard is no pair of counts\n{_DAMAGED}")
    return state


@contextmanager
def reading(part: str) -> Iterator[None]:
    """What cannot be read in a part of the state of a guard is a `ConstraintError` that names the part."""
    try:
        yield
    except ConstraintError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        said = f"{type(error).__name__}: {error}"
        raise ConstraintError(f"{part} of this state of a guard cannot be read ({said})\n{_DAMAGED}") from error
