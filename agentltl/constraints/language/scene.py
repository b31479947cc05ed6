"""The place of a syntax error: what may stand there, what stands there, and what is around it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agentltl.constraints.language.faults import Fault

_SCAN = re.compile(r'#[^\n]*|"(?:\\["\\]|\\(?!["\\])|[^"\\])*"|\w[\w*?]*|[()\[\]{}]|\S')
PAIRS = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Word:
    """A word, a text or a sign, and where it starts."""

    text: str
    start: int

    @property
    def is_word(self) -> bool:
        return self.text[0].isalpha() or self.text[0] == "_"


@dataclass(frozen=True, slots=True)
class Scene:
    """The place of the error: what may stand there, what stands there, what stands before, and what is open.

    `open` lists the brackets that are open, each with the word before it.
    """

    text: str
    start: int
    allowed: frozenset[str]
    here: str
    before: tuple[Word, ...]
    open: tuple[tuple[Word, Word | None], ...]

    @property
    def last(self) -> Word | None:
        return self.before[-1] if self.before else None

    @property
    def operand(self) -> bool:
        return "UNARY" in self.allowed

    @property
    def after(self) -> bool:
        return "BINARY" in self.allowed

    @property
    def value(self) -> bool:
        return "NUMBER" in self.allowed

    @property
    def condition(self) -> bool:
        """Somewhere inside parentheses, brackets or a filter."""
        inside = {"COMPARE", "KEY"} & self.allowed if self.open else frozenset()
        return bool(inside) or ("COMMA" in self.allowed and not self.after)

    def fault(self, problem: str, hint: str | None, start: int | None = None, width: int | None = None) -> Fault:
        place = self.start if start is None else start
        return Fault(problem, hint, start=place, width=len(self.here) or 1 if width is None else width)


def scene_at(text: str, start: int, allowed: frozenset[str]) -> Scene:
    words = [Word(m.group(), m.start()) for m in _SCAN.finditer(text[:start]) if not m.group().startswith("#")]
    stack: list[tuple[Word, Word | None]] = []
    for i, word in enumerate(words):
        if word.text in PAIRS:
            stack.append((word, words[i - 1] if i else None))
        elif word.text in PAIRS.values() and stack:
            stack.pop()
    found = _SCAN.match(text, start)
    here = found.group() if found is not None and not found.group().startswith("#") else ""
    return Scene(text, start, allowed, here, tuple(words), tuple(stack))
