"""What a run needs of smolagents alone, the same in our process and in a peer's: the tools, and a model in no time."""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from typing import Any

from smolagents import Tool
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole, Model
from smolagents.monitoring import TokenUsage

from measure.workload import CYCLE, call

_KINDS: dict[type, str] = {str: "string", int: "integer"}


def tools() -> list[Any]:
    """The tools of the workload; each answers `ok`."""

    def make(index: int) -> Any:
        tool, arguments = call(index)
        inputs = {name: {"type": _KINDS[type(value)], "description": name} for name, value in arguments.items()}
        body = {
            "name": tool,
            "description": tool,
            "inputs": inputs,
            "output_type": "string",
            "forward": lambda _self, **_arguments: "ok",
            "skip_forward_signature_validation": True,
        }
        return type(tool, (Tool,), body)()

    return [make(index) for index in range(CYCLE)]


def seconds_of_runs(agents: Sequence[Any]) -> float:
    """The mean seconds of one run of each agent, which has to answer `done`; the collector is off."""
    gc.collect()
    gc.disable()
    try:
        began = time.perf_counter()
        answers = [str(agent.run("Go through the tickets.")) for agent in agents]
        taken = time.perf_counter() - began
    finally:
        gc.enable()
    if any("done" not in answer for answer in answers):
        raise RuntimeError(f"the agent answers `{answers[0]}`")
    return taken / len(agents)


class Instant(Model):
    """Makes so many calls of the workload, one a step, and answers `done`."""

    def __init__(self, steps: int) -> None:
        super().__init__(model_id="instant")
        self.steps, self.made = steps, 0

    def generate(self, messages: Any, *_: Any, **__: Any) -> ChatMessage:
        """The next call."""
        name, arguments = call(self.made) if self.made < self.steps else ("final_answer", {"answer": "done"})
        self.made += 1
        function = ChatMessageToolCallFunction(name=name, arguments=arguments)
        made = ChatMessageToolCall(function=function, id=f"call_{self.made}", type="function")
        usage = TokenUsage(input_tokens=10, output_tokens=5)
        return ChatMessage(role=MessageRole.ASSISTANT, content=None, tool_calls=[made], token_usage=usage)
