"""The callbacks of an agent's steps, called as smolagents calls them.

smolagents looks up the signature of every callback at every step, which costs more than a judged call; here it is
looked up once.
"""

from __future__ import annotations

import inspect
from typing import Any

from smolagents.memory import CallbackRegistry, MemoryStep


class Callbacks(CallbackRegistry):
    """The registry of smolagents, which remembers how many parameters each callback has."""

    def __init__(self, registry: CallbackRegistry) -> None:
        self._callbacks = registry._callbacks
        self._parameters: dict[int, tuple[Any, int]] = {}

    def callback(self, memory_step: MemoryStep, **kwargs: Any) -> None:
        """Call the callbacks of a step; one with a single parameter gets the step alone."""
        for kind in type(memory_step).__mro__:
            for callback in self._callbacks.get(kind, ()):
                known, number = self._parameters.get(id(callback), (None, 0))
                if known is not callback:
                    number = len(inspect.signature(callback).parameters)
                    self._parameters[id(callback)] = callback, number
                if number == 1:
                    callback(memory_step)
                else:
                    callback(memory_step, **kwargs)
