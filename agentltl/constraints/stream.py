"""Judging a run of any length call by call, without keeping it: what is remembered is what its rules need.

A rule without variables needs one state, one with variables the values that are open. `seen`, registered predicates and
registered domains look at all earlier calls, so with such a rule all are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import NamedTuple, overload

from agentltl.constraints.check import naming
from agentltl.constraints.constraint import Constraint, constraints_of
from agentltl.constraints.course import course
from agentltl.constraints.trace import NEVER, SPECIAL, Call, Message, Position
from agentltl.constraints.value import Json
from agentltl.constraints.walk import Walk
from agentltl.errors import ConstraintError, TraceError


class Breach(NamedTuple):
    """A call that violates constraints, by its place in the run, from 0; the number of calls means the end."""

    call: int
    constraints: tuple[str, ...]


def judge_stream(
    calls: Iterable[Call],
    constraints: Sequence[Constraint | Mapping[str, Json]] | str | PathLike[str],
    *,
    messages: Sequence[Message] | None = None,
) -> Iterator[Breach]:
    """Judge the calls of one run as they come: each that violates constraints is reported before the next is asked for.

    Calls come in the order in which they started and have their outcomes; one without never settled. When they end,
    what is still owed is a breach at the end. These are the violations that `verify_many` lists. `messages` are those
    of the user (None: not recorded).

    Memory does not grow with the run, but for values that are open (`G (open(f = ?f) -> F close(f = ?f))`: the files
    that are open), for what a window looks back to, and for rules that look at all earlier calls: `seen`, predicates
    and registered domains.

    Raises `TraceError` for a call that lacks what a rule needs, `ConstraintError` for a constraint that makes no sense,
    or with a `where`: a stream has no fields.
    """
    rules = constraints_of(constraints)
    for rule in rules:
        if rule.where is not None:
            raise ConstraintError(
                f"constraint `{rule.name}` has a `where`, and a stream of calls has no fields\n"
                "leave the constraint out, or judge whole traces: verify_many(...)"
            )
    return _breaches(calls, rules, messages)


def _breaches(
    calls: Iterable[Call], rules: tuple[Constraint, ...], messages: Sequence[Message] | None
) -> Iterator[Breach]:
    names = tuple(rule.name for rule in rules)
    ready = course(tuple(rule.formula for rule in rules))
    walk, past = Walk(ready), Past(everything=ready.past)

    def look(index: int) -> Position:
        return Position(past[index], index, past, messages)

    try:
        for index, places in walk.breaches(past.following(calls), look):
            yield Breach(index, tuple(names[place] for place in places))
    except TraceError as error:
        last = len(past) - 1
        place = walk.failing(look(last))
        named = error if place is None else naming(rules[place], error)
        raise TraceError(f"call {last}: {named}") from error
    if owed := walk.owed:
        yield Breach(len(past), tuple(names[place] for place in owed))


class Past(Sequence[Call]):
    """The calls so far, of which only the last ones are kept, unless `everything` is: the call that comes, and those
    from the one before on that is an event for every rule."""

    def __init__(self, everything: bool) -> None:
        self.everything = everything
        self._kept: list[Call] = []
        self._dropped = 0

    def following(self, calls: Iterable[Call]) -> Iterator[Call]:
        """The calls, each added when it is asked for, as one that has settled."""
        kept, everything = self._kept, self.everything
        for call in calls:
            if call.outcome is None:
                call = call.settle(NEVER)
            if not everything and len(kept) > 1 and kept[-1].tool not in SPECIAL:
                self._dropped += len(kept) - 1
                del kept[:-1]
            kept.append(call)
            yield call

    def __len__(self) -> int:
        return self._dropped + len(self._kept)

    @overload
    def __getitem__(self, index: int) -> Call: ...
    @overload
    def __getitem__(self, index: slice) -> list[Call]: ...
    def __getitem__(self, index: int | slice) -> Call | list[Call]:
        """A call by its place; an `IndexError` for one that is no longer kept."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        place = (index if index >= 0 else index + len(self)) - self._dropped
        if place < 0:
            raise IndexError(f"call {index} is no longer kept")
        return self._kept[place]
