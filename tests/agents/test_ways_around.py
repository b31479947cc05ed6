"""Each way around the guard is tried, with smolagents' own loop; the page of them says what happens, row by row.

Where a way leads somewhere without a rule, the test shows that too: else it would show nothing.
"""

import contextlib
import copy
import json
import pickle
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from smolagents import Tool, ToolCallingAgent
from smolagents.memory import ActionStep, ToolCall
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction
from smolagents.monitoring import Timing
from smolagents.utils import AgentError, AgentToolExecutionError

from agentltl import AgentWithConstraints, ApprovalPendingError, Pending
from agentltl.agents.models.scripted import Reply, ScriptedModel
from agentltl.agents.tool_calling import ToolCallingAgentWithConstraints
from agentltl.errors import ConstraintError, ConstraintViolationError
from agentltl.guard.guard import Guard
from tests.agents import ways
from tests.agents.conftest import Echo
from tests.agents.mcp.conftest import nothing_left  # noqa: F401
from tests.agents.mcp.real import stdio
from tests.agents.saved import SavedModel, Write, know_saved_model
from tests.agents.ways import (
    ASK,
    BLOCK,
    CODE,
    END,
    NEVER,
    SECRET,
    STOP,
    TOOL_CALLING,
    A,
    Pay,
    after_judging,
    ended,
    holds,
    open_way,
    rule,
    run,
    way,
)

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "ways-around.md"

both = pytest.mark.parametrize("kind", [TOOL_CALLING, CODE])
severities = pytest.mark.parametrize("severity", [STOP, BLOCK])
WRITE = ("write", {"text": "secret"})


# The shape of the arguments.


@way("arguments as an object", "judged by name")
@both
@severities
def test_an_object(kind: str, severity: str) -> None:
    holds(kind, severity, [WRITE], SECRET)


@way("arguments as JSON text", "judged as the object that smolagents makes of it", TOOL_CALLING)
@severities
def test_json_text(severity: str) -> None:
    holds(TOOL_CALLING, severity, [("write", '{"text": "secret"}')], SECRET)


@way("a bare text or number", "judged under the name that the tool has for it")
@both
@pytest.mark.parametrize(("value", "text"), [("secret", SECRET), ("3", "G !write(text = 3)")])
def test_a_bare_value(kind: str, value: str, text: str) -> None:
    holds(kind, BLOCK, [("write", json.loads(value) if kind == CODE and value == "3" else value)], text)


@way("a bare value, where `inputs` has another order than the parameters", "judged as the parameter that gets it")
@both
@severities
def test_a_bare_value_for_a_tool_of_another_order(kind: str, severity: str) -> None:
    holds(kind, severity, [("pay", "x")], 'G !pay(to = "x")', "pay", made=lambda: [Pay()])


@way("a list for an object", "judged under the name that the tool has for it")
@both
@severities
def test_a_list(kind: str, severity: str) -> None:
    holds(kind, severity, [("write", ["secret"])], 'G !write(text[0] = "secret")')


@way("`None` as a value", "judged as null")
@both
@severities
def test_none_as_a_value(kind: str, severity: str) -> None:
    holds(kind, severity, [("write", {"text": None})], "G !write(text is null)")


@way("no arguments, `None`, an empty text", "smolagents' error, nothing runs", TOOL_CALLING)
@pytest.mark.parametrize("arguments", [None, "", {}, "{}"])
def test_no_arguments(arguments: Any) -> None:
    held = run(TOOL_CALLING, [("write", arguments), END], rule(SECRET))
    assert (held.got(), held.events, held.end) == ([], ["final_answer"], "done")
    assert "Argument text is required" in held.text


@way("a value deep in objects and lists", "judged where the rule's path leads")
@both
@severities
def test_nested(kind: str, severity: str) -> None:
    deep = {"text": {"to": [{"name": "secret"}]}}
    holds(kind, severity, [("write", deep)], 'G !write(text.to[0].name = "secret")')


@way("a value that is nested too deeply to be judged (more than 100 objects and lists)", "does not run", TOOL_CALLING)
def test_nested_too_deeply() -> None:
    deep: Any = "secret"
    for _ in range(101):
        deep = [deep]
    call = ("write", {"text": deep})
    for text, told in [(SECRET, "the-rule"), ("never(read)", "nested too deeply")]:
        held = run(TOOL_CALLING, [call, END], rule(text, BLOCK))
        assert (held.got(), held.end) == ([], "done")
        assert told in held.text
    assert len(run(TOOL_CALLING, [call, END]).got()) == 1


@way("keys that the tool does not have", "smolagents' or Python's error, nothing runs")
@both
@pytest.mark.parametrize("key", ["extra", "Text", "text ", "*"])
def test_extra_keys(kind: str, key: str) -> None:
    held = run(kind, [("write", {"text": "secret", key: 1}), END], rule("at_most(*, 9)"))
    assert (held.got(), held.events, held.end) == ([], ["final_answer"], "done")


@way("smolagents' own option among the arguments", "no argument: an error in a message, left out in code")
@both
def test_the_option(kind: str) -> None:
    call = ("write", {"text": "secret", "sanitize_inputs_outputs": False})
    held = run(kind, [call, END], rule(SECRET, BLOCK))
    assert (held.got(), held.end) == ([], "done")
    assert "the-rule" in held.text or "not in the tool's input schema" in held.text


@way("a value of another kind: a number as text, a text, a list, NaN for a number", "the limit holds, or refuses")
@both
@pytest.mark.parametrize("amount", ["200", " 200 ", "two hundred", [200], {"v": 200}, None, True, "NaN", 10**400])
@pytest.mark.parametrize("text", ["G !pay(amount > 50)", "G (pay -> pay(amount <= 50))"])
def test_a_value_of_another_kind(kind: str, amount: Any, text: str) -> None:
    amount = float("nan") if amount == "NaN" and kind == TOOL_CALLING else amount
    holds(kind, BLOCK, [("pay", {"to": "x", "amount": amount})], text, "pay", made=lambda: [Pay()])


@way("an argument left out, so that the tool's default is used", "judged with the default")
@both
@severities
def test_an_argument_left_out(kind: str, severity: str) -> None:
    call = ("pay", {"to": "x"})
    for text in ("G !pay(amount > 50)", "G (pay -> pay(amount <= 50))"):
        holds(kind, severity, [call], text, "pay", made=lambda: [Pay()])
    ran = run(kind, [call, END], rule("G (pay -> pay(amount = 100))"), made=lambda: [Pay()])
    assert ran.got("pay") == [("x", 100)]
    assert ran.agent.guard.trace.calls[0].args == {"to": "x", "amount": 100}


@way("a default that is set anew after it was looked up", "judged with the default that the tool has then")
@both
def test_a_default_that_is_set_anew(kind: str) -> None:
    class Renewed(Pay):
        def forward(self, to: Any, amount: Any = 1) -> Any:
            return super().forward(to, amount)

    def renew(step: Any, agent: Any) -> None:
        Renewed.forward.__defaults__ = (100,)

    for rules, paid in ([], [("x", 1), ("x", 100)]), ([rule("G !pay(amount > 50)", BLOCK)], [("x", 1)]):
        Renewed.forward.__defaults__ = (1,)
        call = ("pay", {"to": "x"})
        ran = run(kind, [call, call, END], *rules, made=lambda: [Renewed()], step_callbacks=[renew])
        assert (ran.got("pay"), ran.end) == (paid, "done")


# The state.


@way("the name of a `state` key, or a variable, for the value", "judged by the value")
@both
@severities
def test_a_state_key(kind: str, severity: str) -> None:
    call = ("write", {"text": "doc"}) if kind == TOOL_CALLING else "write(text=doc)"
    holds(kind, severity, [call], SECRET, runs=[{"additional_args": {"doc": "the secret"}}])


@way("a `state` key whose value names another key", "judged by what the tool gets: the name", TOOL_CALLING)
def test_a_chain_of_state_keys() -> None:
    runs = [{"additional_args": {"doc": "next", "next": "the secret"}}]
    held = run(TOOL_CALLING, [("write", {"text": "doc"}), END], rule(SECRET), runs=runs)
    assert (held.got(), held.end) == (["next"], "done")
    holds(TOOL_CALLING, STOP, [("write", {"text": "doc"})], 'G !write(text = "next")', runs=runs)


class Turning(dict[str, Any]):
    """A state whose `doc` is no text at first and the secret after some looks at it."""

    left = 0

    def get(self, name: str, default: Any = None) -> Any:
        if name != "doc":
            return default
        self.left -= 1
        return 5 if self.left >= 0 else "secret"


class Typed(Echo):
    inputs = {"text": {"type": "string", "description": "What to say"}}  # noqa: RUF012


@way("a `state` that changes between check and run", "what was judged runs, or nothing", TOOL_CALLING)
@pytest.mark.parametrize("looks", range(6))
def test_a_state_that_changes(looks: int) -> None:
    def turn(agent: Any) -> None:
        agent.state = Turning(some="thing")
        agent.state.left = looks

    def made() -> list[Any]:
        return [Typed("write")]

    free = run(TOOL_CALLING, [("write", {"text": "doc"}), END], made=made, prepare=turn)
    assert free.got() == (["secret"] if looks < 2 else [])
    held = run(TOOL_CALLING, [("write", {"text": "doc"}), END], rule(SECRET, BLOCK), made=made, prepare=turn)
    assert (held.got(), held.end) == ([], "done")


# The name.

LOOK_ALIKES = [
    "Write",
    "WRITE",
    "write ",
    " write",
    "wr\u200bite",
    "wr\u0456te",
    "w\u0433ite",
    "write()",
    "functions.write",
]


@way("another case, Cyrillic letters, zero-width characters, spaces", "no tool has that name: smolagents' error")
@both
@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_look_alikes(kind: str, name: str) -> None:
    held = run(kind, [(name, {"text": "secret"}), END], rule(NEVER, BLOCK))
    assert (held.got(), held.end) == ([], "done")
    assert held.events == ["final_answer"] or "the-rule" in held.text
    assert all(getattr(step, "error", None) for step in held.agent.memory.steps[1:2])


@way("letters that Python takes for plain ones (`ｗｒｉｔｅ`)", "in a message no tool's name; in code the tool, judged")
@both
def test_wide_letters(kind: str) -> None:
    held = run(kind, [("ｗｒｉｔｅ", {"text": "secret"}), END], rule(NEVER, BLOCK))
    assert (held.got(), held.end) == ([], "done")
    assert ("the-rule" in held.text) == (kind == CODE)


class Masked(str):
    """A text that shows another face."""

    def __str__(self) -> str:
        return "read"


@way("a name of a class of its own, with another face", "judged as the name that it is", TOOL_CALLING)
@severities
def test_a_name_with_a_face(severity: str) -> None:
    held = run(TOOL_CALLING, [(Masked("write"), A), END], rule(NEVER, severity))
    assert held.got() == []
    for rules in ([], [rule(NEVER, severity)]):
        agent = ToolCallingAgentWithConstraints(ways.tools(), ScriptedModel([]), constraints=rules, verbosity_level=-1)
        if not rules:
            agent.execute_tool_call(Masked("write"), A)
            assert agent.tools["write"].got == ["a"]
            continue
        with pytest.raises(ConstraintViolationError):
            agent.execute_tool_call(Masked("write"), A)
        assert agent.tools["write"].got == []


# The tools.


@way("a tool added after construction", "judged like the others")
@both
@severities
def test_a_tool_added_later(kind: str, severity: str) -> None:
    def add(agent: Any) -> None:
        agent.tools["late"] = Echo("late")

    holds(kind, severity, [("late", A)], "never(late)", "late", prepare=add)


@way("a tool replaced after construction", "judged under the name that it is called by")
@both
@severities
def test_a_tool_replaced_later(kind: str, severity: str) -> None:
    def replace(agent: Any) -> None:
        agent.tools["write"] = Echo("harmless")

    holds(kind, severity, [("write", A)], NEVER, prepare=replace)


@way("a tool's `name` changed after construction", "judged under the name that it is called by")
@both
@severities
def test_a_tool_that_is_renamed(kind: str, severity: str) -> None:
    def rename(agent: Any) -> None:
        agent.tools["write"].name = "harmless"

    holds(kind, severity, [("write", A)], NEVER, prepare=rename)
    held = run(kind, [("harmless", A), END], rule(NEVER), prepare=rename)
    assert (held.got(), held.end) == ([], "done")


class Install(Tool):
    name = "install"
    description = "Adds a tool."
    inputs = {}  # noqa: RUF012
    output_type = "any"
    agent: Any = None

    def forward(self) -> str:
        self.agent.tools["late"] = Echo("late")
        return "added"


@way("a tool that another call adds in the middle of a run", "judged when it runs, by then at the latest", TOOL_CALLING)
@severities
@pytest.mark.parametrize("together", [True, False])
def test_a_tool_that_a_tool_adds(severity: str, together: bool) -> None:
    def know(agent: Any) -> None:
        agent.tools["install"].agent = agent

    calls: list[Any] = [("install", {}), ("late", A)]
    more: dict[str, Any] = {"made": lambda: [Install()], "prepare": know, "max_tool_threads": 1}
    free = run(TOOL_CALLING, [calls, END] if together else [*calls, END], **more)
    held = run(TOOL_CALLING, [calls, END] if together else [*calls, END], rule("never(late)", severity), **more)
    assert (free.got("late"), held.got("late")) == (["a"], [])
    ended(held, severity)


WRITES = "precedence(read, write)"


@pytest.fixture
def saved(monkeypatch: pytest.MonkeyPatch) -> Any:
    """An agent that can be saved and writes at once. It is asked whether it has written."""
    know_saved_model(monkeypatch)

    def saved(kind: str, *rules: dict[str, Any]) -> Any:
        model = SavedModel(ways.written(kind, [("write", {"text": "secret"}), END] * 2))
        return ways.KINDS[kind]([Write()], model, constraints=list(rules), verbosity_level=-1)

    return saved


def wrote(agent: Any) -> bool:
    agent.run("Do it.")
    return "write" in agent.guard.trace.events


@way("an agent from `to_dict` and `from_dict`, `save` and `from_folder`", "has its rules and keeps them")
@both
def test_a_loaded_agent(kind: str, saved: Any, tmp_path: Path) -> None:
    assert wrote(saved(kind))
    agent = saved(kind, rule(WRITES, BLOCK))
    agent.save(tmp_path)
    data = json.loads(json.dumps(agent.to_dict()))
    for loaded in (type(agent).from_dict(data), type(agent).from_folder(tmp_path)):
        assert not wrote(loaded)
        assert [v["tool_name"] for v in loaded.get_constraint_status()["violations"]] == ["write"]


@way("a deep copy of an agent", "has its rules and what has happened, and goes its own way")
@both
def test_a_deep_copy(kind: str) -> None:
    first = run(kind, [WRITE, END], rule("at_most(write, 1)", BLOCK))
    twin = copy.deepcopy(first.agent)
    twin.model.replies += ways.written(kind, [WRITE, END])
    assert (twin.run("Go on.", reset=False), twin.tools["write"].got) == ("done", ["secret"])
    assert first.events == ["write", "final_answer"]


@way("a guard that was pickled, or made again from `to_state`", "has its rules and what has happened")
def test_a_guard_that_was_away() -> None:
    guard = Guard([rule("at_most(write, 1)")])
    guard.settle(guard.propose("write", A), result="a")
    for back in (pickle.loads(pickle.dumps(guard)), Guard.from_state(json.loads(json.dumps(guard.to_state())))):
        assert back.propose("write", A).action == "stop"
        assert back.propose("read", A).action == "stop"
        again = pickle.loads(pickle.dumps(back))
        assert again.propose("read", A).action == "stop"
    assert guard.propose("read", A).allowed


# Executions that are no message of the model.


@way("`execute_tool_call` from your own code", "judged and recorded; refused, it raises", TOOL_CALLING)
@severities
def test_a_direct_call(severity: str) -> None:
    agent = ToolCallingAgentWithConstraints(ways.tools(), ScriptedModel([]), constraints=[rule(NEVER, severity)])
    for name, arguments in [("write", A), ("write", "secret"), (Masked("write"), A)]:
        with pytest.raises(ConstraintViolationError):
            agent.execute_tool_call(name, arguments)
    assert agent.tools["write"].got == []


@way("`python_executor` from your own code", "the calls in it are judged", CODE)
def test_a_direct_execution() -> None:
    ran = run(CODE, [END], rule(NEVER, BLOCK))
    with pytest.raises(Exception, match="the-rule"):
        ran.agent.python_executor("write('a')")
    with pytest.raises(Exception, match="the-rule"):
        ran.agent.python_executor.static_tools["write"]("a")
    assert ran.got() == []


@way(
    "`write.forward`, `tools['write']` and the like, written by the model",
    "in a message no tool's name; in code the guarded function is all that there is",
)
@both
@pytest.mark.parametrize("name", ["write.forward", "write.__call__", "tools['write']", "agent.tools['write'].forward"])
def test_the_tool_itself(kind: str, name: str) -> None:
    held = run(kind, [(name, A), END], rule(NEVER, BLOCK))
    assert (held.got(), held.end) == ([], "done")
    assert held.events == ["final_answer"]


class Handing(Tool):
    """Hands out a tool, alone or in a container."""

    name = "find"
    description = "Finds a tool."
    inputs = {"how": {"type": "any", "description": "How"}}  # noqa: RUF012
    output_type = "any"
    found: Any = None

    def forward(self, how: Any) -> Any:
        match how:
            case "list":
                return [{"k": (self.found,)}]
            case "set":
                return {self.found}
            case "key":
                return {self.found: 1}
            case "error":
                raise ValueError(self.found)
            case "error's attribute":
                error = ValueError()
                error.tool = [self.found]  # type: ignore[attr-defined]
                raise error
            case "method":
                return self.found.forward
        return self.found


HANDED = {
    "alone": "find('alone')('a')",
    "its forward": "find('alone').forward('a')",
    "in a list": "find('list')[0]['k'][0]('a')",
    "in a set": "for f in find('set'):\n    f('a')",
    "as a key": "for f in find('key'):\n    f('a')",
    "as a method": "find('method')('a')",
    "in an error": "try:\n    find('error')\nexcept ValueError as e:\n    e.args[0]('a')",
    "on an error": "try:\n    find(\"error's attribute\")\nexcept ValueError as e:\n    e.tool[0]('a')",
}


@way(
    "a tool that another tool hands out, alone, in lists, sets and mappings, or with an error",
    "judged like any tool",
    CODE,
)
@severities
@pytest.mark.parametrize("text", HANDED.values(), ids=HANDED)
def test_a_tool_that_is_handed_out(text: str, severity: str) -> None:
    def know(agent: Any) -> None:
        agent.tools["find"].found = agent.tools["write"]

    more: dict[str, Any] = {"made": lambda: [*ways.tools(), Handing()], "prepare": know}
    if ".forward" not in text:
        assert run(CODE, [text, END], **more).got() == ["a"]
    held = run(CODE, [text, END], rule(NEVER, severity), **more)
    assert held.got() == []
    assert isinstance(held.end, ConstraintViolationError) or held.end == "done"


@way("a tool among the variables, as a method or in a set", "judged like any tool", CODE)
@pytest.mark.parametrize("text", ["f('a')", "for f in many:\n    f('a')", "g('a')"])
def test_a_tool_among_the_variables(text: str) -> None:
    write = Echo("write")
    runs = [{"additional_args": {"f": write.forward, "g": write.__call__, "many": {write}}}]
    free = run(CODE, [text, END], made=lambda: [write], runs=runs)
    assert free.got() == ["a"]
    write.got.clear()
    held = run(CODE, [text, END], rule(NEVER, BLOCK), made=lambda: [write], runs=runs)
    assert (held.got(), held.end) == ([], "done")


@way("another name for a tool in the code, in this step or a later one", "judged under the tool's name", CODE)
@severities
@pytest.mark.parametrize("text", ["f = write\nf('a')", "(lambda g: g('a'))(write)", "list(map(write, ['a']))"])
def test_an_alias(text: str, severity: str) -> None:
    holds(CODE, severity, [text], NEVER)
    holds(CODE, severity, ["h = write", "h('a')"], NEVER)


@way("a thread that the code starts", "judged; a stop ends the run", CODE)
@severities
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_of_the_code(severity: str) -> None:
    text = "import threading\nt = threading.Thread(target=write, args=('a',))\nt.start()\nt.join()"
    holds(CODE, severity, [text], NEVER, additional_authorized_imports=["threading"])


@way("many threads, many calls of one message", "one after another in the guard: what is allowed once runs once")
@both
def test_many_threads(kind: str) -> None:
    many: Any = [("write", {"text": number}) for number in range(20)]
    if kind == CODE:
        many = (
            "from concurrent.futures import ThreadPoolExecutor\ndef f(x):\n    try:\n        write(x)\n"
            "    except Exception:\n        pass\nlist(ThreadPoolExecutor(8).map(f, range(20)))"
        )
    more: dict[str, Any] = {"additional_authorized_imports": ["concurrent.futures"]} if kind == CODE else {}
    held = run(kind, [many, END], rule("at_most(write, 1)", BLOCK), **more)
    assert (len(held.got()), held.end) == (1, "done")
    if kind == TOOL_CALLING:
        agent = held.agent
        agent.guard.reset()

        def call() -> None:
            with contextlib.suppress(ConstraintViolationError):
                agent.execute_tool_call("write", A)

        threads = [threading.Thread(target=call) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(held.got()) == 2


# Overrides.


class Base(ToolCallingAgentWithConstraints):
    """The overrides let `final_answer` through."""

    def execute_tool_call(self, tool_name: str, arguments: Any) -> Any:
        if tool_name == "final_answer":
            return super().execute_tool_call(tool_name, arguments)
        return self.own(tool_name, arguments)

    def own(self, tool_name: str, arguments: Any) -> Any:
        raise NotImplementedError

    def theirs(self, tool_name: str, arguments: Any) -> Any:
        return super().execute_tool_call(tool_name, arguments)


class OtherArguments(Base):
    def own(self, tool_name: str, arguments: Any) -> Any:
        return self.theirs(tool_name, {"text": "secret"})


class OtherTool(Base):
    def own(self, tool_name: str, arguments: Any) -> Any:
        return self.theirs("write", {"text": "secret"})


class Changing(Base):
    def own(self, tool_name: str, arguments: Any) -> Any:
        arguments["text"] = "secret"
        return self.theirs(tool_name, arguments)


class Late(Base):
    """Makes a call again later, with the name that it was given and other arguments."""

    kept: Any = None

    def own(self, tool_name: str, arguments: Any) -> Any:
        result = self.theirs(tool_name, arguments)
        return self.theirs(tool_name, {"text": "secret"}) or result


@way(
    "an override of `execute_tool_call` that passes on other arguments or another tool",
    "other arguments do not run; another tool, and the same once more, is judged as a call of its own",
    TOOL_CALLING,
)
@severities
@pytest.mark.parametrize("agent_class", [OtherArguments, OtherTool, Changing, Late])
def test_an_override_that_changes_the_call(agent_class: Any, severity: str) -> None:
    call = ("read", A) if agent_class is OtherTool else ("write", {"text": "open"})
    free = run(TOOL_CALLING, [call, END], agent_class=agent_class)
    held = run(TOOL_CALLING, [call, END], rule(SECRET, severity), agent_class=agent_class)
    assert "secret" in free.got()
    assert "secret" not in held.got()


class Stubborn(Base):
    """Tries again what has raised."""

    def own(self, tool_name: str, arguments: Any) -> Any:
        try:
            return self.theirs(tool_name, arguments)
        except AgentToolExecutionError:
            if tool_name == "install":
                raise
            return self.theirs(tool_name, arguments)


@way("an override that tries a refused call again", "refused again", TOOL_CALLING)
def test_an_override_that_tries_a_refused_call_again() -> None:
    def know(agent: Any) -> None:
        agent.tools["install"].agent = agent

    # `late` is not there yet when its message is judged, so that it is judged, and refused, when it runs.
    more: dict[str, Any] = {"made": lambda: [Install()], "prepare": know, "max_tool_threads": 1}
    calls = [("install", {}), ("late", A)]
    free = run(TOOL_CALLING, [calls, END], agent_class=Stubborn, **more)
    held = run(TOOL_CALLING, [calls, END], rule("never(late)", BLOCK), agent_class=Stubborn, **more)
    assert (free.got("late"), held.got("late")) == (["a"], [])


class Hedging(Base):
    """Makes each call twice at the same time and takes what comes first."""

    def _substitute_state_variables(self, arguments: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            with contextlib.suppress(threading.BrokenBarrierError):
                self.gate.wait(0.2)
        return super()._substitute_state_variables(arguments)

    def own(self, tool_name: str, arguments: Any) -> Any:
        self.gate = threading.Barrier(2)

        def make() -> None:
            try:
                self.theirs(tool_name, arguments)
            except Exception as error:
                errors.append(error)

        errors: list[Exception] = []
        threads = [threading.Thread(target=make) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return len(errors)


@way("an override that makes one call twice at the same time", "the second is a call of its own", TOOL_CALLING)
def test_an_override_that_hedges() -> None:
    free = run(TOOL_CALLING, [WRITE, END], agent_class=Hedging)
    held = run(TOOL_CALLING, [WRITE, END], rule("at_most(write, 1)", BLOCK), agent_class=Hedging)
    assert (len(free.got()), len(held.got())) == (2, 1)


class OwnMessages(ToolCallingAgentWithConstraints):
    """Leaves smolagents' own `process_tool_calls` in the place of ours."""

    def process_tool_calls(self, chat_message: Any, memory_step: Any) -> Any:
        return ToolCallingAgent.process_tool_calls(self, chat_message, memory_step)


@way("an override of `process_tool_calls` that goes past ours", "each call is judged when it runs", TOOL_CALLING)
@severities
def test_an_override_of_process_tool_calls(severity: str) -> None:
    holds(TOOL_CALLING, severity, [WRITE], NEVER, agent_class=OwnMessages)
    many = [("read", A), WRITE]
    held = run(TOOL_CALLING, [many, END], rule(NEVER, severity), agent_class=OwnMessages)
    assert held.got() == []


# More than one run, more than one agent.


@way("a second run with `reset=False`", "what has happened still counts")
@both
@severities
def test_a_second_run(kind: str, severity: str) -> None:
    runs = [{}, {"reset": False}]
    free = run(kind, [WRITE, END, WRITE, END], runs=runs)
    held = run(kind, [WRITE, END, WRITE, END], rule("at_most(write, 1)", severity), runs=runs)
    assert (len(free.got()), len(held.got())) == (2, 1)
    ended(held, severity)


@way("a run after a stop", "the rules still hold; the words of the user alone let the agent go on")
@both
@pytest.mark.parametrize("reset", [True, False])
def test_a_run_after_a_stop(kind: str, reset: bool) -> None:
    held = run(kind, [WRITE, WRITE, END], rule(NEVER), runs=[{}, {"reset": reset}])
    assert [type(end).__name__ for end in held.ends] == ["ConstraintStopError"] * 2
    assert held.got() == []


def member(kind: str, *rules: dict[str, Any]) -> Any:
    """A managed agent that writes."""
    model = ScriptedModel(ways.written(kind, [WRITE, ("final_answer", {"answer": "part"})]))
    keywords: dict[str, Any] = {"name": "member", "description": "Helps.", "verbosity_level": -1}
    return ways.KINDS[kind](ways.tools(), model, constraints=list(rules), **keywords)


@way("a managed agent", "asking it is a call; its own rules hold in it, and their stop stops the manager")
@both
@pytest.mark.parametrize("of", [TOOL_CALLING, CODE])
def test_a_managed_agent(kind: str, of: str) -> None:
    for rules, own, written in [([], [], ["secret"]), ([rule("never(member)")], [], []), ([], [rule(NEVER)], [])]:
        helper = member(of, *own)
        held = run(kind, [ASK, END], *rules, made=list, managed_agents=[helper])
        assert helper.tools["write"].got == written
        assert isinstance(held.end, ConstraintViolationError) == (not written)
        if rules or own:
            assert held.agent.get_constraint_status()["stopped_by"] == "the-rule"


class Again(Echo):
    """Runs its own agent, once."""

    agent: Any = None

    def forward(self, text: Any) -> Any:
        self.got.append(text)
        return self.agent.run("Again.") if len(self.got) == 1 else "no more"


@way("a tool that runs its own agent", "the inner run is part of the outer one: what has happened still counts")
@both
@severities
def test_a_tool_that_runs_its_own_agent(kind: str, severity: str) -> None:
    def know(agent: Any) -> None:
        agent.tools["again"].agent = agent

    replies = [WRITE, ("again", A), WRITE, END, WRITE, END]
    more: dict[str, Any] = {"made": lambda: [*ways.tools(), Again("again")], "prepare": know}
    free = run(kind, replies, **more)
    held = run(kind, replies, rule("at_most(write, 1)", severity), **more)
    assert (len(free.got()) > 1, len(held.got())) == (True, 1)
    assert held.events[:2] == ["write", "again"]


@way("managed agents that ask each other in a circle", "the same: the manager's run is not over")
@both
def test_a_circle_of_agents(kind: str) -> None:
    wrote = []
    for rules in ([], [rule("at_most(write, 1)", BLOCK)]):
        make = ways.KINDS[kind]
        asks = [("a", {"task": "Write.", "additional_args": {}}), ("final_answer", {"answer": "asked"})]
        helper = make([], ScriptedModel(ways.written(kind, asks)), name="b", description="Asks.", verbosity_level=-1)
        replies = [WRITE, ("b", {"task": "Ask a.", "additional_args": {}}), WRITE, END, END]
        agent = make(
            ways.tools(),
            ScriptedModel(ways.written(kind, replies)),
            managed_agents=[helper],
            name="a",
            description="Writes.",
            constraints=rules,
            verbosity_level=-1,
        )
        helper._setup_managed_agents([agent])
        assert agent.run("Do it.") == "done"
        wrote.append(len(agent.tools["write"].got))
    assert wrote == [2, 1]


# Calls that end otherwise than they say.


class Failing(Echo):
    """Does it, and then raises."""

    def forward(self, text: Any) -> Any:
        self.got.append(text)
        raise ValueError("it failed")


@way("a call that fails after its side effect", "it has started, so it counts")
@both
@severities
def test_a_failed_call(kind: str, severity: str) -> None:
    more: dict[str, Any] = {"made": lambda: [Failing("write")]}
    free = run(kind, [WRITE, WRITE, END], **more)
    held = run(kind, [WRITE, WRITE, END], rule("at_most(write, 1)", severity), **more)
    assert (len(free.got()), len(held.got())) == (2, 1)
    assert held.agent.guard.trace.calls[0].outcome.failed
    ended(held, severity)


class Mutating(Echo):
    """Changes the object that it was given."""

    def forward(self, text: Any) -> Any:
        self.got.append(list(text))
        text.append("secret")
        return "done"


FIRST_ELEMENT = 'G !write(text[1] = "secret")'


@way("a tool that changes its arguments", "the next call is judged with what it gets, and the trace stays as it was")
@both
def test_a_tool_that_changes_its_arguments(kind: str) -> None:
    call: Any = ("write", {"text": ["open"]}) if kind == TOOL_CALLING else "x = ['open']\nwrite(x)\nwrite(x)"
    replies = [call, call, END] if kind == TOOL_CALLING else [call, END]
    more: dict[str, Any] = {"made": lambda: [Mutating("write")]}
    free = run(kind, copy.deepcopy(replies) if kind == CODE else replies, **more)
    assert free.got()[1] == ["open", "secret"] or kind == CODE
    if kind == TOOL_CALLING:
        call[1]["text"][:] = ["open"]
    held = run(kind, replies, rule(FIRST_ELEMENT, BLOCK), **more)
    assert all(seen == ["open"] for seen in held.got())
    assert held.agent.guard.trace.calls[0].args == {"text": ["open"]}


class Slow(Echo):
    """Looks at its arguments when it is told to."""

    gate: Any = None

    def forward(self, text: Any) -> Any:
        self.gate.begun.set()
        self.gate.changed.wait(2)
        self.got.append(list(text))
        return "done"


class Meddling(Echo):
    """Changes what it shares with the tool beside it, once that has begun."""

    gate: Any = None

    def forward(self, text: Any) -> Any:
        self.gate.begun.wait(2)
        text.append("secret")
        self.gate.changed.set()
        return "done"


def gated() -> Any:
    gate = SimpleNamespace(begun=threading.Event(), changed=threading.Event())
    made = [Meddling("other"), Slow("write")]
    for tool in made:
        tool.gate = gate
    return made


@way(
    "a tool that changes what the tool beside it was given",
    "under rules a tool gets lists and mappings of its own",
    TOOL_CALLING,
)
def test_a_tool_that_changes_what_its_neighbour_gets() -> None:
    message = [("other", {"text": "doc"}), ("write", {"text": "doc"})]
    more: dict[str, Any] = {"made": gated}
    free = run(TOOL_CALLING, [message, END], runs=[{"additional_args": {"doc": ["open"]}}], **more)
    assert free.got() == [["open", "secret"]]
    runs = [{"additional_args": {"doc": ["open"]}}]
    held = run(TOOL_CALLING, [message, END], rule(FIRST_ELEMENT), runs=runs, **more)
    assert (held.got(), held.end) == ([["open"]], "done")


@way("a thread that changes the arguments between check and run", "what is no longer as it was judged does not run")
@both
def test_a_thread_that_changes_the_arguments(kind: str) -> None:
    shared = ["open"]
    call: Any = ("write", {"text": "doc"}) if kind == TOOL_CALLING else "write(doc)"
    runs = [{"additional_args": {"doc": shared}}]

    def meddle() -> None:
        shared[:] = ["open", "secret"]

    ran = run(kind, [], rule(FIRST_ELEMENT, BLOCK), runs=())
    ran.model.replies[:] = ways.written(kind, [call, END])
    with after_judging(ran.agent, meddle):
        assert ran.agent.run("Do it.", **runs[0]) == "done"
    assert shared == ["open", "secret"]
    assert ran.got() == ([] if kind == TOOL_CALLING else [["open"]])
    assert "changed since" in ran.text or kind == CODE


@way("a step callback that changes calls, tools or state", "what runs after it is judged as it then is")
@both
@severities
def test_a_step_callback(kind: str, severity: str) -> None:
    def meddle(step: Any, agent: Any) -> None:
        for call in step.tool_calls or ():
            call.name, call.arguments = "read", {}
        agent.tools["write"].name = "read"
        agent.state["doc"] = "secret"
        if kind == CODE:
            agent.python_executor.state["alias"] = agent.tools["write"]

    call = ("write", {"text": "doc"}) if kind == TOOL_CALLING else "alias('secret')"
    holds(kind, severity, [("other", A), call], SECRET, step_callbacks=[meddle])


@way("a consumer of the stream that changes an announced call", "judged as it then is", TOOL_CALLING)
@pytest.mark.parametrize("many", [False, True])
def test_a_consumer_that_changes_a_call(many: bool) -> None:
    reached = []
    for rules in ([], [rule(SECRET, BLOCK)]):
        message = [("write", {"text": "open"}), ("read", A)] if many else ("write", {"text": "open"})
        ran = run(TOOL_CALLING, [message, END], *rules, runs=())
        for event in ran.agent.run("Do it.", stream=True):
            if isinstance(event, ToolCall) and event.name == "write":
                event.arguments = {"text": "secret"}
        reached.append(ran.got())
    assert reached == [["secret"], []]


class Fickle:
    """A message that has other calls from a certain look at them on."""

    role, content = "assistant", ""

    def __init__(self, first: Any, then: Any, look: int, can_be_set: bool) -> None:
        self.first, self.then, self.left, self.can_be_set = first, then, look, can_be_set

    @property
    def tool_calls(self) -> Any:
        self.left -= 1
        return self.first if self.left > 0 else self.then

    @tool_calls.setter
    def tool_calls(self, calls: Any) -> None:
        if self.can_be_set:
            self.first = self.then = calls


def call_of(name: str, arguments: Any, id: str) -> ChatMessageToolCall:
    return ChatMessageToolCall(ChatMessageToolCallFunction(name=name, arguments=arguments), id, "function")


@way(
    "a message object that changes its calls after they are judged",
    "what smolagents reads at last is what is judged",
    TOOL_CALLING,
)
@pytest.mark.parametrize("before", [1, 2])
@pytest.mark.parametrize("after", [1, 2])
@pytest.mark.parametrize("look", range(1, 6))
@pytest.mark.parametrize("can_be_set", [True, False])
def test_a_message_that_changes(before: int, after: int, look: int, can_be_set: bool) -> None:
    harmless = [call_of("read", A, "i"), call_of("other", A, "j")][:before]
    evil = [call_of("write", A, "i"), call_of("write", {"text": "b"}, "j")][:after]
    agent: Any
    for agent_class, rules in (
        (ToolCallingAgent, {}),
        (ToolCallingAgentWithConstraints, {"constraints": [rule(NEVER)]}),
    ):
        agent = agent_class(ways.tools(), ScriptedModel([]), verbosity_level=-1, **rules)
        message: Any = Fickle(harmless, evil, look, can_be_set)
        with contextlib.suppress(AgentError, AttributeError, KeyError):
            list(agent.process_tool_calls(message, ActionStep(1, Timing(0.0))))
        assert bool(agent.tools["write"].got) == (not rules and look < 3)


@way(
    "a call object that is changed between check and run",
    "the judged name runs, changed arguments do not",
    TOOL_CALLING,
)
@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("part", ["name", "arguments"])
def test_a_call_that_is_changed_once_judged(part: str, many: bool) -> None:
    call = ("read", A) if part == "name" else ("write", {"text": "open"})
    ran = run(TOOL_CALLING, [], rule(SECRET if part == "arguments" else NEVER, BLOCK), runs=())
    ran.model.replies[:] = [[call, ("other", A)] if many else call, END]
    announced: list[ToolCall] = []

    def meddle() -> None:
        for one in announced[:1]:
            if part == "name":
                one.name = "write"
            else:
                one.arguments = {"text": "secret"}

    with after_judging(ran.agent, meddle):
        for event in ran.agent.run("Do it.", stream=True):
            if isinstance(event, ToolCall):
                announced.append(event)
    assert (announced[0].name, announced[0].arguments)[part == "arguments"] in ("write", {"text": "secret"})
    assert ran.got() == []
    assert ran.got("read") == (["a"] if part == "name" else [])


# What is no step with calls.


@way("tool calls in a planning step", "smolagents reads the text alone: nothing runs")
@both
def test_calls_in_a_planning_step(kind: str) -> None:
    calls = [("write", {"text": "secret"})]
    plan: Any = Reply(calls, text="<code>\nwrite('secret')\n</code>")
    ran = run(kind, [], rule(NEVER), runs=(), planning_interval=1)
    ran.model.replies[:] = [plan, *ways.written(kind, [END])]
    assert ran.agent.run("Do it.") == "done"
    assert (ran.got(), ran.events) == ([], ["final_answer"])


FORBIDDEN = 'G !final_answer(answer ~ "*secret*")'
ANSWERS: dict[str, Any] = {
    "object": ("final_answer", {"answer": "the secret"}),
    "bare": ("final_answer", "the secret"),
    "beside another call": [("read", A), ("final_answer", {"answer": "the secret"})],
    "state": ("final_answer", {"answer": "doc"}),
}


@way("`final_answer` with forbidden content", "judged like any call")
@both
@severities
@pytest.mark.parametrize("how", ANSWERS)
def test_a_forbidden_answer(how: str, kind: str, severity: str) -> None:
    call: Any = ANSWERS[how]
    if kind == CODE and how == "state":
        call = "answer = final_answer\nanswer(doc)"
    runs = [{"additional_args": {"doc": "the secret"}}]
    if how != "beside another call" or kind == CODE:
        assert run(kind, [call, END], runs=runs).end == "the secret"
    held = run(kind, [call, END], rule(FORBIDDEN, severity), runs=runs)
    ended(held, severity)


@way("the text that smolagents asks for when no step is left", "judged as `final_answer`; refused, there is no answer")
@both
@severities
def test_the_text_when_no_step_is_left(kind: str, severity: str) -> None:
    for rules in ([], [rule(FORBIDDEN, severity)]):
        ran = run(kind, [], *rules, runs=(), max_steps=1)
        ran.model.replies[:] = [*ways.written(kind, [("read", A)]), "the secret"]
        if rules and severity == STOP:
            with pytest.raises(ConstraintViolationError):
                ran.agent.run("Do it.")
        else:
            assert ran.agent.run("Do it.") == (None if rules else "the secret")


CARRIER = "from concurrent.futures import *\ne = ThreadPoolExecutor(1).submit(final_answer, ['open']).exception()\n"
ON_ITS_WAY = "def f():\n    try:\n        raise e\n    finally:\n        e.value[0] = 'the secret'\nf()"


@way("an answer that the code changes on its way out", "the answer is judged again as it comes out", CODE)
def test_an_answer_that_changes_on_its_way() -> None:
    text = 'G !final_answer(answer[0] ~ "*secret*")'
    more: dict[str, Any] = {"additional_authorized_imports": ["concurrent.futures"]}
    assert run(CODE, [CARRIER + ON_ITS_WAY], **more).end == ["the secret"]
    end = ("final_answer", {"answer": ["nothing"]})
    held = run(CODE, [CARRIER + ON_ITS_WAY, end], rule(text, BLOCK), **more)
    assert held.end == ["nothing"]
    assert "the-rule" in held.text


OWED = rule("response(write, read)", applies_to_final_answer=True)
OWING = {
    "an answer again and again": (
        "write('a')\nfor x in range(9):\n    try:\n        final_answer(x)\n    except Exception:\n        pass"
    ),
    "calls behind the answer": "try:\n    final_answer('x')\nfinally:\n    write('a')",
}


@way(
    "code that answers again before its model has heard what is owed, or calls something behind its answer",
    "the model is asked for what is owed, as for any answer",
    CODE,
)
@pytest.mark.parametrize("text", OWING.values(), ids=OWING)
def test_an_answer_while_something_is_owed(text: str) -> None:
    held = run(CODE, [text, [("read", A), END]], OWED)
    assert (held.end, held.agent.guard.violations) == ("done", ())
    assert isinstance(run(CODE, [text, END], OWED).end, ConstraintViolationError)


@way(
    "a call that waits for a person, caught, left in `finally`, or made by a thread",
    "the run ends there; nothing that comes after it runs",
    CODE,
)
@pytest.mark.parametrize(
    "text",
    [
        "try:\n    write('a')\nexcept:\n    other('x')\nother('y')",
        "def f():\n    try:\n        write('a')\n    finally:\n        return other('x')\nf()\nfinal_answer('x')",
        "import threading\nt = threading.Thread(target=write, args=('a',))\nt.start()\nt.join()\nother('x')",
    ],
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_call_that_waits(text: str) -> None:
    more: dict[str, Any] = {"additional_authorized_imports": ["threading"], "approve": lambda request: Pending()}
    held = run(CODE, [text, END], rule(NEVER, "ASK"), **more)
    assert isinstance(held.end, ApprovalPendingError)
    assert (held.got(), held.got("other")) == ([], [])


# Tools that are not what they seem.


class OtherCall(Echo):
    """Is called otherwise than it runs."""

    def __call__(self, *args: Any, sanitize_inputs_outputs: bool = False, **kwargs: Any) -> Any:
        self.got.append(("called", args, kwargs))
        return super().__call__(*args, sanitize_inputs_outputs=sanitize_inputs_outputs, **kwargs)


@way("a tool whose `__call__` is not its `forward`", "judged with the arguments that it is called with")
@both
@severities
@pytest.mark.parametrize("arguments", [{"text": "secret"}, "secret"])
def test_a_tool_that_is_called_otherwise(arguments: Any, kind: str, severity: str) -> None:
    made = lambda: [OtherCall("write")]  # noqa: E731
    held = holds(kind, severity, [("write", arguments)], NEVER, made=made)
    assert held.events in ([], ["final_answer"])
    if kind == TOOL_CALLING or isinstance(arguments, dict):
        holds(kind, severity, [("write", arguments)], SECRET, made=made)


class Calling(Echo):
    """Calls another tool through the agent."""

    agent: Any = None

    def forward(self, text: Any) -> Any:
        return self.agent.execute_tool_call("write", {"text": text})


@way("a tool that calls another tool through the agent", "judged and recorded as a call of its own", TOOL_CALLING)
@severities
def test_a_tool_that_calls_a_tool(severity: str) -> None:
    def know(agent: Any) -> None:
        agent.tools["call"].agent = agent

    def made() -> list[Any]:
        return [*ways.tools(), Calling("call")]

    free = run(TOOL_CALLING, [("call", A), END], made=made, prepare=know)
    held = run(TOOL_CALLING, [("call", A), END], rule(NEVER, severity), made=made, prepare=know)
    assert (free.got(), held.got()) == (["a"], [])
    assert "the-rule" in held.text or isinstance(held.end, ConstraintViolationError)


@way(
    "an MCP tool that has got another name",
    "called by the name that the agent gives it, and judged by that; a rule for a name that is not there is an error",
    TOOL_CALLING,
)
@pytest.mark.usefixtures("nothing_left")
def test_an_mcp_tool_that_is_renamed() -> None:
    forbid = {"name": "the-rule", "rule": 'never("desk__total")', "severity": BLOCK}
    numbers = {"amounts": [1, 2]}
    names = ["total", "desk__total", "Desk__total", "desk.total", "renamed", "desk__total"]
    model = ScriptedModel([*[(name, numbers) for name in names], END])
    servers = {"desk": stdio("total"), "shop": stdio("total")}
    with AgentWithConstraints(model=model, mcp_servers=servers, constraints=[forbid], max_steps=9) as agent:
        agent.smolagent.tools["desk__total"].name = "renamed"  # what the model is offered; it is called by its key
        result = agent.run("Add.")
    assert [call["tool_name"] for call in result["metrics"]["tool_calls"]] == ["final_answer"]
    assert [v["tool_name"] for v in result["metrics"]["constraint_violations"]] == ["desk__total"] * 2
    with pytest.raises(ConstraintError, match="`total`"):
        AgentWithConstraints(model=model, mcp_servers=servers, constraints=[{"name": "a", "rule": "never(total)"}])


# What is open, and why.


@open_way(
    "your own code calls `agent.tools[x](...)` or `.forward(...)`",
    "it runs: the tool is the object that you made. Call `execute_tool_call`",
)
@both
def test_your_own_call_of_a_tool(kind: str) -> None:
    ran = run(kind, [END], rule(NEVER))
    ran.agent.tools["write"]("a")
    ran.agent.tools["write"].forward("b")
    assert (ran.got(), ran.events) == (["a", "b"], ["final_answer"])


class Direct(Echo):
    """Calls another tool by itself."""

    other: Any = None

    def forward(self, text: Any) -> Any:
        return self.other.forward(text)


@open_way(
    "a tool's own code calls another tool",
    "it runs: what a tool does inside is its own. Write a rule for the outer tool, or let it call `execute_tool_call`",
)
@both
def test_a_tool_with_a_tool_inside(kind: str) -> None:
    def know(agent: Any) -> None:
        agent.tools["call"].other = agent.tools["write"]

    ran = run(kind, [("call", A), END], rule(NEVER), made=lambda: [*ways.tools(), Direct("call")], prepare=know)
    assert (ran.got(), ran.events) == (["a"], ["call", "final_answer"])


class Delegating(Echo):
    """Runs another agent, in a thread of its own."""

    agent: Any = None

    def forward(self, text: Any) -> Any:
        thread = threading.Thread(target=self.agent.run, args=(text,))
        thread.start()
        thread.join()
        return "done"


@open_way(
    "a tool that runs another agent in a thread that it starts",
    "the task counts as the words of the user there, since nothing tells the thread where it comes from. "
    "Run the agent in the tool's own thread",
)
@both
def test_an_agent_that_a_thread_of_a_tool_runs(kind: str) -> None:
    inner = run(TOOL_CALLING, [WRITE, END], rule("G (write -> said(.text))", BLOCK), runs=())

    def know(agent: Any) -> None:
        agent.tools["delegate"].agent = inner.agent

    task = ("delegate", {"text": "Say secret."})
    run(kind, [task, END], made=lambda: [Delegating("delegate")], prepare=know)
    assert inner.got() == ["secret"]


class Past(ToolCallingAgentWithConstraints):
    """Asks nobody."""

    def execute_tool_call(self, tool_name: str, arguments: Any) -> Any:
        return self.tools[tool_name](**arguments)

    def process_tool_calls(self, chat_message: Any, memory_step: Any) -> Any:
        return ToolCallingAgent.process_tool_calls(self, chat_message, memory_step)


@open_way(
    "a subclass that runs the tools by itself and overrides `process_tool_calls`, too",
    "they run: it has taken the guard out. With the second override alone calls are judged when they run, with the "
    "first alone as the model made them",
    TOOL_CALLING,
)
def test_a_subclass_that_takes_the_guard_out() -> None:
    ran = run(TOOL_CALLING, [WRITE, END], rule(NEVER), agent_class=Past)
    assert (ran.got(), ran.events) == (["secret"], [])


@open_way(
    "a saved agent that is loaded by smolagents' own class", "it has no guard: load it by its class", TOOL_CALLING
)
def test_a_saved_agent_of_the_base_class(saved: Any) -> None:
    data = saved(TOOL_CALLING, rule(NEVER)).to_dict()
    assert not hasattr(ToolCallingAgent.from_dict(data), "guard")


class Basket:
    """An object of a class of one's own."""

    def __init__(self) -> None:
        self.things: list[Any] = []


@both
def test_a_tool_gets_an_object_of_your_own_class_itself(kind: str) -> None:
    basket, things = Basket(), ["a"]
    call: Any = [("write", {"text": "basket"}), ("write", {"text": "things"})]
    if kind == CODE:
        call = "write(basket)\nwrite(things)"
    held = run(kind, [call, END], rule("never(read)"), runs=[{"additional_args": {"basket": basket, "things": things}}])
    got = {type(thing): thing for thing in held.got()}
    assert got[Basket] is basket
    assert got[list] == things
    assert got[list] is not things


@open_way(
    "a tool that is registered under a second name",
    "a rule names tools as the agent calls them: name both, or write a group",
)
@both
def test_a_second_name(kind: str) -> None:
    def twice(agent: Any) -> None:
        agent.tools["note"] = agent.tools["write"]

    ran = run(kind, [("note", A), END], rule(NEVER), prepare=twice)
    assert ran.got() == ["a"]
    holds(kind, BLOCK, [("note", A)], "G !(write | note)", prepare=twice)


# The page.


def test_the_page_has_these_ways() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for rows in (ways.closed, ways.left):
        assert ways.table(rows) in page, f"the page should have\n{ways.table(rows)}"
    assert page.count("\n| ") == len(ways.closed) + len(ways.left) + 4
