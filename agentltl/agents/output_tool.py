"""`final_answer` for a run whose answer has a type: it checks what it is called with.

The type's schema is that of its argument, so a model is told of it by its provider and by the prompt. An answer that is
none of the type is a call that fails, with all that is wrong with it, and the model goes on; so does one that a
validator sends back.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python
from smolagents.models import ChatMessage, ChatMessageToolCall
from smolagents.tools import Tool

from agentltl.agents.awaited import awaited
from agentltl.agents.deltas import FINAL_ANSWER
from agentltl.agents.output_schema import Schema, adapter_of, argument_schema
from agentltl.agents.stop import OutputStopError
from agentltl.errors import OutputError
from agentltl.record.events import RunEnd
from agentltl.record.text import text_of

Validator = Callable[[Any], Any]
"""Takes an output and gives it, or another one; sync or async. A `ValueError` sends the answer back."""

ARGUMENT = "answer"
_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)\n\s*```", re.DOTALL)


class OutputTool(Tool):  # type: ignore[no-untyped-call]
    """`final_answer`, with answers of `output_type` (None: of any) that `validators` pass.

    `accepted` is the last output that was; `failures` is how many answers of the run were none.
    """

    name = FINAL_ANSWER
    description = "Provides a final answer to the given problem."
    inputs: dict[str, Schema] = {}  # noqa: RUF012  smolagents wants it here, and it is that of each tool
    output_type = "any"

    def __init__(self, output_type: object, validators: Sequence[Validator], retries: int) -> None:
        self.wanted, self.validators, self.retries = output_type, validators, retries
        self.inputs = {ARGUMENT: {**self.schema, "description": "The final answer to the problem"}}
        self.accepted: object = None
        self.failures = 0
        super().__init__()  # type: ignore[no-untyped-call]

    @cached_property
    def _adapter(self) -> TypeAdapter[Any] | None:
        return None if self.wanted is None else adapter_of(self.wanted)

    @cached_property
    def schema(self) -> Schema:
        """The JSON schema of an answer."""
        return {"type": "any"} if self._adapter is None else argument_schema(self._adapter, ARGUMENT)

    def failed(self, error: Exception) -> Exception:
        """An answer has failed. The error with which the model goes on, or the one that ends the run."""
        self.failures += 1
        if self.failures <= self.retries:
            return error
        cause = error.__cause__ or error
        often = "once" if self.failures == 1 else f"{self.failures} times"
        return OutputStopError(f"the model has answered {often}, and it was no answer: {cause}")

    def begin(self) -> None:
        """A run begins."""
        self.accepted, self.failures = None, 0

    def forward(self, answer: Any) -> Any:
        """The answer as plain data. Raises `OutputError` if it is none, with all that is wrong."""
        self.accepted = self.checked(answer)
        return self.accepted if self._adapter is None else to_jsonable_python(self.accepted, fallback=str)

    def checked(self, answer: object) -> object:
        """The output that an answer is. Raises `OutputError`; what else a validator raises comes out as it is."""
        output = answer
        if self._adapter is not None:
            try:
                output = _validated(self._adapter, answer)
            except ValidationError as error:
                raise OutputError(f"the answer is no {self._wanted_name}: {_said(error)}") from error
        for validator in self.validators:
            try:
                given = validator(output)
                output = awaited(given) if inspect.isawaitable(given) else given
            except (ValueError, AssertionError) as error:
                raise OutputError(str(error) or "the answer is not accepted") from error
        return output

    def arranged(self, message: ChatMessage) -> ChatMessage:
        """The message of a model with the arguments of its answers as they were meant: an object that stands in for the
        arguments becomes the argument, and JSON that was written as a text becomes what it says."""
        if self._adapter is None or not any(c.function.name == FINAL_ANSWER for c in message.tool_calls or ()):
            return message
        return replace(message, tool_calls=[self._arranged(call) for call in message.tool_calls or ()])

    def _arranged(self, call: ChatMessageToolCall) -> ChatMessageToolCall:
        if call.function.name != FINAL_ANSWER:
            return call
        arguments = call.function.arguments
        if not isinstance(arguments, Mapping):
            arguments = {ARGUMENT: arguments}
        elif set(arguments) != {ARGUMENT} and set(arguments) <= self._fields and "object" in self._kinds:
            arguments = {ARGUMENT: dict(arguments)}
        answer = arguments.get(ARGUMENT)
        if isinstance(answer, str) and "string" not in self._kinds:
            try:
                arguments = {**arguments, ARGUMENT: json.loads(answer)}
            except ValueError:  # what is no JSON is sent back as what it is, unless it is a field of that name
                arguments = {ARGUMENT: dict(arguments)} if ARGUMENT in self._fields else arguments
        return replace(call, function=replace(call.function, arguments=dict(arguments)))

    @property
    def _fields(self) -> set[str]:
        """The names of the fields that an answer which is an object may have."""
        return {name for part in (self.schema, *self.schema.get("oneOf", ())) for name in part.get("properties", ())}

    @property
    def _kinds(self) -> list[str]:
        kinds = self.schema["type"]
        return [kinds] if isinstance(kinds, str) else kinds

    def typed(self, end: RunEnd) -> RunEnd:
        """The end of a run with its output in the type. A text that was asked for when no step was left may be none."""
        if end.ending == "answer":
            return replace(end, output=self.accepted)
        if end.ending != "max_steps" or end.output is None:
            return end
        try:
            return replace(end, output=self._read(text_of(end.output) or ""))
        except OutputError as error:
            return replace(end, output=None, error=str(error), error_class=OutputError.__name__)

    def _read(self, text: str) -> object:
        """The output that a text says, which may be JSON, in a fenced block too."""
        if self._adapter is None or "string" in self._kinds:
            return self.checked(text)
        fenced = _FENCE.search(text)
        try:
            return self.checked(json.loads(fenced[1] if fenced else text))
        except json.JSONDecodeError as error:
            raise OutputError(f"the answer is no {self._wanted_name}: it is no JSON") from error

    @property
    def _wanted_name(self) -> str:
        return f"`{getattr(self.wanted, '__name__', None) or self.wanted}`"


def _validated(adapter: TypeAdapter[Any], answer: object) -> object:
    """The answer in the type, read as the JSON that it came from: that has no dates, sets or tuples of its own."""
    try:
        written = json.dumps(answer)
    except (TypeError, ValueError):
        return adapter.validate_python(answer)  # an object out of the agent's state
    return adapter.validate_json(written)


def _said(error: ValidationError) -> str:
    """All that is wrong, in one line."""
    parts = []
    for one in error.errors(include_url=False, include_context=False):
        place = ".".join(str(part) for part in one["loc"])
        parts.append(f"`{place}`: {one['msg']}" if place else one["msg"])
    return "; ".join(parts)
