"""What is told of one call, as one clause: `"pay" (call #3) names `order` "W1" and has `amount` 500, not <= 100`.

A value that a variable stands for is named once in a sentence; later it is `that order`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from agentltl.constraints import judgement as j
from agentltl.constraints.compare import Condition, Flag
from agentltl.constraints.facts import Said, Seen
from agentltl.constraints.judgement import Judgement
from agentltl.constraints.path import OTHER, Env, Frame, Path
from agentltl.constraints.proposition import Called
from agentltl.constraints.sentences.places import tools_text
from agentltl.constraints.sentences.telling import Bound, Mentions, Telling, bound
from agentltl.constraints.sentences.wording import (
    finding,
    operand_text,
    path_text,
    says_more,
    settled_text,
    value_text,
)
from agentltl.constraints.trace import ABSENT, SPECIAL, Call
from agentltl.constraints.value import key

Named = tuple[Path, Hashable]
"""A path, and the value there that a variable stands for."""


@dataclass(slots=True)
class CallFacts:
    """What decides about one call: conditions that are true of it, those that are not, and where its values occur."""

    true: list[tuple[Condition, Env]] = field(default_factory=list)
    against: list[tuple[Condition, Env]] = field(default_factory=list)
    occurs: list[tuple[Said | Seen, Env, Judgement]] = field(default_factory=list)
    running: bool = False

    def matches(self, atom: Called, env: Env) -> None:
        """A proposition is true of the call."""
        self.true += [(c, env) for c in (*atom.args, *atom.outcome)]

    def fails(self, atom: Called, condition: Condition, call: Call, env: Env) -> None:
        """One condition of a proposition is not true of the call; the values that it shares are told with it."""
        frame = Frame(call)
        self.against.append((condition, env))
        self.true += [(c, env) for c in atom.args if bound([c], env) and c.judge(frame, env) == j.YES]

    def bound(self) -> list[Bound]:
        return [one for c, env in self.true for one in bound([c], env)]

    def clauses(self, telling: Telling, index: int) -> list[str]:
        """One clause, and one for each thing that takes a clause of its own."""
        places, head = telling.places, index in (telling.focus, telling.about)
        call, place = places.positions[index].call, places.call(index)
        names, has, returned, own = self._conditions(call, place, telling.mentions)
        self._occurrences(call, place, head, names, has, own)
        flags = {settled_text(call) for c, _ in (*self.true, *self.against) if isinstance(c, Flag)}
        if self.running:
            flags.add("still runs")
        if returned:
            flags.discard("succeeded")
        verbs = [f"has {_and(has.values())}"] if has else []
        verbs += sorted(flags)
        if returned:
            verbs.append(f"returned {_and(returned.values())}")
        lead = f'"{call.tool}" {places.at(index)}'
        if names and head:
            verbs.insert(0, f"names {_and(names.values())}")
        elif names and not verbs:
            verbs.append(f"was called with {_and(names.values())}")
        elif names:
            lead += f" with {_and(names.values())}"
        if verbs:
            return [f"{lead} {' and '.join(verbs)}", *own]
        if index != telling.proposed:
            return [*own] or [f'"{call.tool}" was called {places.at(index)}']
        if call.tool in SPECIAL:
            return [f'"{call.tool}" comes {places.at(index)[1:-1]}', *own]
        return [f'{place} is "{call.tool}"', *own]

    def _conditions(
        self, call: Call, place: str, mentions: Mentions
    ) -> tuple[dict[Named, str], dict[object, str], dict[object, str], list[str]]:
        """What the call names (by variable), has and has returned, and what takes a clause of its own."""
        names: dict[Named, str] = {}
        has: dict[object, str] = {}
        returned: dict[object, str] = {}
        own: list[str] = []
        asked = [c for c, _ in (*self.true, *self.against) if not isinstance(c, Flag)]
        for condition, env in (*self.true, *self.against):
            if isinstance(condition, Flag):
                continue
            true = condition.judge(Frame(call), env) == j.YES
            if true and (condition.path.root == "tool" or not says_more(condition, asked)):
                continue
            if true and condition.path.root == "args" and (values := bound([condition], env)):
                known = (condition.path, key(values[0][1]))
                if known not in names:
                    names[known] = mentions.text(values[0])
                continue
            found = finding(condition, call, env)
            named = next((k for k in names if k == (found.path, k[1])), None) if found.value else None
            if named is not None:
                names[named] = found.had
            elif not found.had:
                own.append(found.of(place))
            elif found.in_result:
                returned[found.had] = found.had
            else:
                has[found.had] = found.had
        return names, has, returned, list(dict.fromkeys(own))

    def _occurrences(
        self, call: Call, place: str, head: bool, names: dict[Named, str], has: dict[object, str], own: list[str]
    ) -> None:
        """Where values occur: added to what the call names or has, or as a clause of its own."""
        groups: dict[object, list[str]] = {}
        about: dict[object, tuple[Said | Seen, Env, Judgement]] = {}
        for one in self.occurs:
            value, _ = operand_text(one[0].what, call, one[1])
            same = (one[0].what, None if value is ABSENT or value is OTHER else key(value), one[2])
            about.setdefault(same, one)
            groups.setdefault(same, []).append(_source(one[0]))
        for group, sources in groups.items():
            fact, env, judged = about[group]
            value, shown = operand_text(fact.what, call, env)
            if value is ABSENT:
                missing = f"no `{path_text(fact.what)}`" if isinstance(fact.what, Path) else f"no {shown}"
                has[missing] = missing
                continue
            joined = (" and in " if judged == j.YES else " or in ").join(dict.fromkeys(sources))
            does = "occurs" if judged == j.YES else "does not occur" if judged == j.NO else "cannot be looked for"
            known = None if value is OTHER else key(value)
            named = next((k for k in names if known is not None and k[1] == known), None)
            if named is not None:
                names[named] += f", which {does} in {joined}"
            elif isinstance(fact.what, Path):
                text = f"`{path_text(fact.what)}` {value_text(value)}"
                has[text] = f"{text}, which {does} in {joined}"
            else:
                thing = value_text(value) if value is not OTHER else "such a value"
                own.append(f"{thing} {does} in {joined}" + ("" if head else f" before {place}"))


def _source(fact: Said | Seen) -> str:
    if isinstance(fact, Said):
        return "what the user has said"
    return "an earlier result" + (f" of {' or '.join(tools_text(t) for t in fact.tools)}" if fact.tools else "")


def _and(texts: Iterable[str]) -> str:
    shown = list(texts)
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
