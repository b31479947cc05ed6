"""Building the guarded agent: smolagents' parameters where smolagents puts them, and the constraints' own."""

import copy
import inspect
from typing import Any

import pytest
from smolagents import CodeAgent, Tool, ToolCallingAgent, agents, tool
from smolagents.default_tools import TOOL_MAPPING

from agentltl.agents.models.scripted import ScriptedModel
from agentltl.agents.saved import SETTINGS
from agentltl.agents.tool_calling import ToolCallingAgentWithConstraints
from agentltl.constraints.constraint import Constraint
from agentltl.errors import AgentLTLError, ConstraintError
from agentltl.guard.severity import ConstraintSeverity

RULE = {"name": "r", "rule": "precedence(read, write)"}


@tool
def ping() -> str:
    """Answers."""
    return "pong"


def model() -> ScriptedModel:
    return ScriptedModel([("ping", {}), ("final_answer", {"answer": 1})])


def test_the_parameters_of_the_base_come_first_and_by_position() -> None:
    base = list(inspect.signature(ToolCallingAgent.__init__).parameters.values())
    ours = list(inspect.signature(ToolCallingAgentWithConstraints.__init__).parameters.values())
    assert [(p.name, p.default, p.kind) for p in ours[:7]] == [(p.name, p.default, p.kind) for p in base[:7]]
    own = ours[7:-1]
    assert {p.name for p in own} == {*SETTINGS}
    assert {p.kind for p in own} == {inspect.Parameter.KEYWORD_ONLY}
    run, base_run = (inspect.signature(c.run).parameters for c in (ToolCallingAgentWithConstraints, ToolCallingAgent))
    assert [(p.name, p.default, p.kind) for p in run.values()] == [
        (p.name, p.default, p.kind) for p in base_run.values()
    ]


KEYWORDS: dict[str, Any] = {
    "instructions": "Be brief.",
    "max_steps": 3,
    "verbosity_level": 0,
    "planning_interval": 2,
    "name": "helper",
    "description": "Helps.",
    "provide_run_summary": True,
    "final_answer_checks": [lambda *_, **__: True],
    "return_full_result": True,
    "max_tool_threads": 2,
}


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_every_keyword_lands_where_the_base_puts_it(keyword: str) -> None:
    base, ours = (
        agent_class([ping], model(), **{keyword: KEYWORDS[keyword]})
        for agent_class in (ToolCallingAgent, ToolCallingAgentWithConstraints)
    )
    skip = {"model", "memory", "monitor", "logger", "step_callbacks", "agent_name", "tools"}
    for name, value in vars(base).items():
        if name not in skip:
            assert getattr(ours, name) == value, name
    assert ours.system_prompt == base.system_prompt
    assert list(ours.tools) == list(base.tools)
    assert ours.logger.level == base.logger.level
    assert ours.agent_name == "ToolCallingAgentWithConstraints"


def test_positional_parameters_land_where_the_base_puts_them() -> None:
    templates = ToolCallingAgent([], model()).prompt_templates | {"system_prompt": "You are {{custom_instructions}}."}
    for agent_class in (ToolCallingAgent, ToolCallingAgentWithConstraints):
        agent = agent_class([ping], model(), templates, 3, False, 4, instructions="short")
        assert (agent.planning_interval, agent.stream_outputs, agent.max_tool_threads) == (3, False, 4)
        assert agent.system_prompt == "You are short."


def test_a_seventh_positional_parameter_is_an_error() -> None:
    with pytest.raises(TypeError, match="positional"):
        ToolCallingAgentWithConstraints([], model(), None, None, False, None, [RULE])  # type: ignore[misc]


@pytest.mark.parametrize("keyword", ["constraint", "max_step", "look_ahead", "approved"])
def test_a_misspelt_keyword_is_the_bases_error(keyword: str) -> None:
    messages = []
    for agent_class in (ToolCallingAgent, ToolCallingAgentWithConstraints):
        with pytest.raises(TypeError) as caught:
            agent_class([], model(), **{keyword: 1})
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert keyword in messages[0]


@pytest.mark.parametrize(
    "keywords",
    [
        {"tools": [1]},
        {"tools": [ping, ping]},
        {"tools": [], "name": "no name"},
        {"tools": [], "stream_outputs": True},
        {"tools": [], "prompt_templates": {"system_prompt": ""}},
        {"tools": [], "step_callbacks": 3},
    ],
)
def test_what_the_base_refuses_is_refused_alike(keywords: Any) -> None:
    errors = []
    for agent_class in (ToolCallingAgent, ToolCallingAgentWithConstraints):
        with pytest.raises(Exception) as caught:
            agent_class(model=model(), **keywords)
        errors.append((type(caught.value), str(caught.value)))
    assert errors[0] == errors[1]


class Stub(Tool):
    description = "Stands for a tool that needs the network."
    inputs: dict[str, Any] = {}  # noqa: RUF012
    output_type = "string"

    def forward(self) -> str:
        return ""


class Search(Stub):
    name = "web_search"


class OwnInterpreter(Stub):
    name = "python_interpreter"


@pytest.mark.parametrize("tools", [[], [ping], [OwnInterpreter(), ping]], ids=["none", "one", "one of that name"])
def test_the_base_tools_are_those_of_the_base(tools: Any, monkeypatch: Any) -> None:
    monkeypatch.setitem(TOOL_MAPPING, "web_search", Search)
    base, ours = (
        agent_class(tools, model(), add_base_tools=True)
        for agent_class in (ToolCallingAgent, ToolCallingAgentWithConstraints)
    )
    assert list(ours.tools) == list(base.tools)
    assert "python_interpreter" in ours.tools
    assert [type(t) for t in ours.tools.values()] == [type(t) for t in base.tools.values()]
    assert ours.system_prompt == base.system_prompt


def test_a_subclass_gets_the_base_tools_that_a_subclass_of_the_base_gets(monkeypatch: Any) -> None:
    monkeypatch.setitem(TOOL_MAPPING, "web_search", Search)
    names = []
    for agent_class in (ToolCallingAgent, ToolCallingAgentWithConstraints):
        subclass = type("Mine", (agent_class,), {})
        names.append(list(subclass([], model(), add_base_tools=True).tools))
    assert names[0] == names[1]


def test_nothing_is_printed_warned_or_logged(capfd: Any, caplog: Any, recwarn: Any) -> None:
    caplog.set_level(0)
    ToolCallingAgentWithConstraints([ping], model(), constraints=[RULE])
    assert capfd.readouterr() == ("", "")
    assert not caplog.records
    assert not recwarn.list


def test_constraints_in_each_form(tmp_path: Any) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("version: 1\nconstraints:\n  - name: r\n    rule: precedence(read, write)\n")
    for constraints in ([RULE], [Constraint("r", "precedence(read, write)")], (RULE,), file, str(file)):
        agent = ToolCallingAgentWithConstraints([], model(), constraints=constraints)
        assert [str(c.formula) for c in agent.guard.constraints] == ["precedence(read, write)"]


@pytest.mark.parametrize(
    ("keywords", "severity"),
    [
        ({}, "HARD_STOP"),
        ({"default_severity": "TOLERATE"}, "TOLERATE"),
        ({"default_severity": ConstraintSeverity.PERSISTENT_BLOCK}, "PERSISTENT_BLOCK"),
        ({"constraint_severities": {"r": "TOLERATE"}}, "TOLERATE"),
        ({"constraint_severities": {"r": ConstraintSeverity.TOLERATE}, "default_severity": "HARD_STOP"}, "TOLERATE"),
    ],
)
def test_severities_as_names_and_as_values(keywords: Any, severity: str) -> None:
    agent = ToolCallingAgentWithConstraints([], model(), constraints=[RULE], **keywords)
    assert agent.guard.severities["r"].name == severity


@pytest.mark.parametrize(
    "keywords",
    [
        {"constraints": [{"name": "r", "rule": "precedence(read"}]},
        {"constraints": [RULE, RULE]},
        {"constraints": [RULE], "constraint_severities": {"q": "TOLERATE"}},
        {"constraints": [RULE], "constraint_severities": {"r": "TOLERATED"}},
        {"default_severity": "STOP"},
        {"default_severity": "ASKED"},
        {"constraints": RULE},
    ],
)
def test_constraints_that_make_no_sense_are_errors(keywords: Any) -> None:
    with pytest.raises(AgentLTLError):
        ToolCallingAgentWithConstraints([], model(), **keywords)


def test_a_severity_that_is_not_there_yet_says_so() -> None:
    with pytest.raises(ConstraintError, match="unknown severity"):
        ToolCallingAgentWithConstraints([], model(), constraints=[RULE], default_severity="SOFT")


def test_a_copy_is_an_agent_of_its_own() -> None:
    agent = ToolCallingAgentWithConstraints([ping], model(), constraints=[RULE], verbosity_level=-1)
    twin = copy.deepcopy(agent)
    assert twin.run("Do it.") == 1
    assert twin.guard.trace.events == ["ping", "final_answer"]
    assert agent.guard.trace.events == []
    again = copy.deepcopy(twin)
    assert again.get_constraint_status() == twin.get_constraint_status()
    assert again.memory.steps is not twin.memory.steps
    assert again.monitor.logger is again.logger


def test_an_agent_with_members_and_errors_can_be_copied() -> None:
    def failing() -> ScriptedModel:
        return ScriptedModel([("nothing", {}), ("final_answer", {"answer": 1})])

    member = ToolCallingAgent([ping], failing(), name="member", description="Helps.", verbosity_level=-1)
    agent = ToolCallingAgentWithConstraints([], failing(), managed_agents=[member], verbosity_level=-1)
    assert member.run("Do it.") == agent.run("Do it.") == 1
    twin = copy.deepcopy(agent)
    assert twin.managed_agents["member"] is not member
    assert str(twin.memory.steps[1].error) == str(agent.memory.steps[1].error)


def test_it_is_a_tool_calling_agent_and_in_the_registry() -> None:
    assert issubclass(ToolCallingAgentWithConstraints, ToolCallingAgent)
    assert not issubclass(ToolCallingAgentWithConstraints, CodeAgent)
    registry = getattr(agents, "AGENT_REGISTRY", None) or vars(agents)  # the oldest smolagents has no registry
    assert registry["ToolCallingAgentWithConstraints"] is ToolCallingAgentWithConstraints


@pytest.mark.parametrize("method", ["_run_stream", "_step_stream", "provide_final_answer", "__call__"])
def test_what_is_never_overridden(method: str) -> None:
    assert getattr(ToolCallingAgentWithConstraints, method) is getattr(ToolCallingAgent, method)
