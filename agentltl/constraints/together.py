"""Several rules moved together: their product, explored lazily, so that an event is one look-up however many they are.

In it are the rules whose state is a number and whose propositions ask for a call alone. A joint state is remembered
with the ways out of it; when there are too many, all are forgotten and found anew.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from threading import RLock

from agentltl.constraints.automaton import Node
from agentltl.constraints.compare import Flag, Literal_, simply
from agentltl.constraints.engine import Engine
from agentltl.constraints.path import Env
from agentltl.constraints.proposition import Called
from agentltl.constraints.trace import ABSENT, Call, Position
from agentltl.constraints.value import FrozenDict, Json
from agentltl.constraints.whole import Whole

VALUES = 512
"""How many values of an argument are remembered for each tool."""
LONGEST = 256
"""How long a text may be that is remembered, in characters."""
MOST = 4096
"""How many joint states, and how many tables of tools, are remembered."""


@dataclass(slots=True, eq=False)
class Joint:
    """A state of each rule. `running`: one of them rests on a call that still runs; `lost` are the places of those that
    are violated, whatever follows; `clean`: nothing of both. `at_once` has the ways, under the tool, of calls that have
    just started and of which no other rule asks anything."""

    nodes: tuple[Node, ...]
    running: bool
    lost: tuple[int, ...]
    clean: bool
    ways: dict[Hashable, Joint] = field(default_factory=dict)
    at_once: dict[str, Joint] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Table:
    """How calls of one tool are told apart: by how they settled (`settled` has a key for each way) where that is all
    there is to it, else by the judgements of `open`.

    `argument` is the one that these ask for, compared with literals, where it is one and how they settled is all they
    ask besides; `known` then has, under its value, the keys for each way to settle.
    """

    tool: str
    settled: tuple[Hashable, Hashable, Hashable, Hashable] | None
    open: tuple[Called, ...]
    argument: str | None = None
    known: dict[Json, list[Hashable]] = field(default_factory=dict)

    def key(self, call: Call) -> Hashable:
        """Equal for calls that are alike to every rule."""
        way = 0 if call.outcome is None else call.outcome.way
        if self.settled is not None:
            return self.settled[way]
        if self.argument is None or type(args := call.args) is not FrozenDict:
            return self._judged(call)
        value = args.get(self.argument, ABSENT)
        if not (value is ABSENT or (type(value) is str and len(value) <= LONGEST)):
            return self._judged(call)
        keys = self.known.get(value)
        if keys is None:
            if len(self.known) >= VALUES:
                self.known.clear()
            keys = self.known[value] = [None] * 4
        if keys[way] is None:
            keys[way] = self._judged(call)
        return keys[way]

    def _judged(self, call: Call) -> Hashable:
        return (self.tool, *[atom.judge_call(call, NOTHING) for atom in self.open])


NOTHING: Env = {}


class Together:
    """The product of some rules. Safe to share between threads."""

    def __init__(self, rules: Sequence[Whole]) -> None:
        self.rules = tuple(rules)
        self._lock = RLock()
        self._joints: dict[tuple[Node, ...], Joint] = {}
        self.tables: dict[str, Table] = {}
        self.first = self.joint(tuple(rule.body.automaton.start for rule in self.rules))

    def joint(self, nodes: tuple[Node, ...]) -> Joint:
        """The joint state of these states."""
        found = self._joints.get(nodes)
        if found is None:
            running = any(node.running for node in nodes)
            lost = tuple(
                i
                for i, (rule, node) in enumerate(zip(self.rules, nodes, strict=True))
                if node.false or (not node.running and rule.dead(node))
            )
            with self._lock:
                if len(self._joints) >= MOST:
                    self._joints.clear()
                found = self._joints.setdefault(nodes, Joint(nodes, running, lost, not running and not lost))
        return found

    def after(self, joint: Joint, position: Position) -> Joint:
        """The joint state after one more event, no breach of which is forgiven."""
        key = (self.tables.get(position.call.tool) or self.table(position.call.tool)).key(position.call)
        return joint.ways.get(key) or self.found(joint, key, position)

    def found(self, joint: Joint, key: Hashable, position: Position) -> Joint:
        """The joint state after one more event, which has this key."""
        nodes = []
        for rule, node in zip(self.rules, joint.nodes, strict=True):
            seen = position.call.tool not in rule.rule.hidden
            letter = rule.body.reading.letter(position) if seen else None
            nodes.append(node if letter is None else rule.body.automaton.after(node, letter))
        after = self.joint(tuple(nodes))
        if all(node.number is not None for node in nodes):
            if len(joint.ways) >= MOST:
                joint.ways.clear()
                joint.at_once.clear()
            joint.ways[key] = after
        return after

    def table(self, tool: str) -> Table:
        """How calls of a tool are told apart."""
        found = self.tables.get(tool)
        if found is None:
            if len(self.tables) >= MOST:
                self.tables.clear()
            found = self.tables[tool] = self._table(tool)
        return found

    def _table(self, tool: str) -> Table:
        asked: dict[Called, None] = {}
        for rule in self.rules:
            if tool not in rule.rule.hidden:
                for _, atom in rule.body.reading.page(tool).open:
                    assert isinstance(atom, Called)
                    asked.setdefault(atom)
        if not asked:
            return Table(tool, (tool,) * 4, ())
        if all(not atom.args and all(isinstance(c, Flag) for c in atom.outcome) for atom in asked):
            return Table(tool, (tool, (tool, "never"), (tool, "failed"), (tool, "ok")), ())
        return Table(tool, None, tuple(asked), _argument(asked))


def _argument(atoms: Iterable[Called]) -> str | None:
    """The one argument that all conditions ask for, compared with literals; None if there is more to it."""
    asked = set()
    for atom in atoms:
        if not all(isinstance(condition, Flag) for condition in atom.outcome):
            return None
        for condition in atom.args:
            simple = simply(condition)
            if simple is None or not isinstance(simple[2], Literal_):
                return None
            asked.add(simple[0])
    return asked.pop() if len(asked) == 1 else None


def joins(engine: Engine) -> bool:
    """Whether a rule can be moved together with others."""
    if not isinstance(engine, Whole) or not isinstance(engine.first, Node) or engine.body.timed:
        return False
    calls = all(isinstance(atom, Called) for atom in engine.atoms)
    return calls and not engine.dead(engine.first)
