"""Managed agents whose run has ended because a call waits for a person, and how it goes on.

Such an agent keeps what it remembers, and its guard what it knows. When the same manager calls it next, its run goes on
with that. Once it has run otherwise, or its manager has begun anew, there is nothing to go on with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from smolagents.agents import MultiStepAgent
from smolagents.memory import MemoryStep

from agentltl.agents.conversation import Step, steps_data, steps_of
from agentltl.constraints.value import Json
from agentltl.errors import ConstraintError
from agentltl.guard.decision import Decision
from agentltl.guard.guard import Guard

if TYPE_CHECKING:
    from collections.abc import Iterator

_MARKS = "_waiting_members"
"""The attribute of a manager that has, by name, the last step of each managed agent that waits."""


def suspend(manager: MultiStepAgent, name: str, member: MultiStepAgent) -> None:
    """The run of this managed agent has ended, and is to go on later."""
    if member.memory.steps:
        vars(manager).setdefault(_MARKS, {})[name] = member.memory.steps[-1]


def takes_up(manager: MultiStepAgent, name: str, member: MultiStepAgent) -> bool:
    """Whether a call of this managed agent goes on with its run; asked once for each call."""
    return _waits(member, vars(manager).get(_MARKS, {}).pop(name, None))


def forget(manager: MultiStepAgent) -> None:
    """The manager begins anew: nothing that it manages goes on."""
    vars(manager).pop(_MARKS, None)


def open_questions(agent: MultiStepAgent) -> list[tuple[Guard, Decision]]:
    """What nobody has answered yet: each guard with its decision, the agent's own and those of agents that wait."""
    guard: Guard | None = getattr(agent, "guard", None)
    found = [] if guard is None else [(guard, decision) for decision in guard.pending]
    for member in _waiting(agent).values():
        found += open_questions(member)
    return found


def members_data(manager: MultiStepAgent) -> dict[str, Json]:
    """The managed agents that wait, by name, as JSON."""
    found: dict[str, Json] = {}
    for name, member in _waiting(manager).items():
        guard: Guard | None = getattr(member, "guard", None)
        data = {
            "steps": steps_data(member.memory.steps),
            "guard": None if guard is None else guard.to_state(),
            "members": members_data(member),
        }
        found[name] = {key: value for key, value in data.items() if value}
    return found


class Restored(NamedTuple):
    """A managed agent that waits, as it was saved."""

    manager: MultiStepAgent
    name: str
    member: MultiStepAgent
    steps: list[Step]
    guard: Guard | None

    def take_up(self) -> None:
        """Let the agent wait, as it did."""
        forget(self.member)
        self.member.memory.steps = [*self.steps]
        if self.guard is not None:
            vars(self.member)["guard"] = self.guard
        suspend(self.manager, self.name, self.member)


def members_of(manager: MultiStepAgent, data: Mapping[str, Any]) -> Iterator[Restored]:
    """The managed agents that `members_data` has saved; a `ConstraintError` for one that the manager does not have."""
    for name, state in data.items():
        member = manager.managed_agents.get(name)
        if not isinstance(member, MultiStepAgent):
            raise ConstraintError(
                f"in this state the managed agent `{name}` waits for a person, and this agent has none of that name\n"
                "give the agent the managed agents that it had"
            )
        kind: type[Guard] | None = getattr(member, "_guard_class", None)
        if (kind is None) != ("guard" not in state):
            had = "had" if kind is None else "did not have"
            raise ConstraintError(
                f"in this state the managed agent `{name}` {had} constraints of its own\n"
                "give the agent the managed agents that it had"
            )
        guard = None if kind is None else kind.from_state(state["guard"])
        yield Restored(manager, name, member, steps_of(state["steps"]), guard)
        yield from members_of(member, state.get("members", {}))


def _waiting(manager: MultiStepAgent) -> dict[str, MultiStepAgent]:
    marks: dict[str, MemoryStep] = getattr(manager, _MARKS, {})
    return {name: member for name, member in manager.managed_agents.items() if _waits(member, marks.get(name))}


def _waits(member: MultiStepAgent, mark: MemoryStep | None) -> bool:
    """Whether nothing has happened to it since it was marked."""
    return mark is not None and any(step is mark for step in member.memory.steps[-1:])
