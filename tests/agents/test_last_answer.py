"""The text that smolagents asks for when no step is left: judged as the answer that it is, for both kinds of agents."""

from __future__ import annotations

from typing import Any

import pytest
from smolagents.memory import ActionStep, FinalAnswerStep

from agentltl import AgentWithConstraints, Allow, ApprovalPendingError, Change, Deny, Pending
from agentltl.agents.models.scripted import ScriptedModel
from agentltl.errors import ConstraintViolationError
from tests.agents.conftest import Echo
from tests.agents.documented import check
from tests.agents.ways import BLOCK, CODE, TOOL_CALLING, A, Ran, rule, run, written

both = pytest.mark.parametrize("kind", [TOOL_CALLING, CODE])
FORBIDDEN = 'G !final_answer(answer ~ "*secret*")'
REFUSING = [BLOCK, "ASK", "SOFT_BLOCK", "BLOCK_AND_WARN"]


def last(kind: str, text: Any, *rules: dict[str, Any], first: Any = ("read", A), **more: Any) -> Ran:
    """One step, and then the text."""
    ran = run(kind, [], *rules, runs=(), **{"max_steps": 1} | more)
    ran.model.replies[:] = [*written(kind, [first]), text]
    try:
        ran.ends.append(ran.agent.run("Do it."))
    except Exception as error:
        ran.ends.append(error)
    return ran


def violations(ran: Ran) -> list[tuple[str, str, str, int]]:
    found = ran.agent.get_constraint_status()["violations"]
    return [(v["constraint_name"], v["severity"], v["tool_name"], v["step_number"]) for v in found]


@both
def test_a_text_that_breaks_no_rule_is_the_answer(kind: str) -> None:
    ran = last(kind, "open", rule(FORBIDDEN))
    assert (ran.end, ran.events, violations(ran)) == ("open", ["read", "final_answer"], [])
    outcome = ran.agent.guard.trace.calls[-1].outcome
    assert (outcome.text, outcome.failed) == ("open", False)


@both
def test_rules_that_do_not_name_it_do_not_see_it(kind: str) -> None:
    ran = last(kind, "the secret", rule("at_most(*, 1)"))
    assert (ran.end, ran.events) == ("the secret", ["read"])


@both
def test_a_text_that_stops(kind: str) -> None:
    ran = last(kind, "the secret", rule(FORBIDDEN))
    assert isinstance(ran.end, ConstraintViolationError)
    assert violations(ran) == [("the-rule", "HARD_STOP", "final_answer", 2)]
    status = ran.agent.get_constraint_status()
    assert (status["status"], status["stopped_by"]) == ("stopped", "the-rule")
    assert status["blocked_tool_call"]["tool_name"] == "final_answer"
    step = ran.agent.memory.steps[-1]
    assert (step.action_output, step.observations) == (None, str(ran.end))


@both
@pytest.mark.parametrize("severity", REFUSING)
def test_a_text_that_is_refused_is_no_answer(kind: str, severity: str) -> None:
    seen: list[Any] = []
    callbacks: Any = {ActionStep: lambda step, agent: seen.append(step.action_output)}
    ran = last(kind, "the secret", rule(FORBIDDEN, severity), step_callbacks=callbacks)
    assert (ran.end, ran.events) == (None, ["read"])
    assert violations(ran) == [("the-rule", severity, "final_answer", 2)]
    assert "secret" not in str(seen)
    assert ran.agent.memory.steps[-1].observations.startswith("Refused: `final_answer` did not run.")
    assert ran.agent.get_constraint_status()["status"] == "completed"


@both
@pytest.mark.parametrize("more", [{"severity": "TOLERATE"}, {"enforce": False}])
def test_a_text_that_is_tolerated_is_the_answer(kind: str, more: dict[str, Any]) -> None:
    ran = last(kind, "the secret", rule(FORBIDDEN, **more))
    assert (ran.end, ran.events, len(violations(ran))) == ("the secret", ["read", "final_answer"], 1)


@both
def test_an_order_is_judged_too(kind: str) -> None:
    assert last(kind, "open", rule("precedence(write, final_answer)", BLOCK)).end is None
    assert last(kind, "open", rule("precedence(read, final_answer)", BLOCK)).end == "open"


@both
def test_the_identical_answer_in_the_next_message_insists(kind: str) -> None:
    for text, answer in (("the secret", "the secret"), ("a secret", None)):
        first = ("final_answer", {"answer": "the secret"})
        ran = last(kind, text, rule(FORBIDDEN, "BLOCK_AND_WARN"), first=first)
        assert ran.end == answer
        assert [v.override for v in ran.agent.guard.violations] == [False, answer is not None]


@both
def test_a_text_can_be_put_to_a_person(kind: str) -> None:
    for answer, given in ((Allow(), "the secret"), (Deny("no"), None), (Change({"answer": "a change"}), "a change")):
        asked: list[Any] = []

        def person(request: Any, answer: Any = answer, asked: list[Any] = asked) -> Any:
            asked.append(request)
            return answer

        ran = last(kind, "the secret", rule(FORBIDDEN, "ASK"), approve=person)
        assert ran.end == given
        assert [(r.tool, r.args, r.step) for r in asked] == [("final_answer", {"answer": "the secret"}, 2)]
    ran = last(kind, "the secret", rule(FORBIDDEN, "ASK"), approve=lambda _: Pending())
    assert isinstance(ran.end, ApprovalPendingError)
    assert ran.end.request is not None
    ran.agent.guard.approve(ran.agent.guard.pending[0])
    ran.model.replies += written(kind, [("final_answer", {"answer": "the secret"})])
    assert ran.agent.run("You may say it.", reset=False) == "the secret"


@both
def test_the_error_of_the_last_model_call_is_judged_too(kind: str) -> None:
    free = last(kind, RuntimeError("the secret"), rule("never(write)"))
    assert "the secret" in str(free.end)
    assert last(kind, RuntimeError("the secret"), rule(FORBIDDEN, BLOCK)).end is None


# With what is owed.


@both
def test_what_the_text_itself_settles_is_not_owed(kind: str) -> None:
    marked = {"applies_to_final_answer": True}
    for text, open_ in (("response(read, final_answer)", 0), ("response(read, write) & called(final_answer)", 1)):
        ran = last(kind, "open", rule(text, BLOCK, **marked))
        assert ran.end == "open"
        assert [name for name, *_ in violations(ran)] == ["the-rule"] * open_
    ran = last(kind, "open", rule("response(read, write) & called(final_answer)", **marked))
    assert isinstance(ran.end, ConstraintViolationError)


@both
def test_a_refused_text_leaves_owed_what_it_would_have_settled(kind: str) -> None:
    owed = {"name": "owed", "rule": "called(final_answer)", "severity": BLOCK, "applies_to_final_answer": True}
    ran = last(kind, "the secret", rule(FORBIDDEN, BLOCK), owed)
    assert ran.end is None
    assert [(name, step) for name, _, _, step in violations(ran)] == [("the-rule", 2), ("owed", 1)]


# As it reaches others.


@both
def test_a_stream_ends_with_no_answer(kind: str) -> None:
    ran = run(kind, [], rule(FORBIDDEN, BLOCK), runs=(), max_steps=1)
    ran.model.replies[:] = [*written(kind, [("read", A)]), "the secret"]
    events = list(ran.agent.run("Do it.", stream=True))
    assert isinstance(events[-1], FinalAnswerStep)
    assert events[-1].output is None
    assert "the secret" not in str([event for event in events if isinstance(event, FinalAnswerStep)])


@both
def test_a_second_run_knows_what_was_refused(kind: str) -> None:
    ran = last(kind, "the secret", rule(FORBIDDEN, BLOCK))
    ran.model.replies += written(kind, [("final_answer", {"answer": "open"})])
    assert ran.agent.run("Again.", reset=False) == "open"
    assert "Rule the-rule" in ran.model.requests[-1].text


def test_a_result_without_an_answer() -> None:
    for reply, ending in (("the secret", "max_steps"), (RuntimeError("the secret"), "error")):
        model = ScriptedModel([("read", A), reply])
        agent = AgentWithConstraints([Echo("read")], model, constraints=[rule(FORBIDDEN, BLOCK)], max_steps=1)
        result = agent.run("Do it.")
        check(result, guarded=True)
        assert (result["answer"], result.success, result.ending) == (None, False, ending)
        assert [v["step_number"] for v in result["metrics"]["constraint_violations"]] == [2]
