"""Why the last event breaks a rule, found at that event alone.

An event breaks `G (a -> b)`, where b looks back, by what it is and by what came before it; what a and b were worth at
earlier events does not matter.
"""

from __future__ import annotations

from agentltl.constraints import judgement as j
from agentltl.constraints.formula import Apply, Formula, Quantified
from agentltl.constraints.operators import AND, SYMBOLS
from agentltl.constraints.path import Env
from agentltl.constraints.sentences.proof import Proofs
from agentltl.constraints.sentences.why import Leaf, Proof

ALWAYS = SYMBOLS["G"]


def each_alone(formula: Formula) -> bool:
    """Whether each event keeps or breaks a rule by itself: `G` of what looks back, under `&` and `forall`."""
    match formula:
        case Quantified("forall", _, body):
            return each_alone(body)
        case Apply(op, args) if op is AND:
            return all(each_alone(a) for a in args)
        case Apply(op, (body,), None) if op is ALWAYS:
            return not any(
                isinstance(f, Apply) and (f.op.direction == "future" or f.op.shape == "place") for f in body.walk()
            )
    return False


def at_the_last(proofs: Proofs, formula: Formula, env: Env) -> Proof:
    """The proof of a rule for which each event stands alone, as far as it rests on the last event."""
    match formula:
        case Quantified():
            return proofs.over(
                formula, 0, lambda value: at_the_last(proofs, formula.body, {**env, formula.variable: value})
            )
        case Apply(op, (a, b)) if op is AND:
            return at_the_last(proofs, a, env) & at_the_last(proofs, b, env)
        case Apply(_, (body,)):
            return proofs.at(body, len(proofs.positions) - 1, env)
    raise TypeError(f"not of this kind: {formula!r}")


def blame(proofs: Proofs, formula: Formula) -> list[Leaf]:
    """The facts by which no continuation can satisfy a rule, where the event in focus is among them; else none."""
    if proofs.focus == len(proofs.positions) - 1 and each_alone(formula):
        proof = at_the_last(proofs, formula, {})
    else:
        proof = proofs.at(formula, 0, {})
    true, false = proof.judgement
    whys = [proof.false] * (false == j.T) + [proof.true] * (true == j.F)
    return next((leaves for why in whys if why.focus and (leaves := why.leaves())), [])
