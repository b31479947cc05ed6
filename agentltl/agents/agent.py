"""`Agent`: a smolagents agent whose `run` gives back a `Result`.

A run becomes a stream of events, the sinks are told of each, and the result is a fold of them.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

from smolagents.agent_types import AgentText
from smolagents.memory import ActionStep
from smolagents.models import Model
from smolagents.monitoring import LogLevel
from smolagents.tools import BaseTool, Tool
from smolagents.utils import AgentError

from agentltl.agents.models.build import build
from agentltl.agents.recorded import Recorded, RecordedAgent
from agentltl.agents.recorder import Recorder
from agentltl.agents.tool_approval import require_none
from agentltl.agents.watched_model import WatchedModel
from agentltl.constraints.value import Json, as_text
from agentltl.errors import ApprovalPendingError, ConstraintError, ConstraintViolationError
from agentltl.guard.decision import Violation
from agentltl.record.events import Ending, Event, RunEnd, RunStart, Sink, Stream, data_of
from agentltl.record.plain import plain
from agentltl.record.result import Result
from agentltl.record.text import is_blocks, text_of


class Agent:
    """A model with tools.

    `tools` are smolagents tools. `model` is a litellm name (`"openai/gpt-4o"`), a smolagents model, or `"local"`, the
    embedded model and the default; `model_instance` is a model that is already built, given instead of `model`.
    `model_seed`, `temperature`, `api_key` and `api_base` are for a model that is built here.
    `instructions` are added to the system prompt; a run has at most `max_steps` steps, and one more model call that
    asks for the answer. Each of `sinks` is called with every event of a run.
    `smolagent` is the smolagents agent that does the work; `last_result` what the last run gave.
    """

    def __init__(
        self,
        tools: Sequence[Tool] | None = None,
        model: str | Model | None = None,
        *,
        name: str | None = None,
        instructions: str | None = None,
        max_steps: int = 10,
        model_seed: int | None = None,
        api_key: str | None = None,
        api_base: str | None = None,
        temperature: float | None = None,
        model_instance: Model | None = None,
        sinks: Iterable[Sink] = (),
    ) -> None:
        if model is not None and model_instance is not None:
            raise ConstraintError("there are two models\ngive `model` or `model_instance`")
        if max_steps < 1:
            raise ConstraintError(f"`max_steps={max_steps}` leaves no step\ngive a number from 1")
        if not isinstance(cast(object, tools), Iterable | None):
            raise ConstraintError("a list of tools is expected\nput the tool into a list: [tool]")
        for tool in tools or ():
            if not isinstance(tool, BaseTool):
                raise ConstraintError(f"`{tool!r}` is no tool\nmake it one with the decorator `agentltl.tool`")
        given = model_instance if model_instance is not None else (model if model is not None else "local")
        built = build(given, temperature=temperature, seed=model_seed, api_key=api_key, api_base=api_base)
        self.name = name
        self.sinks: list[Sink] = list(sinks)
        self.temperature = temperature
        self.last_result: Result | None = None
        self._earlier: list[dict[str, Json]] = []
        self._model = WatchedModel(built)
        self.smolagent = self._make(
            self._all_tools(list(tools or ())),
            cast(Model, self._model),
            {"instructions": instructions, "max_steps": max_steps, "verbosity_level": LogLevel.OFF},
        )
        self.smolagent.step_callbacks.register(ActionStep, self._step_ended)

    @property
    def model(self) -> Model:
        """The model that the agent calls."""
        return self._model.model

    def run(self, task: str, *, reset: bool = True) -> Result:
        """Do the task. An error of the model or of the run is in the result, it is not raised.

        `reset=False` goes on with the conversation of the last run.
        """
        stream = Stream(self.sinks)
        known = 0 if reset else len(self._violations())
        recorder = Recorder(stream, self.smolagent, self._model, self._violations, known)
        earlier = [] if reset else self._earlier
        stream.emit("agent_start", data_of(self._start(task, earlier)))
        self.smolagent.recorder = recorder
        try:
            output = self.smolagent.run(task, reset=reset, return_full_result=False)
        except Exception as error:
            return self._finish(recorder, self._failure(error), error)
        except BaseException as error:
            self._finish(recorder, self._failure(error), error)
            raise
        return self._finish(recorder, self._answer(output, recorder), None)

    def _start(self, task: str, earlier: list[dict[str, Json]]) -> RunStart:
        return RunStart(
            execution_id=str(uuid.uuid4()),
            task=task,
            system_prompt=self.smolagent.system_prompt,
            time=time.time(),
            name=self.name,
            model=getattr(self.model, "model_id", None),
            temperature=self.temperature,
            messages=list(earlier),
        )

    def _answer(self, output: object, recorder: Recorder) -> RunEnd:
        """How a run ended that smolagents has an answer of; the last model call may have failed all the same."""
        if isinstance(output, AgentText):
            output = str(output)
        if not recorder.out_of_steps:
            return RunEnd("answer", output)
        if is_blocks(output):
            output = text_of(output)
        if (cause := self._model.error) is None:
            return RunEnd("max_steps", output)
        text = as_text(cause) if output is None else str(output)  # a rule can withhold the text of smolagents
        return RunEnd("error", error=text, error_class=type(cause).__name__)

    def _failure(self, error: BaseException) -> RunEnd:
        """How a run ended that an error ended; its class is that of the cause, which smolagents wraps."""
        cause: BaseException = error.__cause__ or error
        ending: Ending = "error"
        pending: dict[str, Json] | None = None
        if isinstance(error, ConstraintViolationError):
            ending, cause = "stop", error
        elif isinstance(error, ApprovalPendingError):
            ending, cause = "pending", error
            if error.request is not None:
                pending = {name: plain(value) for name, value in error.request.to_dict().items()}
        elif not isinstance(error, Exception) or (type(error) is AgentError and self.smolagent.interrupt_switch):
            ending = "interrupt"
        text = as_text(error) or type(error).__name__
        return RunEnd(ending, error=text, error_class=type(cause).__name__, pending=pending)

    def _finish(self, recorder: Recorder, end: RunEnd, error: BaseException | None) -> Result:
        """End the stream and fold it."""
        self.smolagent.recorder = None
        recorder.close(error)
        end = replace(end, constraint_status=self._constraint_status(), time=time.time())
        data = data_of(end)
        result = Result.of([*recorder.stream.events, Event("agent_end", data)], compliance=self._compliance())
        if result["answer"]:
            recorder.stream.emit("text_delta", {"text": result["answer"]})
        self.last_result, self._earlier = result, result.messages
        recorder.stream.emit("agent_end", {**data, "result": result})
        return result

    def _step_ended(self, step: ActionStep) -> None:
        if self.smolagent.recorder is not None:
            self.smolagent.recorder.step_ended(step)

    def _all_tools(self, given: list[Tool]) -> list[Tool]:
        """The tools of the agent, in the order of the prompt."""
        return given

    def _make(self, tools: list[Tool], model: Model, settings: dict[str, Any]) -> Recorded:
        require_none(tools)
        return RecordedAgent(tools, model, **settings)

    def _constraint_status(self) -> dict[str, Json] | None:
        return None

    def _compliance(self) -> float | None:
        return None

    def _violations(self) -> Sequence[Violation]:
        return ()
