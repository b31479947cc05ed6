"""The memory of a smolagents agent, read by its shape: nothing of smolagents is imported.

Its steps say less than a guard knows: a step keeps one text for all its results, and a step that failed keeps its calls
only in the model's message. What cannot be told apart is left unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agentltl.constraints.readers.arguments import arguments, error_text
from agentltl.constraints.readers.fields import at, identity, name, quoted, seconds
from agentltl.constraints.trace import NEVER, Call, Message, Outcome, Trace
from agentltl.constraints.value import Json
from agentltl.errors import TraceError


def from_smolagents(source: object) -> Trace:
    """The trace of an agent, its memory, or a list of steps, as objects or as the dicts of `get_full_steps()`.

    An agent of this library has a guard, whose trace is exact and is returned as it is. Elsewhere action steps are
    numbered from 1 through all runs, and each `TaskStep` is a message of the user.
    A step with several calls gives each its own result when the step's text has as many lines as calls; otherwise the
    calls are ok and their results unknown. Of several calls in a step with an error the one that the error names has
    failed; what came of the others is not recorded. Calls that smolagents rejected before they ran are no events.
    """
    trace = getattr(getattr(source, "guard", None), "trace", None)
    if isinstance(trace, Trace):
        return trace
    steps = _get(_get(source, "memory") or source, "steps")
    if steps is None:
        steps = source
    if isinstance(steps, (str, bytes, Mapping)) or not isinstance(steps, Iterable):
        raise TraceError(f"{quoted(source)} has no steps\npass a smolagents agent, its memory, or a list of its steps")
    inputs = {**_inputs(_get(source, "tools")), **_inputs(_get(source, "managed_agents"))}
    calls: list[Call] = []
    said: list[Message] = []
    number = 0
    for i, step in enumerate(steps):
        with at(f"`steps[{i}]`"):
            if _has(step, "step_number"):
                number += 1
                calls += _Action(step, number, inputs).calls()
            elif _has(step, "task"):
                task = _get(step, "task")
                if not isinstance(task, str):
                    raise TraceError(f"the task {quoted(task)} is no text\nwrite what the user asked for")
                said.append(Message(str(task), len(calls)))
            elif not any(_has(step, key) for key in ("plan", "system_prompt", "output")):
                raise TraceError(f"{quoted(step)} is no step of a memory\npass the steps as smolagents keeps them")
    return Trace(tuple(calls), tuple(said) or None)


class _Action:
    """One action step and its calls."""

    def __init__(self, step: object, number: int, inputs: Mapping[str, str]) -> None:
        self._step, self._number, self._inputs = step, number, inputs
        timing = _get(step, "timing")
        self._start, self._end = seconds(_get(timing, "start_time")), seconds(_get(timing, "end_time"))
        error = _get(step, "error")
        self._error = error_text(error)
        self._error_type = str(error.get("type")) if isinstance(error, Mapping) else type(error).__name__

    def calls(self) -> list[Call]:
        """The calls that ran, in the model's order: smolagents keeps them in the order of their ids."""
        recorded = self._read(_get(self._step, "tool_calls"))
        proposed = self._read(_get(_get(self._step, "model_output_message"), "tool_calls"))
        # Of calls with one id smolagents runs the last, and without ids all have one.
        by_id = {call.id: call for call in proposed}
        text, output = _get(self._step, "observations"), _get(self._step, "action_output")
        if self._error and (not text or _get(self._step, "code_action") is not None):
            ran = self._blamed(recorded or list(by_id.values()))
        else:
            if text is None and output is not None and len(recorded) == 1:
                ran = [recorded[0].settle(Outcome.of(output, end=self._end))]
            else:
                results = _split(text, len(recorded))
                ran = [
                    c.settle(NEVER if text is None else Outcome.of(r, end=self._end))
                    for c, r in zip(recorded, results, strict=True)
                ]
            if self._error:
                known = {call.id for call in recorded}
                ran += self._blamed([call for call in by_id.values() if call.id not in known])
        order = {identifier: place for place, identifier in enumerate(by_id)}
        return sorted(ran, key=lambda call: order[call.id]) if all(c.id in order for c in ran) else ran

    def _read(self, entries: Json) -> list[Call]:
        if entries is None:
            return []
        if not isinstance(entries, (list, tuple)):
            raise TraceError(f"the tool calls {quoted(entries)} are no list\npass the steps as smolagents keeps them")
        calls = []
        for i, entry in enumerate(entries):
            with at(f"`tool_calls[{i}]`"):
                function = _get(entry, "function")
                body = entry if function is None else function
                tool = name({"name": _get(body, "name")}, "name")
                args = arguments(_get(body, "arguments"), self._inputs.get(tool, "input"))
                identifier = identity({"id": _get(entry, "id")}, "id")
                calls.append(Call(tool, args, identifier, self._number, start=self._start))
        return calls

    def _blamed(self, calls: list[Call]) -> list[Call]:
        """The calls of a step that ended in an error, without those that never ran."""
        error = self._error or ""
        ran = [call for call in calls if f"Unknown tool {call.tool}, should be" not in error]
        if self._error_type == "AgentToolCallError" and len(ran) == 1:
            return []
        named = ran
        if len(ran) > 1:
            # Only an error that smolagents words for one tool speaks of one call.
            named = [c for c in ran if f"'{c.tool}' with arguments {c.args}:" in error]
            named = named or [c for c in ran if f"'{c.tool}' with arguments " in error]
        failed = named[0] if len(named) == 1 and len(ran) == len(calls) else None
        outcome = Outcome.of(None, error, end=self._end)
        return [call.settle(outcome if call is failed else NEVER) for call in ran]


def _split(text: object, count: int) -> list[object]:
    """The results of `count` calls from the step's one text; None for those that it does not tell apart."""
    if count == 1:
        return [text]
    lines = text.split("\n") if isinstance(text, str) else []
    return [*lines] if len(lines) == count else [None] * count


def _inputs(tools: object) -> dict[str, str]:
    """The first input of each tool that has one."""
    if not isinstance(tools, Mapping):
        return {}
    inputs = {str(tool): _get(body, "inputs") for tool, body in tools.items()}
    return {tool: str(next(iter(found))) for tool, found in inputs.items() if isinstance(found, Mapping) and found}


def _get(record: object, key: str) -> Json:
    return record.get(key) if isinstance(record, Mapping) else getattr(record, key, None)


def _has(record: object, key: str) -> bool:
    return key in record if isinstance(record, Mapping) else hasattr(record, key)
