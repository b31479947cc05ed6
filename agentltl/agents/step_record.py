"""What a finished smolagents step says, apart from its tool calls, as a `StepRecord`."""

from __future__ import annotations

from collections.abc import Sequence

from smolagents.memory import ActionStep, MemoryStep
from smolagents.models import ChatMessage
from smolagents.utils import AgentMaxStepsError

from agentltl.agents.attempt import thinking_in
from agentltl.agents.model_messages import MessageWriter
from agentltl.agents.models.hidden_error import error_text
from agentltl.agents.watched_model import WatchedModel
from agentltl.record.events import StepRecord
from agentltl.record.text import text_of


def step_record(
    step: ActionStep,
    error: BaseException | None,
    memory: Sequence[MemoryStep],
    writer: MessageWriter,
    model: WatchedModel,
) -> StepRecord:
    """The record of a step; `memory` are the steps so far, `model` the model that it called."""
    reply, output = step.model_output_message, None
    messages: Sequence[ChatMessage] | None = step.model_input_messages
    if is_last_resort(step):
        # smolagents keeps neither what it sent nor what came back when it asks for an answer after the last step.
        reply, messages = model.reply, model.messages
        output = None if model.error is not None else text_of(step.action_output)
    calls = [s.tool_calls for s in memory if isinstance(s, ActionStep) and s.tool_calls is not None]
    raw, parsed = (None, None) if messages is None else writer.write(messages, calls)
    tokens, timing = step.token_usage, step.timing
    return StepRecord(
        step=step.step_number,
        reasoning=None if reply is None else text_of(reply.content),
        thinking=None if reply is None else thinking_in(reply),
        observation=None if step.observations is None else str(step.observations),
        action_output=output,
        error=None if error is None else error_text(error),
        input_tokens=tokens.input_tokens if tokens else 0,
        output_tokens=tokens.output_tokens if tokens else 0,
        start_time=timing.start_time,
        end_time=timing.end_time,
        model_input_raw=raw,
        model_input_parsed=parsed,
    )


def is_last_resort(step: ActionStep) -> bool:
    """Whether this is the step in which smolagents asks for an answer because no step is left."""
    return isinstance(step.error, AgentMaxStepsError)
