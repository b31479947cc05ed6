"""Calls of managed agents that wait for a person: the runs end, and go on later, from saved state too."""

from __future__ import annotations

import copy
import json
import threading
from typing import Any

import pytest
from smolagents import CodeAgent, ToolCallingAgent
from smolagents.memory import TaskStep

from agentltl import (
    AgentWithConstraints,
    ApprovalPendingError,
    ApprovalRequest,
    Change,
    ConstraintError,
    ConstraintViolationError,
    Deny,
    Pending,
    ToolCallingAgentWithConstraints,
)
from agentltl.agents.models.scripted import ScriptedModel
from tests.agents.conftest import Echo
from tests.agents.teams import (
    APART,
    ASK,
    CAP,
    END,
    KINDS,
    OTHER,
    OWN,
    Person,
    agent,
    ask,
    calls,
    code,
    end,
    got,
    look,
    manager,
    pay,
    steps,
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("more", [{}, {"max_steps": 1}, {"stream": True}], ids=["", "in the last step", "streamed"])
def test_a_pending_call_of_a_member_ends_the_managers_run(more: Any, kind: Any) -> None:
    person = Person(Pending())
    clerk = agent(kind, [look(), [look(2), pay(), look(3)], END])
    chief = manager([clerk], look(), [look(0), ask(), pay(9)], approve=person, max_steps=more.pop("max_steps", 2) + 1)
    with pytest.raises(ApprovalPendingError) as caught:
        list(chief.run("Pay bob.", **more))
    assert caught.value.request is person.asked[0]
    assert caught.value.decision.call.args == {"text": 5}
    assert (got(clerk), got(chief), got(chief, "look")) == ([], [], [1, 0])
    assert (len(chief.model.requests), len(clerk.model.requests)) == (2, 2)
    assert chief.get_constraint_status()["status"] == "completed"
    step = steps(chief)[-1]
    assert [call.name for call in step.tool_calls] == ["look", "clerk"]
    assert step.observations.startswith("0\n`clerk` has not finished: it waits for a person")
    assert step.error is None
    (call,) = [call for call in chief.guard.trace.calls if call.tool == "clerk"]
    assert (call.outcome.status, call.outcome.ok) == ("pending", False)
    ((guard, decision),) = chief.open_questions()
    assert guard is chief.guard
    assert decision.call.args == {"text": 5}
    last = steps(clerk)[-1]
    assert [call.name for call in last.tool_calls][:2] == ["look", "pay"]
    assert "2" in last.observations
    assert "has not answered yet" in last.observations


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_goes_on_where_it_was(kind: Any) -> None:
    person = Person(Pending())
    clerk = agent(kind, [look(), pay(), pay(), end("paid")])
    chief = manager([clerk], ask(), ask(task="Go on."), approve=person)
    with pytest.raises(ApprovalPendingError):
        chief.run("Pay bob.")
    ((guard, decision),) = chief.open_questions()
    guard.approve(decision, by="ann")
    assert chief.run("It is approved.", reset=False) == "done"
    assert (got(clerk), got(clerk, "look"), len(person.asked)) == ([5], [1], 1)
    told = clerk.model.requests[2].text
    assert "has not answered yet" in told, "the member remembers what it was doing"
    assert "Go on." in told
    assert "waits for a person" in chief.model.requests[1].text
    assert "run" not in vars(clerk)
    made = [call for call in chief.guard.trace.calls if call.agent == "clerk"]
    assert [call.tool for call in made] == ["look", "approved", "pay"]
    assert made[-1].step > made[0].step, "steps of the run that goes on are others"
    assert chief.open_questions() == []


def both(tmp: Any = None) -> Any:
    """A manager and a member, each with a rule and a person of its own."""
    mine, above = Person(True, True), Person(Pending(), True)
    clerk = agent(ToolCallingAgentWithConstraints, [look(), pay(), pay(), END], constraints=[OWN, OTHER], approve=mine)
    return manager([clerk], ask(), ask(), approve=above), clerk, mine, above


def test_what_one_has_allowed_stays_allowed_while_the_other_is_pending() -> None:
    chief, clerk, mine, above = both()
    with pytest.raises(ApprovalPendingError):
        chief.run("Pay bob.")
    ((guard, decision),) = chief.open_questions()
    assert guard is chief.guard
    guard.approve(decision)
    assert chief.run("Go on.", reset=False) == "done"
    assert (got(clerk), len(mine.asked), len(above.asked)) == ([5], 1, 1)
    assert calls(clerk) == [("look", None), ("approved", None), ("pay", None)]
    taken = [call.step for call in clerk.guard.trace.calls if call.tool != "approved"]
    assert len(set(taken)) == len(taken)


def test_a_member_that_is_pending_for_its_own_rule() -> None:
    person = Person(Pending())
    clerk = agent(ToolCallingAgentWithConstraints, [look(), pay(), pay(), END], constraints=[OWN], approve=person)
    for rules in ([CAP], []):
        clerk.model.requests.clear()
        clerk.tools["pay"].got.clear()
        person.answers = [Pending()]
        chief = manager([clerk], ask(), ask(), constraints=rules)
        with pytest.raises(ApprovalPendingError):
            chief.run("Pay bob.")
        ((guard, decision),) = chief.open_questions()
        assert guard is clerk.guard
        guard.approve(decision)
        assert chief.run("Go on.", reset=False) == "done"
        assert got(clerk) == [5]


@pytest.mark.parametrize("kind", KINDS)
def test_a_denial_that_comes_later(kind: Any) -> None:
    clerk = agent(kind, [pay(), pay(), END])
    chief = manager([clerk], ask(), ask(), approve=Person(Pending(), Deny("as I said")))
    with pytest.raises(ApprovalPendingError):
        chief.run("Pay bob.")
    ((guard, decision),) = chief.open_questions()
    guard.deny(decision, "no")
    assert chief.run("Go on.", reset=False) == "done"
    assert got(clerk) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_run_has_nothing_to_go_on_with(kind: Any) -> None:
    person = Person(Pending(), False)
    clerk = agent(kind, [look(), pay(), pay(), END])
    chief = manager([clerk], ask(), ask(), approve=person)
    with pytest.raises(ApprovalPendingError):
        chief.run("Pay bob.")
    chief.guard.approve(chief.guard.pending[0])
    assert chief.run("Pay bob.") == "done"
    assert (got(clerk), len(person.asked)) == ([], 2)
    assert "not answered yet" not in clerk.model.requests[2].text


@pytest.mark.parametrize("kind", KINDS)
def test_a_member_that_has_run_otherwise_starts_anew(kind: Any) -> None:
    clerk = agent(kind, [look(), pay(), end("other"), pay(), END])
    chief = manager([clerk], ask(), ask(), approve=Person(Pending(), False))
    with pytest.raises(ApprovalPendingError):
        chief.run("Pay bob.")
    boss = manager([clerk], ask(task="Something else."), constraints=[CAP])
    assert boss.run("Do it.") == "done"
    assert "waits" not in clerk.model.requests[2].text
    assert "look" not in clerk.model.requests[2].text.split("New task:")[1]
    assert chief.run("Go on.", reset=False) == "done"
    assert "Something else." not in clerk.model.requests[3].text
    assert got(clerk) == []


@pytest.mark.parametrize("middle_kind", KINDS)
@pytest.mark.parametrize("bottom_kind", KINDS)
@pytest.mark.parametrize("saved", [False, True])
def test_pending_two_levels_deep_and_on(saved: bool, bottom_kind: Any, middle_kind: Any) -> None:
    def team(person: Any, top: Any, mid: Any, low: Any) -> Any:
        bottom = agent(bottom_kind, low, "bottom")
        middle = agent(middle_kind, mid, "middle", managed_agents=[bottom])
        return manager([middle], *top, approve=person), middle, bottom

    chief, middle, bottom = team(
        Person(Pending()), [ask("middle"), ask("middle")], [look(7), ask("bottom"), ask("bottom"), END],
        [look(8), pay(), pay(), END],
    )  # fmt: skip
    with pytest.raises(ApprovalPendingError):
        chief.run("Pay bob.")
    looked = [got(middle, "look"), got(bottom, "look")]
    if saved:
        state = json.loads(json.dumps(chief.to_state()))
        chief, middle, bottom = team(Person(), [ask("middle")], [ask("bottom"), END], [pay(), END])
        chief.restore(state)
    ((guard, decision),) = chief.open_questions()
    guard.approve(decision)
    assert chief.run("Go on.", reset=False) == "done"
    assert got(bottom) == [5]
    assert looked == [[7], [8]]
    for one in (middle, bottom):
        assert f'{{"text": {7 if one is middle else 8}}}' in one.model.requests[-2].text.replace("'", '"')
    made = [call for call in calls(chief)[-4:] if call[0] != "approved"]
    assert made == [("middle", None), ("bottom", "middle"), ("pay", "bottom")]


@pytest.mark.parametrize("kind", KINDS)
def test_another_agent_goes_on_from_saved_state(kind: Any) -> None:
    more = {"constraints": [OWN], "approve": Person(Pending(), Pending())} if kind is KINDS[1] else {}
    clerk = agent(kind, [look(), pay()], **more)
    chief = manager([clerk], ask(), approve=Person(Pending()))
    with pytest.raises(ApprovalPendingError):
        chief.run("Pay bob.")
    state = json.loads(json.dumps(chief.to_state()))
    more = {"constraints": [], "approve": Person(True)} if kind is KINDS[1] else {}
    again = agent(kind, [pay(), END], **more)
    later = manager([again], ask(), approve=Person(True), constraints=[])
    later.restore(state)
    for guard, decision in later.open_questions():
        guard.approve(decision, by="ann")
    assert later.run("It is approved.", reset=False) == "done"
    assert (got(again), got(again, "look")) == ([5], [])
    assert "'name': 'look'" in again.model.requests[0].text
    assert later.to_state().get("members") is None


def test_a_state_with_members_that_the_agent_does_not_have_is_an_error() -> None:
    clerk = agent(ToolCallingAgent, [pay()])
    chief = manager([clerk], ask(), approve=Person(Pending()))
    with pytest.raises(ApprovalPendingError):
        chief.run("Pay bob.")
    state = json.loads(json.dumps(chief.to_state()))
    later = manager([agent(ToolCallingAgent, [], "other")])
    with pytest.raises(ConstraintError, match="the managed agent `clerk` waits"):
        later.restore(state)
    later = manager([agent(ToolCallingAgentWithConstraints, [], constraints=[OWN])])
    with pytest.raises(ConstraintError, match="did not have constraints"):
        later.restore(state)
    assert later.memory.steps == []


def test_a_copy_that_is_made_while_an_agent_goes_on_begins_anew() -> None:
    copies = []

    class Copies(Echo):
        def forward(self, text: Any) -> Any:
            copies.append(copy.deepcopy(of[0]))
            return text

    clerk = agent(ToolCallingAgentWithConstraints, [pay(), pay(), look(), END], tools=[Echo("pay"), Copies("look")])
    of = [clerk]
    chief = manager([clerk], ask(), ask(), approve=Person(Pending()))
    with pytest.raises(ApprovalPendingError):
        chief.run("Pay bob.")
    for guard, decision in chief.open_questions():
        guard.approve(decision)
    chief.run("Go on.", reset=False)
    copies[0].run("Something else.")
    assert [step.task for step in copies[0].memory.steps if isinstance(step, TaskStep)] == ["Something else."]


def test_what_somebody_has_put_in_the_place_of_run_stays() -> None:
    clerk = agent(ToolCallingAgent, [pay(), END])
    chief = manager([clerk], ask(), ask(), approve=Person(Pending(), True))
    own, began = clerk.run, []

    def run(*args: Any, **more: Any) -> Any:
        began.append(more.get("reset"))
        return own(*args, **more)

    clerk.run = run
    with pytest.raises(ApprovalPendingError):
        chief.run("Pay bob.")
    chief.run("Go on.", reset=False)
    assert began == [None, False]
    assert clerk.run is run


def test_a_copy_goes_on_by_itself() -> None:
    chief, _, _, _ = both()
    with pytest.raises(ApprovalPendingError):
        chief.run("Pay bob.")
    twin = copy.deepcopy(chief)
    for one in (twin, chief):
        ((guard, decision),) = one.open_questions()
        guard.approve(decision)
        assert one.run("Go on.", reset=False) == "done"
        assert got(one.managed_agents["clerk"]) == [5]
    assert twin.managed_agents["clerk"] is not chief.managed_agents["clerk"]


class Slow(Echo):
    """Takes its time."""

    def __init__(self, name: str, started: threading.Event, go: threading.Event) -> None:
        super().__init__(name)
        self.started, self.go = started, go

    def forward(self, text: Any) -> Any:
        self.started.set()
        assert self.go.wait(10)
        return super().forward(text)


@pytest.mark.parametrize("kind", KINDS)
def test_members_beside_a_pending_one_finish_and_are_remembered(kind: Any) -> None:
    started, go = threading.Event(), threading.Event()

    def answer(request: ApprovalRequest) -> Pending:
        assert started.wait(10)
        threading.Timer(0.2, go.set).start()
        return Pending()

    clerk = agent(
        ToolCallingAgentWithConstraints, [pay(), pay(), end("paid")], constraints=[OWN], approve=Person(answer)
    )
    slow = agent(kind, [("wait", {"text": "x"}), end("looked")], "slow", tools=[Slow("wait", started, go)])
    failing = agent(kind, [RuntimeError("no model")], "failing")
    chief = manager([clerk, slow, failing], [ask(), ask("slow"), ask("failing")], ask(), constraints=[APART])
    with pytest.raises(ApprovalPendingError):
        chief.run("Do it.")
    step = steps(chief)[-1]
    assert got(slow, "wait") == ["x"]
    assert "`clerk` has not finished" in step.observations
    assert "looked" in step.observations
    assert [call.outcome is not None for call in chief.guard.trace.calls] == [True] * len(chief.guard.trace.calls)
    ((guard, decision),) = chief.open_questions()
    guard.approve(decision)
    assert chief.run("Go on.", reset=False) == "done"
    assert got(clerk) == [5]


def test_two_members_that_are_pending_at_once() -> None:
    both_asked = threading.Barrier(2)

    def answer(request: ApprovalRequest) -> Pending:
        both_asked.wait(10)
        return Pending()

    clerks = [
        agent(KINDS[1], [pay(n), pay(n), END], f"c{n}", constraints=[OWN], approve=Person(answer)) for n in (1, 2)
    ]
    chief = manager(clerks, [ask("c1"), ask("c2")], [ask("c1"), ask("c2")], constraints=[APART])
    with pytest.raises(ApprovalPendingError) as caught:
        chief.run("Do it.")
    assert caught.value.request.agent == "c1"
    assert steps(chief)[-1].error is None
    assert [d.call.args["text"] for _, d in chief.open_questions()] == [1, 2]
    for guard, decision in chief.open_questions():
        guard.approve(decision)
    assert chief.run("Go on.", reset=False) == "done"
    assert [got(clerk) for clerk in clerks] == [[1], [2]]


@pytest.mark.parametrize("middle_kind", KINDS)
def test_a_stop_beside_a_pending_call_is_a_stop(middle_kind: Any) -> None:
    both_there = threading.Barrier(2)

    def answer(request: ApprovalRequest) -> Pending:
        both_there.wait(10)
        return Pending()

    class Meet(Echo):
        def forward(self, text: Any) -> Any:
            both_there.wait(10)
            return text

    clerk = agent(ToolCallingAgentWithConstraints, [pay(), END], constraints=[OWN], approve=Person(answer))
    never = {"name": "never", "rule": "never(pay)"}
    bad = agent(ToolCallingAgentWithConstraints, [("meet", {"text": 1}), pay(), END], "bad", constraints=[never],
                tools=[Meet("meet"), Echo("pay")])  # fmt: skip
    middle = agent(middle_kind, [[ask(), ask("bad")], END], "middle", managed_agents=[clerk, bad])
    chief = manager([middle], ask("middle"), constraints=[APART])
    with pytest.raises(ConstraintViolationError, match="never"):
        chief.run("Do it.")
    assert len(middle.model.requests) == len(chief.model.requests) == 1


def test_the_result_says_what_is_pending_and_events_say_it_once() -> None:
    events: list[Any] = []
    clerk = agent(ToolCallingAgent, [pay(), pay(), END])
    chief = AgentWithConstraints(
        [Echo("look")], ScriptedModel([ask(), ask(), END]), constraints=[ASK], approve=Person(Pending()),
        sinks=[events.append],
    )  # fmt: skip
    chief.smolagent._setup_managed_agents([clerk])
    result = chief.run("Pay bob.")
    assert (result.ending, result.interrupted, result["answer"]) == ("pending", True, None)
    assert (result.pending["tool_name"], result.pending["agent"]) == ("pay", "clerk")
    ended = {e.data["tool_name"]: e.data["status"] for e in events if e.kind == "tool_call_end"}
    assert ended == {"clerk": "failed", "pay": "blocked"}
    asked = [e.data for e in events if e.kind in ("approval_requested", "approval_answered")]
    starts = {e.data["tool_name"]: e.data["id"] for e in events if e.kind == "tool_call_start"}
    assert [a["id"] for a in asked] == [starts["pay"]] * 2
    for guard, decision in chief.open_questions():
        guard.approve(decision)
    result = chief.run("Go on.", reset=False)
    assert result["answer"] == "done"
    assert [c["tool_name"] for c in result["metrics"]["tool_calls"]] == ["clerk", "pay", "final_answer"]


def test_the_record_has_the_arguments_that_a_person_has_put_there() -> None:
    clerk = agent(ToolCallingAgent, [pay(), END])
    chief = AgentWithConstraints(
        [Echo("look")], ScriptedModel([ask(), END]), constraints=[ASK], approve=Person(Change({"text": 3}))
    )
    chief.smolagent._setup_managed_agents([clerk])
    made = chief.run("Pay bob.")["metrics"]["tool_calls"]
    assert [(call["tool_name"], call["arguments"]) for call in made][1] == ("pay", {"text": 3})


def test_a_plain_manager_at_the_top_makes_an_observation_of_it() -> None:
    clerk = agent(ToolCallingAgentWithConstraints, [pay(), END], constraints=[OWN], approve=Person(Pending()))
    chief = ToolCallingAgent([], ScriptedModel([ask(), END]), managed_agents=[clerk], verbosity_level=-1)
    assert chief.run("Pay bob.") == "done"
    assert got(clerk) == []


@pytest.mark.parametrize("line", [
    "pay(5)", "try:\n    pay(5)\nexcept Exception:\n    pass", "def f():\n    try:\n        pay(5)\n    finally:\n"
    "        return look(3)\nf()",
])  # fmt: skip
def test_a_code_member_that_is_pending_ends_and_goes_on(line: str) -> None:
    person = Person(Pending())
    clerk = agent(CodeAgent, [code("print('one')", "look(1)", line, "look(2)"), code("final_answer(pay(5))")])
    chief = manager([clerk], ask(), ask(), approve=person)
    with pytest.raises(ApprovalPendingError):
        chief.run("Pay.")
    assert (got(clerk), got(clerk, "look")) == ([], [1])
    last = steps(clerk)[-1].observations
    assert "one" in last
    assert "`look` has run: 1" in last
    assert "not answered yet" in last
    for guard, decision in chief.open_questions():
        guard.approve(decision)
    assert chief.run("Go on.", reset=False) == "done"
    assert got(clerk) == [5]
    assert "`look` has run: 1" in clerk.model.requests[1].text
