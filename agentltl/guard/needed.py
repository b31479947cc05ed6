"""A plan without what it does not need: arguments, results, and how its calls settle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from math import prod

from agentltl.constraints.joint import anything
from agentltl.constraints.search import Aim
from agentltl.constraints.trace import ABSENT, Call, Outcome
from agentltl.constraints.value import FrozenDict
from agentltl.guard.planned import PlannedCall, without_argument, without_result
from agentltl.guard.scene import Scene

Less = Callable[[Call], Iterable[Call]]
"""Gives a call with one thing less, in each way there is."""
MOST_WAYS = 100
"""In how many ways the calls of a plan may settle for all of these to be replayed."""


def serves(scene: Scene, aims: Mapping[str, Aim], calls: Sequence[Call], kept: Sequence[str]) -> bool:
    """Whether the calls lead to the aims, and break nothing that refuses or is to be kept."""
    for name in dict.fromkeys([*aims, *scene.blocking, *kept]):
        end = scene.played(name, calls, keep=name in kept or name not in scene.tolerated)
        if end is None or not aims.get(name, anything)(*end):
            return False
    return True


def needed(
    scene: Scene, aims: Mapping[str, Aim], kept: Sequence[str], calls: Sequence[Call]
) -> tuple[PlannedCall, ...]:
    """The calls as they are planned. `kept` are the constraints that they keep though these do not refuse."""
    plan = _Plan(scene, aims, kept, calls)
    return tuple(map(plan.trimmed, range(len(calls))))


class _Plan:
    """A plan that is being trimmed: `ways` are, for each call, those in which it serves."""

    def __init__(self, scene: Scene, aims: Mapping[str, Aim], kept: Sequence[str], calls: Sequence[Call]) -> None:
        self.scene, self.aims, self.kept = scene, aims, kept
        self.ways = [[call] for call in calls]

    def trimmed(self, place: int) -> PlannedCall:
        """The call at a place with as little as serves, whatever else comes of it and of the calls before it."""
        call = self._less(place, self.ways[place][0], without_argument)
        every = [call.settle(came._replace(end=self.scene.ahead.now)) for came in self.scene.outcomes(call.tool)]
        alike = [way for way in every if _came(way).failed is _came(call).failed]
        if self._serves(place, every):
            self.ways[place] = every
            return PlannedCall(call.tool, call.args)
        if self._serves(place, alike):
            self.ways[place] = alike
            return PlannedCall.of(call)
        telling = (way for way in alike if _came(way).value not in (ABSENT, FrozenDict()))
        call = next((way for way in telling if self._serves(place, [way])), call)
        call = self._less(place, call, without_result)
        self.ways[place] = [call]
        return PlannedCall.of(call, exact=True)

    def _less(self, place: int, call: Call, less: Less) -> Call:
        """The call with one thing less, again and again, as long as that serves."""
        while (smaller := next((c for c in less(call) if self._serves(place, [c])), None)) is not None:
            call = smaller
        return call

    def _serves(self, place: int, tried: Sequence[Call]) -> bool:
        """Whether the plan serves with each of these calls at a place."""
        ways = [*self.ways[:place], list(tried), *self.ways[place + 1 :]]
        if prod(map(len, ways)) > MOST_WAYS:  # then the other calls settle in one way
            ways = [own if at == place else own[:1] for at, own in enumerate(ways)]
        return all(serves(self.scene, self.aims, calls, self.kept) for calls in product(*ways))


def _came(call: Call) -> Outcome:
    return call.outcome or Outcome()
