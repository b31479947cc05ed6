"""A constraint: what it holds, its mapping, and what is refused."""

import dataclasses
import json
import math
import pickle
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from agentltl.constraints.constraint import Constraint, constraints_of
from agentltl.constraints.constraint_values import SEVERITIES
from agentltl.constraints.text import parse
from agentltl.constraints.trace import Trace
from agentltl.errors import ConstraintError, FormulaError
from agentltl.guard.severity import ConstraintSeverity


def test_a_text_is_parsed_and_the_rest_has_defaults() -> None:
    constraint = Constraint("r", "G !pay")
    assert constraint.formula == parse("G !pay")
    assert (constraint.weight, constraint.description, constraint.repair) == (1.0, "", "")
    assert (constraint.severity, constraint.where) == (None, None)
    assert Constraint("r", parse("G !pay")) == constraint


def test_it_cannot_be_changed_and_can_be_copied() -> None:
    constraint = Constraint("r", "G !pay", 2, "d", "p", "TOLERATE", where={"suite": ["a", "b"]})
    with pytest.raises(dataclasses.FrozenInstanceError):
        constraint.weight = 3  # type: ignore[misc]
    with pytest.raises(TypeError):
        constraint.where["suite"] = "c"  # type: ignore[index]
    assert dataclasses.replace(constraint, weight=0.5).weight == 0.5
    assert pickle.loads(pickle.dumps(constraint)) == constraint
    assert {constraint, Constraint.of(constraint)} == {constraint}


@pytest.mark.parametrize("severity", [*SEVERITIES, *ConstraintSeverity])
def test_a_severity_is_kept_by_its_name(severity: Any) -> None:
    name = severity.name if isinstance(severity, Enum) else severity
    assert Constraint("r", "G !pay", severity=severity).severity == name


def test_the_severities_are_those_of_the_guard() -> None:
    assert list(SEVERITIES) == list(ConstraintSeverity.__members__)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"name": ""}, "empty name"),
        ({"name": " "}, "empty name"),
        ({"name": None}, "the name of a constraint is nothing"),
        ({"weight": -1}, "the weight of constraint `r` is `-1`"),
        ({"weight": math.nan}, "`nan`"),
        ({"weight": math.inf}, "`inf`"),
        ({"weight": 10**400}, "finite"),
        ({"weight": True}, "`true`"),
        ({"weight": "1"}, "give a number"),
        ({"severity": "HARDSTOP"}, "did you mean `HARD_STOP`"),
        ({"severity": "tolerate"}, "did you mean `TOLERATE`"),
        ({"severity": "x"}, "use one of: HARD_STOP"),
        ({"severity": 3}, "unknown severity `3`"),
        ({"description": None}, "`description` of constraint `r` is nothing"),
        ({"repair": 3}, "`repair` of constraint `r` is `3`"),
        ({"where": "retail"}, "`where: {suite: retail}`"),
        ({"where": {1: "a"}}, "`where: {suite: retail}`"),
        ({"where": {"suite": {"a": 1}}}, "wants `suite` to be a mapping"),
        ({"where": {"suite": [["a"]]}}, "wants `suite` to be a list"),
        ({"formula": 3}, "the rule of constraint `r` is `3`"),
        ({"formula": None}, "the rule of constraint `r` is nothing"),
    ],
)
def test_what_makes_no_sense(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ConstraintError) as caught:
        Constraint(**{"name": "r", "formula": "G !pay", **settings})
    assert said in str(caught.value)
    assert not str(caught.value).endswith(".")


@pytest.mark.parametrize("rule", ["G (", "G pay(amount > ?x)", "before(a(x = ?y), b(x = ?y))"])
def test_a_formula_that_is_no_rule(rule: str) -> None:
    with pytest.raises(FormulaError):
        Constraint("r", rule)


def test_a_traceback_says_whose_rule_cannot_be_read() -> None:
    with pytest.raises(FormulaError) as caught:
        Constraint("pay-last", "G (pay -> ")
    assert caught.value.__notes__ == ["in the rule of constraint `pay-last`"]


def test_a_formula_built_in_python_is_checked_too() -> None:
    from agentltl.constraints.text import read

    with pytest.raises(FormulaError, match=r"\?x"):
        Constraint("r", read("G pay(amount > ?x)"))


def test_the_mapping_is_plain_json_and_gives_an_equal_constraint_back() -> None:
    full = Constraint(
        "r",
        "precedence(a, b)",
        2,
        "d",
        "p",
        "TOLERATE",
        True,
        False,
        {"suite": ["a", "b"], "solved": True},
        2,
        "hybrid",
    )
    assert full.to_mapping() == {
        "name": "r",
        "rule": "precedence(a, b)",
        "severity": "TOLERATE",
        "weight": 2.0,
        "description": "d",
        "repair": "p",
        "where": {"suite": ["a", "b"], "solved": True},
        "applies_to_final_answer": True,
        "enforce": False,
        "max_soft_attempts": 2,
        "soft_block_mode": "hybrid",
    }
    for constraint in (full, Constraint("s", "G !pay")):
        assert Constraint.of(json.loads(json.dumps(constraint.to_mapping()))) == constraint
    assert Constraint("s", "G !pay").to_mapping() == {"name": "s", "rule": "G !pay"}


def test_the_groups_of_a_rule_go_with_its_mapping() -> None:
    groups = {"writes": ["cancel", "modify_*"], "reads": ("get",), "unused": ["x"]}
    constraint = Constraint("r", "G (@writes -> O @reads | seen(1, @reads))", groups=groups)
    mapping = json.loads(json.dumps(constraint.to_mapping()))
    assert mapping["groups"] == {"writes": ["cancel", "modify_*"], "reads": ["get"]}
    again = Constraint.of(mapping)
    assert again == constraint
    assert str(again.formula) == str(constraint.formula)
    assert Constraint.of({"name": "r", "rule": "G !@w"}, {"w": ["a"]}).formula == parse("G !@w", {"w": ["a"]})


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        ({"rule": "G !a"}, "a constraint has no `name`"),
        ({"name": "r"}, "constraint `r` has no `rule`"),
        ({"name": "r", "formula": "G !a"}, "unknown key `formula`\ndid you mean `rule`?"),
        ({"name": "r", "rule": "G !a", "wieght": 1}, "unknown key `wieght`\ndid you mean `weight`?"),
        ({"name": "r", "rule": "G !a", "zzz": 1}, "unknown key `zzz`\nuse one of: name, rule"),
        ("G !a", "a constraint is expected, not `G !a`"),
        *(({"name": "r", "rule": "G !a", key: None}, f"key `{key}` is not there yet") for key in ("allows", "refuses")),
    ],
)
def test_what_is_wrong_with_a_mapping(mapping: Any, said: str) -> None:
    with pytest.raises(ConstraintError) as caught:
        Constraint.of(mapping)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("where", "fields", "applies"),
    [
        (None, {}, True),
        ({}, {}, True),
        ({"suite": "retail"}, {"suite": "retail"}, True),
        ({"suite": "retail"}, {"suite": "airline"}, False),
        ({"suite": "retail"}, {}, False),
        ({"suite": None}, {}, False),
        ({"suite": None}, {"suite": None}, True),
        ({"suite": ["retail", "airline"]}, {"suite": "airline"}, True),
        ({"suite": []}, {"suite": "airline"}, False),
        ({"solved": True}, {"solved": 1}, False),
        ({"size": 1}, {"size": 1.0}, True),
        ({"size": "1"}, {"size": 1}, False),
        ({"suite": "a", "solved": True}, {"suite": "a", "solved": False}, False),
        ({"suite": "a"}, {"suite": ["a"]}, False),
        ({"id": "t1"}, {}, True),
        ({"id": "t2"}, {}, False),
    ],
)
def test_the_traces_it_is_meant_for(where: Any, fields: dict[str, Any], applies: bool) -> None:
    assert Constraint("r", "G !a", where=where).applies(Trace(id="t1", fields=fields)) is applies


def test_a_list_of_constraints_and_mappings() -> None:
    one = Constraint("one", "G !a")
    assert constraints_of([one, {"name": "two", "rule": "F b"}]) == (one, Constraint("two", "F b"))
    assert constraints_of(()) == ()


def test_names_are_unique_in_one_list() -> None:
    with pytest.raises(ConstraintError, match="two constraints are named `a`\n"):
        constraints_of([Constraint("a", "G !x"), {"name": "a", "rule": "G !y"}])


@pytest.mark.parametrize("source", [Constraint("a", "G !x"), {"name": "a", "rule": "G !x"}, 3, None])
def test_what_is_no_list(source: Any) -> None:
    with pytest.raises(ConstraintError, match="a list of constraints is expected"):
        constraints_of(source)


def test_a_path_is_a_rule_file(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text("version: 1\nconstraints:\n  - {name: a, rule: G !x}\n")
    assert constraints_of(path) == constraints_of(str(path)) == (Constraint("a", "G !x"),)
