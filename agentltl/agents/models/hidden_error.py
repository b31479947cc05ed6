"""Errors without keys: the text of one for whoever reads it, and the error itself rewritten as far as it lets."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from contextlib import suppress
from types import GetSetDescriptorType, MemberDescriptorType

from agentltl.agents.models.redaction import hide, known_secrets
from agentltl.constraints.value import as_text

_PLUMBING = {"__dict__", "__traceback__", "__cause__", "__context__", "__suppress_context__", "__weakref__", "args"}


def error_text(error: BaseException) -> str:
    """What an error says, without any key that is known; the name of its class if it says nothing."""
    return hide(as_text(error), known_secrets()) or type(error).__name__


def hide_in_error(error: BaseException, secrets: list[str]) -> None:
    """Replace secrets in the texts of an error and of everything that led to it, in place, and never raise.

    What an error does not let be rewritten stays: where its text is told, `error_text` hides them.
    """
    seen: set[int] = set()
    waiting: list[object] = [error]
    while waiting:
        current = waiting.pop()
        if not isinstance(current, BaseException) or id(current) in seen:
            continue
        seen.add(id(current))
        with suppress(Exception):
            _rewrite(current, secrets)
        waiting += [current.__cause__, current.__context__]
        with suppress(Exception):
            waiting += getattr(current, "exceptions", ())


def _rewrite(error: BaseException, secrets: list[str]) -> None:
    given = BaseException.args.__get__(error)  # type: ignore[attr-defined]
    BaseException.args.__set__(error, tuple(_told(part, secrets) for part in given))  # type: ignore[attr-defined]
    for name, value in [*getattr(error, "__dict__", {}).items(), *_slots(error)]:
        if isinstance(value, str | bytes | dict | list | tuple | set | frozenset):
            if (hidden := hidden_in(value, secrets)) != value:
                with suppress(Exception):
                    object.__setattr__(error, name, hidden)  # a class may refuse to be written to by `setattr`
        else:
            with suppress(Exception):
                _hide_in_exchange(value, secrets)


def _slots(error: BaseException) -> Iterator[tuple[str, object]]:
    """What an error holds outside its `__dict__`, like the file name of an `OSError`."""
    for kind in type(error).__mro__[:-1]:
        for name, what in vars(kind).items():
            if isinstance(what, GetSetDescriptorType | MemberDescriptorType) and name not in _PLUMBING:
                with suppress(Exception):
                    yield name, what.__get__(error)


def _told(part: object, secrets: list[str]) -> object:
    """One of the values that an error's text is made of; an object that would tell a secret becomes a text."""
    hidden = hidden_in(part, secrets)
    for text in (as_text(hidden), _repr(hidden)):
        if hide(text, secrets) != text:
            return hide(text, secrets)
    return hidden


def _repr(value: object) -> str:
    try:
        return repr(value)
    except Exception:
        return ""


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
                known[name] = hidden_in(part, secrets)


def hidden_in(value: object, secrets: list[str]) -> object:
    """The value with secrets hidden in its texts, in collections within too."""
    match value:
        case str():
            return hide(value, secrets)
        case bytes():
            return hide(value.decode("utf-8", "surrogateescape"), secrets).encode("utf-8", "surrogateescape")
        case dict():
            return {hidden_in(key, secrets): hidden_in(part, secrets) for key, part in value.items()}
        case list() | set() | frozenset():
            return type(value)([hidden_in(part, secrets) for part in value])
        case tuple():
            return tuple(hidden_in(part, secrets) for part in value)
        case _:
            return value
