"""Calls that wait for a person, in smolagents' real loop: who is asked, what runs then, and how a run goes on later."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from smolagents import Tool, ToolCallingAgent, tool
from smolagents.agents import ToolOutput
from smolagents.memory import ToolCall
from smolagents.utils import AgentGenerationError

from agentltl import (
    AgentWithConstraints,
    Allow,
    ApprovalPendingError,
    ApprovalRequest,
    Change,
    ConstraintError,
    ConstraintViolationError,
    Deny,
    Pending,
    ToolCallingAgentWithConstraints,
    verify_trace,
)
from agentltl.agents.models.scripted import ScriptedModel
from agentltl.agents.stop import PendingStopError, RefusedCallError
from tests.agents.teams import ASK, CAP, END, Person, pay

ROOT = Path(__file__).parent.parent.parent


def events_of(seen: Any) -> list[tuple[str, Any]]:
    """What is in the guard's trace, without the answer."""
    return [(call.tool, call.args) for call in seen.agent.guard.trace.calls if call.tool != "final_answer"]


@pytest.fixture
def go(watch: Any, echo: Any) -> Any:
    """Run a script with the tools `pay` and `look` and this person: what was seen, and the tools."""

    def go(person: Any, *replies: Any, constraints: Any = (ASK, CAP), **more: Any) -> Any:
        tools = [echo("pay"), echo("look")]
        return watch(
            ToolCallingAgentWithConstraints,
            [*replies, END],
            tools,
            constraints=list(constraints),
            approve=person,
            **more,
        ), *tools

    return go


def test_an_allowed_call_runs_and_the_person_has_seen_all_of_it(go: Any) -> None:
    person = Person(Allow(by="ann"))
    seen, paid, _ = go(person, pay(), name="helper", runs=[{"task": "Pay bob."}])
    assert (seen.answer, paid.got) == ("done", [5])
    (request,) = person.asked
    assert (request.tool, request.args, request.task, request.step, request.agent) == (
        "pay", {"text": 5}, "Pay bob.", 1, "helper",
    )  # fmt: skip
    (rule,) = request.constraints
    assert (rule.name, rule.description) == ("ask", ASK["description"])
    assert '"pay"' in rule.sentence
    assert seen.steps[0].observations == "5"
    assert events_of(seen) == [("approved", {"text": 5}), ("pay", {"text": 5})]
    assert [v.approved for v in seen.agent.guard.violations] == [False, True]


def test_true_and_false_are_answers(go: Any) -> None:
    seen, paid, _ = go(Person(True, False), pay(1), pay(2))
    assert (seen.answer, paid.got) == ("done", [1])
    assert "A person has denied it." in seen.steps[1].observations


def test_a_denied_call_does_not_run_and_the_model_is_told_why(go: Any) -> None:
    seen, paid, _ = go(Person(Deny("bob was paid yesterday")), pay())
    assert (seen.answer, paid.got) == ("done", [])
    assert "denied it: bob was paid yesterday" in seen.model.requests[1].text
    assert events_of(seen) == []


def test_without_an_approver_it_is_refused(go: Any) -> None:
    seen, paid, _ = go(None, pay())
    assert (seen.answer, paid.got) == ("done", [])
    assert "It runs only if a person approves it." in seen.steps[0].observations


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "yes",
        1,
        [],
        Allow,
        ValueError("the network is down"),
        Change("all"),
        Allow(until="tomorrow"),
        Allow(by=7),
        Deny(None),
        Change({"amount": 1}, by=7),
    ],
)
def test_no_clear_yes_is_a_no_and_the_log_says_so(answer: Any, go: Any, caplog: pytest.LogCaptureFixture) -> None:
    person = Person(answer if answer is not Allow else lambda _: Allow)
    with caplog.at_level(logging.ERROR, "agentltl"):
        seen, paid, _ = go(person, pay())
    assert (seen.answer, paid.got) == ("done", [])
    assert "A person has denied it" in seen.steps[0].observations
    assert len(caplog.records) == 1
    if isinstance(answer, ValueError):
        assert "the network is down" in caplog.text
        assert "Traceback" in caplog.text
        assert "network" not in seen.steps[0].observations


def test_a_person_who_breaks_off_ends_the_run(go: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        go(Person(KeyboardInterrupt()), pay())


def test_an_approver_can_be_async(go: Any) -> None:
    async def person(request: ApprovalRequest) -> Allow:
        await asyncio.sleep(0.001)
        return Allow()

    seen, paid, _ = go(person, pay())
    assert (seen.answer, paid.got) == ("done", [5])

    async def inside() -> Any:
        return go(person, pay(6))

    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:  # the thread keeps the loop that it may have
        seen, paid, _ = runner.run(inside())
    assert (seen.answer, paid.got) == ("done", [6])


def test_an_async_approver_that_raises_denies(go: Any, caplog: pytest.LogCaptureFixture) -> None:
    async def person(request: ApprovalRequest) -> Allow:
        raise ValueError("down")

    seen, paid, _ = go(person, pay())
    assert (seen.answer, paid.got) == ("done", [])
    assert "down" in caplog.text


@pytest.mark.parametrize(
    "rule",
    [
        CAP,
        {"name": "stop", "rule": "G !pay(text > 100)", "severity": "HARD_STOP"},
        {"name": "soft", "rule": "G !pay(text > 100)", "severity": "SOFT_BLOCK"},
    ],
)
def test_nobody_is_asked_about_a_call_that_another_rule_refuses(rule: Any, go: Any) -> None:
    person = Person()
    _, paid, _ = go(person, pay(101), constraints=[ASK, rule])
    assert (person.asked, paid.got) == ([], [])


def test_nobody_is_asked_about_a_call_that_smolagents_does_not_accept(go: Any) -> None:
    person = Person()
    seen, paid, _ = go(person, ("pay", {"sum": 5}), ("pray", {"text": 5}))
    assert (seen.answer, person.asked, paid.got) == ("done", [], [])


def test_a_rule_that_names_the_approval_asks_under_another_severity(go: Any) -> None:
    rule = 'G (pay(args = ?a) -> Y approved(tool = "pay", args = ?a))'
    person = Person(True, Deny("no more"))
    seen, paid, _ = go(person, pay(), pay(), constraints=[{"name": "r", "rule": rule, "severity": "PERSISTENT_BLOCK"}])
    assert (seen.answer, paid.got) == ("done", [5])
    assert "no more" in seen.steps[1].observations


def test_an_approval_is_good_for_one_call(go: Any) -> None:
    person = Person(True, False, True)
    seen, paid, _ = go(person, [pay(), pay()], pay())
    assert (len(person.asked), paid.got) == (3, [5, 5])
    assert seen.steps[0].observations.startswith("5\nRefused")


def test_what_comes_after_a_question_waits_for_the_answer(go: Any) -> None:
    at: list[list[Any]] = []

    def answer(request: ApprovalRequest) -> bool:
        at.append([*looked])
        return True

    looked: list[Any] = []
    person = Person(answer, answer)

    def prepare(agent: Any) -> None:
        agent.tools["look"].got = looked

    message = [("look", {"text": 1}), pay(2), ("look", {"text": 3}), pay(4), ("look", {"text": 5})]
    seen, paid, _ = go(person, message, prepare=prepare)
    assert (paid.got, looked) == ([2, 4], [1, 3, 5])
    assert at == [[], [1]] or at == [[], [1, 3]] or at == [[1], [1, 3]]
    assert 3 not in at[0]
    assert 5 not in at[1]
    assert seen.steps[0].observations == "1\n2\n3\n4\n5"


def test_questions_come_one_at_a_time(go: Any) -> None:
    inside = threading.Lock()

    def person(request: ApprovalRequest) -> bool:
        assert inside.acquire(blocking=False)
        threading.Event().wait(0.01)
        inside.release()
        return True

    _, paid, _ = go(person, [pay(n) for n in range(6)])
    assert paid.got == list(range(6))


def test_changed_arguments_run_and_the_model_is_told(go: Any) -> None:
    seen, paid, _ = go(Person(Change({"text": 3}, by="ann")), pay())
    assert (seen.answer, paid.got) == ("done", [3])
    assert seen.steps[0].observations == '3\nA person has changed the arguments to {"text": 3}.'
    assert seen.steps[0].tool_calls == [ToolCall("pay", {"text": 5}, "call_1")], "what the model said stays"
    assert events_of(seen) == [
        ("approved", {"text": 3}), ("pay", {"text": 3}),
    ]  # fmt: skip


def test_changed_arguments_among_several_calls(go: Any) -> None:
    seen, paid, looked = go(Person(Change({"text": 3}), True), [("look", {"text": 0}), pay(), pay(7)])
    assert (paid.got, looked.got) == ([3, 7], [0])
    assert seen.steps[0].observations == '0\n3\nA person has changed the arguments to {"text": 3}.\n7'


def test_a_changed_call_that_fails_tells_of_the_change(go: Any) -> None:
    for reply in (pay(), [pay(), ("look", {"text": 1})]):
        seen, paid, _ = go(Person(Change({"text": "fail"})), reply, constraints=[ASK])
        assert paid.got == ["fail"]
        assert 'changed the arguments to {"text": "fail"}' in seen.model.requests[1].text


def test_changed_arguments_are_judged_by_all_rules(go: Any) -> None:
    person = Person(Change({"text": 500}))
    seen, paid, _ = go(person, pay())
    assert (seen.answer, paid.got, len(person.asked)) == ("done", [], 1)
    assert "Rule cap" in seen.steps[0].observations
    assert 'changed the arguments to {"text": 500}' in seen.steps[0].observations
    assert seen.agent.guard.pending == ()


def test_changed_arguments_that_break_no_rule_need_no_approval(go: Any) -> None:
    rule = {"name": "big", "rule": "G !pay(text > 10)", "severity": "ASK"}
    seen, paid, _ = go(Person(Change({"text": 10})), pay(50), constraints=[rule])
    assert paid.got == [10]
    assert events_of(seen) == [("pay", {"text": 10})]


def test_a_change_that_asks_again_is_a_new_question(go: Any) -> None:
    person = Person(Change({"text": 4}, ask_again=True), Change({"text": 3}, ask_again=True), True)
    _, paid, _ = go(person, pay())
    assert ([r.args["text"] for r in person.asked], paid.got) == ([5, 4, 3], [3])
    person = Person(Change({"text": 4}, ask_again=True), Deny("no"))
    seen, paid, _ = go(person, pay())
    assert (len(person.asked), paid.got) == (2, [])
    assert 'denied it: no\nA person has changed the arguments to {"text": 4}.' in seen.steps[0].observations


def test_an_approver_that_changes_for_ever_comes_to_an_end(go: Any) -> None:
    seen, paid, _ = go(lambda r: Change({"text": r.args["text"] + 1}, ask_again=True), pay(0))
    assert (seen.answer, paid.got) == ("done", [])


@pytest.mark.parametrize("args", [{"sum": 3}, {}, {"text": 3, "more": 4}])
def test_changed_arguments_that_do_not_fit_the_tool_are_a_no(
    args: Any, go: Any, caplog: pytest.LogCaptureFixture
) -> None:
    seen, paid, _ = go(Person(Change(args)), pay())
    assert (seen.answer, paid.got) == ("done", [])
    assert "do not fit `pay`" in caplog.text
    assert "A person has denied it" in seen.steps[0].observations


def test_changed_arguments_are_values_and_no_names_of_the_state(go: Any) -> None:
    def prepare(agent: Any) -> None:
        agent.state["secret"] = 1_000

    for reply in (pay(), [pay(), ("look", {"text": 1})]):
        _, paid, _ = go(Person(Change({"text": "secret"})), reply, prepare=prepare, constraints=[ASK])
        assert paid.got == ["secret"]


def test_the_person_sees_the_values_that_will_run(go: Any) -> None:
    person = Person(True)

    def prepare(agent: Any) -> None:
        agent.state["five"] = 5

    _, paid, _ = go(person, pay("five"), prepare=prepare)
    assert (person.asked[0].args, paid.got) == ({"text": 5}, [5])
    bare = Person(True)
    _, paid, _ = go(bare, ("pay", "bob"), constraints=[ASK])
    assert (bare.asked[0].args, paid.got) == ({"text": "bob"}, ["bob"])


class Odd(Tool):
    """Its default is not of the kind that its inputs name: smolagents refuses it in a message, and uses it all the
    same where it is left out."""

    name = "pay"
    description = "Pays."
    inputs = {  # noqa: RUF012
        "text": {"type": "number", "description": "How much", "nullable": True},
        "to": {"type": "string", "description": "Whom"},
    }
    output_type = "any"

    def __init__(self) -> None:
        super().__init__()
        self.got: list[Any] = []

    def forward(self, to: str, text: float | None = "all") -> Any:  # type: ignore[assignment]
        self.got.append((to, text))


def test_a_default_that_the_call_leaves_to_the_tool_stays_left_to_it(watch: Any) -> None:
    answers = [Allow(), lambda request: Change({**request.args, "to": "eve"}), Change({"to": "bob", "text": 3})]
    person, odd = Person(*answers), Odd()
    calls = [("pay", {"to": "bob"})] * 3
    seen = watch(ToolCallingAgentWithConstraints, [*calls, END], [odd], constraints=[ASK], approve=person)
    assert [request.args for request in person.asked] == [{"to": "bob", "text": "all"}] * 3
    assert (seen.answer, odd.got) == ("done", [("bob", "all"), ("eve", "all"), ("bob", 3)])


def test_what_runs_is_what_was_approved(go: Any) -> None:
    items = ["bread"]

    def answer(request: ApprovalRequest) -> bool:
        items.append("diamonds")
        with pytest.raises(TypeError):
            request.args["text"] = 7
        return True

    seen, paid, _ = go(Person(answer), pay(items), constraints=[ASK])
    assert paid.got == []
    assert "have changed since the call was judged" in seen.model.requests[1].text


def test_what_a_person_changed_it_to_cannot_be_changed_after(go: Any) -> None:
    items = ["bread"]
    change = Change({"text": items})
    later = {"prepare": lambda agent: watch_runs(agent, lambda: items.append("diamonds"))}
    _, paid, _ = go(Person(change), pay(), constraints=[ASK], **later)
    assert paid.got == [["bread"]]


def watch_runs(agent: Any, act: Any) -> None:
    """Do something right before each call of a tool."""
    plain = agent.execute_tool_call

    def execute(name: Any, arguments: Any) -> Any:
        act()
        return plain(name, arguments)

    agent.execute_tool_call = execute


def test_a_direct_call_asks_too(go: Any) -> None:
    person = Person(True, Deny("no"), Change({"text": 1}), Pending())
    seen, paid, _ = go(person)
    agent = seen.agent
    assert agent.execute_tool_call("pay", {"text": 5}) == 5
    with pytest.raises(RefusedCallError, match="denied it: no"):
        agent.execute_tool_call("pay", {"text": 5})
    assert agent.execute_tool_call("pay", {"text": 5}) == 1
    with pytest.raises(ApprovalPendingError):
        agent.execute_tool_call("pay", {"text": 5})
    assert paid.got == [5, 1]


# No answer yet.


def test_a_call_without_an_answer_ends_the_run(go: Any) -> None:
    person = Person(Pending())
    seen, paid, looked = go(person, ("look", {"text": 0}), [("look", {"text": 1}), pay(), ("look", {"text": 2})])
    error = seen.error
    assert isinstance(error, ApprovalPendingError)
    assert isinstance(error, AgentGenerationError)
    assert not isinstance(error, ConstraintViolationError)
    assert error.request is person.asked[0]
    assert (error.decision.action, error.decision.call.args) == ("ask", {"text": 5})
    assert (paid.got, looked.got) == ([], [0, 1]), "what came before it has run, what comes after has not"
    step = seen.steps[1]
    assert [c.name for c in step.tool_calls] == ["look", "pay"]
    assert step.observations.startswith("1\nRefused: `pay` did not run.")
    assert step.observations.endswith("A person has been asked and has not answered yet.")
    assert seen.agent.guard.pending[0].call.args == {"text": 5}
    assert seen.agent.get_constraint_status()["status"] == "completed"
    assert len(seen.model.requests) == 2


def test_a_call_on_its_own_without_an_answer(go: Any) -> None:
    for stream in (False, True):
        seen, paid, _ = go(Person(Pending()), pay(), stream=stream)
        assert isinstance(seen.error, PendingStopError)
        assert paid.got == []
        assert seen.steps[0].observations.endswith("has not answered yet.")
        assert [c.name for c in seen.steps[0].tool_calls] == ["pay"]
    assert [type(e) for e in seen.events if isinstance(e, ToolCall)] == [ToolCall]
    assert [e.decision.allowed for e in seen.events if isinstance(e, ToolOutput)] == [False]


def test_the_last_allowed_step_without_an_answer(go: Any) -> None:
    seen, paid, _ = go(Person(Pending()), pay(), max_steps=1)
    assert isinstance(seen.error, ApprovalPendingError)
    assert paid.got == []


def test_a_question_can_be_sent_to_another_process() -> None:
    request = ApprovalRequest("pay", {"text": 5})
    again = pickle.loads(pickle.dumps(PendingStopError("wait", None, request)))
    assert (type(again), str(again), again.request) == (PendingStopError, "wait", request)
    assert again.dict() == {"type": "PendingStopError", "message": "wait"}


def test_the_same_agent_goes_on_when_there_is_an_answer(go: Any) -> None:
    person = Person(Pending())
    seen, paid, _ = go(person, pay(), pay())
    agent = seen.agent
    agent.guard.approve(agent.guard.pending[0], by="ann")
    assert agent.run("Bob may be paid.", reset=False) == "done"
    assert (paid.got, len(person.asked)) == ([5], 1)


def test_a_later_denial_leaves_it_refused(go: Any) -> None:
    seen, paid, _ = go(Person(Pending(), Deny("as I said")), pay(), pay())
    agent = seen.agent
    agent.guard.deny(agent.guard.pending[0])
    assert agent.run("Bob may not be paid.", reset=False) == "done"
    assert paid.got == []


def test_a_run_from_the_start_has_no_approvals(go: Any) -> None:
    person = Person(Pending(), False)
    seen, paid, _ = go(person, pay(), pay())
    seen.agent.guard.approve(seen.agent.guard.pending[0])
    assert seen.agent.run("Pay bob.") == "done"
    assert (paid.got, len(person.asked)) == ([], 2)


def test_a_changed_call_without_an_answer_is_what_is_pending(go: Any) -> None:
    seen, paid, _ = go(Person(Change({"text": 3}, ask_again=True), Pending()), pay(), pay(3))
    agent = seen.agent
    assert '{"text": 3}' in seen.steps[0].observations
    (question,) = agent.guard.pending
    agent.guard.approve(question)
    assert agent.run("Pay 3.", reset=False) == "done"
    assert paid.got == [3]


PROCESS = """
import json, sys
from smolagents import tool
from agentltl import {kind}
from agentltl.agents.models.scripted import ScriptedModel

@tool
def pay(text: int) -> str:
    '''Pays.

    Args:
        text: how much
    '''
    return f"paid {{text}}"

state = json.load(sys.stdin)
model = ScriptedModel([("pay", {{"text": 5}}), ("pay", {{"text": 5}}), ("final_answer", {{"answer": "paid"}})])
agent = {kind}([pay], model, approve=lambda request: False{more})
agent.restore(state)
guard = agent.guard
(question,) = guard.pending
if {answer}:
    guard.approve(question, by="ann")
else:
    guard.deny(question, "no")
result = agent.run("The answer is there: go on.", reset=False)
json.dump({{
    "told": model.requests[0].text,
    "trace": [[c.tool, c.args, c.step] for c in guard.trace.calls if c.tool != "final_answer"],
    "observations": [s.observations for s in getattr(agent, "smolagent", agent).memory.steps[1:]
                     if hasattr(s, "observations")],
    "result": result if isinstance(result, str) else [result["answer"], result.messages],
}}, sys.stdout)
"""


def another(folder: Path, state: Any, kind: str, answer: bool, more: str = "") -> Any:
    program = folder / "later.py"  # smolagents reads the source of a tool
    program.write_text(PROCESS.format(kind=kind, answer=answer, more=more), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(program)],
        input=json.dumps(state), capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("answer", [True, False])
def test_another_process_goes_on_where_the_run_was(answer: bool, go: Any, tmp_path: Path) -> None:
    seen, _, _ = go(Person(Pending()), ("look", {"text": "fail"}), [("look", {"text": 1}), pay()])
    came = another(tmp_path, seen.agent.to_state(), "ToolCallingAgentWithConstraints", answer, ", verbosity_level=0")
    assert "Do it." in came["told"]
    assert "ValueError: fail" in came["told"], "what went wrong before is remembered"
    assert "has not answered yet" in came["told"]
    assert came["told"].endswith("The answer is there: go on.")
    assert came["result"] == "paid"
    ran = [["look", {"text": "fail"}, 1], ["look", {"text": 1}, 2]]
    if answer:
        assert came["trace"] == [*ran, ["approved", {"text": 5}, 2], ["pay", {"text": 5}, 3]]
        assert came["observations"][-3] == "paid 5"
        assert came["observations"][-2].endswith("A person has denied it.")
    else:
        assert came["trace"] == ran


@tool
def spend(text: int) -> str:
    """Pays.

    Args:
        text: how much
    """
    return f"paid {text}"


spend.name = "pay"


def recorded(person: Any, *replies: Any, **more: Any) -> Any:
    events: list[Any] = []
    model = ScriptedModel([*replies, END])
    agent = AgentWithConstraints([spend], model, constraints=[ASK, CAP], approve=person, sinks=[events.append], **more)
    return agent, agent.run("Pay bob."), events


def kinds(events: list[Any], *wanted: str) -> list[str]:
    return [e.kind for e in events if e.kind in wanted]


def test_a_result_says_what_is_pending() -> None:
    agent, result, events = recorded(Person(Pending()), pay())
    assert (result.interrupted, result.success, result.ending, result["answer"]) == (True, False, "pending", None)
    assert (result.error_class, "has not answered yet" in result["error"]) == ("PendingStopError", True)
    pending = result.pending
    assert (pending["tool_name"], pending["arguments"], pending["step"]) == ("pay", {"text": 5}, 1)
    assert pending["constraints"][0]["name"] == "ask"
    assert pending["id"] == agent.guard.pending[0].id
    json.dumps(pending)
    metrics = result["metrics"]
    assert (metrics["run_status"], metrics["stopped_by_constraint"], metrics["tool_calls"]) == ("completed", None, [])
    assert [v["severity"] for v in metrics["constraint_violations"]] == ["ASK"]
    assert kinds(events, "tool_call_end", "agent_end") == ["tool_call_end", "agent_end"]
    (end,) = [e for e in events if e.kind == "tool_call_end"]
    assert (end.data["status"], end.data["ran"]) == ("blocked", False)
    assert result.messages[-1]["content"].endswith("has not answered yet.")


def test_an_agent_goes_on_in_another_process(tmp_path: Path) -> None:
    agent, result, _ = recorded(Person(Pending()), pay())
    came = another(tmp_path, agent.to_state(), "AgentWithConstraints", True)
    answer, messages = came["result"]
    assert answer == "paid"
    assert messages[: len(result.messages)] == result.messages, "the transcript is that of the whole conversation"
    assert [c["function"]["name"] for m in messages for c in m.get("tool_calls", ())] == [
        "pay", "pay", "pay", "final_answer",
    ]  # fmt: skip
    assert [tool for tool, *_ in came["trace"]] == ["approved", "pay"]


def test_questions_and_answers_are_events() -> None:
    person = Person(Allow(by="ann"), Deny("no"), Change({"text": 3}), Pending())
    _, _, events = recorded(person, pay(1), pay(2), pay(4), pay(5))
    asked = [e.data for e in events if e.kind == "approval_requested"]
    answers = [e.data for e in events if e.kind == "approval_answered"]
    assert [a["arguments"] for a in asked] == [{"text": 1}, {"text": 2}, {"text": 4}, {"text": 5}]
    assert [a["answer"] for a in answers] == ["allow", "deny", "change", "pending"]
    assert (answers[0]["by"], answers[1]["reason"], answers[2]["changed"]) == ("ann", "no", {"text": 3})
    starts = {e.data["id"]: e.data["call_id"] for e in events if e.kind == "tool_call_start"}
    assert [(a["id"], a["call_id"]) for a in asked] == [(a["id"], a["call_id"]) for a in answers] == [*starts.items()]
    assert len({a["question"] for a in asked}) == 4
    assert kinds(events[:9], "tool_call_start", "constraint_violation", "approval_requested", "approval_answered") == [
        "tool_call_start", "constraint_violation", "approval_requested", "approval_answered", "constraint_violation",
    ]  # fmt: skip
    json.dumps([dict(d) for d in (*asked, *answers)])


def test_the_metrics_have_the_arguments_that_ran() -> None:
    _, result, _ = recorded(Person(Change({"text": 3})), pay(500 - 450))
    metrics = result["metrics"]
    assert [c["arguments"] for c in metrics["tool_calls"]] == [{"text": 3}, {"answer": "done"}]
    assert metrics["completed_trace"][0]["tool_args"] == {"text": 3}
    assert verify_trace(metrics, [CAP])["compliance_score"] == 1.0
    assert result.success


def test_an_approved_run_is_a_success() -> None:
    _, result, _ = recorded(Person(True), pay())
    assert (result.success, result["answer"], result.pending) == (True, "done", None)
    assert result["metrics"]["constraint_checks"] == 1
    assert [c["tool_name"] for c in result["metrics"]["completed_trace"]] == ["pay"]


# Managed agents, copies, saving.


def test_a_member_that_waits_ends_its_managers_run(echo: Any) -> None:
    paid = echo("pay")
    member = ToolCallingAgentWithConstraints(
        [paid], ScriptedModel([pay(), END]), constraints=[ASK], approve=Person(Pending()), name="clerk",
        description="Pays.", verbosity_level=0,
    )  # fmt: skip
    manager = ToolCallingAgentWithConstraints(
        [],
        ScriptedModel([("clerk", {"task": "Pay.", "additional_args": {}}), END]),
        managed_agents=[member],
        constraints=[],
        verbosity_level=0,
    )
    with pytest.raises(ApprovalPendingError) as caught:
        manager.run("Pay bob.")
    assert caught.value.request is not None
    assert caught.value.request.agent == "clerk"
    assert paid.got == []
    assert manager.get_constraint_status()["status"] == "completed"


def test_a_member_asks_while_its_manager_waits(echo: Any) -> None:
    paid, person = echo("pay"), Person(True)
    member = ToolCallingAgentWithConstraints(
        [paid], ScriptedModel([pay(), END]), constraints=[ASK], approve=person, name="clerk", description="Pays.",
        verbosity_level=0,
    )  # fmt: skip
    manager = ToolCallingAgent(
        [],
        ScriptedModel([("clerk", {"task": "Pay.", "additional_args": {}}), END]),
        managed_agents=[member],
        verbosity_level=0,
    )
    assert manager.run("Pay bob.") == "done"
    assert (paid.got, len(person.asked)) == ([5], 1)


class Locked:
    """An approver that cannot be copied."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def __call__(self, request: ApprovalRequest) -> bool:
        return True


def test_a_copy_asks_the_same_person() -> None:
    person = Locked()
    agent = ToolCallingAgentWithConstraints([spend], ScriptedModel([]), constraints=[ASK], approve=person)
    assert copy.deepcopy(agent).approve is person


def test_an_approver_is_not_saved_and_can_be_given_to_what_is_loaded() -> None:
    agent = ToolCallingAgentWithConstraints([], ScriptedModel([]), constraints=[ASK], approve=Locked())
    data = agent.to_dict()
    assert "approve" not in data
    json.dumps(data["constraints"])


@pytest.mark.parametrize("approve", [True, "yes", Allow()])
def test_what_cannot_be_called_is_no_approver(approve: Any) -> None:
    with pytest.raises(ConstraintError, match="approve"):
        ToolCallingAgentWithConstraints([], ScriptedModel([]), approve=approve)


@pytest.mark.parametrize("state", [{}, [], None, {"kind": "agentltl conversation", "version": 9}])
def test_what_is_no_conversation_is_an_error(state: Any) -> None:
    with pytest.raises(ConstraintError):
        ToolCallingAgentWithConstraints([], ScriptedModel([])).restore(state)


def test_a_damaged_conversation_is_an_error(go: Any) -> None:
    seen, _, _ = go(Person(Pending()), pay())
    whole = json.loads(json.dumps(seen.agent.to_state()))
    before = seen.agent.guard
    for damage, says in [
        ({"steps": None}, "`steps` of this state of an agent is no list"),
        ({"steps": [{"calls": []}]}, "step 1 of this state of an agent cannot be read"),
        ({"steps": [7]}, "step 1 of this state of an agent cannot be read"),
        ({"guard": None}, "not the state of a guard"),
    ]:
        with pytest.raises(ConstraintError, match=says):
            seen.agent.restore({**whole, **damage})
    assert seen.agent.guard is before


def test_a_restored_agent_is_saved_with_the_severities_of_its_rules(go: Any) -> None:
    seen, _, _ = go(Person(Pending()), pay())
    other = ToolCallingAgentWithConstraints(
        [], ScriptedModel([]), constraints=[{"name": "own", "rule": "never(x)"}], constraint_severities={"own": "ASK"},
    )  # fmt: skip
    other.restore(seen.agent.to_state())
    data = other.to_dict()
    names = [constraint["name"] for constraint in data["constraints"]]
    assert "own" not in names
    assert data["constraint_severities"] == {name: seen.agent.guard.severities[name].name for name in names}


def test_plans_and_several_runs_are_remembered(go: Any) -> None:
    seen, _, _ = go(
        Person(Pending()), "First I look.", END, "Then I pay.", pay(), planning_interval=5,
        runs=[{"task": "Look."}, {"task": "Pay.", "reset": False}],
    )  # fmt: skip
    before = seen.agent.write_memory_to_messages()
    state = json.loads(json.dumps(seen.agent.to_state()))
    other = ToolCallingAgentWithConstraints([], ScriptedModel([END]), constraints=[ASK], verbosity_level=0)
    other.restore(state)
    assert [(m.role, m.content) for m in other.write_memory_to_messages()[1:]] == [
        (m.role, m.content) for m in before[1:]
    ]
    assert other.guard.to_state() == seen.agent.guard.to_state()
