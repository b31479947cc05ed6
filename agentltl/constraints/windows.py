"""What looks back over a stretch of events: `O` and `H` with a bound, `count` and `sum`, with a window or without."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, cast

from agentltl.constraints import judgement as j
from agentltl.constraints.formula import Apply, Limit, Window
from agentltl.constraints.operators import COUNT
from agentltl.constraints.registers import Slot
from agentltl.constraints.residual import FALSE, TRUE, Residual
from agentltl.constraints.scope import opposite
from agentltl.constraints.tally import Tally, amount, clock

if TYPE_CHECKING:
    from agentltl.constraints.here import Here


def near(here: Here, node: Apply) -> Residual:
    """`O` and `H` with a bound: over the values at the positions that the bound reaches."""
    result = TRUE if node.op.edge else FALSE
    for slot in slots(here, node):
        result = result & slot.value if node.op.edge else result | slot.value
    return result


def slots(here: Here, node: Apply) -> tuple[Slot, ...]:
    """The window of a bounded operator, this event included and what has left it forgotten."""
    window = cast(Window, node.window)
    now = clock(here.position) if window.timed else Fraction(here.index)
    old = cast(tuple[Slot, ...], here.registers.slots[node])
    slots = [Slot(s.at, here.progress(s.value)) for s in old if now - s.at <= window.size]
    slots.append(Slot(now, here.value(node.args[0])))
    neutral = TRUE if node.op.edge else FALSE
    return tuple(s for s in slots if s.value is not neutral)


def tally(here: Here, node: Apply) -> Tally:
    """What a `count` or `sum` has added up, this event included."""
    old = here.registers.slots[node]
    judged, much = counted(here, node)
    if node.window is None:
        return cast(Tally, old).add(judged, much)
    total = Tally()
    for at in counted_slots(here, node, judged, much):
        total = total.add(at.judged, at.amount)
    return total


def counted(here: Here, node: Apply) -> tuple[j.Judgement, Fraction | float | int | None]:
    """How far this event counts, and by how much."""
    judged = (here.value(node.args[0]).at_end(), here.value(opposite(node)).at_end())
    much = 1 if node.op is COUNT else amount(here.position, cast(Limit, node.detail).path)
    return judged, much


def counted_slots(
    here: Here, node: Apply, judged: j.Judgement, much: Fraction | float | int | None
) -> tuple[Slot, ...]:
    """The events of a window that count, this one included."""
    window = cast(Window, node.window)
    now = clock(here.position) if window.timed else Fraction(here.index)
    reach = window.size if window.timed else window.size - 1
    old = cast(tuple[Slot, ...], here.registers.slots[node])
    kept = tuple(s for s in old if now - s.at <= reach)
    return kept if judged == j.NO else (*kept, Slot(now, TRUE, judged, much))
