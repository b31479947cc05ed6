"""What can pass by itself, and what cannot."""

import json
import ssl
import urllib.error
from email.message import Message
from typing import Any

import httpx
import pytest
import requests

from agentltl.agents.models.errors import CircuitOpenError, EmptyReplyError, ModelError, ModelTimeoutError
from agentltl.agents.models.litellm_client import load_litellm
from agentltl.agents.models.transient import can_pass, status_of
from agentltl.errors import RunLimitError
from tests.agents.models.calling import StatusError

litellm = load_litellm()
NAMED: dict[str, Any] = {"llm_provider": "openai", "model": "m"}


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_status_that_can_pass(status: int) -> None:
    assert can_pass(StatusError(status))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 422, 501])
def test_a_status_that_cannot(status: int) -> None:
    assert not can_pass(StatusError(status))


@pytest.mark.parametrize(
    "error",
    [
        TimeoutError(),
        urllib.error.HTTPError("http://x", 503, "busy", Message(), None),
        urllib.error.URLError(ConnectionRefusedError()),
        requests.exceptions.SSLError("the connection was closed"),
        ConnectionResetError(),
        json.JSONDecodeError("no JSON", "{", 0),
        EmptyReplyError(),
        ModelTimeoutError(),
        httpx.ReadTimeout(""),
        httpx.RemoteProtocolError(""),
        httpx.ConnectError(""),
        requests.ConnectionError(),
        requests.ReadTimeout(),
        requests.exceptions.ChunkedEncodingError(),
        litellm.Timeout("", "m", "openai"),
        litellm.RateLimitError("", "openai", "m"),
        litellm.APIConnectionError("", "openai", "m"),
        litellm.ServiceUnavailableError("", "openai", "m"),
    ],
    ids=repr,
)
def test_what_can_pass(error: Exception) -> None:
    assert can_pass(error)


@pytest.mark.parametrize(
    "error",
    [
        KeyboardInterrupt(),
        ssl.SSLCertVerificationError(1, "certificate verify failed"),
        requests.exceptions.SSLError("[SSL: CERTIFICATE_VERIFY_FAILED]"),
        httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed"),
        urllib.error.URLError(ssl.SSLCertVerificationError(1, "[SSL: CERTIFICATE_VERIFY_FAILED]")),
        urllib.error.HTTPError("http://x", 404, "no", Message(), None),
        GeneratorExit(),
        ValueError("a bug"),
        httpx.InvalidURL(""),
        AssertionError(),
        CircuitOpenError("", 1.0),
        RunLimitError("", "max_cost_usd"),
        ModelError(),
        litellm.AuthenticationError("", "openai", "m"),
        litellm.BadRequestError("", "m", "openai"),
        litellm.ContentPolicyViolationError("", "m", "openai"),
        litellm.ContextWindowExceededError("", "m", "openai"),
        litellm.NotFoundError("", "m", "openai"),
    ],
    ids=repr,
)
def test_what_cannot(error: BaseException) -> None:
    assert not can_pass(error)


def test_an_error_without_a_status_is_what_it_was_raised_from() -> None:
    error = RuntimeError("the client failed")
    error.__cause__ = ConnectionError()
    assert can_pass(error)
    error.__cause__ = StatusError(401)
    assert not can_pass(error)
    error.__cause__ = error
    assert not can_pass(error)


def test_a_certificate_that_led_to_an_error_is_not_asked_again() -> None:
    error = StatusError(500)
    error.__context__ = ssl.SSLCertVerificationError(1, "refused")
    assert not can_pass(error)
    error.__suppress_context__ = True
    assert can_pass(error)


@pytest.mark.parametrize(("name", "value", "status"), [("status", 503, 503), ("code", 429, 429), ("code", 1006, None)])
def test_where_clients_keep_a_status(name: str, value: int, status: int | None) -> None:
    error = ValueError()
    setattr(error, name, value)
    assert status_of(error) == status


def test_a_status_of_success_is_none() -> None:
    assert status_of(StatusError(200)) is None
    assert status_of(ValueError()) is None
