"""The settings that every agent takes by keyword, written down once more for the constructors that pass them on.

`Agent` has them in its signature, with their defaults; `takes_settings_of` shows them in that of a class which takes
them as `**settings`, so that `help()` and editors know them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypedDict, TypeVar

from smolagents.models import Model

from agentltl.agents.approval import Approver
from agentltl.agents.constrained import Constraints, Severities
from agentltl.guard.severity import ConstraintSeverity
from agentltl.record.events import Sink

C = TypeVar("C", bound=type)


class AgentSettings(TypedDict, total=False):
    """The keywords of `Agent`."""

    name: str | None
    instructions: str | None
    max_steps: int
    model_seed: int | None
    api_key: str | None
    api_base: str | None
    temperature: float | None
    model_instance: Model | None
    output_type: object
    output: object
    output_retries: int
    fallback_models: Sequence[str | Model]
    retries: int
    timeout: float | None
    total_timeout: float | None
    max_cost_usd: float | None
    max_tokens_total: int | None
    max_model_calls: int | None
    sinks: Iterable[Sink]


class ConstrainedSettings(AgentSettings, total=False):
    """The keywords of `AgentWithConstraints`."""

    constraints: Constraints
    constraint_severities: Severities | None
    default_severity: ConstraintSeverity | str
    approve: Approver | None
    lookahead: Literal["rule", "joint"]
    enforce: bool
    mask_tools: bool
    mask_reasons: bool
    final_answer_retries: int
    max_identical_refusals: int | None
    max_soft_attempts: int
    soft_block_mode: Literal["cumulative", "consecutive", "hybrid"]
    max_consecutive_soft_attempts: int | None
    escalate_to: ConstraintSeverity | str
    approval_seconds: float
    mcp_servers: Mapping[str, Mapping[str, Any]] | None


def takes_settings_of(base: type) -> Callable[[C], C]:
    """A decorator for a class whose constructor passes `**settings` on to that of `base`: its signature has the
    parameters of both."""

    def shown(cls: C) -> C:
        made: Any = cls.__init__  # type: ignore[misc]
        signature = inspect.signature(made)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        theirs = inspect.signature(base.__init__).parameters.values()  # type: ignore[misc]
        passed = [p for p in theirs if p.kind is p.KEYWORD_ONLY and p.name not in {one.name for one in own}]
        made.__signature__ = signature.replace(parameters=[*own, *passed])
        return cls

    return shown
