"""Managers and managed agents: the guarded agent as either, of tool-calling and of code agents."""

from typing import Any

import pytest
from smolagents import CodeAgent, ToolCallingAgent
from smolagents.agents import AgentGenerationError

from agentltl.agents.models.scripted import ScriptedModel
from agentltl.agents.tool_calling import ToolCallingAgentWithConstraints
from agentltl.errors import ConstraintViolationError

NEVER_WRITE = {"name": "the-rule", "rule": "never(write)"}
A = {"text": "a"}


def end(answer: Any = "done") -> tuple[str, Any]:
    return ("final_answer", {"answer": answer})


def ask(task: str = "Do your part.") -> tuple[str, Any]:
    return ("member", {"task": task, "additional_args": {}})


@pytest.fixture
def member(echo: Any) -> Any:
    def member(agent_class: Any, replies: Any, name: str = "member", **keywords: Any) -> Any:
        model = ScriptedModel(replies)
        tools = [echo("read"), echo("write")]
        return agent_class(tools, model, name=name, description="Helps.", verbosity_level=-1, **keywords)

    return member


@pytest.mark.parametrize("summary", [False, True], ids=["", "with a summary"])
def test_as_manager_and_as_member_of_tool_calling_agents(summary: bool, watch: Any, member: Any) -> None:
    pictures = []
    for manager_class in (ToolCallingAgent, ToolCallingAgentWithConstraints):
        for member_class in (ToolCallingAgent, ToolCallingAgentWithConstraints):
            helper = member(member_class, [("read", A), end("the part")], provide_run_summary=summary)
            seen = watch(manager_class, [ask(), end()], [], managed_agents=[helper])
            pictures.append((seen.picture(), [step.dict() | {"timing": 0} for step in helper.memory.steps[1:]]))
    assert "the part" in pictures[0][0]["memory"][1]["observations"]
    assert all(picture == pictures[0] for picture in pictures[1:])


def test_as_member_of_a_code_agent(member: Any) -> None:
    answers = []
    for member_class in (ToolCallingAgent, ToolCallingAgentWithConstraints):
        helper = member(member_class, [("read", A), end("the part")])
        code = "<code>\nanswer = member(task='Do your part.')\nfinal_answer(answer)\n</code>"
        manager = CodeAgent([], ScriptedModel([code]), managed_agents=[helper], verbosity_level=-1)
        answers.append(str(manager.run("Do it.")))
    assert "the part" in answers[0]
    assert answers[0] == answers[1]


def test_as_manager_of_a_code_agent(watch: Any) -> None:
    pictures = []
    for manager_class in (ToolCallingAgent, ToolCallingAgentWithConstraints):
        model = ScriptedModel(["<code>\nfinal_answer(1 + 1)\n</code>"])
        helper = CodeAgent([], model, name="member", description="Computes.", verbosity_level=-1)
        pictures.append(watch(manager_class, [ask(), end()], [], managed_agents=[helper]).picture())
    assert "2" in pictures[0]["memory"][1]["observations"]
    assert pictures[0] == pictures[1]


def test_a_call_of_a_member_is_judged_like_any_call(watch: Any, member: Any) -> None:
    helper = member(ToolCallingAgentWithConstraints, [end()])
    rule = {"name": "the-rule", "rule": "never(member)"}
    seen = watch(ToolCallingAgentWithConstraints, [ask(), end()], [], managed_agents=[helper], constraints=[rule])
    assert isinstance(seen.error, ConstraintViolationError)
    assert helper.model.requests == []


def test_a_members_task_is_not_what_the_user_said(watch: Any, member: Any) -> None:
    rule = {"name": "the-rule", "rule": "G (read -> said(.text))", "severity": "PERSISTENT_BLOCK"}
    for manager_class in (ToolCallingAgent, ToolCallingAgentWithConstraints):
        helper = member(ToolCallingAgentWithConstraints, [("read", {"text": "alpha"}), end()], constraints=[rule])
        watch(manager_class, [ask("Read alpha."), end()], [], managed_agents=[helper], runs=[{"task": "Go."}])
        assert helper.tools["read"].got == []
        assert list(helper.guard.trace.messages) == []
        helper.model.replies += [("read", {"text": "alpha"}), end()]
        helper.run("Read alpha.")
        assert helper.tools["read"].got == ["alpha"]


def test_a_members_task_from_a_code_agent_is_not_what_the_user_said(member: Any) -> None:
    helper = member(ToolCallingAgentWithConstraints, [end()])
    code = "<code>\nfinal_answer(member(task='Do your part.'))\n</code>"
    CodeAgent([], ScriptedModel([code]), managed_agents=[helper], verbosity_level=-1).run("Do it.")
    assert list(helper.guard.trace.messages) == []


def test_an_agent_that_a_tool_runs_is_not_the_outermost(watch: Any, member: Any, echo: Any) -> None:
    inner = member(ToolCallingAgentWithConstraints, [end("inner")])
    outer_tool = echo("delegate")
    outer_tool.forward = lambda text: inner.run(text)
    seen = watch(ToolCallingAgentWithConstraints, [("delegate", {"text": "Go."}), end()], [outer_tool])
    assert seen.answer == "done"
    assert list(inner.guard.trace.messages) == []


def test_a_stop_in_a_member_stops_a_manager_of_ours(watch: Any, member: Any) -> None:
    helper = member(ToolCallingAgentWithConstraints, [("write", A), end()], constraints=[NEVER_WRITE])
    message = [("other", A), ask(), ("write", A)]
    rule = {"name": "mine", "rule": "at_most(*, 9)"}

    def tools() -> Any:
        return [type(helper.tools["read"])("other"), type(helper.tools["read"])("write")]

    seen = watch(
        ToolCallingAgentWithConstraints, [message, end()], tools(), managed_agents=[helper], constraints=[rule]
    )
    assert isinstance(seen.error, ConstraintViolationError)
    assert isinstance(seen.error, AgentGenerationError)
    assert "the-rule" in str(seen.error)
    assert seen.error.decision.violations[0].constraint_name == "the-rule"
    assert len(seen.model.requests) == 1
    assert seen.agent.tools["write"].got == []
    calls = seen.agent.guard.trace.calls
    assert [(call.tool, call.outcome.failed) for call in calls] == [("other", False), ("member", True)]
    assert seen.steps[0].observations == "a"
    status = seen.agent.get_constraint_status()
    assert (status["status"], status["stopped_by"], status["blocked_tool_call"]) == ("stopped", "the-rule", None)
    assert [violation["tool_name"] for violation in status["violations"]] == ["write"]
    assert helper.get_constraint_status()["status"] == "stopped"


def test_a_stop_reaches_the_top_through_several_managers_of_ours(watch: Any, member: Any) -> None:
    bottom = member(ToolCallingAgentWithConstraints, [("write", A)], constraints=[NEVER_WRITE])
    middle = member(ToolCallingAgentWithConstraints, [ask()], name="middle", managed_agents=[bottom])
    seen = watch(
        ToolCallingAgentWithConstraints,
        [("middle", {"task": "Go.", "additional_args": {}}), end()],
        [],
        managed_agents=[middle],
    )
    assert isinstance(seen.error, ConstraintViolationError)
    assert [agent.get_constraint_status()["stopped_by"] for agent in (seen.agent, middle, bottom)] == ["the-rule"] * 3


def test_a_stop_in_a_member_is_an_observation_for_a_plain_manager(watch: Any, member: Any) -> None:
    helper = member(ToolCallingAgentWithConstraints, [("write", A)], constraints=[NEVER_WRITE])
    seen = watch(ToolCallingAgent, [ask(), end()], [], managed_agents=[helper])
    assert seen.answer == "done"
    assert "the-rule" in str(seen.steps[0].error)


def test_the_next_run_is_not_stopped_by_the_last_one(watch: Any, member: Any) -> None:
    helper = member(ToolCallingAgentWithConstraints, [("write", A), end("part")], constraints=[NEVER_WRITE])
    seen = watch(
        ToolCallingAgentWithConstraints, [ask(), ask(), end()], [], managed_agents=[helper], runs=[{}, {"reset": False}]
    )
    assert isinstance(seen.errors[0], ConstraintViolationError)
    assert seen.answer == "done"
    assert seen.agent.get_constraint_status()["status"] == "completed"


def test_a_failing_member_is_the_bases_error(watch: Any, member: Any) -> None:
    errors = []
    for agent_class in (ToolCallingAgent, ToolCallingAgentWithConstraints):
        helper = member(agent_class, [RuntimeError("no model")])
        seen = watch(agent_class, [ask(), end()], [], managed_agents=[helper])
        errors.append((type(seen.steps[0].error), str(seen.steps[0].error)))
    assert errors[0] == errors[1]
