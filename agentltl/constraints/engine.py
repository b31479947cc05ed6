"""How the state of a rule moves: by the numbered automaton of the whole rule, by that of its body for each value of its
variables, or, for the few rules that have neither, by applying each event to what is owed.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import Any, Protocol

from agentltl.constraints.automaton import numberable
from agentltl.constraints.for_each import ForEach
from agentltl.constraints.limits import DEFAULT, Limits
from agentltl.constraints.prefix import prefix
from agentltl.constraints.proposition import Atom
from agentltl.constraints.scope import Rule
from agentltl.constraints.trace import Call, Position
from agentltl.constraints.value import Json
from agentltl.constraints.verdict import Verdict
from agentltl.constraints.whole import Whole


class Engine(Protocol):
    """How the state of one rule moves. States are never changed."""

    rule: Rule
    first: Any

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The propositions of the rule."""

    def step(self, state: Any, position: Position, forgive: bool = False) -> Any:
        """The state after one more event; with `forgive` after one whose breach is forgiven."""

    def stays(self, state: Any, call: Call) -> bool:
        """Whether the call alone, just started, is known to leave the state as it is."""

    def clean(self, state: Any) -> bool:
        """Whether the state rests on no running call, and is neither violated nor dead."""

    def running(self, state: Any) -> bool:
        """Whether the state rests on a call that still runs."""

    def false(self, state: Any) -> bool:
        """Whether the rule is violated already."""

    def dead(self, state: Any) -> bool:
        """Whether the rule is violated, whatever follows. Asked of states that rest on no running call."""

    def final(self, state: Any) -> bool:
        """Whether the rule is satisfied or violated already, so that no event changes the state."""

    def revived(self, state: Any) -> Any:
        """A state that is not dead, with as many of the obligations as can be met together."""

    def verdict(self, state: Any) -> Verdict:
        """What the rule is worth now."""

    def name(self, state: Any) -> Hashable:
        """What of the state still matters: equal names have equal futures, as far as later events alone decide them."""

    def open_values(self, state: Any) -> tuple[Json, ...]:
        """The values of variables that are in another state than all others."""

    def idle(self, state: Any) -> bool:
        """Whether an event that no proposition of the rule names leaves the state as it is."""


def engine(rule: Rule, limits: Limits = DEFAULT) -> Engine:
    """How the state of a rule moves, shared by all its monitors in the process."""
    return _engine(rule, limits)


@lru_cache(maxsize=4096)
def _engine(rule: Rule, limits: Limits) -> Engine:
    if numberable(rule.normal, rule.scope):
        return Whole.of(rule, limits)
    found = prefix(rule)
    if found is not None and numberable(found.body, found.scope):
        return ForEach.of(rule, found, limits)
    from agentltl.constraints.applied import Applied

    return Applied(rule, limits)
