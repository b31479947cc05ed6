"""What can be set of a server, checked before anything listens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast
from urllib.parse import urlsplit

from agentltl.errors import ConstraintError

SHORTEST_TOKEN = 16


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of `Agent.deploy`, which says what they mean. What makes no sense is a `ConstraintError`."""

    token: str | None = field(default=None, repr=False)
    public_url: str | None = None
    description: str | None = None
    version: str = "1"
    share_tool_calls: bool = False
    max_body_bytes: int = 1_000_000
    max_concurrent_runs: int = 8
    max_contexts: int = 100
    max_tasks: int = 1000

    def __post_init__(self) -> None:
        for name in ("max_body_bytes", "max_concurrent_runs", "max_contexts", "max_tasks"):
            value: object = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ConstraintError(f"`{name}={value!r}` leaves nothing\ngive a whole number from 1")
        _check_token(self.token)
        _check_address(self.public_url)


def _check_token(token: object) -> None:
    if token is None:
        return
    fits = isinstance(token, str) and token.isascii() and token.isprintable() and " " not in token
    if not fits or len(cast(str, token)) < SHORTEST_TOKEN:
        raise ConstraintError(  # the token is not shown
            f"`token` is no text of {SHORTEST_TOKEN} or more printable ASCII characters without spaces\n"
            "make one with `secrets.token_urlsafe()`"
        )


def _check_address(url: str | None) -> None:
    if url is None:
        return
    try:
        parts = urlsplit(url)
        fits = (
            parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.query and "@" not in parts.netloc
        )
    except (ValueError, AttributeError, TypeError):
        fits = False
    if not fits:
        raise ConstraintError(
            "`public_url` is no address that others can use\ngive one like https://agents.example/clerk"
        )
