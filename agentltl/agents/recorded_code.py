"""A code agent with a recorder that is told of each call that the code makes, when it is made.

For smolagents the code is the one call of its step. The events, and so the metrics, have the calls that the code made.
"""

from __future__ import annotations

from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction

from agentltl.agents.code import CodeAgentWithConstraints
from agentltl.agents.code_call import CodeCall
from agentltl.agents.purposes import Purposes
from agentltl.constraints.value import Json
from agentltl.record.events import EventKind


class RecordedCodeAgentWithConstraints(Purposes, CodeAgentWithConstraints):
    """A recorded code agent under constraints. Outside of a recorded run `recorder` is None and changes nothing."""

    def write_memory_to_messages(self, summary_mode: bool = False) -> list[ChatMessage]:
        """As smolagents; it is how each step begins."""
        if self.recorder is not None and not summary_mode:
            self.recorder.step_started()
        return super().write_memory_to_messages(summary_mode)

    def _tell_proposed(self, call: CodeCall) -> None:
        super()._tell_proposed(call)
        if self.recorder is not None:
            function = ChatMessageToolCallFunction(name=call.tool, arguments=call.arguments)
            made = ChatMessageToolCall(function=function, id=call.key, type="function")
            self.recorder.calls.called(call.step, [made])
            self.recorder.judged()

    def _told_of_approval(self, kind: EventKind, data: dict[str, Json], id: str | None, step: int | None) -> None:
        if self.recorder is not None:
            self.recorder.asked(kind, data, id, step)

    def _tell(self, call: CodeCall, came: object = None) -> None:
        super()._tell(call, came)
        if self.recorder is None:
            return
        log = self.recorder.calls
        self.recorder.judged()
        known = log.find(call.step, call.key)
        if known is None:
            return  # a call of an earlier run
        match call.status:
            case "refused":
                log.refused(known, call.feedback)
            case "running":
                log.entered(call.step, call.key, call.tool, call.arguments, changed=call.changed is not None)
            case "failed":
                log.raised(known, came if isinstance(came, BaseException) else RuntimeError(call.error), entered=True)
            case "ok":
                log.returned(known, came)
