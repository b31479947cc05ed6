"""Final answers of code agents: judged by rules that name them, and accepted when marked constraints owe nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from smolagents.agents import AgentGenerationError
from smolagents.local_python_executor import LocalPythonExecutor
from smolagents.tools import Tool

from agentltl import Change
from agentltl.agents.code import CodeAgentWithConstraints
from agentltl.errors import ConstraintViolationError
from agentltl.guard.callwise import CallwiseGuard
from tests.agents.test_final_answers import ACCEPTED, owing, ran, violations

BLOCK = "PERSISTENT_BLOCK"
SECRET = {"name": "no-secret", "rule": 'G !final_answer(answer ~ "*secret*")', "severity": BLOCK}


def code(text: str) -> str:
    return f"<code>\n{text}\n</code>"


@pytest.fixture
def guarded(watch: Any, echo: Any) -> Any:
    """Run code with the tools open, close and other; a text of two or more words that is no code is a plain reply."""

    def guarded(texts: Any, *rules: dict[str, Any], tools: Any = (), **more: Any) -> Any:
        made = [echo("open"), echo("close"), echo("other"), *tools]
        replies = [text if text.startswith("an answer") else code(text) for text in texts]
        agent_class = more.pop("agent_class", CodeAgentWithConstraints)
        return watch(agent_class, replies, made, constraints=list(rules), **more)

    return guarded


def end(answer: object = "done") -> str:
    return f"final_answer({answer!r})"


OPEN, CLOSE = "open('a')", "close('a')"


# What marked constraints owe.


@pytest.mark.parametrize("severity", ["HARD_STOP", *ACCEPTED])
@pytest.mark.parametrize("stream", [False, True])
def test_the_model_is_sent_back_and_does_what_is_owed(severity: str, stream: bool, guarded: Any) -> None:
    texts = [f"{OPEN}\n{end('early')}", f"{CLOSE}\n{end('late')}"]
    rule = owing(severity, description="What is opened is closed.", repair="Close it")
    seen = guarded(texts, rule, stream=stream)
    assert seen.answer == "late"
    assert ran(seen) == ["open", "close", "final_answer"]
    told = str(seen.steps[0].error)
    for part in ("closed", "What is opened is closed", "Close it", "First call `close`", '"close" has not been called'):
        assert part in told
        assert part in seen.model.requests[1].text
    assert violations(seen) == []
    refused = seen.steps[0].judged_calls[1]
    assert (refused.tool, refused.status, refused.decision.action) == ("final_answer", "refused", "retry")
    assert not seen.steps[0].is_final_answer


def test_what_is_owed_after_that_stops_without_an_answer(guarded: Any) -> None:
    seen = guarded([OPEN, end("1"), end("2"), end("3")], owing())
    assert isinstance(seen.error, ConstraintViolationError)
    assert isinstance(seen.error, AgentGenerationError)
    assert seen.answer is None
    assert '"close" was never called' in str(seen.error)
    assert violations(seen) == [("closed", "HARD_STOP", "final_answer", 3)]
    status = seen.agent.get_constraint_status()
    assert (status["status"], status["stopped_by"], status["blocked_tool_call"]) == ("stopped", "closed", None)
    assert len(seen.model.requests) == 3
    assert not any(step.is_final_answer for step in seen.steps)


@pytest.mark.parametrize("severity", ACCEPTED)
def test_what_is_owed_after_that_is_recorded(severity: str, guarded: Any) -> None:
    seen = guarded([OPEN, end("1"), end("2")], owing(severity))
    assert seen.answer == "2"
    assert violations(seen) == [("closed", severity, "final_answer", 3)]
    assert seen.agent.get_constraint_status()["status"] == "completed"


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_the_model_is_sent_back_so_often(retries: int, guarded: Any) -> None:
    texts = [OPEN, *(end(number) for number in range(retries + 1))]
    seen = guarded(texts, owing(BLOCK), final_answer_retries=retries)
    assert seen.answer == retries
    assert seen.model.left == 0


def test_retries_are_of_one_run(guarded: Any) -> None:
    texts = [OPEN, end("1"), end("2"), end("3"), f"{CLOSE}\n{end('4')}"]
    seen = guarded(texts, owing(BLOCK), runs=[{}, {"reset": False}])
    assert seen.ends == ["2", "4"]
    assert violations(seen) == [("closed", BLOCK, "final_answer", 3)]
    seen = guarded(texts, owing(), runs=[{}, {"reset": False}])
    assert isinstance(seen.errors[0], ConstraintViolationError)
    assert seen.answer == "4"


def test_an_insisted_answer_is_an_override(guarded: Any) -> None:
    rule = owing("BLOCK_AND_WARN")
    seen = guarded([OPEN, end("1"), end("1")], rule, final_answer_retries=5)
    assert seen.answer == "1"
    assert "identical answer" in str(seen.steps[1].error)
    assert [violation.override for violation in seen.agent.guard.violations] == [True]
    again = f"{OPEN}\ntry:\n    {end('1')}\nexcept Exception:\n    {end('1')}"
    seen = guarded([again, f"{CLOSE}\n{end('1')}"], rule, final_answer_retries=5)
    assert [violation.override for violation in seen.agent.guard.violations] == []


AGAIN = {
    "caught": f"{OPEN}\ntry:\n    {end('1')}\nexcept Exception:\n    pass\n{end('2')}",
    "in a loop": f"{OPEN}\nfor x in range(9):\n    try:\n        {end('1')}\n    except Exception:\n        pass",
    "in a nested function": (
        f"{OPEN}\ndef f():\n    def g():\n        return final_answer('1')\n    return g()\n"
        "for x in range(9):\n    try:\n        f()\n    except Exception:\n        pass"
    ),
    "by another name": (
        f"{OPEN}\nf = final_answer\nfor x in range(9):\n    try:\n        f('1')\n    except Exception:\n        pass"
    ),
    "in threads": (
        f"import threading\n{OPEN}\nfor x in range(9):\n    t = threading.Thread(target=final_answer, args=('1',))\n"
        "    t.start()\n    t.join()"
    ),
}


@pytest.mark.parametrize("text", AGAIN.values(), ids=AGAIN)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_code_that_answers_again_does_not_use_up_the_retries(text: str, guarded: Any) -> None:
    """The model has not heard yet that something is owed."""
    seen = guarded([text, f"{CLOSE}\n{end('late')}"], owing(), additional_authorized_imports=["threading"])
    assert seen.answer == "late"
    assert "still owed" in seen.model.requests[1].text
    assert violations(seen) == []
    seen = guarded([text, text, text], owing(), additional_authorized_imports=["threading"])
    assert isinstance(seen.error, ConstraintViolationError)
    assert len(seen.model.requests) == 2


def test_code_that_is_sent_back_can_do_what_is_owed(guarded: Any) -> None:
    text = f"{OPEN}\ntry:\n    {end('1')}\nexcept Exception:\n    {CLOSE}\n{end('2')}"
    seen = guarded([text], owing())
    assert (seen.answer, violations(seen)) == ("2", [])


BEHIND = {
    "finally": f"try:\n    {end('1')}\nfinally:\n    {OPEN}",
    "in a function": f"def f():\n    try:\n        {end('1')}\n    finally:\n        {OPEN}\nf()",
}


@pytest.mark.parametrize("text", BEHIND.values(), ids=BEHIND)
def test_what_calls_behind_the_answer_owe_is_asked_for(text: str, guarded: Any) -> None:
    seen = guarded([text, f"{CLOSE}\n{end('2')}"], owing())
    assert (seen.answer, violations(seen)) == ("2", [])
    assert "still owed" in seen.model.requests[1].text
    seen = guarded([text], owing(), final_answer_retries=0)
    assert isinstance(seen.error, ConstraintViolationError)
    seen = guarded([text], owing(BLOCK), final_answer_retries=0)
    assert (seen.answer, violations(seen)) == ("1", [("closed", BLOCK, "final_answer", 1)])


def test_a_swallowed_answer_is_none(guarded: Any) -> None:
    text = f"def f():\n    try:\n        {end('1')}\n    finally:\n        return 1\nf()\n{OPEN}"
    seen = guarded([text, end("2"), f"{CLOSE}\n{end('3')}"], owing())
    assert (seen.answer, violations(seen)) == ("3", [])
    assert [step.is_final_answer for step in seen.steps] == [False, False, True]


# The end of the steps.


def test_a_debt_at_max_steps_stops_before_the_last_model_call(guarded: Any) -> None:
    seen = guarded([OPEN, "other(1)", "an answer"], owing(), max_steps=2, stream=True)
    assert isinstance(seen.error, ConstraintViolationError)
    assert violations(seen) == [("closed", "HARD_STOP", "final_answer", 2)]
    assert seen.model.left == 1


@pytest.mark.parametrize("severity", ACCEPTED)
def test_a_debt_at_max_steps_is_recorded_once(severity: str, guarded: Any) -> None:
    seen = guarded([OPEN, "other(1)", "an answer"], owing(severity), max_steps=2)
    assert seen.answer == "an answer"
    assert violations(seen) == [("closed", severity, "final_answer", 2)]
    seen = guarded([OPEN, end("early"), "an answer"], owing(severity), max_steps=2)
    assert (seen.answer, violations(seen)) == ("an answer", [("closed", severity, "final_answer", 2)])


# What the answer says.

ANSWERS = {
    "plain": "final_answer('the secret')",
    "by name": "final_answer(answer='the secret')",
    "by another name": "f = final_answer\nf('the secret')",
    "in a nested function": "def f(x):\n    def g():\n        final_answer(x)\n    g()\nf('the secret')",
    "in a lambda": "(lambda f: f('the secret'))(final_answer)",
    "mapped": "list(map(final_answer, ['the secret']))",
    "finally": "try:\n    1\nfinally:\n    final_answer('the secret')",
    "in a pool": "from concurrent.futures import *\nThreadPoolExecutor(1).submit(final_answer, 'the secret').result()",
    "a list": "final_answer(['the secret'])",
    "changed on its way": (
        "from concurrent.futures import *\ne = ThreadPoolExecutor(1).submit(final_answer, 'open').exception()\n"
        "def f():\n    try:\n        raise e\n    finally:\n        e.value = 'the secret'\nf()"
    ),
    "changed inside": (
        "from concurrent.futures import *\ne = ThreadPoolExecutor(1).submit(final_answer, ['open']).exception()\n"
        "def f():\n    try:\n        raise e\n    finally:\n        e.value[0] = 'the secret'\nf()"
    ),
    "changed after it was given": "x = ['open']\ntry:\n    final_answer(x)\nfinally:\n    x[0] = 'the secret'",
    "kept from an earlier step": "f('the secret')",
}
EARLIER = {"kept from an earlier step": "f = final_answer"}


@pytest.mark.parametrize("name", ANSWERS)
def test_what_an_answer_says_is_judged(name: str, guarded: Any) -> None:
    rule = {**SECRET, "rule": 'G (final_answer -> final_answer(answer in ["open", ["open"], "nothing"]))'}
    texts = [*filter(None, [EARLIER.get(name)]), ANSWERS[name], end("nothing")]
    more: dict[str, Any] = {"additional_authorized_imports": ["concurrent.futures"]}
    free = guarded(texts, **more)
    held = guarded(texts, rule, **more)
    if name != "changed after it was given":
        assert "secret" in str(free.answer)
    assert "secret" not in str(held.answer)
    assert held.error is None


def test_an_executor_of_ones_own_can_change_the_answer_and_it_is_judged(guarded: Any) -> None:
    class Louder(LocalPythonExecutor):
        def __call__(self, code_action: str) -> Any:
            output = super().__call__(code_action)
            output.output = f"{output.output}!"
            return output

    def prepare(agent: Any) -> None:
        agent.python_executor = Louder([])

    rule = {**SECRET, "rule": 'G !final_answer(answer = "no!")'}
    seen = guarded([end("no"), end("yes")], rule, prepare=prepare)
    assert seen.answer == "yes!"
    assert violations(seen) == [("no-secret", BLOCK, "final_answer", 1)]


KEPT = "from concurrent.futures import *\ne = ThreadPoolExecutor(1).submit(final_answer, 'x').exception()\n"


@pytest.mark.parametrize("text", [*BEHIND.values(), f"{KEPT}{OPEN}\nraise e"])
def test_an_answer_is_judged_where_it_comes_out(text: str, guarded: Any) -> None:
    rule = {"name": "closed", "rule": "G (open -> (!final_answer W close))", "severity": BLOCK}
    more: dict[str, Any] = {"additional_authorized_imports": ["concurrent.futures"]}
    seen = guarded([text, f"{CLOSE}\n{end('late')}"], rule, **more)
    assert (seen.answer, len(violations(seen))) == ("late", 1)
    assert "Refused: `final_answer` did not run." in str(seen.steps[0].error)
    seen = guarded([KEPT, "raise e", end("late")], {**rule, "rule": "at_most_once(final_answer)"}, max_steps=2, **more)
    assert "Refused" in str(seen.steps[1].error)


def test_a_person_is_asked_about_an_answer_that_was_changed_on_its_way(guarded: Any) -> None:
    asked: list[Any] = []

    def person(request: Any) -> Any:
        asked.append(request.args["answer"])
        return Change({"answer": "nothing"})

    rule = {**SECRET, "severity": "ASK"}
    more: dict[str, Any] = {"additional_authorized_imports": ["concurrent.futures"], "approve": person}
    seen = guarded([ANSWERS["changed on its way"]], rule, **more)
    assert (seen.answer, asked) == ("nothing", ["the secret"])
    assert "A person has changed the arguments" in seen.steps[0].observations


def test_an_answer_of_another_tool(guarded: Any) -> None:
    class Ending(Tool):
        name = "final_answer"
        description = "Ends."
        inputs = {"text": {"type": "string", "description": "What"}}  # noqa: RUF012
        output_type = "string"

        def forward(self, text: str) -> str:
            return text.upper()

    rule = {**SECRET, "rule": 'G !final_answer(text ~ "*secret*")'}
    seen = guarded(["final_answer('the secret')", "final_answer('open')"], rule, tools=[Ending()])
    assert seen.answer == "OPEN"


# More than one run, and saving.


def test_the_next_message_is_of_the_same_run() -> None:
    rule = {"name": "never", "rule": "never(pay)", "severity": "BLOCK_AND_WARN"}
    guard = CallwiseGuard([rule])
    guard.said("Go.")
    assert not guard.propose("pay", {"to": "bob"}, step=3).allowed
    guard.said("Go on.")
    assert not guard.propose("pay", {"to": "bob"}, step=4).allowed, "not the next message, though the next number"
    guard.said("And on.")
    assert not guard.propose("pay", {"to": "eve"}, step=1).allowed
    guard.said("And on.")
    assert guard.propose("pay", {"to": "eve"}, step=1).allowed, "the next message of the conversation"


def test_a_guard_from_its_state_knows_what_was_asked() -> None:
    guard = CallwiseGuard([owing(BLOCK)], final_answer_retries=2)
    guard.said("Go.")
    guard.settle(guard.propose("open", step=1), "ok")
    for _ in range(3):
        assert guard.finish("1", step=1).action == "retry"
    twin = CallwiseGuard.from_state(json.loads(json.dumps(guard.to_state())))
    for one in (guard, twin):
        assert one.finish("1", step=1).action == "retry"
        assert one.finish("1", step=2).action == "retry"
        assert one.finish("1", step=2).action == "retry"
        assert one.finish("1", step=3).allowed
    assert guard.status() == twin.status()
