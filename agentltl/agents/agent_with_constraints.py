"""`AgentWithConstraints`: an agent whose tool calls are judged before they run, tools of MCP servers included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self, Unpack

from smolagents.models import Model
from smolagents.tools import Tool

from agentltl.agents.agent_with_additional_tools import AgentWithAdditionalTools
from agentltl.agents.approval import Approver
from agentltl.agents.earlier import Messages
from agentltl.agents.recorded import RecordedAgentWithConstraints
from agentltl.agents.settings import AgentSettings, takes_settings_of
from agentltl.agents.suspended import forget
from agentltl.agents.tool_calling import Constraints, Severities
from agentltl.constraints.constraint import constraints_of
from agentltl.constraints.trace import Trace
from agentltl.constraints.value import Json
from agentltl.constraints.verify import verify_trace
from agentltl.errors import AgentLTLError, ConstraintError, TraceError
from agentltl.guard.approvals import naming
from agentltl.guard.decision import Decision, Violation
from agentltl.guard.ending import FINAL_ANSWER
from agentltl.guard.guard import Guard
from agentltl.guard.severity import ConstraintSeverity


@takes_settings_of(AgentWithAdditionalTools)
class AgentWithConstraints(AgentWithAdditionalTools):
    """An agent whose tool calls are judged before they run. `run` returns also when a constraint has stopped it.

    `constraints` are `Constraint` objects or mappings with the keys of a rule file, or the path of a rule file;
    `constraint_severities` gives constraints, by name, another severity, `default_severity` those that have none.
    `approve` is asked about calls that a person can allow; without it they are refused. Where it does not answer yet,
    the run ends, and what it waits for is `result.pending`.
    The other settings of the constraints are those of `ToolCallingAgentWithConstraints`.
    Tools of `mcp_servers` are judged like all others. All other parameters are those of `Agent`.
    """

    smolagent: RecordedAgentWithConstraints

    def __init__(
        self,
        tools: Sequence[Tool] | None = None,
        model: str | Model | None = None,
        *,
        constraints: Constraints = (),
        constraint_severities: Severities | None = None,
        default_severity: ConstraintSeverity | str = ConstraintSeverity.HARD_STOP,
        approve: Approver | None = None,
        lookahead: Literal["rule", "joint"] = "rule",
        enforce: bool = True,
        mask_tools: bool = False,
        mask_reasons: bool = False,
        final_answer_retries: int = 1,
        max_identical_refusals: int | None = None,
        max_soft_attempts: int = 3,
        soft_block_mode: Literal["cumulative", "consecutive", "hybrid"] = "cumulative",
        max_consecutive_soft_attempts: int | None = None,
        escalate_to: ConstraintSeverity | str = ConstraintSeverity.HARD_STOP,
        approval_seconds: float = 600.0,
        mcp_servers: Mapping[str, Mapping[str, Any]] | None = None,
        **settings: Unpack[AgentSettings],
    ) -> None:
        self._constraints: dict[str, Any] = {
            "constraints": constraints_of(constraints),  # once, also for the twins
            "constraint_severities": constraint_severities,
            "default_severity": default_severity,
            "approve": approve,
            "lookahead": lookahead,
            "enforce": enforce,
            "mask_tools": mask_tools,
            "mask_reasons": mask_reasons,
            "final_answer_retries": final_answer_retries,
            "max_identical_refusals": max_identical_refusals,
            "max_soft_attempts": max_soft_attempts,
            "soft_block_mode": soft_block_mode,
            "max_consecutive_soft_attempts": max_consecutive_soft_attempts,
            "escalate_to": escalate_to,
            "approval_seconds": approval_seconds,
        }
        super().__init__(tools, model, mcp_servers=mcp_servers, **settings)

    @property
    def guard(self) -> Guard:
        """The guard that judges the calls."""
        return self.smolagent.guard

    def to_state(self) -> dict[str, Json]:
        """The conversation so far as JSON: what the agent remembers, the transcript, what the guard knows."""
        return {**self.smolagent.to_state(), "messages": self._earlier}

    def restore(self, state: Mapping[str, Json]) -> None:
        """Take up a conversation that `to_state` gave, also in another process: `run(..., reset=False)` goes on.

        The rules are those of the state.
        """
        self.smolagent.restore(state)
        self._earlier = list(state.get("messages", ()))

    def open_questions(self) -> list[tuple[Guard, Decision]]:
        """The refused calls that a person could allow and nobody has answered, this agent's and those of managed agents
        that wait: each with the guard that asks, whose `approve` and `deny` take the decision."""
        return self.smolagent.open_questions()

    def _make(self, tools: list[Tool], model: Model, settings: dict[str, Any]) -> RecordedAgentWithConstraints:
        agent = RecordedAgentWithConstraints(tools, model, **self._constraints, **settings)
        self.mcp_servers.require_meant(agent.guard.constraints, agent.tools)
        return agent

    def _constraint_status(self) -> dict[str, Json] | None:
        return self.smolagent.get_constraint_status()

    def _compliance(self) -> float | None:
        """The score of the guard's trace; None without rules, or where one of them cannot judge it."""
        if not self.guard.constraints:
            return None
        try:
            return float(verify_trace(self.guard.trace, self.guard.constraints)["compliance_score"])
        except AgentLTLError:
            return None

    def _judges_answer(self) -> bool:
        guard = self.guard
        judged = guard.asks_at_the_end or naming(FINAL_ANSWER, guard.constraints)
        return bool(judged) or super()._judges_answer()

    def _take_up(self, messages: Messages) -> None:
        trace = Trace.from_messages(messages)
        try:
            verify_trace(trace, self.guard.constraints)
        except TraceError as error:
            raise ConstraintError(f"`messages` lacks what these rules need: {error}") from error
        super()._take_up(messages)
        forget(self.smolagent)
        self.guard.reset()
        self.guard.seen(trace)

    def _twin(self, **changed: Any) -> Self:
        twin = super()._twin(**changed)
        twin.smolagent.take_rules_of(self.smolagent)
        return twin

    def _rules(self) -> list[dict[str, Json]]:
        return [{**c.to_mapping(), "severity": self.guard.severities[c.name].name} for c in self.guard.constraints]

    def _violations(self) -> Sequence[Violation]:
        return self.guard.violations
