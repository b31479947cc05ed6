"""The states that the values of a rule are in together, numbered ones, and what is known of such a mix for all runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from agentltl.constraints.automaton import Letter, Node
from agentltl.constraints.body import Body

MOST = 4096
"""How many mixes of states are remembered."""


@dataclass(slots=True, eq=False)
class Mix:
    """Some states. `quiet` are the letters that move none of them, `idle` says that events which name no value move
    none, and `clean` that none of them is violated, whatever follows, or rests on a call that still runs."""

    nodes: frozenset[Node]
    idle: bool
    clean: bool
    quiet: set[Letter] = field(default_factory=set)

    def stays(self, letter: Letter) -> bool:
        """Whether an event leaves all states as they are."""
        if letter in self.quiet:
            return True
        if not all((node.ways.get(letter) or node.home.after(node, letter)) is node for node in self.nodes):
            return False
        if letter.number is not None:
            self.quiet.add(letter)
        return True


class Mixes:
    """The mixes of one body. `lost` says whether a state is violated, whatever follows, for some value; `known` has
    what `safe` has said. Safe to share between threads."""

    def __init__(self, body: Body, lost: Callable[[Node], bool]) -> None:
        self.body, self._lost = body, lost
        self._found: dict[frozenset[Node], Mix] = {}
        self.known: dict[Node | None, bool] = {}

    def of(self, nodes: Iterable[Node]) -> Mix:
        """The mix of these states."""
        names = frozenset(nodes)
        found = self._found.get(names)
        if found is None:
            if len(self._found) >= MOST:
                self._found.clear()
            found = Mix(names, all(map(self.body.idle, names)), all(map(self.safe, names)))
            self._found[names] = found
        return found

    def safe(self, node: Node) -> bool:
        """Whether a state is known to be remembered, not lost for any value, and to rest on no running call."""
        known = self.known.get(node)
        if known is None:
            known = node.number is not None and not node.false and not node.running and not self._lost(node)
            if node.number is not None:
                self.known[node] = known
        return known
