"""Rule files: constraints in YAML, read strictly; an error names file, line and column and shows the place.

A file may include others; it sees their groups, and their constraints come before its own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from agentltl.constraints.constraint import Constraint
from agentltl.constraints.constraint_values import unknown_key, unknown_severity
from agentltl.constraints.language.faults import Fault
from agentltl.constraints.language.groups import group
from agentltl.constraints.rule_files.yaml_source import BLOCK, Source
from agentltl.errors import ConstraintError, FormulaError, RuleFileError

if TYPE_CHECKING:
    import yaml

    from agentltl.constraints.rule_files.yaml_places import Document, Loc

FILE_KEYS = ("version", "groups", "constraints", "include")

_KINDS = {
    "string_type": "a text", "int_type": "a whole number", "float_type": "a number", "bool_type": "true or false",
    "list_type": "a list", "dict_type": "a mapping", "model_type": "a mapping", "model_attributes_type": "a mapping",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RuleFile:
    """What a rule file says: its constraints, those of included files first, and the groups it can name."""

    constraints: tuple[Constraint, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def load_rules(path: str | os.PathLike[str]) -> RuleFile:
    """Read a rule file and what it includes. Anything wrong in it is a `RuleFileError`."""
    loader = _Loader()
    groups = loader.load(Path(path), os.fspath(path), ())
    return RuleFile(tuple(loader.constraints), groups)


class _Loader:
    """The constraints read so far, and where each name stands."""

    def __init__(self) -> None:
        self.constraints: list[Constraint] = []
        self.places: dict[str, str] = {}
        self.done: dict[Path, dict[str, tuple[str, ...]]] = {}

    def load(self, path: Path, shown: str, around: tuple[Path, ...]) -> dict[str, tuple[str, ...]]:
        """Read one file; the groups that it can name."""
        own = path.resolve()
        if own in self.done:
            return self.done[own]
        from agentltl.constraints.rule_files.yaml_places import Document

        document = Document(Source(shown, _read(path, shown)))
        data = document.data()
        _check(document, data)
        groups: dict[str, tuple[str, ...]] = {}
        include = data.get("include", [])
        for loc, name in [(("include",), include)] if isinstance(include, str) else _numbered(("include",), include):
            other, node = path.parent / name, document.node(loc)
            if other.resolve() in (*around, own):
                hint = "leave it out" if other.resolve() == own else "take one of the two out"
                raise _at(document, node, f"`{name}` includes itself", hint)
            if not other.is_file():
                raise _at(document, node, f"there is no file `{other}`", "the path is relative to this file")
            for group_name, members in self.load(other, str(other), (*around, own)).items():
                _add_group(document, groups, group_name, members, node)
        for group_name, members in data.get("groups", {}).items():
            key = document.key(("groups", group_name))
            _add_group(document, groups, group_name, tuple(members), key)
        _check_groups(document, data.get("groups", {}), groups)
        for index, given in enumerate(data.get("constraints", [])):
            self.add(document, ("constraints", index), given, groups)
        self.done[own] = groups
        return groups

    def add(self, document: Document, loc: Loc, given: dict[str, Any], groups: dict[str, tuple[str, ...]]) -> None:
        name_node = document.node((*loc, "name"))
        place = f"{document.source.path}:{name_node.start_mark.line + 1}"
        name = given["name"]
        if name in self.places:
            raise _at(document, name_node, f"two constraints are named `{name}`", f"the other one: {self.places[name]}")
        self.places[name] = place
        try:
            self.constraints.append(Constraint.of(given, groups or None))
        except FormulaError as error:
            raise _in_rule(document, (*loc, "rule"), error) from None
        except ConstraintError as error:
            problem, _, hint = str(error).partition("\n")
            raise _at(document, document.key((*loc, "name")), problem, hint) from None


def _read(path: Path, shown: str) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RuleFileError(f"`{shown}` is no UTF-8 text (byte {error.start})\nsave it as UTF-8") from None
    except FileNotFoundError:
        hint = "name a rule file in YAML"
        if set(shown) & set(" ()"):
            hint += """; a rule itself goes into a list: [{"name": "...", "rule": "..."}]"""
        raise RuleFileError(f"there is no file `{shown}`\n{hint}") from None
    except OSError as error:
        raise RuleFileError(f"`{shown}` cannot be read: {error.strerror}\nname a rule file in YAML") from None


def _numbered(loc: tuple[str | int, ...], items: Sequence[str]) -> list[tuple[tuple[str | int, ...], str]]:
    return [((*loc, index), item) for index, item in enumerate(items)]


def _at(document: Document, node: yaml.Node, problem: str, hint: str | None = None) -> RuleFileError:
    return _Problem.at(node, problem, hint or None).error(document)


def _check(document: Document, data: object) -> None:
    """Check the shape of the file; the first thing that is wrong, in the order of the file, is an error."""
    from pydantic import ValidationError

    from agentltl.constraints.rule_files.rule_schema import FileModel

    if not isinstance(data, dict):
        raise _at(document, document.root, "a rule file is a mapping", "begin it with `version: 1`")
    for index, given in enumerate(data["constraints"] if isinstance(data.get("constraints"), list) else []):
        if isinstance(given, dict) and not isinstance(given.get("rule", ""), str):
            raise _no_text(document, ("constraints", index, "rule"))
    if type(data.get("version", 1)) is not int:  # to Python true and 1.0 are 1
        raise _problem(document, "literal_error", ("version",)).error(document)
    try:
        FileModel.model_validate(data)
    except ValidationError as error:
        problems = [_problem(document, e["type"], e["loc"]) for e in error.errors()]
        raise min(problems, key=lambda p: (p.missing, p.start)).error(document) from None


class _Problem(NamedTuple):
    """Where something is wrong, how wide it is, what it is, and what to do. `missing`: a key that is not there, which
    a misspelt one may explain."""

    start: int
    width: int
    text: str
    hint: str | None = None
    missing: bool = False

    @classmethod
    def at(cls, node: yaml.Node, text: str, hint: str | None = None) -> _Problem:
        start, end = node.start_mark.index, node.end_mark.index
        return cls(start, max(1, end - start), text, hint)

    def error(self, document: Document) -> RuleFileError:
        return document.source.error(self.text, self.start, self.width, self.hint)


def _problem(document: Document, kind: str, path: Loc) -> _Problem:
    """The problem that the model finds at a path."""
    loc = _plain(path)
    node = document.node(loc)
    name = str(loc[-1]) if loc else ""
    if kind == "extra_forbidden":
        known = unknown_key(name) if loc[0] == "constraints" else unknown_key(name, FILE_KEYS)
        text, _, hint = known.partition("\n")
        return _Problem.at(document.key(loc), text, hint)
    if kind == "missing":
        if name == "version":
            return _Problem(0, 1, "the file has no `version`", "begin it with `version: 1`", True)
        start = document.node(loc[:-1]).start_mark.index
        return _Problem(start, 1, f"the constraint has no `{name}`", f"add `{name}` to it", True)
    value = document.source.text[node.start_mark.index : node.end_mark.index].split("\n")[0].strip()
    if name == "severity":
        text, _, hint = unknown_severity(value.strip("\"'")).partition("\n")
        return _Problem.at(node, text, hint)
    if name == "version":
        return _Problem.at(node, f"unknown version `{value}`", "this release reads `version: 1`")
    if kind in ("greater_than_equal", "finite_number"):
        return _Problem.at(node, f"the weight is `{value}`", "give a finite number from 0 up")
    if kind in ("string_too_short", "string_pattern_mismatch"):
        return _Problem.at(document.key(loc) if path[-1] == "[key]" else node, "this is empty", "give it a name")
    wanted = _KINDS.get(kind, "a text, a number, true, false or null")
    if loc[:1] == ("include",):
        wanted = "a path, or a list of paths"
    elif "where" in loc[2:3] and len(loc) > 3:
        wanted = "a text, a number, true, false or null, or a list of them"
    what = f"`{name}`" if isinstance(loc[-1], str) else "this"
    unquoted = kind == "string_type" and getattr(node, "style", "") is None and value
    return _Problem.at(node, f"{what} must be {wanted}", "put it into quotes" if unquoted else None)


def _plain(path: Loc) -> Loc:
    """A path without the steps that name a branch of the model (`str`, `list[str]`) or a key as a value."""
    if path[:1] == ("include",):
        return tuple(step for step in path if step == "include" or isinstance(step, int))
    if path[2:3] == ("where",):
        return (*path[:4], *(step for step in path[4:] if isinstance(step, int)))
    return path[:-1] if path[-1:] == ("[key]",) else path


def _no_text(document: Document, loc: Loc) -> RuleFileError:
    """A rule that YAML reads as something other than a text."""
    node = document.node(loc)
    start, end = node.start_mark.index, node.end_mark.index
    value = document.source.text[start:end].split("\n")[0].strip()
    kind = node.tag.rsplit(":", 1)[-1]
    kinds = {"bool": "true or false", "null": "nothing", "int": "a number", "float": "a number", "seq": "a list",
             "map": "a mapping"}  # fmt: skip
    if kind == "null" and not value:
        return _at(document, document.key(loc), "the rule is empty", BLOCK)
    return _at(document, node, f"YAML reads `{value}` as {kinds.get(kind, kind)}, not as the text of a rule", BLOCK)


def _add_group(
    document: Document, groups: dict[str, tuple[str, ...]], name: str, members: tuple[str, ...], node: yaml.Node
) -> None:
    if groups.setdefault(name, members) != members:
        raise _at(document, node, f"the group `{name}` is defined twice, differently", "give one of them another name")


def _check_groups(document: Document, own: Mapping[str, Sequence[str]], groups: Mapping[str, tuple[str, ...]]) -> None:
    for name, members in own.items():
        for index, member in enumerate(members):
            if member.startswith("@") and member[1:] not in groups:
                near = get_close_matches(member[1:], groups, 1, 0.6)
                hint = f"did you mean `@{near[0]}`?" if near else f"the groups are: {', '.join(groups)}"
                raise _at(document, document.node(("groups", name, index)), f"unknown group `{member}`", hint)
        try:
            group(name, groups)
        except (Fault, FormulaError) as error:
            raise _at(document, document.key(("groups", name)), error.problem, error.hint) from None


def _in_rule(document: Document, loc: Loc, error: FormulaError) -> RuleFileError:
    """An error in the text of a rule, shown at its place in the YAML."""
    from agentltl.constraints.rule_files.yaml_places import cut_comment, offsets

    node = cast("yaml.ScalarNode", document.node(loc))
    hint = error.hint
    cut = cut_comment(document.source.text, node)
    if cut is not None and node.value.count('"') % 2:  # else it is a comment to the rule language too
        return document.source.error("YAML ends the value at ` #`, where a comment begins", cut, 1, BLOCK)
    if node.style == '"' and re.fullmatch(r"[^\s\"!&|()]+", node.value):  # a tool name that needs its quotes
        hint = "YAML has taken the quotes away\n" + BLOCK
    if error.line is None or error.column is None or error.text is None:
        return _at(document, node, error.problem, hint)
    lines = node.value.split("\n")
    at = sum(len(line) + 1 for line in lines[: error.line - 1]) + error.column - 1
    where = offsets(document.source.text, node)
    start = where[min(at, len(where) - 1)]
    end = where[min(at + error.width, len(where) - 1)]
    return document.source.error(error.problem, start, max(1, end - start), hint)
