"""How an MCP server is reached: the mapping that a user gives, checked and kept so that no secret of it is shown."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote_plus, urlsplit

from agentltl.agents.models.redaction import hide, is_secret, known_secrets
from agentltl.constraints.language.lexicon import near
from agentltl.errors import ConstraintError

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_))*(?<!_)")
_TIMES = ("start_timeout", "call_timeout")
_STDIO = ("command", "args", "env", "cwd", *_TIMES)
_HTTP = ("url", "headers", *_TIMES)
_SHORTEST, _SHORTEST_NAMED = 6, 3
"""Shorter values are not hidden, because that would blank ordinary words: of settings whose names say nothing, and of
headers and settings whose names say that they are secret."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server: its name, and the seconds that it has to start and to answer a call (None: no limit)."""

    name: str
    _: KW_ONLY
    start_timeout: float = 30.0
    call_timeout: float | None = 300.0

    @property
    def place(self) -> str:
        """Where the server is, without secrets."""
        raise NotImplementedError

    @property
    def secrets(self) -> list[str]:
        """The texts that must not be shown, the longest first."""
        return known_secrets(*self._secrets())

    def tell(self, text: str) -> str:
        """A text of the server, or about it, without secrets."""
        return hide(text, self.secrets)

    def _secrets(self) -> Iterator[str]:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Stdio(Server):
    """A server that is started as a process and spoken to over its standard input and output."""

    command: str
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | Path | None = None

    @property
    def place(self) -> str:
        return f"the program `{self.command}`"

    def _secrets(self) -> Iterator[str]:
        for name, value in self.env.items():
            if len(value) >= (_SHORTEST_NAMED if is_secret(name) else _SHORTEST):
                yield value


@dataclass(frozen=True, slots=True)
class Http(Server):
    """A server that is spoken to over streamable HTTP."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def place(self) -> str:
        parts = urlsplit(self.url)
        return f"`{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}`"

    def _secrets(self) -> Iterator[str]:
        for value in self.headers.values():
            yield from (part for part in (value, *value.split()) if len(part) >= _SHORTEST_NAMED)
        parts = urlsplit(self.url)
        user = parts.netloc.rpartition("@")[0]
        values = (pair.partition("=")[2] for pair in parts.query.split("&"))
        for given in (user, parts.password or "", parts.query, *values):
            yield from (part for part in (given, unquote_plus(given)) if len(part) >= _SHORTEST_NAMED)


def read_servers(servers: Mapping[str, Mapping[str, Any]]) -> tuple[Server, ...]:
    """The servers of a mapping from names to settings.

    `{"command", "args", "env", "cwd"}` is a process, `{"url", "headers"}` is streamable HTTP; both may have
    `start_timeout` and `call_timeout`, in seconds. Anything else is a `ConstraintError`.
    """
    if not isinstance(servers, Mapping):
        raise ConstraintError('MCP servers are a mapping\nwrite mcp_servers={"name": {"command": ...}}')
    return tuple(_server(name, given) for name, given in servers.items())


def _server(name: object, given: object) -> Server:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConstraintError(
            f"`{name}` cannot be the name of an MCP server\n"
            "use letters, digits, `-` and single `_`, because it can become part of the names of tools"
        )
    about = f"the MCP server `{name}`"
    if not isinstance(given, Mapping) or ("command" in given) == ("url" in given):
        raise ConstraintError(
            f"it is not clear how {about} is reached\n"
            'write {"command": ..., "args": [...]} for a process or {"url": ...} for streamable HTTP'
        )
    keys = _STDIO if "command" in given else _HTTP
    for key in given:
        if key not in keys:
            guess = near(str(key), keys)
            hint = f"did you mean `{guess}`?" if guess else f"there are {', '.join(f'`{k}`' for k in keys)}"
            raise ConstraintError(f"{about} has the unknown setting `{key}`\n{hint}")
    for key, value in given.items():
        if (wanted := _wanted(key, value)) is not None:
            raise ConstraintError(f"`{key}` of {about} is not {wanted}\ngive {wanted}")  # the value may be a secret
    times = {key: given[key] for key in _TIMES if key in given}
    if "url" in given:
        return Http(name, url=given["url"], headers=dict(given.get("headers") or {}), **times)
    return Stdio(
        name,
        command=given["command"],
        args=tuple(given.get("args") or ()),
        env=dict(given.get("env") or {}),
        cwd=given.get("cwd"),
        **times,
    )


def _wanted(key: str, value: object) -> str | None:
    """What the value of a setting should be; None when it is."""
    match key:
        case "command":
            return None if isinstance(value, str) and value else "a text"
        case "url":
            fits = isinstance(value, str) and _is_address(value)
            return None if fits else "an address that begins with http:// or https://"
        case "args":
            listed = isinstance(value, Sequence) and not isinstance(value, str | bytes)
            fits = listed and all(isinstance(part, str) for part in cast(Sequence[object], value))
            return None if value is None or fits else "a list of texts"
        case "env" | "headers":
            fits = isinstance(value, Mapping) and all(isinstance(part, str) for pair in value.items() for part in pair)
            return None if value is None or fits else "a mapping from texts to texts"
        case "cwd":
            return None if value is None or isinstance(value, str | os.PathLike) else "a path"
        case _:
            number = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
            return None if number or (value is None and key == "call_timeout") else "a number of seconds"


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)
