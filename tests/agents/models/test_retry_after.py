"""How long a provider asks to wait, in all the ways in which it can say so."""

import time
from email.message import Message
from email.utils import formatdate
from typing import Any
from urllib.error import HTTPError

import httpx
import pytest

from agentltl.agents.models.retry_after import retry_after
from tests.agents.models.calling import StatusError


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "0.25"}, 0.25),
        ({"retry_after_ms": "1500", "retry_after": "2"}, 1.5),
        ({"retry_after": "soon"}, None),
        ({"retry_after": "-3"}, None),
        ({"retry_after": "inf"}, None),
        ({}, None),
    ],
)
def test_a_number_of_seconds(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(StatusError(429, **headers)) == seconds


def test_a_date() -> None:
    asked = retry_after(StatusError(503, retry_after=formatdate(time.time() + 100, usegmt=True)))
    assert asked is not None
    assert 90 < asked <= 100
    assert retry_after(StatusError(503, retry_after=formatdate(0, usegmt=True))) == 0.0


def test_where_litellm_and_httpx_keep_the_headers() -> None:
    error: Any = ValueError()
    error.litellm_response_headers = httpx.Headers({"Retry-After": "3"})
    assert retry_after(error) == 3.0
    other: Any = ValueError()
    other.headers = {"RETRY-AFTER": 4}
    assert retry_after(other) == 4.0
    assert retry_after(ValueError()) is None
    assert retry_after(None) is None


def test_in_what_an_error_was_raised_from() -> None:
    error = RuntimeError()
    error.__cause__ = StatusError(429, retry_after="2")
    assert retry_after(error) == 2.0


def test_in_the_headers_of_urllib() -> None:
    headers = Message()
    headers["Retry-After"] = "5"
    assert retry_after(HTTPError("http://x", 503, "busy", headers, None)) == 5.0
