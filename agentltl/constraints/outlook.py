"""What can still become of a rule: the states that can be reached from where it stands, over its letters.

A rule from whose state no accepting one can be reached is `FALSE`, one from which no rejecting one can be is `TRUE`.
The states are explored when they are first asked for, and remembered for as long as the rule.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from dataclasses import replace
from functools import lru_cache
from math import floor
from typing import cast

from agentltl.constraints import judgement as j
from agentltl.constraints.formula import Limit
from agentltl.constraints.here import Seen
from agentltl.constraints.letters import letters
from agentltl.constraints.residual import FALSE, TRUE, Residual
from agentltl.constraints.scope import Rule
from agentltl.constraints.state import State
from agentltl.constraints.tally import Tally
from agentltl.constraints.trace import Position

MOST_STATES = 400
"""How many states of one rule are explored; beyond, it is left open whether a verdict hides a final one."""


class Outlook:
    """The explored states of one rule. It says nothing (None) of a rule that has no letters, or too many states."""

    def __init__(self, rule: Rule) -> None:
        self.rule, self.letters = rule, letters(rule)
        self._next: dict[Hashable, list[tuple[Hashable, State]]] = {}
        self._known: dict[tuple[Hashable, int], bool] = {}
        self._full = False

    def reaches(self, state: State, end: int) -> bool | None:
        """Whether the trace can go on, or end here, so that the rule is worth `end` (`T` or `F`) at its end."""
        if self.letters is None:
            return None
        if state.residual.at_end() == end:
            return True
        start = (self._name(state), end)
        if start not in self._known and not self._full:
            self._search(*start, state)
        return self._known.get(start)

    def _search(self, start: Hashable, end: int, state: State) -> None:
        """Breadth first; where nothing is found, nothing can be found from any state on the way."""
        queue, met = deque([(start, state)]), {start}
        while queue:
            name, now = queue.popleft()
            known = self._known.get((name, end))
            if known or now.residual.at_end() == end:
                self._known[start, end] = True
                return
            for other, after in () if known is False else self._following(name, now):
                if other not in met:
                    met.add(other)
                    queue.append((other, after))
            if self._full:
                return
        self._known.update(((name, end), False) for name in met)

    def _following(self, name: Hashable, state: State) -> list[tuple[Hashable, State]]:
        """The states after one more event, under their names."""
        if name not in self._next:
            self._full = len(self._next) >= MOST_STATES
            if self._full:
                return []
            after: dict[Hashable, State] = {}
            if state.residual not in (TRUE, FALSE):
                for call in self.letters or ():
                    position = Position(call, state.index, (), None, self.rule.hidden)
                    here = state.here(self.rule, position, Seen())
                    residual = here.progress(state.residual)
                    moved = replace(state, residual=residual, registers=here.after, index=state.index + 1)
                    after.setdefault(self._name(moved), moved)
            self._next[name] = list(after.items())
        return self._next[name]

    def _name(self, state: State) -> Hashable:
        """States with one name have one future: a count says no more once it is past its limit."""
        if state.residual is TRUE or state.residual is FALSE:
            return state.residual
        remembered: list[Hashable] = []
        for node, slot in state.registers.slots.items():
            if isinstance(slot, Tally):
                past = max(0, floor(cast(Limit, node.detail).number) + 1)
                remembered.append((min(slot.sure, past), min(slot.sure + slot.high, past)))
            else:
                remembered.append(cast(Residual, slot))
        return state.residual, tuple(remembered)


@lru_cache(maxsize=1024)
def outlook(rule: Rule) -> Outlook:
    """What can still become of a rule, shared by all its monitors in the process."""
    return Outlook(rule)


def dead(rule: Rule, state: State) -> bool:
    """Whether the rule is violated, whatever follows."""
    return state.residual is FALSE or outlook(rule).reaches(state, j.T) is False


def revived(rule: Rule, state: State) -> State:
    """A state that is not dead: of the obligations that contradict one another, those that are kept at the end of the
    trace stay first, then the others as far as they can be met together."""
    kept = TRUE
    for clause in sorted(state.residual.clauses, key=lambda c: (Residual(frozenset({c})).at_end() != j.T, str(c))):
        more = kept & Residual(frozenset({clause}))
        if not dead(rule, replace(state, residual=more)):
            kept = more
    return replace(state, residual=kept)
