"""Calls of a code agent's code that wait for a person, in smolagents' real loop."""

from __future__ import annotations

import asyncio
import copy
import json
import os
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from smolagents.local_python_executor import LocalPythonExecutor
from smolagents.memory import ActionStep

from agentltl import Allow, ApprovalPendingError, Change, ConstraintViolationError, Deny, Pending
from agentltl.agents.code import CodeAgentWithConstraints
from agentltl.agents.models.scripted import ScriptedModel
from agentltl.agents.recorded_code import RecordedCodeAgentWithConstraints
from agentltl.agents.recorder import Recorder
from agentltl.agents.stop import PendingStopError
from agentltl.agents.tool_calling import ToolCallingAgentWithConstraints
from agentltl.agents.watched_model import WatchedModel
from agentltl.constraints.verify import verify_trace
from agentltl.record.events import Stream
from agentltl.record.metrics import metrics_of
from tests.agents.conftest import Echo
from tests.agents.test_approval import ASK, CAP, Person
from tests.agents.ways import Pay

ROOT = Path(__file__).parent.parent.parent
END = "final_answer('done')"


class Again(Echo):
    """Runs its own agent."""

    agent: Any = None

    def forward(self, text: Any) -> Any:
        return self.agent.run("Again.", reset=False)


def code(text: str) -> str:
    return f"<code>\n{text}\n</code>"


@pytest.fixture
def go(watch: Any, echo: Any) -> Any:
    """Run code with the tools `pay` and `look` and this person: what was seen, what was paid, what was looked at."""

    def go(person: Any, *codes: str, constraints: Any = (ASK, CAP), more_tools: Any = (), **more: Any) -> Any:
        tools = [echo("pay"), echo("look"), *more_tools]
        replies = [code(text) for text in [*codes, END]]
        agent_class = more.pop("agent_class", CodeAgentWithConstraints)
        seen = watch(agent_class, replies, tools, constraints=list(constraints), approve=person, **more)
        return seen, tools[0].got, tools[1].got

    return go


def events_of(seen: Any) -> list[tuple[str, Any]]:
    return [(call.tool, call.args) for call in seen.agent.guard.trace.calls if call.tool != "final_answer"]


def test_an_allowed_call_runs_in_the_middle_of_the_code(go: Any) -> None:
    person = Person(Allow(by="ann"))
    seen, paid, looked = go(person, "look(1)\nx = pay(5)\nlook(x)", name="helper", runs=[{"task": "Pay bob."}])
    assert (seen.answer, paid, looked) == ("done", [5], [1, 5])
    (request,) = person.asked
    assert (request.tool, request.args, request.task, request.step, request.agent) == (
        "pay", {"text": 5}, "Pay bob.", 1, "helper",
    )  # fmt: skip
    assert [rule.name for rule in request.constraints] == ["ask"]
    assert events_of(seen)[1:3] == [("approved", {"text": 5}), ("pay", {"text": 5})]
    assert [v.approved for v in seen.agent.guard.violations] == [False, True]
    assert [(c.tool, c.status) for c in seen.steps[0].judged_calls] == [("look", "ok"), ("pay", "ok"), ("look", "ok")]
    assert "Refused" not in seen.model.requests[1].text


def test_a_denied_call_is_an_exception_with_the_reason(go: Any) -> None:
    seen, paid, looked = go(Person(Deny("bob was paid yesterday")), "pay(5)\nlook(1)")
    assert (seen.answer, paid, looked) == ("done", [], [])
    assert "denied it: bob was paid yesterday" in seen.model.requests[1].text
    seen, paid, looked = go(Person(False), "try:\n    pay(5)\nexcept Exception:\n    look(1)")
    assert (seen.answer, paid, looked) == ("done", [], [1])
    assert "A person has denied it." in seen.model.requests[1].text


def test_without_an_approver_it_is_refused(go: Any) -> None:
    seen, paid, _ = go(None, "pay(5)")
    assert (seen.answer, paid) == ("done", [])
    assert "It runs only if a person approves it." in seen.model.requests[1].text


@pytest.mark.parametrize("answer", [None, "yes", 1, ValueError("the network is down"), Change("all")])  # type: ignore[arg-type]
def test_no_clear_yes_is_a_no(answer: Any, go: Any) -> None:
    seen, paid, _ = go(Person(answer), "pay(5)")
    assert (seen.answer, paid) == ("done", [])
    assert "A person has denied it" in str(seen.steps[0].error)
    assert "network" not in seen.model.requests[1].text


def test_an_approver_can_be_async(go: Any) -> None:
    async def person(request: Any) -> Allow:
        await asyncio.sleep(0.001)
        return Allow()

    assert go(person, "pay(5)")[1] == [5]

    async def inside() -> Any:
        return go(person, "pay(6)")

    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        assert runner.run(inside())[1] == [6]


def test_a_person_who_breaks_off_ends_the_run(go: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        go(Person(KeyboardInterrupt()), "try:\n    pay(5)\nexcept Exception:\n    look(1)")


def test_an_approval_is_for_the_exact_call_once_and_for_a_time(go: Any) -> None:
    person = Person(True, Deny("no"), Deny("no"))
    text = "pay(5)\nfor x in [5, 5.0]:\n    try:\n        pay(x)\n    except Exception as e:\n        print(e)"
    seen, paid, _ = go(person, text)
    assert (len(person.asked), paid) == (3, [5])
    seen, paid, _ = go(Person(Allow(until=1.0)), "pay(5)")
    assert (seen.answer, paid) == ("done", [])


def test_changed_arguments_run_and_the_model_is_told(go: Any) -> None:
    seen, paid, _ = go(Person(Change({"text": 3}, by="ann")), "print(pay(5))")
    assert (seen.answer, paid) == ("done", [3])
    assert seen.steps[0].observations.startswith(
        'Execution logs:\n3\nA person has changed the arguments to {"text": 3}.'
    )
    assert [call.arguments for call in seen.steps[0].judged_calls] == [{"text": 3}]
    assert events_of(seen) == [("approved", {"text": 3}), ("pay", {"text": 3})]


def test_changed_arguments_are_judged_and_must_fit(go: Any) -> None:
    seen, paid, _ = go(Person(Change({"text": 500})), "pay(5)")
    assert (paid, seen.agent.guard.pending) == ([], ())
    told = str(seen.steps[0].error)
    assert "Rule cap" in told
    assert 'changed the arguments to {"text": 500}' in told
    for args in ({"sum": 3}, {}, {"text": 3, "more": 4}, {"text": 3, "*": [1]}):
        seen, paid, _ = go(Person(Change(args)), "pay(5)")
        assert paid == []
        assert "A person has denied it" in str(seen.steps[0].error)


def test_a_person_sees_defaults_and_names_and_can_change_one(go: Any) -> None:
    person, pay = Person(lambda request: Change({**request.args, "amount": 7}), True), Pay()
    pay.name = "spend"
    rule = {"name": "ask", "rule": "never(spend)", "severity": "ASK"}
    seen, _, _ = go(person, "spend('bob')\nspend('bob', 9)", constraints=[rule], more_tools=[pay])
    assert [request.args for request in person.asked] == [{"to": "bob", "amount": 100}, {"to": "bob", "amount": 9}]
    assert (seen.answer, pay.got) == ("done", [("bob", 7), ("bob", 9)])


def test_what_was_approved_cannot_be_changed_after(go: Any) -> None:
    items = ["bread"]
    text = "things = ['bread']\npay(things)"

    def answer(request: Any) -> Any:
        items.append("diamonds")
        return Change({"text": items})

    _, paid, _ = go(Person(answer), "pay(['x'])", constraints=[ASK])
    items.append("gold")
    assert paid == [["bread", "diamonds"]]
    thread = (
        "import threading, time\nthings = ['bread']\n"
        "t = threading.Thread(target=lambda: (time.sleep(0.1), things.append('diamonds')))\nt.start()\npay(things)"
    )

    def slow(request: Any) -> bool:
        time.sleep(0.3)
        return True

    for run in (text, thread):
        _, paid, _ = go(slow, run, constraints=[ASK], additional_authorized_imports=["threading"])
        assert paid == [["bread"]]


def test_nobody_is_asked_about_what_another_rule_refuses(go: Any) -> None:
    person = Person()
    _, paid, _ = go(person, "pay(101)", "pay()", "pay(5, 6)")
    assert (person.asked, paid) == ([], [])


def test_a_stop_after_an_approval_stops(go: Any) -> None:
    rule = {"name": "stop", "rule": "G !pay[outcome.text = 5]", "severity": "HARD_STOP"}
    seen, paid, _ = go(Person(True), "pay(5)", constraints=[ASK, {**rule, "rule": 'G !pay[outcome.text = "5"]'}])
    assert isinstance(seen.error, ConstraintViolationError)
    assert paid == [5]


def test_an_answer_can_be_put_to_a_person(go: Any) -> None:
    rule = {"name": "ask", "rule": "never(final_answer)", "severity": "ASK"}
    person = Person(Deny("too short"), Change({"answer": "longer"}))
    seen, _, _ = go(person, "final_answer('x')", constraints=[rule])
    assert (seen.answer, len(person.asked)) == ("longer", 2)
    seen, _, _ = go(Person(Pending()), "final_answer('x')", constraints=[rule])
    assert isinstance(seen.error, ApprovalPendingError)


def test_a_loop_does_not_ask_for_ever(go: Any) -> None:
    person = Person(*[False] * 9)
    text = "for x in range(9):\n    try:\n        pay(5)\n    except Exception:\n        pass"
    seen, paid, _ = go(person, text, max_identical_refusals=3)
    assert isinstance(seen.error, ConstraintViolationError)
    assert (paid, len(person.asked)) == ([], 2)


# Threads of the code.

THREADS = ["concurrent.futures", "threading"]


def test_threads_are_asked_about_one_at_a_time(go: Any) -> None:
    inside = threading.Lock()
    asked: list[Any] = []

    def person(request: Any) -> bool:
        assert inside.acquire(blocking=False)
        time.sleep(0.01)
        asked.append(request.args["text"])
        inside.release()
        return True

    text = "from concurrent.futures import ThreadPoolExecutor\nprint(list(ThreadPoolExecutor(8).map(pay, range(12))))"
    seen, paid, _ = go(person, text, additional_authorized_imports=THREADS)
    assert seen.answer == "done"
    assert sorted(paid) == sorted(asked) == list(range(12))


def test_an_approval_is_not_taken_by_the_same_call_of_another_thread(go: Any) -> None:
    text = (
        "from concurrent.futures import ThreadPoolExecutor\ndef f(x):\n    try:\n        pay(5)\n"
        "    except Exception:\n        pass\nlist(ThreadPoolExecutor(8).map(f, range(8)))"
    )
    person = Person(True, *[False] * 7)
    seen, paid, _ = go(person, text, additional_authorized_imports=THREADS)
    assert (seen.answer, paid, len(person.asked)) == ("done", [5], 8)


def test_many_agents_share_an_approver_and_nothing_else(echo: Any) -> None:
    def person(request: Any) -> Any:
        time.sleep(0.002)
        return Pending() if request.args["text"] == 7 else request.args["text"] % 2 == 0

    def one(number: int) -> tuple[list[Any], str]:
        text = "for x in range(6):\n    try:\n        pay(x)\n    except Exception:\n        pass\n"
        last = "pay(7)" if number % 3 == 0 else END
        agent = CodeAgentWithConstraints(
            [echo("pay")], ScriptedModel([code(text + last)]), constraints=[ASK], approve=person, verbosity_level=-1
        )
        try:
            return agent.tools["pay"].got, agent.run("Pay.")
        except ApprovalPendingError:
            return agent.tools["pay"].got, "pending"

    with ThreadPoolExecutor(8) as pool:
        ends = list(pool.map(one, range(24)))
    assert [paid for paid, _ in ends] == [[0, 2, 4]] * 24
    assert [end for _, end in ends] == ["pending", "done", "done"] * 8


# No answer yet.

WAITING = {
    "plain": "look(0)\npay(5)\nlook(1)",
    "caught": "look(0)\ntry:\n    pay(5)\nexcept:\n    look(1)\nlook(2)",
    "in a loop": "look(0)\nfor x in range(3):\n    try:\n        pay(5)\n    except Exception:\n        look(1)",
    "finally": "look(0)\ntry:\n    pay(5)\nfinally:\n    look(1)",
    "return in finally": (
        f"look(0)\ndef f():\n    try:\n        pay(5)\n    finally:\n        return 1\nf()\nlook(1)\n{END}"
    ),
    "answer in finally": f"look(0)\ntry:\n    pay(5)\nfinally:\n    {END}",
    "answer caught": f"look(0)\ntry:\n    try:\n        pay(5)\n    finally:\n        {END}\nexcept:\n    look(1)",
    "an error after it": "look(0)\ntry:\n    pay(5)\nfinally:\n    1 / 0",
    "a thread": f"look(0)\nt = threading.Thread(target=pay, args=(5,))\nt.start()\nt.join()\nlook(1)\n{END}",
    "a pool": f"look(0)\nf = ThreadPoolExecutor(1).submit(pay, 5)\nf.exception()\nlook(1)\n{END}",
    "an alias": "look(0)\nf = [pay]\n[g(5) for g in f]\nlook(1)",
}


@pytest.mark.parametrize("text", WAITING.values(), ids=WAITING)
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_call_without_an_answer_ends_the_run(text: str, stream: bool, go: Any) -> None:
    person = Person(Pending())
    text = f"import threading\nfrom concurrent.futures import ThreadPoolExecutor\n{text}"
    seen, paid, looked = go(person, text, stream=stream, additional_authorized_imports=THREADS)
    assert isinstance(seen.error, PendingStopError)
    assert seen.error.request is person.asked[0]
    assert not isinstance(seen.error, ConstraintViolationError)
    assert (paid, looked, len(person.asked)) == ([], [0], 1)
    assert len(seen.model.requests) == 1
    (step,) = seen.steps
    assert "A person has been asked and has not answered yet." in step.observations
    assert step.observations.count("Refused") == 1
    assert "These calls of it have run: `look(text = 0)`." in step.observations
    assert [(c.tool, c.status) for c in step.judged_calls] == [("look", "ok"), ("pay", "refused")]
    assert step.judged_calls[1].pending is person.asked[0]
    assert [decision.call.args for decision in seen.agent.guard.pending] == [{"text": 5}]
    assert seen.agent.get_constraint_status()["status"] == "completed"


def test_the_step_names_the_last_calls_that_ran(go: Any) -> None:
    seen, _, _ = go(Person(Pending()), "for x in range(12):\n    look(x)\npay(5)")
    assert "have run: 2 more, `look(text = 2)`, `look(text = 3)`" in seen.steps[0].observations
    seen, _, _ = go(Person(Pending()), "pay(5)")
    assert "No call of it has run." in seen.steps[0].observations


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_lives_on_calls_nothing_while_a_person_is_waited_for(go: Any) -> None:
    text = (
        "import threading, time\ndef f():\n    time.sleep(0.3)\n    look('late')\n"
        "threading.Thread(target=f).start()\npay(5)"
    )
    seen, _, looked = go(Person(Pending()), text, additional_authorized_imports=THREADS)
    time.sleep(0.5)
    assert isinstance(seen.error, ApprovalPendingError)
    assert looked == []


def test_the_same_agent_goes_on_when_there_is_an_answer(go: Any) -> None:
    for answer in (True, False):
        person = Person(Pending(), Deny("as I said"))
        seen, paid, looked = go(person, "look(1)\npay(5)\nlook(2)", "pay(5)\nlook(2)", max_steps=2)
        agent = seen.agent
        (question,) = agent.guard.pending
        if answer:
            agent.guard.approve(question, by="ann")
        else:
            agent.guard.deny(question)
        assert agent.run("The answer is there.", reset=False) == "done"
        assert (paid, looked) == (([5], [1, 2]) if answer else ([], [1]))
        assert "not answered yet" in seen.model.requests[1].text
        assert "have run: `look(text = 1)`" in seen.model.requests[1].text


def test_a_run_from_the_start_has_no_approvals(go: Any) -> None:
    person = Person(Pending(), False)
    seen, paid, _ = go(person, "pay(5)", "pay(5)")
    seen.agent.guard.approve(seen.agent.guard.pending[0])
    assert seen.agent.run("Pay bob.") == "done"
    assert (paid, len(person.asked)) == ([], 2)


def test_an_agent_that_waits_can_be_copied(go: Any) -> None:
    seen, paid, _ = go(Person(Pending()), "pay(5)", "pay(5)")
    twin = copy.deepcopy(seen.agent)
    twin.guard.approve(twin.guard.pending[0])
    assert twin.run("Go on.", reset=False) == "done"
    assert (twin.tools["pay"].got, paid) == ([5], [])
    again = pickle.loads(pickle.dumps(seen.agent._waits))
    assert (str(again), again.request.args) == (str(seen.agent._waits), {"text": 5})


PROCESS = """
import json, sys
from smolagents import tool
from agentltl import CodeAgentWithConstraints
from agentltl.agents.models.scripted import ScriptedModel

@tool
def pay(text: int) -> str:
    '''Pays.

    Args:
        text: how much
    '''
    return f"paid {text}"

code = ["<code>\\nx = pay(5)\\nprint(x)\\n</code>", "<code>\\npay(5)\\n</code>", "<code>\\nfinal_answer(x)\\n</code>"]
model = ScriptedModel(code)
agent = CodeAgentWithConstraints([pay], model, approve=lambda request: False, verbosity_level=-1)
agent.restore(json.load(sys.stdin))
(question,) = agent.guard.pending
agent.guard.approve(question, by="ann")
answer = agent.run("The answer is there: go on.", reset=False)
trace = [[c.tool, c.args] for c in agent.guard.trace.calls if c.tool != "final_answer"]
json.dump([answer, trace, model.requests[0].text, model.requests[2].text], sys.stdout)
"""


def test_another_process_goes_on(go: Any, tmp_path: Path) -> None:
    seen, _, _ = go(Person(Pending()), "look(1)\npay(5)")
    program = tmp_path / "later.py"
    program.write_text(PROCESS, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(program)], input=json.dumps(seen.agent.to_state()),
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer, trace, told, later = json.loads(done.stdout)
    assert answer == "paid 5"
    assert trace == [["look", {"text": 1}], ["approved", {"text": 5}], ["pay", {"text": 5}]]
    assert "not answered yet" in told
    assert "have run: `look(text = 1)`" in told
    assert "A person has denied it." in later


def test_a_run_within_the_code_that_waits_ends_the_run_around_it(go: Any) -> None:
    def know(agent: Any) -> None:
        agent.tools["again"].agent = agent

    text = "look(0)\ntry:\n    again('a')\nexcept Exception:\n    look(1)\nlook(2)"
    seen, paid, looked = go(Person(Pending()), text, "pay(5)", more_tools=[Again("again")], prepare=know)
    assert isinstance(seen.error, ApprovalPendingError)
    assert (paid, looked) == ([], [0])
    seen.agent.guard.approve(seen.agent.guard.pending[0])
    assert seen.agent.run("Go on.", reset=False) == "done"


# The time limit.

LIMITED = hasattr(LocalPythonExecutor([]), "timeout_seconds")


@pytest.mark.skipif(not LIMITED, reason="this smolagents has no time limit")
def test_the_time_that_a_person_takes_is_not_the_codes(go: Any) -> None:
    def slow(request: Any) -> bool:
        time.sleep(1.2)
        return True

    limit: dict[str, Any] = {"executor_kwargs": {"timeout_seconds": 1}}
    seen, paid, looked = go(slow, "pay(5)\nlook(1)", **limit)
    assert (seen.answer, paid, looked, seen.steps[0].error) == ("done", [5], [1], None)
    for text in ("pay(5)\nimport time\ntime.sleep(1.2)", "pay(5)\nimport time\ntime.sleep(1.2)\n1 / 0"):
        seen, paid, _ = go(slow, text, **limit)
        assert "maximum execution time of 1 seconds" in str(seen.steps[0].error)
        assert seen.agent.python_executor.timeout_seconds == 1


# Managers and members, the record, saving.


def test_a_member_that_waits_ends_its_managers_run(echo: Any) -> None:
    for member_class, reply in (
        (CodeAgentWithConstraints, code("pay(5)")),
        (ToolCallingAgentWithConstraints, ("pay", {"text": 5})),
    ):
        for manager_class, ask in (
            (CodeAgentWithConstraints, code(f"try:\n    clerk('Pay.')\nexcept Exception:\n    {END}\n{END}")),
            (ToolCallingAgentWithConstraints, ("clerk", {"task": "Pay.", "additional_args": {}})),
        ):
            member = member_class(
                [echo("pay")], ScriptedModel([reply]), constraints=[ASK], approve=Person(Pending()), name="clerk",
                description="Pays.", verbosity_level=-1,
            )  # fmt: skip
            manager = manager_class([], ScriptedModel([ask]), managed_agents=[member], verbosity_level=-1)
            with pytest.raises(ApprovalPendingError) as caught:
                manager.run("Pay bob.")
            assert caught.value.request is not None
            assert caught.value.request.agent == "clerk"
            assert member.tools["pay"].got == []
            if manager_class is CodeAgentWithConstraints:
                assert "has not answered yet" in manager.memory.steps[-1].observations


def test_the_record_has_questions_answers_and_what_ran(echo: Any) -> None:
    person = Person(Allow(by="ann"), Deny("no"), Change({"text": 3}), Pending())
    text = "pay(1)\ntry:\n    pay(2)\nexcept Exception:\n    pass\npay(4)\npay(5)"
    model = WatchedModel(ScriptedModel([code(text)]))
    agent = RecordedCodeAgentWithConstraints(
        [echo("pay")],
        model,  # type: ignore[arg-type]
        constraints=[ASK, CAP],
        approve=person,
        verbosity_level=-1,
    )
    stream = Stream()
    recorder = agent.recorder = Recorder(stream, agent, model, lambda: agent.guard.violations)
    agent.step_callbacks.register(ActionStep, recorder.step_ended)
    with pytest.raises(ApprovalPendingError) as caught:
        agent.run("Do it.")
    agent.recorder = None
    recorder.close(caught.value)
    of = {kind: [e.data for e in stream.events if e.kind == kind] for kind in {e.kind for e in stream.events}}
    asked, answers = of["approval_requested"], of["approval_answered"]
    assert [a["arguments"] for a in asked] == [{"text": 1}, {"text": 2}, {"text": 4}, {"text": 5}]
    assert [a["answer"] for a in answers] == ["allow", "deny", "change", "pending"]
    starts, ends = of["tool_call_start"], of["tool_call_end"]
    assert [a["id"] for a in asked] == [a["id"] for a in answers] == [s["id"] for s in starts]
    assert [(e["status"], e["ran"], e["arguments"]) for e in ends] == [
        ("ok", True, {"text": 1}),
        ("blocked", False, {"text": 2}),
        ("ok", True, {"text": 3}),
        ("blocked", False, {"text": 5}),
    ]
    metrics = metrics_of(stream.events)
    assert [c["arguments"] for c in metrics["tool_calls"]] == [{"text": 1}, {"text": 3}]
    assert verify_trace(metrics, [CAP])["compliance_score"] == 1.0


def test_an_approver_is_for_this_agent_and_is_not_saved() -> None:
    from smolagents import LiteLLMModel

    agent = CodeAgentWithConstraints(
        [], LiteLLMModel("openai/none"), constraints=[ASK], approve=lambda _: True, final_answer_retries=4,
        mask_tools=True, mask_reasons=True,
    )  # fmt: skip
    data = json.loads(json.dumps(agent.to_dict()))
    assert "approve" not in data
    again = CodeAgentWithConstraints.from_dict(data)
    assert again.approve is None
    assert (again.mask_tools, again.mask_reasons) == (True, True)
    assert again.guard.settings.final_answer_retries == 4
    person = Person()
    assert CodeAgentWithConstraints.from_dict(data, approve=person).approve is person
