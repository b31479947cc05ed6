"""Characters in names that look like others, and names that can be taken for each other.

Letters are taken for Latin ones by a small table: those of Cyrillic, Greek and Armenian that are drawn the same in most
fonts. A script that has no such letters, as Chinese or Kana, may stand beside Latin.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_DRAWN_ALIKE = {
    "a": "аɑα", "c": "сϲ", "d": "ԁ", "e": "е", "g": "ɡց", "h": "һհ", "i": "іı", "j": "јϳ", "l": "ӏǀ", "o": "оοօ",
    "p": "рρ", "q": "ԛ", "s": "ѕ", "u": "սυ", "v": "νѵ", "w": "ԝ", "x": "х", "y": "уү",
    "A": "АΑ", "B": "ВΒ", "C": "СϹ", "E": "ЕΕ", "H": "НΗ", "I": "ІΙӀ", "J": "Ј", "K": "КΚ", "M": "МΜ", "N": "Ν",
    "O": "ОΟՕ", "P": "РΡ", "S": "ЅՏ", "T": "ТΤ", "X": "ХΧ", "Y": "ҮΥ", "Z": "Ζ",
}  # fmt: skip
_LATIN = {other: latin for latin, others in _DRAWN_ALIKE.items() for other in others}
_ALIKE_IN_ASCII = str.maketrans({"0": "O", "1": "l", "I": "l"})
_COARSE = str.maketrans({"0": "o", "1": "l", "i": "l"})
_CONFUSED = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC"})
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Letters that are drawn as nothing."""


def odd(name: str) -> tuple[str, str] | None:
    """What is odd about the characters of a name, and the name without it; None for a name that is as it looks."""
    for char in name:
        unseen = unicodedata.category(char) in ("Cf", "Zl", "Zp") or char in _BLANK
        if unseen or (char.isspace() and char != " "):
            what = "an invisible character" if unseen else "a space that is none of ASCII"
            return f"has {what}, {_called(char)}", skeleton(name)
    for word in re.findall(r"[^\W\d_]+", name):
        scripts = {_script(char): char for char in word}
        if len(scripts.keys() & _CONFUSED) > 1:
            char = next(c for s, c in scripts.items() if s in _CONFUSED and s != "LATIN")
            return f"mixes letters of two scripts in one word, among them {_called(char)}", skeleton(name)
        alike = next((c for c in word if c in _LATIN), None)
        if alike is not None and skeleton(word).isascii():
            return f"looks like `{skeleton(name)}` and is not: it has {_called(alike)}", skeleton(name)
    if unicodedata.normalize("NFC", name) != name:
        return "is not in Unicode's composed form (NFC)", unicodedata.normalize("NFC", name)
    if unicodedata.normalize("NFKC", name) != name:
        char = next((c for c in name if unicodedata.normalize("NFKC", c) != c), name[0])
        return f"has a variant of a character, {_called(char)}", unicodedata.normalize("NFKC", name)
    return None


@lru_cache(maxsize=4096)
def skeleton(name: str) -> str:
    """What a name looks like: two names with one skeleton are drawn alike.

    Source: the idea of Unicode Technical Standard 39, section 4, over a smaller table.
    """
    plain = unicodedata.normalize("NFKC", name)
    seen = (c for c in plain if unicodedata.category(c) not in ("Cf", "Zl", "Zp") and c not in _BLANK)
    return "".join(_LATIN.get(c, c) for c in seen)


def alike(one: str, other: str) -> str | None:
    """In what alone two different names differ, if that is easily overlooked."""
    a, b = skeleton(one), skeleton(other)
    if a == b:
        return "characters that look alike"
    if a.translate(_ALIKE_IN_ASCII) == b.translate(_ALIKE_IN_ASCII):
        return "characters that look alike"
    return "upper and lower case, `_` and `-`" if folded(one) == folded(other) else None


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """A name without case, `_`, `-` and spaces."""
    return re.sub(r"[\s_-]", "", skeleton(name)).casefold()


def drawn(name: str) -> str:
    """A key that is the same for all names that `alike` finds alike, and perhaps for some others."""
    return folded(name).translate(_COARSE)


def _script(char: str) -> str:
    return unicodedata.name(char, "").split(" ")[0]


def _called(char: str) -> str:
    return f"U+{ord(char):04X} {unicodedata.name(char, 'without a name')}"
