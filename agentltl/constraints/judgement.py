"""Whether something is true of one event: yes, no, undecidable, or not known yet.

A judgement is a pair: how far it is true, and how far its negation is.
Each part is `F`, `U` (rests on an outcome that is still to come) or `T`, so the third value of Kleene's logic is the
pair in which neither is true, and negation swaps the two.
"""

from __future__ import annotations

from collections.abc import Iterable

F, U, T = 0, 1, 2
Judgement = tuple[int, int]

YES: Judgement = (T, F)
NO: Judgement = (F, T)
UNDECIDABLE: Judgement = (F, F)
RUNNING: Judgement = (U, U)


def of(truth: bool) -> Judgement:
    return YES if truth else NO


def opposite(judgement: Judgement) -> Judgement:
    return judgement[1], judgement[0]


def every(judgements: Iterable[Judgement]) -> Judgement:
    """Kleene's conjunction; of nothing: yes."""
    true, false = T, F
    for t, f in judgements:
        true, false = min(true, t), max(false, f)
        if false == T:
            return NO
    return true, false


def some(judgements: Iterable[Judgement]) -> Judgement:
    """Kleene's disjunction; of nothing: no."""
    return opposite(every(opposite(j) for j in judgements))
