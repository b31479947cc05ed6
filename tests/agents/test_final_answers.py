"""Final answers: judged by rules that name them, and accepted when marked constraints owe nothing."""

import inspect
import json
import logging
from typing import Any

import pytest
from smolagents import LiteLLMModel
from smolagents.agents import AgentGenerationError, MultiStepAgent, ToolOutput
from smolagents.memory import FinalAnswerStep, ToolCall

from agentltl import Guard
from agentltl.agents.agent_with_constraints import AgentWithConstraints
from agentltl.agents.models.scripted import Reply, ScriptedModel
from agentltl.agents.refusal import Refusal
from agentltl.agents.tool_calling import ToolCallingAgentWithConstraints
from agentltl.errors import ConstraintError, ConstraintViolationError
from tests.agents.documented import check

A = {"text": "a"}
ACCEPTED = ["PERSISTENT_BLOCK", "ASK", "SOFT_BLOCK", "BLOCK_AND_WARN", "TOLERATE"]
"""The severities under which an answer is accepted in the end, though something is owed."""
TELLS = "FinalAnswerStep" in inspect.getsource(MultiStepAgent._finalize_step)
"""Whether smolagents finalizes the step of an answer; the oldest does not."""


def end(answer: Any = "done") -> tuple[str, Any]:
    return ("final_answer", {"answer": answer})


def owing(severity: str = "HARD_STOP", rule: str = "response(open, close)", **more: Any) -> dict[str, Any]:
    return {"name": "closed", "rule": rule, "severity": severity, "applies_to_final_answer": True, **more}


@pytest.fixture
def guarded(watch: Any, echo: Any) -> Any:
    def guarded(replies: Any, *rules: dict[str, Any], agent_class: Any = None, **more: Any) -> Any:
        made = [echo("open"), echo("close"), echo("other")]
        return watch(agent_class or ToolCallingAgentWithConstraints, replies, made, constraints=list(rules), **more)

    return guarded


def ran(seen: Any) -> list[str]:
    return list(seen.agent.guard.trace.events)


def violations(seen: Any) -> list[tuple[str, str, str, int]]:
    found = seen.agent.get_constraint_status()["violations"]
    return [(v["constraint_name"], v["severity"], v["tool_name"], v["step_number"]) for v in found]


# Rules that name `final_answer`.


def test_a_rule_that_names_it_refuses_it_and_the_run_goes_on(guarded: Any) -> None:
    rule = {"name": "first", "rule": "precedence(open, final_answer)", "severity": "PERSISTENT_BLOCK"}
    seen = guarded([end("early"), ("open", A), end("late")], rule, stream=True)
    assert seen.answer == "late"
    assert ran(seen) == ["open", "final_answer"]
    assert [type(event) for event in seen.events if isinstance(event, ToolOutput)] == [Refusal, ToolOutput, ToolOutput]
    assert [step.is_final_answer for step in seen.steps] == [False, False, True]
    assert seen.steps[0].error is None
    assert seen.steps[0].observations in seen.model.requests[1].text
    assert "First call `open`" in seen.steps[0].observations
    assert violations(seen) == [("first", "PERSISTENT_BLOCK", "final_answer", 1)]
    assert seen.agent.get_constraint_status()["constraint_checks"] == 1


def test_a_rule_about_what_the_answer_says(guarded: Any) -> None:
    rule = {"name": "no-secret", "rule": 'G !final_answer(answer ~ "*secret*")', "severity": "PERSISTENT_BLOCK"}
    seen = guarded([end("the secret"), end("nothing")], rule)
    assert seen.answer == "nothing"
    seen = guarded([end("word"), "a text"], rule, runs=[{"additional_args": {"word": "the secret"}}], max_steps=1)
    assert violations(seen) == [("no-secret", "PERSISTENT_BLOCK", "final_answer", 1)]


def test_a_rule_that_names_it_stops(guarded: Any) -> None:
    seen = guarded([end()], {"name": "first", "rule": "precedence(open, final_answer)"})
    assert isinstance(seen.error, ConstraintViolationError)
    assert seen.agent.get_constraint_status()["blocked_tool_call"]["tool_name"] == "final_answer"


def test_an_answer_is_no_event_for_other_rules(guarded: Any) -> None:
    seen = guarded([("open", A), end()], {"name": "one", "rule": "at_most(*, 1)"})
    assert seen.answer == "done"


# What marked constraints owe.


@pytest.mark.parametrize("severity", ["HARD_STOP", *ACCEPTED])
def test_the_model_is_sent_back_and_does_what_is_owed(severity: str, guarded: Any) -> None:
    replies = [("open", A), end("early"), ("close", A), end("late")]
    rule = owing(severity, description="What is opened is closed.", repair="Close it")
    seen = guarded(replies, rule, stream=True)
    assert seen.answer == "late"
    assert ran(seen) == ["open", "close", "final_answer"]
    assert seen.agent.tools["close"].got == ["a"]
    told = seen.steps[1].observations
    for part in ("closed", "What is opened is closed", "Close it", "First call `close`", '"close" has not been called'):
        assert part in told
    assert told in seen.model.requests[2].text
    assert violations(seen) == []
    (refusal,) = [event for event in seen.events if isinstance(event, Refusal)]
    assert (refusal.decision.action, refusal.decision.owed, refusal.is_final_answer) == ("retry", ("closed",), False)


def test_what_is_owed_after_that_stops_without_an_answer(guarded: Any) -> None:
    seen = guarded([("open", A), end("1"), end("2"), end("3")], owing())
    error = seen.error
    assert isinstance(error, ConstraintViolationError)
    assert isinstance(error, AgentGenerationError)
    assert seen.answer is None
    assert "closed" in str(error)
    assert '"close" was never called' in str(error)
    assert violations(seen) == [("closed", "HARD_STOP", "final_answer", 3)]
    status = seen.agent.get_constraint_status()
    assert (status["status"], status["stopped_by"], status["blocked_tool_call"]) == ("stopped", "closed", None)
    assert [call["tool_name"] for call in status["completed_trace"]] == ["open"]
    assert len(seen.model.requests) == 3
    assert not any(step.is_final_answer for step in seen.steps)
    assert seen.steps[-1].tool_calls[0].name == "final_answer"


@pytest.mark.parametrize("severity", ACCEPTED)
def test_what_is_owed_after_that_is_recorded(severity: str, guarded: Any, caplog: Any) -> None:
    with caplog.at_level(logging.WARNING, "agentltl"):
        seen = guarded([("open", A), end("1"), end("2")], owing(severity))
    assert seen.answer == "2"
    assert violations(seen) == [("closed", severity, "final_answer", 3)]
    assert seen.agent.get_constraint_status()["status"] == "completed"
    assert len([record for record in caplog.records if "closed" in record.getMessage()]) == 1


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_the_model_is_sent_back_so_often(retries: int, guarded: Any) -> None:
    replies = [("open", A), *(end(number) for number in range(retries + 1))]
    seen = guarded(replies, owing("PERSISTENT_BLOCK"), final_answer_retries=retries)
    assert seen.answer == retries
    assert seen.model.left == 0


def test_retries_are_of_one_run(guarded: Any) -> None:
    replies = [("open", A), end("1"), end("2"), end("3"), ("close", A), end("4")]
    seen = guarded(replies, owing("PERSISTENT_BLOCK"), runs=[{}, {"reset": False}])
    assert seen.ends == ["2", "4"]
    assert violations(seen) == [("closed", "PERSISTENT_BLOCK", "final_answer", 3)]


def test_a_debt_that_stopped_one_run_is_asked_for_in_the_next(guarded: Any) -> None:
    replies = [("open", A), end("1"), end("2"), end("3"), ("close", A), end("4")]
    seen = guarded(replies, owing(), runs=[{}, {"reset": False}])
    assert isinstance(seen.errors[0], ConstraintViolationError)
    assert seen.answer == "4"


@pytest.mark.parametrize("count", [-1, True, "1", 1.5, None])
def test_a_number_of_retries_that_makes_no_sense(count: Any) -> None:
    with pytest.raises(ConstraintError, match="final_answer_retries"):
        ToolCallingAgentWithConstraints([], object(), final_answer_retries=count)


def test_only_marked_constraints_are_asked_for(guarded: Any) -> None:
    rule = {"name": "closed", "rule": "response(open, close)"}
    seen = guarded([("open", A), end()], rule)
    assert seen.answer == "done"
    assert violations(seen) == []
    assert seen.agent.guard.owed().names == ("closed",)


def test_several_debts_are_told_at_once_with_one_plan(guarded: Any) -> None:
    rules = [owing("PERSISTENT_BLOCK"), owing("PERSISTENT_BLOCK", "called(other)") | {"name": "other-called"}]
    unmarked = {"name": "unmarked", "rule": "called(nothing)", "severity": "PERSISTENT_BLOCK"}
    seen = guarded([("open", A), end(), [("other", A), ("close", A)], end()], *rules, unmarked)
    assert seen.answer == "done"
    told = seen.steps[1].observations
    assert "closed" in told
    assert "other-called" in told
    assert "`close`" in told.splitlines()[-1]
    assert "`other`" in told.splitlines()[-1]
    assert "nothing" not in told
    assert violations(seen) == []


def test_the_plan_keeps_the_other_rules(guarded: Any) -> None:
    rule = {"name": "before", "rule": "precedence(other, close)", "severity": "PERSISTENT_BLOCK"}
    seen = guarded([("open", A), end(), ("other", A), ("close", A), end()], owing(), rule)
    assert seen.answer == "done"
    assert "First call `other`, then `close`; then give your answer." in seen.steps[1].observations


def test_nobody_is_sent_back_for_what_no_call_can_settle(guarded: Any) -> None:
    never = {"name": "never", "rule": "never(close)", "severity": "PERSISTENT_BLOCK"}
    seen = guarded([("open", A), end()], owing("PERSISTENT_BLOCK"), never)
    assert seen.answer == "done"
    assert violations(seen) == [("closed", "PERSISTENT_BLOCK", "final_answer", 2)]
    impossible = owing("PERSISTENT_BLOCK", "F open & G !open")
    seen = guarded([end()], impossible)
    assert violations(seen) == [("closed", "PERSISTENT_BLOCK", "final_answer", 1)]


def test_of_several_debts_those_that_can_be_settled_are_asked_for(guarded: Any) -> None:
    never = {"name": "never", "rule": "never(close)", "severity": "PERSISTENT_BLOCK"}
    other = owing("PERSISTENT_BLOCK", "called(other)") | {"name": "other-called"}
    seen = guarded([("open", A), end(), ("other", A), end()], owing("PERSISTENT_BLOCK"), never, other)
    told = seen.steps[1].observations
    assert "other-called" in told
    assert "closed" not in told
    assert violations(seen) == [("closed", "PERSISTENT_BLOCK", "final_answer", 4)]


def test_what_the_answer_itself_settles_is_not_owed(guarded: Any) -> None:
    rule = owing(rule="response(open, final_answer)")
    seen = guarded([("open", A), end()], rule)
    assert seen.answer == "done"
    assert ran(seen) == ["open", "final_answer"]
    assert violations(seen) == []


def test_what_the_answer_itself_owes_is(guarded: Any) -> None:
    seen = guarded([end()], owing(rule="G (final_answer -> O open)"))
    assert isinstance(seen.error, ConstraintViolationError)
    assert violations(seen) == [("closed", "HARD_STOP", "final_answer", 1)]
    seen = guarded([end(), ("open", A), end()], owing(rule="called(open)"))
    assert seen.answer == "done"


def test_a_soft_constraint_that_has_refused_too_often_stops_at_the_end(guarded: Any) -> None:
    rule = owing("SOFT_BLOCK", "G (other -> Y O open) & called(close)", max_soft_attempts=1)
    seen = guarded([("other", A), end("1"), end("2")], rule)
    assert isinstance(seen.error, ConstraintViolationError)
    assert violations(seen)[-1] == ("closed", "HARD_STOP", "final_answer", 3)


def test_an_insisted_answer_is_an_override(guarded: Any) -> None:
    rule = owing("BLOCK_AND_WARN")
    seen = guarded([("open", A), end("1"), end("1")], rule, final_answer_retries=5)
    assert seen.answer == "1"
    assert "identical answer" in seen.steps[1].observations
    assert [violation.override for violation in seen.agent.guard.violations] == [True]
    seen = guarded([("open", A), end("1"), end("2"), end("2")], rule, final_answer_retries=5)
    assert seen.answer == "2"
    assert seen.model.left == 0


# The end of the steps.


def test_a_debt_at_max_steps_stops_before_the_last_model_call(guarded: Any) -> None:
    seen = guarded([("open", A), ("other", A), "an answer"], owing(), max_steps=2, stream=True)
    assert isinstance(seen.error, ConstraintViolationError)
    assert violations(seen) == [("closed", "HARD_STOP", "final_answer", 2)]
    assert seen.model.left == 1
    assert not any(isinstance(event, FinalAnswerStep) for event in seen.events)
    status = seen.agent.get_constraint_status()
    assert (status["status"], status["blocked_tool_call"]) == ("stopped", None)
    assert status["violations"][0]["tool_args"] == {}


@pytest.mark.parametrize("severity", ACCEPTED)
def test_a_debt_at_max_steps_is_recorded_once(severity: str, guarded: Any) -> None:
    seen = guarded([("open", A), ("other", A), "an answer"], owing(severity), max_steps=2)
    assert seen.answer == "an answer"
    assert violations(seen) == [("closed", severity, "final_answer", 2)]


def test_a_model_that_is_sent_back_in_the_last_step(guarded: Any) -> None:
    seen = guarded([("open", A), end("early"), "forced"], owing("PERSISTENT_BLOCK"), max_steps=2)
    assert seen.answer == "forced"
    assert violations(seen) == [("closed", "PERSISTENT_BLOCK", "final_answer", 2)]
    seen = guarded([("open", A), end("early")], owing(), max_steps=2)
    assert isinstance(seen.error, ConstraintViolationError)


def test_max_steps_without_a_debt_is_as_in_smolagents(guarded: Any) -> None:
    seen = guarded([("open", A), ("close", A), "forced"], owing(), max_steps=2)
    assert seen.answer == "forced"
    assert violations(seen) == []


# What is no answer, and ways around.


def test_an_answer_beside_another_call_is_not_accepted_and_nothing_is_asked(guarded: Any) -> None:
    message = [end("beside"), ("other", A)]
    seen = guarded([("open", A), message, end("1"), ("close", A), end("2")], owing())
    assert seen.answer == "2"
    assert "please do not perform any other tool calls" in str(seen.steps[1].error)
    assert "still owed" in seen.steps[2].observations
    assert violations(seen) == []


def test_a_check_of_the_users_sees_only_answers_that_owe_nothing(guarded: Any) -> None:
    checked: list[Any] = []

    def fine(answer: Any, memory: Any, agent: Any = None) -> bool:
        checked.append(answer)
        return answer != "2"

    replies = [("open", A), end("1"), ("close", A), end("2"), end("3")]
    seen = guarded(replies, owing(), final_answer_checks=[fine])
    assert seen.answer == "3"
    assert checked == ["2", "3"]


class OwnProcessing(ToolCallingAgentWithConstraints):
    """Runs the calls of a message one by one, without the parent."""

    def process_tool_calls(self, chat_message: Any, memory_step: Any) -> Any:
        for call in chat_message.tool_calls:
            made = ToolCall(call.function.name, call.function.arguments, call.id)
            yield made
            result = self.execute_tool_call(call.function.name, call.function.arguments)
            yield ToolOutput(call.id, result, call.function.name == "final_answer", str(result), made)


def test_an_override_of_process_tool_calls_is_asked_too(guarded: Any) -> None:
    replies = [("open", A), end("1"), ("close", A), end("2")]
    seen = guarded(replies, owing(), agent_class=OwnProcessing)
    assert seen.answer == "2"
    assert "still owed" in str(seen.steps[1].error)
    seen = guarded([("open", A), end("1"), end("2")], owing(), agent_class=OwnProcessing)
    assert isinstance(seen.error, ConstraintViolationError)


class Around(ToolCallingAgentWithConstraints):
    """Answers without calling any tool."""

    def process_tool_calls(self, chat_message: Any, memory_step: Any) -> Any:
        for call in chat_message.tool_calls:
            made = ToolCall(call.function.name, call.function.arguments, call.id)
            if made.name != "final_answer":
                self.execute_tool_call(made.name, made.arguments)
            yield ToolOutput(call.id, "around", made.name == "final_answer", "around", made)


@pytest.mark.skipif(not TELLS, reason="this smolagents does not say when it has an answer")
def test_an_answer_that_goes_around_the_guard_is_noticed_at_the_end(guarded: Any) -> None:
    seen = guarded([("open", A), end()], owing(), agent_class=Around)
    assert isinstance(seen.error, ConstraintViolationError)
    assert violations(seen) == [("closed", "HARD_STOP", "final_answer", 2)]
    seen = guarded([("open", A), end()], owing("TOLERATE"), agent_class=Around)
    assert seen.answer == "around"


def test_a_stopped_run_is_not_asked_at_its_end(guarded: Any) -> None:
    rule = {"name": "never", "rule": "never(other)"}
    seen = guarded([("open", A), ("other", A)], owing(), rule)
    assert violations(seen) == [("never", "HARD_STOP", "other", 2)]


# Shadow mode.


def test_a_constraint_that_is_not_enforced_records_and_sends_nobody_back(guarded: Any) -> None:
    seen = guarded([("open", A), end()], owing(enforce=False))
    assert seen.answer == "done"
    assert violations(seen) == [("closed", "HARD_STOP", "final_answer", 2)]
    assert [violation.enforced for violation in seen.agent.guard.violations] == [False]
    assert seen.agent.get_constraint_status()["status"] == "completed"


def test_a_guard_that_does_not_enforce_records_and_sends_nobody_back(guarded: Any) -> None:
    def prepare(agent: Any) -> None:
        agent.guard = Guard([owing()], enforce=False)

    seen = guarded([("open", A), end()], prepare=prepare)
    assert seen.answer == "done"
    assert violations(seen) == [("closed", "HARD_STOP", "final_answer", 2)]
    seen = guarded([("open", A), "forced"], prepare=prepare, max_steps=1)
    assert seen.answer == "forced"


# Records, saving, and any loop.


def test_the_result_of_a_run_that_was_sent_back() -> None:
    def run(*replies: Any, **settings: Any) -> Any:
        from tests.agents.conftest import Echo

        tools = [Echo("open"), Echo("close")]
        agent = AgentWithConstraints(tools, ScriptedModel(replies), constraints=[owing()], **settings)
        return agent.run("Do it.")

    result = run(("open", A), Reply([end("early")], text="I am done."), ("close", A), end("late"))
    check(result, guarded=True)
    assert (result["answer"], result.success, result["metrics"]["constraint_violations"]) == ("late", True, [])
    assert [call["tool_name"] for call in result["metrics"]["tool_calls"]] == ["open", "close", "final_answer"]
    step = result["metrics"]["steps"][1]
    assert (step["type"], step["tool_name"], step["action_output"]) == ("tool_call", "final_answer", None)
    assert "still owed" in step["tool_result"]
    for settings, replies in (
        ({"max_steps": 1}, [("open", A)]),
        ({"final_answer_retries": 0}, [("open", A), end("early")]),
    ):
        result = run(*replies, **settings)
        check(result, guarded=True)
        assert (result["answer"], result.ending, result.interrupted) == (None, "stop", True)
        metrics = result["metrics"]
        assert (metrics["run_status"], metrics["stopped_by_constraint"]) == ("stopped", "closed")
        assert [call["tool_name"] for call in metrics["tool_calls"]] == ["open"]
        assert [violation["tool_name"] for violation in metrics["constraint_violations"]] == ["final_answer"]


def test_the_setting_travels_with_a_saved_agent() -> None:
    model = LiteLLMModel("openai/none")
    agent = ToolCallingAgentWithConstraints([], model, constraints=[owing()], final_answer_retries=4)
    again = ToolCallingAgentWithConstraints.from_dict(json.loads(json.dumps(agent.to_dict())))
    assert again.guard.settings.final_answer_retries == 4
    assert again.guard.constraints[0].applies_to_final_answer


def test_any_loop_is_sent_back_by_finish() -> None:
    for answer in ({}, {"answer": "done"}):
        g = Guard([owing("PERSISTENT_BLOCK")])
        g.said("go")
        g.settle(g.propose("open", step=1), "ok")
        back = g.finish(**answer, step=2)
        assert (back.allowed, back.action, back.owed) == (False, "retry", ("closed",))
        assert [str(call) for call in back.plan] == ["close"]
        assert g.violations == ()
        twin = Guard.from_state(json.loads(json.dumps(g.to_state())))
        for one in (g, twin):
            accepted = one.finish(**answer, step=3)
            assert (accepted.allowed, accepted.action, accepted.owed) == (True, "warn", ("closed",))
            assert [(v.tool_name, v.step_number) for v in one.violations] == [("final_answer", 3)]
            assert one.finish(last=True).action == "allow"
            assert len(one.violations) == 1
            assert len(one.trace.calls) == 1 + bool(answer)
        assert twin.status() == g.status()


def test_finish_without_a_step_left_asks_for_nothing() -> None:
    g = Guard([owing()])
    g.settle(g.propose("open"), "ok")
    decision = g.finish(last=True)
    assert (decision.allowed, decision.action) == (False, "stop")
    assert not g.propose("close").allowed
    assert g.status()["blocked_tool_call"] is None
    g.said("go on")
    assert g.propose("close").allowed
    assert g.finish("done").allowed


def test_finish_takes_arguments_or_an_answer() -> None:
    g = Guard([{"name": "r", "rule": 'G !final_answer(answer = "no")', "severity": "PERSISTENT_BLOCK"}])
    assert not g.finish("no").allowed
    assert not g.finish({"answer": "no"}).allowed
    decision = g.finish({"answer": "yes", "score": 1})
    assert decision.allowed
    g.settle(decision, "yes")
    assert g.trace.calls[0].args == {"answer": "yes", "score": 1}
