"""The joint view: what rules can still become together, over the calls worth trying.

Rules are given as monitors, so a question can be asked before the first event (`Monitor.of`) or in the midst of a run.
An answer is searched over a few of the rules and tried on all of them: a rule that it breaks joins the search.
So rules that do not matter cost nothing, what is found is the shortest, and it breaks no rule.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations
from math import comb

from agentltl.constraints.ahead import Ahead
from agentltl.constraints.alphabet import alphabet, letter_atoms
from agentltl.constraints.limits import DEFAULT
from agentltl.constraints.monitor import Monitor
from agentltl.constraints.search import Aim, Budget, Exhausted, Search, step
from agentltl.constraints.trace import Call
from agentltl.constraints.value import Json
from agentltl.constraints.verdict import Truth

CAP = DEFAULT.joint
"""How many joint states and monitor steps one question may cost."""
FEW = 64
"""How many sets of rules are tried, of each size, in search of a smaller conflict."""
START = Ahead()


class Answer(Enum):
    """Whether there is a continuation."""

    YES = "yes"
    NO = "no"
    """proved: there is none whatsoever"""
    UNKNOWN = "unknown"
    """the cap was reached, or the calls tried are not all that matter"""


@dataclass(frozen=True, slots=True)
class Found:
    """An answer; `calls` is a shortest continuation if it is YES.

    `rules` are the numbers of the rules that were searched together: if it is NO, these alone admit no continuation.
    `capped`: the cap was reached. `complete`: the calls tried are all that matter, so none is shorter.
    """

    answer: Answer
    calls: tuple[Call, ...] = ()
    rules: tuple[int, ...] = ()
    capped: bool = False
    complete: bool = True


def holds(monitor: Monitor, ahead: Ahead = START) -> bool:
    """The aim that the rule is satisfied if the trace ends here."""
    return monitor.verdict.truth in (Truth.PTRUE, Truth.TRUE)


def fails(monitor: Monitor, ahead: Ahead = START) -> bool:
    """The aim that the rule is not satisfied if the trace ends here."""
    return monitor.verdict.truth in (Truth.PFALSE, Truth.FALSE)


def breaks(monitor: Monitor, ahead: Ahead = START) -> bool:
    """The aim that the rule has just been broken. It must be free to break."""
    return monitor.broken is not None


def anything(monitor: Monitor, ahead: Ahead = START) -> bool:
    """The aim of a rule that must not break, and of which no more is asked."""
    return True


def reach(
    monitors: Sequence[Monitor],
    aims: Sequence[Aim] | None = None,
    *,
    free: Collection[int] = (),
    forgiven: bool = False,
    ahead: Ahead = START,
    values: Sequence[Json] = (),
    tools: Sequence[str] = (),
    permitted: Callable[[Call], bool] | None = None,
    cap: int = CAP,
    deepest: int | None = None,
) -> Found:
    """The shortest continuation (the empty one, too) after which each rule meets its aim (default: all hold).

    No rule may break on the way, except those whose numbers are in `free`: they stay broken, or are `forgiven` and go
    on. `ahead` is the trace so far; `values` are tried for variables, and `tools` as names for globs. Only `permitted`
    calls are tried, and NO speaks of these; `deepest` is how many calls a continuation may have.
    Calls that still run stay so: a rule that rests on one neither holds nor fails.
    """
    goals = [holds] * len(monitors) if aims is None else list(aims)
    for i, (monitor, aim) in enumerate(zip(monitors, goals, strict=True)):
        if aim is holds and monitor.verdict.truth is Truth.FALSE:
            return Found(Answer.NO, rules=(i,))
    question = _Question(monitors, goals, free, forgiven, ahead, values, tools, permitted)
    every = range(len(monitors))
    found = question.answer(every, Budget(cap, deepest))
    if found.answer is Answer.UNKNOWN and not found.capped:
        exact = [i for i in every if letter_atoms(monitors[i].rule) is not None]
        if set(found.rules) - set(exact):  # the exact rules alone may prove what all of them do not
            proof = question.answer(exact, Budget(cap, deepest))
            return proof if proof.answer is Answer.NO else found
    return found


@dataclass(frozen=True, slots=True)
class _Question:
    """What `reach` is asked."""

    monitors: Sequence[Monitor]
    aims: Sequence[Aim]
    free: Collection[int]
    forgiven: bool
    ahead: Ahead
    values: Sequence[Json]
    tools: Sequence[str]
    permitted: Callable[[Call], bool] | None

    def answer(self, chosen: Sequence[int], budget: Budget) -> Found:
        """The answer for the chosen rules: those searched together grow until what is found is right for all."""
        together: tuple[int, ...] = ()
        calls: tuple[Call, ...] = ()
        complete = True
        while True:
            others = (i for i in chosen if i not in together)
            wrong = next((i for i in others if not self.right(i, calls)), None)
            if wrong is None:
                return Found(Answer.YES, calls, together, complete=complete)
            together = tuple(sorted((*together, wrong)))
            tried = alphabet([self.monitors[i].rule for i in together], self.values, self.tools)
            search = Search(
                [self.monitors[i] for i in together],
                [self.aims[i] for i in together],
                {place for place, i in enumerate(together) if i in self.free},
                [call for call in tried.calls if self.permitted is None or self.permitted(call)],
                self.ahead,
                budget,
                self.forgiven,
            )
            try:
                path = search.run()
            except Exhausted:
                return Found(Answer.UNKNOWN, rules=together, capped=True)
            complete = tried.complete and not search.failed
            if path is None:
                return Found(Answer.NO if complete else Answer.UNKNOWN, rules=together)
            calls = path

    def right(self, i: int, calls: tuple[Call, ...]) -> bool:
        """Whether a continuation meets the aim of a rule, and does not break it."""
        monitor, now, free = self.monitors[i], self.ahead, i in self.free
        for call in calls:
            after = step(monitor, now, call, forgiven=self.forgiven and free)
            if after is None or (after.broken is not None and not free):
                return False
            monitor, now = after, now.then(call)
        return self.aims[i](monitor, now)


def keeping(
    monitors: Sequence[Monitor],
    *,
    ahead: Ahead = START,
    values: Sequence[Json] = (),
    tools: Sequence[str] = (),
    cap: int = CAP,
) -> tuple[tuple[Call, Answer], ...]:
    """For each call worth trying next, whether all the rules can still hold after it. `cap` is for each call."""
    found: list[tuple[Call, Answer]] = []
    for letter in alphabet([m.rule for m in monitors], values, tools).calls:
        call = ahead.stamped(letter)
        after = [step(monitor, ahead, call) for monitor in monitors]
        steps = [m for m in after if m is not None]
        if any(m.broken is not None for m in steps):
            found.append((call, Answer.NO))
        elif len(steps) < len(after):
            found.append((call, Answer.UNKNOWN))
        else:
            answer = reach(steps, ahead=ahead.then(call), values=values, tools=tools, cap=cap).answer
            found.append((call, answer))
    return tuple(found)


def conflict(
    monitors: Sequence[Monitor],
    *,
    ahead: Ahead = START,
    values: Sequence[Json] = (),
    tools: Sequence[str] = (),
    cap: int = CAP,
) -> tuple[int, ...] | None:
    """The numbers of a minimal set of rules which no continuation satisfies together; None where none is proved.

    It is the smallest where the sets to be tried are few. Each search has the whole `cap`.
    """

    def dead(numbers: Sequence[int]) -> tuple[int, ...] | None:
        rules = [monitors[i] for i in numbers]
        found = reach(rules, ahead=ahead, values=values, tools=tools, cap=cap)
        return tuple(numbers[i] for i in found.rules) if found.answer is Answer.NO else None

    core = dead(range(len(monitors)))
    if core is None:
        return None
    for i in core:
        if i in core and len(core) > 1:
            core = dead([k for k in core if k != i]) or core
    for size in range(1, len(core)):
        if comb(len(monitors), size) > FEW:
            break
        for few in combinations(range(len(monitors)), size):
            if dead(few):
                return few
    return core
