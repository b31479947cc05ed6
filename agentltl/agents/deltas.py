"""A streamed reply, told piece by piece: what the model thinks, what it says beside its calls, and the answer.

The answer is the text that `final_answer` is called with, told as it is written. A rule, a type or a check that judges
the answer comes first: then it is told at the end, when it has been judged. What turns out not to be the answer, since
the run goes on, is taken back: the next piece says `restart`.
"""

from __future__ import annotations

from pydantic_core import from_json
from smolagents.models import ChatMessageStreamDelta

from agentltl.record.attempt import AttemptKind
from agentltl.record.events import Stream

FINAL_ANSWER = "final_answer"


class Deltas:
    """Tells a stream of the pieces.

    `argument` is the name of the argument of `final_answer`; with `holds` the answer is told at the end.
    """

    def __init__(self, stream: Stream, argument: str, *, holds: bool = False) -> None:
        self._stream, self._argument, self._holds = stream, argument, holds
        self._told = ""
        self._again = False
        self._names: dict[int, str] = {}
        self._written: dict[int, str] = {}

    def begin(self) -> None:
        """A model call begins: what was told of an answer before was none."""
        self._names, self._written = {}, {}
        self._again = bool(self._told)

    def came(self, delta: ChatMessageStreamDelta, kind: AttemptKind, step: int) -> None:
        """A piece has come, of a call for this, in this step."""
        if thinking := getattr(delta, "thinking", None):
            self._stream.emit("thinking_delta", {"text": thinking, "step": step})
        if delta.content and kind == "step":
            self._stream.emit("reasoning_delta", {"text": delta.content, "step": step})
        elif delta.content and kind == "final" and not self._holds:
            self._tell(("" if self._again else self._told) + delta.content, step)
        for call in delta.tool_calls or () if kind == "step" else ():
            if call.function is None:
                continue
            index = call.index or 0
            self._names[index] = self._names.get(index, "") + (call.function.name or "")
            written = call.function.arguments
            if self._holds or self._names[index] != FINAL_ANSWER or not isinstance(written, str):
                continue
            self._written[index] = self._written.get(index, "") + written
            if (answer := _so_far(self._written[index], self._argument)) is not None:
                self._tell(answer, step)

    def answered(self, answer: str | None, step: int) -> None:
        """The run is over, with this answer; without one, what was told of it is taken back."""
        if answer:
            self._tell(answer, step)
        elif self._told:
            self._told, self._again = "", False
            self._stream.emit("text_delta", {"text": "", "step": step, "restart": True})

    def _tell(self, answer: str, step: int) -> None:
        """The answer so far is this; what of it is new is told."""
        restart = self._again or not answer.startswith(self._told)
        new = answer if restart else answer[len(self._told) :]
        if new:
            self._told, self._again = answer, False
            self._stream.emit("text_delta", {"text": new, "step": step, "restart": restart})


def _so_far(written: str, argument: str) -> str | None:
    """The text of the argument in the JSON of a call that is still being written; None if it is no text, or not yet."""
    try:
        value = from_json(written, allow_partial="trailing-strings")
    except ValueError:
        return None
    answer = value.get(argument) if isinstance(value, dict) else None
    return answer if isinstance(answer, str) else None
