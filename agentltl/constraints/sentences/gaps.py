"""What was not called, in words: `"read" with that `order` had not succeeded before it`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from agentltl.constraints.compare import Compare, Flag, Var
from agentltl.constraints.formula import Apply, Formula, Proposition
from agentltl.constraints.judgement import NO
from agentltl.constraints.operators import AND, OR
from agentltl.constraints.path import OTHER, Env, Frame
from agentltl.constraints.proposition import Called
from agentltl.constraints.sentences.places import Places, tools_text
from agentltl.constraints.sentences.telling import Mentions, Telling, bound
from agentltl.constraints.sentences.why import Leaf


def demanded(formula: Formula) -> list[Called]:
    """The calls of which one at least must come for a formula to hold anywhere; empty where it is not as simple."""
    match formula:
        case Proposition(Called() as atom):
            return [atom]
        case Apply(op, args) if op.shape in ("shift", "fold") and not op.edge:
            return demanded(args[-1])
        case Apply(op, args) if op in (AND, OR):
            each = [demanded(a) for a in args]
            if op is OR:
                return [atom for one in each for atom in one] if all(each) else []
            return next((one for one in each if one), []) if sum(map(bool, each)) == 1 else []
    return []


def tool_text(atom: Called, env: Env) -> str:
    """The name of the tool: the one that a variable says, if one does."""
    for c in atom.args:
        if isinstance(c, Compare) and c.path.root == "tool" and c.op == "=" and isinstance(c.right, Var):
            value = env.get(c.right.name, OTHER)
            return f'"{value}"' if value is not OTHER else tools_text(atom.tools)
    return tools_text(atom.tools)


def bound_text(atom: Called, env: Env, mentions: Mentions) -> str:
    """The tool, with the values that its variables have."""
    told = [mentions.text(one) for one in bound((*atom.args, *atom.outcome), env)]
    return tool_text(atom, env) + (f" with {' and '.join(told)}" if told else "")


@dataclass(frozen=True, slots=True)
class Gap:
    """Where something was not called: at positions, or (`side`: past or future) nowhere before or after one.

    `aim` is how the call should have settled, where that is asked.
    `failed`: it was tried and did not succeed, and that has been told.
    `atoms` are the propositions that were not true there.
    """

    at: tuple[int, ...]
    side: str
    aim: str
    failed: bool = False
    atoms: dict[Called, list[Leaf]] = field(default_factory=dict, compare=False)

    def clauses(self, telling: Telling, happened: set[int]) -> list[str]:
        """One clause. `happened`: the positions of which something is told that was true there."""
        return [self._clause(telling, happened)]

    def _clause(self, telling: Telling, happened: set[int]) -> str:
        at, places = self.at, telling.places
        if again := self._again(telling):
            return again
        matching = any(self._only_matching(atom, group, places) for atom, group in self.atoms.items())
        names = " or ".join(dict.fromkeys(self._name(*one, telling) for one in self.atoms.items()))
        if self.side:
            where = f"{'before' if self.side == 'past' else 'after'} {telling.ref(at[0])}"
            return self._missing(names, matching, places, where)
        around = {at[0] - 1, at[0] + 1} <= happened or (at[0] == 0 and 1 in happened)
        if len(at) == 1 and len(places) > 1 and at[0] not in happened and not around and not matching:
            return f'{places.call(at[0])} is "{places.positions[at[0]].call.tool}", not {names}'
        return self._missing(names, matching, places, _range(telling, at, happened))

    def _only_matching(self, atom: Called, group: Sequence[Leaf], places: Places) -> bool:
        """Whether the tool may have been called, only not as asked, and its name alone does not say how."""
        if any(leaf.env != group[0].env for leaf in group):
            return True
        env = group[0].env
        plain = not bound((*atom.args, *atom.outcome), env) and tool_text(atom, env) == tools_text(atom.tools)
        return plain and self._tried(atom, places)

    def _tried(self, atom: Called, places: Places) -> bool:
        return any(atom.tools.match(places.positions[k].call.tool) for k in self.at)

    def _name(self, atom: Called, group: Sequence[Leaf], telling: Telling) -> str:
        if any(leaf.env != group[0].env for leaf in group):
            return tools_text(atom.tools)
        return bound_text(atom, group[0].env, telling.mentions)

    def _missing(self, names: str, matching: bool, places: Places, where: str) -> str:
        aim, ended = "succeeded" if self.failed else self.aim, places.ended
        before = where.startswith("before")
        if matching or names == "a tool":
            names = "no tool" if names == "a tool" else f"no {names}" if self.failed else f"no matching {names}"
            if aim:
                did = f"had {aim}" if before else aim if ended else f"has {aim}"
            else:
                did = "was called" if where or ended else "has been called"
            return f"{names} {did} {where or ('' if ended else 'yet')}".rstrip()
        if not where and aim and (self.failed or any(self._tried(atom, places) for atom in self.atoms)):
            return f"{names} never {aim}" if ended else f"{names} has not {aim} yet"
        if not where:
            return f"{names} was never called" if ended else f"{names} has not been called yet"
        if not aim:
            return f"{names} was not called {where}"
        return f"{names} had not {aim} {where}" if before else f"{names} did not {_infinitive(aim)} {where}"

    def _again(self, telling: Telling) -> str:
        """What did not happen once more after the call that has just been told of; empty for anything else."""
        if telling.last is None or len(self.atoms) != 1 or self.side == "past":
            return ""
        (last, told), (atom, group) = telling.last, next(iter(self.atoms.items()))
        places, env, until = telling.places, group[0].env, len(telling.places) - 1
        call = places.positions[last].call
        start = last if self.side or self.failed else last + 1
        whole = self.side or (
            self.at[-1] >= until - (telling.focus == until) and self.at[-1] - start + 1 == len(self.at)
        )
        values = bound((*atom.args, *atom.outcome), env)
        same = tool_text(atom, env) == f'"{call.tool}"' and all(leaf.env == env for leaf in group)
        if not (same and whole and self.at[0] == start and all(value in told for value in values)):
            return ""
        after = [k for k in self.at if k != last]
        others = any(places.positions[k].call.tool == call.tool for k in after)
        if others and not values:
            return ""
        so = f" with {' and '.join(telling.mentions.text(value) for value in values)}" if others else ""
        open_ = not places.ended and telling.focus is None
        if self.failed:
            return f"it has not succeeded{so} since" if open_ else f"it did not succeed{so} later"
        aim = self.aim if any(_asked(atom, places, k, env) for k in after) else ""
        if open_:
            return f"it has not {aim or 'been called'} again{so}"
        return f"it did not {_infinitive(aim)} again{so}" if aim else f"it was not called again{so}"


def _asked(atom: Called, places: Places, k: int, env: Env) -> bool:
    """Whether the call at a position is as asked, but for how it settled."""
    call = places.positions[k].call
    return atom.tools.match(call.tool) and all(c.judge(Frame(call), env) != NO for c in atom.args)


def gap(at: Sequence[int], side: str, atom: Called, failed: bool = False) -> Gap:
    flag = next((c.name for c in atom.outcome if isinstance(c, Flag)), "")
    return Gap(tuple(at), side, {"ok": "succeeded", "failed": "failed", "": ""}[flag], failed)


def _infinitive(aim: str) -> str:
    return "succeed" if aim == "succeeded" else "fail"


def _range(telling: Telling, at: Sequence[int], happened: set[int]) -> str:
    """Where something was not called: empty for everywhere."""
    places, ref = telling.places, telling.ref
    first, last, end = at[0], at[-1], len(places) - 1
    if last - first + 1 != len(at):
        return f"at {len(at)} of the calls"
    if first == 0 and last == end and not (telling.focus is not None and not places.ended):
        return ""
    if first == 0:
        if last in happened or last == end:
            return f"before {ref(last)}"
        return f"before {ref(last + 1)}" if last + 1 in happened else f"up to {ref(last)}"
    after = first if first in happened else first - 1 if first - 1 in happened else None
    if last == end:
        yet = "" if places.ended or telling.focus is not None else " yet"
        return f"after {ref(after)}{yet}" if after is not None else f"from {ref(first)} on"
    inside = last in happened and last != after
    before = last if inside else last + 1 if last + 1 in happened else None
    if after is not None and before is not None:
        return f"between {ref(after)} and {ref(before)}"
    return f"at {ref(first)}" if first == last else f"from {ref(first)} to {ref(last)}"
