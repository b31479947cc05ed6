"""The facts of a proof in words: which call did what, and what was not called where.

All facts about one call are one clause, and many calls that are not `login` are one clause too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import cast

from agentltl.constraints import judgement as j
from agentltl.constraints.compare import Compare, Condition, Flag, Var
from agentltl.constraints.facts import Said, Seen
from agentltl.constraints.formula import Apply, Formula, Proposition
from agentltl.constraints.path import OTHER, Frame
from agentltl.constraints.proposition import Called
from agentltl.constraints.sentences.call_text import CallFacts
from agentltl.constraints.sentences.fact_text import fact_text, tally_text
from agentltl.constraints.sentences.gaps import Gap, demanded, gap
from agentltl.constraints.sentences.places import Places, tools_text
from agentltl.constraints.sentences.proof import Proofs
from agentltl.constraints.sentences.telling import Telling
from agentltl.constraints.sentences.why import Leaf
from agentltl.constraints.value import key


@dataclass(frozen=True, slots=True)
class Sorted:
    """The facts of a proof: those about single calls, groups with clauses of their own, and what was not called.

    `happened` are the positions at which something is told to be true.
    """

    happened: set[int]
    calls: defaultdict[int, CallFacts] = field(default_factory=lambda: defaultdict(CallFacts))
    groups: list[list[Leaf]] = field(default_factory=list)
    gaps: dict[object, Gap] = field(default_factory=dict)

    def missing(self, one: Gap, atom: Called, group: Sequence[Leaf]) -> None:
        self.gaps.setdefault((one.at, one.side, one.aim, one.failed), one).atoms.setdefault(atom, []).extend(group)


class Teller:
    """Tells the facts of a proof. `focus` is the position of the call that the sentence is about.

    `proposed`: that call may be refused, so it is not told as one that ran.
    """

    def __init__(self, proofs: Proofs, *, ended: bool, focus: int | None = None, proposed: bool = False) -> None:
        self.proofs, self.focus, self.proposed = proofs, focus, focus if proposed else None
        self.places = Places(proofs.positions, ended=ended)

    def clauses(self, leaves: Sequence[Leaf]) -> list[str]:
        """A clause for each call and each group of facts, the call in focus first, then in the order of the trace."""
        facts, telling = self._sorted(leaves), Telling(self.places, self.focus, self.proposed)
        told: list[tuple[tuple[bool, bool, int], int | None, Callable[[], list[str]]]] = []
        for index, call in facts.calls.items():
            told.append(((index != self.focus, False, index), index, partial(call.clauses, telling, index)))
        for group in facts.groups:
            behind = group[0].judgement != j.YES or all(leaf.index != self.focus for leaf in group)
            told.append(((behind, False, group[0].index), None, partial(self._group, group, telling)))
        for one in facts.gaps.values():
            told.append(((True, True, one.at[0]), None, partial(one.clauses, telling, facts.happened)))
        told.sort(key=lambda item: item[0])
        if told and told[0][1] is not None and len(facts.calls) == 1:
            telling.about = told[0][1]
        clauses: dict[str, None] = {}
        for _, place, tell in told:
            clauses.update(dict.fromkeys(tell()))
            telling.last = None if place is None else (place, facts.calls[place].bound())
        return list(clauses)

    def _sorted(self, leaves: Sequence[Leaf]) -> Sorted:
        counted = {(f.args[0], leaf.index) for leaf in leaves if isinstance(f := leaf.node, Apply)}
        facts = Sorted({leaf.index for leaf in leaves if leaf.judgement == j.YES and leaf.node is not None})
        for group in _groups(leaves):
            first = group[0]
            if first.node is None:
                self._edges(group, facts)
            elif not isinstance(first.node, Proposition):
                facts.groups.append(group)
            elif isinstance(atom := first.node.atom, Said | Seen):
                for leaf in group:
                    facts.calls[leaf.index].occurs.append((atom, leaf.env, leaf.judgement))
            elif not isinstance(atom, Called):
                facts.groups.append(group)
            elif first.judgement == j.NO:
                self._false(atom, group, facts)
            elif first.judgement != j.YES:
                for leaf in group:
                    self._unsure(facts.calls[leaf.index], atom, leaf)
            elif all((leaf.node, leaf.index) in counted for leaf in group):
                continue  # the count says so
            elif len(group) > 1 and all(isinstance(c, Flag) for c in (*atom.args, *atom.outcome)):
                facts.groups.append(group)
            else:
                for leaf in group:
                    facts.calls[leaf.index].matches(atom, leaf.env)
        return facts

    def _edges(self, group: list[Leaf], facts: Sorted) -> None:
        """What did not come because the trace begins or ends at a call."""
        first = group[0]
        beyond = cast(Apply, first.beyond)
        missing = demanded(beyond.args[0]) if first.judgement == j.NO else []
        for atom in missing:
            facts.missing(gap([first.index], beyond.op.direction, atom), atom, group)
        if not missing:
            facts.groups.append(group)

    def _false(self, atom: Called, group: list[Leaf], facts: Sorted) -> None:
        """A proposition that is false at some positions: calls that nearly match, or else none that does.

        Calls of the tool nearly match where more than the value of a variable is against it, and they are few.
        """
        near, told = [], False
        for leaf in group:
            call = self.places.positions[leaf.index].call
            if atom.tools.match(call.tool):
                failing = _failing(atom, leaf, Frame(call))
                if isinstance(failing, Flag) and leaf.index in facts.happened:
                    told = failing.name == "ok"
                elif not (isinstance(failing, Compare) and failing.op == "=" and isinstance(failing.right, Var)):
                    near.append((leaf, call, failing))
        if near and len(near) <= 2:
            for leaf, call, failing in near:
                facts.calls[leaf.index].fails(atom, failing, call, leaf.env)
        else:
            facts.missing(gap([leaf.index for leaf in group], "", atom, told and not near), atom, group)

    def _unsure(self, facts: CallFacts, atom: Called, leaf: Leaf) -> None:
        """A call that may match: it cannot be decided, or it still runs."""
        call = self.places.positions[leaf.index].call
        frame = Frame(call)
        conditions = (*atom.args, *(atom.outcome if call.outcome is not None else ()))
        open_ = next((c for c in conditions if c.judge(frame, leaf.env) not in (j.YES, j.NO)), None)
        if open_ is not None:
            facts.fails(atom, open_, call, leaf.env)
        else:
            facts.running = True

    def _group(self, group: Sequence[Leaf], telling: Telling) -> list[str]:
        leaf = group[0]
        if leaf.node is None:
            side = "before" if cast(Apply, leaf.beyond).op.direction == "past" else "after"
            return [f"no call comes {side} {telling.ref(leaf.index)}"]
        if isinstance(leaf.node, Apply):
            return [tally_text(leaf, self.proofs, telling)]
        atom = leaf.node.atom
        if not isinstance(atom, Called):
            return [fact_text(fact, telling) for fact in group]
        did = "was called"
        if atom.outcome:
            did = "succeeded" if cast(Flag, atom.outcome[0]).name == "ok" else "failed"
        return [f"{tools_text(atom.tools)} {did} {self.places.several([leaf.index for leaf in group])}"]


def _groups(leaves: Sequence[Leaf]) -> list[list[Leaf]]:
    """The facts about the same proposition with the same outcome, in the order of the trace."""
    groups: dict[object, list[Leaf]] = {}
    numbers: dict[Formula, int] = {}
    known: dict[int, tuple[int, list[str]]] = {}
    for leaf in leaves:
        node = cast("Apply | Proposition", leaf.node or leaf.beyond)
        if id(node) not in known:  # a formula is hashed once, for that takes long
            known[id(node)] = numbers.setdefault(node, len(numbers)), sorted(node.free)
        number, names = known[id(node)]
        values = tuple((v, leaf.env[v] if leaf.env[v] is OTHER else key(leaf.env[v])) for v in names)
        alone = isinstance(leaf.node, Apply) or leaf.node is None
        same = (leaf.node is None, number, values, leaf.judgement, leaf.index if alone else None)
        groups.setdefault(same, []).append(leaf)
    for group in groups.values():
        group.sort(key=lambda leaf: leaf.index)
    return list(groups.values())


def _failing(atom: Called, leaf: Leaf, frame: Frame) -> Condition:
    """The first condition that is false of a call of the tool."""
    return next(c for c in (*atom.args, *atom.outcome) if c.judge(frame, leaf.env) == j.NO)
