"""Whether a call could touch a rule: change what it demands, or be judged by it.

The laws are run with what is not known of the call taken once as all true and once as all false; since negation stands
before propositions only, every outcome lies between the two, and if both leave the state as it is, so does the call.
"""

from __future__ import annotations

from agentltl.constraints.formula import Apply, Proposition
from agentltl.constraints.here import Here, Seen
from agentltl.constraints.judgement import NO
from agentltl.constraints.monitor import Monitor
from agentltl.constraints.operators import AT
from agentltl.constraints.path import Env
from agentltl.constraints.proposition import Called
from agentltl.constraints.registers import Registers
from agentltl.constraints.residual import FALSE, TRUE, Residual
from agentltl.constraints.scope import Scope
from agentltl.constraints.trace import Position


def touches(monitor: Monitor, position: Position) -> bool:
    """Whether the call that may start at this position could touch the rule, as far as its tool and arguments tell."""
    rule = monitor.rule
    if position.call.tool in rule.hidden or monitor.verdict.final:
        return False
    for formula in rule.normal.walk():
        if isinstance(formula, Proposition) and isinstance(formula.atom, Called) and _may_match(formula.atom, position):
            return True
        if isinstance(formula, Apply) and (formula.op is AT or _counts_events(formula)):
            return True
    state = monitor.state
    for assumed in (TRUE, FALSE):
        here = _Assuming(position, state.index, rule.scope, state.registers, {}, Seen(), state.named)
        here.assumed = assumed
        if here.progress(state.residual) != state.residual or here.after != state.registers:
            return True
    return False


def _may_match(atom: Called, position: Position) -> bool:
    return atom.tools.match(position.call.tool) and (bool(atom.variables) or atom.judge(position, {}) != NO)


def _counts_events(formula: Apply) -> bool:
    """A past window in events moves on with every event."""
    return formula.op.direction == "past" and formula.window is not None and not formula.window.timed


class _Assuming(Here):
    """An event whose call matches nothing; facts are taken as assumed."""

    assumed = TRUE

    def room(self, scope: Scope, registers: Registers, env: Env) -> Here:
        room = _Assuming(self.position, self.index, scope, registers, env, self.seen, self.named)
        room.assumed = self.assumed
        return room

    def literal(self, proposition: Proposition, side: int) -> Residual:
        if isinstance(proposition.atom, Called):
            return TRUE if side else FALSE
        return self.assumed
