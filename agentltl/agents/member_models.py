"""The models of managed agents while their manager's run is recorded: each of their calls is told, too.

A member that has its manager's model needs nothing more. A member that is run by two managers at the same time tells
the first of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from smolagents.agents import MultiStepAgent
from smolagents.models import Model

from agentltl.agents.member_tree import with_members
from agentltl.agents.models.watch import Told
from agentltl.agents.watched_model import WatchedModel


def watch_members(agent: MultiStepAgent, own: WatchedModel, told: Callable[[Told], None]) -> Callable[[], None]:
    """Let `told` hear of the model calls of all that the agent manages, while its run lasts; gives what ends that.

    They have the limits of the run, which are those of its `own` model, and end when it is cancelled.
    """
    undo: list[Callable[[], None]] = []
    for member in with_members(agent)[1:]:
        if isinstance(member, MultiStepAgent) and (ends := _watch(member, own, told)) is not None:
            undo.append(ends)

    def end() -> None:
        for ends in undo:
            ends()

    return end


def _watch(member: MultiStepAgent, own: WatchedModel, told: Callable[[Told], None]) -> Callable[[], None] | None:
    model: Any = member.model
    if isinstance(model, WatchedModel):
        if model.told is not None:
            return None
        _follow(model, own, told)
        return model.rest
    watched = WatchedModel(model)
    _follow(watched, own, told)
    member.model = cast(Model, watched)

    def give_back() -> None:
        if cast(object, member.model) is watched:
            member.model = model

    return give_back


def _follow(model: WatchedModel, own: WatchedModel, told: Callable[[Told], None]) -> None:
    model.told, model.spending, model.cancelled = told, own.spending, lambda: own.cancelled()
