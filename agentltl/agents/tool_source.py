"""A function's own text, as the code of a saved tool."""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

from agentltl.errors import ConstraintError

_HEAD = "from typing import Annotated, Any, Literal, Optional, Union\n\nfrom agentltl import tool\n\n\n"
_THERE = {"Annotated", "Any", "Literal", "Optional", "Union", "tool"}


def code_of(function: Callable[..., Any], kind: str, settings: Mapping[str, object]) -> tuple[str, list[str]]:
    """The code of a module in which the class `kind` is that of the tool, and the packages that it needs.

    `ConstraintError` for a function without source text, and for one that uses names of its surroundings.
    """
    where = f"the tool `{function.__name__}` cannot be saved: "
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError) as error:
        raise ConstraintError(f"{where}its source text is not there\ndefine it in a file") from error
    node = tree.body[0]
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        raise ConstraintError(f"{where}its source text is no definition\ndefine it with `def`")
    if outside := sorted(_outside(node)):
        raise ConstraintError(
            f"{where}it uses `{outside[0]}`, which is not in it\nimport or define what it uses inside the function"
        )
    said = ", ".join(f"{name}={value!r}" for name, value in settings.items() if value is not None)
    decorator = f"@tool({said})\n" if said else "@tool\n"
    node.decorator_list = []
    return f"{_HEAD}{decorator}{ast.unparse(node)}\n\n\n{kind} = type({node.name})\n", _packages(node)


def _outside(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The names that the function uses and that its text does not bring."""
    bound = {node.name, *_THERE, *vars(builtins)}
    used: set[str] = set()
    for inner in ast.walk(node):
        match inner:
            case ast.Name(id=name, ctx=ast.Load()):
                if inner not in [n for d in node.decorator_list for n in ast.walk(d)]:
                    used.add(name)
            case ast.Name(id=name) | ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
                bound.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                bound.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                bound.add(name)
            case ast.alias(name=name, asname=other):
                bound.add(other or name.partition(".")[0])
    return used - bound


def _packages(node: ast.AST) -> list[str]:
    """The packages that are imported in the function, and ours."""
    names = {"agentltl", "smolagents"}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in inner.names}
        elif isinstance(inner, ast.ImportFrom) and inner.module and not inner.level:
            names.add(inner.module.partition(".")[0])
    return sorted(names - set(sys.stdlib_module_names))
