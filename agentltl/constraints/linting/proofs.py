"""What is proved of some rules together: that no trace whatsoever does what is asked, or a trace that does.

Rules with variables take part by their instances, and what cannot be looked at exactly is left out; a proof from fewer
rules is a proof from all of them. All of it speaks of traces whose values are JSON values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from agentltl.constraints.ahead import Ahead
from agentltl.constraints.formula import Formula
from agentltl.constraints.joint import Answer, holds, reach
from agentltl.constraints.linting.instances import Instances, Values
from agentltl.constraints.monitor import Monitor
from agentltl.constraints.names import tools_named
from agentltl.constraints.search import Aim
from agentltl.constraints.semantics import holds as satisfied
from agentltl.constraints.trace import Call, Trace
from agentltl.errors import AgentLTLError

CAP = 4_000
"""How many steps one search may take; one that takes more proves nothing."""
SHORT = 400
"""How many steps are tried from where a known trace ends."""
MOST_STARTS = 2
"""How many known traces are tried, the latest first."""


LONG = 40
"""How many calls a witness may have: of a longer one nobody learns anything."""


@dataclass(frozen=True, slots=True)
class Impossible:
    """Proved: no trace. `rules` are the numbers of rules from which it follows, none of which can be left out."""

    rules: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """A shortest trace that does what is asked, as far as the rules could be looked at."""

    trace: Trace


@dataclass(frozen=True, slots=True)
class Goal:
    """A formula and what is asked of it at the end of the trace; `free`: it may be broken on the way."""

    formula: Formula
    aim: Aim = holds
    free: bool = False


class Proofs:
    """Rules, by number, that are asked about together."""

    def __init__(self, formulas: Sequence[Formula], names: Sequence[str]) -> None:
        self.formulas, self.names = tuple(formulas), tuple(names)
        self.values = Values.of(self.formulas)
        self.instances = tuple(map(self.values.instances, self.formulas))
        self._known: dict[tuple[tuple[int, ...], tuple[Goal, ...]], Impossible | Shown | None] = {}
        self._starts: list[_Start] = []

    def of(self, formula: Formula) -> Instances:
        """The instances of a formula that is made from one of the rules."""
        return self.values.instances(formula)

    def ask(self, rules: Iterable[int], goals: Sequence[Goal] = ()) -> Impossible | Shown | None:
        """Whether some trace satisfies these rules and meets the goals; None where neither is proved."""
        asked = (tuple(rules), tuple(goals))
        if asked not in self._known:
            found = self._ask(*asked)
            self._known[asked] = self._least(found, goals) if isinstance(found, Impossible) else found
            if isinstance(found, Shown) and len(asked[0]) > 1 and not goals:
                self._starts.insert(0, _Start(found.trace.calls))
        return self._known[asked]

    def impossible(self, rules: Iterable[int], goals: Sequence[Goal]) -> Impossible | None:
        """As `ask`, where it does not matter which trace there is: one that begins with a known one may do."""
        rules = tuple(rules)
        alone = self.ask((), goals)
        if rules and isinstance(alone, Shown):
            own = alone.trace.calls
            for start in self._starts[:MOST_STARTS]:
                for other in (start.then(own), start, _Start().then(own).then(start.calls)):
                    if self._from(other, rules, goals):
                        return None
        found = alone if isinstance(alone, Impossible) or not rules else self.ask(rules, goals)
        return found if isinstance(found, Impossible) else None

    def _least(self, found: Impossible, goals: Sequence[Goal]) -> Impossible:
        """The same from rules none of which can be left out."""
        core = found.rules
        for rule in core:
            if rule in core and isinstance(fewer := self._ask([r for r in core if r != rule], goals), Impossible):
                core = fewer.rules
        return Impossible(core)

    def _ask(self, rules: Collection[int], goals: Sequence[Goal]) -> Impossible | Shown | None:
        owners, asked = self._asked(rules, goals)
        found = reach(
            [Monitor.of(goal.formula) for goal in asked],
            [goal.aim for goal in asked],
            free={i for i, goal in enumerate(asked) if goal.free},
            cap=CAP,
            deepest=LONG,
        )
        match found.answer:
            case Answer.YES:
                return Shown(_named(Trace(found.calls), self.formulas))
            case Answer.NO:
                return Impossible(tuple(sorted({owners[i] for i in found.rules} - {-1})))
        return None

    def _asked(self, rules: Collection[int], goals: Sequence[Goal]) -> tuple[list[int], list[Goal]]:
        """The goals, and the instances of rules as such; for each the number of its rule (-1: none)."""
        owned = [(rule, Goal(formula)) for rule in rules for formula in self.instances[rule].all]
        return [*(-1 for _ in goals), *(rule for rule, _ in owned)], [*goals, *(goal for _, goal in owned)]

    def _from(self, start: _Start, rules: Collection[int], goals: Sequence[Goal]) -> bool:
        """Whether a short search finds a trace that begins with these calls."""
        _, asked = self._asked(rules, goals)
        monitors = []
        for goal in asked:
            monitor = start.after(goal.formula)
            if monitor.broken is not None and not goal.free:
                return False
            monitors.append(monitor)
        free = {i for i, goal in enumerate(asked) if goal.free}
        ahead = Ahead(planned=start.calls)
        return (
            reach(monitors, [g.aim for g in asked], free=free, ahead=ahead, cap=SHORT, deepest=LONG).answer
            is Answer.YES
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Start:
    """Calls with which a trace may begin, and where they leave formulas (without variables, facts and times)."""

    calls: tuple[Call, ...] = ()
    before: _Start | None = None
    known: dict[Formula, Monitor] = field(default_factory=dict)

    def then(self, calls: tuple[Call, ...]) -> _Start:
        """With more calls."""
        return _Start(self.calls + calls, self)

    def after(self, formula: Formula) -> Monitor:
        """The monitor of a formula after the calls."""
        if formula not in self.known:
            monitor = Monitor.of(formula) if self.before is None else self.before.after(formula)
            done = () if self.before is None else self.before.calls
            ahead = Ahead(planned=done)
            for call in self.calls[len(done) :]:
                monitor = monitor.step(ahead.position(call))
                ahead = ahead.then(call)
            self.known[formula] = monitor
        return self.known[formula]


def _named(trace: Trace, formulas: Iterable[Formula]) -> Trace:
    """The trace with a plain name for a tool that no rule names."""
    taken = frozenset[str]().union(*map(tools_named, formulas))
    plain = next(name for name in ("another_tool", "any_tool", "some_tool", "*") if name not in taken)
    return replace(trace, calls=tuple(c._replace(tool=plain) if c.tool == "*" else c for c in trace.calls))


def satisfies(formula: Formula, trace: Trace) -> bool | None:
    """Whether a trace satisfies a rule, by the reference semantics; None where it cannot be judged."""
    try:
        return satisfied(formula, trace)
    except AgentLTLError:
        return None
