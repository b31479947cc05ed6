"""Several guards over one call of a managed agent: it starts for all of them or for none, and each counts its own."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from smolagents import CodeAgent, Tool, ToolCallingAgent
from smolagents.memory import ActionStep

from agentltl import ApprovalPendingError, ConstraintViolationError, Guard, Pending, ToolCallingAgentWithConstraints
from agentltl.agents.models.scripted import ScriptedModel
from tests.agents.conftest import Echo
from tests.agents.saved import SavedModel, Write, know_saved_model

KINDS = [ToolCallingAgent, ToolCallingAgentWithConstraints]
OURS = ToolCallingAgentWithConstraints
COUNT = {"name": "count", "rule": "at_most(*, 1000)"}
END = ("final_answer", {"answer": "done"})


def write(text: Any = "a") -> tuple[str, dict[str, Any]]:
    return ("write", {"text": text})


def ask(name: str = "member") -> tuple[str, Any]:
    return (name, {"task": "Do your part.", "additional_args": {}})


def agent(kind: Any, replies: Any, name: str = "member", **more: Any) -> Any:
    tools = more.pop("tools", None) or [Echo("read"), Echo("write")]
    return kind(tools, ScriptedModel(replies), name=name, description="Helps.", verbosity_level=-1, **more)


def manager(members: Any, replies: Any, *rules: Any, **more: Any) -> Any:
    return agent(OURS, replies, "chief", managed_agents=list(members), constraints=list(rules), **more)


def got(one: Any, name: str = "write") -> list[Any]:
    return list(one.tools[name].got)


def events(one: Any) -> list[str]:
    return [call.tool for call in one.guard.trace.calls if call.tool != "final_answer"]


def rule(name: str, severity: str = "PERSISTENT_BLOCK", text: str = "never(write)", **more: Any) -> dict[str, Any]:
    return {"name": name, "rule": text, "severity": severity, **more}


# Counts.


@pytest.mark.parametrize("refuses", ["own", "above"])
def test_a_refusal_is_one_in_the_guard_that_refuses_and_nothing_in_the_other(refuses: str) -> None:
    rules = {"own": [COUNT], "above": [COUNT]}
    rules[refuses].append(rule("no", "SOFT_BLOCK", max_soft_attempts=9))
    member = agent(OURS, [write(), write(), END], constraints=rules["own"])
    chief = manager([member], [ask(), END], *rules["above"])
    assert chief.run("Do it.") == "done"
    guards = {"own": member.guard, "above": chief.guard}
    other = guards["above" if refuses == "own" else "own"]
    status = guards[refuses].status()
    assert (status.counts["no"]["violations"], status.counts["no"]["soft_refusals"]) == (2, 2)
    assert (list(other.violations), other.status().counts) == ([], {})
    assert "write" not in [*events(member), *events(chief)]
    assert all(call.outcome is None or not call.outcome.failed for call in [*member.guard.trace.calls])


@pytest.mark.parametrize("refuses", ["own", "above"])
def test_identical_refusals_stop_where_they_are_counted(refuses: str) -> None:
    rules: Any = {"own": [COUNT], "above": [COUNT]}
    more: Any = {"own": {}, "above": {}}
    rules[refuses].append(rule("no"))
    more[refuses]["max_identical_refusals"] = 3
    member = agent(OURS, [write(), write(), ("read", {"text": 1}), write(), write(), write(), END],
                   constraints=rules["own"], **more["own"])  # fmt: skip
    chief = manager([member], [ask(), END], *rules["above"], **more["above"])
    with pytest.raises(ConstraintViolationError):
        chief.run("Do it.")
    assert chief.get_constraint_status()["stopped_by"] == "repeated-refusals"
    assert len(member.model.requests) == 6
    assert (member.guard.stopped is not None, chief.guard.stopped is not None) == (refuses == "own", refuses == "above")


@pytest.mark.parametrize("warns", ["own", "above"])
def test_an_override_is_one_in_the_guard_that_warned(warns: str) -> None:
    rules: Any = {"own": [COUNT], "above": [COUNT]}
    rules[warns].append(rule("warn", "BLOCK_AND_WARN"))
    member = agent(OURS, [write(), write(), write(), END], constraints=rules["own"])
    chief = manager([member], [ask(), END], *rules["above"])
    assert chief.run("Do it.") == "done"
    assert got(member) == ["a"]
    guards = {"own": member.guard, "above": chief.guard}
    assert [v.override for v in guards[warns].violations] == [False, True, False]
    assert not guards["above" if warns == "own" else "own"].violations
    assert events(member) == ["write"]
    assert events(chief) == ["member", "write"]


def test_an_override_is_used_up_only_by_a_call_that_runs() -> None:
    member = agent(OURS, [write(), write(), END], constraints=[rule("warn", "BLOCK_AND_WARN")])
    chief = manager([member], [ask(), END], rule("no"))
    assert chief.run("Do it.") == "done"
    assert got(member) == []
    assert [v.override for v in member.guard.violations] == [False]
    assert member.guard.status().counts["warn"]["overrides"] == 0


def test_a_shadow_guard_above_refuses_nothing_and_records_what_runs() -> None:
    member = agent(OURS, [write(), write("b"), END], constraints=[rule("own", text='G !write(text = "b")')])
    chief = manager([member], [ask(), END], rule("above", "HARD_STOP"), enforce=False)
    assert chief.run("Do it.") == "done"
    assert got(member) == ["a"]
    assert events(chief) == ["member", "write"]
    assert [v.enforced for v in chief.guard.violations] == [False]


def test_guards_agree_however_many_calls_there_are_at_once() -> None:
    replies: Any = [*[[write(n) for n in range(5)]] * 4, END]
    own = rule("own", text="at_most(write, 7)")
    members = [agent(OURS, replies, f"m{i}", constraints=[own]) for i in range(4)]
    chief = manager(members, [], rule("above", text="at_most(write, 20)"))
    threads = [threading.Thread(target=chief.execute_tool_call, args=ask(f"m{i}")) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    ran = [len(got(member)) for member in members]
    assert sum(ran) == 20
    assert max(ran) <= 7
    assert [events(member).count("write") for member in members] == ran
    assert events(chief).count("write") == 20


def test_agents_that_manage_each_other_count_a_call_once() -> None:
    inner = agent(OURS, [ask("chief"), END], "inner")
    chief = manager([inner], [write(1), ask("inner"), write(2), END, write(3), write(4), END],
                    rule("most", text="at_most(write, 3)"))  # fmt: skip
    inner._setup_managed_agents([chief])
    assert chief.run("Do it.") == "done"
    assert got(chief) == [1, 2, 3]


# A member that two managers share.


@pytest.mark.parametrize("kind", KINDS)
def test_a_member_that_two_managers_share_is_judged_by_whoever_calls_it(kind: Any) -> None:
    member = agent(kind, [write(1), END, write(2), END])
    strict = manager([member], [ask(), END], rule("no"))
    free = manager([member], [ask(), END], COUNT)
    assert strict.run("Do it.") == free.run("Do it.") == "done"
    assert got(member) == [2]
    assert events(strict) == ["member"]
    assert events(free) == ["member", "write"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_member_that_two_managers_call_at_once_is_judged_by_both(kind: Any) -> None:
    there, here = threading.Barrier(2), threading.Barrier(2)

    class Meet(Echo):
        def forward(self, text: Any) -> Any:
            (there if self.name == "meet" else here).wait(10)
            return super().forward(text)

    one = {"text": 1}
    replies: Any = [("meet", one), ("meet", one), ("read", one), ("read", one), END, END]
    member = agent(kind, replies, tools=[Meet("meet"), Meet("read")])
    chiefs = [manager([member], [], COUNT) for _ in range(2)]
    threads = [threading.Thread(target=chief.execute_tool_call, args=ask()) for chief in chiefs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert [events(chief).count("read") for chief in chiefs] == [2, 2]
    assert all(type(tool) is Meet for name, tool in member.tools.items() if name != "final_answer")


@pytest.mark.parametrize("kind", [*KINDS, CodeAgent])
def test_a_member_that_a_manager_without_rules_calls_already_is_judged(kind: Any) -> None:
    begun, go = threading.Event(), threading.Event()

    class Waits(Echo):
        def forward(self, text: Any) -> Any:
            begun.set()
            assert go.wait(10)
            return text

    code = ["<code>\nread(1)\n</code>", "<code>\nwrite(1)\n</code>", *["<code>\nfinal_answer('done')\n</code>"] * 2]
    replies = code if kind is CodeAgent else [("read", {"text": 1}), write(), END, END]
    member = agent(kind, replies, tools=[Waits("read"), Echo("write")])
    free, strict = manager([member], [ask(), END]), manager([member], [ask(), END], rule("no"))
    beside = threading.Thread(target=free.run, args=("Do it.",))
    beside.start()
    assert begun.wait(10)
    strict.run("Do it.")
    go.set()
    beside.join(timeout=20)
    assert got(member) == []
    assert events(strict) == ["member"]
    assert type(member.tools["write"]) is Echo


def test_a_guarded_and_a_plain_manager_share_a_member() -> None:
    member = agent(ToolCallingAgent, [write(1), END, write(2), END])
    strict = manager([member], [ask(), END], rule("no"))
    plain = agent(ToolCallingAgent, [ask(), END], "plain", managed_agents=[member])
    assert strict.run("Do it.") == plain.run("Do it.") == "done"
    assert got(member) == [2]


# Stops.


@pytest.mark.parametrize("kind", KINDS)
def test_a_stop_in_one_member_keeps_what_those_beside_it_said(kind: Any) -> None:
    started, go = threading.Event(), threading.Event()

    class Slow(Echo):
        def forward(self, text: Any) -> Any:
            started.set()
            assert go.wait(10)
            return text

    class Stops(Echo):
        def forward(self, text: Any) -> Any:
            assert started.wait(10)
            threading.Timer(0.2, go.set).start()
            return text

    slow = agent(kind, [("wait", {"text": "x"}), ("final_answer", {"answer": "found"})], "slow", tools=[Slow("wait")])
    bad = agent(OURS, [("go", {"text": 1}), write()], "bad", tools=[Stops("go"), Echo("write")],
                constraints=[rule("stop", "HARD_STOP")])  # fmt: skip
    broken = agent(kind, [RuntimeError("no model")], "broken")
    chief = manager(
        [slow, bad, broken], [[ask("slow"), ask("bad"), ask("broken")], END], rule("x", text="never(shred)")
    )
    with pytest.raises(ConstraintViolationError, match="stop"):
        chief.run("Do it.")
    assert "found" in chief.memory.steps[-1].observations
    assert chief.get_constraint_status()["stopped_by"] == "stop"
    assert len(chief.model.requests) == 1


class Swallowing(OURS):
    """An override that makes a text of every error."""

    def execute_tool_call(self, tool_name: str, arguments: Any) -> Any:
        try:
            return super().execute_tool_call(tool_name, arguments)
        except Exception as error:
            return f"Oh: {error}"


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("ending", ["stop", "pending"])
def test_an_override_that_swallows_errors_does_not_hold_up_the_end(ending: str, alone: bool) -> None:
    own = rule("own", "HARD_STOP" if ending == "stop" else "ASK")
    member = agent(OURS, [write(), END], constraints=[own], approve=lambda request: Pending())
    message = ask() if alone else [("read", {"text": 1}), ask()]
    chief = agent(Swallowing, [message, END], "chief", managed_agents=[member], constraints=[COUNT])
    with pytest.raises(ConstraintViolationError if ending == "stop" else ApprovalPendingError):
        chief.run("Do it.")
    assert len(chief.model.requests) == 1


# Loaded, and again.


@pytest.mark.parametrize("kind", KINDS)
def test_a_loaded_manager_guards_loaded_members(kind: Any, monkeypatch: Any) -> None:
    know_saved_model(monkeypatch)
    member = kind([Write()], SavedModel([("write", {"text": "a"}), END]), name="member", description="Helps.")
    chief = OURS([], SavedModel([ask(), END]), managed_agents=[member], constraints=[rule("stop", "HARD_STOP")])
    loaded = OURS.from_dict(json.loads(json.dumps(chief.to_dict())))
    assert type(loaded.managed_agents["member"]) is kind
    with pytest.raises(ConstraintViolationError, match="stop"):
        loaded.run("Do it.")


def test_the_approver_of_a_loaded_manager_is_given_again(monkeypatch: Any) -> None:
    know_saved_model(monkeypatch)
    asked: list[Any] = []

    def person(request: Any) -> bool:
        asked.append(request.agent)
        return True

    own = rule("own", "ASK")
    member = OURS([Write()], SavedModel([("write", {"text": "a"}), END]), name="member", description="Helps.",
                  constraints=[own])  # fmt: skip
    chief = OURS([], SavedModel([ask(), END]), managed_agents=[member], constraints=[COUNT], approve=person)
    loaded = OURS.from_dict(json.loads(json.dumps(chief.to_dict())), approve=person)
    assert loaded.managed_agents["member"].approve is None
    assert loaded.run("Do it.") == "done"
    assert asked == ["member"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_members_did_counts_in_the_next_run_of_the_conversation(kind: Any) -> None:
    member = agent(kind, [write(1), END, write(2), END])
    chief = manager([member], [ask(), END, ask(), END], rule("once", text="at_most(write, 1)"))
    chief.run("Do it.")
    chief.run("Again.", reset=False)
    assert got(member) == [1]
    twin = Guard.from_state(json.loads(json.dumps(chief.guard.to_state())))
    assert twin.status() == chief.guard.status()
    assert [call.step for call in twin.trace.calls] == [call.step for call in chief.guard.trace.calls]


# Ways around the guards of plain members.


class Adds(Echo):
    """Gives its agent a new tool."""

    def __init__(self, name: str, add: Callable[[Any], None]) -> None:
        super().__init__(name)
        self.add, self.agent = add, None

    def forward(self, text: Any) -> Any:
        self.add(self.agent)
        return "added"


SECRET = Echo("write")


@pytest.mark.parametrize("add", [
    lambda one: one.tools.__setitem__("write", SECRET),
    lambda one: one.tools.update({"write": SECRET}),
    lambda one: one.tools.update(write=SECRET),
    lambda one: one.tools.setdefault("write", SECRET),
    lambda one: setattr(one, "tools", {**one.tools, "write": SECRET}),
    lambda one: one.tools.__ior__({"write": SECRET}),
], ids=["item", "update", "keywords", "default", "all", "or"])  # fmt: skip
def test_a_tool_that_comes_in_the_middle_of_a_plain_members_run_is_judged(add: Any) -> None:
    SECRET.got.clear()
    adds = Adds("add", add)
    member = agent(ToolCallingAgent, [("add", {"text": 1}), write(), END], tools=[adds])
    adds.agent = member
    chief = manager([member], [ask(), END], rule("no"))
    assert chief.run("Do it.") == "done"
    assert SECRET.got == []
    assert member.tools["write"] is SECRET, "what was added stays"
    assert type(member.tools) is dict


@pytest.mark.parametrize("way", [
    "g = (i for i in [1])\nprint([t('write') for t in [lambda n: g.gi_frame.f_back.f_locals[n]]])",
    "def go():\n    yield 1\ng = (g2.gi_frame.f_back for g2 in [0])\nfor f in g:\n    print(f)",
    "tools[0]('a')", "give(1)('a')", "give([2])[0][0].forward('a')", "f = tool\nf('a')",
])  # fmt: skip
def test_ways_around_in_the_code_of_a_plain_member(way: str) -> None:
    class Gives(Echo):
        def forward(self, text: Any) -> Any:
            return tool if text == 1 else [[tool]]

    tool = Echo("write")
    tools = [tool, Gives("give")]
    member = agent(CodeAgent, [f"<code>\n{way}\n</code>", "<code>\nfinal_answer('done')\n</code>"], tools=tools)
    member.state.update(tool=tool, tools=[tool])
    chief = manager([member], [ask(), END], rule("no"))
    executor = member.python_executor
    chief.run("Do it.")
    assert tool.got == []
    said = ("Forbidden access", "Rule no", "has no attribute forward")
    assert any(text in member.model.requests[1].text for text in said)
    assert member.python_executor is executor
    assert "send_tools" not in vars(executor)


def test_what_the_code_of_a_plain_member_has_kept_is_judged_later_too() -> None:
    first = "<code>\nkept = write\nkept(1)\nfinal_answer('done')\n</code>"
    member = agent(CodeAgent, [first, "<code>\nkept(2)\n</code>", "<code>\nfinal_answer('done')\n</code>"])
    free, strict = manager([member], [ask(), END], COUNT), manager([member], [ask(), END], rule("no"))
    assert free.run("Do it.") == strict.run("Do it.") == "done"
    assert got(member) == [1]
    assert events(free) == ["member", "write"]


class Pair(Tool):  # type: ignore[misc]
    """Takes two arguments, and remembers them by name."""

    name = "write"
    description = "Writes."
    inputs = {name: {"type": "any", "description": "What."} for name in ("text", "to")}  # noqa: RUF012
    output_type = "any"
    skip_forward_signature_validation = True

    def __init__(self) -> None:
        super().__init__()
        self.got: list[Any] = []

    def forward(self, text: Any, to: Any) -> Any:
        self.got.append({"text": text, "to": to})


class Turned(Pair):
    """Its call has another order than its inputs."""

    def __call__(self, to: Any, text: Any, **more: Any) -> Any:
        return self.forward(text, to)


class Rest(Pair):
    """The second argument is whatever comes after the first."""

    def forward(self, text: Any, *rest: Any) -> Any:
        super().forward(text, *rest)


@pytest.mark.parametrize(("kind", "line"), [(Turned, "write('x', 'a')"), (Rest, "write('a', 'x')")])
def test_the_code_of_a_plain_member_is_judged_by_what_the_tool_gets(kind: Any, line: str) -> None:
    for allowed in (True, False):
        tool, text = kind(), "b" if allowed else "a"
        replies = [f"<code>\n{line}\n</code>".replace("'a'", repr(text)), "<code>\nfinal_answer('done')\n</code>"]
        member = agent(CodeAgent, replies, tools=[tool])
        chief = manager([member], [ask(), END], rule("no", text='G !write(text = "a", to = "x")'))
        chief.run("Do it.")
        assert tool.got == ([{"text": "b", "to": "x"}] if allowed else [])
        assert events(chief) == ["member"] + ["write"] * allowed


def test_a_call_that_python_rejects_is_no_event() -> None:
    member = agent(CodeAgent, ["<code>\nwrite(1, 2, 3)\n</code>", "<code>\nfinal_answer('done')\n</code>"])
    chief = manager([member], [ask(), END], rule("no"))
    chief.run("Do it.")
    assert events(chief) == ["member"]
    assert chief.guard.violations == ()
    assert "positional" in str(member.memory.steps[1].error)


# What the model is told.


def test_the_feedback_has_the_rules_of_both_guards() -> None:
    member = agent(OURS, [write(), END], constraints=[rule("own", repair="Ask ann.")])
    manager([member], [ask(), END], rule("above", repair="Ask bob."), COUNT).run("Do it.")
    told = member.memory.steps[1].observations
    for text in ("Rule own.", "Rule above.", "Ask ann.", "Ask bob."):
        assert told.count(text) == 1
    assert told.count("Refused: `write` did not run.") == 1


@pytest.mark.parametrize("forbidden", [True, False])
def test_no_guard_advises_what_the_other_refuses(forbidden: bool) -> None:
    member = agent(OURS, [write(), END], constraints=[rule("own", text="precedence(read, write)")])
    manager([member], [ask(), END], rule("above", text="never(read)") if forbidden else COUNT).run("Do it.")
    assert ("First call `read`" in member.memory.steps[1].observations) is not forbidden


@pytest.mark.parametrize("kind", [ToolCallingAgent, CodeAgent])
def test_a_copy_that_is_made_in_the_middle_of_a_run_is_no_managed_agent(kind: Any) -> None:
    lines = "<code>\nwrite({!r})\n</code>"
    replies = [lines.format("a"), "<code>\nfinal_answer('done')\n</code>"] if kind is CodeAgent else [write(), END]
    member = agent(kind, replies)
    chief = manager([member], [ask(), END], COUNT)
    twins: list[Any] = []
    member.step_callbacks.register(ActionStep, lambda step: twins or twins.append(copy.deepcopy(chief)))
    assert chief.run("Do it.") == "done"
    twin = twins[0].managed_agents["member"]
    twin.model = ScriptedModel(replies)
    seen = len(chief.guard.trace.calls)
    assert twin.run("Do it.") == "done"
    assert (len(got(member)), len(chief.guard.trace.calls)) == (1, seen)
    assert got(twin) == ["a"] * 2
