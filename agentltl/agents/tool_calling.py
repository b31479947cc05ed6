"""A `smolagents.ToolCallingAgent` whose tool calls are judged before they run: how it is made.

How it runs, is copied and saved is in `constrained.py`, what happens to the calls of a message in
`guarded_messages.py`, what happens to one call in `execution.py`.
"""

from __future__ import annotations

from typing import Any, Literal

from smolagents.agents import PromptTemplates
from smolagents.default_tools import TOOL_MAPPING
from smolagents.models import Model
from smolagents.tools import Tool

from agentltl.agents.approval import Approver
from agentltl.agents.constrained import Constrained, Constraints, Severities
from agentltl.agents.ended import GuardedEnd
from agentltl.agents.guarded_messages import GuardedMessages
from agentltl.agents.masked import Masked
from agentltl.agents.saved import register
from agentltl.guard.severity import ConstraintSeverity

__all__ = ["Constraints", "Severities", "ToolCallingAgentWithConstraints"]


class ToolCallingAgentWithConstraints(Constrained, GuardedEnd, Masked, GuardedMessages):
    """A tool-calling agent under constraints; in everything else it is `smolagents.ToolCallingAgent`.

    `constraints` are `Constraint` objects or mappings with the keys of a rule file, or the path of a rule file.
    `constraint_severities` gives constraints, by name, another severity; `default_severity` is that of all constraints
    that have none. Severities may be given by name. With `enforce=False` calls are judged and recorded and none is
    refused; `lookahead="joint"` also refuses a call after which the constraints cannot all be kept;
    `max_identical_refusals` stops a run that makes one refused call so often in a row (None: never).
    A `SOFT_BLOCK` refuses `max_soft_attempts` calls, counted as `soft_block_mode` says, and then does what
    `escalate_to` does (`HARD_STOP` or `ASK`); an approval is good for `approval_seconds`: see
    `agentltl.guard.settings.Settings`.
    `approve` is asked about calls that a person can allow: see `agentltl.agents.approval`; without it they are refused,
    and it is not saved with the agent.
    `final_answer_retries` is how often in a run the model is sent back from its answer to do what constraints marked
    `applies_to_final_answer` still owe. With `mask_tools` the model is offered only what could be called now, and with
    `mask_reasons` it is told why the rest could not.
    All other parameters are those of smolagents.
    """

    def __init__(
        self,
        tools: list[Tool],
        model: Model,
        prompt_templates: PromptTemplates | None = None,
        planning_interval: int | None = None,
        stream_outputs: bool = False,
        max_tool_threads: int | None = None,
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
        **smolagents_kwargs: Any,
    ) -> None:
        self._constrain(
            constraints,
            constraint_severities,
            default_severity,
            approve,
            mask_tools,
            mask_reasons,
            tools,
            final_answer_retries=final_answer_retries,
            lookahead=lookahead,
            enforce=enforce,
            max_identical_refusals=max_identical_refusals,
            max_soft_attempts=max_soft_attempts,
            soft_block_mode=soft_block_mode,
            max_consecutive_soft_attempts=max_consecutive_soft_attempts,
            escalate_to=escalate_to,
            approval_seconds=approval_seconds,
        )
        super().__init__(
            tools,
            model,
            prompt_templates,
            planning_interval,
            stream_outputs,
            max_tool_threads,
            **smolagents_kwargs,
        )

    def _setup_tools(self, tools: list[Tool], add_base_tools: bool) -> None:
        super()._setup_tools(tools, add_base_tools)
        if add_base_tools and type(self) is ToolCallingAgentWithConstraints:
            # The parent adds this tool for a class of its own name only. The order of tools is that of the prompt.
            made = self.tools | {"python_interpreter": TOOL_MAPPING["python_interpreter"]()}
            order = dict.fromkeys([*(tool.name for tool in tools), *TOOL_MAPPING, *made])
            self.tools = {name: made[name] for name in order}


register(ToolCallingAgentWithConstraints)
