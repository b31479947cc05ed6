"""Why a rule holds on a trace or does not, in one sentence.

A pattern has sentences of its own; for any other formula the sentence tells the fewest facts that decide it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agentltl.constraints import judgement as j
from agentltl.constraints.check import breaches, newly_false
from agentltl.constraints.facts import Predicate, Seen
from agentltl.constraints.formula import FALSE, Apply, Formula, Proposition, Quantified
from agentltl.constraints.normal import at_the_edge
from agentltl.constraints.operators import AND
from agentltl.constraints.proposition import Called
from agentltl.constraints.scope import Rule, rule
from agentltl.constraints.sentences.blame import at_the_last, blame, each_alone
from agentltl.constraints.sentences.events import Events
from agentltl.constraints.sentences.pattern_sentences import SENTENCES, Scene
from agentltl.constraints.sentences.places import Places, sentence
from agentltl.constraints.sentences.proof import Proofs
from agentltl.constraints.sentences.sentences import Teller
from agentltl.constraints.sentences.why import Effort, TooMuch
from agentltl.constraints.trace import Trace

HOLDS = "No call breaks the rule."
NOT_YET = "What the rule demands has not happened yet."
OWED = "What the rule demands did not happen before the end."
NEVER = "No trace at all satisfies the rule."
SMALL = 20_000
"""How much effort the sentence of a rule that holds may cost."""
LARGE = 100_000
"""How much effort it may cost to say what is owed when a trace has ended: no call waits for that sentence."""
MONITOR = 4
"""How many steps of effort it costs at least to move a monitor by one call."""
SHORT = 3
"""How many clauses the sentence of a rule that holds may have; beyond that it only says that no call breaks it."""


def explain(formula: Formula, trace: Trace, *, finished: bool) -> str:
    """Why a rule is satisfied by a trace, or why it is not.

    `finished`: the trace has ended, and the rule is true or false of it. Else the sentence is about the rule's verdict
    so far, and of an open obligation it says what has not happened yet.
    """
    seen = trace.finished() if finished else trace
    return explain_judged(formula, seen, finished, next(_breaks(formula, seen, finished), None))


def explain_judged(formula: Formula, trace: Trace, finished: bool, breach: int | None) -> str:
    """As `explain`, where it is known what breaks the rule first: the index of a call, `len(trace)` for the end of the
    trace, or None for nothing."""
    seen = trace.finished() if finished else trace
    parts = _parts(formula)
    if len(parts) == 1:
        return _explain(formula, seen, finished, breach)
    own = {part: next(_breaks(part, seen, finished), None) for part in parts}
    bad = [part for part in parts if own[part] is not None]
    if not bad and (breach is not None or (len(parts) > SHORT and finished)):
        return _explain(formula, seen, finished, breach)
    told = dict.fromkeys(_explain(part, seen, finished, own[part]) for part in bad or parts)
    return " ".join(told) if bad or HOLDS not in told else HOLDS


def explain_breach(formula: Formula, trace: Trace, index: int, effort: Effort | None = None) -> str:
    """Why the call at `index` breaks a rule; with `index == len(trace)` what is still owed when the trace ends.

    Where the facts cannot be found with the `effort` there is, it only says which call it is.
    """
    if index >= len(trace):
        seen = trace.finished()
        owing = [part for part in _parts(formula) if len(trace) in _breaks(part, seen, True)]
        return " ".join(dict.fromkeys(_explain(part, seen, True, len(trace)) for part in owing or [formula]))
    prefix = replace(trace, calls=trace.calls[: index + 1])
    effort = Effort() if effort is None else effort
    parts, made = _parts(formula), dict[Formula, Proofs]()
    own = [part for part in parts if _broken(part, prefix, effort, made)] if len(parts) > 1 else []
    told = (_at_call(part, prefix, trace, index, effort, made.get(part)) for part in own or [formula])
    return " ".join(dict.fromkeys(one for one in told if one)) or _short(prefix)


def _broken(part: Formula, prefix: Trace, effort: Effort, made: dict[Formula, Proofs]) -> bool:
    """Whether the last call breaks this part of a rule; False also where it takes too long to find out.

    Proofs that are made for it are kept in `made`.
    """
    ready, calls = rule(part), len(prefix)
    if each_alone(ready.formula):
        positions = Events(prefix, ready.hidden)
        last = positions.place(calls - 1)
        if last is None:
            return False
        made[part] = Proofs(positions, last, growing=True, effort=effort)
        try:
            return at_the_last(made[part], ready.formula, {}).judgement[0] == j.F
        except TooMuch:
            return False
    looks = any(isinstance(f, Proposition) and isinstance(f.atom, Seen | Predicate) for f in part.walk())
    values = any(isinstance(f, Quantified) for f in ready.formula.walk())
    steps = calls * max(MONITOR, calls // 2 if looks else calls // 8 if values else 0)
    if steps > effort.left:
        return False
    effort.spend(steps)
    return calls - 1 in _breaks(part, prefix, False)


def _parts(formula: Formula) -> list[Formula]:
    """The rules that a conjunction is made of."""
    if isinstance(formula, Apply) and formula.op is AND and formula.written is None:
        return [part for arg in formula.args for part in _parts(arg)]
    return [formula]


def _breaks(formula: Formula, trace: Trace, finished: bool) -> Iterator[int]:
    """The indices of the calls at which a rule becomes false, each breach forgiven; of a finished trace its end too."""
    return breaches(formula, trace) if finished else newly_false(formula, trace)


def _at_call(
    formula: Formula, prefix: Trace, trace: Trace, index: int, effort: Effort, made: Proofs | None = None
) -> str | None:
    """Why the last call of `prefix` breaks a rule; None where it takes too long to find out, or there is no fact."""
    own = _pattern(formula, prefix, False, index)
    if own is not None:
        return own
    ready = rule(formula)
    try:
        told = _growing(ready, prefix, index, effort, made)
        if told is None and len(trace) > index + 1:  # an outcome broke it, together with calls that had started by then
            told = _growing(ready, trace, index, effort)
        return told or _facts(ready, prefix, index, effort)
    except TooMuch:
        return None


def _short(prefix: Trace) -> str:
    call = Places(Events(prefix, frozenset()), ended=False).call(len(prefix) - 1)
    return f"{call[:1].upper()}{call[1:]} breaks the rule."


def _explain(formula: Formula, trace: Trace, finished: bool, breach: int | None) -> str:
    """`breach` as for `explain`; None: the rule is not broken."""
    own = _pattern(formula, trace, finished, breach)
    if own is not None:
        return own
    if breach is not None and breach < len(trace):
        prefix = replace(trace, calls=trace.calls[: breach + 1])
        return _at_call(formula, prefix, trace, breach, Effort()) or _short(prefix)
    return _settled(rule(formula), trace, finished, breach)


def _pattern(formula: Formula, trace: Trace, ended: bool, breach: int | None) -> str | None:
    written = formula.written if isinstance(formula, Apply | Quantified | Proposition) else None
    if written is None or written.pattern not in SENTENCES or formula.free:
        return None
    given = [a for item in written.arguments for a in (item if isinstance(item, tuple) else (item,))]
    if any(isinstance(a, Formula) and not (isinstance(a, Proposition) and isinstance(a.atom, Called)) for a in given):
        return None  # a fact, or a constant
    ready = rule(formula)
    positions = Events(trace, ready.hidden)
    focus = positions.place(breach)
    proposed = focus if breach is not None and focus is not None and not ended and _proposed(trace, breach) else None
    scene = Scene(Places(positions, ended=ended), ended, focus, proposed)
    return SENTENCES[written.pattern](scene, *written.arguments)


def _growing(ready: Rule, trace: Trace, index: int, effort: Effort, made: Proofs | None = None) -> str | None:
    """Why no continuation can satisfy a rule, where the call at `index` is among the reasons; else None."""
    positions = Events(trace, ready.hidden)
    focus = positions.place(index)
    if focus is None:
        return None
    proofs = made or Proofs(positions, focus, growing=True, effort=effort)
    leaves = blame(proofs, ready.formula)
    if not leaves:
        return None
    return sentence(Teller(proofs, ended=False, focus=focus, proposed=_proposed(trace, index)).clauses(leaves))


def _proposed(trace: Trace, index: int) -> bool:
    """Whether a call is the last and has no outcome: it may be refused, and is not told as one that ran."""
    return index == len(trace) - 1 and trace.calls[index].outcome is None


def _facts(ready: Rule, trace: Trace, index: int, effort: Effort) -> str | None:
    """Why a rule is false if the trace ended here."""
    positions = Events(trace.finished(), ready.hidden)
    focus = positions.place(index)
    proofs = Proofs(positions, focus, effort=effort)
    try:
        proof = proofs.at(ready.formula, 0, {})
    except IndexError:
        return None
    leaves = (proof.false if proof.judgement[1] == j.T else proof.true).leaves()
    if not leaves or proof.judgement[0] == j.T:
        return None
    return sentence(Teller(proofs, ended=False, focus=focus, proposed=_proposed(trace, index)).clauses(leaves))


def _settled(ready: Rule, trace: Trace, finished: bool, breach: int | None) -> str:
    """Why a rule is true or false if the trace ended here."""
    positions = Events(trace, ready.hidden)
    if not positions:
        if breach is None and (at_the_edge(ready.formula) or not finished):
            return HOLDS if finished else "No tool has been called yet."
        return "No tool was called."
    effort = LARGE if breach is not None else SMALL
    proofs = Proofs(positions, None if breach is None else len(positions), effort=Effort(effort))
    try:
        proof = proofs.at(ready.formula, 0, {})
    except TooMuch:
        return HOLDS if breach is None else OWED
    teller = Teller(proofs, ended=finished)
    if proof.judgement[0] != j.T:
        why = proof.false if proof.judgement[1] == j.T else proof.true
        leaves = why.leaves()
        if leaves:
            return sentence(teller.clauses(leaves))
        if not finished and ready.normal != FALSE:
            return NOT_YET
        return OWED if why.focus else NEVER
    leaves = proof.true.leaves()
    clauses = teller.clauses(leaves)
    if any(isinstance(leaf.node, Proposition) and not isinstance(leaf.node.atom, Called) for leaf in leaves):
        return HOLDS
    happened = all(leaf.judgement == j.YES for leaf in leaves)
    never = {leaf.index for leaf in leaves if leaf.judgement == j.NO} >= set(range(len(positions)))
    short = len(clauses) <= SHORT if happened else len(clauses) == 1 and never
    return sentence(clauses) if clauses and short else HOLDS
