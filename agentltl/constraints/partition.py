"""The infinite domain of a variable, as a partition: values whose state is equal share one part, and all values that no
event has named share another.

An event moves all values of a part together, so it costs the number of distinct states and not of values. The maps are
persistent: a partition is never changed, and two of them share what they have in common.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple, Self, cast

from immutables import Map

from agentltl.constraints.body import Config
from agentltl.constraints.mixes import Mix
from agentltl.constraints.value import Json

Value = tuple[Json, ...]
"""One value for each variable of a prefix of quantifiers."""


NOWHERE: Map[Hashable, int] = Map()
NONE: Mapping[int, Part] = {}
_new = tuple.__new__
Named = tuple[Hashable, Value, Config]
"""A value that an event names, under its key, and the state that it is in after the event."""


class Part(NamedTuple):
    """The values, each under its key, that are in one state."""

    config: Config
    values: Map[Hashable, Value]


class _Partition(NamedTuple):
    other: Config
    parts: Mapping[int, Part]
    homes: Map[Hashable, int]
    made: int
    mix: Mix | None


class Partition(_Partition):
    """`other` is the state of all values that no part holds; `homes` says in which part a value is, and `made` is how
    many parts there have been. `mix` is what is known of its states, where that is kept."""

    __slots__ = ()

    def __new__(
        cls,
        other: Config,
        parts: Mapping[int, Part] = NONE,
        homes: Map[Hashable, int] = NOWHERE,
        made: int = 0,
        mix: Mix | None = None,
    ) -> Self:
        return _new(cls, (other, parts, homes, made, mix))

    def __reduce__(self) -> tuple[object, ...]:
        return Partition, (self.other, self.parts, self.homes, self.made)

    def of(self, key: Hashable) -> Config:
        """The state of a value."""
        home = self.homes.get(key)
        return self.other if home is None else self.parts[home].config

    def configs(self) -> Iterator[Config]:
        """The distinct states, that of all other values first."""
        yield self.other
        for part in self.parts.values():
            yield part.config

    def moved(self, move: Callable[[Config], Config], named: Sequence[Named]) -> Partition:
        """After an event: every state moves, but that of the values which the event names; those have their new one."""
        other = move(self.other)
        moved = other is not self.other
        parts: dict[int, Part] = {}
        for number, part in self.parts.items():
            config = move(part.config)
            if config is not part.config:
                moved = True
                part = Part(config, part.values)
            parts[number] = part
        if not moved and all(self.of(own) is config for own, _, config in named):
            return self
        return _settled(other, parts, self.homes, self.made, named, moved)

    def put(self, key: Hashable, value: Value, config: Config) -> Partition:
        """With one value in a new state; the others stay where they are."""
        other, parts, homes, made, mix = self
        if key not in homes:
            for number, part in parts.items():
                if part.config is config:
                    into = _new(Part, (config, part.values.set(key, value)))
                    return _new(Partition, (other, {**parts, number: into}, homes.set(key, number), made, mix))
        after = _settled(other, dict(parts), homes, made, ((key, value, config),), False)
        return after if after.parts.keys() != parts.keys() else after._replace(mix=mix)


def _settled(
    other: Config,
    parts: dict[int, Part],
    homes: Map[Hashable, int],
    made: int,
    named: Sequence[Named],
    moved: bool,
) -> Partition:
    """The values put into the part of their state, and parts in one state put together, the smaller into the larger."""
    for key, value, config in named:
        home = homes.get(key)
        if home is not None:
            part = parts[home]
            if part.config == config:
                continue
            left = part.values.delete(key)
            if left:
                parts[home] = Part(part.config, left)
            else:
                del parts[home]
        if config == other:
            if home is not None:
                homes = homes.delete(key)
            continue
        for number, part in parts.items():
            if part.config == config:
                parts[number] = Part(config, part.values.set(key, value))
                break
        else:
            number, made = made, made + 1
            parts[number] = Part(config, cast("Map[Hashable, Value]", Map({key: value})))
        homes = homes.set(key, number)
    if moved:
        homes = _joined(other, parts, homes)
    return Partition(other, parts, homes, made)


def _joined(other: Config, parts: dict[int, Part], homes: Map[Hashable, int]) -> Map[Hashable, int]:
    by_config: dict[Config, int] = {}
    for number in sorted(parts, key=lambda n: -len(parts[n].values)):
        part = parts[number]
        if part.config == other:
            homes = _rehomed(homes, part.values, None)
            del parts[number]
        elif (first := by_config.setdefault(part.config, number)) != number:
            homes = _rehomed(homes, part.values, first)
            values = parts[first].values.update(part.values)
            parts[first] = Part(part.config, values)
            del parts[number]
    return homes


def _rehomed(homes: Map[Hashable, int], values: Map[Hashable, Value], home: int | None) -> Map[Hashable, int]:
    changing = homes.mutate()
    for key in values:
        if home is None:
            del changing[key]
        else:
            changing[key] = home
    return changing.finish()
