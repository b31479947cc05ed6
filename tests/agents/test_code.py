"""What constraints do to the calls that the code of a code agent makes, and the ways around them that are closed."""

import copy
import inspect
import json
import re
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import wrapt
from smolagents import CodeAgent, Tool, ToolCallingAgent, agents, tool
from smolagents.agents import AgentGenerationError
from smolagents.local_python_executor import LocalPythonExecutor, PythonExecutor
from smolagents.memory import ActionStep
from smolagents.monitoring import Timing
from smolagents.utils import AgentExecutionError

from agentltl.agents.code import CodeAgentWithConstraints
from agentltl.agents.code_call import CodeStop
from agentltl.agents.models.scripted import ScriptedModel
from agentltl.agents.recorded_code import RecordedCodeAgentWithConstraints
from agentltl.agents.recorder import Recorder
from agentltl.agents.saved import SETTINGS
from agentltl.agents.tool_calling import ToolCallingAgentWithConstraints
from agentltl.agents.watched_model import WatchedModel
from agentltl.constraints.verify import verify_trace
from agentltl.errors import ConstraintError, ConstraintViolationError
from agentltl.record.events import Stream
from agentltl.record.metrics import metrics_of
from tests.agents.saved import SavedModel, Write, know_saved_model
from tests.agents.ways import Pay

END = "final_answer('done')"
FIRST = "precedence(read, write)"


def code(text: str) -> str:
    return f"<code>\n{text}\n</code>"


def rule(text: str, severity: str = "HARD_STOP", **more: Any) -> dict[str, Any]:
    return {"name": "the-rule", "rule": text, "severity": severity, **more}


BLOCK = "PERSISTENT_BLOCK"


@pytest.fixture
def guarded(watch: Any, echo: Any) -> Any:
    """Run code under rules, with the tools read, write, other and pay."""

    def guarded(codes: list[str], *rules: dict[str, Any], tools: Any = (), agent_class: Any = None, **more: Any) -> Any:
        made = [echo("read"), echo("write"), echo("other"), Pay(), *tools]
        replies = [code(text) for text in codes]
        return watch(agent_class or CodeAgentWithConstraints, replies, made, constraints=list(rules), **more)

    return guarded


def ran(seen: Any) -> list[str]:
    return list(seen.agent.guard.trace.events)


def got(seen: Any, name: str) -> list[Any]:
    return list(seen.agent.tools[name].got)


def calls(seen: Any) -> list[tuple[str, str]]:
    return [(call.tool, call.status) for step in seen.steps for call in step.judged_calls]


# A refused call.


def test_a_refusal_is_an_exception_in_the_code(guarded: Any) -> None:
    seen = guarded(
        ["write('a')\nother('after')", "read('a')\nwrite('b')", END], rule(FIRST, BLOCK, repair="Call read first")
    )
    assert seen.answer == "done"
    assert got(seen, "write") == ["b"]
    assert got(seen, "other") == []
    assert ran(seen) == ["read", "write", "final_answer"]
    error = seen.steps[0].error
    assert type(error) is AgentExecutionError
    assert "the-rule" in str(error)
    assert "Call read first" in seen.model.requests[1].text
    assert calls(seen) == [("write", "refused"), ("read", "ok"), ("write", "ok"), ("final_answer", "ok")]
    assert [call.name for call in seen.steps[0].tool_calls] == ["python_interpreter"]


@pytest.mark.parametrize("handler", ["except:", "except Exception as e:", "except BaseException:"])
def test_a_caught_refusal_did_not_run_and_is_told_all_the_same(handler: str, guarded: Any) -> None:
    seen = guarded([f"try:\n    write('a')\n{handler}\n    other('instead')\n{END}"], rule(FIRST, BLOCK))
    assert seen.answer == "done"
    assert (got(seen, "write"), got(seen, "other")) == ([], ["instead"])
    assert seen.steps[0].observations.count("the-rule") == 1
    assert seen.steps[0].error is None


def test_a_caught_refusal_beside_another_error_is_told(guarded: Any) -> None:
    seen = guarded(["try:\n    write('a')\nexcept Exception:\n    print('x')\n1 / 0", END], rule(FIRST, BLOCK))
    assert "ZeroDivisionError" in str(seen.steps[0].error)
    assert "the-rule" in seen.steps[0].observations
    assert "the-rule" in seen.model.requests[1].text


def test_a_refusal_that_the_code_prints_is_told_once(guarded: Any) -> None:
    seen = guarded([f"try:\n    write('a')\nexcept Exception as e:\n    print(e)\n{END}"], rule(FIRST, BLOCK))
    assert seen.steps[0].observations.count("the-rule") == 1


def test_many_equal_refusals_are_told_and_logged_once(guarded: Any) -> None:
    text = f"for i in range(5):\n    try:\n        write('a')\n    except Exception:\n        pass\n{END}"
    seen = guarded([text], rule("never(write)", BLOCK))
    assert len(seen.agent.get_constraint_status()["violations"]) == 5
    assert seen.steps[0].observations.count("the-rule") == 1
    assert seen.log.count("Refused tool call") == 1


def test_the_exception_has_nothing_of_the_guard(guarded: Any) -> None:
    text = f"try:\n    write('a')\nexcept Exception as e:\n    print(e.decision)\n{END}"
    assert "None" in guarded([text], rule(FIRST, BLOCK)).steps[0].observations


# A stop.


def test_a_stop_leaves_the_run_at_once(guarded: Any) -> None:
    text = "print('before')\nread('a')\ntry:\n    pay('b')\nexcept:\n    other('x')\nother('y')"
    seen = guarded([text, END], rule("never(pay)"))
    assert isinstance(seen.error, ConstraintViolationError)
    assert isinstance(seen.error, AgentGenerationError)
    assert seen.error.decision.violations[0].constraint_name == "the-rule"
    assert "interrupted" not in str(seen.error)
    assert len(seen.model.requests) == 1
    assert (ran(seen), got(seen, "other"), got(seen, "pay")) == (["read"], [], [])
    (step,) = seen.steps
    assert step.observations.startswith("Execution logs:\nbefore\n")
    assert "the-rule" in step.observations
    assert step.error is None
    assert calls(seen) == [("read", "ok"), ("pay", "refused")]
    status = seen.agent.get_constraint_status()
    assert status["blocked_tool_call"] == {
        "tool_name": "pay",
        "tool_args": {"to": "b", "amount": 100},
        "tool_id": None,
        "tool_result": "BLOCKED_BY_CONSTRAINT",
        "blocked_by": "the-rule",
        "step_number": 1,
    }
    assert status["constraint_checks"] == 2


SWALLOWING = {
    "return in finally": "def f():\n    try:\n        write('a')\n    finally:\n        return 1\nf()\nother('x')",
    "break in finally": "for i in [1]:\n    try:\n        write('a')\n    finally:\n        break\nother('x')",
    "raise in finally": "try:\n    try:\n        write('a')\n    finally:\n        1 / 0\nexcept:\n    other('x')",
    "call in finally": "try:\n    write('a')\nfinally:\n    other('x')",
    "answer in finally": "try:\n    write('a')\nfinally:\n    final_answer('x')",
    "nothing after it": "def f():\n    try:\n        write('a')\n    finally:\n        return 1\nf()",
    "answer after it": f"def f():\n    try:\n        write('a')\n    finally:\n        return 1\nf()\n{END}",
}


@pytest.mark.parametrize("text", SWALLOWING.values(), ids=SWALLOWING)
@pytest.mark.parametrize("stream", [False, True])
def test_a_stop_cannot_be_swallowed(text: str, stream: bool, guarded: Any) -> None:
    seen = guarded([text, END], rule("never(write)"), stream=stream, max_steps=1)
    assert isinstance(seen.error, ConstraintViolationError)
    assert (got(seen, "write"), got(seen, "other"), ran(seen)) == ([], [], [])
    assert len(seen.model.requests) == 1
    assert seen.steps[0].judged_calls[0].status == "refused"


def test_finally_runs_on(guarded: Any) -> None:
    seen = guarded(["try:\n    write('a')\nfinally:\n    print('tidied')"], rule("never(write)"))
    assert "tidied" in seen.steps[0].observations


def test_a_streamed_stop_shows_the_step_first(guarded: Any) -> None:
    seen = guarded(["write('a')"], rule("never(write)"), stream=True)
    assert [type(event).__name__ for event in seen.events] == ["ToolCall", "ActionStep"]
    assert isinstance(seen.error, ConstraintViolationError)


def test_a_stopped_agent_runs_again_when_the_user_speaks(guarded: Any) -> None:
    runs = [{}, {"reset": False, "task": "Read first."}]
    seen = guarded(["write('a')", f"read('a')\nwrite('b')\n{END}"], rule(FIRST), runs=runs)
    assert isinstance(seen.errors[0], ConstraintViolationError)
    assert seen.answer == "done"
    assert "the-rule" in seen.model.requests[1].text
    assert got(seen, "write") == ["b"]


def test_a_step_of_its_own_stops_under_the_same_name(echo: Any) -> None:
    model = ScriptedModel([code("write('a')"), code("other('a')")])
    tools = [echo("write"), echo("other")]
    agent = CodeAgentWithConstraints(tools, model, constraints=[rule("never(write)")], verbosity_level=-1)
    agent.python_executor.send_tools(agent.tools)
    step = ActionStep(1, Timing(0.0))
    with pytest.raises(ConstraintViolationError, match="the-rule"):
        agent.step(step)
    assert [call.status for call in step.judged_calls] == ["refused"]
    with pytest.raises(ConstraintViolationError, match="the-rule"):
        agent.step(ActionStep(2, Timing(0.0)))
    assert agent.tools["other"].got == []


def test_a_callback_sees_the_calls_of_the_step(guarded: Any) -> None:
    told: list[Any] = []
    seen = guarded(
        ["read('a')", "write('a')"],
        rule("never(write)"),
        step_callbacks=[lambda step, agent: told.append([call.tool for call in step.judged_calls])],
    )
    assert isinstance(seen.error, ConstraintViolationError)
    assert told == [["read"], ["write"]]


# Ways to make a call.

WAYS = {
    "positional": "pay('x', 200)",
    "keywords": "pay(amount=200, to='x')",
    "mixed": "pay('x', amount=200)",
    "unpacked": "pay(*['x', 200])",
    "unpacked keywords": "pay(**{'to': 'x', 'amount': 200})",
    "one object": "pay({'to': 'x', 'amount': 200})",
    "one object and the option": "pay({'to': 'x', 'amount': 200}, sanitize_inputs_outputs=True)",
    "the option": "pay('x', 200, sanitize_inputs_outputs=True)",
    "the default": "pay('x')",
    "loop": "for a in [1, 200]:\n    pay('x', a)",
    "while": "a = 1\nwhile a < 500:\n    pay('x', a)\n    a = a * 200",
    "comprehension": "[pay('x', a) for a in [1, 200]]",
    "dict comprehension": "{a: pay('x', a) for a in [1, 200]}",
    "generator": "sum(1 for a in [1, 200] if pay('x', a))",
    "alias": "f = pay\nf('x', 200)",
    "list": "fs = [pay]\nfs[0]('x', 200)",
    "dict": "fs = {'f': pay}\nfs['f']('x', 200)",
    "lambda": "f = lambda a: pay('x', a)\nf(200)",
    "called lambda": "(lambda g: g('x', 200))(pay)",
    "nested functions": "def f(a):\n    def g(b):\n        return pay('x', b)\n    return g(a)\nf(200)",
    "a function's default": "def f(g=pay):\n    return g('x', 200)\nf()",
    "map": "list(map(pay, ['x', 'y'], [1, 200]))",
    "filter": "list(filter(pay, ['x']))",
    "max": "max(['x', 'y'], key=pay)",
    "sorted": "sorted(['x', 'y'], key=lambda x: pay(x, 200))",
    "iter": "next(iter(lambda: pay('x', 200), None))",
    "getattr": "class A:\n    f = [pay]\ngetattr(A, 'f')[0]('x', 200)",
    "setattr": "class A:\n    pass\na = A()\nsetattr(a, 'f', pay)\na.f('x', 200)",
    "method": "class A:\n    def f(self):\n        return pay('x', 200)\nA().f()",
    "defaultdict": "import collections\nd = collections.defaultdict(lambda: pay('x', 200))\nd['k']",
    "itertools": "import itertools\nlist(itertools.starmap(pay, [('x', 200)]))",
    "re": "import re\nre.sub('x', lambda m: pay('x', 200), 'x')",
    "partial": "import functools\nfunctools.partial(pay, 'x')(200)",
    "partial's function": "import functools\nfunctools.partial(pay, 'x').func('x', 200)",
    "thread": "import threading\nt = threading.Thread(target=pay, args=('x', 200))\nt.start()\nt.join()",
    "pool": "from concurrent.futures import ThreadPoolExecutor\nlist(ThreadPoolExecutor(2).map(pay, ['x'], [200]))",
    "forward": "pay.forward('x', 200)",
    "forward by name": "getattr(pay, 'forward')('x', 200)",
    "call by name": "pay.__call__('x', 200)",
    "a lookalike letter": "ｐａｙ('x', 200)",
    "a tool that calls back": "call_back(lambda: pay('x', 200))",
    "a variable": "given('x', 200)",
    "a variable's list": "many[0]['k']('x', 200)",
    "the tool itself in an attribute error": "try:\n    broken()\nexcept AttributeError as e:\n    e.obj.sink(200)",
    "a tool that returns itself": "fluent().forward(200)",
    "the frame of a generator": "g = (i for i in [1])\ng.gi_frame.f_locals['static_tools']['pay']('x', 200)",
    "the frame by a built name": "g = (i for i in [1])\nf = getattr(g, 'gi_' + 'frame')\ngetattr(f, 'f_locals')",
    "a name with a face": (
        "class N(str):\n    def startswith(self, x):\n        return False\n"
        "c = getattr(getattr(pay, N('__wrapped__')), N('__closure__'))\n"
        "[getattr(x, N('cell_contents')).forward('x', 200) for x in c if hasattr(x.cell_contents, 'forward')]"
    ),
    "an object with a face": (
        "class T:\n    __class__ = int\n    def __le__(self, o):\n        return True\n    def __gt__(self, o):\n"
        "        return False\npay('x', T())"
    ),
    "a number with a face": (
        "class N(int):\n    def __gt__(self, o):\n        return False\n    def __le__(self, o):\n        return True\n"
        "pay('x', N(200))"
    ),
    "a dict with a face": (
        "class D(dict):\n    def items(self):\n        return [('to', 'x'), ('amount', 1)]\n"
        "pay(D({'to': 'x', 'amount': 200}))"
    ),
    "a mapping with a face": (
        "import collections\nclass D(collections.UserDict):\n    def items(self):\n        return [('amount', 200)]\n"
        "pay('x', D())"
    ),
    "a keyword with a face": (
        "class N(str):\n    def __str__(self):\n        return 'note'\npay(**{'to': 'x', N('amount'): 200})"
    ),
}
IMPORTS = ["threading", "functools", "concurrent.futures"]


class CallBack(Tool):
    name = "call_back"
    description = "Calls back."
    inputs = {"function": {"type": "any", "description": "What to call"}}  # noqa: RUF012
    output_type = "any"

    def forward(self, function: Any) -> Any:
        return function()


class Broken(Tool):
    name = "broken"
    description = "Has a bug."
    inputs = {}  # noqa: RUF012
    output_type = "any"
    sunk: list[Any] = []  # noqa: RUF012

    def forward(self) -> Any:
        return self.missing

    def sink(self, amount: Any) -> None:
        self.sunk.append(amount)


class Fluent(Tool):
    name = "fluent"
    description = "Returns itself."
    inputs = {"amount": {"type": "any", "description": "How much", "nullable": True}}  # noqa: RUF012
    output_type = "any"

    def __init__(self) -> None:
        super().__init__()
        self.got: list[Any] = []

    def forward(self, amount: Any = 0) -> Any:
        self.got.append(amount)
        return self


@pytest.mark.parametrize("text", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("severity", ["HARD_STOP", BLOCK])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_no_way_leads_around_the_guard(text: str, severity: str, guarded: Any) -> None:
    pay, fluent = Pay(), Fluent()
    Broken.sunk.clear()
    seen = guarded(
        [text, END],
        rule("G (pay -> pay(amount is number, amount <= 50)) & G !fluent(amount > 50)", severity),
        tools=[CallBack(), Broken(), fluent],
        additional_authorized_imports=IMPORTS,
        runs=[{"additional_args": {"given": pay, "many": [{"k": pay}]}}],
    )
    amounts = [amount for _, amount in [*got(seen, "pay"), *pay.got]] + fluent.got + Broken.sunk
    assert all(amount in (0, 1) for amount in amounts), amounts
    if severity == "HARD_STOP" and seen.error is not None:
        assert isinstance(seen.error, ConstraintViolationError)
    else:
        assert seen.answer == "done"


def test_the_ways_lead_to_the_tool_where_no_constraint_is(guarded: Any) -> None:
    """So that the test above means something: without a constraint the tools are reached."""
    reached = {}
    for name, text in WAYS.items():
        pay = Pay()
        run = {"additional_args": {"given": pay, "many": [{"k": pay}]}}
        more = {"tools": [CallBack(), Broken(), Fluent()], "additional_authorized_imports": IMPORTS, "runs": [run]}
        seen = guarded([text, END], **more)
        reached[name] = bool(got(seen, "pay") or pay.got)
    not_reached = {name for name, did in reached.items() if not did}
    assert not_reached == {
        "forward",
        "forward by name",
        "call by name",
        "the tool itself in an attribute error",
        "a tool that returns itself",
        "the frame of a generator",
        "the frame by a built name",
        "a name with a face",
    }


def test_code_cannot_put_its_own_in_the_place_of_a_tool(guarded: Any) -> None:
    for text in ("write = other", "def write(text):\n    other(text)", "write = 1"):
        seen = guarded([f"{text}\nwrite('a')", END], rule("never(write)", BLOCK))
        assert "other" not in ran(seen)
        assert got(seen, "write") == []


def test_an_alias_of_an_earlier_step_and_run_is_judged(guarded: Any) -> None:
    codes = ["f = write\ng = lambda: write('b')\ndef h():\n    write('c')", END, "f('a')", "g()", "h()", END]
    seen = guarded(codes, rule("never(write)", BLOCK), runs=[{}, {"reset": False}])
    assert seen.ends == ["done", "done"]
    assert got(seen, "write") == []
    assert [status for name, status in calls(seen) if name == "write"] == ["refused"] * 3


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_threads_that_outlive_the_step_are_judged_and_recorded(guarded: Any) -> None:
    text = (
        "import threading, time\ndef f():\n    time.sleep(0.3)\n    write('late')\nthreading.Thread(target=f).start()"
    )
    seen = guarded([text, "import time\ntime.sleep(0.6)", END], rule("never(write)", BLOCK),
                   additional_authorized_imports=["threading"])  # fmt: skip
    assert got(seen, "write") == []
    assert ("write", "refused") in calls(seen)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_stop_in_a_thread_stops_the_run(guarded: Any) -> None:
    text = f"import threading\nt = threading.Thread(target=write, args=('a',))\nt.start()\nt.join()\n{END}"
    seen = guarded([text], rule("never(write)"), additional_authorized_imports=["threading"])
    assert isinstance(seen.error, ConstraintViolationError)
    assert got(seen, "write") == []


def test_calls_of_many_threads_are_counted_right(guarded: Any) -> None:
    text = (
        "from concurrent.futures import ThreadPoolExecutor\ndef f(x):\n    try:\n        write(x)\n"
        "    except Exception:\n        pass\nlist(ThreadPoolExecutor(8).map(f, range(40)))\n" + END
    )
    imports = ["concurrent.futures"]
    seen = guarded([text], rule("at_most(write, 5)", BLOCK), additional_authorized_imports=imports)
    assert seen.answer == "done"
    assert len(got(seen, "write")) == 5
    assert len({call.step for call in seen.agent.guard.trace.calls}) == 6
    assert sum(status == "refused" for _, status in calls(seen)) == 35


# The arguments.


def test_arguments_stand_under_the_names_that_the_tool_has_for_them(guarded: Any) -> None:
    texts = ["pay('x', 3)", "pay('x')", "pay({'to': 'x', 'amount': 3})", "pay(amount=3, to='x')", "pay({'a': 1})"]
    seen = guarded(["\n".join([*texts, END])], rule("at_most(*, 99)"))
    full = {"to": "x", "amount": 3}
    assert [call.arguments for call in seen.steps[0].judged_calls[:-1]] == [
        full,
        {"to": "x", "amount": 100},
        full,
        full,
        {"to": {"a": 1}, "amount": 100},
    ]
    assert got(seen, "pay") == [("x", 3), ("x", 100), ("x", 3), ("x", 3), ({"a": 1}, 100)]


def test_names_are_the_same_under_telemetry(guarded: Any, monkeypatch: Any) -> None:
    wrapper = wrapt.FunctionWrapper(Tool.__call__, lambda wrapped, instance, args, kwargs: wrapped(*args, **kwargs))
    monkeypatch.setattr(Tool, "__call__", wrapper)
    seen = guarded([f"pay('x', 3)\n{END}"], rule("at_most(*, 99)"))
    assert seen.steps[0].judged_calls[0].arguments == {"to": "x", "amount": 3}


def test_a_call_that_python_rejects_is_its_error_and_no_event(guarded: Any) -> None:
    for text in ("pay()", "pay('x', nothing=1)", "pay('x', 1, 2)"):
        errors = []
        for agent_class in (CodeAgentWithConstraints, CodeAgent):
            more = {"agent_class": agent_class} if agent_class is CodeAgentWithConstraints else {}
            if more:
                seen = guarded([text, END], rule("never(pay)"), **more)
                assert ran(seen) == ["final_answer"]
                assert calls(seen) == [("final_answer", "ok")]
            else:
                model = ScriptedModel([code(text), code(END)])
                plain = CodeAgent([Pay()], model, verbosity_level=-1)
                plain.run("Do it.")
                errors.append(str(plain.memory.steps[1].error))
                continue
            errors.append(str(seen.steps[0].error))
        assert errors[0] == errors[1]
        assert "TypeError" in errors[0]


def test_a_tool_that_takes_whatever_comes(guarded: Any) -> None:
    class Loose(Tool):
        name = "loose"
        description = "Takes anything."
        inputs = {"a": {"type": "any", "description": "a"}, "b": {"type": "any", "description": "b"}}  # noqa: RUF012
        output_type = "any"
        skip_forward_signature_validation = True

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return [args, kwargs]

    text = "print(loose(1, b=2))\nloose(1, 2, 3)\nloose(b=1)\nfinal_answer(loose(1, b=2))"
    seen = guarded([text], rule("at_most(*, 99)"), tools=[Loose()])
    assert seen.answer == [(1,), {"b": 2}]
    judged = [call.arguments for call in seen.steps[0].judged_calls[:3]]
    assert judged == [{"a": 1, "b": 2}, {"a": 1, "b": 2, "*": [3]}, {"b": 1}]


def test_a_wrapped_tool_that_takes_more_than_it_says_is_judged(guarded: Any) -> None:
    class Wrapped(Pay):
        name = "wrapped"

        def forward(self, to: Any, amount: Any = 100) -> Any:
            raise NotImplementedError

    def loose(*args: Any, **kwargs: Any) -> Any:
        wrapped.got.append((args, kwargs))

    wrapped = Wrapped()
    loose.__wrapped__ = wrapped.forward  # type: ignore[attr-defined]
    wrapped.forward = loose  # type: ignore[method-assign]
    seen = guarded(["wrapped('x', 200, more=1)", END], rule("at_most(*, 99)"), tools=[wrapped])
    assert seen.steps[0].judged_calls[0].arguments == {"to": "x", "amount": 200, "more": 1}
    assert wrapped.got == [(("x", 200), {"more": 1})]


def test_a_function_made_a_tool(guarded: Any) -> None:
    @tool
    def add(a: int, b: int = 5) -> int:
        """Adds.

        Args:
            a: one
            b: other
        """
        return a + b

    seen = guarded(["final_answer(add(1))"], rule("at_most(*, 99)"), tools=[add])
    assert seen.answer == 6
    assert seen.steps[0].judged_calls[0].arguments == {"a": 1, "b": 5}
    seen = guarded(["add()", END], rule("never(add)"), tools=[add])
    assert "TypeError" in str(seen.steps[0].error)
    assert ran(seen) == ["final_answer"]


def test_another_thread_cannot_change_what_was_judged(guarded: Any, echo: Any) -> None:
    entered, changed = threading.Event(), threading.Event()

    class Slow(type(echo())):  # type: ignore[misc]
        def forward(self, text: Any) -> Any:
            entered.set()
            changed.wait(5)
            return super().forward(text)

    class Change(type(echo())):  # type: ignore[misc]
        def forward(self, text: Any) -> Any:
            entered.wait(5)
            changed.set()
            return "changed"

    text = (
        "import threading\norder = {'amount': 1, 'lines': [1]}\ndef f():\n    change('x')\n"
        "    order['amount'] = 1000\n    order['lines'].append(1000)\n"
        "t = threading.Thread(target=f)\nt.start()\nfinal_answer(slow(order))"
    )
    seen = guarded([text], rule("G !slow(text.amount > 5)"), tools=[Slow("slow"), Change("change")],
                   additional_authorized_imports=["threading"])  # fmt: skip
    assert seen.error is None
    assert seen.agent.tools["slow"].got == [{"amount": 1, "lines": [1]}]


def test_a_tool_gets_the_same_values_as_without_constraints(guarded: Any) -> None:
    text = (
        "import collections, datetime\nP = collections.OrderedDict\n"
        "for x in [1, 1.5, True, None, 'a', (1, (2,)), {1: {2}}, [[1], {'a': (1,)}], P([('b', 1)]), "
        "collections.defaultdict(list, a=[1]), collections.Counter('aab'), datetime.date(2020, 1, 2), b'x', "
        f"{{3, 4}}, range(3), float('nan')]:\n    other(x)\n{END}"
    )
    seen = guarded([text], rule("at_most(*, 99)"))
    free = guarded([text])
    assert seen.answer == "done"
    ours, theirs = got(seen, "other"), got(free, "other")
    assert [(type(v), repr(v)) for v in ours] == [(type(v), repr(v)) for v in theirs]
    assert len(ours) == 16


def test_a_tool_gets_no_class_of_the_code(guarded: Any) -> None:
    text = "\n".join(
        f"class {base.upper()}({base}):\n    def __str__(self):\n        return 'a'\nother({base.upper()}({value}))"
        for base, value in [("str", "'b'"), ("int", 2), ("list", [3]), ("dict", {"k": 4}), ("tuple", (5,))]
    )
    seen = guarded([f"{text}\n{END}"], rule("at_most(*, 99)"))
    assert seen.answer == "done"
    assert [(type(v), v) for v in got(seen, "other")] == [
        (str, "b"), (int, 2), (list, [3]), (dict, {"k": 4}), (tuple, (5,)),
    ]  # fmt: skip
    assert seen.steps[0].judged_calls[0].arguments == {"text": "b"}


def test_frames_are_out_of_reach(guarded: Any) -> None:
    for text in ("g.gi_frame", "getattr(g, 'gi_' + 'frame')", "list(map(getattr, [g], ['gi_frame']))"):
        seen = guarded([f"g = (i for i in [1])\nx = {text}", END])
        assert "Forbidden access to attribute: gi_frame" in str(seen.steps[0].error)
    assert guarded(["final_answer(getattr([1], 'nothing', 3))"]).answer == 3


def test_a_list_that_holds_itself(guarded: Any) -> None:
    seen = guarded([f"a = [1]\na.append(a)\nother(a)\n{END}"], rule("at_most(*, 99)"))
    assert seen.answer == "done"
    value = got(seen, "other")[0]
    assert value[1] is value


# Outcomes.


def test_results_are_settled_raw(guarded: Any) -> None:
    text = f"other({{'price': 3}})\nother(None)\nother([1, 2])\nother('x')\n{END}"
    seen = guarded([text], rule("never(write)"))
    outcomes = [call.outcome for call in seen.agent.guard.trace.calls[:4]]
    assert [o.value for o in (outcomes[0], outcomes[2])] == [{"price": 3}, [1, 2]]
    assert [o.text for o in outcomes] == ["{'price': 3}", None, "[1, 2]", "x"]
    assert [call.result for call in seen.steps[0].judged_calls[:4]] == ["{'price': 3}", None, "[1, 2]", "x"]


def test_calls_that_raise_are_in_the_trace(guarded: Any) -> None:
    text = "try:\n    read('fail x')\nexcept ValueError as e:\n    print(e)\nwrite('a')"
    seen = guarded([text, f"read('a')\nwrite('b')\n{END}"], rule(FIRST, BLOCK))
    failed = seen.agent.guard.trace.calls[0]
    assert failed.outcome.failed
    assert "fail x" in failed.outcome.error
    assert seen.steps[0].judged_calls[0].error == "fail x"
    assert got(seen, "write") == ["b"]
    assert calls(seen)[:2] == [("read", "failed"), ("write", "refused")]


@pytest.mark.parametrize("severity", ["HARD_STOP", BLOCK])
@pytest.mark.parametrize("made", ["bad", "fail"])
def test_an_outcome_that_breaks_a_rule(made: str, severity: str, guarded: Any) -> None:
    text = f"try:\n    read('{made}')\nexcept Exception:\n    pass\nother('next')\n{END}"
    seen = guarded([text], rule('G !read[outcome.text = "bad"] & G !read[failed]', severity))
    assert got(seen, "read") == [made]
    assert "the-rule" in seen.steps[0].observations
    if severity == "HARD_STOP":
        assert isinstance(seen.error, ConstraintViolationError)
        assert (ran(seen), got(seen, "other")) == (["read"], [])
        status = seen.agent.get_constraint_status()
        assert (status["status"], status["blocked_tool_call"]) == ("stopped", None)
    else:
        assert seen.answer == "done"
        assert got(seen, "other") == ["next"]


def test_an_open_obligation_at_max_steps_is_reported(guarded: Any) -> None:
    seen = guarded(["read('a')", "over"], rule("response(read, write)"), max_steps=1)
    assert seen.error is None
    assert seen.agent.guard.finish().owed == ("the-rule",)


# The final answer.


def test_final_answer_is_judged(guarded: Any) -> None:
    text = "try:\n    final_answer('early')\nexcept Exception:\n    read('a')\nfinal_answer('late')"
    seen = guarded([text], rule("precedence(read, final_answer)", BLOCK))
    assert seen.answer == "late"
    assert ran(seen) == ["read", "final_answer"]
    seen = guarded(["final_answer('early')"], rule("precedence(read, final_answer)"))
    assert isinstance(seen.error, ConstraintViolationError)
    seen = guarded(["final_answer(7)", "final_answer(3)"], rule("G !final_answer(answer > 5)", BLOCK))
    assert seen.answer == 3


# Steps.


def test_each_call_is_a_step_of_its_own_and_its_record_has_the_runs(guarded: Any) -> None:
    rules = [rule("never(write)", BLOCK), rule("G !same_step", BLOCK) | {"name": "apart"}]
    codes = ["read('a')\nread('b')", "other('a')\nwrite('a')", END, f"read('a')\nwrite('x')\n{END}", END]
    seen = guarded(codes, *rules, runs=[{}, {"reset": False}])
    assert seen.ends == ["done", "done"]
    steps = [call.step for call in seen.agent.guard.trace.calls]
    assert steps == list(range(1, len(steps) + 1))
    violations = seen.agent.get_constraint_status()["violations"]
    assert [(v["constraint_name"], v["step_number"]) for v in violations] == [("the-rule", 2), ("the-rule", 1)]
    assert [call.step for step in seen.steps for call in step.judged_calls] == [1, 1, 2, 2, 3, 1, 1, 2]


def test_a_later_violation_by_an_outcome_has_the_runs_step(guarded: Any) -> None:
    rules = [rule('G !read[outcome.text = "bad"]', BLOCK)]
    seen = guarded(["other(1)\nother(2)", "other(3)\nread('bad')", END], *rules)
    assert [v["step_number"] for v in seen.agent.get_constraint_status()["violations"]] == [2]


def test_a_result_is_seen_by_the_next_line(guarded: Any) -> None:
    text = f"x = other('W7')\nwrite(x)\n{END}"
    seen = guarded([text], rule("G (write -> seen(.text)) & informed(other, write)"))
    assert seen.answer == "done"
    seen = guarded([f"write('W8')\n{END}"], rule("G (write -> seen(.text))"))
    assert isinstance(seen.error, ConstraintViolationError)


# The conversation.


def test_reset_false_keeps_the_trace_and_reset_forgets_it(guarded: Any) -> None:
    codes = [f"read('a')\n{END}", f"write('a')\n{END}", "write('b')"]
    seen = guarded(codes, rule(FIRST), runs=[{}, {"reset": False}, {}])
    assert seen.errors[:2] == [None, None]
    assert isinstance(seen.error, ConstraintViolationError)


def test_the_user_says_the_task_and_nothing_else(guarded: Any) -> None:
    run = {"task": "Read alpha.", "additional_args": {"extra": "beta"}}
    seen = guarded(["read(extra)"], rule("G (read -> said(.text))"), runs=[run])
    assert isinstance(seen.error, ConstraintViolationError)
    assert [message.text for message in seen.agent.guard.trace.messages] == ["Read alpha."]


def test_a_tool_added_or_replaced_later_is_judged(guarded: Any, echo: Any) -> None:
    def prepare(agent: Any) -> None:
        agent.tools["late"] = echo("late")
        agent.tools["write"] = echo("write")

    seen = guarded(["late('a')", "write('a')", END], rule("never(late) & never(write)", BLOCK), prepare=prepare)
    assert got(seen, "late") == got(seen, "write") == []
    assert [status for _, status in calls(seen)[:2]] == ["refused"] * 2


def test_a_function_of_the_executor_is_called_as_it_is_and_a_tool_is_judged(guarded: Any, echo: Any) -> None:
    extra = echo("extra")
    kwargs = {"additional_functions": {"twice": lambda x: 2 * x, "extra": extra}}
    seen = guarded(["extra('a')", "final_answer(twice(2))"], rule("never(extra)", BLOCK), executor_kwargs=kwargs)
    assert seen.answer == 4
    assert extra.got == []


# The executor.


class Elsewhere(PythonExecutor):
    def send_tools(self, tools: Any) -> None: ...

    def send_variables(self, variables: Any) -> None: ...

    def __call__(self, code_action: str) -> Any: ...


@pytest.mark.parametrize("kind", ["docker", "e2b", "modal"])
def test_a_remote_executor_is_an_error(kind: str) -> None:
    with pytest.raises(ConstraintError, match=rf"`{kind}` runs code where no guard sees") as caught:
        CodeAgentWithConstraints([], ScriptedModel([]), executor_type=kind)
    assert 'executor_type="local"' in str(caught.value)


def test_an_executor_object_that_is_not_local_is_an_error(guarded: Any) -> None:
    if "executor" in inspect.signature(CodeAgent.__init__).parameters:  # not in the oldest smolagents
        with pytest.raises(ConstraintError, match="`Elsewhere` runs code"):
            CodeAgentWithConstraints([], ScriptedModel([]), executor=Elsewhere())

    def prepare(agent: Any) -> None:
        agent.python_executor = Elsewhere()

    with pytest.raises(ConstraintError, match="`Elsewhere` runs code"):
        guarded([END], prepare=prepare)

    class Makes(CodeAgentWithConstraints):
        def create_python_executor(self) -> PythonExecutor:
            return Elsewhere()

    with pytest.raises(ConstraintError, match="`Elsewhere` runs code"):
        guarded([END], agent_class=Makes)


def test_a_local_executor_of_the_user_is_guarded(guarded: Any) -> None:
    class Own(LocalPythonExecutor):
        seen: list[str] = []  # noqa: RUF012

        def __call__(self, code_action: str) -> Any:
            self.seen.append(code_action)
            return super().__call__(code_action)

        def hello(self) -> str:
            return "hello"

    own = Own([])

    def prepare(agent: Any) -> None:
        agent.python_executor = own

    seen = guarded(["x = 1\nwrite('a')", END], rule("never(write)", BLOCK), prepare=prepare)
    assert got(seen, "write") == []
    assert len(own.seen) == 2
    executor = seen.agent.python_executor
    assert isinstance(executor, LocalPythonExecutor)
    assert executor.hello() == "hello"
    assert executor.state["x"] == own.state["x"] == 1
    executor.timeout_seconds = 7
    assert own.timeout_seconds == 7


@pytest.mark.skipif(not hasattr(LocalPythonExecutor([]), "timeout_seconds"), reason="this smolagents has no time limit")
@pytest.mark.parametrize("severity", ["HARD_STOP", BLOCK])
def test_the_time_limit_hides_nothing(severity: str, guarded: Any) -> None:
    text = "import time\nread('a')\ntime.sleep(1.3)\nwrite('a')\nother('b')"
    seen = guarded([text, END], rule("never(write)", severity), executor_kwargs={"timeout_seconds": 1})
    assert (got(seen, "write"), got(seen, "other")) == ([], [])
    assert [status for _, status in calls(seen)[:2]] == ["ok", "refused"]
    if severity == "HARD_STOP":
        assert isinstance(seen.error, ConstraintViolationError)
    else:
        assert "maximum execution time" in str(seen.steps[0].error)
        assert "the-rule" in seen.steps[0].observations


# As the base in everything else.

SCRIPTS: dict[str, list[Any]] = {
    "calls": ["x = read('a')\nprint(x)", "y = [other(i) for i in range(3)]\ny", "final_answer({'a': [1]})"],
    "errors": ["1 / 0", "read('fail')", "nothing()", "def f(:", "import os", "pay()", "write.forward('a')", END],
    "a print and an error": ["print('a')\nread('fail')", END],
    "no code": ["text", END],
    "answers": ["final_answer(None)"],
    "an answer by name": ["final_answer(answer=(1, 2))"],
    "an answer beside an assignment": ["final_answer = 3\nfinal_answer(final_answer)"],
    "a swallowed answer": ["try:\n    final_answer(1)\nfinally:\n    print('x')"],
    "a variable": ["final_answer(extra + 1)"],
    "tools as values": ["print(callable(pay), hasattr(pay, 'forward'), hasattr(pay, 'is_initialized'))", END],
    "out of steps": ["read('a')", "read('b')", "read('c')", "the answer"],
    "a model error": [RuntimeError("no model")],
}


def timeless(value: Any) -> str:
    """A part of a picture without times and places in memory."""
    text = re.sub(r"'(start_time|end_time|duration)': [\d.e-]+", "'time'", str(value))
    return re.sub(r"0x[0-9a-f]+", "0x", re.sub(r"Timing\([^)]*\)", "Timing", text))


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
@pytest.mark.parametrize("stream", [False, True], ids=["", "streamed"])
@pytest.mark.parametrize(
    "more",
    [{}, {"planning_interval": 2}, {"stream_outputs": True}, {"return_full_result": True}],
    ids=["", "planning", "deltas", "full"],
)
def test_all_else_is_as_in_the_base(
    script: list[Any], stream: bool, more: dict[str, Any], watch: Any, echo: Any, keywords: Any
) -> None:
    pictures = []
    for agent_class, own in ((CodeAgent, {}), (CodeAgentWithConstraints, keywords)):
        replies = [
            code(text) if isinstance(text, str) and text not in ("text", "the answer") else text for text in script
        ]
        if "planning_interval" in more:
            replies = [reply for pair in zip(["a plan"] * len(replies), replies, strict=True) for reply in pair]
        made = [echo("read"), echo("write"), echo("other"), Pay()]
        runs = [{"additional_args": {"extra": 2}, "max_steps": 3 if "the answer" in script else 12}]
        seen = watch(agent_class, replies, made, runs=runs, stream=stream, add_base_tools=False, **more, **own)
        pictures.append(seen.picture() | {"got": [made[0].got, made[2].got]})
    for key, value in pictures[0].items():
        assert timeless(pictures[1][key]) == timeless(value), key


def test_base_tools_and_structured_outputs_as_the_base(watch: Any, keywords: Any, monkeypatch: Any) -> None:
    reply = json.dumps({"thought": "t", "code": "final_answer(1)"})
    pictures = [
        watch(c, [reply], [], add_base_tools=True, use_structured_outputs_internally=True, **own).picture()
        for c, own in ((CodeAgent, {}), (CodeAgentWithConstraints, keywords))
    ]
    assert pictures[0] == pictures[1]
    assert "web_search" in pictures[0]["tools"]
    assert "python_interpreter" not in pictures[0]["tools"]


def test_the_parameters_are_the_bases_and_those_for_constraints() -> None:
    base = inspect.signature(CodeAgent.__init__).parameters
    ours = inspect.signature(CodeAgentWithConstraints.__init__).parameters
    positional = [name for name, p in ours.items() if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    assert [name for name in positional if name in base] == [name for name in base if name != "kwargs"]
    assert {name for name, p in ours.items() if p.kind is inspect.Parameter.KEYWORD_ONLY} == {*SETTINGS}
    assert all(ours[name].default == base[name].default for name in base if name != "kwargs")


def test_it_is_exported_and_registered() -> None:
    import agentltl

    assert agentltl.CodeAgentWithConstraints is CodeAgentWithConstraints
    assert "CodeAgentWithConstraints" in agentltl.__all__
    registry = getattr(agents, "AGENT_REGISTRY", None) or vars(agents)  # the oldest smolagents has no registry
    assert registry["CodeAgentWithConstraints"] is CodeAgentWithConstraints


# Managers and members.


def helper(agent_class: Any, replies: Any, tools: Any, **more: Any) -> Any:
    return agent_class(tools, ScriptedModel(replies), name="member", description="Helps.", verbosity_level=-1, **more)


ASK = "final_answer(member(task='Do your part.'))"


def test_as_manager_and_as_member_as_the_base(watch: Any, echo: Any, keywords: Any) -> None:
    pictures = []
    for manager, member in [
        (CodeAgent, CodeAgent),
        (CodeAgentWithConstraints, CodeAgentWithConstraints),
        (CodeAgentWithConstraints, CodeAgent),
        (CodeAgent, CodeAgentWithConstraints),
    ]:
        own = keywords if member is CodeAgentWithConstraints else {}
        part = helper(member, [code("final_answer(read('the part'))")], [echo("read")], **own)
        own = keywords if manager is CodeAgentWithConstraints else {}
        pictures.append(watch(manager, [code(ASK)], [], managed_agents=[part], **own).picture())
    assert "the part" in str(pictures[0]["ends"][0])
    for picture in pictures[1:]:
        assert picture == pictures[0]


def test_a_call_of_a_member_is_judged_and_members_tools_are_out_of_reach(watch: Any, echo: Any) -> None:
    part = helper(CodeAgent, [code(END)], [echo("read")])
    reach = "for name in ['tools', 'run', 'python_executor', 'state', 'memory']:\n    print(hasattr(member, name))"
    seen = watch(
        CodeAgentWithConstraints,
        [code(reach), code("member('Do it.')"), code("member.run('x')"), code(END)],
        [],
        managed_agents=[part],
        constraints=[rule("never(member)", BLOCK)],
    )
    assert "True" not in seen.steps[0].observations
    assert part.model.requests == []
    assert seen.steps[1].judged_calls[0].arguments == {"task": "Do it."}
    assert seen.answer == "done"


def test_a_stop_in_a_member_stops_a_manager_of_ours(watch: Any, echo: Any) -> None:
    for member_class, reply in (
        (CodeAgentWithConstraints, code("write('a')")),
        (ToolCallingAgentWithConstraints, ("write", {"text": "a"})),
    ):
        part = helper(member_class, [reply], [echo("write")], constraints=[rule("never(write)")])
        text = f"other('x')\ntry:\n    {ASK}\nexcept Exception:\n    other('y')"
        seen = watch(CodeAgentWithConstraints, [code(text)], [echo("other")], managed_agents=[part])
        assert isinstance(seen.error, ConstraintViolationError)
        assert isinstance(seen.error, AgentGenerationError)
        assert seen.agent.tools["other"].got == ["x"]
        status = seen.agent.get_constraint_status()
        assert (status["status"], status["stopped_by"], status["blocked_tool_call"]) == ("stopped", "the-rule", None)
        assert calls(seen) == [("other", "ok"), ("member", "failed")]
        assert part.get_constraint_status()["status"] == "stopped"


def test_a_stop_in_a_code_agent_stops_a_tool_calling_manager(watch: Any, echo: Any) -> None:
    part = helper(CodeAgentWithConstraints, [code("write('a')")], [echo("write")], constraints=[rule("never(write)")])
    ask = ("member", {"task": "Do.", "additional_args": {}})
    seen = watch(ToolCallingAgentWithConstraints, [ask], [], managed_agents=[part])
    assert isinstance(seen.error, ConstraintViolationError)
    assert seen.agent.get_constraint_status()["stopped_by"] == "the-rule"
    part.model.replies.append(code("write('a')"))
    plain = watch(ToolCallingAgent, [ask, ("final_answer", {"answer": "done"})], [], managed_agents=[part])
    assert plain.answer == "done"


IN_A_THREAD = "import threading\nt = threading.Thread(target=delegate, args=('Go.',))\nt.start()\nt.join()"


@pytest.mark.parametrize(
    ("manager", "text"),
    [
        (CodeAgent, "delegate('Go.')"),
        (CodeAgent, "member('Go.')"),
        (CodeAgentWithConstraints, "delegate('Go.')"),
        (CodeAgentWithConstraints, "member('Go.')"),
        (CodeAgentWithConstraints, IN_A_THREAD),
    ],
)
def test_a_run_inside_the_code_is_not_the_outermost(manager: Any, text: str, watch: Any, echo: Any) -> None:
    inner = helper(CodeAgentWithConstraints, [code(END)], [])
    delegate = echo("delegate")
    delegate.forward = lambda text: inner.run(text)
    imports = {"additional_authorized_imports": ["threading"]}
    seen = watch(manager, [code(f"{text}\n{END}")], [delegate], managed_agents=[inner], **imports)
    assert seen.answer == "done"
    assert len(inner.model.requests) == 1
    assert list(inner.guard.trace.messages) == []


# Copies and files.


def test_a_deep_copy_goes_its_own_way(watch: Any, echo: Any) -> None:
    codes = [code(f"import math\nread('a')\n{END}")]
    seen = watch(CodeAgentWithConstraints, codes, [echo("read"), echo("write")], constraints=[rule(FIRST)])
    twin = copy.deepcopy(seen.agent)
    twin.model.replies.append(code(f"write('b')\n{END}"))
    assert twin.run("Go on.", reset=False) == "done"
    assert twin.tools["write"].got == ["b"]
    assert seen.agent.tools["write"].got == []
    assert list(seen.agent.guard.trace.events) == ["read", "final_answer"]
    assert list(twin.guard.trace.events) == ["read", "final_answer", "write", "final_answer"]
    twin.python_executor("x = 5")
    assert "x" not in seen.agent.python_executor.state
    fresh = copy.deepcopy(seen.agent)
    fresh.guard.reset()
    with pytest.raises(CodeStop):
        fresh.python_executor("write('c')")
    assert [violation.step_number for violation in fresh.guard.violations] == [fresh.step_number]
    assert seen.agent.guard.violations == ()


WRITES = [code("write('a')"), code(END)]


@pytest.fixture
def saved(monkeypatch: Any) -> Any:
    know_saved_model(monkeypatch)

    def saved(**more: Any) -> CodeAgentWithConstraints:
        settings: dict[str, Any] = {
            "constraints": [rule("never(write)", "TOLERATE")],
            "constraint_severities": {"the-rule": BLOCK},
            "default_severity": "TOLERATE",
            "additional_authorized_imports": ["json"],
            "executor_kwargs": {"max_print_outputs_length": 99},
            "verbosity_level": -1,
        }
        return CodeAgentWithConstraints([Write()], SavedModel(WRITES), **(settings | more))

    return saved


def check(loaded: Any, imports: bool = True) -> None:
    assert type(loaded).__name__ == "CodeAgentWithConstraints"
    assert loaded.guard.severities["the-rule"].name == BLOCK
    assert type(loaded.guard).__name__ == "CallwiseGuard"
    assert loaded.guard.default_severity.name == "TOLERATE"
    assert ("json" in loaded.authorized_imports) == imports
    assert loaded.executor_kwargs == {"max_print_outputs_length": 99}
    assert loaded.run("Do it.") == "done"
    assert [v["constraint_name"] for v in loaded.get_constraint_status()["violations"]] == ["the-rule"]


def test_the_dict_and_the_folder_come_back(saved: Any, tmp_path: Path) -> None:
    agent = saved()
    data = agent.to_dict()
    assert json.loads(json.dumps(data)) == data
    check(CodeAgentWithConstraints.from_dict(data))
    agent.save(tmp_path)
    check(CodeAgentWithConstraints.from_folder(tmp_path))
    other = CodeAgentWithConstraints.from_dict(data, constraints=[], constraint_severities=None, max_steps=2)
    assert (other.guard.constraints, other.max_steps) == ((), 2)


def test_a_member_keeps_its_constraints(saved: Any, tmp_path: Path) -> None:
    for manager_class in (CodeAgentWithConstraints, CodeAgent):
        member = saved(name="ours", description="Helps.")
        manager = manager_class(
            [],
            SavedModel(WRITES),
            managed_agents=[member],
            verbosity_level=-1,
            executor_kwargs={"max_print_outputs_length": 99},
            additional_authorized_imports=["json"],
        )
        manager.save(tmp_path / manager_class.__name__)
        check(manager_class.from_dict(manager.to_dict()).managed_agents["ours"])
        check(manager_class.from_folder(tmp_path / manager_class.__name__).managed_agents["ours"])


def test_a_saved_remote_agent_does_not_load(saved: Any) -> None:
    data = saved().to_dict() | {"executor_type": "docker", "executor_kwargs": {}}
    with pytest.raises(ConstraintError, match="`docker`"):
        CodeAgentWithConstraints.from_dict(data)


def test_the_saved_app_builds_the_agent(saved: Any, tmp_path: Path, monkeypatch: Any) -> None:
    saved().save(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, SavedModel.__module__, sys.modules[SavedModel.__module__])
    for name in [name for name in sys.modules if name.split(".")[0] in {"tools", "managed_agents"}]:
        monkeypatch.delitem(sys.modules, name)
    made: dict[str, Any] = {"__name__": "app", "__file__": str(tmp_path / "app.py")}
    exec(compile((tmp_path / "app.py").read_text(), "app.py", "exec"), made)
    check(made["agent"], imports=False)  # smolagents does not write them into `app.py`
    for name in [name for name in sys.modules if name.split(".")[0] in {"tools", "managed_agents"}]:
        monkeypatch.delitem(sys.modules, name)


# The record.


def test_the_metrics_have_each_call_with_its_own_result(echo: Any) -> None:
    rules = [rule(FIRST, BLOCK), rule('G !other(text = "x")', "TOLERATE") | {"name": "told"}]
    model = WatchedModel(
        ScriptedModel(
            [
                code("try:\n    write('a')\nexcept Exception:\n    read('fail')"),
                code("print(read('a'))\nwrite({'k': 1})\nother('x')"),
                code("final_answer([1])"),
            ]
        )
    )
    tools = [echo("read"), echo("write"), echo("other")]
    agent = RecordedCodeAgentWithConstraints(tools, model, constraints=rules, verbosity_level=-1)  # type: ignore[arg-type]
    stream = Stream()
    recorder = agent.recorder = Recorder(stream, agent, model, lambda: agent.guard.violations)
    agent.step_callbacks.register(ActionStep, recorder.step_ended)
    assert agent.run("Do it.") == [1]
    agent.recorder = None
    recorder.close(None)
    metrics = metrics_of(stream.events)
    assert [(c["step"], c["tool_name"], c["arguments"], c["tool_result"]) for c in metrics["tool_calls"]] == [
        (1, "read", {"text": "fail"}, None),
        (2, "read", {"text": "a"}, "a"),
        (2, "write", {"text": {"k": 1}}, "{'k': 1}"),
        (2, "other", {"text": "x"}, "x"),
        (3, "final_answer", {"answer": [1]}, "[1]"),
    ]
    first, second, third = metrics["steps"]
    assert (first["type"], first["tool_name"]) == ("error", "write")
    assert "the-rule" in first["tool_result"]
    assert [call["tool_name"] for call in second["step_tool_calls"]] == ["read", "write", "other"]
    assert third["tool_name"] == "final_answer"
    kinds = [event.kind for event in stream.events]
    assert kinds.count("tool_call_start") == kinds.count("tool_call_end") == 6
    assert [e.data["constraint_name"] for e in stream.events if e.kind == "constraint_violation"] == [
        "the-rule",
        "told",
    ]
    verdict = verify_trace(metrics, [rules[0]])
    assert verdict["compliance_score"] == 1.0


def test_a_run_of_many_calls_is_quick(guarded: Any) -> None:
    start = time.perf_counter()
    seen = guarded([f"for i in range(2000):\n    other(i)\n{END}"], rule("at_most(*, 10000)"))
    assert seen.answer == "done"
    assert len(seen.steps[0].judged_calls) == 2001
    assert time.perf_counter() - start < 20
