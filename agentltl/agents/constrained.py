"""What every guarded smolagents agent has: constraints, a guard, runs under it, its status, copies, saving and loading.

It goes in front of a class that asks the guard about each call.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from smolagents.agents import RunResult

from agentltl.agents.above import RUNS
from agentltl.agents.approval import Approver
from agentltl.agents.callbacks import Callbacks
from agentltl.agents.conversation import restored, state_of
from agentltl.agents.copied import shared
from agentltl.agents.nested import nested
from agentltl.agents.saved import MASKS, take_settings, without_keys, write_imports
from agentltl.agents.suspended import forget, members_data, members_of, open_questions
from agentltl.agents.tool_approval import approvable, approval_rules, require_asked
from agentltl.constraints.constraint import Constraint, constraints_of
from agentltl.constraints.value import Json
from agentltl.errors import ConstraintError
from agentltl.guard.decision import Decision
from agentltl.guard.guard import Guard
from agentltl.guard.severity import ConstraintSeverity

if TYPE_CHECKING:
    import PIL.Image
    from smolagents.agents import MultiStepAgent as Base
else:
    Base = object

Constraints = Sequence[Constraint | Mapping[str, Json]] | str | os.PathLike[str]
Severities = Mapping[str, ConstraintSeverity | str]


class Constrained(Base):
    """An agent under constraints. The constructor calls `_constrain` before that of smolagents."""

    guard: Guard
    approve: Approver | None
    _guard_class: ClassVar[type[Guard]] = Guard
    _goes_on: int | None = None
    """The number of this run, if a managed agent goes on with an earlier one: its steps begin anew, and are others."""
    _member_stop: Decision | None = None
    """The decision of a managed agent's constraint that has stopped this run."""
    _within: bool = False
    """Whether the run that was begun last is part of another one of this agent: a call there has begun it."""

    def _constrain(
        self,
        constraints: Constraints = (),
        constraint_severities: Severities | None = None,
        default_severity: ConstraintSeverity | str = ConstraintSeverity.HARD_STOP,
        approve: Approver | None = None,
        mask_tools: bool = False,
        mask_reasons: bool = False,
        tools: object = (),
        **settings: Any,
    ) -> None:
        if mask_reasons and not mask_tools:
            raise ConstraintError("`mask_reasons` says why tools are masked, and none are\ngive `mask_tools=True`, too")
        self.mask_tools, self.mask_reasons = mask_tools, mask_reasons
        if approve is not None and not callable(cast(object, approve)):
            raise ConstraintError(
                f"`approve` is `{approve!r}`\ngive a callable that takes an approval request and answers it"
            )
        self.approve = approve
        self._severities = {name: ConstraintSeverity.of(s) for name, s in (constraint_severities or {}).items()}
        self._default_severity = ConstraintSeverity.of(default_severity)
        given = constraints_of(constraints)
        given = (*given, *approval_rules(tools if isinstance(tools, Iterable) else (), given))
        self.guard = self._guard_class(given, self._severities, self._default_severity, **settings)

    def _setup_tools(self, tools: Any, add_base_tools: bool) -> None:
        super()._setup_tools(tools, add_base_tools)  # type: ignore[no-untyped-call]
        self.tools = approvable(self.tools)

    def _setup_step_callbacks(self, step_callbacks: Any) -> None:
        super()._setup_step_callbacks(step_callbacks)  # type: ignore[no-untyped-call]
        self.step_callbacks = Callbacks(self.step_callbacks)

    def run(
        self,
        task: str,
        stream: bool = False,
        reset: bool = True,
        images: list[PIL.Image.Image] | None = None,
        additional_args: dict[str, Any] | None = None,
        max_steps: int | None = None,
        return_full_result: bool | None = None,
    ) -> Any | RunResult:
        """Run the agent as smolagents does. A constraint that stops the run raises `ConstraintViolationError`.

        `reset=False` goes on with the same conversation for the constraints too: what has happened stays their trace.
        """
        self._member_stop = None
        inner = nested()
        self._within = inner and self._has_open_call()
        self._goes_on = next(RUNS) if inner and not reset else None
        if reset:
            forget(self)
        if reset and not self._within:
            self.guard.reset()
        if not inner:
            self.guard.said(task)
        return super().run(
            task,
            stream=stream,
            reset=reset,
            images=images,
            additional_args=additional_args,
            max_steps=max_steps,
            return_full_result=return_full_result,
        )

    def _has_open_call(self) -> bool:
        """Is a call under way? A run that such a call begins, through a tool or a member, is part of the run around it.
        Frames would not tell: the code of a code agent runs in a thread of its own."""
        return any(call.outcome is None and call.approves is None for call in self.guard.trace.calls)

    def get_constraint_status(self) -> dict[str, Json]:
        """What the constraints say of the last run: the documented dict."""
        status = self.guard.status()
        if self._member_stop is not None and status["status"] != "stopped":
            # A constraint of another agent has stopped the run.
            records = [violation.record() for violation in self._member_stop.violations]
            status["status"] = "stopped"
            status["stopped_by"] = records[0]["constraint_name"] if records else None
            status["violations"] = [*status["violations"], *records]
        return status

    def to_state(self) -> dict[str, Json]:
        """The conversation so far as JSON: what the agent remembers, what its guard knows, and the same of managed
        agents that wait for a person. See `restore`."""
        members = members_data(self)
        return {**state_of(self.memory.steps, self.guard), **({"members": members} if members else {})}

    def restore(self, state: Mapping[str, Json]) -> None:
        """Take up a conversation that `to_state` gave, also in another process: `run(..., reset=False)` goes on.

        The rules are those of the state.
        """
        steps, guard = restored(state, self._guard_class)
        require_asked(self.tools.values(), guard.constraints)
        members = list(members_of(self, state.get("members", {})))
        self.guard, self.memory.steps = guard, [*steps]
        self._severities = dict(guard.severities)
        forget(self)
        for member in members:
            member.take_up()

    def take_rules_of(self, other: Constrained) -> None:
        """Begin anew under the rules and settings that the guard of another agent has now."""
        self.guard = copy.deepcopy(other.guard)
        self.guard.reset()
        self._severities = dict(other._severities)

    def open_questions(self) -> list[tuple[Guard, Decision]]:
        """The refused calls that a person could allow and nobody has answered, this agent's and those of managed agents
        that wait: each with the guard that asks, whose `approve` and `deny` take the decision."""
        return open_questions(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        memo.update((id(it), it) for it in shared(self))
        twin = memo[id(self)] = object.__new__(type(self))
        twin.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return twin

    def to_dict(self) -> dict[str, Any]:
        """The agent as plain data, with its constraints (keys of a rule file) and severities (names)."""
        data: dict[str, Any] = without_keys(super().to_dict())
        data["requirements"] = sorted({*data["requirements"], "agentltl"})
        data["constraints"] = [constraint.to_mapping() for constraint in self.guard.constraints]
        data["constraint_severities"] = {name: severity.name for name, severity in self._severities.items()}
        data["default_severity"] = self._default_severity.name
        data |= self.guard.settings.to_data()
        data |= {name: getattr(self, name) for name in MASKS}
        return data

    @classmethod
    def from_dict(cls, agent_dict: dict[str, Any], **kwargs: Any) -> Self:
        """An agent from what `to_dict` gave. Keywords override it; those for constraints are for this agent alone."""
        settings = take_settings(agent_dict, kwargs)
        import agentltl.agents.models.local  # noqa: F401  the registry of smolagents then knows our models

        agent = super().from_dict(agent_dict, **kwargs)
        assert isinstance(agent, cls)
        if settings:
            agent._constrain(**settings, tools=agent.tools.values())
        return agent

    def save(self, output_dir: str | Path, relative_path: str | None = None) -> None:
        """Save the agent as smolagents does, with its constraints in `agent.json` and `app.py`."""
        super().save(output_dir, relative_path)
        write_imports(output_dir, type(self), type(self.model))
