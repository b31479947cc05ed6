"""How long a provider asks to wait: `Retry-After` (RFC 9110, section 10.2.3), or the `retry-after-ms` of OpenAI."""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime


def retry_after(error: BaseException | None) -> float | None:
    """Seconds from now, at least 0; None where the error has no such header, or one that cannot be read."""
    for headers in _headers(error):
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


def _headers(error: BaseException | None) -> list[Mapping[object, object]]:
    response = getattr(error, "response", None)
    found = [getattr(response, "headers", None), getattr(error, "litellm_response_headers", None)]
    return [headers for headers in [*found, getattr(error, "headers", None)] if isinstance(headers, Mapping)]


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
