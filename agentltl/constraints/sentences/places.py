"""How sentences name the calls of a trace and what was asked for: `"fetch" (call #1)`, `at most 2`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from agentltl.constraints.proposition import Tools
from agentltl.constraints.trace import SPECIAL, Position

MOST = 4
"""How many clauses a sentence has."""

ASKS = {
    "=": "exactly {k}", "!=": "any number but {k}", "<": "fewer than {k}",
    "<=": "at most {k}", ">": "more than {k}", ">=": "at least {k}",
}  # fmt: skip


class Places:
    """The positions of a rule on a trace, and how sentences name them: calls count from 1, `final_answer` does not."""

    def __init__(self, positions: Sequence[Position], *, ended: bool) -> None:
        self.positions, self.ended = positions, ended
        calls = positions[0].calls if positions else ()
        self._numbers = list(accumulate(int(call.tool not in SPECIAL) for call in calls))

    def __len__(self) -> int:
        return len(self.positions)

    def call(self, i: int) -> str:
        """`call #3`."""
        position = self.positions[i]
        number = self._numbers[position.index]
        if position.call.tool not in SPECIAL:
            return f"call #{number}"
        return f"`{position.call.tool}` after call #{number}" if number else f"`{position.call.tool}`"

    def at(self, i: int) -> str:
        """`(call #3)`, in brackets after the name of a tool."""
        position = self.positions[i]
        number = self._numbers[position.index]
        if position.call.tool not in SPECIAL:
            return f"(call #{number})"
        return f"(after call #{number})" if number else "(at the start)"

    def several(self, places: Sequence[int]) -> str:
        """`(calls #1, #3)`."""
        if len(places) == 1:
            return self.at(places[0])
        shown = [f"#{self._numbers[self.positions[i].index]}" for i in places[:6]]
        return f"(calls {', '.join(shown)}{', ...' if len(places) > 6 else ''})"

    def counted(self, what: str, places: Sequence[int], proposed: int | None) -> str:
        """`"fetch" was called 2 times (calls #1, #3)`; of a last call that is only `proposed`, that it is one more."""
        if not places or places[-1] != proposed:
            return f"{what} was called {times(len(places))} {self.several(places)}"
        if len(places) == 1:
            return f"{self.call(proposed)} is {what}"
        earlier = places[:-1]
        return f"{what} was called {times(len(earlier))} {self.several(earlier)}, and {self.call(proposed)} is one more"


def times(number: object) -> str:
    return "once" if number == 1 else f"{number} times"


def tools_text(tools: Tools) -> str:
    """`"fetch"`; a group by its name."""
    if tools.group is not None:
        return f"@{tools.group}"
    names = sorted(tools.members)
    if names == ["*"]:
        return "a tool"
    return " or ".join(f'"{name}"' for name in names)


def sentence(clauses: Sequence[str]) -> str:
    """Clauses as one sentence."""
    shown = list(clauses[:MOST])
    if len(clauses) > MOST:
        shown.append("one more fact" if len(clauses) == MOST + 1 else f"{len(clauses) - MOST} more facts")
    comma = "," if any(part in clause for clause in shown for part in (", ", " and ", " or ", ' is "', "`")) else ""
    text = ", ".join(shown[:-1]) + f"{comma} and " + shown[-1] if len(shown) > 1 else shown[0]
    return f"{text[:1].upper()}{text[1:]}."
