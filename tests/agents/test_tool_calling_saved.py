"""Saving and loading: a guarded agent comes back with its constraints, from a dict, from a folder and as `app.py`."""

import json
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from smolagents import ToolCallingAgent

from agentltl.agents.agent_with_constraints import AgentWithConstraints
from agentltl.agents.approval import ApprovalRequest
from agentltl.agents.code import CodeAgentWithConstraints
from agentltl.agents.saved import SETTINGS
from agentltl.agents.tool_calling import ToolCallingAgentWithConstraints
from agentltl.constraints.constraint import Constraint
from agentltl.constraints.text import parse
from agentltl.errors import ConstraintViolationError
from agentltl.guard.settings import Settings
from tests.agents.saved import SavedModel, Write, know_saved_model

WRITES: list[Any] = [("write", {"text": "a"}), ("final_answer", {"answer": 1})]
GROUPS = {"writes": ["write", "store_*"]}
CONSTRAINTS = [
    Constraint(
        "grouped", parse("G (@writes(text = ?t) -> O read(text = ?t)[ok])", GROUPS), 2.0, "Read first", "Call read"
    ),
    Constraint("plain", 'G !write(text =~ "^\\d \\"x\\"")', severity="TOLERATE"),
]


@pytest.fixture(autouse=True)
def _known_model(monkeypatch: Any) -> None:
    know_saved_model(monkeypatch)


def agent(**more: Any) -> ToolCallingAgentWithConstraints:
    keywords: dict[str, Any] = {
        "constraints": CONSTRAINTS,
        "constraint_severities": {"grouped": "PERSISTENT_BLOCK"},
        "default_severity": "TOLERATE",
        "max_steps": 7,
        "verbosity_level": -1,
    }
    return ToolCallingAgentWithConstraints([Write()], SavedModel(WRITES), **(keywords | more))


def check(loaded: Any) -> None:
    assert type(loaded).__name__ == "ToolCallingAgentWithConstraints"
    assert loaded.guard.constraints == tuple(CONSTRAINTS)
    assert {name: s.name for name, s in loaded.guard.severities.items()} == {
        "grouped": "PERSISTENT_BLOCK",
        "plain": "TOLERATE",
    }
    assert loaded.guard.default_severity.name == "TOLERATE"
    assert loaded.max_steps == 7
    loaded.run("Do it.")
    assert [v["constraint_name"] for v in loaded.get_constraint_status()["violations"]] == ["grouped"]


def test_the_dict_is_plain_and_comes_back() -> None:
    data = agent().to_dict()
    assert json.loads(json.dumps(data)) == data
    assert data["constraints"][1]["rule"] == str(CONSTRAINTS[1].formula)
    assert data["constraint_severities"] == {"grouped": "PERSISTENT_BLOCK"}
    assert data["default_severity"] == "TOLERATE"
    check(ToolCallingAgentWithConstraints.from_dict(json.loads(json.dumps(data))))


def test_the_dict_has_all_that_the_bases_has() -> None:
    base = ToolCallingAgent([Write()], SavedModel(WRITES), max_steps=7, verbosity_level=-1).to_dict()
    ours = agent().to_dict()
    added = {*SETTINGS} - {"approve"}
    assert ours.keys() - base.keys() == added
    differ = {key for key in base if ours[key] != base[key]}
    assert differ == {"class", "requirements"}
    assert set(ours["requirements"]) - set(base["requirements"]) == {"agentltl"}


def test_the_folder_comes_back(tmp_path: Path) -> None:
    agent().save(tmp_path)
    saved = json.loads((tmp_path / "agent.json").read_text())
    assert [c["name"] for c in saved["constraints"]] == ["grouped", "plain"]
    assert "agentltl" in (tmp_path / "requirements.txt").read_text().split()
    check(ToolCallingAgentWithConstraints.from_folder(tmp_path))


def test_keywords_override_what_was_saved() -> None:
    data = agent().to_dict()
    other = {"name": "other", "rule": "never(write)"}
    keywords = {"constraints": [other], "constraint_severities": None, "default_severity": "HARD_STOP", "max_steps": 2}
    loaded = ToolCallingAgentWithConstraints.from_dict(data, **keywords)
    assert [c.name for c in loaded.guard.constraints] == ["other"]
    assert loaded.max_steps == 2
    with pytest.raises(ConstraintViolationError):
        loaded.run("Do it.")


def test_each_member_keeps_its_own_constraints(tmp_path: Path) -> None:
    inner = {"name": "inner", "rule": "never(write)"}
    ours = agent(constraints=[inner], constraint_severities=None, name="ours", description="Helps.")
    plain = ToolCallingAgent([Write()], SavedModel(WRITES), name="plain", description="Helps.", verbosity_level=-1)
    manager = agent(managed_agents=[ours, plain])
    manager.save(tmp_path)
    for loaded in (
        ToolCallingAgentWithConstraints.from_dict(manager.to_dict()),
        ToolCallingAgentWithConstraints.from_dict(manager.to_dict(), default_severity="TOLERATE"),
        ToolCallingAgentWithConstraints.from_folder(tmp_path),
    ):
        members = loaded.managed_agents
        assert type(members["plain"]) is ToolCallingAgent
        assert [c.name for c in members["ours"].guard.constraints] == ["inner"]
        assert members["ours"].guard.default_severity.name == "TOLERATE"
        check(loaded)


def test_a_plain_manager_loads_a_guarded_member(tmp_path: Path) -> None:
    manager = ToolCallingAgent(
        [], SavedModel(WRITES), managed_agents=[agent(name="ours", description="Helps.")], verbosity_level=-1
    )
    manager.save(tmp_path)
    for loaded in (ToolCallingAgent.from_dict(manager.to_dict()), ToolCallingAgent.from_folder(tmp_path)):
        check(loaded.managed_agents["ours"])


def test_a_dict_of_the_base_class_loads_without_constraints() -> None:
    data = ToolCallingAgent([Write()], SavedModel(WRITES), verbosity_level=-1).to_dict()
    loaded = ToolCallingAgentWithConstraints.from_dict(data)
    assert loaded.guard.constraints == ()
    assert loaded.run("Do it.") == 1


def test_a_rule_file_is_saved_as_what_it_says(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("version: 1\ngroups:\n  writes: [write]\nconstraints:\n  - name: r\n    rule: never(@writes)\n")
    data = agent(constraints=file, constraint_severities=None).to_dict()
    file.unlink()
    loaded = ToolCallingAgentWithConstraints.from_dict(data)
    assert [str(c.formula) for c in loaded.guard.constraints] == ["never(@writes)"]


def test_the_saved_app_builds_the_agent(tmp_path: Path, monkeypatch: Any) -> None:
    """Run `app.py` up to the point where it would launch a page."""
    manager = agent(managed_agents=[agent(name="ours", description="Helps.", constraint_severities=None)])
    manager.save(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, SavedModel.__module__, sys.modules[SavedModel.__module__])
    for name in [name for name in sys.modules if name.split(".")[0] in {"tools", "managed_agents"}]:
        monkeypatch.delitem(sys.modules, name)
    made: dict[str, Any] = {"__name__": "app", "__file__": str(tmp_path / "app.py")}
    source = (tmp_path / "app.py").read_text()
    exec(compile(source, "app.py", "exec"), made)
    loaded = made["agent"]
    assert type(loaded) is ToolCallingAgentWithConstraints
    check(loaded)
    check_member = loaded.managed_agents["ours"]
    assert [c.name for c in check_member.guard.constraints] == ["grouped", "plain"]
    assert "from smolagents import GradioUI\n" in source
    for name in [name for name in sys.modules if name.split(".")[0] in {"tools", "managed_agents"}]:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.parametrize("kind", [ToolCallingAgentWithConstraints, CodeAgentWithConstraints, AgentWithConstraints])
def test_every_setting_of_the_guard_is_a_keyword_of_the_agents_and_comes_back(kind: Any) -> None:
    given: dict[str, Any] = {
        "enforce": False,
        "lookahead": "joint",
        "max_soft_attempts": 1,
        "soft_block_mode": "hybrid",
        "max_consecutive_soft_attempts": 4,
        "escalate_to": "ASK",
        "max_identical_refusals": 5,
        "approval_seconds": 7.0,
        "final_answer_retries": 2,
    }
    assert given.keys() == {field.name for field in fields(Settings)}
    if kind is AgentWithConstraints:
        assert kind([Write()], model_instance=SavedModel(WRITES), **given).guard.settings.to_data() == given
        return
    made = kind([Write()], SavedModel(WRITES), constraints=CONSTRAINTS, **given)
    assert made.guard.settings.to_data() == given
    data = json.loads(json.dumps(made.to_dict()))
    assert kind.from_dict(data).guard.settings.to_data() == given


def test_a_soft_rule_of_an_agent_comes_to_ask() -> None:
    asked: list[str] = []

    def person(request: ApprovalRequest) -> bool:
        asked.append(request.tool)
        return True

    one = ToolCallingAgentWithConstraints(
        [Write()],
        SavedModel([("write", {"text": "a"})] * 3 + [("final_answer", {"answer": "done"})]),
        constraints=[{"name": "soft", "rule": "never(write)", "severity": "SOFT_BLOCK"}],
        max_soft_attempts=2,
        escalate_to="ASK",
        approve=person,
        verbosity_level=-1,
    )
    assert one.run("Write.") == "done"
    assert asked == ["write"]
    assert [call.tool for call in one.guard.trace.calls] == ["approved", "write", "final_answer"]
