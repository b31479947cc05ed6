"""The text of a rule file, errors that show a place in it, and what YAML itself trips over in a rule."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentltl.errors import RuleFileError

if TYPE_CHECKING:
    import yaml

_RULE = re.compile(r"^(?P<lead>[ \t]*(?:-[ \t]+)*(?:[{,][ \t]*)?[\"']?rule[\"']?[ \t]*:(?:[ \t]+|$))(?P<value>.*)$")
_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")

WIDEST = 160
"""How many characters of a line an error shows."""
BLOCK = "write the rule after `rule: |-`, on a line of its own and indented, so that YAML leaves it as it is"


@dataclass(frozen=True, slots=True)
class Source:
    """A file and its text."""

    path: str
    text: str

    def error(self, problem: str, offset: int, width: int = 1, hint: str | None = None) -> RuleFileError:
        """An error with file, line, column, the line itself, a caret and a hint."""
        offset = max(0, min(offset, len(self.text)))
        starts = [0, *(m.end() for m in _BREAK.finditer(self.text))]
        line = max(i for i, start in enumerate(starts) if start <= offset)
        end = _BREAK.search(self.text, starts[line])
        shown = self.text[starts[line] : end.start() if end else len(self.text)]
        column = min(offset - starts[line], len(shown))
        left = max(0, column - WIDEST // 2) if len(shown) > WIDEST else 0
        part = shown[left : left + WIDEST].replace("\t", " ")
        marks = "^" * max(1, min(width, len(part) - (column - left)))
        parts = [
            f"{self.path}:{line + 1}:{column + 1}: {problem}",
            "    " + part,
            "    " + " " * (column - left) + marks,
        ]
        return RuleFileError("\n".join(parts + ([hint] if hint else [])))


def tripped(source: Source, error: yaml.MarkedYAMLError) -> RuleFileError:
    """An error of YAML itself, explained where it comes from a rule or a glob that is not quoted."""
    marks = [m for m in (error.problem_mark, error.context_mark) if m is not None]
    lines = _BREAK.split(source.text)
    starts = [0, *(m.end() for m in _BREAK.finditer(source.text))]
    for mark in marks:
        value = _rule_lines(lines, mark.line)
        for number, column in value:
            why = _why(lines[number][column:], first=(number, column) == value[0])
            if why:
                return source.error(why[0], starts[number] + column + why[1], 1, BLOCK)
    if len(marks) > 1 and marks[0].index >= len(source.text.rstrip()):
        marks.reverse()  # what was begun and never ended
    at = marks[0].index if marks else 0
    there = source.text[at : at + 1]
    hint = None
    if there in ("*", "@", "`", "%", "!") or "alias" in (error.problem or "") or "alias" in (error.context or ""):
        hint = f"put a text that begins with `{there or '*'}` into quotes"
    elif there == "\t":
        hint = "indent with spaces"
    elif there in ("'", '"', "[", "{"):
        hint = f"close what `{there}` begins"
    elif "mapping values" in (error.problem or ""):
        hint = "put a text that holds `: ` into quotes"
    said = error.problem or error.context or "it cannot be read"
    if "another document" in said:
        said, hint = "a second document begins here", "write all of it as one, without `---`"
    return source.error(f"this is no YAML: {said}", at, 1, hint)


def _rule_lines(lines: Sequence[str], line: int) -> list[tuple[int, int]]:
    """The lines of the rule in whose value an error lies, if it lies in one, and where on each the value begins."""
    for number in range(min(line, len(lines) - 1), -1, -1):
        found = _RULE.match(lines[number])
        if found is None:
            continue
        indent = len(lines[number]) - len(lines[number].lstrip(" -"))
        value = [(number, len(found["lead"]))] if found["value"].strip() else []
        for further in range(number + 1, min(line, len(lines) - 1) + 1):
            text = lines[further]
            if text.strip():
                if len(text) - len(text.lstrip()) <= indent:
                    return value if further == line else []
                value.append((further, len(text) - len(text.lstrip())))
        first = lines[value[0][0]][value[0][1] :] if value else ""
        return [] if first[:1] in ("|", ">") else value
    return []


def _why(value: str, first: bool) -> tuple[str, int] | None:
    """Why YAML trips over a line of a rule, its first or a further one, and at which of its characters."""
    begin = value[:1] if first else ""
    if begin == "!":
        return "YAML takes a value that begins with `!` for a tag", 0
    if begin == "*":
        return "YAML takes a value that begins with `*` for an alias", 0
    if begin == "@":
        return "YAML takes no value that begins with `@`", 0
    if begin == '"':
        return 'YAML takes a value that begins with `"` for a quoted text that ends at the next `"`', 0
    colon = re.search(r":(?=\s|$)", value)
    comment = re.search(r"\s#", value)
    if comment and (colon is None or comment.start() < colon.start()):
        return "YAML ends the value at ` #`, where a comment begins", comment.start() + 1
    if colon:
        return "YAML takes `: ` for the end of a key", colon.start()
    return None
