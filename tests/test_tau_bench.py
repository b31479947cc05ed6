"""The rules of examples/tau_bench find in 225 real conversations exactly what an independent program found."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agentltl.cli import main
from agentltl.constraints.facts import Predicate
from agentltl.constraints.formula import Proposition
from agentltl.constraints.readers.jsonl import read_jsonl
from agentltl.constraints.rule_file import load_rules
from agentltl.constraints.text import parse
from agentltl.constraints.trace import Trace

HERE = Path(__file__).parent.parent / "examples" / "tau_bench"
RULES, TRACES = HERE / "rules.yaml", HERE / "tau-bench-sample.jsonl.gz"
EXPECTED = json.loads((HERE / "tau-bench-sample.expected.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    done = CliRunner().invoke(main, ["check", str(RULES), str(TRACES), "--json"])
    assert done.exit_code == 1, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def traces() -> list[Trace]:
    return list(read_jsonl(TRACES))


@pytest.mark.parametrize("name", EXPECTED)
def test_exactly_the_violating_calls_are_found(name: str, report: dict[str, Any]) -> None:
    expected = EXPECTED[name]["violations"]
    assert report["constraints"][name]["violations"] == expected
    assert report["constraints"][name]["violating_traces"] == len(expected)


def test_every_trace_is_judged_and_every_rule_is_there(report: dict[str, Any]) -> None:
    assert (report["traces"], report["calls"], report["unread"]) == (225, 1613, [])
    assert list(report["constraints"]) == list(EXPECTED)
    assert sum(len(calls) for entry in EXPECTED.values() for calls in entry["violations"].values()) == 226


def test_the_score_is_the_mean_over_the_traces(report: dict[str, Any], traces: list[Trace]) -> None:
    rules = load_rules(RULES).constraints
    scores = []
    for trace in traces:
        meant = [rule for rule in rules if rule.applies(trace)]
        broken = [rule.weight for rule in meant if trace.id in EXPECTED[rule.name]["violations"]]
        scores.append(1 - sum(broken) / sum(rule.weight for rule in meant))
    assert report["score"] == pytest.approx(sum(scores) / 225, abs=1e-12)
    assert 0.9 < report["score"] < 1


def test_each_rule_is_meant_for_the_suites_of_the_expected_file() -> None:
    for rule in load_rules(RULES).constraints:
        assert rule.where is not None
        suites = rule.where["suite"]
        assert (suites if isinstance(suites, list) else [suites]) == EXPECTED[rule.name]["suites"]
        assert list(rule.where) == ["suite"]
        assert rule.description
        assert rule.repair


def test_no_rule_uses_python_or_is_made_for_single_traces(traces: list[Trace]) -> None:
    text = RULES.read_text(encoding="utf-8")
    values = {
        str(v) for t in traces for c in t.calls for k, v in c.args.items() if k.endswith("_id") and len(str(v)) > 4
    }
    assert len(values) > 200
    assert not [value for value in values if value in text]
    assert "tau-" not in text.replace("tau-bench", "")
    for rule in load_rules(RULES).constraints:
        propositions = [part for part in rule.formula.walk() if isinstance(part, Proposition)]
        assert not [part for part in propositions if isinstance(part.atom, Predicate)]


def test_the_readme_shows_rules_of_the_file() -> None:
    blocks = (HERE / "README.md").read_text(encoding="utf-8").split("```\n")
    shown = [block.strip() for block in blocks if block.startswith("G ")]
    assert len(shown) == 3
    rules = {rule.formula for rule in load_rules(RULES).constraints}
    groups = load_rules(RULES).groups
    assert all(parse(text, groups) in rules for text in shown)
