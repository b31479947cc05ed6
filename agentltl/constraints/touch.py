"""Whether a call could touch a rule: change what it demands, or be judged by it."""

from __future__ import annotations

from agentltl.constraints import judgement as j
from agentltl.constraints.engine import Engine
from agentltl.constraints.monitor import Monitor
from agentltl.constraints.proposition import Atom, Called
from agentltl.constraints.trace import Position


def touches(monitor: Monitor, position: Position) -> bool:
    """Whether the call that may start at this position could touch the rule, as far as its tool and arguments tell."""
    engine: Engine = monitor.engine
    if position.call.tool in engine.rule.hidden or monitor.verdict.final:
        return False
    if any(_may_match(atom, position) for atom in engine.atoms):
        return True
    return not monitor.idle


def may_touch(monitor: Monitor, tool: str) -> bool:
    """Whether a call of a tool, with whatever arguments, could touch the rule."""
    engine: Engine = monitor.engine
    if tool in engine.rule.hidden or monitor.verdict.final:
        return False
    return any(isinstance(atom, Called) and atom.tools.match(tool) for atom in engine.atoms) or not monitor.idle


def _may_match(atom: Atom, position: Position) -> bool:
    if not isinstance(atom, Called):
        return False
    return atom.tools.match(position.call.tool) and (bool(atom.variables) or atom.judge(position, {}) != j.NO)
