"""Managed agents while a manager of ours calls them: each of their calls goes through the guards above first.

A member of ours asks those guards itself. Of any other member the tools and managed agents are replaced by guarded ones
for as long as it is called (`guarded_tools.py`).
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from smolagents.agents import CodeAgent, MultiStepAgent

from agentltl.agents.above import RUNS, Outer, Place
from agentltl.agents.approval import Approver
from agentltl.agents.guarded_tools import wrap
from agentltl.agents.member_call import MemberCall
from agentltl.agents.member_end import End, MemberEnd, end_of
from agentltl.agents.member_tree import has_guarded_members, require_guardable
from agentltl.agents.patience import Patience
from agentltl.agents.stand_in import StandIn, put
from agentltl.agents.stop import ConstraintStopError, PendingStopError
from agentltl.agents.suspended import forget, suspend, takes_up
from agentltl.agents.wait_memory import WaitMemory
from agentltl.guard.ending import FINAL_ANSWER


class Called(NamedTuple):
    """One call of a managed agent by its manager: the guards above, nearest first, and the nearest who can be asked."""

    outers: tuple[Outer, ...]
    approver: Approver | None


@dataclass(eq=False)
class Guarding:
    """A managed agent that is being called: `calls` are those that run now. `end` is what is to end its run, a stop or
    a call that waits for a person; `memory` is what is written of its step in the latter case. `undo` takes the guarded
    tools out again, if it has some."""

    member: MultiStepAgent
    calls: list[Called] = field(default_factory=list)
    steps: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    undo: Callable[[], None] | None = None
    end: End | None = None
    memory: WaitMemory = field(default_factory=WaitMemory)
    patience: Patience = field(default_factory=Patience)

    @property
    def outers(self) -> tuple[Outer, ...]:
        """The guards above, each once."""
        return tuple({id(outer.guard): outer for call in [*self.calls] for outer in call.outers}.values())

    @property
    def approver(self) -> Approver | None:
        """The nearest above who can be asked."""
        return next((call.approver for call in [*self.calls] if call.approver is not None), None)

    def place(self) -> Place:
        """Where in its run the agent makes a call; each call of a code agent has a step of its own."""
        message = self.member.step_number
        return (next(self.steps), message) if isinstance(self.member, CodeAgent) else (message,)

    def call(self, name: str, tool: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """The agent calls one of its tools or managed agents."""
        known = _running.get(self.member)
        if known is not self and known is not None:  # what the code of an earlier run has kept
            return known.call(name, tool, args, kwargs)
        if name == FINAL_ANSWER:  # a member's answer is the result of its manager's call
            return tool(*args, **kwargs)
        if self.end is not None:
            raise MemberEnd(self.end)
        call = MemberCall(self.member, name, tool, self.outers)
        try:
            args, kwargs = call.judge(args, kwargs, self.place, self.patience)
            result = call.run(args, kwargs, guarding(self.member, name, tool, self.outers, self.approver))
        except BaseException as error:
            if isinstance(error, MemberEnd) and not isinstance(self.end, ConstraintStopError):
                self.end = error.end
            raise
        self.memory.keep(self.member.step_number, name, result)
        return result


_running: WeakKeyDictionary[MultiStepAgent, Guarding] = WeakKeyDictionary()
_lock = threading.RLock()


def outers_of(member: MultiStepAgent) -> tuple[Outer, ...]:
    """The guards above an agent that is being called by its manager now; none for any other."""
    known = _running.get(member)
    return () if known is None else known.outers


def place_of(member: MultiStepAgent) -> Place:
    """Where in its run this agent makes a call, while it is being called by its manager."""
    known = _running.get(member)
    return (member.step_number,) if known is None else known.place()


def approver_above(member: MultiStepAgent) -> Approver | None:
    """The nearest manager's approver, while an agent is being called by its manager."""
    known = _running.get(member)
    return None if known is None else known.approver


@contextmanager
def guarding(
    manager: MultiStepAgent, name: str, member: object, outers: tuple[Outer, ...], approver: Approver | None
) -> Iterator[None]:
    """While it lasts, the calls of the managed agent that the manager calls by this name are judged by these guards.

    An agent whose last run waits for a person goes on with what it remembers. Does nothing for what is no agent.
    """
    if not isinstance(member, MultiStepAgent):
        yield
        return
    if outers:
        require_guardable(member)
    run = next(RUNS)
    call = Called(tuple(outer._replace(agent=name, run=run) for outer in outers), approver)
    with _lock:
        known = _running.setdefault(member, Guarding(member))
        if known.undo is None and (outers or approver is not None or has_guarded_members(member)):
            known.undo = wrap(known)
        known.calls.append(call)
    try:
        with _going_on(manager, name, member):
            yield
        if known.end is not None:  # the agent's code has held up what was to end its run
            raise MemberEnd(known.end)
    except BaseException as error:
        end = known.end or end_of(error)
        if isinstance(end, PendingStopError):
            known.memory.write(member, end.message)
            suspend(manager, name, member)
        if isinstance(end, ConstraintStopError) and end is not end_of(error):
            raise MemberEnd(end) from error  # a stop that came beside
        raise
    finally:
        with _lock:
            known.calls.remove(call)
            if not known.calls:
                del _running[member]
                if known.undo is not None:
                    known.undo()


@contextmanager
def _going_on(manager: MultiStepAgent, name: str, member: MultiStepAgent) -> Iterator[None]:
    """Let the run of an agent that waits go on; of any other it starts anew."""
    if not takes_up(manager, name, member):
        forget(member)
        yield
        return
    undo = put(member, "run", _GoingOn(member.run))
    try:
        yield
    finally:
        undo()


class _GoingOn(StandIn):
    """`run` of an agent that goes on."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._method(*args, reset=False, **kwargs)
