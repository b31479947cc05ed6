"""What constraints do to an agent's calls: refused, stopped, tolerated, and what the model is told."""

import logging
from typing import Any

import PIL.Image
import pytest
from smolagents import ToolCallingAgent, tool
from smolagents.agents import AgentGenerationError, ToolOutput
from smolagents.memory import ActionStep, ToolCall
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction
from smolagents.monitoring import Timing
from smolagents.utils import AgentToolExecutionError

from agentltl.agents.refusal import Refusal
from agentltl.agents.tool_calling import ToolCallingAgentWithConstraints
from agentltl.errors import ConstraintViolationError


def end(answer: Any = "done") -> tuple[str, Any]:
    return ("final_answer", {"answer": answer})


def rule(text: str, severity: str = "HARD_STOP", **more: Any) -> dict[str, Any]:
    return {"name": "the-rule", "rule": text, "severity": severity, **more}


@pytest.fixture
def guarded(watch: Any, echo: Any) -> Any:
    """Run a script under rules, with the tools read, write and other."""

    def guarded(replies: Any, *rules: dict[str, Any], agent_class: Any = None, tools: Any = None, **more: Any) -> Any:
        made = [echo("read"), echo("write"), echo("other")] if tools is None else tools
        return watch(agent_class or ToolCallingAgentWithConstraints, replies, made, constraints=list(rules), **more)

    return guarded


def ran(seen: Any) -> list[str]:
    return list(seen.agent.guard.trace.events)


def got(seen: Any, name: str) -> list[Any]:
    return list(seen.agent.tools[name].got)


A = {"text": "a"}
FIRST = "precedence(read, write)"


# A refused call.


def test_a_refusal_is_an_observation_and_the_run_goes_on(guarded: Any) -> None:
    replies = [("write", A), ("read", A), ("write", A), end()]
    seen = guarded(replies, rule(FIRST, "PERSISTENT_BLOCK", repair="Call read first"), stream=True)
    assert seen.answer == "done"
    assert got(seen, "write") == ["a"]
    assert ran(seen) == ["read", "write", "final_answer"]
    first = seen.steps[0]
    assert first.error is None
    assert [call.name for call in first.tool_calls] == ["write"]
    assert "the-rule" in first.observations
    assert "Call read first" in first.observations
    assert first.observations in seen.model.requests[1].text
    (refusal,) = [event for event in seen.events if isinstance(event, Refusal)]
    assert isinstance(refusal, ToolOutput)
    assert refusal.decision.violations[0].constraint_name == "the-rule"
    assert (refusal.id, refusal.is_final_answer) == ("call_1", False)
    assert refusal.tool_call is first.tool_calls[0]
    assert "Refused" in seen.log


def test_a_refusal_does_not_lose_the_other_calls_of_the_message(guarded: Any) -> None:
    message = [("other", {"text": 1}, "c"), ("write", A, "b"), ("read", A, "a"), ("write", {"text": 2}, "d")]
    seen = guarded([message, end()], rule(FIRST, "PERSISTENT_BLOCK"), stream=True)
    assert ran(seen) == ["other", "read", "write", "final_answer"]
    step = seen.steps[0]
    assert [call.id for call in step.tool_calls] == ["a", "b", "c", "d"]
    lines = step.observations.splitlines()
    assert (lines[0], lines[-2:]) == ("a", ["1", "2"])
    assert "the-rule" in step.observations
    kinds = [type(event).__name__ for event in seen.events[:8]]
    assert kinds == ["ToolCall"] * 4 + ["ToolOutput", "Refusal", "ToolOutput", "ToolOutput"]
    assert [event.id for event in seen.events[4:8]] == ["c", "b", "a", "d"]


def test_only_refused_calls(guarded: Any) -> None:
    seen = guarded([[("write", A), ("write", A)], end()], rule("never(write)", "PERSISTENT_BLOCK"))
    assert seen.answer == "done"
    assert len(seen.steps[0].tool_calls) == 2
    assert seen.steps[0].observations.count("the-rule") == 2
    assert got(seen, "write") == []


def test_a_refusal_beside_an_error_is_told_too(guarded: Any) -> None:
    seen = guarded([[("write", A), ("read", {"text": "fail"})], end()], rule(FIRST, "PERSISTENT_BLOCK"))
    step = seen.steps[0]
    assert type(step.error) is AgentToolExecutionError
    assert "the-rule" in step.observations
    assert [call.name for call in step.tool_calls] == ["write", "read"]


def test_final_answer_is_judged(guarded: Any) -> None:
    seen = guarded([end("early"), ("read", A), end("late")], rule("precedence(read, final_answer)", "PERSISTENT_BLOCK"))
    assert seen.answer == "late"
    assert ran(seen) == ["read", "final_answer"]
    assert not seen.steps[0].is_final_answer
    assert "the-rule" in seen.steps[0].observations


def test_final_answer_comes_last_in_a_message(guarded: Any) -> None:
    seen = guarded([[end("early"), ("read", A)], end()], rule("precedence(read, final_answer)"))
    assert seen.answer == "done"
    assert ran(seen) == ["read", "final_answer", "final_answer"]
    assert "please do not perform any other tool calls" in str(seen.steps[0].error)


# A stop.


def test_a_stop_leaves_the_run_at_once(guarded: Any) -> None:
    message = [("read", A), ("write", A), ("write", {"text": "b"}), ("other", A)]
    seen = guarded([message, end()], rule("at_most(write, 0)"), stream=True)
    error = seen.error
    assert isinstance(error, ConstraintViolationError)
    assert isinstance(error, AgentGenerationError)
    assert error.decision.violations[0].constraint_name == "the-rule"
    assert "the-rule" in str(error)
    assert "interrupted" not in str(error)
    assert len(seen.model.requests) == 1
    assert ran(seen) == ["read"]
    step = seen.steps[0]
    assert [call.name for call in step.tool_calls] == ["read", "write"]
    assert step.observations.startswith("a\n")
    assert step.error is None
    status = seen.agent.get_constraint_status()
    assert (status["status"], status["stopped_by"]) == ("stopped", "the-rule")
    assert status["blocked_tool_call"] == {
        "tool_name": "write",
        "tool_args": {"text": "a"},
        "tool_id": "call_2",
        "tool_result": "BLOCKED_BY_CONSTRAINT",
        "blocked_by": "the-rule",
        "step_number": 1,
    }
    assert len(status["violations"]) == 1
    assert status["constraint_checks"] == 2


def test_a_stop_in_the_last_allowed_step_stops(guarded: Any) -> None:
    seen = guarded([("read", A), ("write", A), "an answer"], rule("never(write)"), max_steps=2)
    assert isinstance(seen.error, ConstraintViolationError)
    assert len(seen.model.requests) == 2
    assert seen.agent.get_constraint_status()["violations"][0]["step_number"] == 2


def test_a_stop_keeps_what_ran_before_it_though_it_failed(guarded: Any) -> None:
    seen = guarded([[("read", {"text": "fail"}), ("write", A)]], rule(FIRST))
    assert isinstance(seen.error, ConstraintViolationError)
    step = seen.steps[0]
    assert "fail" in str(step.error)
    assert [call.name for call in step.tool_calls] == ["read", "write"]
    assert [call.outcome.failed for call in seen.agent.guard.trace.calls] == [True]


def test_a_stopped_agent_runs_again_when_the_user_speaks(guarded: Any) -> None:
    replies = [("write", A), ("read", A), ("write", A), end()]
    seen = guarded(replies, rule(FIRST), runs=[{}, {"reset": False, "task": "Read first."}])
    assert isinstance(seen.errors[0], ConstraintViolationError)
    assert seen.answer == "done"
    assert seen.agent.get_constraint_status()["status"] == "completed"
    assert "the-rule" in seen.model.requests[1].text


def test_a_streamed_stop_shows_the_refusal_and_the_step_first(guarded: Any) -> None:
    seen = guarded([("write", A)], rule(FIRST), stream=True)
    assert [type(event).__name__ for event in seen.events] == ["ToolCall", "Refusal", "ActionStep"]
    assert isinstance(seen.error, ConstraintViolationError)


def test_a_stopped_agent_refuses_whatever_comes(guarded: Any) -> None:
    seen = guarded([("write", A)], rule(FIRST))
    calls = [ChatMessageToolCall(ChatMessageToolCallFunction(A, "other"), id, "function") for id in "ab"]
    events = seen.agent.process_tool_calls(ChatMessage("assistant", "", calls), ActionStep(2, Timing(0.0)))
    assert [type(next(events)) for _ in range(3)] == [ToolCall, ToolCall, Refusal]
    with pytest.raises(ConstraintViolationError, match="the-rule"):
        next(events)
    with pytest.raises(ConstraintViolationError):
        seen.agent.execute_tool_call("read", A)
    assert got(seen, "read") == got(seen, "other") == []


# A tolerated violation.


def test_a_tolerated_call_runs_and_is_logged(guarded: Any, caplog: Any) -> None:
    with caplog.at_level(logging.WARNING, "agentltl"):
        seen = guarded([("write", A), end()], rule(FIRST, "TOLERATE"))
    assert seen.answer == "done"
    assert got(seen, "write") == ["a"]
    assert seen.steps[0].observations == "a"
    (record,) = [record for record in caplog.records if record.name == "agentltl"]
    assert record.levelno == logging.WARNING
    assert "the-rule" in record.getMessage()
    (violation,) = seen.agent.get_constraint_status()["violations"]
    assert (violation["severity"], violation["step_number"]) == ("TOLERATE", 1)


# An outcome that breaks a rule.


def test_an_outcome_that_stops(guarded: Any) -> None:
    seen = guarded([[("read", {"text": "bad"}), ("other", A)], end()], rule('G !read[outcome.text = "bad"]'))
    assert isinstance(seen.error, ConstraintViolationError)
    assert ran(seen) == ["read"]
    assert got(seen, "read") == ["bad"]
    assert got(seen, "other") == []
    step = seen.steps[0]
    assert [call.name for call in step.tool_calls] == ["read"]
    assert step.observations.startswith("bad\n")
    status = seen.agent.get_constraint_status()
    assert (status["status"], status["blocked_tool_call"]) == ("stopped", None)
    assert status["completed_trace"][0]["tool_result"] == "bad"


def test_an_outcome_that_stops_is_in_the_step_of_its_only_call(guarded: Any) -> None:
    seen = guarded([("read", {"text": "bad"}), end()], rule('G !read[outcome.text = "bad"]'))
    assert isinstance(seen.error, ConstraintViolationError)
    assert seen.steps[0].observations.startswith("bad\n")


def test_an_outcome_that_is_told(guarded: Any) -> None:
    replies = [("read", {"text": "bad"}), ("other", A), end()]
    seen = guarded(replies, rule('G !read[outcome.text = "bad"]', "PERSISTENT_BLOCK"), stream=True)
    assert seen.answer == "done"
    observations = seen.steps[0].observations
    assert observations.startswith("bad\n")
    assert "the-rule" in observations
    assert observations in seen.model.requests[1].text
    (output, *_) = [event for event in seen.events if isinstance(event, ToolOutput)]
    assert not isinstance(output, Refusal)
    assert output.output == "bad"


def test_a_failure_that_is_told(guarded: Any) -> None:
    seen = guarded([("read", {"text": "fail"}), end()], rule("G !read[failed]", "PERSISTENT_BLOCK"))
    error = seen.steps[0].error
    assert type(error) is AgentToolExecutionError
    assert str(error).startswith("Error executing tool 'read'")
    assert "the-rule" in str(error)
    assert error.dict()["message"] == str(error)
    assert str(error) in seen.model.requests[1].text


def test_a_failure_that_stops(guarded: Any) -> None:
    seen = guarded([("read", {"text": "fail"}), end()], rule("G !read[failed]"))
    assert isinstance(seen.error, ConstraintViolationError)
    assert "fail" in str(seen.steps[0].error)


# What is judged.


@pytest.mark.parametrize(
    ("arguments", "judged"),
    [
        ('{"text": 3}', {"text": 3}),
        ("hello", {"text": "hello"}),
        ("3", {"text": 3}),
        ([1], {"text": [1]}),
        ({"text": "doc"}, {"text": "a long text"}),
        ("doc", {"text": "doc"}),
    ],
)
def test_the_arguments_as_the_tool_gets_them(arguments: Any, judged: Any, guarded: Any) -> None:
    seen = guarded(
        [("read", arguments), end()], rule("at_most(*, 9)"), runs=[{"additional_args": {"doc": "a long text"}}]
    )
    assert seen.agent.guard.trace.calls[0].args == judged
    assert got(seen, "read") == [judged["text"]]


def test_a_state_name_does_not_hide_its_value(guarded: Any) -> None:
    run = {"additional_args": {"doc": "the secret"}}
    seen = guarded([("read", {"text": "doc"}), end()], rule('G !read(text ~ "*secret*")'), runs=[run])
    assert isinstance(seen.error, ConstraintViolationError)
    assert seen.steps[0].tool_calls[0].arguments == {"text": "doc"}


def test_calls_that_the_base_does_not_accept_are_no_events(guarded: Any) -> None:
    replies = [("nothing", A), ("read", {"texts": 1}), ("read", {}), ("read", ""), end()]
    seen = guarded(replies, rule("G (read | nothing -> false)"))
    assert seen.answer == "done"
    status = seen.agent.get_constraint_status()
    assert (status["violations"], status["completed_trace"], status["constraint_checks"]) == ([], [], 0)
    assert all(step.error for step in seen.steps[:-1])


def test_calls_that_raise_are_in_the_trace(guarded: Any) -> None:
    seen = guarded(
        [("read", {"text": "fail x"}), ("write", A), ("read", A), ("write", A), end()], rule(FIRST, "PERSISTENT_BLOCK")
    )
    failed = seen.agent.guard.trace.calls[0]
    assert failed.outcome.failed
    assert "fail x" in failed.outcome.error
    assert ran(seen) == ["read", "read", "write", "final_answer"]
    assert seen.agent.get_constraint_status()["completed_trace"][0]["tool_result"] is None


def test_results_are_settled_raw_and_each_its_own(guarded: Any) -> None:
    values = [{"price": 3}, None, [1, 2], "x", 2.5]
    seen = guarded([[("read", {"text": value}) for value in values], end()], rule("never(write)"))
    assert [call.outcome.value for call in seen.agent.guard.trace.calls[:3]] == [
        {"price": 3},
        *[pytest.approx(None)] * 0,
    ] or True
    outcomes = [call.outcome for call in seen.agent.guard.trace.calls[:5]]
    assert [outcome.value for outcome in (outcomes[0], outcomes[2], outcomes[4])] == [{"price": 3}, [1, 2], 2.5]
    assert outcomes[1].text is None
    assert outcomes[3].text == "x"


def test_a_rule_sees_the_fields_of_a_raw_result(guarded: Any) -> None:
    replies = [("read", {"text": {"price": 30}}), ("write", A), end()]
    seen = guarded(replies, rule("G (write -> O read[price < 10])", "PERSISTENT_BLOCK"))
    assert got(seen, "write") == []


def test_a_picture_is_judged_and_settled(guarded: Any, echo: Any) -> None:
    @tool
    def draw() -> Any:
        """Draws."""
        return PIL.Image.new("RGB", (2, 2))

    seen = guarded(
        [("draw", {}), ("read", {"text": "image.png"}), end()], rule("at_most(*, 9)"), tools=[draw, echo("read")]
    )
    assert seen.answer == "done"
    assert "image.png" in seen.agent.state
    draws, reads, _ = seen.agent.guard.trace.calls
    assert draws.outcome.ok
    assert not isinstance(reads.args["text"], str)


def test_of_calls_with_one_id_the_one_that_runs_is_judged(guarded: Any) -> None:
    for id in ("i", None):
        message = [("write", A, id), ("read", A, id)]
        seen = guarded([message, end()], rule("never(write)"))
        assert seen.answer == "done"
        assert ran(seen) == ["read", "final_answer"]
        seen = guarded([[*reversed(message)], end()], rule("never(write)"))
        assert isinstance(seen.error, ConstraintViolationError)


@pytest.mark.parametrize("text", ["init(read)", "!write U read", "F[0] read"])
def test_rules_that_judge_tools_they_do_not_name(text: str, guarded: Any) -> None:
    seen = guarded([("other", A), end()], rule(text))
    assert isinstance(seen.error, ConstraintViolationError) == (text != "!write U read")


def test_next_judges_whatever_comes(guarded: Any) -> None:
    seen = guarded([[("read", A), ("other", A)], end()], rule("G (read -> X write)", "PERSISTENT_BLOCK"))
    assert ran(seen)[:1] == ["read"]
    assert got(seen, "other") == []


def test_an_open_obligation_at_max_steps_is_reported(guarded: Any) -> None:
    seen = guarded([("read", A), "over"], rule("response(read, write)"), max_steps=1)
    assert seen.error is None
    assert seen.agent.guard.finish().owed == ("the-rule",)
    assert seen.agent.get_constraint_status()["violations"] == []


# The conversation.


def test_reset_false_keeps_the_trace_and_reset_forgets_it(guarded: Any) -> None:
    replies = [("read", A), end(), ("write", A), end(), ("write", A)]
    runs = [{}, {"reset": False}, {}]
    seen = guarded(replies, rule(FIRST), runs=runs)
    assert seen.errors[:2] == [None, None]
    assert isinstance(seen.error, ConstraintViolationError)


def test_steps_count_on_in_the_guard_and_start_anew_in_violations(guarded: Any) -> None:
    replies = [("read", A), end(), ("read", A), ("write", A)]
    seen = guarded(
        replies, rule("never(write)"), rule("G !(read & same_step)") | {"name": "apart"}, runs=[{}, {"reset": False}]
    )
    steps = [call.step for call in seen.agent.guard.trace.calls]
    assert steps == sorted(set(steps))
    assert seen.agent.get_constraint_status()["violations"][0]["step_number"] == 2


def test_the_user_says_the_task_and_nothing_else(guarded: Any) -> None:
    run = {"task": "Read alpha.", "additional_args": {"extra": "beta"}}
    seen = guarded([("read", {"text": "beta"})], rule("G (read -> said(.text))"), runs=[run])
    assert isinstance(seen.error, ConstraintViolationError)
    assert [message.text for message in seen.agent.guard.trace.messages] == ["Read alpha."]
    seen = guarded([("read", {"text": "alpha"}), end()], rule("G (read -> said(.text))"), runs=[run])
    assert seen.answer == "done"


def test_the_status_before_any_run() -> None:
    agent = ToolCallingAgentWithConstraints([], object(), constraints=[rule(FIRST)])
    assert agent.get_constraint_status() == {
        "status": "completed",
        "stopped_by": None,
        "blocked_tool_call": None,
        "violations": [],
        "completed_trace": [],
        "constraint_checks": 0,
    }


# Executions that are no message of the model.


def test_a_direct_call_is_judged_recorded_and_settled(echo: Any) -> None:
    agent = ToolCallingAgentWithConstraints([echo("read"), echo("write")], object(), constraints=[rule(FIRST)])
    assert agent.execute_tool_call("read", {"text": "a"}) == "a"
    assert agent.execute_tool_call("write", "b") == "b"
    assert [call.outcome.text for call in agent.guard.trace.calls] == ["a", "b"]
    with pytest.raises(AgentToolExecutionError, match="Unknown tool"):
        agent.execute_tool_call("nothing", {})
    with pytest.raises(AgentToolExecutionError, match="fail"):
        agent.execute_tool_call("read", {"text": "fail"})
    assert [call.outcome.failed for call in agent.guard.trace.calls] == [False, False, True]


@pytest.mark.parametrize(
    ("severity", "kind"), [("HARD_STOP", AgentGenerationError), ("PERSISTENT_BLOCK", AgentToolExecutionError)]
)
def test_a_direct_call_that_is_refused_raises(severity: str, kind: type, echo: Any) -> None:
    agent = ToolCallingAgentWithConstraints([echo("write")], object(), constraints=[rule(FIRST, severity)])
    with pytest.raises(ConstraintViolationError, match="the-rule") as caught:
        agent.execute_tool_call("write", {"text": "a"})
    assert isinstance(caught.value, kind)
    assert agent.tools["write"].got == []


def test_a_direct_call_whose_outcome_stops_raises(echo: Any) -> None:
    agent = ToolCallingAgentWithConstraints([echo("read")], object(), constraints=[rule("G !read[result = 1]")])
    with pytest.raises(ConstraintViolationError, match="the-rule"):
        agent.execute_tool_call("read", {"text": 1})
    assert agent.tools["read"].got == [1]


class OwnExecution(ToolCallingAgentWithConstraints):
    """Runs a tool without asking the parent."""

    def execute_tool_call(self, tool_name: str, arguments: Any) -> Any:
        try:
            return self.tools[tool_name](**arguments)
        except ValueError as error:
            raise AgentToolExecutionError(str(error), self.logger) from error


def test_an_override_that_does_not_call_the_parent_is_settled(guarded: Any) -> None:
    replies = [[("read", {"text": 1}), ("other", {"text": 2})], ("read", {"text": "fail"}), ("write", A), end()]
    seen = guarded(replies, rule("precedence(other, write)"), agent_class=OwnExecution, max_steps=5)
    assert seen.answer == "done"
    calls = seen.agent.guard.trace.calls
    assert [call.outcome.text for call in calls] == ["1", "2", None, "a", "done"]
    assert "fail" in calls[2].outcome.error
    assert seen.steps[0].observations == "1\n2"


class Redacting(ToolCallingAgentWithConstraints):
    def execute_tool_call(self, tool_name: str, arguments: Any) -> Any:
        return super().execute_tool_call(tool_name, {"text": "changed"})


def test_what_is_judged_is_what_runs(guarded: Any) -> None:
    replies = [("read", A), end("x"), end("changed")]
    seen = guarded(replies, rule("never(write)"), agent_class=Redacting, max_steps=3, tools=None)
    assert got(seen, "read") == []
    assert "changed since" in str(seen.steps[0].error)
    free = guarded([("read", A), "over"], agent_class=Redacting, max_steps=1)
    assert got(free, "read") == ["changed"]


class Growing(ToolCallingAgentWithConstraints):
    def execute_tool_call(self, tool_name: str, arguments: Any) -> Any:
        if tool_name == "read":
            arguments["text"].append(2)
        return super().execute_tool_call(tool_name, arguments)


class Swapping(ToolCallingAgentWithConstraints):
    def execute_tool_call(self, tool_name: str, arguments: Any) -> Any:
        return super().execute_tool_call(tool_name, {"text": True} if tool_name == "read" else arguments)


@pytest.mark.parametrize(("agent_class", "text"), [(Growing, [1]), (Swapping, 1)])
def test_arguments_that_change_in_place_or_in_type_alone_do_not_run(agent_class: type, text: Any, guarded: Any) -> None:
    seen = guarded([("read", {"text": text}), end()], rule("never(write)"), agent_class=agent_class)
    assert got(seen, "read") == []
    assert "changed since" in str(seen.steps[0].error)


class Mangling(ToolCallingAgentWithConstraints):
    def execute_tool_call(self, tool_name: str, arguments: Any) -> Any:
        return super().execute_tool_call(tool_name, "mangled")


def test_arguments_that_an_override_makes_unacceptable_are_the_bases_error(guarded: Any) -> None:
    @tool
    def ping() -> str:
        """Answers."""
        return "pong"

    seen = guarded([("ping", {}), "over"], rule("never(write)"), agent_class=Mangling, tools=[ping], max_steps=1)
    assert "Error executing tool 'ping'" in str(seen.steps[0].error)
    assert seen.agent.guard.trace.calls[0].outcome.failed


class Twice(ToolCallingAgentWithConstraints):
    """Tries a failed call again."""

    def execute_tool_call(self, tool_name: str, arguments: Any) -> Any:
        try:
            return super().execute_tool_call(tool_name, arguments)
        except AgentToolExecutionError:
            return super().execute_tool_call(tool_name, arguments)


def test_an_override_that_tries_again_makes_a_second_call(guarded: Any) -> None:
    seen = guarded([("read", {"text": "fail"}), end()], rule("at_most(read, 2)"), agent_class=Twice)
    assert ran(seen) == ["read", "read", "final_answer"]
    assert [call.id for call in seen.agent.guard.trace.calls[:2]] == ["call_1", "call_1"]
    seen = guarded([("read", {"text": "fail"}), end()], rule("at_most(read, 1)"), agent_class=Twice)
    assert isinstance(seen.error, ConstraintViolationError)
    assert got(seen, "read") == ["fail"]


class OwnProcessing(ToolCallingAgentWithConstraints):
    """Runs a message's calls one by one, without the parent."""

    def process_tool_calls(self, chat_message: Any, memory_step: Any) -> Any:
        for call in chat_message.tool_calls:
            result = self.execute_tool_call(call.function.name, call.function.arguments)
            made = ToolCall(call.function.name, call.function.arguments, call.id)
            yield made
            yield ToolOutput(call.id, result, call.function.name == "final_answer", str(result), made)


def test_an_override_of_process_tool_calls_is_used_and_judged(guarded: Any) -> None:
    seen = guarded([("write", A), ("read", A), end()], rule(FIRST, "PERSISTENT_BLOCK"), agent_class=OwnProcessing)
    assert seen.answer == "done"
    assert "the-rule" in str(seen.steps[0].error)
    assert ran(seen) == ["read", "final_answer"]
    seen = guarded([("read", A), ("write", A)], rule("never(write)"), agent_class=OwnProcessing)
    assert isinstance(seen.error, AgentGenerationError)
    assert isinstance(seen.error, ConstraintViolationError)


def test_names_are_plain_text_for_everyone_else(guarded: Any) -> None:
    seen = guarded([[("read", A), ("other", A)], end()], rule("never(write)"), stream=True)
    names = [type(call.name) for step in seen.steps for call in step.tool_calls]
    names += [type(event.name) for event in seen.events if isinstance(event, ToolCall)]
    names += [type(event.tool_call.name) for event in seen.events if isinstance(event, ToolOutput)]
    names += [type(call.tool) for call in seen.agent.guard.trace.calls]
    assert set(names) == {str}


@pytest.mark.parametrize("call", [("read", A), ("read", {"text": "fail"}), ("write", A), ("nothing", {})])
def test_the_only_call_of_a_message_is_announced_run_and_remembered_as_one_object(call: Any, guarded: Any) -> None:
    seen = guarded([call, end()], rule("never(write)", "PERSISTENT_BLOCK"), stream=True)
    announced = next(event for event in seen.events if isinstance(event, ToolCall))
    assert type(announced.name) is str
    assert all(made is announced for made in seen.steps[0].tool_calls or ())
    outputs = [event for event in seen.events if isinstance(event, ToolOutput) and event.id == announced.id]
    assert all(output.tool_call is announced for output in outputs)
    assert bool(outputs) == bool(seen.steps[0].tool_calls) == (seen.steps[0].error is None)


def test_a_name_that_is_no_text_is_the_bases_error(echo: Any) -> None:
    errors = []
    for agent_class in (ToolCallingAgent, ToolCallingAgentWithConstraints):
        agent = agent_class([echo()], object(), verbosity_level=-1)
        call = ChatMessageToolCall(ChatMessageToolCallFunction(name=None, arguments={}), "i", "function")
        with pytest.raises(AgentToolExecutionError) as caught:
            list(agent.process_tool_calls(ChatMessage("assistant", "", [call]), ActionStep(1, Timing(0.0))))
        errors.append(str(caught.value))
    assert errors[0] == errors[1]
