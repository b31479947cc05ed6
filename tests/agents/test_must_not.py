"""What a guard must not get wrong, seen in other guards: a test for each, with smolagents' own loop."""

import json
from typing import Any

import pytest
from smolagents.agents import FinalAnswerStep
from smolagents.memory import ActionStep

from agentltl import AgentWithConstraints, verify_trace
from agentltl.agents.models.scripted import ScriptedModel
from agentltl.agents.stop import ConstraintStopError
from tests.agents import ways
from tests.agents.conftest import Echo
from tests.agents.ways import ASK, BLOCK, CODE, END, NEVER, SECRET, TOOL_CALLING, A, rule, run

both = pytest.mark.parametrize("kind", [TOOL_CALLING, CODE])
WRITES = "precedence(read, write)"


def steps(ran: ways.Ran) -> list[ActionStep]:
    return [step for step in ran.agent.memory.steps if isinstance(step, ActionStep)]


def judged(ran: ways.Ran, number: int = 0) -> Any:
    return ran.agent.guard.trace.calls[number].args


@both
@pytest.mark.parametrize("value", ["words", 3, [1, {"k": None}], {"k": 1}, None])
def test_arguments_of_an_unexpected_shape_are_not_judged_as_an_empty_object(value: Any, kind: str) -> None:
    bare: Any = value if kind == CODE or isinstance(value, str) else json.dumps(value)
    if value is None or isinstance(value, dict):
        bare = {"text": value}
    ran = run(kind, [("read", bare), END], rule("at_most(*, 9)"))
    assert ran.got("read") == [value]
    assert judged(ran) == {"text": value}
    assert run(kind, [("read", bare), END], rule("G !read(text)")).got("read") == []


@both
def test_state_names_are_not_judged_instead_of_values(kind: str) -> None:
    call = ("read", {"text": "doc"}) if kind == TOOL_CALLING else "read(doc)"
    runs = [{"additional_args": {"doc": {"to": "secret"}}}]
    ran = run(kind, [call, END], rule("at_most(*, 9)"), runs=runs)
    assert judged(ran) == {"text": {"to": "secret"}}
    refused = run(kind, [call, END], rule('G !read(text.to = "secret")'), runs=runs)
    assert isinstance(refused.end, ConstraintStopError)
    by_name = run(kind, [call, END], rule('G !read(text = "doc")'), runs=runs)
    assert by_name.end == "done"


@both
def test_final_answer_is_judged(kind: str) -> None:
    early = ("final_answer", {"answer": "early"})
    ran = run(kind, [early, ("read", A), END], rule("precedence(read, final_answer)", BLOCK))
    assert (ran.end, ran.events) == ("done", ["read", "final_answer"])
    assert isinstance(run(kind, [early, END], rule("precedence(read, final_answer)")).end, ConstraintStopError)


@both
def test_calls_that_raise_are_in_the_trace(kind: str) -> None:
    ran = run(kind, [("read", {"text": "fail"}), ("write", A), END], rule(WRITES, BLOCK))
    failed = ran.agent.guard.trace.calls[0]
    assert (failed.tool, failed.outcome.failed, failed.outcome.error.count("fail") > 0) == ("read", True, True)
    assert ran.got() == []  # a call that failed does not open the door
    assert run(kind, [("read", A), ("write", A), END], rule(WRITES, BLOCK)).got() == ["a"]


@both
def test_reset_false_does_not_forget_the_trace(kind: str) -> None:
    replies = [("read", A), END, ("write", A), END]
    kept = run(kind, replies, rule(WRITES), runs=[{}, {"reset": False}])
    assert (kept.end, kept.events) == ("done", ["read", "final_answer", "write", "final_answer"])
    forgotten = run(kind, replies, rule(WRITES), runs=[{}, {}])
    assert isinstance(forgotten.end, ConstraintStopError)


@both
def test_constraints_are_not_lost_in_to_dict(kind: str) -> None:
    rules = [rule(WRITES, BLOCK, repair="Read first."), rule(SECRET, name="other", weight=2.0)]
    agent = ways.KINDS[kind]([], ScriptedModel([]), constraints=rules, constraint_severities={"other": "TOLERATE"})
    data = agent.to_dict()
    assert [one["rule"] for one in data["constraints"]] == [str(c.formula) for c in agent.guard.constraints]
    assert (data["constraints"][0]["repair"], data["constraints"][1]["weight"]) == ("Read first.", 2.0)
    twin = ways.KINDS[kind]([], ScriptedModel([]), **{key: data[key] for key in data if key.startswith("constraint")})
    assert twin.guard.constraints == agent.guard.constraints
    assert twin.guard.severities == agent.guard.severities


@both
def test_a_stop_in_the_last_allowed_step_stops(kind: str) -> None:
    ran = run(kind, [("read", A), ("write", A), "never asked"], rule(NEVER), max_steps=2)
    assert isinstance(ran.end, ConstraintStopError)
    assert len(ran.model.requests) == 2
    assert ran.agent.get_constraint_status()["status"] == "stopped"


@both
def test_a_stop_is_not_reported_as_an_interruption(kind: str) -> None:
    ran = run(kind, [("write", A), END], rule(NEVER))
    assert isinstance(ran.end, ConstraintStopError)
    assert "the-rule" in str(ran.end)
    assert "interrupt" not in (str(ran.end) + ran.text).lower()
    model = ScriptedModel([("write", A), END])
    result = AgentWithConstraints(ways.tools(), model, constraints=[rule(NEVER)]).run("Do it.")
    assert (result.ending, result.constraint_status and result.constraint_status["stopped_by"]) == ("stop", "the-rule")
    assert "the-rule" in str(result["error"])
    assert "interrupted" not in str(result["error"]).lower()


@both
def test_what_ran_before_a_stop_is_not_lost_from_the_step(kind: str) -> None:
    message: Any = [("read", {"text": "first"}), ("other", {"text": "second"}), ("write", A), ("other", A)]
    if kind == CODE:
        message = "print(read('first'))\nprint(other('second'))\nwrite('a')\nother('a')"
    ran = run(kind, [message, END], rule(NEVER))
    assert isinstance(ran.end, ConstraintStopError)
    assert (ran.got("read"), ran.got("other"), ran.got()) == (["first"], ["second"], [])
    (step,) = steps(ran)
    assert "first\nsecond" in str(step.observations)
    if kind == CODE:
        made = [(call.tool, call.status) for call in step.judged_calls]  # type: ignore[attr-defined]
        assert made == [("read", "ok"), ("other", "ok"), ("write", "refused")]
    else:
        assert [call.name for call in step.tool_calls or ()] == ["read", "other", "write"]


@both
@pytest.mark.parametrize(
    ("value", "text", "open"),
    [
        ({"price": 5}, "read[price < 10]", True),
        ({"price": 50}, "read[price < 10]", False),
        ({"said": "price: 5", "price": "low"}, "read[price < 10]", False),
        ([1, 2], "read[result[1] = 2]", True),
        (True, "read[result = true]", True),
        ("it is True", "read[result = true]", False),
        (5, "read[result = 5]", True),
    ],
)
def test_results_are_not_compared_as_text(value: Any, text: str, open: bool, kind: str) -> None:
    ran = run(kind, [("read", {"text": value}), ("write", A), END], rule(f"G (write -> O {text})", BLOCK))
    assert ran.got() == (["a"] if open else [])


def test_refused_calls_are_not_in_the_tool_calls_and_a_fully_enforced_run_complies() -> None:
    rules = [rule(WRITES, BLOCK), rule('G !other(text = "secret")', BLOCK, name="other")]
    replies = [("write", A), ("other", {"text": "secret"}), ("read", A), [("write", A), ("other", A)], END]
    result = AgentWithConstraints(ways.tools(), ScriptedModel(replies), constraints=rules).run("Do it.")
    metrics = result["metrics"]
    assert [call["tool_name"] for call in metrics["tool_calls"]] == ["read", "write", "other", "final_answer"]
    assert len(metrics["constraint_violations"]) == 2
    assert verify_trace(metrics, rules)["compliance_score"] == 1.0
    free = AgentWithConstraints(ways.tools(), ScriptedModel(replies)).run("Do it.")
    assert verify_trace(free["metrics"], rules)["compliance_score"] < 1.0


@both
def test_parallel_calls_do_not_have_the_whole_steps_text_as_their_result(kind: str) -> None:
    texts = [f"number {number}" for number in range(5)]
    message = [("other", {"text": text}) for text in texts]
    for constraint in ("at_most(*, 99)", NEVER):
        ran = run(kind, [message, END], rule(constraint))
        assert [call.outcome.text for call in ran.agent.guard.trace.calls[:5]] == texts
        if kind == TOOL_CALLING:
            assert all(text in str(steps(ran)[0].observations) for text in texts)
            wrapper = AgentWithConstraints(ways.tools(), ScriptedModel([message, END]), constraints=[rule(constraint)])
            metrics = wrapper.run("Do it.")["metrics"]
            assert [call["tool_result"] for call in metrics["tool_calls"][:5]] == texts


@both
def test_an_obligation_still_open_at_max_steps_is_reported(kind: str) -> None:
    responds = rule("response(read, write)", BLOCK)
    ran = run(kind, [("read", A), "the end"], responds, max_steps=1)
    assert ran.agent.guard.owed().names == ("the-rule",)
    assert ran.agent.guard.verdicts()["the-rule"].truth.name == "PFALSE"
    kept = run(kind, [("read", A), ("write", A), "the end"], responds, max_steps=2)
    assert kept.agent.guard.owed().names == ()
    model = ScriptedModel([("read", A), "the end"])
    result = AgentWithConstraints(ways.tools(), model, constraints=[responds], max_steps=1).run("Do it.")
    assert verify_trace(result["metrics"], [responds])["compliance_score"] == 0.0


@both
def test_callbacks_checks_managed_agents_and_streaming_are_passed_on(kind: str) -> None:
    told: list[int] = []
    asked: list[Any] = []

    def check(answer: Any, memory: Any, agent: Any = None) -> bool:
        asked.append(answer)
        return answer != "early"

    replies = ways.written(kind, [ASK, ("final_answer", {"answer": "early"}), END])
    helper = ways.KINDS[kind](
        [Echo("read")],
        ScriptedModel(ways.written(kind, [("read", A), ("final_answer", {"answer": "part"})])),
        name="member",
        description="Helps.",
        verbosity_level=-1,
    )
    agent = ways.KINDS[kind](
        [],
        ScriptedModel(replies, streaming=True),
        constraints=[rule("at_most(*, 9)")],
        managed_agents=[helper],
        final_answer_checks=[check],
        step_callbacks=[lambda step, agent: told.append(step.step_number)],
        stream_outputs=True,
        verbosity_level=-1,
    )
    events = list(agent.run("Do it.", stream=True))
    assert isinstance(events[-1], FinalAnswerStep)
    assert events[-1].output == "done"
    assert "ChatMessageStreamDelta" in {type(event).__name__ for event in events}
    assert asked == ["early", "done"]
    assert told == [1, 2, 3]
    assert helper.tools["read"].got == ["a"]
    assert list(agent.guard.trace.events)[:1] == ["member"]
