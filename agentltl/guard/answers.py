"""How a guard answers a call that breaks constraints: the strongest decides, and everything goes on record."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from agentltl.constraints.constraint import Constraint
from agentltl.constraints.panel import Moved, Panel
from agentltl.constraints.trace import Call, Position
from agentltl.guard.decision import Decision, Violation
from agentltl.guard.feedback import INSIST, INSIST_AND_ASK, NO_PLAN, feedback
from agentltl.guard.judging import violations
from agentltl.guard.lookahead import Lookahead
from agentltl.guard.planning import Plan, repair
from agentltl.guard.questions import Questions
from agentltl.guard.settings import Settings
from agentltl.guard.severity import ConstraintSeverity
from agentltl.guard.weighing import recounted, stopping, weighed

log = logging.getLogger("agentltl")
FEEDBACK_CAP = 2_000
"""How many joint states the plan in a refusal may cost."""
_new = tuple.__new__


class Answers(Questions):
    """The answers of a guard."""

    settings: Settings
    _named: Mapping[str, Constraint]
    _lookahead: Lookahead | None

    def _settled(self, decision: Decision, index: int, call: Call) -> Decision:
        """What the outcome of a call breaks. It has run, so nothing can be refused; a stop acts all the same."""
        state = self._state
        state.events.append(index)
        state.calls[index] = call
        broken: tuple[Violation, ...] = ()
        if state.panel.waits:
            position = Position(call, index, state.calls, state.messages)
            moved = state.panel.settle(position)
            step = state.step_of_run(call.step)
            broken = self._broken(moved, position, step)
            if self._lookahead is not None and moved[0] is not state.panel:
                broken += self._contradictions(moved[0], call, broken, step)
            state.panel = moved[0]
        if not broken:
            return _new(Decision, (True, "allow", (), "", "", call, index, decision.own, (), ()))
        broken = tuple(v if self._enforces(v) else replace(v, enforced=False) for v in broken)
        self._record(broken, call)
        for violation in broken:
            state.counts = state.counts.violated(violation.constraint_name)
        acting = tuple(v for v in broken if v.refuses)
        strongest = (acting or broken)[0].severity if acting else ConstraintSeverity.TOLERATE
        stop = strongest is ConstraintSeverity.HARD_STOP
        same = tuple(v for v in acting if v.severity is strongest)
        answer = Decision(
            not stop, strongest.value.action, broken, feedback(same, ran=True), repairs(same or broken), call, index,
            decision.own,
        )  # fmt: skip
        if stop and state.stopped is None:  # the first stop is the run's
            state.stopped = answer
        return answer

    def _broken(self, moved: Moved, position: Position, step: int | None) -> tuple[Violation, ...]:
        if not moved[1] and not moved[2]:
            return ()
        return violations(self.constraints, self.severities, moved, position, step, self._state.unjudged)

    def _weighed(self, broken: Sequence[Violation], call: Call, proposal: int) -> tuple[Violation, ...]:
        """What is broken with what each is answered with, strongest first."""
        state = self._state
        return weighed(
            broken, self._named, self.settings, state.counts, call, self._message(call), proposal, state.approvals
        )

    def _message(self, call: Call) -> int | None:
        """The number of the model's message that makes a call."""
        return self._state.message(call.step)

    def _enforces(self, violation: Violation) -> bool:
        return self.settings.enforce and self._named[violation.constraint_name].enforce

    def _refused(self, broken: tuple[Violation, ...], call: Call) -> Decision:
        """The answer to a call that does not run: the strongest constraint decides."""
        state = self._state
        asks = ConstraintSeverity.ASK
        # No person is asked about a call that another rule refuses anyway.
        strongest = next((v.severity for v in broken if v.refuses and v.severity is not asks), asks)
        same = tuple(v for v in broken if v.refuses and v.severity is strongest)
        state.counts = recounted(state.counts, broken, same, call, self._message(call), state.proposed, True)
        most = self.settings.max_identical_refusals
        if most is not None and state.counts.repeated >= most and strongest is not ConstraintSeverity.HARD_STOP:
            same = (stopping(broken[0], state.counts.repeated),)
            broken, strongest = (*same, *broken), ConstraintSeverity.HARD_STOP
        self._record(broken, call)
        stops = strongest is ConstraintSeverity.HARD_STOP
        plan = NO_PLAN if stops else self._way(call)
        insisting = INSIST_AND_ASK if any(v.severity is asks for v in broken) else INSIST
        told = feedback(same, ran=False, plan=plan, made=state.calls, insisting=insisting)
        decision = Decision(
            False, strongest.value.action, broken, told, repairs(same), call, None, f"call-{state.proposed}", (),
            plan.calls or (),
        )  # fmt: skip
        if stops and state.stopped is None:  # the first stop is the run's
            state.stopped = decision
        if self._approvable(decision):
            state.approvals = state.approvals.ask(decision)
        return decision

    def _way(self, call: Call) -> Plan:
        """The plan for a refused call. A constraint that a person has allowed it for is no hindrance; others that give
        way, to a person or to insisting, are none where no plan satisfies them: it is for the next refusal to say so.
        """
        scene, approvals, asks = replace(self._scene(), cap=FEEDBACK_CAP), self._state.approvals, ConstraintSeverity.ASK
        given = {name for name in scene.blocking if approvals.covers(call, name)} if approvals.grants else set()
        plan = repair(scene, call, given)
        soft = {name for name in scene.blocking if (own := scene.severities[name]) is asks or own.value.insists}
        if plan.calls is None and soft - given:
            gentler = repair(scene, call, given | soft)
            return gentler if gentler.calls else plan
        return plan

    def _allowed(self, broken: tuple[Violation, ...], call: Call, index: int) -> Decision:
        """The answer to a call that runs though it breaks constraints."""
        self._record(broken, call)
        return Decision(True, "warn", broken, "", repairs(broken), call, index, self._state.own(index))

    def _approvable(self, decision: Decision) -> bool:
        """Whether a person's approval would let a refused call run."""
        raise NotImplementedError

    def _record(self, broken: tuple[Violation, ...], call: Call) -> None:
        self._state.violations.extend(broken)
        for violation in broken:
            if not violation.refuses:
                how = _how(violation)
                log.warning("%s: `%s` breaks `%s`: %s", how, call.tool, violation.constraint_name, violation.detail)

    def _contradictions(
        self, panel: Panel, call: Call, broken: tuple[Violation, ...], step: int | None
    ) -> tuple[Violation, ...]:
        """What a call newly makes impossible: rules that no continuation keeps together any more."""
        assert self._lookahead is not None
        known = {violation.constraint_name for violation in broken}
        names = [c.name for c in self.constraints if self._effective[c.name].value.refuses and c.name not in known]
        places = [i for i, constraint in enumerate(self.constraints) if constraint.name in set(names)]
        ahead = self._ahead()
        found = self._lookahead.conflict([panel.monitor(i) for i in places], ahead)
        if not found or self._lookahead.conflict([self._state.panel.monitor(i) for i in places], ahead):
            return ()
        core = [names[i] for i in found]
        said = f"after it nothing that follows keeps {' and '.join(f'`{name}`' for name in core)} together."
        given = (self._named[name] for name in core)
        return tuple(
            Violation(c.name, self.severities[c.name], step, call.tool, call.args, said, c.repair, c.description)
            for c in given
        )


def repairs(violations: Sequence[Violation]) -> str:
    """What the broken constraints say to do."""
    return " ".join(dict.fromkeys(v.repair for v in violations if v.repair))


def _how(violation: Violation) -> str:
    """Why a call runs that breaks a constraint."""
    if violation.approved:
        return "approved"
    return "overridden" if violation.override else "tolerated" if violation.enforced else "not enforced"
