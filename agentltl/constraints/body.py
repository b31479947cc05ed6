"""A formula without quantifiers, monitored: its automaton, the registers beside it, and what can still become of it.

A configuration is a state of the automaton, or with gauges the state and their registers; equal ones have one future.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from agentltl.constraints import judgement as j
from agentltl.constraints.automaton import Automaton, Letter, Node
from agentltl.constraints.formula import Formula
from agentltl.constraints.gauges import Register, moment
from agentltl.constraints.limits import Limits
from agentltl.constraints.proposition import Called
from agentltl.constraints.reading import Reading
from agentltl.constraints.residual import FALSE, TRUE, Residual
from agentltl.constraints.scope import Rule, Scope
from agentltl.constraints.tally import clock
from agentltl.constraints.trace import Position
from agentltl.errors import TraceError


class Loaded(NamedTuple):
    """A state with gauges: how many events there were (as far as a window in events asks), the time of the last (as far
    as one in seconds does), and a register for each gauge."""

    node: Node
    events: int
    time: Fraction | None
    registers: tuple[Register, ...]


Config = Node | Loaded


@dataclass(slots=True, eq=False)
class Body:
    """Steps configurations. `timed`: it looks at the times of calls."""

    automaton: Automaton
    reading: Reading
    timed: bool
    counted: bool
    first: Config

    @classmethod
    def of(cls, rule: Rule, formula: Formula, scope: Scope, limits: Limits) -> Body:
        """Of a rule: the formula that it is, or that its quantifiers stand around."""
        automaton = Automaton(rule, formula, scope, limits)
        gauges = automaton.gauges
        counted = any(gauge.moves and not gauge.timed for gauge in gauges)
        first: Config = automaton.start
        if gauges:
            first = Loaded(automaton.start, 0, None, tuple(gauge.start for gauge in gauges))
        return cls(automaton, Reading(automaton), rule.windowed, counted, first)

    def step(self, config: Config, letter: Letter, position: Position, forgive: bool = False) -> Config:
        """The configuration after one more event; with `forgive` after one whose breach is forgiven."""
        if type(config) is Node:
            if forgive:
                return self.automaton.forgiven(config, letter)
            return config.ways.get(letter) or self.automaton.after(config, letter)
        return self._loaded(config, letter, position, forgive)  # type: ignore[arg-type]

    def _loaded(self, config: Loaded, letter: Letter, position: Position, forgive: bool) -> Config:
        automaton, node = self.automaton, config.node
        if node.settled:
            return config
        registers = []
        judgements = automaton.counted(node, letter)
        for gauge, register, judged in zip(automaton.gauges, config.registers, judgements, strict=True):
            much = 1 if judged == j.NO else gauge.much(position)
            registers.append(gauge.add(register, judged, much, moment(gauge, position, config.events)))
        levels = tuple([g.level(r) for g, r in zip(automaton.gauges, registers, strict=True)])
        full = automaton.gauged(letter, levels)
        after = automaton.forgiven(node, full) if forgive else automaton.after(node, full)
        if after.settled:
            return Loaded(after, 0, None, ())
        return Loaded(
            after,
            config.events + 1 if self.counted else 0,
            clock(position) if self.timed else None,
            tuple(registers),
        )

    def on_time(self, config: Config, position: Position) -> None:
        """Raise `TraceError` for a call that starts before the last one, if the formula looks at times."""
        now = clock(position)
        last = config.time if isinstance(config, Loaded) else None
        if last is not None and now < last:
            raise TraceError(
                f"the times go back: the call of `{position.call.tool}` starts before the call that precedes it\n"
                "list the calls in the order in which they started"
            )

    def running(self, config: Config) -> bool:
        """Whether it rests on a call that still runs."""
        if type(config) is Node:
            return config.running
        assert isinstance(config, Loaded)
        return config.node.running or any(
            gauge.running(r) for gauge, r in zip(self.automaton.gauges, config.registers, strict=False)
        )

    def name(self, config: Config) -> Hashable:
        """What of a configuration still matters: equal names have equal futures."""
        if type(config) is Node:
            return config if config.number is not None else (config.residual, config.registers, config.index)
        assert isinstance(config, Loaded)
        node, index, _, registers = config
        named = []
        for gauge, register in zip(self.automaton.gauges, registers, strict=False):
            now = Fraction(0) if gauge.timed else index - 1  # a time is a time, a number is an age
            named.append(gauge.name(register, now))
        return node if node.number is not None else (node.residual, node.registers, node.index), tuple(named)

    def idle(self, config: Config) -> bool:
        """Whether an event that no proposition names leaves the configuration as it is."""
        node = node_of(config)
        if node.settled:
            return True
        if any(gauge.moves for gauge in self.automaton.gauges):
            return False
        known = node.known.get("idle")
        if known is None:
            known = node.known["idle"] = self._idle(node)
        return bool(known)

    def _idle(self, node: Node) -> bool:
        """Every outcome lies between what is unknown being all true and all false, since negation stands before
        propositions only."""
        automaton = self.automaton
        for fact in (j.T, j.F):
            judged = [j.NO if isinstance(atom, Called) else (fact, fact) for atom in automaton.atoms]
            letter = automaton.letter(judged)
            if any(counts != j.NO for counts in automaton.counted(node, letter)):
                return False
            for level in (j.T, j.F) if automaton.gauges else (j.T,):
                full = automaton.gauged(letter, (level,) * len(automaton.gauges)) if automaton.gauges else letter
                if automaton.after(node, full) is not node:
                    return False
        return True

    def changed(self, config: Config, residual: Residual) -> Config:
        """The configuration with other obligations."""
        node = self.automaton.alone(node_of(config), residual)
        if type(config) is Node:
            return node
        assert isinstance(config, Loaded)
        return Loaded(node, 0, None, ()) if residual in (TRUE, FALSE) else config._replace(node=node)


def node_of(config: Config) -> Node:
    """The state of the automaton in a configuration."""
    return config if type(config) is Node else config.node  # type: ignore[union-attr]
