"""An agent that writes each step of its memory down once, and not anew for every prompt.

smolagents makes all messages of a prompt from the whole memory at each step, so a run costs the square of its length.
A step that has not changed since gives the same messages. Each carries a number by which a record knows that it has
seen the message before.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter, is_
from typing import TYPE_CHECKING, Any

from smolagents.memory import ActionStep, MemoryStep, PlanningStep, SystemPromptStep, TaskStep
from smolagents.models import ChatMessage, MessageRole

from agentltl.agents.models.wrapper import leaves
from agentltl.agents.watched_model import WatchedModel

if TYPE_CHECKING:
    from smolagents.agents import MultiStepAgent as Base
else:
    Base = object

NUMBER = "_agentltl_number"
_numbers = itertools.count()
_SHOWN: dict[type, Callable[[Any], tuple[object, ...]]] = {
    ActionStep: attrgetter("model_output", "tool_calls", "observations", "error", "observations_images"),
    PlanningStep: attrgetter("plan", "model_output_message"),
    SystemPromptStep: lambda step: (step.system_prompt,),
    TaskStep: attrgetter("task", "task_images"),
}
"""What the messages of a step are made of."""


def number_of(message: ChatMessage) -> int | None:
    """The number of a message that has been made once; two messages with one number say the same."""
    number: int | None = message.__dict__.get(NUMBER)
    return number


@dataclass(frozen=True, slots=True)
class _Written:
    """A step, what its messages are made of, and the messages, each with its role and its text."""

    step: MemoryStep
    shown: tuple[object, ...]
    messages: list[tuple[ChatMessage, MessageRole, str]]

    def is_of(self, step: MemoryStep) -> bool:
        """Whether these are the messages of this step, as it is now."""
        now = _shown(step)
        return self.step is step and len(now) == len(self.shown) and all(map(is_, now, self.shown))

    def shared(self) -> Iterator[ChatMessage]:
        """The messages; one that somebody has changed is made anew."""
        for message, role, text in self.messages:
            content = message.content
            if (
                type(content) is list
                and len(content) == 1
                and content[0].get("text") is text
                and len(content[0]) == 2
                and message.role is role
            ):
                yield message
            else:
                yield _made(role, text)

    def copied(self) -> Iterator[ChatMessage]:
        """The messages as new objects."""
        for message, role, text in self.messages:
            made = _made(role, text)
            made.__dict__[NUMBER] = number_of(message)
            yield made


class Remembering(Base):
    """It stands before smolagents' own class."""

    def write_memory_to_messages(self, summary_mode: bool = False) -> list[ChatMessage]:
        """The messages of smolagents."""
        if summary_mode:
            return super().write_memory_to_messages(summary_mode)
        known: list[_Written | None] = self.__dict__.setdefault("_written", [])
        shares = self._shares_messages()
        steps: list[MemoryStep] = [self.memory.system_prompt, *self.memory.steps]
        del known[len(steps) :]
        messages: list[ChatMessage] = []
        for place, step in enumerate(steps):
            written = known[place] if place < len(known) else None
            if written is None or not written.is_of(step):
                written = _written(step)
                known[place : place + 1] = [written]
            if written is None:
                messages.extend(step.to_messages())
            else:
                messages.extend(written.shared() if shares else written.copied())
        return messages

    def _shares_messages(self) -> bool:
        """Whether a message may be one object in several prompts: models of smolagents and of this library copy what
        they are given before they change it."""
        model = self.model.model if isinstance(self.model, WatchedModel) else self.model
        return all(type(leaf).__module__.startswith(("smolagents.", "agentltl.")) for leaf in leaves(model))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_written"}


def _written(step: MemoryStep) -> _Written | None:
    """A step with its messages; None for one that may say something else the next time: of another class, or with more
    than a text in a message."""
    if type(step) not in _SHOWN:
        return None
    made = []
    for message in step.to_messages():
        content = message.content
        if not isinstance(content, list) or len(content) != 1 or content[0].keys() != {"type", "text"}:
            return None
        message.__dict__[NUMBER] = next(_numbers)
        made.append((message, message.role, content[0]["text"]))
    return _Written(step, _shown(step), made)


def _shown(step: MemoryStep) -> tuple[object, ...]:
    parts = _SHOWN[type(step)](step) if type(step) in _SHOWN else ()
    for call in getattr(step, "tool_calls", None) or ():
        parts += (call.id, call.name, call.arguments)
    return parts


def _made(role: MessageRole, text: str) -> ChatMessage:
    content: Any = [{"type": "text", "text": text}]
    return ChatMessage(role, content)
