"""What a question about what may follow is asked of: the constraints, where each stands, and the trace so far."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from agentltl.constraints.ahead import Ahead
from agentltl.constraints.alphabet import atoms_of
from agentltl.constraints.candidates import FAILED, outcomes
from agentltl.constraints.constraint import Constraint
from agentltl.constraints.limits import DEFAULT
from agentltl.constraints.monitor import Monitor
from agentltl.constraints.trace import SPECIAL, Call, Outcome
from agentltl.constraints.value import Json, key
from agentltl.guard.severity import ConstraintSeverity

LATEST = 3
"""From how many of the latest calls values are tried for variables."""
MOST_OPEN = 16
"""How many values under which one constraint has something open are tried."""
MOST_VALUES = 32
"""How many values are tried for variables in all."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What a question is asked of: the constraints, where each stands, and the trace that is continued; `cap` is how
    many joint states it may cost."""

    constraints: tuple[Constraint, ...]
    severities: Mapping[str, ConstraintSeverity]
    monitors: Mapping[str, Monitor]
    ahead: Ahead
    cap: int = DEFAULT.joint

    @property
    def blocking(self) -> list[str]:
        return [c.name for c in self.constraints if self.severities[c.name].value.refuses]

    @property
    def tolerated(self) -> list[str]:
        return [c.name for c in self.constraints if not self.severities[c.name].value.refuses]

    def without(self, names: Collection[str]) -> Scene:
        """The scene in which the constraints of these names refuse nothing."""
        return replace(self, severities={**self.severities, **dict.fromkeys(names, ConstraintSeverity.TOLERATE)})

    @property
    def tools(self) -> list[str]:
        """The names of tools that rules and the trace hold."""
        atoms = (atom for c in self.constraints for atom in atoms_of(self.monitors[c.name].rule))
        named = dict.fromkeys(name for atom in atoms for name in sorted(atom.tools.exact) if name not in SPECIAL)
        return [*named | dict.fromkeys(c.tool for c in self.ahead.calls if c.tool not in SPECIAL)]

    def outcomes(self, tool: str) -> list[Outcome]:
        """What could come of a call of a tool: settled either way, with the results that rules tell apart."""
        atoms = (atom for c in self.constraints for atom in atoms_of(self.monitors[c.name].rule))
        told = outcomes([atom for atom in dict.fromkeys(atoms) if atom.tools.match(tool)], self.values())
        return [*told, *([] if any(o.failed for o in told) else [FAILED])]

    def values(self, *given: Json) -> list[Json]:
        """Values that may matter to variables: those given, those with something open, those of the latest calls."""
        found = [leaf for value in given for leaf in _leaves(value)]
        for constraint in self.constraints:
            found += self.monitors[constraint.name].open_values[:MOST_OPEN]
        latest = self.ahead.calls[-LATEST:] if self.ahead.calls else ()
        for call in reversed(latest):
            found += [*_leaves(call.args), call.args]
        return list({k: v for v in found if (k := key(v)) is not None}.values())[:MOST_VALUES]

    def played(self, name: str, calls: Sequence[Call], *, keep: bool) -> tuple[Monitor, Ahead] | None:
        """Where a constraint stands after the calls, judged one by one when they start and when they settle as a guard
        does; None if one breaks it though it is to be kept, or if it cannot be judged."""
        monitor, ahead = self.monitors[name], self.ahead
        try:
            for call in calls:
                start = Call(call.tool, call.args, step=call.step, start=call.start)
                for move, known in ((Monitor.step, start), (Monitor.settle, call)):
                    monitor = move(monitor, ahead.position(known))
                    if keep and monitor.broken is not None:
                        return None
                    while monitor.broken is not None:
                        monitor = monitor.forgive()
                ahead = ahead.then(call)
        except Exception:
            return None
        return monitor, ahead


def _leaves(value: Json) -> Iterator[Json]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
    else:
        yield value
