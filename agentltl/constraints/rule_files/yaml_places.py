"""A YAML text with the place of everything in it: where each key and value stands, and where inside a text a character.

Nodes are read, not values: what YAML makes of a scalar and how it was written are both needed to say what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any

import yaml

from agentltl.constraints.rule_files.yaml_source import BLOCK, Source, tripped

_ESCAPE = re.compile(r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|\r?\n[ \t]*|.)", re.DOTALL)

Key = str | int
Loc = tuple[Key, ...]


class Document:
    """The nodes of a YAML text. What YAML itself cannot read is an error that explains what tripped it."""

    def __init__(self, source: Source) -> None:
        self.source = source
        try:
            root = yaml.compose(source.text, Loader=yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            raise tripped(source, error) from None
        except yaml.YAMLError as error:  # a character that no YAML holds
            at = getattr(error, "position", 0)
            raise source.error("this is no YAML: a character that may not stand here", at) from None
        except RecursionError:
            raise source.error("this is nested too deeply", 0) from None
        if root is None:
            raise source.error("the file is empty", 0, hint="begin it with `version: 1`")
        self.root: yaml.Node = root
        self.refuse_rule_tags(root)

    def data(self) -> Any:
        """The plain value. A key that stands twice, and what is no plain data, are errors."""
        return self._data(self.root, ())

    def _data(self, node: yaml.Node, around: tuple[yaml.Node, ...]) -> Any:
        if node in around:
            raise self.source.error("this refers to itself", node.start_mark.index, hint="write it out")
        if isinstance(node, yaml.SequenceNode):
            return [self._data(item, (*around, node)) for item in node.value]
        if not isinstance(node, yaml.MappingNode):
            return self._scalar(node)
        result: dict[Hashable, Any] = {}
        for key_node, value_node in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                raise self.source.error("merge keys are not read", key_node.start_mark.index, 2, "write the keys out")
            if not isinstance(key_node, yaml.ScalarNode):
                raise self.source.error("a key must be a text", key_node.start_mark.index, hint="write a name")
            key = key_node.value
            if key in result:
                first = next(k for k, _ in node.value if k.value == key).start_mark.line + 1
                raise self.source.error(
                    f"key `{key}` stands twice", key_node.start_mark.index, len(key),
                    f"it stands in line {first} already: keep one of them",
                )  # fmt: skip
            result[key] = self._data(value_node, (*around, node))
        return result

    def _scalar(self, node: yaml.Node) -> Any:
        at = node.start_mark.index
        loader = yaml.SafeLoader("")
        try:
            value = loader.construct_object(node)
        except (yaml.YAMLError, ValueError, OverflowError):
            raise self.source.error(
                f"YAML cannot read `{_shown(node.value)}`", at, node.end_mark.index - at, "put it into quotes"
            ) from None
        finally:
            loader.dispose()
        if value is None or isinstance(value, bool | int | float | str):
            return value
        raise self.source.error(
            f"YAML reads `{_shown(node.value)}` as a {type(value).__name__}", at, node.end_mark.index - at,
            "put it into quotes if it is a text",
        )  # fmt: skip

    def node(self, loc: Loc) -> yaml.Node:
        """The node at a path, or the nearest one around it that is there."""
        node: yaml.Node = self.root
        for step in loc:
            found: yaml.Node | None = None
            if isinstance(node, yaml.MappingNode):
                found = next((v for k, v in node.value if k.value == step), None)
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
                found = node.value[step]
            if found is None:
                break
            node = found
        return node

    def key(self, loc: Loc) -> yaml.Node:
        """The node of the key at a path; of what is no key of a mapping, the node itself."""
        around = self.node(loc[:-1])
        if isinstance(around, yaml.MappingNode):
            for key_node, _ in around.value:
                if key_node.value == loc[-1]:
                    found: yaml.Node = key_node
                    return found
        return self.node(loc)

    def refuse_rule_tags(self, root: yaml.Node) -> None:
        """A rule that begins with `!` is a tag to YAML, and the negation would be lost."""
        seen: set[int] = set()
        stack = [root]
        while stack:
            node = stack.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, yaml.SequenceNode):
                stack.extend(reversed(node.value))
            elif isinstance(node, yaml.MappingNode):
                for key_node, value_node in node.value:
                    at = value_node.start_mark.index
                    tag = self.source.text[at : at + 2]
                    if key_node.value == "rule" and tag[:1] == "!" and tag != "!!":
                        raise self.source.error("YAML takes a value that begins with `!` for a tag", at, 1, BLOCK)
                    stack.append(value_node)


def offsets(text: str, node: yaml.ScalarNode) -> list[int]:
    """For each character of a scalar's value the offset in the text at which it stands, and one more for its end."""
    start, end = node.start_mark.index, node.end_mark.index
    if node.style == '"':
        units = _double_quoted(text, start + 1, end - 1)
    elif node.style == "'":
        units = _single_quoted(text, start + 1, end - 1)
    else:
        if node.style in ("|", ">"):
            line_end = text.find("\n", start)
            start = end if line_end < 0 else line_end + 1
        units = [(i, text[i]) for i in range(start, end)]
    solid = [i for i, character in units if not character.isspace()]
    result: list[int] = []
    last, k = start - 1 if node.style in ('"', "'") or not solid else solid[0] - 1, 0
    for character in node.value:
        if not character.isspace() and k < len(solid):
            last, k = solid[k], k + 1
        else:
            last += 1
        result.append(min(last, end))
    return [*result, min(result[-1] + 1 if result else start, end)]


def _double_quoted(text: str, start: int, end: int) -> list[tuple[int, str]]:
    units: list[tuple[int, str]] = []
    i = start
    while i < end:
        escape = _ESCAPE.match(text, i, end) if text[i] == "\\" else None
        if escape is None:
            units.append((i, text[i]))
            i += 1
            continue
        shown = yaml.safe_load(f'"{escape[0]}"') or " "
        units.append((i, shown))
        i = escape.end()
    return units


def _single_quoted(text: str, start: int, end: int) -> list[tuple[int, str]]:
    units: list[tuple[int, str]] = []
    i = start
    while i < end:
        units.append((i, text[i]))
        i += 2 if text.startswith("''", i) else 1
    return units


def cut_comment(text: str, node: yaml.ScalarNode) -> int | None:
    """Where YAML has cut a plain scalar off at ` #`, if it has."""
    if node.style is not None:
        return None
    rest = text[node.end_mark.index :].split("\n", 1)[0]
    found = re.match(r"[ \t]+#", rest)
    return node.end_mark.index + found.end() - 1 if found else None


def _shown(value: object) -> str:
    return str(value)[:60]
