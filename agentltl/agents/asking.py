"""Putting a refused call to those who can allow it, and doing what they answer."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from agentltl.agents.above import locked
from agentltl.agents.answering import answer_of
from agentltl.agents.approval import Allow, Answer, ApprovalRequest, Approver, Change, Deny, Pending
from agentltl.agents.ticket import same
from agentltl.agents.verdict import Refused, Verdict
from agentltl.constraints.value import Json, thaw
from agentltl.guard.decision import Decision
from agentltl.guard.feedback import waiting
from agentltl.record.events import EventKind

log = logging.getLogger("agentltl")
MOST_ROUNDS = 10
"""How often an approver can change one call and have it asked again."""

Propose = Callable[[Json], Verdict | None]
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
    """On whose behalf people are asked: the agent's name, its task, the run's step."""

    tell: Tell
    task: str | None = None
    step: int | None = None
    agent: str | None = None

    def ask(self, verdict: Verdict, propose: Propose) -> Asked:
        """Ask about a refused call, unless a rule refuses it that nobody can answer for.

        Where the rules of several guards refuse it, each of those who answer for them is asked once, and the call runs
        when all have allowed it; one no is a no.
        """
        changed: dict[str, Json] | None = None
        known: list[tuple[Approver, Allow]] = []  # who has allowed the call as it now is; whoever changes it does
        for _ in range(MOST_ROUNDS):
            if not verdict.asks:
                break
            allowed: list[tuple[Refused, Allow]] = []
            for approver, refused in verdict.by_approver():
                request = ApprovalRequest.of(
                    *(one.decision for one in refused), task=self.task, step=self.step, agent=self.agent
                )
                given = next((answer for one, answer in known if one == approver), None)
                answer = self._answer(approver, request) if given is None else given
                match answer:
                    case Allow():
                        allowed += [(one, answer) for one in refused]
                        known.append((approver, answer))
                    case Pending():
                        _approve(allowed)
                        decision = refused[0].decision
                        return Asked(decision._replace(feedback=waiting(decision)), changed, request)
                    case Deny():
                        return Asked(_denied(verdict, refused[0], answer.reason, answer.by), changed)
                    case Change():
                        proposed = propose(answer.args)
                        if proposed is None:
                            log.error(
                                "the arguments that an approver gave do not fit `%s`: the call is denied", request.tool
                            )
                            reason = "The arguments were changed to ones that the tool does not take."
                            return Asked(_denied(verdict, refused[0], reason, answer.by))
                        _denied(verdict, refused[0], "the arguments were changed", answer.by)
                        assert proposed.decision.call is not None
                        args = proposed.decision.call.args
                        known = known if same(args, request.args) and not answer.ask_again else []
                        known += [] if answer.ask_again else [(approver, Allow(by=answer.by))]
                        verdict, changed = proposed, thaw(args)
                        break
            else:
                return Asked(_approved(verdict, allowed, propose), changed)
        return Asked(verdict.decision, changed)

    def _answer(self, approver: Approver, request: ApprovalRequest) -> Answer:
        question = request.to_dict()
        self.tell("approval_requested", {**question, "time": time.time()})
        answer = answer_of(approver, request)
        said: dict[str, Json] = {"answer": type(answer).__name__.lower(), "by": getattr(answer, "by", None)}
        if isinstance(answer, Deny):
            said["reason"] = answer.reason
        if isinstance(answer, Change):
            said["changed"] = dict(answer.args)
        self.tell("approval_answered", {**question, **said, "time": time.time()})
        return answer


def _approve(allowed: list[tuple[Refused, Allow]]) -> Decision | None:
    """Tell the guards that people have allowed the call: the decision of the first that refuses the approval."""
    for one, answer in allowed:
        approval = one.guard.approve(one.decision, until=answer.until, by=answer.by)
        if not approval.allowed:
            return approval._replace(call=one.decision.call, own=one.decision.own)
    return None


def _approved(verdict: Verdict, allowed: list[tuple[Refused, Allow]], propose: Propose) -> Decision:
    """The call judged again after its approval, if that stands; no other call comes between the two."""
    assert verdict.decision.call is not None
    with locked(verdict.judge):
        refused = _approve(allowed)
        if refused is not None:
            return refused
        proposed = propose(verdict.decision.call.args)
    return verdict.decision if proposed is None else proposed.decision


def _denied(verdict: Verdict, by_whom: Refused, reason: str, by: str | None) -> Decision:
    """Tell the guards that the call is denied, for all of them: the decision of the one that somebody answered for."""
    decisions = {id(one): one.guard.deny(one.decision, reason, by=by) for one in verdict.refused}
    return decisions[id(by_whom)]
