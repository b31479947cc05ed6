"""Keys are hidden wherever an error can carry them, and in the logs of the clients."""

import json
import logging
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from smolagents.models import ChatMessage, Model

from agentltl.agents.agent import Agent
from agentltl.agents.models.hidden_error import error_text, hide_in_error
from agentltl.agents.models.quiet_logs import without_keys
from agentltl.agents.models.redaction import HIDDEN, hide, known_secrets, remember, secrets_of
from agentltl.agents.models.scripted import ScriptedModel

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


class Told:
    """Something in an error whose text has a key."""

    def __repr__(self) -> str:
        return f"told {KEY}"


@pytest.mark.parametrize(
    "error",
    [
        ImportError(f"no module {KEY}", name=KEY),
        OSError(2, "nope", f"http://x/?key={KEY}"),
        UnicodeEncodeError("ascii", f"Bearer {KEY}\u00e9", 27, 28, "ordinal"),
        Exception(Told()),
        Exception({KEY: 1}, {KEY}, frozenset([KEY])),
        Exception("https://x?k=" + KEY.replace("-", "%2D")),
        ExceptionGroup("group", [OSError(2, "nope", KEY)]),
    ],
)
def test_wherever_an_error_holds_its_text(error: BaseException) -> None:
    hidden(error)
    said = f"{error}{error!r}{vars(error)}{getattr(error, 'object', '')}{getattr(error, 'exceptions', '')}"
    assert KEY not in said
    assert "%2D" not in said


class ReadOnly(Exception):
    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("__"):
            raise AttributeError(name)
        super().__setattr__(name, value)


class Fixed(Exception):
    @property
    def args(self) -> tuple[str]:  # type: ignore[override]
        return (KEY,)


@dataclass(frozen=True)
class Frozen(Exception):
    text: str = KEY


class Raising(Exception):
    @property
    def exceptions(self) -> object:
        raise ValueError(KEY)

    def __str__(self) -> str:
        raise ValueError(KEY)


class Written(Exception):
    def __str__(self) -> str:
        return f"the key is {KEY}"


def test_hiding_raises_nothing() -> None:
    for error in (Frozen(), Raising(KEY), ReadOnly(KEY), Fixed(KEY), Written(KEY)):
        hidden(error)
        assert KEY not in str(BaseException.args.__get__(error))  # type: ignore[attr-defined]
    assert vars(hidden(Frozen(KEY))) == {"text": HIDDEN}
    remember(KEY)
    assert error_text(Raising(KEY)) == "<Raising>"


@pytest.mark.parametrize("error", [ReadOnly(KEY), Fixed(KEY), Written(KEY)])
def test_an_error_that_cannot_be_rewritten_is_told_with_its_class_and_without_the_key(error: Exception) -> None:
    class Failing(Model):
        def generate(self, *_: Any, **__: Any) -> ChatMessage:
            raise error

    remember(KEY)
    result = Agent([], Failing(model_id="failing"), retries=0).run("Go.")
    assert (result.error_class, result.attempts_count) == (type(error).__name__, 1)
    assert result.attempts[0]["error_class"] == type(error).__name__
    assert KEY not in json.dumps(result.to_dict())
    other = ScriptedModel([("final_answer", {"answer": "done"})])
    assert Agent([], Failing(model_id="failing"), retries=0, fallback_models=[other]).run("Go.")["answer"] == "done"


def test_the_text_of_an_error_says_something() -> None:
    remember(KEY)
    assert error_text(ValueError()) == "ValueError"
    assert error_text(ValueError(KEY)) == HIDDEN


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMIsecretaws", True),
        ("DB_PASSWORD", "correct-horse", True),
        ("OPENAI_API_KEY_2", "sk-number-two", True),
        ("SOME_CREDENTIALS", "user:in-plain-text", True),
        ("LICENSE_KEY", "abc-123-def", True),
        ("SORT_KEY", "created_at", False),
        ("MONKEY", "gibbon-123", False),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/srv/service.json", False),
        ("DB_PASSWORD", "short", False),
    ],
)
def test_which_variables_of_the_environment_hold_a_secret(
    name: str, value: str, secret: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert (value in known_secrets()) is secret


def test_a_key_in_a_header_is_known_without_its_scheme_and_plain_headers_are_no_keys() -> None:
    class Client:
        api_key = None

        def __init__(self) -> None:
            self.api_key = "sk-of-the-client"

    class Holder:
        def __init__(self) -> None:
            self.client = Client()
            self.extra_headers = {"Authorization": "Bearer tok-in-a-header", "Content-Type": "application/json"}

    assert secrets_of(Holder()) == ["Bearer tok-in-a-header", "sk-of-the-client", "tok-in-a-header"]


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
