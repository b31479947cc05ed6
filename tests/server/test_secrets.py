"""The token and the keys are in nothing that a server tells, logs or shows."""

import logging

import pytest

from agentltl import ConstraintError, tool
from agentltl.server.settings import Settings
from agentltl.testing import ScriptedModel
from tests.server.a2a_client import TOKEN, ask, connected, message, post, run, said, state
from tests.server.conftest import Deploy
from tests.server.test_gate import LIST, V1

KEY = "sk-planted-0123456789"


@tool
def leak() -> str:
    """Tell the key."""
    raise ValueError(f"the service refused {KEY} and {TOKEN}")


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.DEBUG)
    return caplog


def test_a_run_that_fails_tells_no_key(
    deploy: Deploy, logged: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_API_KEY", KEY)
    failing = RuntimeError(f"the provider refused {KEY} and {TOKEN}")
    deployed = deploy([("leak", {}), failing], agent={"tools": [leak]}, token=TOKEN, share_tool_calls=True)

    async def follow() -> str:
        async with connected(deployed.url, streaming=True, token=TOKEN) as client:
            return str([update async for update in client.send_message(message("Go."))])

    told = run(follow())
    assert "the service refused [hidden] and [hidden]" in told
    assert "the provider refused [hidden] and [hidden]" in told
    kept = post(deployed.url, LIST, **V1, authorization=f"Bearer {TOKEN}").text
    assert "the provider refused [hidden]" in kept
    shown = [told, kept, repr(deployed), str(vars(deployed)), logged.text]
    assert [TOKEN in text for text in shown] == [False] * len(shown)
    assert [KEY in text for text in shown] == [False] * len(shown)


def test_a_message_that_cannot_be_answered_at_all_tells_no_key(
    deploy: Deploy, logged: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_API_KEY", KEY)
    deployed = deploy([], token=TOKEN)

    def broken(self: object) -> object:
        raise ConstraintError(f"no agent can be made with {KEY}\nmake another")

    monkeypatch.setattr("agentltl.agents.agent.Agent._twin", broken)
    task = ask(deployed.url, "Go.", token=TOKEN)
    assert (state(task), said(task)) == ("failed", "no agent can be made with [hidden]\nmake another")
    assert "a message could not be answered" in logged.text
    assert KEY not in logged.text
    assert TOKEN not in logged.text


def test_the_key_of_a_model_of_smolagents_is_hidden(deploy: Deploy) -> None:
    model = ScriptedModel([RuntimeError(f"the provider refused {KEY}")])
    model.api_key = KEY  # type: ignore[attr-defined]
    assert "refused [hidden]" in said(ask(deploy([], agent={"model": model}).url, "Go."))


def test_a_wrong_token_is_not_repeated(deploy: Deploy, logged: pytest.LogCaptureFixture) -> None:
    refused = post(deploy([], token=TOKEN).url, LIST, **V1, authorization="Bearer guessed-guessed-guessed")
    assert "guessed" not in refused.text + str(refused.headers) + logged.text


def test_settings_do_not_show_it() -> None:
    assert TOKEN not in repr(Settings(token=TOKEN))
