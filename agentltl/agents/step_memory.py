"""What one message's calls leave in the memory step: the calls by id, and an observation for each output.

smolagents writes both once all calls that it was handed have come back. A message may be handed to it in several waves,
and some of its calls never, so they are written here from all outputs, in the same form.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from smolagents.agents import ToolOutput
from smolagents.memory import ActionStep, ToolCall


class StepMemory:
    """The calls of a message that were reached, and the outputs that came of them."""

    def __init__(self, step: ActionStep) -> None:
        self._step = step
        self._before = step.observations
        self._calls: dict[Hashable, ToolCall] = {}
        self._outputs: dict[Hashable, ToolOutput] = {}

    def reach(self, calls: Iterable[ToolCall]) -> None:
        """These calls were judged; they ran or were refused."""
        self._calls.update((call.id, call) for call in calls)

    def keep(self, output: ToolOutput) -> None:
        """Keep an output, under the call as the model made it."""
        output.tool_call = self._calls[output.id]
        self._outputs[output.id] = output

    def write(self) -> None:
        """Write calls and observations into the step, as smolagents does: ids that do not compare are a `TypeError`."""
        self._write(sorted(self._calls))  # type: ignore[type-var]

    def write_what_came(self) -> None:
        """Write what there is of a message that does not come to its end."""
        try:
            self.write()
        except TypeError:
            self._write(list(self._calls))

    def _write(self, order: list[Hashable]) -> None:
        self._step.tool_calls = [self._calls[id] for id in order]
        came = (self._outputs[id].observation for id in order if id in self._outputs)
        observations = (self._before or "") + "".join(f"{observation}\n" for observation in came)
        self._step.observations = observations.rstrip("\n") if observations else observations
