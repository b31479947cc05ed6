"""A task that is sent, and how it comes back."""

from a2a.types import Part
from google.protobuf.json_format import MessageToDict, ParseDict
from pydantic import BaseModel

from agentltl import Pending, tool
from tests.server.a2a_client import answer, ask, noted, said, state
from tests.server.conftest import Deploy

ANSWER = ("final_answer", {"answer": "the answer"})
ONCE = [{"name": "once", "rule": "at_most_once(ping)"}]


def test_the_answer_is_the_artifact(deploy: Deploy) -> None:
    task = ask(deploy([("ping", {"n": 1}), ANSWER]).url, "Ping.")
    assert (state(task), answer(task)) == ("completed", "the answer")
    assert [(artifact.name, len(artifact.parts)) for artifact in task.artifacts] == [("answer", 1)]
    assert [part.text for message in task.history for part in message.parts] == ["Ping."]


def test_usage_and_compliance_are_in_the_metadata(deploy: Deploy) -> None:
    task = ask(deploy([("ping", {"n": 1}), ANSWER], agent={"constraints": ONCE}).url, "Ping.")
    known = noted(task)
    assert (known["ending"], known["compliance"], known["turn"]) == ("answer", 1, 1)
    assert known["usage"]["model_calls"] == 2
    assert known["usage"]["total_tokens"] == 30
    assert known["usage"]["total_cost_usd"] is None


def test_an_answer_that_is_no_text_is_data_too(deploy: Deploy) -> None:
    value = {"city": "Oslo", "people": 717_710, "share": 0.5, "old": None, "many": 2**60, "list": [True, {"a": "b"}]}
    task = ask(deploy([("final_answer", {"answer": value})]).url, "Which city?")
    text, data = task.artifacts[0].parts
    assert "Oslo" in text.text
    assert MessageToDict(data.data) == {**value, "many": str(2**60)}
    assert data.media_type == "application/json"


def test_an_answer_in_a_type_is_data_too(deploy: Deploy) -> None:
    class City(BaseModel):
        name: str
        people: int

    reply = ("final_answer", {"name": "Oslo", "people": 717_710})
    task = ask(deploy([reply], agent={"output_type": City}).url, "Which city?")
    assert state(task) == "completed"
    assert MessageToDict(task.artifacts[0].parts[1].data) == {"name": "Oslo", "people": 717_710}


def test_data_of_a_message_reaches_the_agent_as_json(deploy: Deploy) -> None:
    heard: list[str] = []

    def reply(messages: list[object], tools: list[object]) -> tuple[str, dict[str, str]]:
        heard.append(str(messages[-1]))
        return ANSWER

    data = Part()
    ParseDict({"order": "Å7"}, data.data)
    ask(deploy([reply]).url, [Part(text="Look at this."), data])
    assert "Look at this." in heard[0]
    assert '{"order": "Å7"}' in heard[0].replace("\\", "")


def test_an_error_of_the_model_fails_the_task_with_its_text(deploy: Deploy) -> None:
    task = ask(deploy([ValueError("the model is gone")]).url, "Ping.")
    assert state(task) == "failed"
    assert "the model is gone" in said(task)
    assert "Traceback" not in str(task)
    assert not task.artifacts
    assert noted(task)["ending"] == "error"


def test_a_stop_rejects_the_task_with_the_sentence(deploy: Deploy) -> None:
    url = deploy([("ping", {"n": 1}), ("ping", {"n": 2})], agent={"constraints": ONCE}).url
    task = ask(url, "Ping twice.")
    assert state(task) == "rejected"
    assert '"ping" was called once (call #1), and call #2 is one more' in said(task)
    assert noted(task)["ending"] == "stop"


def test_a_refused_call_does_not_end_the_task(deploy: Deploy) -> None:
    rules = [{**ONCE[0], "severity": "PERSISTENT_BLOCK"}]
    task = ask(deploy([("ping", {"n": 1}), ("ping", {"n": 2}), ANSWER], agent={"constraints": rules}).url, "Ping.")
    assert (state(task), answer(task)) == ("completed", "the answer")


def test_a_pending_approval_asks_for_input(deploy: Deploy) -> None:
    settings = {"constraints": [{**ONCE[0], "severity": "ASK"}], "approve": lambda request: Pending()}
    calls = [("ping", {"n": 1}), ("ping", {"n": 1234567})]
    task = ask(deploy(calls, agent=settings).url, "Ping twice.")
    assert state(task) == "input_required"
    assert said(task).startswith("a person has to allow `ping` first\nonce: ")
    assert "1234567" not in str(task)
    task = ask(deploy(calls, agent=settings, share_tool_calls=True).url, "Ping twice.")
    assert MessageToDict(task.status.message.parts[1].data)["arguments"] == {"n": 1234567}


def test_a_task_that_waits_for_input_goes_on_with_the_next_message(deploy: Deploy) -> None:
    settings = {"constraints": [{**ONCE[0], "severity": "ASK"}], "approve": lambda request: Pending()}
    url = deploy([("ping", {"n": 1}), ("ping", {"n": 2}), ANSWER], agent=settings).url
    waits = ask(url, "Ping twice.")
    task = ask(url, "Then do without.", task=waits.id)
    assert task.context_id == waits.context_id
    assert (task.id, state(task), answer(task), noted(task)["turn"]) == (waits.id, "completed", "the answer", 2)


def test_a_run_that_has_used_its_steps_has_failed_with_what_it_had(deploy: Deploy) -> None:
    task = ask(deploy([("ping", {"n": 1}), "what I had"], agent={"max_steps": 1}).url, "Ping.")
    assert (state(task), said(task)) == ("failed", "the run has used all of its steps")
    assert "what I had" in answer(task)


def test_a_run_that_a_person_interrupts_is_cancelled(deploy: Deploy) -> None:
    @tool
    def leave() -> str:
        """End everything."""
        raise KeyboardInterrupt

    task = ask(deploy([("leave", {})], agent={"tools": [leave]}).url, "Leave.")
    assert state(task) == "canceled"
