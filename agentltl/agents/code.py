"""A `smolagents.CodeAgent` each of whose code's tool calls is judged before it runs: how it is made.

How it runs, is copied and saved is in `constrained.py`, what happens to code in `code_steps.py`, to a call in
`code_execution.py`.
"""

from __future__ import annotations

from typing import Any, Literal

from smolagents.agents import PromptTemplates
from smolagents.local_python_executor import PythonExecutor
from smolagents.models import Model
from smolagents.tools import Tool

from agentltl.agents.approval import Approver
from agentltl.agents.code_steps import GuardedCode
from agentltl.agents.constrained import Constrained, Constraints, Severities
from agentltl.agents.ended import GuardedEnd
from agentltl.agents.masked import MaskedCode
from agentltl.agents.saved import register
from agentltl.guard.callwise import CallwiseGuard
from agentltl.guard.severity import ConstraintSeverity


class CodeAgentWithConstraints(Constrained, GuardedEnd, MaskedCode, GuardedCode):
    """A code agent under constraints; in everything else it is `smolagents.CodeAgent`.

    `constraints` are `Constraint` objects or mappings with the keys of a rule file, or the path of a rule file.
    `constraint_severities` gives constraints, by name, another severity; `default_severity` is that of all constraints
    that have none. Severities may be given by name. With `mask_tools` the last message of a step's prompt says what
    the code could call now, and with `mask_reasons` why not the rest. The other settings of the constraints are those
    of `ToolCallingAgentWithConstraints`.
    All other parameters are those of smolagents.
    The code runs in this process: a remote executor is a `ConstraintError`.
    Each call is a step of its own for the constraints, and a step of the memory has its calls as `judged_calls`.
    """

    _guard_class = CallwiseGuard

    def __init__(
        self,
        tools: list[Tool],
        model: Model,
        prompt_templates: PromptTemplates | None = None,
        additional_authorized_imports: list[str] | None = None,
        planning_interval: int | None = None,
        executor: PythonExecutor | None = None,
        executor_type: str = "local",
        executor_kwargs: dict[str, Any] | None = None,
        max_print_outputs_length: int | None = None,
        stream_outputs: bool = False,
        use_structured_outputs_internally: bool = False,
        code_block_tags: str | tuple[str, str] | None = None,
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
        if executor is not None:  # a keyword that the oldest smolagents does not have
            smolagents_kwargs["executor"] = executor
        super().__init__(
            tools,
            model,
            prompt_templates=prompt_templates,
            additional_authorized_imports=additional_authorized_imports,
            planning_interval=planning_interval,
            executor_type=executor_type,
            executor_kwargs=executor_kwargs,
            max_print_outputs_length=max_print_outputs_length,
            stream_outputs=stream_outputs,
            use_structured_outputs_internally=use_structured_outputs_internally,
            code_block_tags=code_block_tags,
            **smolagents_kwargs,
        )


register(CodeAgentWithConstraints)
