"""The engine of a rule without quantifiers: its state is one configuration of its automaton."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import cast

from agentltl.constraints.automaton import Node
from agentltl.constraints.body import Body, Config, node_of
from agentltl.constraints.limits import Limits
from agentltl.constraints.proposition import Atom
from agentltl.constraints.reach import Reach
from agentltl.constraints.scope import Rule
from agentltl.constraints.trace import Call, Position
from agentltl.constraints.value import Json
from agentltl.constraints.verdict import Verdict


@dataclass(slots=True, eq=False)
class Whole:
    """A rule without quantifiers: its state is one configuration."""

    rule: Rule
    body: Body
    first: Config
    reach: Reach

    @classmethod
    def of(cls, rule: Rule, limits: Limits) -> Whole:
        body = Body.of(rule, rule.normal, rule.scope, limits)
        return cls(rule, body, body.first, Reach(body, {}))

    def __reduce__(self) -> tuple[object, ...]:
        from agentltl.constraints.engine import engine

        return engine, (self.rule, self.body.automaton.limits)

    def step(self, state: Config, position: Position, forgive: bool = False) -> Config:
        body = self.body
        if body.timed:
            body.on_time(state, position)
        return body.step(state, body.reading.letter(position), position, forgive)

    def stays(self, state: Config, call: Call) -> bool:
        return False

    def clean(self, state: Config) -> bool:
        if type(state) is not Node:
            return self._clean(state)
        known = state.known.get("clean")
        if known is None:
            known = state.known["clean"] = self._clean(state)
        return cast(bool, known)

    def _clean(self, state: Config) -> bool:
        return not (self.running(state) or self.false(state) or self.dead(state))

    def running(self, state: Config) -> bool:
        return self.body.running(state)

    def false(self, state: Config) -> bool:
        return node_of(state).false

    def final(self, state: Config) -> bool:
        return node_of(state).settled

    def dead(self, state: Config) -> bool:
        return self.reach.dead(state)

    def revived(self, state: Config) -> Config:
        return self.reach.revived(state) if self.dead(state) else state

    def verdict(self, state: Config) -> Verdict:
        if type(state) is not Node:
            return self.reach.verdict(state)
        known = state.known.get("verdict")
        if known is None:
            known = self.reach.verdict(state)
            state.known["verdict"] = known
        return cast(Verdict, known)

    def name(self, state: Config) -> Hashable:
        if type(state) is Node and (verdict := self.verdict(state)).final:
            return verdict.truth
        return self.body.name(state)

    def open_values(self, state: Config) -> tuple[Json, ...]:
        return ()

    def idle(self, state: Config) -> bool:
        return self.body.idle(state)

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return self.body.automaton.atoms
