"""Keys are hidden wherever an error can carry them, and in the logs of the clients."""

import logging
from typing import Any

import httpx
import pytest

from agentltl.agents.models.quiet_logs import without_keys
from agentltl.agents.models.redaction import HIDDEN, hide, hide_in_error, known_secrets, remember, secrets_of

KEY = "sk-hidden-everywhere"


def hidden(error: BaseException) -> BaseException:
    hide_in_error(error, [KEY])
    return error


def test_in_texts_of_an_error_and_of_all_that_led_to_it() -> None:
    first, second, third = ValueError(KEY), TypeError([KEY, (KEY, {"k": KEY}), b"x" + KEY.encode(), 1]), RuntimeError()
    third.__cause__, second.__context__ = second, first
    first.__context__ = third  # a circle
    hidden(third)
    assert first.args == (HIDDEN,)
    assert second.args == ([HIDDEN, (HIDDEN, {"k": HIDDEN}), b"x" + HIDDEN.encode(), 1],)


def test_in_the_errors_of_a_group() -> None:
    group = ExceptionGroup("several", [ValueError(KEY)])
    hidden(group)
    assert str(group.exceptions[0]) == HIDDEN


def test_in_a_response_and_its_request() -> None:
    request = httpx.Request("POST", "http://127.0.0.1", headers={"authorization": f"Bearer {KEY}"})
    error: Any = ValueError()
    error.response = httpx.Response(401, headers={"x-echo": KEY}, json={"key": KEY}, request=request)
    assert KEY in error.response.text
    hidden(error)
    assert KEY not in f"{error.response.text}{dict(error.response.headers)}{error.response.content!r}"
    assert error.response.json() == {"key": HIDDEN}
    assert request.headers["authorization"] == f"Bearer {HIDDEN}"


def test_in_a_response_without_a_request_and_in_headers_by_themselves() -> None:
    error: Any = ValueError()
    error.response, error.headers = httpx.Response(401, text=KEY), httpx.Headers({"x-echo": KEY})
    hidden(error)
    assert (error.response.text, error.headers["x-echo"]) == (HIDDEN, HIDDEN)


def test_the_longest_key_is_hidden_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", f"{KEY}-and-more")
    monkeypatch.setenv("OTHER_TOKEN", "short")
    secrets = known_secrets(KEY)
    assert "short" not in secrets
    assert hide(f"{KEY}-and-more {KEY}", secrets) == f"{HIDDEN} {HIDDEN}"


def test_the_keys_of_an_object_that_has_no_attributes() -> None:
    assert secrets_of(object()) == []


def record(message: str, *args: object, error: BaseException | None = None) -> logging.LogRecord:
    info = None if error is None else (type(error), error, None)
    return logging.LogRecord("LiteLLM", logging.DEBUG, "file", 1, message, args, info)


def test_in_a_record_of_a_log() -> None:
    remember(KEY)
    one, two, three = record("the key %s", KEY), record("%s is no key", "this"), record("ah", error=ValueError(KEY))
    assert all(without_keys(each) for each in (one, two, three))
    assert (one.getMessage(), two.getMessage()) == (f"the key {HIDDEN}", "this is no key")
    assert two.args == ("this",)
    assert three.exc_info is not None
    assert str(three.exc_info[1]) == HIDDEN


def test_a_record_that_cannot_be_written_is_left_to_the_handlers() -> None:
    assert without_keys(record("%d", "no number"))
