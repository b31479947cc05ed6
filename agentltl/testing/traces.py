"""Random traces, and random orders in which their calls start and settle."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agentltl.constraints.trace import Call, Message, Outcome, Position, Trace
from agentltl.constraints.value import Json

VALUES: tuple[Json, ...] = (0, 1, 2, "u", "v", "2", True, None, math.nan, "AMOUNT", [1, 2], [], ["u"], {"k": 1})
MESSAGES = ("pay u and 1", "v", "ok: 2")


def random_trace(
    rng: random.Random,
    length: int = 5,
    *,
    tools: Sequence[str] = ("a", "b", "c"),
    keys: Sequence[str] = ("k", "m"),
    values: Sequence[Json] = VALUES,
    messages: Sequence[str] = MESSAGES,
) -> Trace:
    """A trace of `length` calls, all settled, with steps, times and messages of the user.

    `messages` are put in at random places, in their order; one call in ten is a `final_answer`.
    """
    calls, now, step = [], 0.0, 0
    for _ in range(length):
        now += rng.choice((0, 0.5, 1, 2))
        step += rng.choice((0, 1, 1))
        tool = "final_answer" if rng.random() < 0.1 else rng.choice(tools)
        args = {k: rng.choice(values) for k in keys if rng.random() < 0.75}
        calls.append(Call(tool, args, step=step, start=now, outcome=_outcome(rng, now, keys, values)))
    places = sorted(rng.randint(0, length) for _ in messages)
    return Trace(tuple(calls), tuple(Message(text, at) for text, at in zip(messages, places, strict=True)))


def _outcome(rng: random.Random, start: float, keys: Sequence[str], values: Sequence[Json]) -> Outcome:
    end = start + rng.choice((0, 0.25))
    match rng.randrange(6):
        case 0:
            return Outcome.of(error="it failed", end=end)
        case 1:
            return Outcome.of(rng.choice(("u", "v 2", "", "7")), end=end)
        case 2:
            return Outcome.of([rng.choice(values) for _ in range(rng.randint(0, 2))], end=end)
        case _:
            result = {k: rng.choice(values) for k in keys if rng.random() < 0.75}
            return Outcome.of(result, status=rng.choice((None, "u")), end=end)


@dataclass(frozen=True, slots=True)
class Moment:
    """One thing that happens: a call starts or settles. `trace` is what is known after it, `position` the call's."""

    settles: bool
    position: Position
    trace: Trace


def random_play(rng: random.Random, trace: Trace, *, overlap: float = 0.3) -> Iterator[Moment]:
    """A way in which the calls of a trace could have happened, some of them at the same time.

    A call that settles late, after others have started, ends after they started; some never settle.
    """
    calls: list[Call] = []
    running: list[int] = []

    def moment(settles: bool, index: int) -> Moment:
        known = tuple(calls)
        return Moment(settles, Position(known[index], index, known, trace.messages), Trace(known, trace.messages))

    for index, call in enumerate(trace.calls):
        calls.append(Call(call.tool, call.args, call.id, call.step, call.agent, call.start))
        yield moment(False, index)
        running.append(index)
        while running and rng.random() > overlap:
            settled = running.pop(rng.randrange(len(running)))
            outcome = trace.calls[settled].outcome
            assert outcome is not None
            if settled != index:  # it ends after the calls that have started since
                outcome = Outcome(outcome.text, outcome.value, outcome.error, outcome.status, (call.start or 0) + 0.25)
            calls[settled] = calls[settled].settle(outcome)
            yield moment(True, settled)
