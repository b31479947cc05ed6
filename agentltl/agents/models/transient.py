"""Which errors of a model call can pass by themselves, so that the same call may do better a moment later.

Nothing is imported to know a client's errors: they are known by the names of their classes.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator

from agentltl.agents.models.errors import EmptyReplyError, ModelTimeoutError
from agentltl.constraints.value import as_text
from agentltl.errors import AgentLTLError

STATUSES = frozenset({408, 429, 500, 502, 503, 504})
"""Too slow, too many requests, and what is wrong with the server."""
CLASSES = frozenset(
    {
        ("aiohttp", "ClientConnectionError"),
        ("aiohttp", "ClientPayloadError"),
        ("anthropic", "APIConnectionError"),
        ("httpcore", "NetworkError"),
        ("httpcore", "TimeoutException"),
        ("httpx", "TransportError"),
        ("httpx2", "TransportError"),
        ("openai", "APIConnectionError"),
        ("requests", "ChunkedEncodingError"),
        ("requests", "ConnectionError"),
        ("requests", "Timeout"),
        ("urllib", "URLError"),
        ("urllib3", "HTTPError"),
    }
)
"""Errors of connections, by package and class; a class that derives from one of them is one of them."""


def can_pass(error: BaseException) -> bool:
    """Whether this error of a call can pass: a timeout, too many requests, a server's or a connection's failure, an
    answer that is no JSON or no answer. An HTTP status decides before the error's class; an error that has neither is
    what it was raised from. A certificate that is not trusted is not trusted a moment later."""
    if _distrusts(error):
        return False
    for one in with_causes(error):
        if isinstance(one, EmptyReplyError | ModelTimeoutError):
            return True
        if not isinstance(one, Exception) or isinstance(one, AgentLTLError):
            return False
        if (status := status_of(one)) is not None:
            return status in STATUSES
        if isinstance(one, TimeoutError | ConnectionError | json.JSONDecodeError):
            return True
        if any((kind.__module__.partition(".")[0], kind.__name__) in CLASSES for kind in type(one).__mro__):
            return True
    return False


def status_of(error: BaseException) -> int | None:
    """The HTTP status of an error, None for one that has none. A status of success is no reason for an error."""
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "status", "code"):  # `urllib` has `code`, `aiohttp` has `status`
            status = getattr(holder, name, None)
            if isinstance(status, int) and not isinstance(status, bool) and 400 <= status < 600:
                return int(status)
    return None


def _distrusts(error: BaseException) -> bool:
    """Whether a certificate was refused. Clients tell it as a broken connection, some only as what came before."""
    met: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in met:
        met.add(id(one))
        if isinstance(one, ssl.SSLCertVerificationError) or "CERTIFICATE_VERIFY_FAILED" in as_text(one):
            return True
        one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
    return False


def with_causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and what it was raised from."""
    met: set[int] = set()
    one = error
    while one is not None and id(one) not in met:
        met.add(id(one))
        yield one
        one = one.__cause__
