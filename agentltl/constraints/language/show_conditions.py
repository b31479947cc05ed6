"""Writing what is asked of one event: calls, facts, conditions, paths."""

from __future__ import annotations

from typing import Literal, NoReturn

from agentltl.constraints import facts
from agentltl.constraints.compare import Compare, Condition, Flag, Literal_, Operand, Present, Var
from agentltl.constraints.language.lexicon import check_tool_name, is_name, literal, quoted, tool_name
from agentltl.constraints.path import Every, Filter, Index, Key, Path, Some, Step
from agentltl.constraints.proposition import Called, Tools
from agentltl.errors import FormulaError

Place = Literal["call", "outcome", "element"]

_OWN = {"call": "args", "outcome": "result", "element": "it"}
_TAKEN = {
    "call": frozenset({"args", "tool", "agent"}),
    "outcome": frozenset({"result", "ok", "failed", "outcome"}),
    "element": frozenset({"it", "all"}),
}
"""First words of a path that are no keys: such a key is written after the root (`args.tool`)."""


def _refuse(problem: str) -> NoReturn:
    raise FormulaError(problem, hint="parse the rule from a text instead")


def atom_text(atom: object) -> str:
    """What stands in a proposition."""
    match atom:
        case Called(tools, args, outcome):
            bare = bool(args) and all(isinstance(c, Present) for c in args)
            text = tools_text(tools, bare_paths=bare, parenthesis=bool(args))
            if args:
                text += f"({_conditions(args, 'call')})"
            return text + f"[{_conditions(outcome, 'outcome')}]" if outcome else text
        case facts.Said(what):
            return f"said({operand_text(what)})"
        case facts.Seen(what, tools):
            return f"seen({', '.join([operand_text(what), *(tools_text(t) for t in tools)])})"
        case facts.Words(which, op, right):
            return f"{which} {_compared(op, right, 'call')}"
        case facts.SameStep():
            return "same_step"
        case facts.First():
            return "first"
        case facts.Predicate(name, operands):
            return f"${name}({', '.join(operand_text(o) for o in operands)})"
    _refuse(f"a rule cannot say {atom!r}")


def tools_text(tools: Tools, bare_paths: bool = False, parenthesis: bool = False) -> str:
    """A tool name, a glob, or the name of a group."""
    if tools.group is not None:
        return "@" + (tools.group if is_name(tools.group) else quoted(tools.group))
    if len(tools.members) != 1:
        _refuse("a rule cannot say several tools at once without the name of a group")
    name = next(iter(tools.members))
    check_tool_name(name)
    return tool_name(name, bare_paths, parenthesis)


def _conditions(conditions: tuple[Condition, ...], place: Place) -> str:
    if not conditions:
        _refuse("a rule cannot say a filter without a condition")
    return ", ".join(condition_text(c, place) for c in conditions)


def condition_text(condition: Condition, place: Place) -> str:
    """One condition, as it is written in parentheses, in brackets or in a filter."""
    match condition:
        case Flag(name) if place == "outcome":
            return name
        case Flag(name):
            _refuse(f"`{name}` stands in brackets after a call")
        case Present(path):
            return path_text(path, place)
        case Compare(path, op, right):
            return f"{path_text(path, place)} {_compared(op, right, place)}"


def _compared(op: str, right: Operand, place: Place) -> str:
    if op in ("is", "is not") and isinstance(right, Literal_):
        return f"{op} {right.value}"
    return f"{op} {operand_text(right, place)}"


def operand_text(operand: Operand, place: Place = "call") -> str:
    """The right side of a comparison, or what a fact asks for."""
    match operand:
        case Literal_(value):
            return literal(value)
        case Var(name):
            return f"?{name}"
        case Path():
            return path_text(operand, place, relative=True)


def path_text(path: Path, place: Place, relative: bool = False) -> str:
    """A path as it is written at a place; on the right side a dot stands before it."""
    start, said = _start(path, place, relative)
    text = ("." if relative else "") + start + "".join(_step(step) for step in path.steps[said:])
    return f"len({text})" if path.length else text


def _start(path: Path, place: Place, relative: bool) -> tuple[str, int]:
    """How a path starts, and how many of its steps that says already."""
    if path.root == _OWN[place]:
        first = path.steps[0] if path.steps else None
        taken = _TAKEN[place] | ({"args"} if relative else frozenset())
        if isinstance(first, Key) and first.name not in taken:
            return _key(first.name), 1
        return path.root, 0
    if path.root == "args" and relative:
        return "args", 0
    if place == "call" and path.root in ("tool", "agent"):
        return path.root, 0
    if place == "outcome" and path.root in ("text", "error", "status", "duration"):
        return f"outcome.{path.root}", 0
    _refuse(f"a rule cannot say a path from `{path.root}` here")


def _key(name: str) -> str:
    return name if is_name(name) else quoted(name)


def _step(step: Step) -> str:
    match step:
        case Key(name):
            return "." + _key(name)
        case Index(index):
            return f"[{index}]"
        case Some():
            return "[*]"
        case Every():
            return "[all]"
        case Filter(conditions):
            return f"[{_conditions(conditions, 'element')}]"
