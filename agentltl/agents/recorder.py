"""One run of a smolagents agent as a stream of events: what the agent tells of, when it happens (see `recorded.py`)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from smolagents.agents import MultiStepAgent, ToolOutput
from smolagents.memory import ActionStep
from smolagents.models import ChatMessageStreamDelta, ChatMessageToolCall
from smolagents.utils import AgentToolCallError

from agentltl.agents.call_log import CallLog, LoggedCall
from agentltl.agents.deltas import FINAL_ANSWER, Deltas
from agentltl.agents.member_models import watch_members
from agentltl.agents.model_messages import MessageWriter
from agentltl.agents.models.watch import Told
from agentltl.agents.refusal import Refusal
from agentltl.agents.step_record import is_last_resort, step_record
from agentltl.agents.watched_model import WatchedModel
from agentltl.constraints.value import Json
from agentltl.guard.decision import Decision, Violation
from agentltl.record.attempt import AttemptKind, ModelAttempt
from agentltl.record.events import EventKind, Stream, data_of
from agentltl.record.plain import plain
from agentltl.record.text import text_of

_in_member: ContextVar[bool] = ContextVar("in_member", default=False)


@contextmanager
def in_member() -> Iterator[None]:
    """While it lasts, the model calls of this thread are those of a managed agent."""
    token = _in_member.set(True)
    try:
        yield
    finally:
        _in_member.reset(token)


class Recorder:
    """Records one run of `agent`, which calls `model`.

    `violations` gives what the guard has put on record, of which `known` are older than the run.
    `out_of_steps`: the run came to its last allowed step. `holds_answer`: the answer is judged before it is told.
    """

    def __init__(
        self,
        stream: Stream,
        agent: MultiStepAgent,
        model: WatchedModel,
        violations: Callable[[], Sequence[Violation]] = tuple,
        known: int = 0,
        *,
        holds_answer: bool = False,
    ) -> None:
        self.stream, self.agent, self.model = stream, agent, model
        tools = {**agent.tools, **agent.managed_agents}
        self.calls = CallLog(stream, tools)
        self.out_of_steps = False
        self._writer = MessageWriter(tools)
        self._step = 0
        self._failure: BaseException | None = None
        self._held: ActionStep | None = None
        self._violations, self._told = violations, known
        self._lock = threading.RLock()
        self._asked_for: AttemptKind = "step"
        answer = agent.tools.get(FINAL_ANSWER)
        self._deltas = Deltas(stream, next(iter(getattr(answer, "inputs", {})), "answer"), holds=holds_answer)
        model.told, model.begin, model.came = self._called_model, self._deltas.begin, self._came
        self._leave_members = watch_members(agent, model, self._member_called_model)

    def step_started(self) -> None:
        """A step's messages are about to be made; the first time, that is its start."""
        if self.agent.step_number > self._step:
            self._step, self._failure = self.agent.step_number, None
            self.stream.emit("step_start", {"step": self._step, "time": time.time()})

    @contextmanager
    def asking_for(self, kind: AttemptKind) -> Iterator[None]:
        """While it lasts, the agent calls its model for this, and not for a step."""
        self._asked_for = kind
        try:
            yield
        finally:
            self._asked_for = "step"

    def called(self, calls: Sequence[ChatMessageToolCall], step: ActionStep) -> None:
        """The model has called these tools in one message, in the order in which they will start."""
        self.calls.called(step.step_number, calls)

    def started(self, id: str | None, step: int | None) -> None:
        """The guard lets a call start."""
        call = self.calls.find(step or self._step, id)
        if call is not None:
            self.calls.started(call)

    def entered(
        self, id: str | None, step: int | None, name: str, arguments: object, *, changed: bool = False
    ) -> LoggedCall:
        """A tool is about to be called; `changed`: with other arguments than those of the message."""
        self.judged()
        return self.calls.entered(step or self._step, id, name, arguments, changed=changed)

    def asked(
        self,
        kind: EventKind,
        data: Mapping[str, Json],
        id: str | None,
        step: int | None,
        *,
        call: LoggedCall | None = None,
    ) -> None:
        """A person is asked about a call, or has answered. `id` is the provider's; a managed agent's call is given."""
        self.judged()
        call = call or self.calls.find(step or self._step, id)
        known = None if call is None else call.start["id"]
        told = {name: plain(value) for name, value in data.items()}
        self.stream.emit(kind, {**told, "question": told["id"], "id": known, "call_id": id, "step": step or self._step})

    def raised(self, call: LoggedCall, error: BaseException) -> None:
        """A call raised: in its tool, or because smolagents or a constraint did not let it come to that."""
        decision = getattr(error, "decision", None)
        own = error.__cause__ is None  # and not that of a call which a managed agent made
        if own and isinstance(decision, Decision) and not decision.allowed and decision.index is None:
            self.calls.refused(call, str(error))
            return
        known = call.start["tool_name"] in {**self.agent.tools, **self.agent.managed_agents}
        self.calls.raised(call, error, entered=known and not isinstance(error, AgentToolCallError))

    def came_out(self, output: ToolOutput, step: ActionStep) -> None:
        """A call's output reaches the step; a refusal is the end of its call."""
        if isinstance(output, Refusal):
            self.judged()
            call = self.calls.find(step.step_number, output.id)
            if call is not None:
                self.calls.refused(call, output.observation)

    def judged(self) -> None:
        """The guard may have put violations on record; each is told once."""
        with self._lock:
            for violation in self._violations()[self._told :]:
                self._told += 1
                self.stream.emit("constraint_violation", violation.record())

    def failed(self, error: BaseException) -> None:
        """An error comes out of the current step's tool calls."""
        self._failure = error

    def step_ended(self, step: ActionStep) -> None:
        """smolagents has finished a step. What error of its model call ends the run is known a moment later."""
        self.out_of_steps = is_last_resort(step)
        if step.error is None and self._failure is None and step.model_output_message is None:
            self._held = step
        else:
            self._end_step(step, step.error or self._failure)
        if isinstance(step.model_output, list):
            # smolagents keeps a reply's blocks, but cannot make the next step's messages from them.
            step.model_output = text_of(step.model_output) or ""

    def answered(self, answer: str | None) -> None:
        """The run is over, with this answer; what of its text has not been told yet is told now."""
        self._deltas.answered(answer, self._step)

    def close(self, error: BaseException | None) -> None:
        """The run is over, with this error."""
        self.model.rest()
        self._leave_members()
        held, self._held = self._held, None
        if held is not None:
            self._end_step(held, error)
        self.calls.close()

    def _called_model(self, told: Told) -> None:
        self._tell_call(told, self._purpose())

    def _member_called_model(self, told: Told) -> None:
        self._tell_call(told, "member")

    def _tell_call(self, told: Told, kind: AttemptKind) -> None:
        name: EventKind = "model_attempt" if isinstance(told, ModelAttempt) else "model_fallback"
        self.stream.emit(name, {**data_of(told), "kind": kind, "step": self.agent.step_number})

    def _came(self, delta: ChatMessageStreamDelta) -> None:
        self._deltas.came(delta, self._purpose(), self.agent.step_number)

    def _purpose(self) -> AttemptKind:
        return "member" if _in_member.get() else self._asked_for

    def _end_step(self, step: ActionStep, error: BaseException | None) -> None:
        record = step_record(step, error, self.agent.memory.steps, self._writer, self.model)
        self.stream.emit("step_end", data_of(record))
