"""One condition on one call in words: which value it found, and how that compares.

`amount` of call #3 is 500, not <= 100.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentltl.constraints import judgement as j
from agentltl.constraints.compare import Compare, Literal_, Operand, Present, Var
from agentltl.constraints.comparison import TESTS
from agentltl.constraints.judgement import Judgement
from agentltl.constraints.language.show_conditions import Place
from agentltl.constraints.language.show_conditions import path_text as show_path
from agentltl.constraints.path import OTHER, Env, Every, Filter, Frame, Key, Path, Some, find, reached
from agentltl.constraints.trace import ABSENT, Call
from agentltl.constraints.value import Json, kind
from agentltl.constraints.value import show as show_value

LONGEST = 80
"""How many characters of a value a sentence shows."""

_RELATIONS = {
    "=": ("{l}", "{l}, not {r}"),
    "~": ("{l}, which matches {r}", "{l}, which does not match {r}"),
    "=~": ("{l}, which matches {r}", "{l}, which does not match {r}"),
    "in": ("{l}, which is in {r}", "{l}, which is not in {r}"),
    "has": ("{l}, which has {r}", "{l}, which does not have {r}"),
    "is": ("{l}, a {r}", "{l}, no {r}"),
}
_OPPOSITES = {"!=": "=", "!~": "~", "!=~": "=~", "not in": "in", "not has": "has", "is not": "is"}


def value_text(value: Json) -> str:
    """A value as JSON, cut where it is long."""
    text = show_value(value)
    if len(text) <= LONGEST:
        return text
    return text[: LONGEST - 2].rstrip("\\") + '…"' if isinstance(value, str) else text[: LONGEST - 1] + "…"


def path_text(path: Path) -> str:
    """A path as it is written in a rule."""
    inside: Place = "element" if path.root == "it" else "call" if path.root in ("args", "tool", "agent") else "outcome"
    return show_path(path, inside)


def relation(op: str, judged: Judgement, left: Json, right: Json, shown: str | None = None) -> str:
    """How two values compare: `500, not <= 100`. `shown` names the right side where it is no literal."""
    words = {"l": value_text(left), "r": shown or (str(right) if op in ("is", "is not") else value_text(right))}
    if judged in (j.YES, j.NO):
        truth, base = judged == j.YES, op
        if op in _OPPOSITES:
            truth, base = not truth, _OPPOSITES[op]
        if base in _RELATIONS:
            return _RELATIONS[base][0 if truth else 1].format(**words)
        return (f"{{l}} ({base} {{r}})" if truth else f"{{l}}, not {base} {{r}}").format(**words)
    if op in ("~", "!~", "=~", "!=~"):
        why = "no text" if kind(left) != "text" else "no text to match"
        return "{l}, which is {w}".format(w=why, **words)
    if op in ("has", "not has"):
        return "{l}, which is no list, text or object".format(**words)
    return "{l}, which cannot be compared with {r}".format(**words)


def operand_text(right: Operand, call: Call, env: Env) -> tuple[Json, str | None]:
    """The value of the right side (`ABSENT` if there is none), and its name where it is a path."""
    match right:
        case Literal_(value):
            return value, None
        case Var(name):
            return env.get(name, OTHER), f"?{name}" if env.get(name, OTHER) is OTHER else None
        case Path():
            value = next(reached(right, Frame(call)), ABSENT)
            name = f"`{path_text(right)}`"
            return value, f"{name}, which is missing" if value is ABSENT else f"{name}, which is {value_text(value)}"


@dataclass(frozen=True, slots=True)
class Finding:
    """What stands at a path of a call: `value` and how it compares ("500, not <= 100"), or else `state` ("missing")."""

    path: Path
    value: str = ""
    state: str = ""

    def of(self, place: str) -> str:
        """As a clause of its own; `place` names the call: `call #3`."""
        inside = "in the result " if self.in_result else ""
        return f"`{path_text(self.path)}` {inside}of {place} is {self.value or self.state}"

    @property
    def in_result(self) -> bool:
        return self.path.root == "result" and bool(self.path.steps)

    @property
    def had(self) -> str:
        """What the call has or has returned: "`amount` 500, not <= 100"; empty where that is no way to put it."""
        if self.path.root == "tool":
            return ""
        name = f"`{path_text(self.path)}`"
        if self.value:
            return f"{name} {self.value}"
        return {"missing": f"no {name}", "there": name}.get(self.state, "")


def finding(condition: Compare | Present, call: Call, env: Env) -> Finding:
    """Why a condition is true, false or undecidable of a call."""
    path, judged = condition.path, condition.judge(Frame(call), env)
    if isinstance(condition, Present):
        return Finding(path, state="there") if judged == j.YES else _nothing(path, call)
    right, shown = operand_text(condition.right, call, env)
    if right is ABSENT:
        return Finding(path, state=f"compared with {shown}")
    test = TESTS[condition.op]
    for left in _found(path, call, env):
        if test(left, right) == judged:
            return Finding(path, relation(condition.op, judged, left, right, shown))
    return _nothing(path, call)


def says_more(condition: Compare | Present, others: Sequence[Compare | Present]) -> bool:
    """Whether a true condition tells what none of the others shows anyway.

    That something is there, or is a list, is seen where a value at the same path (or one inside it) is told, on either
    side of a comparison.
    """
    if isinstance(condition, Compare) and condition.op != "is":
        return True
    root, steps = condition.path.root, condition.path.steps
    return not any(
        path.root == root and path.steps[: len(steps)] == steps
        for other in others
        if isinstance(other, Compare) and (other.op != "is" or isinstance(condition, Present))
        for path in (other.path, other.right)
        if isinstance(path, Path)
    )


def no_number(path: Path, call: Call) -> Finding:
    """What stands at a path in place of a number."""
    for value in reached(path, Frame(call)):
        if kind(value) != "number" or value != value:
            return Finding(path, f"{value_text(value)}, which is no number")
    return _nothing(path, call)


def _found(path: Path, call: Call, env: Env) -> list[Json]:
    """The values to which a path leads, those that its filters let through."""
    found: list[Json] = []

    def leaf(value: Json) -> Judgement:
        found.append(value)
        return j.UNDECIDABLE  # so that none decides and every one is looked at

    find(path, Frame(call), env, leaf)
    return found


def settled_text(call: Call) -> str:
    """How a call settled."""
    outcome = call.outcome
    if outcome is None:
        return "still runs"
    return "failed" if outcome.failed else "succeeded" if outcome.ok else "never settled"


def _nothing(path: Path, call: Call) -> Finding:
    """What stands in the way of a path that leads to no value that decides."""
    frame = Frame(call)
    told = Finding(path, state="missing")
    for k in range(len(path.steps) + 1):
        here = Path(path.root, path.steps[:k])
        values = list(reached(here, frame))
        if not values:
            return Finding(here, state=_missing(here, call))
        value = value_text(values[0])
        told = Finding(here, value)
        step = path.steps[k] if k < len(path.steps) else None
        wanted = "object" if isinstance(step, Key) else "list" if step is not None else ""
        if wanted and kind(values[0]) != wanted:
            return Finding(here, f"{value}, which is no {wanted}")
        if step is None and path.length:
            return Finding(here, f"{value}, which has no length")
        if isinstance(step, Filter):
            return Finding(here, f"{value}, and no element is known to match")
        if isinstance(step, Some | Every) and not values[0]:
            return told
    return told


def _missing(path: Path, call: Call) -> str:
    if path.root in ("result", "text", "error", "status") and call.outcome is None:
        return "not known yet"
    return "missing"


__all__ = [
    "Finding", "finding", "no_number", "operand_text", "path_text", "relation", "says_more", "settled_text",
    "value_text",
]  # fmt: skip
