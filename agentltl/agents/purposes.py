"""What an agent calls its model for when it is no step: a plan, or the answer when no step is left."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from smolagents.models import ChatMessage

from agentltl.agents.recorder import Recorder
from agentltl.record.attempt import AttemptKind

if TYPE_CHECKING:
    from smolagents.agents import MultiStepAgent as Base
else:
    Base = object


class Purposes(Base):
    """An agent that tells its recorder what it calls its model for. Outside of a recorded run `recorder` is None."""

    recorder: Recorder | None = None

    def provide_final_answer(self, *args: Any, **kwargs: Any) -> ChatMessage:
        """As smolagents, its model call told as one for the answer."""
        with self._asking_for("final"):
            return super().provide_final_answer(*args, **kwargs)

    def _generate_planning_step(self, *args: Any, **kwargs: Any) -> Generator[Any]:
        with self._asking_for("planning"):
            yield from super()._generate_planning_step(*args, **kwargs)

    def _asking_for(self, kind: AttemptKind) -> AbstractContextManager[None]:
        return nullcontext() if self.recorder is None else self.recorder.asking_for(kind)
