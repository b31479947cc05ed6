"""The three ways to run a task: under rules with full refusals, under rules with plain ones, and without rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from agentltl.agents.agent import Agent
from agentltl.agents.agent_with_constraints import AgentWithConstraints
from agentltl.agents.models.local import LocalModel
from agentltl.cli.demo.desk import RULES
from agentltl.cli.demo.run import agent_for
from agentltl.constraints.value import Json
from agentltl.guard.decision import Decision
from agentltl.guard.guard import Guard

Condition = Literal["repair", "plain", "none"]
CONDITIONS: dict[Condition, str] = {
    "repair": "guard, repair feedback",
    "plain": "guard, plain refusals",
    "none": "no guard",
}


class PlainGuard(Guard):
    """A guard whose refusals say that a call did not run and by which rules, and neither why nor what to do instead."""

    def propose(self, tool: str, args: Json = None, **said: Any) -> Decision:
        """As `Guard.propose`, with a plain feedback."""
        decision = super().propose(tool, args, **said)
        return decision._replace(feedback=plain(decision)) if decision.feedback else decision


def plain(decision: Decision) -> str:
    """The refusal with the rules' names and what they say."""
    told = [violation for violation in decision.violations if violation.refuses]
    rules = [f"Rule {v.constraint_name}" + (f": {v.description}." if v.description else ".") for v in told]
    return "\n".join([f"Refused: `{told[0].tool_name}` did not run.", *rules])


def agent_under(condition: Condition, model: LocalModel, database: Path) -> Agent:
    """The order desk's agent under one of the three conditions."""
    agent = agent_for(model, database, guarded=condition != "none")
    if condition == "plain":
        assert isinstance(agent, AgentWithConstraints)
        agent.smolagent.guard = PlainGuard(RULES)
    return agent
