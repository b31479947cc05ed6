"""Plans: which calls lead to where a refused call is allowed, or nothing is owed, and how far the next breach is.

Only constraints whose severity refuses restrict a plan; of the shortest plans, one that breaks no other is preferred.
A plan assumes that no time passes and the user says no more, and nothing of calls that still run.
Each one is replayed, call by call as a guard judges them, before it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from agentltl.constraints.ahead import Ahead
from agentltl.constraints.joint import Answer, Found, anything, breaks, reach
from agentltl.constraints.letters import FRESH
from agentltl.constraints.monitor import Monitor
from agentltl.constraints.search import Aim
from agentltl.constraints.trace import Call
from agentltl.constraints.value import Json, Opaque
from agentltl.constraints.verdict import Truth
from agentltl.guard.needed import needed, serves
from agentltl.guard.planned import PlannedCall
from agentltl.guard.scene import Scene

MOST_BITS = 64
"""How many bits of what is owed are discharged one after another where all at once are too many to try."""
BIT = 2_000
"""How many joint states and monitor steps one of them may cost."""


@dataclass(frozen=True, slots=True)
class Plan:
    """`calls` is the shortest plan, None where none was found; then `proved` says that there is none, whatever an agent
    calls, and `capped` that the search was cut short. `shortest`: there is certainly no shorter one, as where the rules
    ask for values in ways of which not all are tried there may be."""

    calls: tuple[PlannedCall, ...] | None
    proved: bool = False
    capped: bool = False
    shortest: bool = True


@dataclass(frozen=True, slots=True)
class Owed:
    """`names` are the constraints with an open obligation, `plan` calls after which nothing is owed; None where there
    are none (`proved`), or none were found. The plan is certainly the `shortest` unless there was too much to try."""

    names: tuple[str, ...]
    plan: tuple[PlannedCall, ...] | None
    proved: bool = False
    shortest: bool = True

    def __bool__(self) -> bool:
        return bool(self.names)


def repair(scene: Scene, call: Call, passed: Collection[str] = ()) -> Plan:
    """The shortest plan after which this call is allowed by all constraints that refuse; empty if it is so now. Those
    of the names `passed` let this call pass, and none of the calls before it."""

    def allows(monitor: Monitor, ahead: Ahead) -> bool:
        try:
            return monitor.step(ahead.position(ahead.stamped(call))).broken is None
        except Exception:  # a rule that cannot judge the call refuses it
            return False

    aims: dict[str, Aim] = {name: anything if name in passed else allows for name in scene.blocking}
    return _plan(scene, aims, scene.values(call.args), goes_on)


def to_end(scene: Scene, names: Sequence[str], answer: Call | None) -> Plan:
    """The shortest plan after which these constraints owe nothing, once the answer (None: no call) has been given."""

    def allows(monitor: Monitor, ahead: Ahead) -> bool:
        return _after(monitor, ahead) is not None

    def ends(monitor: Monitor, ahead: Ahead) -> bool:
        after = _after(monitor, ahead)
        return after is not None and nothing_owed(after, ahead)

    def _after(monitor: Monitor, ahead: Ahead) -> Monitor | None:
        if answer is None:
            return monitor
        try:
            after = monitor.step(ahead.position(ahead.stamped(answer)))
        except Exception:  # a rule that cannot judge the call refuses it
            return None
        return after if after.broken is None else None

    aims: dict[str, Aim] = {**dict.fromkeys(scene.blocking, allows), **dict.fromkeys(names, ends)}
    return _plan(scene, aims, scene.values(), goes_on)


def nothing_owed(monitor: Monitor, ahead: Ahead) -> bool:
    """The aim that the rule has no open obligation; one that rests on a running call has none yet."""
    return monitor.verdict.truth not in (Truth.PFALSE, Truth.FALSE)


def owed(scene: Scene) -> Owed:
    """What is owed, and the shortest plan to owe nothing."""
    names = tuple(c.name for c in scene.constraints if not nothing_owed(scene.monitors[c.name], scene.ahead))
    if not names:
        return Owed((), ())
    aims: dict[str, Aim] = {c.name: nothing_owed for c in scene.constraints}
    plan = _plan(scene, aims, scene.values(), plannable)
    if plan.capped and (calls := _bit_by_bit(scene)) is not None and serves(scene, aims, calls, kept=()):
        return Owed(names, needed(scene, aims, (), calls), shortest=False)
    return Owed(names, plan.calls, plan.proved, plan.shortest)


def _bit_by_bit(scene: Scene) -> tuple[Call, ...] | None:
    """Calls after which nothing is owed, found as the shortest way to owe a little less, again and again."""
    for _ in range(MOST_BITS):
        due = [name for name, monitor in scene.monitors.items() if not nothing_owed(monitor, scene.ahead)]
        if not due:
            return scene.ahead.planned
        before = len(scene.monitors[due[0]].open_values)
        if before > MOST_BITS:
            return None

        def less(monitor: Monitor, ahead: Ahead, before: int = before) -> bool:
            return nothing_owed(monitor, ahead) or len(monitor.open_values) < before

        found = _reach(
            scene, {**dict.fromkeys(scene.blocking, anything), due[0]: less}, scene.tolerated, BIT, plannable
        )
        if found.answer is not Answer.YES:
            return None
        after = {name: scene.played(name, found.calls, keep=False) for name in scene.monitors}
        monitors = {name: end[0] for name, end in after.items() if end is not None}
        if len(monitors) < len(after):
            return None
        ahead = reduce(Ahead.then, found.calls, scene.ahead)
        scene = replace(scene, monitors=monitors, ahead=ahead)
    return None


def distance(scene: Scene) -> int | None:
    """How many calls away the nearest violation of any constraint is: 1 if the next call can be one. None if none can
    come any more, or none was found. The way there breaks nothing, since that would be a nearer one."""
    nearest: int | None = None
    values, tools = scene.values(), scene.tools
    for constraint in scene.constraints:
        monitor = scene.monitors[constraint.name]
        if monitor.verdict.truth is Truth.TRUE:
            continue
        found = reach(
            [monitor],
            [breaks],
            free=[0],
            ahead=scene.ahead,
            values=values,
            tools=tools,
            permitted=plannable,
            cap=scene.cap,
        )
        if found.answer is Answer.YES and (nearest is None or len(found.calls) < nearest):
            nearest = len(found.calls)
        if nearest == 1:
            break
    return nearest


def _plan(scene: Scene, aims: Mapping[str, Aim], values: Sequence[Json], permitted: Callable[[Call], bool]) -> Plan:
    """The shortest plan to the aims. A constraint that does not refuse may be broken, but rather is not."""
    tolerated = scene.tolerated

    def search(names: Sequence[str], free: Sequence[str]) -> tuple[tuple[Call, ...] | None, Plan]:
        wanted = {name: aims.get(name, anything) for name in names}
        found = _reach(scene, wanted, free, scene.cap, permitted, values)
        served = found.answer is Answer.YES and serves(scene, aims, found.calls, kept=())
        return found.calls if served else None, Plan(
            None, found.answer is Answer.NO, found.capped, found.complete or not found.calls
        )

    calls, failure = search(list(aims), tolerated)
    if calls is None:
        return failure
    if tolerated and any(scene.played(name, calls, keep=True) is None for name in tolerated):
        gentle, _ = search([*aims, *(n for n in tolerated if n not in aims)], ())
        calls = gentle if gentle is not None and len(gentle) == len(calls) else calls
    kept = [name for name in tolerated if scene.played(name, calls, keep=True) is not None]
    return Plan(needed(scene, aims, kept, calls), shortest=failure.shortest)


def _reach(
    scene: Scene,
    aims: Mapping[str, Aim],
    free: Sequence[str],
    cap: int,
    permitted: Callable[[Call], bool],
    values: Sequence[Json] | None = None,
) -> Found:
    """The shortest calls to the aims, that break no constraint with an aim but free ones, which are forgiven."""
    return reach(
        [scene.monitors[name] for name in aims],
        list(aims.values()),
        free=[i for i, name in enumerate(aims) if name in free],
        forgiven=True,
        ahead=scene.ahead,
        values=scene.values() if values is None else values,
        tools=scene.tools,
        permitted=permitted,
        cap=cap,
    )


def plannable(call: Call) -> bool:
    """Whether an agent can be asked for a call: it settles, its arguments are an object of plain values, and it is not
    the approval of another one."""
    came = call.outcome
    if came is None or not came.settled or call.tool == "approved" or not isinstance(call.args, dict):
        return False
    values = [*call.args.values(), *(came.value.values() if isinstance(came.value, dict) else ())]
    return not any(isinstance(value, Opaque) for value in values) and FRESH not in call.args.values()


def goes_on(call: Call) -> bool:
    """Whether other calls can come after it, too."""
    return plannable(call) and call.tool != "final_answer"
