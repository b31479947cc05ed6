"""The answer of an approver, sync or async. It fails closed: what is no clear yes is a no."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Mapping
from typing import cast

from agentltl.agents.approval import Allow, Answer, ApprovalRequest, Approver, Change, Deny, Pending
from agentltl.agents.awaited import awaited
from agentltl.errors import ConstraintError
from agentltl.guard.approvals import check_answer

log = logging.getLogger("agentltl")


def answer_of(approver: Approver, request: ApprovalRequest) -> Answer:
    """What an approver answers; the log says why an answer was no clear one."""
    return _clear(_given(approver, request), request.tool)


def _given(approver: Approver, request: ApprovalRequest) -> object:
    try:
        given = approver(request)
        return awaited(given) if inspect.isawaitable(given) else given
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
            try:
                check_answer(
                    getattr(given, "by", None), getattr(given, "reason", ""), until=getattr(given, "until", None)
                )
            except ConstraintError as error:
                log.error("the approver's answer about `%s` cannot be taken, and the call is denied: %s", tool, error)
                return Deny("The person who could allow it gave no clear answer.")
            return given
    log.error("the approver answered `%r` about `%s`, which is no answer: the call is denied", given, tool)
    return Deny("The person who could allow it gave no clear answer.")
