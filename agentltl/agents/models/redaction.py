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


def known_secrets(*given: str | None) -> list[str]:
    """The given keys and those in the environment, the longest first."""
    environment = [value for name, value in os.environ.items() if _VARIABLES.search(name)]
    own = [key for key in given if key]
    return sorted({*own, *(value for value in environment if len(value) >= _SHORTEST)}, key=len, reverse=True)


remembered: set[str] = set()
"""The keys of all models of this process, for the logs (see `quiet_logs.py`)."""


def remember(*given: str | None) -> None:
    """Keep these keys out of the logs from now on."""
    remembered.update(key for key in given if key and len(key) >= _SHORTEST)


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
        waiting += [current.__cause__, current.__context__]


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
    for headers in (value, getattr(value, "headers", None), getattr(getattr(value, "request", None), "headers", None)):
        if isinstance(headers, MutableMapping):
            for name, text in list(headers.items()):
                if isinstance(text, str) and (hidden := hide(text, secrets)) != text:
                    headers[name] = hidden
    body = getattr(value, "_content", None)
    if isinstance(body, bytes):
        for secret in secrets:
            body = body.replace(secret.encode(), HIDDEN.encode())
        vars(value)["_content"] = body


def _hidden(value: object, secrets: list[str]) -> object:
    match value:
        case str():
            return hide(value, secrets)
        case dict():
            return {key: _hidden(part, secrets) for key, part in value.items()}
        case list():
            return [_hidden(part, secrets) for part in value]
        case tuple():
            return tuple(_hidden(part, secrets) for part in value)
        case _:
            return value
