"""A model and tools for sub-agents that other processes can import, and what results say apart from times and ids."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import Any

from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole, Model
from smolagents.tools import Tool

from agentltl import tool
from agentltl.agents.models.report import ModelReport, attach
from agentltl.agents.models.stream import tokens_of

ARGUMENTS = {"die": "place", "die_once": "place", "note": "place", "get_order": "order_id"}
TEMPLATE = "Requirement {requirement_id}: {requirement_description}\nTasks:\n{tasks}"
READ_FIRST = {"name": "read-first", "rule": "before(read_order, change_order)"}


@tool
def read_order(order: str) -> str:
    """Read an order."""
    return f"{order} is open"


@tool
def change_order(order: str) -> str:
    """Change an order."""
    return f"{order} is changed"


@tool
def die_once(place: str) -> str:
    """End the process that this runs in, unless that has happened at this place."""
    mark = Path(place)
    if not mark.exists():
        mark.write_text("died", encoding="utf-8")
        os._exit(1)
    return "alive"


@tool
def die(place: str) -> str:
    """End the process that this runs in."""
    os._exit(1)


@tool
def note(place: str) -> str:
    """Write down the process that this runs in, one line for each call."""
    with Path(place).open("a", encoding="utf-8") as lines:
        lines.write(f"{os.getpid()}\n")
    return "noted"


TOOLS = [read_order, change_order, die, die_once, note]


def tools() -> list[Tool]:
    """The tools, for a worker that is given the name of this function."""
    return list(TOOLS)


class Clerk(Model):
    """Makes one call for each task of its prompt, `tool argument`, and then answers with the requirement's id.

    The task `fail` makes the model raise, and `wait SECONDS` makes this one reply late. It remembers nothing, so
    threads can share it. Each reply costs `cost` US dollars (None: not known) and takes `seconds`.
    """

    def __init__(self, cost: float | None = None, seconds: float = 0.0) -> None:
        super().__init__(model_id="clerk")
        self.cost, self.seconds = cost, seconds

    def generate(self, messages: list[ChatMessage], *_: Any, **__: Any) -> ChatMessage:
        """The next call, found from how many replies there were."""
        time.sleep(self.seconds)
        prompt = next(text for m in messages if m.role == MessageRole.USER and "Requirement" in (text := text_of(m)))
        id = re.search(r"Requirement (\S+):", prompt)
        assert id
        done = sum(m.role == MessageRole.TOOL_CALL for m in messages)
        tasks = [task for task in re.findall(r"^- (.+)$", prompt, re.MULTILINE) if not task.startswith("wait ")]
        time.sleep(sum(map(float, re.findall(r"^- wait (\S+)$", prompt, re.MULTILINE))))
        name, arguments = "final_answer", {"answer": f"{id[1]} is done"}
        if done < len(tasks):
            if tasks[done] == "fail":
                raise RuntimeError("the model has failed")
            name, _, value = tasks[done].partition(" ")
            arguments = {ARGUMENTS.get(name, "order"): value}
        function = ChatMessageToolCallFunction(name=name, arguments=arguments)
        call = ChatMessageToolCall(function=function, id=f"call_{id[1]}_{done + 1}", type="function")
        report = ModelReport(
            model="clerk", finish_reason="tool_calls", input_tokens=len(prompt), output_tokens=7,
            input_cost_usd=self.cost, output_cost_usd=self.cost and 0.0, total_cost_usd=self.cost,
        )  # fmt: skip
        reply = ChatMessage(role=MessageRole.ASSISTANT, content=None, tool_calls=[call], token_usage=tokens_of(report))
        attach(reply, report)
        return reply


def clerk() -> Clerk:
    """The model, for a worker that is given the name of this function."""
    return Clerk()


def text_of(message: ChatMessage) -> str:
    """The text of a message."""
    content = message.content
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or [])


TIMES = {"time", "start_time", "end_time", "duration", "duration_ms", "time_to_first_token_ms", "started_at"}
NOT_SAME = TIMES | {"completed_at", "execution_id"}


def canonical(result: Any) -> str:
    """A result as JSON, without times and ids."""

    def clean(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: clean(part) for name, part in value.items() if name not in NOT_SAME}
        return [clean(part) for part in value] if isinstance(value, list) else value

    return json.dumps(clean(result.to_dict()), sort_keys=True)
