"""Text that UTF-8 cannot hold breaks no task, wherever it comes from."""

from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

from agentltl import Pending, tool
from agentltl.server.teller import Teller
from agentltl.server.values import clean
from tests.server.a2a_client import answer, ask, follow, noted, said, state
from tests.server.conftest import Deploy
from tests.server.test_card import card
from tests.server.test_streaming import pieces, told

HALF = "a\ud800b"
WHOLE = "a\ufffdb"
ANSWER = ("final_answer", {"answer": "done"})


@tool
def odd(text: str) -> str:
    """Give half of a pair back."""
    if text == "raise":
        raise ValueError(HALF)
    return HALF


@tool
def deeper() -> dict[str, Any]:
    """Give much back."""
    deep: dict[str, Any] = {}
    for _ in range(90):
        deep = {"a": deep}
    return deep


def test_halves_are_put_together_or_replaced() -> None:
    assert clean(HALF) == WHOLE
    assert clean("\ud83d\ude00 ü 日本 \U0001f600\x00") == "\U0001f600 ü 日本 \U0001f600\x00"
    assert clean("\ude00\ud83d") == "\ufffd\ufffd"


@pytest.mark.parametrize("streams", [False, True])
def test_an_answer(deploy: Deploy, streams: bool) -> None:
    url = deploy([("final_answer", {"answer": HALF})] * 2, streams=streams).url
    task = ask(url, "Go.")
    assert (state(task), answer(task)) == ("completed", WHOLE)
    updates = follow(url, "Go.")
    assert "".join(text for text, _, _ in pieces(updates)) == WHOLE


def test_an_answer_that_is_data(deploy: Deploy) -> None:
    task = ask(deploy([("final_answer", {"answer": {HALF: [HALF, 1]}})]).url, "Go.")
    assert state(task) == "completed"
    assert MessageToDict(task.artifacts[0].parts[1].data) == {WHOLE: [WHOLE, 1]}


def test_results_arguments_and_errors_of_tools(deploy: Deploy) -> None:
    calls = [("odd", {"text": HALF}), ("odd", {"text": "raise"}), ANSWER]
    updates = follow(deploy(calls, agent={"tools": [odd]}, share_tool_calls=True).url, "Go.")
    ends = [call for call in told(updates, "tool_call") if call["status"] != "started"]
    assert (ends[0]["arguments"], ends[0]["result"]) == ({"text": WHOLE}, WHOLE)
    assert WHOLE in ends[1]["error"]
    assert answer_of(updates) == "done"


def answer_of(updates: list[Any]) -> str:
    return "".join(text for text, _, _ in pieces(updates))


def test_errors_of_the_model(deploy: Deploy) -> None:
    task = ask(deploy([ValueError(f"gone: {HALF}")]).url, "Go.")
    assert state(task) == "failed"
    assert f"gone: {WHOLE}" in said(task)


def test_a_call_that_waits_for_a_person(deploy: Deploy) -> None:
    rules = [{"name": f"never {HALF}", "rule": "never(odd)", "severity": "ASK"}]
    agent = {"tools": [odd], "constraints": rules, "approve": lambda request: Pending()}
    task = ask(deploy([("odd", {"text": HALF})], agent=agent, share_tool_calls=True).url, "Go.")
    assert state(task) == "input_required"
    assert f"never {WHOLE}" in said(task)
    assert MessageToDict(task.status.message.parts[1].data)["arguments"] == {"text": WHOLE}


def test_the_card(deploy: Deploy) -> None:
    shown = card(deploy([], description=HALF, version=HALF).agent_card_url)
    assert (shown["description"], shown["version"]) == (WHOLE, WHOLE)


def test_an_answer_that_is_deeper_than_a_message_can_be(deploy: Deploy) -> None:
    deep: Any = "down here"
    for _ in range(200):
        deep = [deep]
    task = ask(deploy([("final_answer", {"answer": {"a": deep}})]).url, "Go.")
    assert state(task) == "completed"
    assert '["down here"]' in str(MessageToDict(task.artifacts[0].parts[1].data))
    updates = follow(deploy([("deeper", {}), ANSWER], agent={"tools": [deeper]}, share_tool_calls=True).url, "Go.")
    assert answer_of(updates) == "done"


def test_an_end_that_cannot_be_told_fails_the_task(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(self: Teller, result: object, turn: int) -> None:
        raise UnicodeEncodeError("utf-8", HALF, 1, 2, "surrogates not allowed")

    url = deploy([ANSWER, ANSWER]).url
    with monkeypatch.context() as patched:
        patched.setattr(Teller, "end", broken)
        task = ask(url, "Go.", context="one")
    assert state(task) == "failed"
    assert "surrogates not allowed" in said(task)
    after = ask(url, "Again.", context="one")
    assert (state(after), noted(after)["turn"]) == ("completed", 2)
