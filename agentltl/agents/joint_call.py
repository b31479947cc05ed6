"""A call that several guards judge at once: that of the managed agent which makes it, and those above.

It starts for all of them or for none. Those that refuse it have that on record, the others know nothing of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agentltl.agents.above import Outer, Place, locked
from agentltl.agents.approval import Approver
from agentltl.agents.models.hidden_error import error_text
from agentltl.agents.verdict import Refused, Verdict
from agentltl.constraints.value import Json
from agentltl.guard.decision import Decision
from agentltl.guard.feedback import unplanned
from agentltl.guard.guard import Guard
from agentltl.guard.state import Turn
from agentltl.record.events import EventKind

if TYPE_CHECKING:
    from agentltl.agents.call_log import LoggedCall
    from agentltl.agents.recorder import Recorder


class JointCall:
    """One call of a managed agent, judged by its `own` guard (None: it has none) and those above it.

    `approver` answers for the own rules. `place` says which message of the agent makes the call; `step`, and in a run
    that goes on `turn`, is what its own guard is told.
    """

    def __init__(
        self,
        own: Guard | None,
        outers: Sequence[Outer],
        tool: str,
        *,
        place: Place,
        approver: Approver | None = None,
        id: str | None = None,
        step: int | None = None,
        turn: Turn | None = None,
    ) -> None:
        self._own, self._tool, self._id = own, tool, id
        self._outers = [
            outer for outer in outers if outer.guard is not own
        ]  # agents may manage one another in a circle
        self._asked: list[tuple[Guard, Approver | None, dict[str, Any]]] = []
        if own is not None:
            self._asked.append((own, approver, {"step": step} if turn is None else {"step": step, "turn": turn}))
        for outer in self._outers:
            said = {"step": outer.manager.step_number, "agent": outer.agent, "turn": (outer.run, *place)}
            self._asked.append((outer.guard, outer.approver, said))
        self._started: list[tuple[Guard, Decision]] = []
        self._logs: list[tuple[Recorder, LoggedCall]] | None = None

    def judge(self, args: Json) -> Verdict:
        """Judge the call with these arguments; a call that a guard refuses can be judged again."""
        guards = tuple(guard for guard, _, _ in self._asked)
        with locked(guards):
            start = max((guard.now() for guard in guards), default=None)  # no guard is to change its mind as time goes
            for _, _, said in self._asked:
                said["start"] = start
            refusing = [one for one in self._asked if one[0].refuses(self._tool, args, **one[2])]
            answers = [
                (guard, approver, guard.propose(self._tool, args, id=self._id, **said))
                for guard, approver, said in refusing or self._asked
            ]
            if refusing:
                answers = [(guard, approver, self._advised(guard, decision)) for guard, approver, decision in answers]
            else:  # in the order of the guards' traces, whatever other threads do
                orders = [recorder.calls.next_order() for recorder in self._recorders()]
        self._log(args)
        if refusing:
            return Verdict.refusing([Refused(*one) for one in answers], guards)
        self._started = [(guard, decision) for guard, _, decision in answers if guard is not self._own]
        for (recorder, log), order in zip(self._logs or (), orders, strict=False):
            recorder.calls.started(log, order)
        return Verdict(answers[0][2], (), guards)

    def _advised(self, guard: Guard, decision: Decision) -> Decision:
        """The decision of a guard, without advice that another would refuse."""
        if not decision.plan:
            return decision
        first = decision.plan[0]
        others = (one for one in self._asked if one[0] is not guard)
        forbidden = any(other.refuses(first.tool, first.args, **said) for other, _, said in others)
        return unplanned(decision) if forbidden else decision

    def refused(self, feedback: str) -> None:
        """The call does not run; this is what the agent is told."""
        for recorder, log in self._logs or ():
            recorder.calls.refused(log, feedback)
            recorder.judged()

    def tell(self, kind: EventKind, data: Mapping[str, Json]) -> None:
        """A person is asked about the call, or has answered."""
        for recorder, log in self._logs or ():
            recorder.asked(kind, data, self._id, log.start["step"], call=log)

    def settle(
        self, result: object = None, error: BaseException | None = None, status: str | None = None
    ) -> list[Decision]:
        """What came of the call, for each guard above."""
        text = None if error is None else error_text(error)
        decisions = [
            guard.settle(decision, result=result, error=text, status=status) for guard, decision in self._started
        ]
        for recorder, log in self._logs or ():
            if error is None:
                recorder.calls.returned(log, result)
            else:
                recorder.calls.raised(log, error, entered=True)
            recorder.judged()
        return decisions

    def _recorders(self) -> list[Recorder]:
        return [recorder for outer in self._outers if (recorder := outer.recorder) is not None]

    def _log(self, args: Json) -> None:
        if self._logs is None:
            self._logs = [
                (recorder, recorder.calls.made(recorder.agent.step_number, self._id, self._tool, args))
                for recorder in self._recorders()
            ]
        else:
            for recorder, log in self._logs:
                recorder.calls.changed(log, args)
