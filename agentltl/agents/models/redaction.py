"""Keeping keys out of what people read: which texts are keys, and hiding them."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

HIDDEN = "[hidden]"
_NAMES = re.compile(
    r"(api[_-]?key|access[_-]?key|private[_-]?key|secret|passw(or)?d|passphrase|credential|authorization|cookie|headers"
    r"|(^|[_-])token$)",
    re.IGNORECASE,
)
_VARIABLES = re.compile(
    r"((API|ACCESS|SECRET|PRIVATE|SIGNING|ENCRYPTION|MASTER|AUTH)_?KEY|SECRET|TOKEN|PASSW(OR)?D|PASSPHRASE|CREDENTIALS?)"
    r"(_?\d+)?$",
    re.IGNORECASE,
)
_ANY_KEY = re.compile(r"(^|_)KEY(_?\d+)?$", re.IGNORECASE)
_LETTERS_AND_DIGITS = re.compile(r"(?=.*\d)(?=.*[A-Za-z])")
"""`SORT_KEY=created_at` is no secret."""
_FILE = re.compile(r"(/|~|\.|[A-Za-z]:\\).*\.\w{1,5}")
"""Where a secret is (`GOOGLE_APPLICATION_CREDENTIALS`) is none."""
_SCHEME = re.compile(r"(bearer|basic|token|key|api-?key)[ =:]+(\S.*)", re.IGNORECASE)
"""What comes before a key in a header."""
_PLAIN_HEADERS = frozenset(
    {
        "accept",
        "accept-encoding",
        "accept-language",
        "connection",
        "content-type",
        "http-referer",
        "user-agent",
        "x-title",
    }
)
_SHORTEST = 8
"""Shorter values are no keys, and hiding them would blank ordinary words."""


def is_secret(name: str) -> bool:
    """Whether a setting of this name holds a secret."""
    return _NAMES.search(name) is not None


_remembered: set[str] = set()


def remember(*given: str | None) -> None:
    """Know these keys from now on, for as long as the process lasts: a log can come late."""
    _remembered.update(key for key in given if key and len(key) >= _SHORTEST)


def known_secrets(*given: str | None) -> list[str]:
    """The given keys, those of all models that there were, and those in the environment; the longest first."""
    own = [key for key in given if key]
    environment = [value for name, value in os.environ.items() if _names_a_secret(name, value)]
    return sorted({*own, *_remembered, *environment}, key=len, reverse=True)


def _names_a_secret(name: str, value: str) -> bool:
    """Whether an environment variable holds a secret."""
    if len(value) < _SHORTEST or _FILE.fullmatch(value):
        return False
    return bool(_VARIABLES.search(name) or (_ANY_KEY.search(name) and _LETTERS_AND_DIGITS.match(value)))


def without_secrets(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings without those with the name of a secret, in settings within too: headers and keys of a client."""
    return {name: _bare(value) for name, value in settings.items() if not is_secret(str(name))}


def _bare(value: Any) -> Any:
    if isinstance(value, Mapping):
        return without_secrets(value)
    return [_bare(part) for part in value] if isinstance(value, list) else value


def secrets_of(model: object) -> list[str]:
    """The keys that a model and its client hold in attributes and settings with the name of a secret."""
    found = set[str]()
    for holder in (model, getattr(model, "__dict__", {}).get("client")):
        for text in _secret_texts(getattr(holder, "__dict__", {})):
            found.add(text)
            if (scheme := _SCHEME.fullmatch(text)) is not None:
                found.add(scheme[2])
    long = sorted(text for text in found if len(text) >= _SHORTEST)
    remember(*long)
    return long


def hide(text: str, secrets: Iterable[str]) -> str:
    """The text with every secret in it replaced, percent-encoded ones included."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
        if "%" in text:
            text = _encoded(secret).sub(HIDDEN, text)
    return text


@lru_cache(maxsize=256)
def _encoded(secret: str) -> re.Pattern[str]:
    """A secret each of whose characters may be percent-encoded."""
    codes = ["".join(f"%{byte:02x}" for byte in char.encode("utf-8", "surrogateescape")) for char in secret]
    pairs = zip(secret, codes, strict=True)
    return re.compile("".join(f"(?:{re.escape(char)}|(?i:{code}))" for char, code in pairs))


def _secret_texts(settings: Mapping[object, object], *, secret: bool = False) -> Iterator[str]:
    """The texts under names of secrets, in mappings within too; `secret`: whatever their names are."""
    for name, value in settings.items():
        if secret and str(name).lower() in _PLAIN_HEADERS:
            continue
        hides = secret or is_secret(str(name))
        if isinstance(value, Mapping):
            yield from _secret_texts(value, secret=hides)
        elif hides and isinstance(value, str):
            yield value
