"""Keeping keys out of what people read: settings, errors and their causes."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, MutableMapping

HIDDEN = "[hidden]"
_NAMES = re.compile(r"(api_?key|secret|password|credential|authorization|headers|(^|_)token$)", re.IGNORECASE)
_VARIABLES = re.compile(r"(API_?KEY|SECRET|TOKEN)$")
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
    environment = [value for name, value in os.environ.items() if _VARIABLES.search(name)]
    own = [key for key in given if key]
    found = {*own, *_remembered, *(value for value in environment if len(value) >= _SHORTEST)}
    return sorted(found, key=len, reverse=True)


def secrets_of(model: object) -> list[str]:
    """The keys that a model holds in attributes and settings with the name of a secret."""
    found = [text for text in _secret_texts(getattr(model, "__dict__", {})) if len(text) >= _SHORTEST]
    remember(*found)
    return found


def hide(text: str, secrets: Iterable[str]) -> str:
    """The text with every secret in it replaced."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text


def hide_in_error(error: BaseException, secrets: list[str]) -> None:
    """Replace secrets in the texts of an error and of everything that led to it, in place."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        current = waiting.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        current.args = tuple(_hidden(part, secrets) for part in current.args)
        for name, value in list(vars(current).items()):
            if isinstance(value, str | dict | list | tuple):
                setattr(current, name, _hidden(value, secrets))
            else:
                _hide_in_exchange(value, secrets)
        waiting += [current.__cause__, current.__context__, *getattr(current, "exceptions", ())]


def _secret_texts(settings: Mapping[object, object], *, secret: bool = False) -> Iterator[str]:
    """The texts under names of secrets, in mappings within too; `secret`: whatever their names are."""
    for name, value in settings.items():
        hides = secret or is_secret(str(name))
        if isinstance(value, Mapping):
            yield from _secret_texts(value, secret=hides)
        elif hides and isinstance(value, str):
            yield value


def _hide_in_exchange(value: object, secrets: list[str]) -> None:
    """Hide secrets in the headers and the body of an HTTP request or response, or in headers by themselves."""
    known = getattr(value, "__dict__", {})
    # The property `request` of a response of httpx raises when it has none.
    request = known.get("_request", known.get("request"))
    for headers in (value, getattr(value, "headers", None), getattr(request, "headers", None)):
        if isinstance(headers, MutableMapping):
            for name, text in list(headers.items()):
                if isinstance(text, str) and (hidden := hide(text, secrets)) != text:
                    headers[name] = hidden
    if hasattr(value, "headers"):
        for name, part in list(known.items()):  # the body, as bytes and as a text
            if isinstance(part, str | bytes):
                known[name] = _hidden(part, secrets)


def _hidden(value: object, secrets: list[str]) -> object:
    match value:
        case str():
            return hide(value, secrets)
        case bytes():
            for secret in secrets:
                value = value.replace(secret.encode(), HIDDEN.encode())
            return value
        case dict():
            return {key: _hidden(part, secrets) for key, part in value.items()}
        case list():
            return [_hidden(part, secrets) for part in value]
        case tuple():
            return tuple(_hidden(part, secrets) for part in value)
        case _:
            return value
