"""The infinite domain of a variable, as a partition: values whose state is equal share one part, and all values that no
event has named share another.

An event moves all values of a part together, so it costs the number of distinct states and not of values. The maps are
persistent: a partition is never changed, and two of them share what they have in common.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from immutables import Map

from agentltl.constraints.body import Config
from agentltl.constraints.value import Json

Value = tuple[Json, ...]
"""One value for each variable of a prefix of quantifiers."""


Named = tuple[Hashable, Value, Config]
"""A value that an event names, under its key, and the state that it is in after the event."""


@dataclass(frozen=True, slots=True)
class Part:
    """The values, each under its key, that are in one state."""

    config: Config
    values: Map[Hashable, Value]


@dataclass(frozen=True, slots=True)
class Partition:
    """`other` is the state of all values that no part holds; `homes` says in which part a value is."""

    other: Config
    parts: Mapping[int, Part] = field(default_factory=dict)
    homes: Map[Hashable, int] = field(default_factory=Map)
    made: int = 0

    def of(self, key: Hashable) -> Config:
        """The state of a value."""
        home = self.homes.get(key)
        return self.other if home is None else self.parts[home].config

    def configs(self) -> Iterator[Config]:
        """The distinct states, that of all other values first."""
        yield self.other
        for part in self.parts.values():
            yield part.config

    def __len__(self) -> int:
        """How many values are open: in another state than all others."""
        return len(self.homes)

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
        number = next((n for n, part in parts.items() if part.config == config), None)
        if number is None:
            number, made = made, made + 1
            parts[number] = Part(config, cast("Map[Hashable, Value]", Map({key: value})))
        else:
            parts[number] = Part(config, parts[number].values.set(key, value))
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
