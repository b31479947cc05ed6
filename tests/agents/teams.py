"""Small teams for tests: scripted managed agents and managers, with the tools `pay` and `look`, and a person to ask."""

from __future__ import annotations

from typing import Any

from smolagents import ToolCallingAgent
from smolagents.memory import ActionStep

from agentltl import ApprovalRequest, ToolCallingAgentWithConstraints
from agentltl.agents.models.scripted import ScriptedModel
from tests.agents.conftest import Echo

ASK = {"name": "ask", "rule": "never(pay)", "severity": "ASK", "description": "A person sees each payment"}
OWN = ASK | {"name": "own"}
CAP = {"name": "cap", "rule": "G !pay(text > 100)", "severity": "PERSISTENT_BLOCK"}
OTHER = {"name": "other", "rule": "at_most(look, 100)"}
APART = {"name": "apart", "rule": "never(shred)"}
KINDS = [ToolCallingAgent, ToolCallingAgentWithConstraints]
END = ("final_answer", {"answer": "done"})


class Person:
    """An approver that gives these answers in turn, raising errors, and remembers what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[ApprovalRequest] = []

    def __call__(self, request: ApprovalRequest) -> Any:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer(request) if callable(answer) else answer


def pay(text: Any = 5) -> tuple[str, dict[str, Any]]:
    return ("pay", {"text": text})


def look(text: Any = 1) -> tuple[str, dict[str, Any]]:
    return ("look", {"text": text})


def end(answer: Any = "done") -> tuple[str, Any]:
    return ("final_answer", {"answer": answer})


def ask(name: str = "clerk", task: str = "Pay.") -> tuple[str, Any]:
    return (name, {"task": task, "additional_args": {}})


def agent(kind: Any, replies: Any, name: str = "clerk", **more: Any) -> Any:
    tools = more.pop("tools", None) or [Echo("pay"), Echo("look")]
    return kind(tools, ScriptedModel(replies), name=name, description="Helps.", verbosity_level=-1, **more)


def manager(members: Any, *replies: Any, **more: Any) -> Any:
    return agent(
        ToolCallingAgentWithConstraints,
        [*replies, END],
        "chief",
        managed_agents=list(members),
        **({"constraints": [ASK, CAP]} | more),
    )


def got(one: Any, name: str = "pay") -> list[Any]:
    return list(one.tools[name].got)


def calls(one: Any) -> list[tuple[str, str | None]]:
    return [(call.tool, call.agent) for call in one.guard.trace.calls if call.tool != "final_answer"]


def steps(one: Any) -> list[ActionStep]:
    return [step for step in one.memory.steps if isinstance(step, ActionStep)]


def code(*lines: str) -> str:
    """A message of a code agent."""
    return "<code>\n" + "\n".join(lines) + "\n</code>"
