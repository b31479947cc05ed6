"""One run of an agent, from its `agent_start` to its `agent_end`: a stream of events, and their fold, the `Result`."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from agentltl.agents.earlier import Messages, checked
from agentltl.agents.limits import Spending
from agentltl.agents.models.hidden_error import hide_in_error
from agentltl.agents.models.redaction import known_secrets
from agentltl.agents.recorder import Recorder
from agentltl.agents.run_end import answered, failed
from agentltl.agents.watched_model import RunCancelled
from agentltl.constraints.value import Json
from agentltl.record.events import Event, RunEnd, RunStart, Sink, Stream, data_of
from agentltl.record.result import Result

if TYPE_CHECKING:
    from agentltl.agents.agent import Agent


class Running:
    """A run of `agent` that does `task`; nothing happens before `go`.

    `reset=False` goes on with the agent's conversation, `messages` with that one.
    `streaming` asks the model to write piece by piece, if it can.
    `sink` is told of every event, besides the sinks of the agent.
    """

    def __init__(
        self,
        agent: Agent,
        task: str,
        sink: Sink | None = None,
        *,
        reset: bool = True,
        messages: Messages | None = None,
        streaming: bool = False,
    ) -> None:
        self.agent, self.task, self.reset = agent, task, reset
        self.messages = None if messages is None else checked(messages)
        self._stream = Stream([*agent.sinks, *([] if sink is None else [sink])])
        self._streaming = streaming
        self._cancelled = self._over = False
        self._lock = threading.Lock()
        self._after: list[Callable[[], object]] = []

    def go(self) -> Result:
        """Run to the end, in this thread. What is no `Exception` is raised again once the end has been told."""
        self.agent._run = self
        try:
            return self._go()
        finally:
            with self._lock:
                self.agent._run, self._over = None, True
            for call in self._after:
                call()

    def when_over(self, call: Callable[[], object]) -> None:
        """Call this when the run is over, which may be now."""
        with self._lock:
            if not self._over:
                self._after.append(call)
                return
        call()

    def _go(self) -> Result:
        agent, watched = self.agent, self.agent._model
        if self.messages is not None:
            agent._take_up(self.messages)
            self.reset = False
        known = 0 if self.reset else len(agent._violations())
        watched.spending = Spending(agent._limits)
        recorder = Recorder(
            self._stream, agent.smolagent, watched, agent._violations, known, holds_answer=agent._judges_answer()
        )
        earlier = [] if self.reset else agent._earlier
        try:
            prompt = agent.smolagent.render_system_prompt()
        except Exception as error:
            self._stream.emit("agent_start", data_of(self._start("", earlier)))
            return self._finish(recorder, self._failed(error), error)
        agent.smolagent.recorder = recorder
        if agent._output is not None:
            agent._output.begin()
        watched.streaming, watched.cancelled = self._streaming, lambda: self._cancelled
        try:
            self._stream.emit("agent_start", data_of(self._start(prompt, earlier)))
            output = agent.smolagent.run(self.task, reset=self.reset, return_full_result=False)
        except (Exception, RunCancelled) as error:
            return self._finish(recorder, self._failed(error), error)
        except BaseException as error:
            self._finish(recorder, self._failed(error), error)
            raise
        end = answered(output, out_of_steps=recorder.out_of_steps, model_error=watched.error)
        if agent._output is not None:
            end = agent._output.typed(end)
        return self._finish(recorder, end, None)

    def cancel(self) -> None:
        """End the run as soon as that can be: at the next piece of a streamed reply, else before the next model call.
        A tool that runs is waited for."""
        self._cancelled = True
        self.agent.smolagent.interrupt()  # type: ignore[no-untyped-call]

    def _start(self, system_prompt: str, earlier: list[dict[str, Json]]) -> RunStart:
        agent = self.agent
        return RunStart(
            execution_id=str(uuid.uuid4()),
            task=self.task,
            system_prompt=system_prompt,
            time=time.time(),
            name=agent.name,
            model=getattr(agent.model, "model_id", None),
            temperature=agent.temperature,
            messages=list(earlier),
        )

    def _failed(self, error: BaseException) -> RunEnd:
        hide_in_error(error, known_secrets())  # smolagents has put a model's error into the text of its own
        return failed(
            error, interrupted=getattr(self.agent.smolagent, "interrupt_switch", False), cancelled=self._cancelled
        )

    def _finish(self, recorder: Recorder, end: RunEnd, error: BaseException | None) -> Result:
        """End the stream and fold it."""
        agent = self.agent
        agent.smolagent.recorder = None
        recorder.close(error)
        end = replace(end, constraint_status=agent._constraint_status(), time=time.time())
        data = data_of(end)
        result = Result.of([*self._stream.events, Event("agent_end", data)], compliance=agent._compliance())
        recorder.answered(result["answer"])
        agent._keep(result)
        self._stream.emit("agent_end", {**data, "result": result})
        return result
