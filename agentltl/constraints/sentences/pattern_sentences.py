"""Sentences for the patterns: what a reader of `before(fetch, save)` wants to hear about a trace.

Each function takes what was written and the calls, and gives a sentence, or None where the facts of the formula say it
better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from agentltl.constraints import judgement as j
from agentltl.constraints.formula import Formula, Proposition
from agentltl.constraints.proposition import Called
from agentltl.constraints.sentences.places import ASKS, Places, times, tools_text
from agentltl.constraints.sentences.wording import settled_text
from agentltl.constraints.value import key


@dataclass(frozen=True, slots=True)
class Scene:
    """The calls that a pattern looks at. `focus` is the position of the call that breaks it, if one does;
    `proposed` is the same where that call has no outcome yet: it may be refused, so it is not told as one that ran.

    `ended`: no more calls come.
    """

    places: Places
    ended: bool
    focus: int | None = None
    proposed: int | None = None

    def calls(self, what: Formula) -> list[int]:
        """The positions at which a proposition is true."""
        atom = cast(Proposition, what).atom
        return [i for i, p in enumerate(self.places.positions) if atom.judge(p, {}) == j.YES]

    def ok(self, what: Formula) -> list[int]:
        """Those whose call has succeeded."""
        return [i for i in self.calls(what) if self.settled(i) == "succeeded"]

    def settled(self, i: int) -> str:
        return settled_text(self.places.positions[i].call)

    def at(self, i: int) -> str:
        return self.places.at(i)

    def never(self, what: Formula) -> str:
        return "was never called" if self.ended else "has not been called yet"


def name(what: object) -> str:
    """`"fetch"`, or what was written where it says more than a name."""
    if isinstance(what, Proposition) and isinstance(what.atom, Called) and not what.atom.args and not what.atom.outcome:
        return tools_text(what.atom.tools)
    return f"`{what}`"


def _before(scene: Scene, a: Formula, b: Formula, *, message: bool = False) -> str:
    """An a that succeeds before the first b."""
    successors = scene.calls(b)
    attempts = scene.calls(a)
    if not successors:
        if not scene.ended:
            return f"{name(b)} has not been called yet."
        if not attempts:
            return f"{name(a)} was never called (cannot precede {name(b)})."
        return f"{name(b)} was never called."
    last = scene.focus if scene.focus in successors else successors[0]
    return _order(scene, a, b, last, attempts, message)


def _order(scene: Scene, a: Formula, b: Formula, last: int, attempts: Sequence[int], message: bool = False) -> str:
    earlier = [i for i in attempts if i < last]
    succeeded = [i for i in earlier if scene.settled(i) == "succeeded"]
    if message and succeeded:
        steps = [position.call.step for position in scene.places.positions[: last + 1]]
        begins = max((k for k in range(1, last + 1) if steps[k] != steps[k - 1]), default=0)
        known = [i for i in succeeded if i < begins]
        if not known:
            return (
                f"{name(a)} {scene.at(succeeded[0])} and {name(b)} {scene.at(last)} are of one message, "
                "so the result was not known."
            )
        succeeded = known
    if succeeded:
        return f"{name(a)} {scene.at(succeeded[0])} before {name(b)} {scene.at(last)}."
    if earlier:
        settled = scene.settled(earlier[-1])
        return f"{name(a)} {scene.at(earlier[-1])} {settled} (cannot precede {name(b)} {scene.at(last)})."
    later = [i for i in attempts if i > last]
    if later:
        return f"{name(a)} {scene.at(later[0])} came after {name(b)} {scene.at(last)}."
    if attempts:  # one call that is both
        return f"{name(b)} {scene.at(last)} came before any {name(a)} that succeeded."
    return f"{name(a)} was never called (cannot precede {name(b)})."


def _informed(scene: Scene, a: Formula, b: Formula) -> str:
    return _before(scene, a, b, message=True)


def _precedence(scene: Scene, a: Formula, b: Formula) -> str:
    if not scene.calls(b):
        return f"{name(b)} {scene.never(b)}."
    return _before(scene, a, b)


def _after(scene: Scene, a: Formula, b: Formula) -> str:
    """Both are called, the first b before the first a."""
    those, openers = scene.calls(a), scene.calls(b)
    if those and openers and openers[0] < those[0]:
        return f"{name(a)} {scene.at(those[0])} after {name(b)} {scene.at(openers[0])}."
    if those and openers:
        return f"{name(a)} {scene.at(those[0])} came before {name(b)} {scene.at(openers[0])}."
    if those:
        return f"{name(b)} was never called (cannot precede {name(a)})."
    if not openers or scene.ended:
        return (
            f"{name(a)} {scene.never(a)} (cannot follow {name(b)})." if scene.ended else f"{name(a)} {scene.never(a)}."
        )
    return f"{name(a)} {scene.never(a)}."


def _all_before(scene: Scene, these: Sequence[Formula], b: Formula) -> str:
    sentences = {a: _before(scene, a, b) for a in these}
    successors = scene.calls(b)
    last = (scene.focus if scene.focus in successors else successors[0]) if successors else None
    good = [a for a in these if last is not None and any(i < last for i in scene.ok(a))]
    bad = [a for a in these if a not in good]
    return " ".join(dict.fromkeys(sentences[a] for a in bad or these))


def _called(scene: Scene, a: Formula) -> str | None:
    found = scene.calls(a)
    if found:
        return f"{name(a)} was called {scene.at(found[0])}."
    return f"{name(a)} {scene.never(a)}." if _plain(a) else None


def _branch(scene: Scene, right: Formula, wrong: Formula) -> str:
    good, bad = scene.calls(right), scene.calls(wrong)
    if bad and bad[0] == scene.proposed:
        told = scene.places.call(bad[0])
        return f"{told[:1].upper()}{told[1:]} is {name(wrong)}, which is the wrong branch."
    if bad:
        return f"{name(wrong)} was called {scene.at(bad[0])}, which is the wrong branch."
    if good:
        return f"{name(right)} was called {scene.at(good[0])} and {name(wrong)} was not."
    return f"{name(right)} {scene.never(right)}."


def _number(scene: Scene, a: Formula, op: str, k: object) -> str | None:
    if any(c == j.UNDECIDABLE for c in _judged(scene, a)):
        return None
    found = scene.calls(a)
    if scene.focus is not None:
        found = [i for i in found if i <= scene.focus]
    asked = f"the rule asks for {ASKS[op].format(k=k)}"
    if not found:
        return f"{name(a)} {scene.never(a)} ({asked})."
    so_far = "" if scene.ended or scene.focus is not None else " so far"
    told = scene.places.counted(name(a), found, scene.proposed)
    return f"{told[:1].upper()}{told[1:]}{so_far} ({asked})."


def _called_n(scene: Scene, a: Formula, limit: tuple[str, object]) -> str | None:
    return _number(scene, a, *limit)


def _existence(scene: Scene, a: Formula, k: object) -> str | None:
    return _number(scene, a, ">=", k)


def _absence(scene: Scene, a: Formula, k: object) -> str | None:
    return _number(scene, a, "<", k)


def _exactly(scene: Scene, a: Formula, k: object) -> str | None:
    return _number(scene, a, "=", k)


def _at_most(scene: Scene, a: Formula, k: object) -> str | None:
    return _number(scene, a, "<=", k)


def _at_most_once(scene: Scene, a: Formula) -> str | None:
    return _number(scene, a, "<=", 1)


def _in_order(scene: Scene, these: Sequence[Formula]) -> str:
    told: list[str] = []
    last = -1
    for a in these:
        found = next((i for i in scene.ok(a) if i > last), None)
        if found is None:
            after = f" after {told[-1]}" if told else ""
            tried = [i for i in scene.calls(a) if i > last]
            if tried:
                return (
                    f"{name(a)} {scene.at(tried[0])} {scene.settled(tried[0])}{' and came' + after if after else ''}."
                )
            if scene.ended:
                return f"{name(a)} was {'not' if after else 'never'} called{after}."
            return f"{name(a)} has not been called yet{after}."
        told.append(f"{name(a)} {scene.at(found)}")
        last = found
    return ", then ".join(told) + "."


def _within(scene: Scene, a: Formula, b: Formula, k: int) -> str:
    starts = scene.calls(a)
    if not starts:
        return f"{name(a)} {scene.never(a)}."
    follow = next((i for i in scene.calls(b) if i >= starts[0]), None)
    near = f"within {k} calls of {name(a)} {scene.at(starts[0])}"
    if follow is None or follow > starts[0] + k:
        late = f": it came {follow - starts[0]} calls later {scene.at(follow)}" if follow is not None else ""
        early = not scene.ended and len(scene.places) - 1 < starts[0] + k
        return f"{name(b)} {'has not been called yet' if early else 'was not called'} {near}{late}."
    return f"{name(b)} {scene.at(follow)} {near}."


def _instance_before(scene: Scene, a: Formula, n: int, b: Formula, m: int) -> str:
    first, second = scene.calls(a), scene.calls(b)
    for what, found, wanted in ((a, first, n), (b, second, m)):
        if len(found) < wanted:
            so_far = "" if scene.ended else " so far"
            did = f"was called {times(len(found))}{so_far}" if found else scene.never(what)
            return f"{name(what)} {did} (call number {wanted} of it is asked for)."
    earlier, later = first[n - 1], second[m - 1]
    order = "before" if earlier < later else "not before"
    return f"{name(a)} number {n} {scene.at(earlier)} {order} {name(b)} number {m} {scene.at(later)}."


def _init(scene: Scene, a: Formula) -> str | None:
    return _edge(scene, a, 0, "first")


def _last(scene: Scene, a: Formula) -> str | None:
    return _edge(scene, a, -1, "last")


def _edge(scene: Scene, a: Formula, i: int, which: str) -> str | None:
    if not scene.places.positions:
        return "No tool was called."
    if not _plain(a):
        return None
    position = scene.places.positions[i]
    if i % len(scene.places) in scene.calls(a):
        return f'The {which} call is "{position.call.tool}".'
    return f'The {which} call is "{position.call.tool}", not {name(a)}.'


def _no_repeat(scene: Scene, a: Formula) -> str:
    positions = scene.places.positions
    matching = set(scene.calls(a))
    for i in [scene.focus] if scene.focus else range(1, len(positions)):
        now, before = positions[i].call, positions[i - 1].call
        same = now.tool == before.tool and key(now.args) is not None and key(now.args) == key(before.args)
        if same and i in matching and i - 1 in matching:
            return f'"{now.tool}" {scene.at(i)} repeats {scene.places.call(i - 1)} with the same arguments.'
    return "No call repeats the one before it."


def _plain(a: Formula) -> bool:
    return isinstance(a, Proposition) and isinstance(a.atom, Called) and not a.atom.args and not a.atom.outcome


def _judged(scene: Scene, a: Formula) -> list[j.Judgement]:
    return [cast(Proposition, a).atom.judge(p, {}) for p in scene.places.positions]


SENTENCES: dict[str, Callable[..., str | None]] = {
    "called": _called,
    "called_n": _called_n,
    "before": _before,
    "informed": _informed,
    "after": _after,
    "all_before": _all_before,
    "in_order": _in_order,
    "within": _within,
    "instance_before": _instance_before,
    "branch": _branch,
    "precedence": _precedence,
    "existence": _existence,
    "absence": _absence,
    "exactly": _exactly,
    "at_most": _at_most,
    "at_most_once": _at_most_once,
    "init": _init,
    "now": _init,
    "last": _last,
    "no_repeat": _no_repeat,
}
"""For each pattern that has sentences of its own, the function of its arguments."""
