"""The page of public names: each with its signature and what its docstring says."""

from __future__ import annotations

import ast
import enum
import inspect
import textwrap
import typing
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from types import FunctionType

import agentltl
from agentltl import constraints
from reference.markdown import NOTE, fenced, first_paragraph, member_docs, sentences, table

INTRO = """# Public names

Every name here is imported from `agentltl`; the rest of the package may change.
The names about rules alone are in `agentltl.constraints`, too, which needs no agent framework.
"""

SECTIONS = {
    "Rules and traces": "agentltl.constraints.",
    "Formulas from Python": "agentltl.constraints.constructors",
    "The guard": "agentltl.guard.",
    "Agents": "agentltl.agents.",
    "Results and events": "agentltl.record.",
    "Errors": "agentltl.errors",
}
CONSTRUCTORS = ("agentltl.constraints.constructors", "agentltl.constraints.pattern_constructors")
BESIDES = {"For tests": ("agentltl.agents.models.scripted", ("ScriptedModel", "Reply"))}
"""Names that are imported from elsewhere: the title of their section, the module, the names."""

WITH_MODULE = {"Event"}
"""Names below which the docstring of their module stands, too: it has a table that they speak of."""

WIDTH = 100


def page() -> str:
    """The text of the page."""
    by_section: dict[str, list[str]] = {title: [] for title in SECTIONS}
    for name in public_names():
        by_section[_section(name)].append(name)
    parts = [NOTE, INTRO]
    for title, names in by_section.items():
        parts.append(f"\n## {title}\n")
        parts += [_entry(name, getattr(agentltl, name)) for name in sorted(names)]
    for title, (module, others) in BESIDES.items():
        parts.append(f"\n## {title}\n\nThese are imported from `{module}`.\n")
        parts += [_entry(name, getattr(import_module(module), name)) for name in others]
    return "".join(parts)


def public_names() -> list[str]:
    """The public names of the package."""
    return sorted({*agentltl._HOME_OF, *constraints.__all__})


def _section(name: str) -> str:
    home = agentltl._HOME_OF.get(name) or f"agentltl.constraints.{constraints._HOME_OF[name]}"
    if home in CONSTRUCTORS:
        return "Formulas from Python"
    return next(title for title, prefix in SECTIONS.items() if home.startswith(prefix))


def _entry(name: str, thing: object) -> str:
    parts = [f"\n### `{name}`\n\n"]
    if isinstance(thing, type):
        parts += _class(name, thing)
    elif callable(thing) and not typing.get_args(thing):
        parts += [fenced(signature(name, thing), "text"), "\n", sentences(_doc(thing)), "\n"]
    else:
        parts.append(f"One of {', '.join(f'`{value}`' for value in typing.get_args(thing))}.\n")
    return "".join(parts)


def _class(name: str, cls: type) -> Iterator[str]:
    if issubclass(cls, enum.Enum):
        yield sentences(_doc(cls)) + "\n\n"
        docs = member_docs(cls)
        yield table(("name", "meaning"), [(f"`{member.name}`", docs[member.name]) for member in cls])
    elif issubclass(cls, BaseException):
        bases = ", ".join(f"`{base.__name__}`" for base in cls.__bases__)
        yield f"{sentences(_doc(cls))}\n\nBases: {bases}.\n"
    else:
        yield fenced(signature(name, cls), "text")
        yield f"\n{sentences(_doc(cls))}\n"
    if name in WITH_MODULE:
        about = inspect.cleandoc(import_module(cls.__module__).__doc__ or "").split("\n\n", 1)[1]
        yield f"\n{sentences(about)}\n"
    own = [c for c in cls.__mro__ if c is cls or (c.__module__.startswith("agentltl.") and c.__bases__ == (object,))]
    # The others have a section of their own, or are part of a class that has one.
    named_bases = [c for c in cls.__mro__[1:] if c.__name__ in agentltl.__all__]
    own = [c for c in own if c is cls or not any(issubclass(base, c) for base in named_bases)]
    named = dict.fromkeys(member for c in own for member in vars(c) if not member.startswith("_"))
    members = [line for member in named if (line := _member(cls, member))]
    if members:
        yield "\n" + "".join(members)


def _member(cls: type, name: str) -> str | None:
    """A method or a property that has a docstring, as an item of a list."""
    raw = inspect.getattr_static(cls, name)
    thing = raw.__func__ if isinstance(raw, classmethod | staticmethod) else raw
    if isinstance(thing, property | cached_property):
        return f"- `.{name}`: {first_paragraph(thing.__doc__)}\n" if thing.__doc__ else None
    if not isinstance(thing, FunctionType) or not thing.__doc__:
        return None
    shown = f"{cls.__name__ if thing is not raw else ''}.{name}"
    return (
        f"- `{signature(shown, thing, method=not isinstance(raw, staticmethod))}`: {first_paragraph(thing.__doc__)}\n"
    )


def _doc(thing: object) -> str:
    doc = inspect.getdoc(thing)
    assert doc, f"{thing!r} has no docstring"
    return doc


def signature(name: str, thing: object, *, method: bool = False) -> str:
    """`name(parameters) -> result`, one parameter a line where it is long and not a method's."""
    assert callable(thing)
    found, written = inspect.signature(thing), _written(thing)
    parameters = list(found.parameters.values())[1 if method else 0 :]
    shown: list[str] = []
    kind = None
    for parameter in parameters:
        if kind is inspect.Parameter.POSITIONAL_ONLY and parameter.kind is not kind:
            shown.append("/")
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and kind not in (
            inspect.Parameter.KEYWORD_ONLY,
            inspect.Parameter.VAR_POSITIONAL,
        ):
            shown.append("*")
        kind = parameter.kind
        shown.append(_parameter(parameter, written))
    result = "" if isinstance(thing, type) else f" -> {written.get('return') or _annotation(found.return_annotation)}"
    line = f"{name}({', '.join(shown)}){result}"
    if len(line) <= WIDTH or method:
        return line
    return f"{name}(\n" + "".join(f"    {text},\n" for text in shown) + f"){result}"


def _parameter(parameter: inspect.Parameter, written: Mapping[str, str]) -> str:
    stars = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(parameter.kind.name, "")
    text = stars + parameter.name
    if parameter.annotation is not inspect.Parameter.empty:
        text += f": {written.get(parameter.name) or _annotation(parameter.annotation)}"
    if parameter.default is not inspect.Parameter.empty:
        text += f" = {_default(parameter.default)}"
    return text


def _default(value: object) -> str:
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    text = repr(value)
    return "..." if text.startswith(("<", "frozenset")) else text


def _written(thing: object) -> dict[str, str]:
    """The annotations as the source writes them: an alias keeps its name."""
    try:
        source = inspect.getsource(thing.__init__ if _makes_itself(thing) else thing)  # type: ignore[misc,arg-type]
    except (OSError, TypeError):
        return {}
    (node,) = ast.parse(textwrap.dedent(source)).body
    found: dict[str, str] = {}
    if isinstance(node, ast.FunctionDef):
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        found = {a.arg: ast.unparse(a.annotation) for a in every if a is not None and a.annotation is not None}
        if node.returns is not None:
            found["return"] = ast.unparse(node.returns)
    elif isinstance(node, ast.ClassDef):
        for line in node.body:
            if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                found[line.target.id] = ast.unparse(line.annotation)
    return found


def _makes_itself(thing: object) -> bool:
    """Whether a class has a constructor that somebody has written."""
    own = vars(thing).get("__init__") if isinstance(thing, type) else None
    return isinstance(own, FunctionType) and not _is_generated(own)


def _is_generated(function: FunctionType) -> bool:
    return function.__code__.co_filename == "<string>"


def _annotation(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else str(inspect.formatannotation(annotation))
