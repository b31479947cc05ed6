"""People who are asked about calls of managed agents: who is asked for whose rules, and what runs then."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest
from smolagents import CodeAgent, ToolCallingAgent

from agentltl import (
    Allow,
    ApprovalPendingError,
    ApprovalRequest,
    Change,
    ConstraintViolationError,
    Deny,
    Pending,
    ToolCallingAgentWithConstraints,
)
from tests.agents.teams import (
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
    got,
    look,
    manager,
    pay,
)


@pytest.mark.parametrize("kind", KINDS)
def test_the_managers_person_is_asked_for_the_managers_rules(kind: Any) -> None:
    person = Person(Allow(by="ann"))
    clerk = agent(kind, [look(), pay(), END])
    chief = manager([clerk], ask(), approve=person)
    assert chief.run("Pay bob.") == "done"
    assert got(clerk) == [5]
    (request,) = person.asked
    assert (request.tool, request.args, request.agent, request.step) == ("pay", {"text": 5}, "clerk", 2)
    assert [rule.name for rule in request.constraints] == ["ask"]
    assert calls(chief) == [("clerk", None), ("look", "clerk"), ("approved", "clerk"), ("pay", "clerk")]
    assert chief.guard.status()["constraint_checks"] == 3
    assert chief.guard.pending == ()


@pytest.mark.parametrize("kind", KINDS)
def test_an_async_approver(kind: Any) -> None:
    async def person(request: ApprovalRequest) -> Allow:
        await asyncio.sleep(0.001)
        return Allow()

    clerk = agent(kind, [pay(), END])
    assert manager([clerk], ask(), approve=person).run("Pay bob.") == "done"
    assert got(clerk) == [5]


@pytest.mark.parametrize("kind", KINDS)
def test_a_denied_call_does_not_run_and_the_member_is_told_why(kind: Any) -> None:
    clerk = agent(kind, [pay(), END])
    chief = manager([clerk], ask(), approve=Person(Deny("bob was paid yesterday")))
    assert chief.run("Pay bob.") == "done"
    assert got(clerk) == []
    assert "denied it: bob was paid yesterday" in clerk.model.requests[1].text
    assert calls(chief) == [("clerk", None)]


@pytest.mark.parametrize("kind", KINDS)
def test_changed_arguments_run_and_the_member_is_told(kind: Any) -> None:
    clerk = agent(kind, [pay(), END])
    chief = manager([clerk], ask(), approve=Person(Change({"text": 3})))
    assert chief.run("Pay bob.") == "done"
    assert got(clerk) == [3]
    assert 'A person has changed the arguments to {"text": 3}.' in clerk.model.requests[1].text
    assert [call.args for call in chief.guard.trace.calls if call.tool == "pay"] == [{"text": 3}]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("args", [{"text": 500}, {"sum": 3}, {}])
def test_changed_arguments_that_are_refused(args: Any, kind: Any) -> None:
    clerk = agent(kind, [pay(), END])
    person = Person(Change(args))
    assert manager([clerk], ask(), approve=person).run("Pay bob.") == "done"
    assert (got(clerk), len(person.asked)) == ([], 1)
    said = "Rule cap" if args == {"text": 500} else "ones that the tool does not take"
    assert said in clerk.model.requests[1].text


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_call_that_fails_tells_of_the_change(kind: Any) -> None:
    clerk = agent(kind, [pay(), END])
    manager([clerk], ask(), approve=Person(Change({"text": "fail"})), constraints=[ASK]).run("Pay bob.")
    assert got(clerk) == ["fail"]
    assert 'changed the arguments to {"text": "fail"}' in clerk.model.requests[1].text


def test_the_members_own_person_is_asked_for_its_own_rules() -> None:
    mine, above = Person(True), Person()
    clerk = agent(ToolCallingAgentWithConstraints, [pay(), END], constraints=[OWN], approve=mine)
    chief = manager([clerk], ask(), approve=above, constraints=[CAP])
    assert chief.run("Pay bob.") == "done"
    assert (got(clerk), len(mine.asked), above.asked) == ([5], 1, [])


@pytest.mark.parametrize("rules", [[CAP], []])
def test_a_member_without_a_person_asks_its_managers(rules: Any) -> None:
    above = Person(True, Deny("no more"))
    clerk = agent(ToolCallingAgentWithConstraints, [pay(), pay(), END], constraints=[OWN])
    chief = manager([clerk], ask(), approve=above, constraints=rules)
    assert chief.run("Pay bob.") == "done"
    assert (got(clerk), [r.agent for r in above.asked]) == ([5], ["clerk", "clerk"])
    assert "no more" in clerk.model.requests[2].text


def test_the_members_person_does_not_answer_for_the_managers_rules() -> None:
    mine = Person()
    clerk = agent(ToolCallingAgentWithConstraints, [pay(), END], constraints=[OWN], approve=mine)
    chief = manager([clerk], ask())
    assert chief.run("Pay bob.") == "done"
    assert (got(clerk), mine.asked) == ([], [])
    assert "It runs only if a person approves it." in clerk.model.requests[1].text


def test_each_is_asked_for_the_rules_of_its_own() -> None:
    mine, above = Person(True), Person(True)
    clerk = agent(ToolCallingAgentWithConstraints, [pay(), END], constraints=[OWN], approve=mine)
    chief = manager([clerk], ask(), approve=above)
    assert chief.run("Pay bob.") == "done"
    assert got(clerk) == [5]
    assert [rule.name for rule in mine.asked[0].constraints] == ["own"]
    assert [rule.name for rule in above.asked[0].constraints] == ["ask"]
    assert calls(clerk) == [("approved", None), ("pay", None)]
    assert calls(chief) == [("clerk", None), ("approved", "clerk"), ("pay", "clerk")]
    for one in (clerk, chief):
        assert [v.approved for v in one.guard.violations] == [False, True]


@pytest.mark.parametrize("same", [True, False], ids=["given to both", "given to the manager"])
def test_one_person_is_asked_once_for_the_rules_of_both(same: bool) -> None:
    person = Person(True)
    more = {"approve": person} if same else {}
    clerk = agent(ToolCallingAgentWithConstraints, [pay(), END], constraints=[OWN], **more)
    assert manager([clerk], ask(), approve=person).run("Pay bob.") == "done"
    assert got(clerk) == [5]
    assert [rule.name for rule in person.asked[0].constraints] == ["own", "ask"]
    assert len(person.asked) == 1


@pytest.mark.parametrize("who", ["member", "manager"])
def test_one_no_is_a_no_and_leaves_nothing_open(who: str) -> None:
    answers: Any = {"member": (Person(Deny("no")), Person()), "manager": (Person(True), Person(Deny("no")))}
    mine, above = answers[who]
    clerk = agent(ToolCallingAgentWithConstraints, [pay(), END], constraints=[OWN], approve=mine)
    chief = manager([clerk], ask(), approve=above)
    assert chief.run("Pay bob.") == "done"
    assert got(clerk) == []
    assert "denied it: no" in clerk.model.requests[1].text
    assert clerk.guard.pending == chief.guard.pending == ()
    assert calls(clerk) == []
    assert calls(chief) == [("clerk", None)]


def test_what_one_changes_the_other_is_asked_about_again() -> None:
    mine, above = Person(True, True), Person(Change({"text": 3}))
    clerk = agent(ToolCallingAgentWithConstraints, [pay(), END], constraints=[OWN], approve=mine)
    chief = manager([clerk], ask(), approve=above)
    assert chief.run("Pay bob.") == "done"
    assert got(clerk) == [3]
    assert [request.args["text"] for request in mine.asked] == [5, 3]
    assert len(above.asked) == 1


def test_both_may_change_a_call_to_the_same_arguments() -> None:
    """What one has made of the call the other would make of it, too: that is a yes."""
    theirs, mine = Person(*[Change({"text": 3}, by="bob")] * 9), Person(*[Change({"text": 3}, by="ann")] * 9)
    clerk = agent(ToolCallingAgentWithConstraints, [pay(), END], constraints=[OWN], approve=theirs)
    chief = manager([clerk], ask(), approve=mine)
    assert chief.run("Pay.") == "done"
    assert got(clerk) == [3]
    assert [request.args["text"] for request in (*theirs.asked, *mine.asked)] == [5, 3]


def test_whoever_has_allowed_a_call_is_asked_again_about_a_changed_one() -> None:
    theirs, mine = Person(True, False), Person(Change({"text": 3}))
    clerk = agent(ToolCallingAgentWithConstraints, [pay(), END], constraints=[OWN], approve=theirs)
    chief = manager([clerk], ask(), approve=mine)
    assert chief.run("Pay.") == "done"
    assert got(clerk) == []
    assert [request.args["text"] for request in theirs.asked] == [5, 3]


def test_changed_arguments_are_judged_by_both_guards() -> None:
    for own, above in (([OWN, CAP], [ASK]), ([OWN], [ASK, CAP])):
        mine, theirs = Person(Change({"text": 500})), Person()
        clerk = agent(ToolCallingAgentWithConstraints, [pay(), END], constraints=own, approve=mine)
        chief = manager([clerk], ask(), approve=theirs, constraints=above)
        assert chief.run("Pay bob.") == "done"
        assert (got(clerk), theirs.asked) == ([], [])
        assert "Rule cap" in clerk.model.requests[1].text


@pytest.mark.parametrize("severity", ["HARD_STOP", "PERSISTENT_BLOCK", "SOFT_BLOCK", "BLOCK_AND_WARN"])
@pytest.mark.parametrize("asks", ["member", "manager"])
def test_nobody_is_asked_about_a_call_that_the_other_guard_refuses(asks: str, severity: str) -> None:
    hard = {"name": "hard", "rule": "never(pay)", "severity": severity}
    own, above = ([OWN], [hard]) if asks == "member" else ([hard], [ASK])
    person = Person()
    clerk = agent(ToolCallingAgentWithConstraints, [pay(), END], constraints=own, approve=person)
    chief = manager([clerk], ask(), approve=person, constraints=above)
    if severity == "HARD_STOP":
        with pytest.raises(ConstraintViolationError, match="hard"):
            chief.run("Pay bob.")
    else:
        chief.run("Pay bob.")
        assert "Rule hard" in clerk.model.requests[1].text
        assert "approves it" not in clerk.model.requests[1].text
    assert (got(clerk), person.asked) == ([], [])


@pytest.mark.parametrize("middle_kind", KINDS)
@pytest.mark.parametrize("bottom_kind", KINDS)
def test_two_levels_deep(bottom_kind: Any, middle_kind: Any) -> None:
    person = Person(True)
    bottom = agent(bottom_kind, [pay(), END], "bottom")
    middle = agent(middle_kind, [ask("bottom"), END], "middle", managed_agents=[bottom])
    assert manager([middle], ask("middle"), approve=person).run("Pay bob.") == "done"
    assert (got(bottom), person.asked[0].agent) == ([5], "bottom")


def test_the_nearest_person_is_asked() -> None:
    nearest, top = Person(True), Person(True)
    bottom = agent(ToolCallingAgentWithConstraints, [pay(), END], "bottom", constraints=[OWN])
    middle = agent(ToolCallingAgentWithConstraints, [ask("bottom"), END], "middle", managed_agents=[bottom],
                   constraints=[ASK | {"name": "middle"}], approve=nearest)  # fmt: skip
    assert manager([middle], ask("middle"), approve=top).run("Pay bob.") == "done"
    assert got(bottom) == [5]
    assert [rule.name for rule in nearest.asked[0].constraints] == ["own", "middle"]
    assert [rule.name for rule in top.asked[0].constraints] == ["ask"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_soft_block_of_the_manager_that_escalates_asks(kind: Any) -> None:
    soft = {"name": "soft", "rule": "never(pay)", "severity": "SOFT_BLOCK", "max_soft_attempts": 2}
    person = Person(True)
    clerk = agent(kind, [pay(), pay(), pay(), END])
    chief = manager([clerk], ask(), approve=person, constraints=[soft])
    chief.guard = type(chief.guard)([soft], escalate_to="ASK")
    assert chief.run("Pay bob.") == "done"
    assert (got(clerk), len(person.asked)) == ([5], 1)
    assert chief.guard.status().counts["soft"]["soft_refusals"] == 3


def test_an_approval_is_for_the_agent_that_makes_the_call() -> None:
    person = Person(Pending(), False, False)
    clerk, other = agent(ToolCallingAgent, [pay(), END]), agent(ToolCallingAgent, [pay(), END], "other")
    chief = manager([clerk, other], ask(), ask("other"), pay(), approve=person)
    with pytest.raises(ApprovalPendingError):
        chief.run("Pay bob.")
    chief.guard.approve(chief.guard.pending[0])
    assert chief.run("Go on.", reset=False) == "done"
    assert (got(other), got(chief), len(person.asked)) == ([], [], 3)


def test_what_is_judged_is_what_runs_however_long_the_answer_takes() -> None:
    items = ["bread"]

    def answer(request: ApprovalRequest) -> bool:
        items.append("diamonds")
        return True

    clerk = agent(ToolCallingAgent, [pay(items), END])
    manager([clerk], ask(), approve=Person(answer), constraints=[ASK]).run("Pay bob.")
    assert got(clerk) == [["bread"]]


def test_an_approval_that_ends_while_guards_are_asked(monkeypatch: Any) -> None:
    """The clock goes on at each look at it, and the approval ends later and later: the guards agree all the same."""
    ran = set()
    for seconds in range(30):
        clock = itertools.count(1000)
        clerk = agent(ToolCallingAgentWithConstraints, [pay(), END], constraints=[OTHER])
        chief = manager([clerk], ask(), approve=Person(Allow(until=1000 + seconds)))
        with monkeypatch.context() as time_:
            time_.setattr("time.time", lambda clock=clock: float(next(clock)))
            chief.run("Pay.")
        assert ("pay", "clerk") in calls(chief) or got(clerk) == []
        assert [tool for tool, _ in calls(clerk)] == ["pay"] * len(got(clerk))
        ran.add(len(got(clerk)))
    assert ran == {0, 1}


def test_a_code_member_asks_and_goes_on() -> None:
    person = Person(True, Change({"text": 3}), Deny("no"))
    lines = ["x = pay(1)", "y = pay(text=2)", "try:", "    pay(4)", "except Exception as e:", "    print('not', x, y)"]
    clerk = agent(CodeAgent, [code(*lines), code("final_answer(y)")])
    chief = manager([clerk], ask(), approve=person)
    assert chief.run("Pay.") == "done"
    assert got(clerk) == [1, 3]
    assert "not 1 3" in clerk.model.requests[1].text
    assert 'changed the arguments to {"text": 3}' in clerk.model.requests[1].text
