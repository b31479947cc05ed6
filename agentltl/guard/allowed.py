"""Which tools can be called now: those of which some arguments break no constraint that refuses.

What one rule says of one tool is remembered for the rule's state, for all guards of the process.
Rules are looked at together only where more than one of them admits some arguments of a tool and not others.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from agentltl.constraints import facts
from agentltl.constraints.ahead import Ahead
from agentltl.constraints.alphabet import atoms_of
from agentltl.constraints.candidates import ANY, candidates
from agentltl.constraints.constraint import Constraint
from agentltl.constraints.explain import explain_breach
from agentltl.constraints.formula import Formula, Proposition
from agentltl.constraints.letters import letters_of, plain
from agentltl.constraints.monitor import Monitor
from agentltl.constraints.proposition import Called, Tools
from agentltl.constraints.scope import Rule
from agentltl.constraints.search import timeless
from agentltl.constraints.sentences.why import Effort
from agentltl.constraints.trace import Call, Trace
from agentltl.constraints.value import key
from agentltl.guard.decision import Decision
from agentltl.guard.scene import Scene

MOST_STATES = 2_000
"""How many states of one rule are remembered."""
MOST_TOOLS = 500
"""For how many tools the answer of one state is remembered."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why no call of a tool is allowed now. `constraint` is the name of one that refuses; where several refuse only
    together, each has a refusal of its own. The sentence is made when it is asked for."""

    constraint: str
    call: Call = field(repr=False, compare=False)
    _formula: Formula | None = field(default=None, repr=False, compare=False)
    _ahead: Ahead = field(default_factory=Ahead, repr=False, compare=False)
    _sentence: str = field(default="", repr=False, compare=False)

    @property
    def sentence(self) -> str:
        """What a call, the one with the fewest arguments, would break."""
        if self._sentence or self._formula is None:
            return self._sentence
        position = self._ahead.position(self.call)
        trace = Trace(tuple(position.calls), tuple(self._ahead.messages))
        try:
            return explain_breach(self._formula, trace, position.index, Effort())
        except Exception:
            return f"the call breaks the rule {self._formula}"

    def __str__(self) -> str:
        return f"{self.constraint}: {self.sentence}"


@dataclass(frozen=True, slots=True)
class Allowed:
    """`tools` can be called now with some arguments, in the order in which they were asked for; `refused` says why of
    each other. A tool is refused only where that is certain: whether its arguments are right is judged when it is
    called."""

    tools: tuple[str, ...]
    refused: Mapping[str, tuple[Refusal, ...]] = field(default_factory=dict)

    def __contains__(self, tool: object) -> bool:
        return tool in self.tools


@dataclass(frozen=True, slots=True)
class _Tries:
    """Calls of one tool that a rule tells apart, before they run; `complete`: it tells no others apart."""

    calls: tuple[Call, ...]
    complete: bool


@dataclass(frozen=True, slots=True)
class _Says:
    """What a rule says of a tool: whether it admits the call without arguments, and whether it certainly admits none.
    `narrows`: which arguments it admits is known."""

    bare: bool
    none: bool
    narrows: bool


_NOTHING = _Says(True, False, False)


def allowed(scene: Scene, tools: Sequence[str] | None = None, stopped: Decision | None = None) -> Allowed:
    """Which of the tools (default: those that the rules name) can be called now."""
    names = mentioned(scene) if tools is None else tuple(dict.fromkeys(tools))
    if stopped is not None:
        refusals = tuple(Refusal(v.constraint_name, Call(v.tool_name), _sentence=v.detail) for v in stopped.violations)
        return Allowed((), dict.fromkeys(names, refusals))
    blocking = [c for c in scene.constraints if scene.severities[c.name].value.refuses]
    states = [(c, scene.monitors[c.name], _row(scene.monitors[c.name])) for c in blocking]
    refused = {name: why for name in names if (why := _refusals(name, states, scene.ahead))}
    return Allowed(tuple(name for name in names if name not in refused), refused)


def mentioned(scene: Scene) -> tuple[str, ...]:
    """The tools that the rules name, in their order."""
    return tuple(dict.fromkeys(n for c in scene.constraints for n in _named(scene.monitors[c.name].rule)))


@lru_cache(maxsize=4096)
def _named(rule: Rule) -> tuple[str, ...]:
    return tuple(n for atom in atoms_of(rule) for n in sorted(atom.tools.exact) if n != "approved")


_Row = dict[str, _Says]
_State = tuple[Constraint, Monitor, _Row]


def _row(monitor: Monitor) -> _Row:
    """What is remembered of a rule's state. To name a state that holds many values costs more than one step of it."""
    named = timeless(monitor.rule) and not monitor.rule.scope.quantifiers
    future = monitor.future if named else None
    if future is None:
        return {}
    rows = _rows(monitor.rule)
    row = rows.get(future)
    if row is None:
        if len(rows) >= MOST_STATES:
            rows.clear()
        row = rows.setdefault(future, {})
    return row


@lru_cache(maxsize=4096)
def _rows(rule: Rule) -> dict[Hashable, _Row]:
    return {}


def _refusals(tool: str, states: Sequence[_State], ahead: Ahead) -> tuple[Refusal, ...]:
    """Why no call of the tool is allowed; empty if some is, or if that is not certain."""
    bare = True
    narrowing: list[tuple[Constraint, Monitor]] = []
    for constraint, monitor, row in states:
        says = row.get(tool) or _remembered(row, monitor, tool, ahead)
        if says.none:
            return (_refusal(constraint, Call(tool), ahead),)
        bare = bare and says.bare
        if says.narrows:
            narrowing.append((constraint, monitor))
    if bare or len(narrowing) < 2:
        return ()
    tries = _tries(tuple(monitor.rule for _, monitor in narrowing), tool)
    if not tries.complete or any(all(_admits(m, call, ahead) for _, m in narrowing) for call in tries.calls):
        return ()
    firsts = ((constraint, _first(monitor, tries.calls, ahead)) for constraint, monitor in narrowing)
    return tuple(_refusal(constraint, call, ahead) for constraint, call in firsts if call is not None)


def _first(monitor: Monitor, calls: Sequence[Call], ahead: Ahead) -> Call | None:
    """The plainest call that a rule refuses."""
    return next((call for call in calls if not _admits(monitor, call, ahead)), None)


def _refusal(constraint: Constraint, call: Call, ahead: Ahead) -> Refusal:
    return Refusal(constraint.name, ahead.stamped(call), constraint.formula, ahead)


@lru_cache(maxsize=8192)
def _matches(rule: Rule, tool: str) -> bool:
    """Whether a proposition of the rule speaks of the tool; if none does, the tool is as any other to it."""
    return any(atom.tools.match(tool) for atom in atoms_of(rule))


def _remembered(row: _Row, monitor: Monitor, tool: str, ahead: Ahead) -> _Says:
    """What a rule says of a tool, put into its row, under `*` too for a tool of which the rule does not speak."""
    if tool in monitor.rule.hidden:
        says = _NOTHING
    elif _matches(monitor.rule, tool):
        says = _says(monitor, tool, ahead)
    else:
        says = row["*"] = row.get("*") or _says(monitor, tool, ahead)
    if len(row) < MOST_TOOLS:
        row[tool] = says
    return says


def _says(monitor: Monitor, tool: str, ahead: Ahead) -> _Says:
    tries = _tries((monitor.rule,), tool)
    if not tries.complete:
        return _NOTHING
    bare = _admits(monitor, tries.calls[0], ahead)
    none = not bare and not any(_admits(monitor, call, ahead) for call in tries.calls[1:])
    return _Says(bare, none, len(tries.calls) > 1)


def _admits(monitor: Monitor, call: Call, ahead: Ahead) -> bool:
    try:
        return monitor.step(ahead.position(ahead.stamped(call))).broken is None
    except Exception:  # a rule that cannot be judged refuses
        return False


@lru_cache(maxsize=8192)
def _tries(rules: tuple[Rule, ...], tool: str) -> _Tries:
    """Calls of a tool, the one without arguments first."""
    atoms = [atom for rule in rules for atom in atoms_of(rule) if atom.tools.match(tool)]
    asked = list(dict.fromkeys(Called(Tools.named(tool), atom.args) for atom in atoms))
    found = {key(call.args): call for call in candidates(tool, asked, [ANY])}
    letters = letters_of(asked) if all(map(plain, asked)) and not {"*", "?"} & set(tool) else None
    found |= {k: c for c in letters or () if c.tool == tool and (k := key(c.args)) not in found}
    calls = [Call(tool, call.args) for call in found.values() if isinstance(call.args, dict)]
    complete = (letters is not None or not asked) and not any(map(_looks_inside, rules))
    return _Tries(tuple(calls), complete)


def _looks_inside(rule: Rule) -> bool:
    """Whether a fact of the rule looks at the arguments of the call."""
    found = (f.atom for f in rule.normal.walk() if isinstance(f, Proposition))
    return any(isinstance(a, facts.Predicate) or bool(list(facts.paths(a))) for a in found if not isinstance(a, Called))
