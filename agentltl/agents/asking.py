"""Putting a refused call to an approver, and doing what it answers. It fails closed: no clear yes is a no."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import cast

from agentltl.agents.approval import Allow, Answer, ApprovalRequest, Approver, Change, Deny, Pending
from agentltl.constraints.value import Json, thaw
from agentltl.guard.decision import Decision
from agentltl.guard.feedback import waiting
from agentltl.guard.guard import Guard
from agentltl.record.events import EventKind

log = logging.getLogger("agentltl")
MOST_ROUNDS = 10
"""How often an approver can change one call and have it asked again."""

Propose = Callable[[Json], Decision | None]
"""Judge the call with these arguments; None if the tool does not take them."""
Tell = Callable[[EventKind, dict[str, Json]], None]
"""Is told of each question (`approval_requested`) and each answer (`approval_answered`)."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of it: the decision that holds now, the arguments if they were changed, and the question if it is still
    open."""

    decision: Decision
    changed: dict[str, Json] | None = None
    pending: ApprovalRequest | None = None


@dataclass(frozen=True, slots=True)
class Asking:
    """Who is asked, and on whose behalf: the agent's name, its task, the run's step."""

    guard: Guard
    approver: Approver
    tell: Tell
    task: str | None = None
    step: int | None = None
    agent: str | None = None

    def ask(self, decision: Decision, propose: Propose) -> Asked:
        """Ask about a refused call, unless another rule refuses it anyway."""
        changed: dict[str, Json] | None = None
        for _ in range(MOST_ROUNDS):
            if decision.allowed or not self.guard.approvable(decision):
                break
            request = ApprovalRequest.of(decision, task=self.task, step=self.step, agent=self.agent)
            answer = self._answer(request)
            match answer:
                case Pending():
                    return Asked(decision._replace(feedback=waiting(decision)), changed, request)
                case Deny():
                    return Asked(self.guard.deny(decision, answer.reason, by=answer.by), changed)
                case Allow():
                    return Asked(self._approved(decision, propose, answer), changed)
                case Change():
                    proposed = propose(answer.args)
                    if proposed is None:
                        log.error(
                            "the arguments that an approver gave do not fit `%s`: the call is denied", request.tool
                        )
                        reason = "The arguments were changed to ones that the tool does not take."
                        return Asked(self.guard.deny(decision, reason, by=answer.by))
                    self.guard.deny(decision, "the arguments were changed", by=answer.by)
                    decision = proposed
                    assert decision.call is not None
                    changed = thaw(decision.call.args)
                    if not answer.ask_again and not decision.allowed and self.guard.approvable(decision):
                        return Asked(self._approved(decision, propose, Allow(by=answer.by)), changed)
        return Asked(decision, changed)

    def _approved(self, decision: Decision, propose: Propose, answer: Allow) -> Decision:
        """The call judged again after its approval, if that stands; no other call comes between the two."""
        assert decision.call is not None
        with self.guard.lock:
            approval = self.guard.approve(decision, until=answer.until, by=answer.by)
            if not approval.allowed:
                return approval._replace(call=decision.call, own=decision.own)
            return propose(decision.call.args) or decision

    def _answer(self, request: ApprovalRequest) -> Answer:
        question = request.to_dict()
        self.tell("approval_requested", {**question, "time": time.time()})
        answer = _clear(self._given(request), request.tool)
        said: dict[str, Json] = {"answer": type(answer).__name__.lower(), "by": getattr(answer, "by", None)}
        if isinstance(answer, Deny):
            said["reason"] = answer.reason
        if isinstance(answer, Change):
            said["changed"] = dict(answer.args)
        self.tell("approval_answered", {**question, **said, "time": time.time()})
        return answer

    def _given(self, request: ApprovalRequest) -> object:
        try:
            given = self.approver(request)
            return _awaited(given) if inspect.isawaitable(given) else given
        except Exception:
            log.exception("the approver failed when it was asked about `%s`: the call is denied", request.tool)
            return Deny("The person who could allow it could not be asked.")


def _clear(given: object, tool: str) -> Answer:
    match given:
        case True:
            return Allow()
        case False:
            return Deny()
        case Change(args=args) if not isinstance(cast(object, args), Mapping):
            log.error("the arguments that an approver gave for `%s` are no mapping: the call is denied", tool)
            return Deny("The arguments were changed to ones that the tool does not take.")
        case Allow() | Deny() | Change() | Pending():
            return given
    log.error("the approver answered `%r` about `%s`, which is no answer: the call is denied", given, tool)
    return Deny("The person who could allow it gave no clear answer.")


def _awaited(given: Awaitable[object]) -> object:
    """What an async approver answers; where an event loop runs already, it has one of its own in another thread."""

    async def wait() -> object:
        return await given

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run(wait())
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(contextvars.copy_context().run, _run, wait()).result()


def _run(work: Coroutine[object, object, object]) -> object:
    """What a coroutine gives, in a loop of its own; the one that the thread may have stays its loop."""
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(work)
