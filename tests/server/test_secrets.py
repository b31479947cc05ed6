"""The token and the keys are in nothing that a server tells, logs or shows."""

import logging

import pytest

from agentltl import ConstraintError, Pending, tool
from agentltl.agents.models.redaction import remember
from agentltl.server.settings import Settings
from agentltl.testing import ScriptedModel
from tests.server.a2a_client import TOKEN, ask, connected, follow, message, post, run, said, state
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


@tool
def show(what: dict[str, str], key: str) -> dict[str, str]:
    """Give it back."""
    return what


def test_what_a_tool_is_given_and_gives_is_told_without_keys(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentltl.agents.models.redaction._remembered", set())
    calls = [("show", {"what": {KEY: f"it is {KEY}"}, "key": KEY}), ("leak", {}), ("final_answer", {"answer": "done"})]
    deployed = deploy(calls, agent={"tools": [show, leak]}, share_tool_calls=True)
    remember(KEY)  # a model that was made later has it
    updates = str(follow(deployed.url, "Go."))
    assert "it is [hidden]" in updates
    assert "the service refused [hidden]" in updates
    assert KEY not in updates


def test_a_key_that_is_set_while_the_server_runs_is_hidden(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    deployed = deploy([RuntimeError("the provider refused late-0123456789")])
    monkeypatch.setenv("LATE_API_KEY", "late-0123456789")
    assert "the provider refused [hidden]" in said(ask(deployed.url, "Go."))


def test_a_call_that_waits_for_a_person_is_told_without_keys(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_API_KEY", KEY)
    rules = [{"name": "never", "rule": "never(show)", "severity": "ASK"}]
    agent = {"tools": [show], "constraints": rules, "approve": lambda request: Pending()}
    calls = [("show", {"what": {"a": KEY}, "key": KEY})]
    task = ask(deploy(calls, agent=agent, share_tool_calls=True).url, "Go.")
    assert state(task) == "input_required"
    assert "[hidden]" in str(task.status)
    assert KEY not in str(task.status)


def test_a_wrong_token_is_not_repeated(deploy: Deploy, logged: pytest.LogCaptureFixture) -> None:
    refused = post(deploy([], token=TOKEN).url, LIST, **V1, authorization="Bearer guessed-guessed-guessed")
    assert "guessed" not in refused.text + str(refused.headers) + logged.text


def test_settings_do_not_show_it() -> None:
    assert TOKEN not in repr(Settings(token=TOKEN))
