"""The arguments of a call that the model's code makes, as a tool gets them and as they are judged.

Code can change a list while a tool reads it, and can define a text or a number that shows the guard one face and the
tool another. So a tool under constraints gets values that nobody else holds, and these are judged.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Mapping
from typing import Any

from smolagents.agent_types import AgentText, AgentType

from agentltl.constraints.value import Opaque, scalar

_EXACT = frozenset({str, int, float, bool, type(None)})
_VIEWS = frozenset({"collections", "types"})
"""Where the mappings come from that are no dicts, and that code can make and change."""


def owned(value: object) -> object:
    """A copy of lists, tuples and mappings, all the way down; other objects are the same.

    A text, number or container of a class that no module defines becomes one of the built-in class.
    """
    return _copied(value, {}, _kept)


def exact(value: object) -> object:
    """The value with built-in texts, numbers and containers only, for the guard; all else is opaque."""
    return _copied(value, {}, lambda _: False)


def _kept(kind: type) -> bool:
    """Whether a class is what its module says it is. One that the model's code defines is in no module."""
    module, name = kind.__module__, kind.__qualname__
    if type(module) is not str or type(name) is not str:
        return False
    found: object = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is kind


def _copied(value: Any, done: dict[int, object], keep: Callable[[type], bool]) -> Any:
    """The methods are those of the built-in classes: a class of the code may have changed its own."""
    kind = type(value)
    if kind in _EXACT:
        return value
    if id(value) in done:
        return done[id(value)]
    is_scalar = issubclass(kind, str | int | float) and not issubclass(kind, AgentType)
    if is_scalar or issubclass(kind, AgentText):
        return value if keep(kind) else scalar(value)
    if issubclass(kind, list):
        items = copy.copy(value) if kind is not list and keep(kind) else []
        done[id(value)] = items
        list.__setitem__(items, slice(None), [_copied(member, done, keep) for member in list.__iter__(value)])
        return items
    if issubclass(kind, tuple):
        members = [_copied(member, done, keep) for member in tuple.__iter__(value)]
        return tuple.__new__(kind if keep(kind) else tuple, members)
    if issubclass(kind, dict):
        fields = copy.copy(value) if kind is not dict and keep(kind) else {}
        done[id(value)] = fields
        dict.clear(fields)
        for name, member in list(dict.items(value)):
            dict.__setitem__(fields, _copied(name, done, keep), _copied(member, done, keep))
        return fields
    if issubclass(kind, Mapping) and (kind.__module__ in _VIEWS or not _kept(kind)):
        return _copied(dict(value.items()), done, keep)
    return value if keep is _kept or issubclass(kind, Mapping) else Opaque(value)
