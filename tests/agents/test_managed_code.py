"""Code agents under constraints as managed agents and as managers: two guards over one call, people, and stops."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from smolagents import CodeAgent, ToolCallingAgent
from smolagents.local_python_executor import LocalPythonExecutor

from agentltl import (
    ApprovalPendingError,
    Change,
    CodeAgentWithConstraints,
    ConstraintViolationError,
    Deny,
    Pending,
    ToolCallingAgentWithConstraints,
)
from agentltl.agents.models.scripted import ScriptedModel
from tests.agents.conftest import Echo

OURS = CodeAgentWithConstraints
CHIEFS = [ToolCallingAgentWithConstraints, CodeAgentWithConstraints]
MEMBERS = [ToolCallingAgent, CodeAgent, ToolCallingAgentWithConstraints, CodeAgentWithConstraints]
GUARDED = [ToolCallingAgentWithConstraints, CodeAgentWithConstraints]
COUNT = {"name": "count", "rule": "at_most(*, 1000)"}


def rule(name: str, severity: str = "PERSISTENT_BLOCK", text: str = "never(write)", **more: Any) -> dict[str, Any]:
    return {"name": name, "rule": text, "severity": severity, **more}


ASK = rule("ask", "ASK")


def said(kind: Any, *messages: Any) -> list[Any]:
    """Messages of calls `(tool, argument)`, as an agent of this kind makes them; the last one answers."""
    written: list[Any] = []
    for message in messages:
        calls = message if isinstance(message, list) else [message]
        if issubclass(kind, CodeAgent):
            lines = [f"print({tool}({value!r}))" for tool, value in calls]
            written.append("<code>\n" + "\n".join(lines) + "\n</code>")
        else:
            written.append([
                (tool, {"task": value, "additional_args": {}} if tool in ("member", "bottom") else {"text": value})
                for tool, value in calls
            ])  # fmt: skip
    end = (
        "<code>\nfinal_answer('done')\n</code>" if issubclass(kind, CodeAgent) else ("final_answer", {"answer": "done"})
    )
    return [*written, end]


def agent(kind: Any, *messages: Any, name: str = "member", replies: Any = None, **more: Any) -> Any:
    tools = more.pop("tools", None) or [Echo("read"), Echo("write")]
    model = ScriptedModel(replies or said(kind, *messages))
    return kind(tools, model, name=name, description="Helps.", verbosity_level=-1, **more)


def manager(kind: Any, members: Any, *messages: Any, **more: Any) -> Any:
    return agent(kind, *messages, name="chief", managed_agents=list(members), **more)


def got(one: Any, name: str = "write") -> list[Any]:
    return list(one.tools[name].got)


def events(one: Any) -> list[tuple[str, str | None]]:
    return [(call.tool, call.agent) for call in one.guard.trace.calls if call.tool not in ("final_answer", "approved")]


def go(one: Any, task: str = "Do it.", **more: Any) -> Any:
    return one.run(task, **more)


@pytest.mark.parametrize("kind", MEMBERS)
@pytest.mark.parametrize("chief_kind", CHIEFS)
def test_each_call_of_a_member_is_an_event_of_its_manager(chief_kind: Any, kind: Any) -> None:
    member = agent(kind, ("read", 1), [("read", 2), ("read", 3)])
    chief = manager(chief_kind, [member], ("member", "Go."), ("read", 9), constraints=[COUNT, rule("no")])
    assert go(chief) == "done"
    assert events(chief) == [("member", None), *[("read", "member")] * 3, ("read", None)]
    steps = [call.step for call in chief.guard.trace.calls]
    assert len(set(steps)) == len(steps) - (0 if issubclass(kind, CodeAgent) else 1)
    twin = type(chief.guard).from_state(json.loads(json.dumps(chief.guard.to_state())))
    assert [call.step for call in twin.trace.calls] == steps


@pytest.mark.parametrize("kind", MEMBERS)
@pytest.mark.parametrize("chief_kind", CHIEFS)
def test_a_refusal_of_the_manager(chief_kind: Any, kind: Any) -> None:
    more = {"constraints": [COUNT]} if kind in GUARDED else {}
    member = agent(kind, ("write", 1), ("read", 2), **more)
    chief = manager(chief_kind, [member], ("member", "Go."), constraints=[rule("no")])
    assert go(chief) == "done"
    assert (got(member), got(member, "read")) == ([], [2])
    assert "Rule no" in member.model.requests[1].text
    assert events(chief) == [("member", None), ("read", "member")]
    assert [v.step_number for v in chief.guard.violations] == [1]
    if kind in GUARDED:
        assert events(member) == [("read", None)]
        assert not member.guard.violations
        assert all(not call.outcome.failed for call in member.guard.trace.calls)


@pytest.mark.parametrize("kind", GUARDED)
@pytest.mark.parametrize("chief_kind", CHIEFS)
def test_a_refusal_of_the_member_is_nothing_to_its_manager(chief_kind: Any, kind: Any) -> None:
    member = agent(kind, ("write", 1), ("read", 2), constraints=[rule("own")])
    chief = manager(chief_kind, [member], ("member", "Go."), constraints=[COUNT])
    assert go(chief) == "done"
    assert events(chief) == [("member", None), ("read", "member")]
    assert not chief.guard.violations
    assert [v.constraint_name for v in member.guard.violations] == ["own"]


@pytest.mark.parametrize("kind", MEMBERS)
@pytest.mark.parametrize("chief_kind", CHIEFS)
def test_insisting_in_the_next_message_of_a_member(chief_kind: Any, kind: Any) -> None:
    member = agent(kind, ("write", 1), ("write", 1), ("write", 1))
    chief = manager(chief_kind, [member], ("member", "Go."), constraints=[rule("warn", "BLOCK_AND_WARN")])
    assert go(chief) == "done"
    assert got(member) == [1]
    assert [v.override for v in chief.guard.violations] == [False, True, False]


@pytest.mark.parametrize("kind", [CodeAgent, OURS])
@pytest.mark.parametrize("chief_kind", CHIEFS)
def test_the_code_of_a_member_cannot_insist_before_its_model_has_heard(chief_kind: Any, kind: Any) -> None:
    tries = "<code>\nfor _ in range(3):\n    try:\n        write(1)\n    except Exception:\n        pass\n</code>"
    member = agent(kind, replies=[tries, *said(kind)])
    chief = manager(chief_kind, [member], ("member", "go"), constraints=[rule("careful", "BLOCK_AND_WARN")])
    chief.run("Go.")
    assert got(member) == []
    again = type(chief.guard).from_state(json.loads(json.dumps(chief.guard.to_state())))
    assert again.violations == chief.guard.violations
    member = agent(kind, replies=[tries, tries, *said(kind)])
    chief = manager(chief_kind, [member], ("member", "go"), constraints=[rule("careful", "BLOCK_AND_WARN")])
    chief.run("Go.")
    assert got(member) == [1]


@pytest.mark.parametrize("chief_kind", CHIEFS)
@pytest.mark.parametrize(
    ("whose", "kind"), [*(("above", kind) for kind in MEMBERS), *(("own", kind) for kind in GUARDED)]
)
def test_a_stop_ends_both(whose: str, kind: Any, chief_kind: Any) -> None:
    stop = [rule("stop", "HARD_STOP")]
    more = {"constraints": stop} if whose == "own" else {}
    member = agent(kind, ("write", 1), ("read", 2), **more)
    chief = manager(chief_kind, [member], ("member", "Go."), constraints=stop if whose == "above" else [COUNT])
    with pytest.raises(ConstraintViolationError, match="stop"):
        go(chief)
    assert (got(member), got(member, "read")) == ([], [])
    assert len(chief.model.requests) == len(member.model.requests) == 1
    assert chief.get_constraint_status()["stopped_by"] == "stop"


@pytest.mark.parametrize("kind", MEMBERS)
@pytest.mark.parametrize("chief_kind", CHIEFS)
def test_an_outcome_in_a_member_stops_its_manager(chief_kind: Any, kind: Any) -> None:
    member = agent(kind, ("read", "bad"), ("read", 2))
    bad = {"name": "bad", "rule": 'G !read[outcome.text = "bad"]'}
    chief = manager(chief_kind, [member], ("member", "Go."), constraints=[bad])
    with pytest.raises(ConstraintViolationError, match="bad"):
        go(chief)
    assert got(member, "read") == ["bad"]


@pytest.mark.parametrize("kind", MEMBERS)
@pytest.mark.parametrize("chief_kind", CHIEFS)
def test_the_managers_person_is_asked(chief_kind: Any, kind: Any) -> None:
    answers: list[Any] = [True, Deny("no more"), Change({"text": 9})]
    asked: list[Any] = []

    def person(request: Any) -> Any:
        asked.append((request.agent, request.args["text"]))
        return answers.pop(0)

    more = {"constraints": [COUNT]} if kind in GUARDED else {}
    member = agent(kind, ("write", 1), ("write", 2), ("write", 3), **more)
    chief = manager(chief_kind, [member], ("member", "Go."), constraints=[ASK], approve=person)
    assert go(chief) == "done"
    assert got(member) == [1, 9]
    assert asked == [("member", 1), ("member", 2), ("member", 3)]
    assert "no more" in member.model.requests[2].text
    assert 'changed the arguments to {"text": 9}' in member.model.requests[3].text
    assert events(chief) == [("member", None), *[("write", "member")] * 2]
    if kind in GUARDED:
        assert events(member) == [("write", None)] * 2


@pytest.mark.parametrize("saved", [False, True])
@pytest.mark.parametrize("kind", MEMBERS)
@pytest.mark.parametrize("chief_kind", CHIEFS)
def test_a_pending_call_ends_the_run_and_it_goes_on(chief_kind: Any, kind: Any, saved: bool) -> None:
    own = {"constraints": [COUNT, rule("own", "ASK")], "approve": lambda request: True} if kind in GUARDED else {}
    call = ("member", "Go.")

    def team(member_says: Any, chief_says: Any) -> Any:
        member = agent(kind, *member_says, **own)
        more = {"constraints": [ASK], "approve": lambda request: Pending()}
        return manager(chief_kind, [member], *chief_says, **more), member

    chief, member = team([("read", 1), ("write", 2), ("write", 2)], [("read", 7), call, call])
    with pytest.raises(ApprovalPendingError) as caught:
        go(chief)
    assert caught.value.request.agent == "member"
    assert (got(member), got(member, "read")) == ([], [1])
    assert "has not answered yet" in member.memory.steps[-1].observations
    (made,) = [c for c in chief.guard.trace.calls if c.tool == "member"]
    assert made.outcome.status == "pending"
    if saved:
        state = json.loads(json.dumps(chief.to_state()))
        chief, member = team([("write", 2)], [call])
        chief.restore(state)
    ((guard, decision),) = chief.open_questions()
    guard.approve(decision)
    assert go(chief, "It is approved.", reset=False) == "done"
    assert (got(member), got(member, "read")) == ([2], [] if saved else [1])
    assert events(chief)[-2:] == [("member", None), ("write", "member")]


@pytest.mark.parametrize("kind", MEMBERS)
@pytest.mark.parametrize("chief_kind", CHIEFS)
def test_what_is_judged_is_what_runs_however_long_the_answer_takes(chief_kind: Any, kind: Any) -> None:
    items = ["bread"]

    class Gives(Echo):
        def forward(self, text: Any) -> Any:
            return items

    def person(request: Any) -> bool:
        items.append("diamonds")
        return True

    tools = [Gives("give"), Echo("write")]
    lines = "<code>\nwrite(give(1))\n</code>"
    replies = [lines if issubclass(kind, CodeAgent) else ("write", {"text": items}), said(kind)[-1]]
    member = agent(kind, replies=replies, tools=tools)
    chief = manager(chief_kind, [member], ("member", "Go."), constraints=[ASK], approve=person)
    assert go(chief) == "done"
    assert got(member) in ([["bread"]], [])


@pytest.mark.skipif(not hasattr(LocalPythonExecutor([]), "timeout_seconds"), reason="this smolagents has no time limit")
@pytest.mark.parametrize("kind", [CodeAgent, CodeAgentWithConstraints])
def test_the_code_of_a_member_waits_for_an_answer_however_long(kind: Any) -> None:
    def person(request: Any) -> bool:
        time.sleep(1.3)
        return True

    member = agent(kind, ("write", 1), executor_kwargs={"timeout_seconds": 1})
    chief = manager(CHIEFS[0], [member], ("member", "Go."), constraints=[ASK], approve=person)
    assert go(chief) == "done"
    assert got(member) == [1]
    assert "exceeded" not in member.model.requests[1].text


@pytest.mark.parametrize("kind", [CodeAgent, CodeAgentWithConstraints])
@pytest.mark.parametrize("ending", ["stop", "pending"])
def test_the_code_of_a_manager_cannot_hold_up_the_end(ending: str, kind: Any) -> None:
    own = rule("own", "HARD_STOP" if ending == "stop" else "ASK")
    bottom = agent(CHIEFS[0], ("write", 1), name="bottom", constraints=[own], approve=lambda request: Pending())
    lines = ["def go():", "    try:", "        return bottom('Go.')", "    finally:", "        return read(5)", "go()",
             "read(6)", "final_answer('done')"]  # fmt: skip
    middle = agent(kind, replies=["<code>\n" + "\n".join(lines) + "\n</code>"], managed_agents=[bottom])
    for chief in (middle, manager(CHIEFS[0], [middle], ("member", "Go."), constraints=[COUNT])):
        if chief is middle and kind is CodeAgent:
            continue
        for one in (middle, bottom):
            one.model.requests.clear()
        with pytest.raises(ConstraintViolationError if ending == "stop" else ApprovalPendingError):
            go(chief)
        assert got(middle, "read") == []


@pytest.mark.parametrize("middle_kind", MEMBERS)
@pytest.mark.parametrize("chief_kind", CHIEFS)
def test_two_levels_deep(chief_kind: Any, middle_kind: Any) -> None:
    for bottom_kind in MEMBERS:
        bottom = agent(bottom_kind, ("read", 1), ("write", 2), ("write", 2), name="bottom")
        middle = agent(middle_kind, ("bottom", "Go."), ("bottom", "Go."), managed_agents=[bottom])
        chief = manager(chief_kind, [middle], ("member", "Go."), ("member", "Go."), constraints=[ASK],
                        approve=lambda request: Pending())  # fmt: skip
        with pytest.raises(ApprovalPendingError):
            go(chief)
        for guard, decision in chief.open_questions():
            guard.approve(decision)
        assert go(chief, "Go on.", reset=False) == "done"
        assert (got(bottom), got(bottom, "read")) == ([2], [1])
