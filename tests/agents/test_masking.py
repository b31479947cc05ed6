"""Masking: what the model is offered at each step, and that nothing else changes."""

import json
from typing import Any

import pytest
from smolagents import LiteLLMModel, ToolCallingAgent
from smolagents.models import MessageRole

from agentltl import Guard
from agentltl.agents.agent_with_constraints import AgentWithConstraints
from agentltl.agents.code import CodeAgentWithConstraints
from agentltl.agents.models.scripted import ScriptedModel
from agentltl.agents.tool_calling import ToolCallingAgentWithConstraints
from agentltl.errors import ConstraintError, ConstraintViolationError
from tests.agents.documented import check

A = {"text": "a"}
FIRST = {"name": "first", "rule": "precedence(read, write)", "severity": "PERSISTENT_BLOCK"}
REASONS = "These tools cannot be called now"


def end(answer: Any = "done") -> tuple[str, Any]:
    return ("final_answer", {"answer": answer})


@pytest.fixture
def masked(watch: Any, echo: Any) -> Any:
    def masked(replies: Any, *rules: dict[str, Any], **more: Any) -> Any:
        made = [echo("write"), echo("read"), echo("other")]
        more = {"mask_tools": True, "constraints": list(rules)} | more
        return watch(ToolCallingAgentWithConstraints, replies, made, **more)

    return masked


def offered(seen: Any) -> list[list[str]]:
    return [request.tool_names for request in seen.model.requests]


def test_each_step_offers_what_could_be_called_in_a_stable_order(masked: Any) -> None:
    once = {"name": "once", "rule": "at_most_once(read)", "severity": "PERSISTENT_BLOCK"}
    seen = masked([("other", A), ("read", A), ("write", A), end()], FIRST, once)
    assert offered(seen) == [
        ["read", "other", "final_answer"],
        ["read", "other", "final_answer"],
        ["write", "other", "final_answer"],
        ["write", "other", "final_answer"],
    ]
    assert list(seen.agent.tools) == ["write", "read", "other", "final_answer"]


def test_a_tool_that_some_arguments_could_use_is_offered(masked: Any) -> None:
    rule = {"name": "small", "rule": "G !write(text > 100)", "severity": "PERSISTENT_BLOCK"}
    assert offered(masked([end()], rule)) == [["write", "read", "other", "final_answer"]]


def test_a_masked_tool_that_is_called_all_the_same_is_refused(masked: Any) -> None:
    seen = masked([("write", A), ("read", A), ("write", A), end()], FIRST)
    assert seen.answer == "done"
    assert seen.agent.tools["write"].got == ["a"]
    assert "Refused: `write` did not run." in seen.steps[0].observations
    seen = masked([("write", A)], FIRST | {"severity": "HARD_STOP"})
    assert offered(seen) == [["read", "other", "final_answer"]]
    assert isinstance(seen.error, ConstraintViolationError)


def test_the_answer_is_masked_while_another_tool_is_left(masked: Any) -> None:
    rule = {"name": "read-it", "rule": "precedence(read, final_answer)", "severity": "PERSISTENT_BLOCK"}
    seen = masked([("read", A), end()], rule)
    assert offered(seen) == [["write", "read", "other"], ["write", "read", "other", "final_answer"]]


def test_there_is_always_something_to_call(masked: Any) -> None:
    rule = {"name": "nothing", "rule": "never(*)", "severity": "PERSISTENT_BLOCK"}
    assert offered(masked([end()], rule)) == [["final_answer"]]
    rules = [rule, {"name": "no-answer", "rule": "never(final_answer)", "severity": "PERSISTENT_BLOCK"}]
    seen = masked([end(), "over"], *rules, max_steps=1)
    assert offered(seen)[0] == ["final_answer"]


def test_what_is_tolerated_or_not_enforced_is_offered(masked: Any) -> None:
    everything = [["write", "read", "other", "final_answer"]]
    assert offered(masked([end()], FIRST | {"severity": "TOLERATE"})) == everything
    assert offered(masked([end()], FIRST | {"enforce": False})) == everything

    def prepare(agent: Any) -> None:
        agent.guard = Guard([FIRST], enforce=False)

    assert offered(masked([end()], prepare=prepare)) == everything


@pytest.mark.parametrize(
    ("rule", "severity", "kept", "kept_with_approver"),
    [
        ("never(write)", "ASK", False, True),
        ("never(write)", "BLOCK_AND_WARN", True, True),
        ("G (write -> Y approved)", "PERSISTENT_BLOCK", False, True),
        ("G (write -> Y approved)", "HARD_STOP", False, False),
        ("never(write)", "SOFT_BLOCK", False, False),
    ],
)
def test_what_the_model_can_come_to_is_offered(
    rule: str, severity: str, kept: bool, kept_with_approver: bool, masked: Any, coded: Any
) -> None:
    constraint = {"name": "r", "rule": rule, "severity": severity}
    for approve, expected in ((None, kept), (lambda _: True, kept_with_approver)):
        assert ("write" in offered(masked([end()], constraint, approve=approve))[0]) is expected
        said = told(coded([CODE_END], constraint, approve=approve))
        assert said == ["" if expected else f"{CAN}`read`, `other`, `final_answer`.\n{ELSE}."]


def test_managed_agents_are_tools_too(masked: Any) -> None:
    def member(name: str) -> Any:
        return ToolCallingAgent([], ScriptedModel([end()]), name=name, description="Helps.", verbosity_level=-1)

    rule = {"name": "asks-first", "rule": "precedence(read, helper)", "severity": "PERSISTENT_BLOCK"}
    seen = masked([("read", A), end()], rule, managed_agents=[member("helper"), member("second")])
    assert offered(seen) == [
        ["write", "read", "other", "final_answer", "second"],
        ["write", "read", "other", "final_answer", "helper", "second"],
    ]


def test_a_member_is_offered_what_its_manager_allows(watch: Any, echo: Any) -> None:
    model = ScriptedModel([("read", A), end("part")])
    helper = ToolCallingAgentWithConstraints(
        [echo("write"), echo("read")], model, name="member", description="Helps.", verbosity_level=-1, mask_tools=True
    )
    ask = ("member", {"task": "Go.", "additional_args": {}})
    seen = watch(ToolCallingAgentWithConstraints, [ask, end()], [], managed_agents=[helper], constraints=[FIRST])
    assert seen.answer == "done"
    names = [request.tool_names for request in model.requests]
    assert names == [["read", "final_answer"], ["write", "read", "final_answer"]]


@pytest.mark.parametrize("owner", ["member", "manager"])
@pytest.mark.parametrize("asks", [None, "member", "manager"])
def test_a_member_is_offered_what_somebody_can_be_asked_about(
    owner: str, asks: str | None, watch: Any, echo: Any
) -> None:
    rule = {"name": "r", "rule": "never(write)", "severity": "ASK"}
    rules = {name: [rule] if name == owner else [] for name in ("member", "manager")}
    who = {name: (lambda _: True) if name == asks else None for name in ("member", "manager")}
    model = ScriptedModel([end("part")])
    helper = ToolCallingAgentWithConstraints(
        [echo("write")], model, name="member", description="Helps.", verbosity_level=-1, mask_tools=True,
        constraints=rules["member"], approve=who["member"],
    )  # fmt: skip
    ask = ("member", {"task": "Go.", "additional_args": {}})
    watch(
        ToolCallingAgentWithConstraints, [ask, end()], [], managed_agents=[helper], constraints=rules["manager"],
        approve=who["manager"],
    )  # fmt: skip
    answered = asks == "manager" or (asks == owner == "member")  # a member answers for its own rules only
    assert model.requests[0].tool_names == (["write"] if answered else []) + ["final_answer"]


def test_a_tool_added_later_is_masked_too(masked: Any, echo: Any) -> None:
    def prepare(agent: Any) -> None:
        agent.tools["late"] = echo("late")

    rule = {"name": "never", "rule": "never(late)", "severity": "PERSISTENT_BLOCK"}
    seen = masked([end()], rule, prepare=prepare)
    assert offered(seen) == [["write", "read", "other", "final_answer"]]


@pytest.mark.parametrize("more", [{}, {"stream_outputs": True}, {"planning_interval": 1}])
def test_the_prompt_stays_as_it_is(more: Any, watch: Any, echo: Any) -> None:
    texts = []
    plan = ["a plan"] if "planning_interval" in more else []
    for mask in (False, True):
        seen = watch(
            ToolCallingAgentWithConstraints,
            [*plan, ("read", A), *plan, end()],
            [echo("write"), echo("read")],
            constraints=[FIRST],
            mask_tools=mask,
            **more,
        )
        assert seen.answer == "done"
        assert seen.model.requests[-1].tool_names == ["write", "read", "final_answer"]
        texts.append([request.text for request in seen.model.requests])
    assert texts[0] == texts[1]
    assert "write" in texts[1][0]


def test_the_reasons_stand_at_the_end_of_the_prompt_and_in_no_memory(masked: Any) -> None:
    seen = masked([("other", A), ("read", A), end()], FIRST, mask_reasons=True)
    for number in (0, 1):
        last = seen.model.requests[number].messages[-1]
        assert last.role == MessageRole.USER
        assert REASONS in last.content[0]["text"]
        assert "- write: first: " in last.content[0]["text"]
        assert "read" not in last.content[0]["text"].split("- write")[0]
        assert REASONS in str(seen.steps[number].model_input_messages)
    assert REASONS not in seen.model.requests[2].text
    assert sum(REASONS in str(message.content) for message in seen.model.requests[1].messages) == 1
    assert REASONS not in str(seen.agent.write_memory_to_messages())


def test_the_reasons_are_of_steps_alone(masked: Any) -> None:
    seen = masked(["a plan", ("other", A), "forced"], FIRST, mask_reasons=True, planning_interval=5, max_steps=1)
    assert seen.answer == "forced"
    assert [REASONS in request.text for request in seen.model.requests] == [False, True, False]


def test_reasons_for_nothing_masked_are_an_error() -> None:
    with pytest.raises(ConstraintError, match="mask_tools=True"):
        ToolCallingAgentWithConstraints([], object(), mask_reasons=True)


def test_the_result_of_a_masked_run(echo: Any) -> None:
    model = ScriptedModel([("read", A), ("write", A), end()])
    agent = AgentWithConstraints(
        [echo("write"), echo("read")], model, constraints=[FIRST], mask_tools=True, mask_reasons=True
    )
    result = agent.run("Do it.")
    check(result, guarded=True)
    assert result["answer"] == "done"
    assert model.requests[0].tool_names == ["read", "final_answer"]
    assert REASONS in result["metrics"]["steps"][0]["model_input_parsed"]["history"][-1]["text"]


def test_the_settings_travel_with_a_saved_agent() -> None:
    model = LiteLLMModel("openai/none")
    agent = ToolCallingAgentWithConstraints([], model, constraints=[FIRST], mask_tools=True, mask_reasons=True)
    again = ToolCallingAgentWithConstraints.from_dict(json.loads(json.dumps(agent.to_dict())))
    assert (again.mask_tools, again.mask_reasons) == (True, True)


# Code agents.


def code(text: str) -> str:
    return f"<code>\n{text}\n</code>"


@pytest.fixture
def coded(watch: Any, echo: Any) -> Any:
    def coded(texts: Any, *rules: dict[str, Any], **more: Any) -> Any:
        made = [echo("write"), echo("read"), echo("other")]
        more = {"mask_tools": True, "constraints": list(rules)} | more
        return watch(CodeAgentWithConstraints, texts, made, **more)

    return coded


CODE_END = code("final_answer('done')")
CAN = "Your code can call now: "
ELSE = "Every other tool is refused, whatever the arguments, until one of these calls has changed that"


def told(seen: Any) -> list[str]:
    """What the prompt of each step says of masking."""
    lasts = [request.messages[-1].content[-1]["text"] for request in seen.model.requests]
    return [text[text.index(CAN) :] if CAN in text else "" for text in lasts]


def test_code_is_told_what_it_can_call(coded: Any) -> None:
    once = {"name": "once", "rule": "at_most_once(read)", "severity": "PERSISTENT_BLOCK"}
    seen = coded([code("other('a')"), code("read('a')"), code("write('a')"), CODE_END], FIRST, once)
    assert seen.answer == "done"
    before = f"{CAN}`read`, `other`, `final_answer`.\n{ELSE}."
    after = f"{CAN}`write`, `other`, `final_answer`.\n{ELSE}."
    assert told(seen) == [before, before, after, after]
    assert CAN not in str(seen.agent.write_memory_to_messages()[:-1])
    assert CAN in str(seen.steps[0].model_input_messages)


def test_nothing_is_said_where_all_can_be_called(coded: Any) -> None:
    assert told(coded([CODE_END], FIRST | {"severity": "TOLERATE"})) == [""]
    assert told(coded([CODE_END], FIRST, mask_tools=False)) == [""]


def test_code_is_told_the_reasons(coded: Any) -> None:
    seen = coded([code("other('a')"), code("read('a')"), CODE_END], FIRST, mask_reasons=True)
    assert told(seen)[0] == (
        f"{CAN}`read`, `other`, `final_answer`.\n{ELSE}:\n"
        '- write: first: "read" was never called (cannot precede "write").'
    )
    assert told(seen)[2] == ""


def test_code_can_open_the_way_itself_and_is_refused_as_ever(coded: Any) -> None:
    seen = coded([code("read('a')\nwrite('b')"), CODE_END], FIRST)
    assert seen.agent.tools["write"].got == ["b"]
    seen = coded([code("write('b')"), CODE_END], FIRST)
    assert seen.agent.tools["write"].got == []
    assert "Refused: `write` did not run." in str(seen.steps[0].error)


def test_the_rest_of_the_prompt_stays_as_it_is(watch: Any, echo: Any) -> None:
    prompts = []
    for mask in (False, True):
        seen = watch(
            CodeAgentWithConstraints, [code("other('a')"), CODE_END], [echo("write"), echo("read"), echo("other")],
            constraints=[FIRST], mask_tools=mask,
        )  # fmt: skip
        prompts.append([request.text for request in seen.model.requests])
    for free, masked in zip(*prompts, strict=True):
        assert masked.startswith(free)
        assert masked[len(free) :].strip().startswith(CAN)


def test_code_always_has_something_to_call(coded: Any) -> None:
    rules = [{"name": n, "rule": f"never({n})", "severity": "PERSISTENT_BLOCK"} for n in ("write", "read", "other")]
    answer = {"name": "answer", "rule": "never(final_answer)", "severity": "PERSISTENT_BLOCK"}
    seen = coded([CODE_END], *rules)
    assert told(seen) == [f"{CAN}`final_answer`.\n{ELSE}."]
    assert told(coded([CODE_END, "over"], *rules, answer, max_steps=1)) == [f"{CAN}`final_answer`.\n{ELSE}.", ""]


def test_members_and_steps_alone(coded: Any) -> None:
    helper = ToolCallingAgent([], ScriptedModel([end()]), name="helper", description="Helps.", verbosity_level=-1)
    rule = {"name": "asks-first", "rule": "precedence(read, helper)", "severity": "PERSISTENT_BLOCK"}
    seen = coded(
        ["a plan", code("other(1)"), "forced"], rule, managed_agents=[helper], planning_interval=5, max_steps=1
    )
    assert told(seen) == ["", f"{CAN}`write`, `read`, `other`, `final_answer`.\n{ELSE}.", ""]


def test_reasons_for_nothing_masked_are_an_error_in_code_too() -> None:
    with pytest.raises(ConstraintError, match="mask_tools=True"):
        CodeAgentWithConstraints([], object(), mask_reasons=True)  # type: ignore[arg-type]
