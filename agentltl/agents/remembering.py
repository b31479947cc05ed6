"""An agent that writes each step of its memory down once, and not anew for every prompt.

smolagents makes all messages of a prompt from the whole memory at each step, so a run costs the square of its length.
Steps that have not changed since give the same messages. Each carries a number by which a record knows that it has seen
the message before.
"""

from __future__ import annotations

import copy
from itertools import chain, count
from operator import attrgetter, is_
from typing import TYPE_CHECKING, Any

from smolagents.memory import ActionStep, MemoryStep, PlanningStep, SystemPromptStep, TaskStep
from smolagents.models import ChatMessage, Model

from agentltl.agents.models.leaf import is_known
from agentltl.agents.models.wrapper import leaves
from agentltl.agents.watched_model import WatchedModel

if TYPE_CHECKING:
    from smolagents.agents import MultiStepAgent as Base
else:
    Base = object

NUMBER = "_agentltl_number"
_numbers = count()
_CLASSES = (ActionStep, PlanningStep, SystemPromptStep, TaskStep)
_state = attrgetter("__dict__")
_call = attrgetter("id", "name", "arguments")
_said = attrgetter("role", "content")


def number_of(message: ChatMessage) -> int | None:
    """The number of a message that has been made once; two messages with one number say the same."""
    number: int | None = message.__dict__.get(NUMBER)
    return number


class _Known:
    """The first steps of a memory with their messages, and what tells that none of them has changed: the fields of the
    steps and of their tool calls, and what the messages say. Each is compared in one go."""

    def __init__(self) -> None:
        self.steps: list[MemoryStep] = []
        self.messages: list[ChatMessage] = []
        self._states: list[dict[str, Any]] = []
        self._lists: list[list[Any]] = []
        self._calls: list[Any] = []
        self._called: list[Any] = []
        self._errors: list[Any] = []
        self._words: list[str] = []
        self._said: list[tuple[Any, list[dict[str, Any]]]] = []

    def add(self, step: MemoryStep) -> bool:
        """Take a step that comes next; False for one that may say something else the next time: of another class, or
        with more than texts in its messages."""
        messages = step.to_messages() if type(step) in _CLASSES else []
        if not messages or not all(map(_is_text, messages)):
            return False
        for message in messages:
            message.__dict__[NUMBER] = next(_numbers)
        calls = getattr(step, "tool_calls", None) or []
        try:
            called = copy.deepcopy(list(map(_call, calls)))
        except Exception:  # arguments that cannot be copied could be changed unseen
            return False
        error = getattr(step, "error", None)
        self._errors += [] if error is None else [error]
        self._words += [] if error is None else [str(error)]
        self.steps.append(step)
        self.messages += messages
        self._states.append(dict(step.__dict__))
        self._lists.append(calls)
        self._calls += calls
        self._called += called
        self._said += map(_copied, messages)
        return True

    def holds(self, steps: list[MemoryStep]) -> bool:
        """Whether these steps begin with those that are known, unchanged, and nobody has changed a message."""
        try:
            return (
                _are(steps[: len(self.steps)], self.steps)
                and list(map(_state, self.steps)) == self._states
                and _are(list(chain.from_iterable(self._lists)), self._calls)
                and list(map(_call, self._calls)) == self._called
                and list(map(str, self._errors)) == self._words
                and list(map(_said, self.messages)) == self._said
            )
        except Exception:  # values of a user that cannot be compared
            return False

    def copies(self) -> list[ChatMessage]:
        """The messages as new objects."""
        made = [ChatMessage(role, [dict(part) for part in content]) for role, content in self._said]
        for new, message in zip(made, self.messages, strict=True):
            new.__dict__[NUMBER] = number_of(message)
        return made


def _are(now: list[Any], before: list[Any]) -> bool:
    """Whether the objects of two lists are the same ones."""
    return len(now) == len(before) and all(map(is_, now, before))


def _is_text(message: ChatMessage) -> bool:
    content = message.content
    return isinstance(content, list) and all(part.keys() == {"type", "text"} for part in content)


def _copied(message: ChatMessage) -> tuple[Any, list[dict[str, Any]]]:
    content: Any = message.content
    return message.role, [dict(part) for part in content]


class Remembering(Base):
    """It stands before smolagents' own class."""

    _sharing: tuple[Model, bool] | None = None

    def write_memory_to_messages(self, summary_mode: bool = False) -> list[ChatMessage]:
        """The messages of smolagents."""
        if summary_mode:
            return super().write_memory_to_messages(summary_mode)
        steps: list[MemoryStep] = [self.memory.system_prompt, *self.memory.steps]
        known: _Known | None = self.__dict__.get("_known")
        if known is None or not known.holds(steps):
            known = self.__dict__["_known"] = _Known()
        place = len(known.steps)
        while place < len(steps) and known.add(steps[place]):
            place += 1
        messages = known.messages[:] if self._shares_messages() else known.copies()
        for step in steps[place:]:
            messages.extend(step.to_messages())
        return messages

    def _shares_messages(self) -> bool:
        """Whether a message may be one object in several prompts."""
        model = self.model.model if isinstance(self.model, WatchedModel) else self.model
        if self._sharing is None or self._sharing[0] is not model:
            self._sharing = model, all(map(is_known, leaves(model)))
        return self._sharing[1]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_known"}
