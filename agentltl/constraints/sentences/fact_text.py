"""Facts that are no call of a tool in words: what was counted or summed, what the user said, where a call stands."""

from __future__ import annotations

from fractions import Fraction
from typing import cast

from agentltl.constraints import judgement as j
from agentltl.constraints.compare import Compare, Var
from agentltl.constraints.facts import First, Predicate, SameStep, Words
from agentltl.constraints.formula import Apply, Limit, Proposition
from agentltl.constraints.operators import COUNT
from agentltl.constraints.path import Env
from agentltl.constraints.proposition import Called
from agentltl.constraints.sentences.gaps import bound_text
from agentltl.constraints.sentences.places import ASKS
from agentltl.constraints.sentences.proof import Proofs, counted
from agentltl.constraints.sentences.telling import Telling
from agentltl.constraints.sentences.why import Leaf
from agentltl.constraints.sentences.wording import no_number, operand_text, path_text, relation, value_text
from agentltl.constraints.tally import Tally, amount
from agentltl.constraints.trace import ABSENT


def fact_text(leaf: Leaf, telling: Telling) -> str:
    """A fact that is asked of a position."""
    position = telling.places.positions[leaf.index]
    call, place = position.call, telling.places.call(leaf.index)
    atom = leaf.node.atom if isinstance(leaf.node, Proposition) else None
    yes = leaf.judgement == j.YES
    match atom:
        case Words(which, op, right):
            said = position.said
            value, shown = operand_text(right, call, leaf.env)
            if not said:
                return f"the user has said nothing before {telling.ref(leaf.index)}"
            if value is ABSENT:
                return f"{shown} at {place}"
            text = said[-1 if which == "user" else 0].text
            before = f" before {telling.ref(leaf.index)}"
            told = relation(op, leaf.judgement, text, value, shown)
            return f"the {'latest' if which == 'user' else 'first'} message of the user{before} is {told}"
        case SameStep():
            return f"{place} {'comes' if yes else 'does not come'} in the same step as the call before it"
        case First():
            return f"{place} {'is' if yes else 'is not'} the first"
        case Predicate(name):
            return f"`${name}` {'holds' if yes else 'does not hold'} at {place}"
    return f"`{leaf.node}` {'holds' if yes else 'does not hold'} at {place}"


def tally_text(leaf: Leaf, proofs: Proofs, telling: Telling) -> str:
    """What a `count` or `sum` came to, and what the rule asks of it."""
    node, all_places = cast(Apply, leaf.node), telling.places
    limit, tally = cast(Limit, node.detail), cast(Tally, leaf.tally)
    asked = f"(the rule asks for {ASKS[limit.compare].format(k=value_text(limit.number))})"
    places = counted(proofs, leaf)
    what = _what(node.args[0], leaf.env, telling)
    near = "" if node.window is None else f" in the last {_reach(node)}"
    if node.op is COUNT:
        if tally.low or tally.high:
            unsure = next(k for k in places if proofs.at(node.args[0], k, leaf.env).judgement == j.UNDECIDABLE)
            return f"it cannot be decided whether {all_places.call(unsure)} counts"
        if tally.running_low or tally.running_high:
            return f"what counts rests on {all_places.call(places[-1])}, which still runs"
        if not places:
            return f"{what} was not called{near} up to {all_places.call(leaf.index)} {asked}"
        return f"{all_places.counted(what, places, telling.proposed)}{near} {asked}"
    path = f"`{path_text(limit.path)}`" if limit.path is not None else "the value"
    if tally.lost:
        for k in places:
            position = all_places.positions[k]
            if limit.path is not None and amount(position, limit.path) is None:
                return no_number(limit.path, position.call).of(all_places.call(k))
    total = tally.sure
    number = total if isinstance(total, float) else int(total) if total.denominator == 1 else _near(total)
    where = f" {all_places.several(places)}" if places else ""
    return f"the sum of {path} over {what}{where}{near} is {value_text(number)} {asked}"


def _what(counted_formula: object, env: Env, telling: Telling) -> str:
    if isinstance(counted_formula, Proposition) and isinstance(counted_formula.atom, Called):
        atom = counted_formula.atom
        if all(isinstance(c, Compare) and isinstance(c.right, Var) for c in (*atom.args, *atom.outcome)):
            return bound_text(atom, env, telling.mentions)
    return f"`{counted_formula}`"


def _reach(node: Apply) -> str:
    window = node.window
    assert window is not None
    if not window.timed:
        return f"{window.events} calls"
    return f"{float(window.size):g} seconds"


def _near(number: Fraction | int) -> int | float:
    """A number of few digits near this one."""
    try:
        return float(number)
    except OverflowError:
        return int(number)
