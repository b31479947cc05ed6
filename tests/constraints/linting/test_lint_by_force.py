"""Findings about the meaning of rules, confirmed by trying every short trace: none is wrong, and none is missing."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import product

from agentltl.constraints import (
    Call,
    Constraint,
    Finding,
    FindingKind,
    Formula,
    Monitor,
    Outcome,
    Trace,
    Truth,
    holds,
    lint,
    parse,
)
from agentltl.constraints.compare import Flag
from agentltl.constraints.formula import Apply, Proposition
from agentltl.constraints.joint import fails
from agentltl.constraints.linting.alone import dead
from agentltl.constraints.linting.proofs import Goal, Proofs, Shown
from agentltl.constraints.linting.triggers import triggers
from agentltl.constraints.names import tools_named
from agentltl.constraints.operators import SYMBOLS
from agentltl.constraints.proposition import Called, Tools
from agentltl.errors import TraceError
from agentltl.testing import random_formula, random_trace

OK, FAILED = Outcome.of("done"), Outcome.of(error="it failed")
EVENTS = [Call(tool, outcome=outcome) for tool in "abz" for outcome in (OK, FAILED)]
FEATURES = frozenset({"future", "past", "counts", "patterns"})
LONGEST = 3
TRACES = [Trace(calls) for n in range(LONGEST + 1) for calls in product(EVENTS, repeat=n)]
K = FindingKind


class Force:
    """Rules, and which of all short traces satisfy each."""

    def __init__(self, formulas: Sequence[Formula]) -> None:
        self.formulas = formulas
        self.table = [[holds(f, trace) for trace in TRACES] for f in formulas]
        self.longer = 0

    @cached_property
    def proofs(self) -> Proofs:
        return Proofs(self.formulas, [str(i) for i in range(len(self.formulas))])

    def some(self, rules: Collection[int], but: int | None = None, also: Formula | None = None) -> bool:
        """Whether a trace satisfies rules, not the rule `but`, and also another formula.

        Where no short one does, a longer one that lint names is judged by the reference semantics.
        """
        for place, trace in enumerate(TRACES):
            kept = all(self.table[i][place] for i in rules) and (but is None or not self.table[but][place])
            if kept and (also is None or holds(also, trace)):
                return True
        goals = [Goal(self.formulas[but], fails, free=True)] if but is not None else []
        found = self.proofs.ask(rules, goals + ([Goal(also)] if also is not None else []))
        if not isinstance(found, Shown):
            return False
        assert len(found.trace) > LONGEST or any(not c.outcome or not c.outcome.settled for c in found.trace.calls)
        assert all(holds(self.formulas[i], found.trace) for i in rules)
        assert but is None or not holds(self.formulas[but], found.trace)
        assert also is None or holds(also, found.trace)
        self.longer += 1
        return True


def numbers(finding: Finding) -> list[int]:
    return [int(name) for name in finding.constraints]


def comes(tool: str) -> Formula:
    return Apply(SYMBOLS["F"], (Proposition(Called(Tools.named(tool))),))


USUAL = """never(a) | never(b) | response(a, b) | G (b -> F a) | called(a) | before(a, b) | precedence(b, a)
chain_response(a, b) | G (a -> Y b) | not_coexistence(a, b) | G (O a -> !b) | last(b) | existence(b, 2) | init(a)
G (a & O b -> X a) | absence(b, 2) | G (a -> b) | at_most_once(a) | alternate_response(a, b) | G !*[failed]"""


def ruleset(rng: random.Random) -> list[Formula]:
    """A few small rules that ask of a call no more than its tool and whether it succeeded."""
    usual = [parse(text) for text in re.split(r" [|] |\n", USUAL)]
    rules: list[Formula] = []
    while len(rules) < 2 or rng.random() < 0.5:
        rule = random_formula(rng, rng.randint(1, 4), features=FEATURES, tools=("a", "b"))
        atoms = [f.atom for f in rule.walk() if isinstance(f, Proposition)]
        plain = all(isinstance(a, Called) and not a.args and all(isinstance(c, Flag) for c in a.outcome) for a in atoms)
        rules.append(rule if plain and rng.random() < 0.5 else rng.choice(usual))
    return rules


def test_no_finding_is_wrong_and_none_is_missing() -> None:
    rng = random.Random("lint")
    found: Counter[FindingKind] = Counter()
    longer = 0
    for _ in range(40):
        force = Force(ruleset(rng))
        findings = lint([Constraint(str(i), f) for i, f in enumerate(force.formulas)])
        by_kind = {kind: [f for f in findings if f.kind is kind] for kind in K}
        found.update({kind: bool(by_kind[kind]) for kind in K})
        check(force, by_kind)
        longer += force.longer
    for kind in (
        K.UNSATISFIABLE,
        K.ALWAYS_TRUE,
        K.CONTRADICTORY,
        K.IMPLIED,
        K.NEVER_FIRES,
        K.UNCALLABLE,
        K.ONLY_AT_END,
    ):
        assert found[kind] > 1, found
    assert longer < 5  # nearly all is decided by the short traces alone


def check(force: Force, by_kind: dict[FindingKind, list[Finding]]) -> None:
    every = range(len(force.formulas))
    never = {n for f in by_kind[K.UNSATISFIABLE] for n in numbers(f)}
    empty = {n for f in by_kind[K.ALWAYS_TRUE] for n in numbers(f)}
    for i in every:
        assert (i in never) is not force.some([i])
        assert (i in empty) is not force.some([], but=i)
    calm = [i for i in every if i not in never | empty]
    for core in map(numbers, by_kind[K.CONTRADICTORY]):
        assert not force.some(core)
        assert all(force.some([k for k in core if k != i]) for i in core)
        calm = [i for i in calm if i not in core]
    assert force.some(calm)
    check_implied(force, calm, by_kind[K.IMPLIED])
    if not never and not by_kind[K.CONTRADICTORY]:
        check_uncallable(force, by_kind[K.UNCALLABLE])
    check_at_end(force, calm, by_kind[K.ONLY_AT_END])
    check_triggers(force, [i for i in every if i not in never], calm, by_kind)


def check_implied(force: Force, calm: list[int], findings: list[Finding]) -> None:
    dropped = {numbers(f)[0]: numbers(f)[1:] for f in findings}
    stay = [i for i in calm if i not in dropped]
    for i, reasons in dropped.items():
        assert set(reasons) <= set(stay)
        assert not force.some(reasons, but=i)
        assert all(force.some([k for k in reasons if k != r], but=i) for r in reasons)
    for i in stay:
        assert force.some([k for k in stay if k != i], but=i)


def check_uncallable(force: Force, findings: list[Finding]) -> None:
    every = range(len(force.formulas))
    named = frozenset[str]().union(*map(tools_named, force.formulas))
    silent = [f for f in findings if "makes any call" in f.message]
    lost = {tool: f for f in findings for tool in "ab" if f"calls `{tool}`" in f.message}
    for tool in named:
        if silent or tool in lost:
            core = numbers(silent[0] if silent else lost[tool])
            assert not force.some(core, also=comes(tool))
            assert silent or all(force.some([k for k in core if k != i], also=comes(tool)) for i in core)
        else:
            assert force.some(every, also=comes(tool))


def check_at_end(force: Force, calm: list[int], findings: list[Finding]) -> None:
    late = {n for f in findings for n in numbers(f)}
    for finding in findings:
        assert finding.witness is not None
        failing = [len(t) for t, ok in zip(TRACES, force.table[numbers(finding)[0]], strict=True) if not ok]
        assert len(finding.witness) == min(failing)
    for i in calm:
        assert (i in late) is not (broken_by_a_call(force.formulas[i]) or broken_later(force, i))


def broken_by_a_call(formula: Formula) -> bool:
    for trace in TRACES:
        monitor = Monitor.of(formula)
        for position in trace.positions():
            monitor = monitor.step(position)
        if monitor.verdict.truth is Truth.FALSE:
            return True
    return False


def broken_later(force: Force, i: int) -> bool:
    """Whether a longer trace that lint names breaks the rule: no short continuation of it satisfies the rule."""
    formula = force.formulas[i]
    found = force.proofs.ask([], [Goal(formula, dead, free=True)])
    if not isinstance(found, Shown):
        return False
    force.longer += 1
    calls = found.trace.calls
    assert not any(holds(formula, Trace(calls + more.calls)) for more in TRACES if len(more) < 3)
    return True


def check_triggers(force: Force, sound: list[int], calm: list[int], by_kind: dict[FindingKind, list[Finding]]) -> None:
    implied = {numbers(f)[0] for f in by_kind[K.IMPLIED]}
    told = {(numbers(f)[0], f.message.split("`")[1]): f for f in by_kind[K.NEVER_FIRES]}
    for i in sound:
        for trigger in triggers(force.formulas[i]):
            finding = told.get((i, str(trigger.left)))
            if finding is None:
                around = calm if i in calm and i not in implied else []
                assert force.some(around, also=trigger.fires)
            elif "can never be true" in finding.message:
                assert not force.some([], also=trigger.fires)
            else:
                names = re.findall("`([0-9]+)`", finding.message.split(" is true in no run ")[1])
                assert not force.some([int(name) for name in names], also=trigger.fires)
                assert finding.witness is not None
                assert holds(trigger.fires, finding.witness)
                firing = [len(t) for t in TRACES if holds(trigger.fires, t)]
                assert len(finding.witness) == min(firing)


WIDE = FEATURES | {"quantifiers", "conditions", "outcomes", "comparisons", "bounds", "places", "first"}


def test_no_finding_is_wrong_where_rules_have_variables_and_conditions() -> None:
    """Random traces cannot prove a finding, but each could refute it."""
    rng = random.Random("variables")
    found: Counter[FindingKind] = Counter()
    traces = [plain_trace(rng) for _ in range(400)]
    for _ in range(40):
        formulas = [
            random_formula(rng, rng.randint(2, 5), features=WIDE, tools=("a", "b"), keys=("k",), values=(1, 2, "u"))
            for _ in range(2)
        ]
        formulas.append(twisted(rng, formulas[0]))
        findings = lint([Constraint(str(i), f) for i, f in enumerate(formulas)])
        found.update(f.kind for f in findings)
        table = [[satisfied(f, trace) for trace in traces] for f in formulas]
        for finding in findings:
            assert not any(refutes(finding, formulas, table, place, trace) for place, trace in enumerate(traces))
    assert min(found[kind] for kind in (K.UNSATISFIABLE, K.ALWAYS_TRUE, K.CONTRADICTORY, K.IMPLIED)) > 0, found


def plain_trace(rng: random.Random) -> Trace:
    """A random trace of few values."""
    return random_trace(rng, rng.randint(0, 5), tools=("a", "b"), keys=("k",), values=(1, 2, "u", "w", None, [1]))


def twisted(rng: random.Random, formula: Formula) -> Formula:
    """A rule that has to do with another one."""
    other = random_formula(rng, 2, features=FEATURES, tools=("a", "b"))
    return rng.choice((~formula if not formula.free else formula | other, formula | other, formula & other, formula))


def satisfied(formula: Formula, trace: Trace) -> bool | None:
    try:
        return holds(formula, trace)
    except TraceError:
        return None


def refutes(
    finding: Finding, formulas: list[Formula], table: list[list[bool | None]], place: int, trace: Trace
) -> bool:
    whose = numbers(finding)
    worth = [table[i][place] for i in whose]
    if None in worth:
        return False
    match finding.kind:
        case K.UNSATISFIABLE | K.CONTRADICTORY:
            return all(worth)
        case K.ALWAYS_TRUE:
            return not all(worth)
        case K.IMPLIED:
            return all(worth[1:]) and not worth[0]
        case K.UNCALLABLE:
            tools = {call.tool for call in trace.calls} - {"final_answer"}
            named = finding.message.split("`")[-2]
            return all(worth) and (bool(tools) if "makes any call" in finding.message else named in tools)
        case K.UNGUARDED_VARIABLE:
            return finding.witness is not None and satisfied(formulas[whose[0]], finding.witness) is not False
    return False
