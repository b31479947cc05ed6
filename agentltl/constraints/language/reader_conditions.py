"""From the parse tree of what stands in parentheses and brackets to conditions, paths and values.

Where a path starts depends on where it stands: at the arguments of the call, at its result, or at an element.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from lark import Token, Tree

from agentltl.constraints.compare import Compare, Condition, Flag, Literal_, Operand, Present, Var
from agentltl.constraints.comparison import KINDS, regex
from agentltl.constraints.language import lexicon
from agentltl.constraints.language.faults import Fault
from agentltl.constraints.path import Every, Filter, Index, Key, Path, Root, Some, Step
from agentltl.constraints.value import Json, freeze, kind
from agentltl.errors import FormulaError

Part = Token | Tree[Token]
Place = Literal["call", "outcome", "element"]

STARTS: dict[Place, Root] = {"call": "args", "outcome": "result", "element": "it"}
"""The root at which a path starts unless its first word says another."""
OUTCOME = ("text", "error", "status", "duration")
RIGHT: dict[str, tuple[str, ...]] = {
    "~": ("text",), "!~": ("text",), "=~": ("text",), "!=~": ("text",), "in": ("list",), "not in": ("list",),
    "<": ("number", "text"), "<=": ("number", "text"), ">": ("number", "text"), ">=": ("number", "text"),
}  # fmt: skip
"""What a literal on the right of a comparison must be for the comparison ever to be decided."""


class placed:
    """`with placed(part)`: a fault found inside gets the place of the part, unless it has one."""

    __slots__ = ("part",)

    def __init__(self, part: Part) -> None:
        self.part = part

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, Fault):
            raise error.at(*span(self.part)) from None
        if isinstance(error, FormulaError):
            raise Fault(error.problem, error.hint).at(*span(self.part)) from None


def span(part: Part) -> tuple[int, int]:
    """Where a part starts in the text, and its width: from its first sign to its last."""
    first = last = part
    while isinstance(first, Tree):
        first = first.children[0]
    while isinstance(last, Tree):
        last = last.children[-1]
    start, end = first.start_pos or 0, last.end_pos or 0
    return start, end - start


def listed(parts: list[Part]) -> list[Part]:
    """What stands between brackets, without them and the commas."""
    return parts[1:-1:2]


def conditions(parts: list[Part], place: Place) -> tuple[Condition, ...]:
    return tuple(_condition(part, place) for part in parts if isinstance(part, Tree))


def _condition(tree: Tree[Token], place: Place) -> Condition:
    side, *rest = tree.children
    left = _tree(side)
    flag = str(left.children[0]) if _plain(left) else ""
    if place == "outcome" and flag in ("ok", "failed"):
        if rest or len(left.children) > 1:
            fault = f"`{flag}` says how the call settled, it has no value"
            raise Fault(fault, f"a key of that name in the result is `result.{flag}`").at(*span(left))
        return Flag("ok" if flag == "ok" else "failed")
    path = absolute(left, place)
    return Compare(path, *comparison(rest, place)) if rest else Present(path)


def _plain(path: Tree[Token]) -> bool:
    """The path starts with a bare word."""
    return path.data == "path" and _token(path.children[0]).type == "KEY"


def comparison(parts: list[Part], place: Place) -> tuple[str, Operand]:
    """The operator and the right side of a comparison."""
    op, right = " ".join(_token(parts[0]).split()), parts[1]
    if op in ("is", "is not"):
        word = str(right)
        if word not in KINDS:
            like = lexicon.near(word, KINDS)
            hint = f"did you mean `{like}`?" if like else f"the kinds are: {', '.join(KINDS)}"
            raise Fault(f"`{word}` is no kind of value", hint).at(*span(right))
        return op, Literal_(word)
    operand = right_side(right, place)
    if isinstance(operand, Literal_):
        _check_right(op, operand.value, right)
    return op, operand


def _check_right(op: str, value: Json, part: Part) -> None:
    wanted = RIGHT.get(op)
    if wanted is not None and kind(value) not in wanted:
        example = {"list": '["a", "b"]', "text": '"..."'}.get(wanted[0], "100")
        raise Fault(
            f"`{op}` compares with a {' or a '.join(wanted)}, not with {lexicon.literal(value)}",
            f"write {op} {example}",
        ).at(*span(part))
    if op in ("=~", "!=~"):
        import re2

        try:
            regex(value)
        except re2.error as error:
            reason = error.args[0] if error.args else error
            reason = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
            raise Fault(f"this is no regular expression: {reason}", _re2_hint(value)).at(*span(part)) from None


def _re2_hint(pattern: str) -> str:
    if any(mark in pattern for mark in ("(?=", "(?!", "(?<=", "(?<!")) or any(
        f"\\{d}" in pattern for d in range(1, 10)
    ):
        return "look-around and back references are not in RE2, which is linear in the text"
    return "the syntax is RE2's; `~` takes a simple glob with * and ?"


def right_side(part: Part, place: Place) -> Operand:
    """A literal, a variable, or a path with a dot before it."""
    tree = _tree(part)
    match str(tree.data):
        case "variable":
            return Var(_token(tree.children[0])[1:])
        case "relative":
            return _path(tree.children[1:], place, relative=True)
        case "length":
            path = _path(_tree(tree.children[2]).children[1:], place, relative=True)
            return Path(path.root, path.steps, True)
        case _:
            return Literal_(freeze(value(tree)))


def absolute(part: Part, place: Place) -> Path:
    """A path on the left of a comparison, or what a sum adds up."""
    tree = _tree(part)
    if tree.data == "length":
        path = _path(_tree(tree.children[2]).children, place, relative=False)
        return Path(path.root, path.steps, True)
    return _path(tree.children, place, relative=False)


def _path(parts: list[Part], place: Place, relative: bool) -> Path:
    first, *rest = parts
    word = _token(first)
    steps = tuple(_step(part) for part in rest)
    if word.type == "KEY":
        root, taken = _root(word, steps, place, relative, rest)
        if root is not None:
            return Path(root, steps[taken:])
    return Path(STARTS[place], (_step(word), *steps))


def _root(
    word: Token, steps: tuple[Step, ...], place: Place, relative: bool, rest: list[Part]
) -> tuple[Root | None, int]:
    """The root that a first word names, if it names one, and how many steps after it belong to the name."""
    if word == "args" and (place == "call" or relative):
        return "args", 0
    if place == "call":
        return {"tool": "tool", "agent": "agent"}.get(word), 0  # type: ignore[return-value]
    if place == "element":
        return ("it" if word == "it" else None), 0
    if word == "result":
        return "result", 0
    if word in ("ok", "failed"):
        raise Fault(f"`.{word}` has no value", f"a key of that name in the result is `.result.{word}`").at(*span(word))
    if word != "outcome":
        return None, 0
    known = ", ".join(f"outcome.{name}" for name in OUTCOME)
    if not steps or not isinstance(steps[0], Key):
        hint = f"there are: {known}; a key of that name in the result is `result.outcome`"
        raise Fault("`outcome` alone is no path", hint).at(*span(word))
    name = steps[0].name
    if name not in OUTCOME:
        like = lexicon.near(name, OUTCOME)
        hint = f"did you mean `outcome.{like}`?" if like else f"there are: {known}"
        raise Fault(f"unknown path `outcome.{name}`", hint).at(*span(rest[0]))
    return name, 1  # type: ignore[return-value]


def _step(part: Part) -> Step:
    if isinstance(part, Token):
        with placed(part):
            return Key(lexicon.unquoted(part) if part.type == "TEXT" else str(part))
    match str(part.data):
        case "index":
            digits = _token(part.children[1])
            if len(digits) > 9:
                raise Fault("the index is too large", "elements are counted from 0").at(*span(digits))
            return Index(int(digits))
        case "some":
            return Some()
        case "every":
            return Every()
        case _:
            return Filter(conditions(part.children, "element"))


def value(tree: Tree[Token]) -> Json:
    """A JSON value."""
    parts = tree.children
    match str(tree.data):
        case "text":
            return _placed(parts[0], lexicon.unquoted)
        case "number":
            return _placed(parts[0], lexicon.number)
        case "word":
            return {"true": True, "false": False, "null": None}[_token(parts[0])]
        case "list":
            return [value(_tree(part)) for part in listed(parts)]
        case _:
            return _object(parts)


def _object(parts: list[Part]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for name, member in zip(parts[1:-1:3], parts[2:-1:3], strict=True):
        key = _placed(name, lexicon.unquoted)
        if key in found:
            raise Fault(f"the key {lexicon.quoted(key)} stands twice", "keep one of them").at(*span(name))
        found[key] = value(_tree(member))
    return found


def _placed(part: Part, read: Callable[[str], Json]) -> Json:
    with placed(part):
        return read(str(part))


def _token(part: Part) -> Token:
    assert isinstance(part, Token)
    return part


def _tree(part: Part) -> Tree[Token]:
    assert isinstance(part, Tree)
    return part
