"""How long a provider asks to wait: `Retry-After` (RFC 9110, section 10.2.3), or the `retry-after-ms` of OpenAI."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime
from typing import Any

from agentltl.agents.models.transient import with_causes


def retry_after(error: BaseException | None) -> float | None:
    """Seconds from now, at least 0; None where neither the error nor what it was raised from has such a header, or one
    that can be read."""
    for headers in (found for one in with_causes(error) for found in _headers(one)):
        named = {str(name).lower(): value for name, value in headers.items()}
        milliseconds = _number(named.get("retry-after-ms"))
        if milliseconds is not None:
            return milliseconds / 1000
        given = named.get("retry-after")
        seconds = _number(given)
        if seconds is None and isinstance(given, str):
            seconds = _until(given)
        if seconds is not None:
            return seconds
    return None


def _headers(error: BaseException) -> list[Any]:
    response = getattr(error, "response", None)
    found = [getattr(response, "headers", None), getattr(error, "litellm_response_headers", None)]
    found.append(getattr(error, "headers", None))
    # Those of `urllib` are no `Mapping`.
    return [headers for headers in found if callable(getattr(headers, "items", None))]


def _number(value: object) -> float | None:
    try:
        seconds = float(str(value))
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


def _until(date: str) -> float | None:
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
