"""The calls of one message in waves: each wave runs at once, and is over before the next one is judged.

A wave ends with the first call that could touch a rule. So calls that touch no rule overlap as in smolagents, and a
call that touches one is judged when everything before it, in the model's order, has come to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from smolagents.memory import ToolCall


def in_order(calls: Iterable[ToolCall]) -> list[ToolCall]:
    """The order in which the calls run: the model's, with `final_answer` behind all others."""
    return sorted(calls, key=lambda call: call.name == "final_answer")


def next_wave(
    calls: Sequence[ToolCall], touches: Callable[[ToolCall], bool]
) -> tuple[Sequence[ToolCall], Sequence[ToolCall]]:
    """The next wave, and the calls that come after it. The last call ends a wave whatever it touches."""
    end = next((number for number, call in enumerate(calls[:-1], 1) if touches(call)), len(calls))
    return calls[:end], calls[end:]
