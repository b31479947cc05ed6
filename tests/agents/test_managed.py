"""Managed agents under a guarded manager: each of their calls is an event of the manager's guard too."""

import copy
import json
import threading
from typing import Any

import pytest
from smolagents import CodeAgent, Tool, ToolCallingAgent
from smolagents.agents import AgentGenerationError
from smolagents.local_python_executor import LocalPythonExecutor, PythonExecutor
from smolagents.memory import ActionStep

from agentltl import Guard
from agentltl.agents.agent_with_constraints import AgentWithConstraints
from agentltl.agents.guarded_tools import Guarded
from agentltl.agents.members import outers_of
from agentltl.agents.models.scripted import ScriptedModel
from agentltl.agents.tool_calling import ToolCallingAgentWithConstraints
from agentltl.constraints.verify import verify_trace
from agentltl.errors import ConstraintError, ConstraintViolationError
from tests.agents.conftest import Echo
from tests.agents.documented import check

A, B = {"text": "a"}, {"text": "b"}
KINDS = [ToolCallingAgent, ToolCallingAgentWithConstraints]
FIRST = {"name": "first", "rule": "precedence(read, write)", "severity": "PERSISTENT_BLOCK"}
COUNT = {"name": "count", "rule": "at_most(*, 1000)"}


def end(answer: Any = "done") -> tuple[str, Any]:
    return ("final_answer", {"answer": answer})


def ask(name: str = "member", task: str = "Do your part.") -> tuple[str, Any]:
    return (name, {"task": task, "additional_args": {}})


@pytest.fixture
def member(echo: Any) -> Any:
    def member(agent_class: Any, replies: Any, name: str = "member", **keywords: Any) -> Any:
        tools = keywords.pop("tools", None) or [echo("read"), echo("write")]
        model = ScriptedModel(replies)
        return agent_class(tools, model, name=name, description="Helps.", verbosity_level=-1, **keywords)

    return member


@pytest.fixture
def managed(watch: Any, echo: Any) -> Any:
    """Run a guarded manager of these members, with the tools read and write of its own."""

    def managed(replies: Any, members: Any, *rules: Any, **more: Any) -> Any:
        tools = [echo("read"), echo("write")]
        more = {"constraints": list(rules)} | more
        return watch(ToolCallingAgentWithConstraints, replies, tools, managed_agents=list(members), **more)

    return managed


def trace(seen: Any) -> list[tuple[str, str | None]]:
    return [(call.tool, call.agent) for call in seen.agent.guard.trace.calls]


def got(agent: Any, name: str) -> list[Any]:
    return list(agent.tools[name].got)


def code(*lines: str) -> str:
    return "<code>\n" + "\n".join(lines) + "\n</code>"


# Events.


@pytest.mark.parametrize("kind", KINDS)
def test_a_members_calls_are_events_of_the_managers_guard(kind: Any, managed: Any, member: Any) -> None:
    helper = member(kind, [("read", A), ("write", {"text": "fail"}), end("part")])
    seen = managed([ask(), ("write", A), end()], [helper], FIRST)
    assert seen.answer == "done"
    assert trace(seen) == [
        ("member", None), ("read", "member"), ("write", "member"), ("write", None), ("final_answer", None),
    ]  # fmt: skip
    calls = seen.agent.guard.trace.calls
    assert [call.outcome.failed for call in calls] == [False, False, True, False, False]
    assert (calls[1].outcome.text, calls[1].args) == ("a", A)
    assert calls[0].start <= calls[1].start <= calls[1].outcome.end <= calls[0].outcome.end
    assert seen.agent.get_constraint_status()["constraint_checks"] == 4
    assert [call["tool_name"] for call in seen.agent.get_constraint_status()["completed_trace"]] == [
        "member", "read", "write", "write",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_agent_is_a_path(kind: Any, managed: Any, member: Any) -> None:
    rule = {"name": "not-you", "rule": 'G !write(agent = "member")', "severity": "PERSISTENT_BLOCK"}
    helper = member(kind, [("write", A), end("part")])
    other = member(kind, [("write", B), end("part")], name="other")
    seen = managed([ask(), ask("other"), ("write", A), end()], [helper, other], rule)
    assert (got(helper, "write"), got(other, "write"), got(seen.agent, "write")) == ([], ["b"], ["a"])
    (violation,) = seen.agent.get_constraint_status()["violations"]
    assert (violation["tool_name"], violation["step_number"]) == ("write", 1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_refusal_is_an_observation_of_the_member(kind: Any, managed: Any, member: Any) -> None:
    helper = member(kind, [("write", A), ("read", A), ("write", B), end("part")])
    seen = managed([ask(), end()], [helper], FIRST)
    assert seen.answer == "done"
    assert got(helper, "write") == ["b"]
    assert "First call `read`" in helper.model.requests[1].text
    assert trace(seen)[1:3] == [("read", "member"), ("write", "member")]
    assert len(seen.agent.guard.violations) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_the_answer_of_a_member_is_not_the_runs(kind: Any, managed: Any, member: Any) -> None:
    rules = [
        {"name": "read-it", "rule": "precedence(read, final_answer)"},
        {"name": "one-answer", "rule": "at_most_once(final_answer)"},
        {"name": "closed", "rule": "called(read)", "applies_to_final_answer": True},
    ]
    helper = member(kind, [end("part")])
    seen = managed([ask(), ("read", A), end()], [helper], *rules)
    assert seen.answer == "done"
    assert [call.tool for call in seen.agent.guard.trace.calls] == ["member", "read", "final_answer"]


@pytest.mark.parametrize("kind", KINDS)
def test_messages_of_a_member_are_steps_of_their_own(kind: Any, managed: Any, member: Any) -> None:
    rule = {"name": "apart", "rule": "G !same_step", "severity": "TOLERATE"}
    message = [("read", A), ("read", B)]
    helper = member(kind, [("read", A), message, end("part")])
    seen = managed([ask(), ("read", A), end()], [helper], rule)
    (violation,) = seen.agent.guard.violations
    assert (violation.tool_args, violation.step_number) == (seen.agent.guard.trace.calls[3].args, 1)
    steps = [call.step for call in seen.agent.guard.trace.calls]
    assert len(set(steps)) == 5
    twin = Guard.from_state(json.loads(json.dumps(seen.agent.guard.to_state())))
    assert [call.step for call in twin.trace.calls] == steps
    assert twin.status() == seen.agent.guard.status()


@pytest.mark.parametrize("kind", KINDS)
def test_insisting_in_the_next_message_of_a_member(kind: Any, managed: Any, member: Any) -> None:
    rule = FIRST | {"severity": "BLOCK_AND_WARN"}
    helper = member(kind, [("write", A), ("write", A), end("part")])
    seen = managed([ask(), end()], [helper], rule)
    assert got(helper, "write") == ["a"]
    assert [violation.override for violation in seen.agent.guard.violations] == [False, True]


@pytest.mark.parametrize("kind", KINDS)
def test_arguments_that_the_base_does_not_accept_are_no_events(kind: Any, managed: Any, member: Any) -> None:
    helper = member(kind, [("read", {"texts": 1}), ("nothing", {}), end("part")])
    seen = managed([ask(), end()], [helper], {"name": "no", "rule": "never(read)"})
    assert trace(seen) == [("member", None), ("final_answer", None)]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_judged_are_the_values_of_the_members_state(kind: Any, managed: Any, member: Any) -> None:
    rule = {"name": "secret", "rule": 'G !read(text ~ "*secret*")'}
    helper = member(kind, [("read", {"text": "doc"}), end()])
    call = ("member", {"task": "Go.", "additional_args": {"doc": "the secret"}})
    seen = managed([call, end()], [helper], rule)
    assert isinstance(seen.error, ConstraintViolationError)
    assert got(helper, "read") == []


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_settled_raw(kind: Any, managed: Any, member: Any) -> None:
    rule = {"name": "cheap", "rule": "G (write -> O read[price < 10])", "severity": "PERSISTENT_BLOCK"}
    for price, written in ((30, []), (3, ["a"])):
        helper = member(kind, [("read", {"text": {"price": price}}), ("write", A), end("part")])
        seen = managed([ask(), end()], [helper], rule)
        assert seen.agent.guard.trace.calls[1].outcome.value == {"price": price}
        assert got(helper, "write") == written


@pytest.mark.parametrize("kind", KINDS)
def test_a_second_run_remembers_and_guards_again(kind: Any, managed: Any, member: Any) -> None:
    helper = member(kind, [("read", A), end("1"), ("write", A), end("2"), ("write", B), end("3")])
    runs = [{}, {"reset": False}, {}]
    seen = managed([ask(), end(), ask(), end(), ask(), end()], [helper], FIRST | {"severity": "HARD_STOP"}, runs=runs)
    assert seen.errors[:2] == [None, None]
    assert isinstance(seen.error, ConstraintViolationError)
    assert got(helper, "write") == ["a"]


# Stops.


@pytest.mark.parametrize("more", [{}, {"stream": True}, {"max_steps": 1}], ids=["", "streamed", "in the last step"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_stop_in_a_member_leaves_both_at_once(kind: Any, more: Any, managed: Any, member: Any) -> None:
    helper = member(kind, [[("read", A), ("write", A)], end("part")], max_steps=1 if "max_steps" in more else 9)
    seen = managed([[ask(), ("read", B)], end()], [helper], {"name": "never", "rule": "never(write)"}, **more)
    assert isinstance(seen.error, ConstraintViolationError)
    assert isinstance(seen.error, AgentGenerationError)
    assert seen.error.decision.violations[0].constraint_name == "never"
    assert len(seen.model.requests) == len(helper.model.requests) == 1
    assert got(helper, "write") == []
    assert got(seen.agent, "read") == []
    status = seen.agent.get_constraint_status()
    assert (status["status"], status["stopped_by"], len(status["violations"])) == ("stopped", "never", 1)
    assert status["blocked_tool_call"]["tool_name"] == "write"
    assert (status["violations"][0]["step_number"], seen.agent.guard.trace.calls[0].outcome.failed) == (1, True)
    assert "interrupted" not in str(seen.error)


@pytest.mark.parametrize("kind", KINDS)
def test_an_outcome_in_a_member_stops_too(kind: Any, managed: Any, member: Any) -> None:
    helper = member(kind, [("read", {"text": "bad"}), ("read", A), end("part")])
    seen = managed([ask(), end()], [helper], {"name": "bad", "rule": 'G !read[outcome.text = "bad"]'})
    assert isinstance(seen.error, ConstraintViolationError)
    assert got(helper, "read") == ["bad"]
    assert len(helper.model.requests) == 1
    assert seen.agent.get_constraint_status()["blocked_tool_call"] is None


@pytest.mark.parametrize("kind", KINDS)
def test_an_outcome_in_a_member_is_told_to_it(kind: Any, managed: Any, member: Any) -> None:
    rule = {"name": "bad", "rule": 'G !read[outcome.text = "bad"]', "severity": "PERSISTENT_BLOCK"}
    helper = member(kind, [("read", {"text": "bad"}), end("part")])
    seen = managed([ask(), end()], [helper], rule)
    assert seen.answer == "done"
    assert "Rule bad" in helper.model.requests[1].text
    assert seen.agent.guard.trace.calls[1].outcome.text == "bad"


@pytest.mark.parametrize("kind", KINDS)
def test_the_metrics_have_calls_in_the_order_in_which_they_started(kind: Any) -> None:
    """Those of a managed agent stand before what its manager's message calls behind it."""
    rules: Any = [{"name": "first", "rule": "precedence(echo, late)", "severity": "PERSISTENT_BLOCK"}]
    replies: Any = [("echo", {"text": 1}), ("final_answer", {"answer": "done"})]
    clerk = kind([Echo()], ScriptedModel(replies), name="clerk", description="Helps.", verbosity_level=-1)
    both: Any = [("clerk", {"task": "Do it.", "additional_args": {}}), ("late", {"text": 2})]
    chief = AgentWithConstraints([Echo("late")], ScriptedModel([both, replies[-1]]), constraints=rules)
    chief.smolagent._setup_managed_agents([clerk])
    metrics = chief.run("Do it.")["metrics"]
    assert [call["tool_name"] for call in metrics["tool_calls"]] == ["clerk", "echo", "late", "final_answer"]
    assert verify_trace(metrics, rules)["compliance_score"] == 1.0


def test_the_status_of_a_member_that_its_managers_constraint_stopped(managed: Any, member: Any) -> None:
    helper = member(ToolCallingAgentWithConstraints, [("write", A)])
    managed([ask()], [helper], {"name": "never", "rule": "never(write)"})
    status = helper.get_constraint_status()
    assert (status["status"], status["stopped_by"]) == ("stopped", "never")


@pytest.mark.parametrize("whose", ["member", "manager"])
def test_a_stop_is_on_record_in_the_step_that_each_run_was_in(whose: str, managed: Any, member: Any) -> None:
    stop = {"name": "never", "rule": "never(write)"}
    own: Any = [stop] if whose == "member" else [COUNT]
    helper = member(ToolCallingAgentWithConstraints, [("read", A), ("read", B), ("write", A)], constraints=own)
    seen = managed([ask()], [helper], COUNT if whose == "member" else stop)
    steps = [one.get_constraint_status()["violations"][-1]["step_number"] for one in (helper, seen.agent)]
    assert steps == [3, 1]


# Two guards.


def test_a_member_with_constraints_is_judged_by_both(managed: Any, member: Any) -> None:
    own = {"name": "own", "rule": 'G !read(text = "own")', "severity": "PERSISTENT_BLOCK"}
    above = {"name": "above", "rule": 'G !read(text = "above")', "severity": "PERSISTENT_BLOCK"}
    replies = [("read", {"text": text}) for text in ("own", "above", "fine")]
    helper = member(ToolCallingAgentWithConstraints, [*replies, end("part")], constraints=[own])
    seen = managed([ask(), end()], [helper], above)
    assert got(helper, "read") == ["fine"]
    assert [call.tool for call in helper.guard.trace.calls] == ["read", "final_answer"]
    assert trace(seen) == [("member", None), ("read", "member"), ("final_answer", None)]
    assert [violation.constraint_name for violation in helper.guard.violations] == ["own"]
    assert [violation.constraint_name for violation in seen.agent.guard.violations] == ["above"]
    assert [helper.guard.status()["constraint_checks"], seen.agent.guard.status()["constraint_checks"]] == [2, 3]


@pytest.mark.parametrize("stops", ["own", "above"])
def test_when_both_refuse_the_strongest_decides(stops: str, managed: Any, member: Any) -> None:
    def severity(name: str) -> str:
        return "HARD_STOP" if name == stops else "PERSISTENT_BLOCK"

    rules = {name: {"name": name, "rule": "never(write)", "severity": severity(name)} for name in ("own", "above")}
    helper = member(ToolCallingAgentWithConstraints, [("write", A), end()], constraints=[rules["own"]])
    seen = managed([ask(), end()], [helper], rules["above"])
    assert isinstance(seen.error, ConstraintViolationError)
    assert seen.agent.get_constraint_status()["stopped_by"] == stops
    assert [violation.constraint_name for violation in helper.guard.violations] == ["own"]
    assert [violation.constraint_name for violation in seen.agent.guard.violations] == ["above"]


def test_calls_of_a_members_message_run_in_waves_of_both_guards(managed: Any, member: Any) -> None:
    helper = member(ToolCallingAgentWithConstraints, [[("read", A), ("write", A)], end("part")])
    managed([ask(), end()], [helper], FIRST)
    assert got(helper, "write") == ["a"]


def test_a_member_that_waits_for_its_own_answer_is_asked_by_its_own_guard(managed: Any, member: Any) -> None:
    rule = {"name": "read-it", "rule": "called(read)", "applies_to_final_answer": True}
    helper = member(ToolCallingAgentWithConstraints, [end("early"), end("again")], constraints=[rule])
    seen = managed([ask(), end()], [helper], COUNT)
    assert isinstance(seen.error, ConstraintViolationError)
    assert seen.agent.get_constraint_status()["stopped_by"] == "read-it"


# Several levels.


@pytest.mark.parametrize("bottom_kind", KINDS)
@pytest.mark.parametrize("middle_kind", KINDS)
def test_the_calls_of_a_members_member(middle_kind: Any, bottom_kind: Any, managed: Any, member: Any) -> None:
    bottom = member(bottom_kind, [("read", A), ("write", A), end("low")], name="bottom")
    middle = member(middle_kind, [ask("bottom"), ("write", B), end("part")], name="middle", managed_agents=[bottom])
    rule = {"name": "low", "rule": 'G !write(agent = "bottom")', "severity": "PERSISTENT_BLOCK"}
    seen = managed([ask("middle"), end()], [middle], rule)
    assert seen.answer == "done"
    assert trace(seen) == [
        ("middle", None), ("bottom", "middle"), ("read", "bottom"), ("write", "middle"), ("final_answer", None),
    ]  # fmt: skip
    assert (got(bottom, "write"), got(middle, "write")) == ([], ["b"])
    if middle_kind is ToolCallingAgentWithConstraints:
        assert middle.guard.trace.events[0] == "bottom"


@pytest.mark.parametrize("bottom_kind", KINDS)
@pytest.mark.parametrize("middle_kind", KINDS)
def test_a_stop_at_the_bottom_reaches_the_top(middle_kind: Any, bottom_kind: Any, managed: Any, member: Any) -> None:
    bottom = member(bottom_kind, [("write", A), end("low")], name="bottom")
    middle = member(middle_kind, [ask("bottom"), end("part")], name="middle", managed_agents=[bottom])
    seen = managed([ask("middle"), end()], [middle], {"name": "never", "rule": "never(write)"})
    assert isinstance(seen.error, ConstraintViolationError)
    assert [len(agent.model.requests) for agent in (seen.agent, middle, bottom)] == [1, 1, 1]
    assert len(seen.agent.get_constraint_status()["violations"]) == 1


@pytest.mark.parametrize("middle_kind", [ToolCallingAgent, CodeAgent])
@pytest.mark.parametrize("rules", [[COUNT], []], ids=["", "a manager without rules"])
def test_a_stop_of_a_members_own_rule_goes_through_a_plain_manager(
    rules: Any, middle_kind: Any, managed: Any, member: Any
) -> None:
    never = {"name": "never", "rule": "never(write)"}
    bottom = member(ToolCallingAgentWithConstraints, [("write", A), end("low")], name="bottom", constraints=[never])
    lines = ["def go():", "    try:", "        bottom('Go.')", "    finally:", "        return read('a')"]
    swallow = code(*lines, "go()", "final_answer('part')")
    replies = [swallow] if middle_kind is CodeAgent else [[ask("bottom"), ("read", A)], end("part")]
    middle = member(middle_kind, replies, name="middle", managed_agents=[bottom])
    seen = managed([ask("middle"), end()], [middle], *rules)
    assert isinstance(seen.error, ConstraintViolationError)
    assert seen.agent.get_constraint_status()["stopped_by"] == "never"
    assert [len(agent.model.requests) for agent in (seen.agent, middle, bottom)] == [1, 1, 1]
    assert got(middle, "read") == [] or middle_kind is ToolCallingAgent


# Parallel members.


class Meeting(Tool):
    """Waits until another one is called."""

    name = "meet"
    description = "Waits for the other one."
    inputs = {"text": {"type": "any", "description": "What to say"}}  # noqa: RUF012
    output_type = "any"

    def __init__(self, barrier: threading.Barrier) -> None:
        super().__init__()
        self.barrier = barrier
        self.got: list[Any] = []

    def forward(self, text: Any) -> Any:
        self.barrier.wait(timeout=10)
        self.got.append(text)
        return text


@pytest.mark.parametrize("kind", KINDS)
def test_members_that_touch_no_rule_overlap_and_are_in_the_trace(kind: Any, managed: Any, member: Any) -> None:
    barrier = threading.Barrier(2)
    helpers = [
        member(kind, [("meet", {"text": name}), end(name)], name=name, tools=[Meeting(barrier)]) for name in "xy"
    ]
    seen = managed([[ask("x"), ask("y")], end()], helpers, {"name": "never", "rule": "never(write)"})
    assert seen.answer == "done"
    calls = {(call.tool, call.agent): call.outcome.text for call in seen.agent.guard.trace.calls}
    assert calls[("meet", "x")] == "x"
    assert calls[("meet", "y")] == "y"
    assert len(calls) == 5


@pytest.mark.parametrize("kind", KINDS)
def test_members_that_a_rule_relates_run_in_the_models_order(kind: Any, managed: Any, member: Any) -> None:
    reader = member(kind, [("read", A), end("read")], name="reader")
    writer = member(kind, [("write", A), end("written")], name="writer")
    for message, written in (([ask("reader"), ask("writer"), ("write", B)], ["a"]), ([ask("writer")], [])):
        for helper in (reader, writer):
            helper.model.requests.clear()
            helper.tools["write"].got.clear()
        seen = managed([message, end()], [reader, writer], FIRST)
        assert got(writer, "write") == written
        assert got(seen.agent, "write") == ["b"][: len(written)]


@pytest.mark.parametrize("kind", KINDS)
def test_many_members_at_once_keep_a_limit_together(kind: Any, echo: Any, member: Any) -> None:
    rule = {"name": "most", "rule": "at_most(read, 5)", "severity": "PERSISTENT_BLOCK"}
    names = [f"m{number}" for number in range(8)]
    helpers = [member(kind, [*[("read", A)] * 3, end(name)], name=name) for name in names]
    manager = ToolCallingAgentWithConstraints(
        [], ScriptedModel([]), managed_agents=helpers, constraints=[rule], verbosity_level=-1
    )
    threads = [threading.Thread(target=manager.execute_tool_call, args=ask(name)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert sum(len(got(helper, "read")) for helper in helpers) == 5
    assert manager.guard.trace.events.count("read") == 5
    assert len(manager.guard.violations) == 19


@pytest.mark.parametrize("kind", KINDS)
def test_one_member_twice_at_once_stays_guarded_until_both_have_ended(kind: Any, member: Any) -> None:
    barrier = threading.Barrier(2)
    replies = [("meet", A), ("meet", A), end("1"), end("2")]
    helper = member(kind, replies, tools=[Meeting(barrier)])
    plain = dict(helper.tools)
    manager = ToolCallingAgentWithConstraints(
        [], ScriptedModel([]), managed_agents=[helper], constraints=[COUNT], verbosity_level=-1
    )
    threads = [threading.Thread(target=manager.execute_tool_call, args=ask()) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert manager.guard.trace.events.count("meet") == 2
    assert all(helper.tools[name] is tool for name, tool in plain.items())
    assert outers_of(helper) == ()


# Tools of a plain member.


@pytest.mark.parametrize("ending", ["answer", "stop", "error", "max_steps"])
def test_a_plain_members_tools_are_its_own_again(ending: str, managed: Any, member: Any) -> None:
    replies = {"answer": [end("part")], "stop": [("write", A)], "error": [RuntimeError("no model")], "max_steps": ["x"]}
    bottom = member(ToolCallingAgent, [], name="bottom")
    helper = member(
        ToolCallingAgent,
        [("read", A), *replies[ending]],
        managed_agents=[bottom],
        max_steps=2 - (ending == "max_steps"),
    )
    before = [dict(helper.tools), dict(helper.managed_agents), dict(bottom.tools)]
    during: list[Any] = []
    helper.step_callbacks.register(ActionStep, lambda step: during.append(dict(helper.tools)))
    managed([ask(), end()], [helper], {"name": "never", "rule": "never(write)"})
    assert during
    assert all(type(tool) is Guarded for tool in during[0].values())
    assert all(isinstance(tool, Tool) for tool in during[0].values())
    assert list(during[0]) == list(before[0])
    for now, then in zip([helper.tools, helper.managed_agents, bottom.tools], before, strict=True):
        assert list(now) == list(then)
        assert all(now[name] is then[name] for name in then)
    assert outers_of(helper) == ()


def test_the_guarded_tool_of_a_plain_member_is_the_one_behind_it(managed: Any, member: Any) -> None:
    helper = member(ToolCallingAgent, [("read", A), end()])
    tool, found = helper.tools["read"], []

    def look(step: Any) -> None:
        guarded = helper.tools["read"]
        guarded.mark = "set"
        twin = copy.deepcopy(guarded)
        found.append((guarded.name, repr(guarded) == repr(tool), type(twin) is type(tool), twin.got, guarded.to_dict()))

    helper.step_callbacks.register(ActionStep, look)
    managed([ask(), end()], [helper], COUNT)
    assert found[0] == ("read", True, True, ["a"], tool.to_dict())
    assert tool.mark == "set"


def test_a_plain_member_alone_is_not_guarded(managed: Any, member: Any) -> None:
    helper = member(ToolCallingAgent, [end(), ("write", A), end("alone")])
    seen = managed([ask(), end()], [helper], {"name": "never", "rule": "never(write)"})
    assert helper.run("Do it.") == "alone"
    assert got(helper, "write") == ["a"]
    assert ("write", "member") not in trace(seen)


def test_a_manager_without_constraints_leaves_its_members_alone(managed: Any, member: Any) -> None:
    helper = member(ToolCallingAgent, [("read", A), end()])
    seen = managed([ask(), end()], [helper])
    assert trace(seen) == [("member", None), ("final_answer", None)]


def test_a_tool_that_manager_and_member_share(watch: Any, echo: Any, member: Any) -> None:
    shared = echo("read")
    helper = member(ToolCallingAgent, [("read", A), end()], tools=[shared])
    seen = watch(
        ToolCallingAgentWithConstraints,
        [ask(), ("read", B), end()],
        [shared],
        managed_agents=[helper],
        constraints=[COUNT],
    )
    assert shared.got == ["a", "b"]
    assert trace(seen)[1:3] == [("read", "member"), ("read", None)]


def test_the_prompts_of_a_plain_member_are_the_same(watch: Any, member: Any) -> None:
    texts = []
    for agent_class, own in ((ToolCallingAgent, {}), (ToolCallingAgentWithConstraints, {"constraints": [COUNT]})):
        helper = member(ToolCallingAgent, [("read", A), end("part")], provide_run_summary=True)
        seen = watch(agent_class, [ask(), end()], [], managed_agents=[helper], **own)
        texts.append([[request.text for request in agent.model.requests] for agent in (seen, helper)])
        texts[-1].append([request.tool_names for request in helper.model.requests])
    assert texts[0] == texts[1]


class Straight(ToolCallingAgent):
    """A member that runs its tools without the parent."""

    def execute_tool_call(self, tool_name: str, arguments: Any) -> Any:
        return self.tools[tool_name].forward(**arguments)


def test_a_member_that_goes_straight_to_its_tools_is_judged(managed: Any, member: Any) -> None:
    helper = member(Straight, [("write", A), end()])
    seen = managed([ask(), end()], [helper], {"name": "never", "rule": "never(write)"})
    assert isinstance(seen.error, ConstraintViolationError)
    assert got(helper, "write") == []


def test_a_direct_call_of_a_member_is_guarded(member: Any) -> None:
    helper = member(ToolCallingAgent, [("write", A), end()])
    rule = {"name": "never", "rule": "never(write)"}
    manager = ToolCallingAgentWithConstraints(
        [], ScriptedModel([]), managed_agents=[helper], constraints=[rule], verbosity_level=-1
    )
    with pytest.raises(ConstraintViolationError, match="never"):
        manager.execute_tool_call(*ask())
    assert got(helper, "write") == []


def test_a_copied_manager_guards_copied_members(member: Any) -> None:
    helper = member(ToolCallingAgent, [("write", A), end()])
    rule = {"name": "never", "rule": "never(write)"}
    manager = ToolCallingAgentWithConstraints(
        [], ScriptedModel([ask()]), managed_agents=[helper], constraints=[rule], verbosity_level=-1
    )
    twin = copy.deepcopy(manager)
    with pytest.raises(ConstraintViolationError):
        twin.run("Do it.")
    assert twin.managed_agents["member"].tools["write"].got == []
    assert helper.model.requests == []


# Code agents as members.


def test_each_call_of_a_code_member_is_an_event(managed: Any, member: Any) -> None:
    lines = ["for n in range(2):", "    read(n)", "write(text='x')", "final_answer([read(n) for n in (2, 3)])"]
    helper = member(CodeAgent, [code(*lines)])
    seen = managed([ask(), end()], [helper], FIRST)
    assert seen.answer == "done"
    assert trace(seen) == [("member", None), *[("read", "member")] * 2, ("write", "member"),
                           *[("read", "member")] * 2, ("final_answer", None)]  # fmt: skip
    assert [call.args["text"] for call in seen.agent.guard.trace.calls[1:6]] == [0, 1, "x", 2, 3]
    assert len({call.step for call in seen.agent.guard.trace.calls}) == 7
    assert "[2, 3]" in seen.steps[0].observations


def test_a_refusal_is_an_exception_in_a_code_member(managed: Any, member: Any) -> None:
    caught = ["try:", "    write('a')", "except Exception as error:", "    read('a')", "    write('b')"]
    helper = member(CodeAgent, [code("write('a')"), code(*caught, "final_answer('part')")])
    seen = managed([ask(), end()], [helper], FIRST)
    assert seen.answer == "done"
    assert got(helper, "write") == ["b"]
    assert "First call `read`" in helper.model.requests[1].text
    assert len(seen.agent.guard.violations) == 2


def test_the_code_of_a_member_cannot_swallow_a_stop(managed: Any, member: Any) -> None:
    lines = ["try:", "    write('a')", "except Exception:", "    read('a')", "final_answer('part')"]
    helper = member(CodeAgent, [code(*lines)])
    seen = managed([ask(), end()], [helper], {"name": "never", "rule": "never(write)"})
    assert isinstance(seen.error, ConstraintViolationError)
    assert (got(helper, "write"), got(helper, "read")) == ([], [])
    assert len(seen.model.requests) == 1


@pytest.mark.parametrize("way", ["f = write\nf('a')", "[f('a') for f in [write]]", "list(map(write, ['a']))",
                                 "write.forward('a')", "(lambda: write('a'))()"])  # fmt: skip
def test_ways_around_in_the_code_of_a_member(way: str, managed: Any, member: Any) -> None:
    helper = member(CodeAgent, [code(way), code("final_answer('part')")])
    managed([ask(), end()], [helper], {"name": "never", "rule": "never(write)", "severity": "PERSISTENT_BLOCK"})
    assert got(helper, "write") == []


def test_a_code_member_is_its_own_again(managed: Any, member: Any) -> None:
    helper = member(CodeAgent, [code("final_answer(read('a'))"), code("final_answer(write('b'))")])
    seen = managed([ask(), end()], [helper], {"name": "never", "rule": "never(write)"})
    assert "send_tools" not in vars(helper.python_executor)
    assert helper.run("Do it.") == "b"
    assert ("write", "member") not in trace(seen)


def test_the_member_of_a_code_member(managed: Any, member: Any) -> None:
    bottom = member(ToolCallingAgent, [("read", A), end("low")], name="bottom")
    helper = member(CodeAgent, [code("final_answer(bottom(task='Go.'))")], managed_agents=[bottom])
    seen = managed([ask(), end()], [helper], COUNT)
    assert trace(seen)[:3] == [("member", None), ("bottom", "member"), ("read", "bottom")]


class Elsewhere(PythonExecutor):
    """Runs code in some other place."""

    def send_tools(self, tools: Any) -> None: ...

    def send_variables(self, variables: Any) -> None: ...

    def __call__(self, code_action: str) -> Any: ...


def test_a_code_member_whose_code_runs_elsewhere_is_an_error(member: Any) -> None:
    helper = member(CodeAgent, [])
    assert isinstance(helper.python_executor, LocalPythonExecutor)
    helper.python_executor = Elsewhere()
    middle = member(ToolCallingAgent, [], name="middle", managed_agents=[helper])
    for below in (helper, middle):
        with pytest.raises(ConstraintError, match="`member` runs its code with `Elsewhere`"):
            ToolCallingAgentWithConstraints([], object(), managed_agents=[below], constraints=[COUNT])
    ToolCallingAgentWithConstraints([], object(), managed_agents=[helper])


# Records.


def recorded(helper: Any, echo: Any, replies: Any, *rules: Any) -> tuple[Any, list[Any], AgentWithConstraints]:
    """The result of a run with that member, its events, and the agent."""
    events: list[Any] = []
    agent = AgentWithConstraints(
        [echo("write")], ScriptedModel(replies), constraints=list(rules), sinks=[events.append]
    )
    agent.smolagent._setup_managed_agents([helper])
    result = agent.run("Do it.")
    check(result, guarded=True)
    return result, events, agent


@pytest.mark.parametrize("kind", KINDS)
def test_results_and_violations_are_recorded_once(kind: Any, echo: Any, member: Any) -> None:
    helper = member(kind, [("write", A), ("read", A), ("write", {"text": "fail"}), end("part")])
    result, events, agent = recorded(helper, echo, [ask(), ("write", B), end()], FIRST)
    metrics = result["metrics"]
    assert [(call["tool_name"], call["step"]) for call in metrics["tool_calls"]] == [
        ("member", 1), ("read", 1), ("write", 1), ("write", 2), ("final_answer", 3),
    ]  # fmt: skip
    assert [call["tool_result"] for call in metrics["tool_calls"]][1:4] == ["a", None, "b"]
    assert [violation["tool_name"] for violation in metrics["constraint_violations"]] == ["write"]
    assert sum(event.kind == "constraint_violation" for event in events) == 1
    statuses = [event.data["status"] for event in events if event.kind == "tool_call_end"]
    assert sorted(statuses) == ["blocked", "failed", "ok", "ok", "ok", "ok"]
    assert len(metrics["completed_trace"]) == 4
    assert metrics["steps"][0]["tool_name"] == "member"
    assert verify_trace(metrics, agent.guard.constraints)["compliance_score"] == 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_a_stop_in_a_member_is_recorded_once(kind: Any, echo: Any, member: Any) -> None:
    helper = member(kind, [("read", A), ("write", A)])
    result, events, _ = recorded(helper, echo, [ask(), end()], {"name": "never", "rule": "never(write)"})
    assert (result["answer"], result.ending) == (None, "stop")
    metrics = result["metrics"]
    assert [(call["tool_name"], call["tool_result"]) for call in metrics["tool_calls"]] == [
        ("member", None),
        ("read", "a"),
    ]
    assert [violation["tool_name"] for violation in metrics["constraint_violations"]] == ["write"]
    ended = {e.data["tool_name"]: e.data["status"] for e in events if e.kind == "tool_call_end"}
    assert ended == {"member": "failed", "read": "ok", "write": "blocked"}
    assert (metrics["run_status"], metrics["stopped_by_constraint"]) == ("stopped", "never")
