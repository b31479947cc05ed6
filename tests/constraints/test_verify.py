"""`verify_trace`: the keys of the reference page, the score, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentltl.constraints.constraint import Constraint
from agentltl.constraints.trace import Call, Outcome, Trace
from agentltl.constraints.verify import verify_trace
from agentltl.errors import ConstraintError, TraceError


def metrics(*names: str) -> dict[str, Any]:
    entries = [
        {"step": i, "tool_name": name, "arguments": {}, "id": f"call_{i}", "tool_result": "OK", "action_output": "OK"}
        for i, name in enumerate(names, 1)
    ]
    return {"num_steps": len(entries), "num_tool_calls": len(entries), "tool_calls": entries, "steps": []}


PIPELINE = [
    Constraint(
        "fetch_before_clean",
        "before(fetch_raw_data, clean_readings)",
        description="Raw data must be fetched before cleaning",
    ),
    Constraint("clean_before_save", "before(clean_readings, save_results)", 4),
]


def test_the_example_of_the_reference() -> None:
    result = verify_trace(metrics("validate_data", "clean_readings", "save_results"), PIPELINE)
    assert result == {
        "compliance_score": 0.8,
        "compliance_label": "PARTIAL",
        "details": "Violated: ['fetch_before_clean']. Missing tools: ['fetch_raw_data'].",
        "tool_sequence": ["validate_data", "clean_readings", "save_results"],
        "constraints": [
            {
                "name": "fetch_before_clean",
                "weight": 1.0,
                "passed": False,
                "detail": '"fetch_raw_data" was never called (cannot precede "clean_readings").',
                "description": "Raw data must be fetched before cleaning",
            },
            {
                "name": "clean_before_save",
                "weight": 4.0,
                "passed": True,
                "detail": '"clean_readings" (call #2) before "save_results" (call #3).',
                "description": "",
            },
        ],
    }
    assert json.loads(json.dumps(result)) == result
    types = {k: type(v) for k, v in result.items()}
    assert types == {
        "compliance_score": float,
        "compliance_label": str,
        "details": str,
        "tool_sequence": list,
        "constraints": list,
    }


def test_everything_satisfied() -> None:
    calls = metrics("fetch_raw_data", "clean_readings", "save_results")
    result = verify_trace(calls, PIPELINE)
    assert (result["compliance_score"], result["compliance_label"]) == (1.0, "FULL")
    assert result["details"] == "All constraints satisfied."
    assert verify_trace(calls, PIPELINE, full_compliance_detail="All good.")["details"] == "All good."


def test_everything_violated() -> None:
    result = verify_trace(metrics("save_results"), PIPELINE, full_compliance_detail="All good.")
    assert (result["compliance_score"], result["compliance_label"]) == (0.0, "VIOLATION")
    assert result["details"] == (
        "Violated: ['fetch_before_clean', 'clean_before_save']. Missing tools: ['fetch_raw_data', 'clean_readings']."
    )


def test_the_forms_that_a_trace_may_have() -> None:
    calls = metrics("fetch_raw_data", "clean_readings", "save_results")
    expected = verify_trace(calls, PIPELINE)
    assert verify_trace({"answer": "x", "metrics": calls, "error": None}, PIPELINE) == expected
    assert verify_trace(Trace.from_metrics(calls), PIPELINE) == expected
    plain = [{"name": name, "tool_args": {}, "result": "OK"} for name in expected["tool_sequence"]]
    assert verify_trace({"tool_calls": plain}, PIPELINE) == expected
    assert verify_trace({"tool_calls": plain}, [c.to_mapping() for c in PIPELINE])["compliance_score"] == 1.0


def test_constraints_from_a_rule_file(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text("version: 1\nconstraints:\n  - {name: a, rule: G !x}\n")
    assert [c["name"] for c in verify_trace(metrics("x"), path)["constraints"]] == ["a"]


@pytest.mark.parametrize(
    ("overrides", "score", "weights"),
    [
        (None, 0.8, [1.0, 4.0]),
        ({}, 0.8, [1.0, 4.0]),
        ({"fetch_before_clean": 2.0}, 0.666667, [2.0, 4.0]),
        ({"fetch_before_clean": 0}, 1.0, [0.0, 4.0]),
        ({"clean_before_save": 0}, 0.0, [1.0, 0.0]),
        ({"fetch_before_clean": 0, "clean_before_save": 0}, 0.0, [0.0, 0.0]),
        ({"fetch_before_clean": 1e308, "clean_before_save": 1e308}, 0.5, [1e308, 1e308]),
    ],
)
def test_weights(overrides: dict[str, float] | None, score: float, weights: list[float]) -> None:
    result = verify_trace(
        metrics("validate_data", "clean_readings", "save_results"), PIPELINE, weight_overrides=overrides
    )
    assert result["compliance_score"] == score
    assert [c["weight"] for c in result["constraints"]] == weights


def test_label_and_details_come_from_the_score_before_it_is_rounded() -> None:
    constraints = [Constraint("a", "G !x", 1e-9), Constraint("b", "F x")]
    result = verify_trace(metrics("x"), constraints)
    assert (result["compliance_score"], result["compliance_label"]) == (1.0, "PARTIAL")
    assert result["details"] == "Violated: ['a']."
    constraints = [Constraint("a", "G !x"), Constraint("b", "F x", 1e-9)]
    result = verify_trace(metrics("x"), constraints)
    assert (result["compliance_score"], result["compliance_label"]) == (0.0, "PARTIAL")


def test_a_tenth_three_times_is_all_of_it() -> None:
    constraints = [Constraint(name, "G !x", 0.1) for name in "abc"]
    assert verify_trace(metrics("x"), constraints)["compliance_label"] == "VIOLATION"


@pytest.mark.parametrize(("rule", "score", "label"), [("G !x", 1.0, "FULL"), ("F x", 0.0, "VIOLATION")])
def test_a_total_weight_of_zero(rule: str, score: float, label: str) -> None:
    result = verify_trace(metrics("a"), [Constraint("a", rule, 0)])
    assert (result["compliance_score"], result["compliance_label"]) == (score, label)
    assert verify_trace(metrics("a"), [])["compliance_score"] == 1.0


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"clean_before_sav": 1}, "did you mean `clean_before_save`?"),
        ({"zzz": 1}, "the constraints are: fetch_before_clean, clean_before_save"),
        ({"clean_before_save": -1}, "constraint `clean_before_save` in `weight_overrides` is `-1`"),
        ({"clean_before_save": float("nan")}, "finite"),
        ({"clean_before_save": "2"}, "number"),
    ],
)
def test_overrides_that_make_no_sense(overrides: Any, said: str) -> None:
    with pytest.raises(ConstraintError) as caught:
        verify_trace(metrics(), PIPELINE, weight_overrides=overrides)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("rule", "missing"),
    [
        ("called(a)", ["a"]),
        ("before(a, b)", ["a", "b"]),
        ("all_before([a, b, x], c)", ["a", "b", "c"]),
        ("branch(a, b)", ["a"]),
        ("called(a) & before(b, a)", ["a", "b"]),
        ("called(a(n = 1))", ["a"]),
        ("G (x -> F a)", []),
        ("called(a_*)", []),
        ("after(a, b)", []),
    ],
)
def test_missing_tools(rule: str, missing: list[str]) -> None:
    details = verify_trace(metrics("x"), [Constraint("r", rule)])["details"]
    assert details == "Violated: ['r']." + (f" Missing tools: {missing}." if missing else "")


@pytest.mark.parametrize(
    ("rule", "names", "now", "at_the_end"),
    [
        ("before(a, b)", (), True, False),
        ("before(a, b)", ("x",), True, False),
        ("before(a, b)", ("b",), False, False),
        ("before(a, b)", ("a", "b"), True, True),
        ("all_before([a, c], b)", ("a",), True, False),
        ("all_before([a, c], b)", ("a", "b"), False, False),
        ("response(a, b)", ("a",), True, False),
        ("never(a)", ("a",), False, False),
        ("false", (), False, False),
    ],
)
def test_while_the_run_is_under_way(rule: str, names: tuple[str, ...], now: bool, at_the_end: bool) -> None:
    constraints = [Constraint("r", rule)]
    (record,) = verify_trace(metrics(*names), constraints, partial_trace=True)["constraints"]
    assert record["passed"] is now
    assert record["detail"].endswith(".")
    assert verify_trace(metrics(*names), constraints)["constraints"][0]["passed"] is at_the_end


def test_a_call_that_still_runs_is_not_held_against_a_run_under_way() -> None:
    running = Trace((Call("a"), Call("b")))
    constraints = [Constraint("r", "before(a, b)")]
    assert verify_trace(running, constraints, partial_trace=True)["constraints"][0]["passed"] is True
    assert verify_trace(running, constraints)["constraints"][0]["passed"] is False


def test_a_constraint_that_is_not_meant_for_the_trace_passes() -> None:
    constraints = [Constraint("r", "called(b)", where={"suite": "x"}), Constraint("s", "G !a")]
    result = verify_trace(metrics("a"), constraints)
    assert result["constraints"][0]["passed"] is True
    assert result["constraints"][0]["detail"] == "Not meant for this trace."
    assert result["compliance_score"] == 0.0
    assert result["details"] == "Violated: ['s']."
    meant = Trace((Call("a", outcome=Outcome.of("")),), fields={"suite": "x"})
    assert verify_trace(meant, constraints)["details"] == "Violated: ['r', 's']. Missing tools: ['b']."


def test_the_final_answer_is_in_the_sequence_and_is_not_counted() -> None:
    result = verify_trace(metrics("a", "final_answer", "b"), [Constraint("r", "before(a, b)")])
    assert result["tool_sequence"] == ["a", "final_answer", "b"]
    assert result["constraints"][0]["detail"] == '"a" (call #1) before "b" (call #2).'


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "a trace is expected, not a NoneType"),
        ([], "a trace is expected, not a list"),
        ({}, "tool_calls"),
        ({"tool_calls": None}, "tool_calls"),
        ({"metrics": {}}, "tool_calls"),
        ({"tool_calls": [{"tool_name": "a"}, {"arguments": {}}]}, "`tool_calls[1]`"),
        ({"tool_calls": [{"tool_name": 3}]}, "`tool_calls[0]`"),
        ({"tool_calls": ["a"]}, "`tool_calls[0]`"),
    ],
)
def test_what_is_no_trace(given: Any, said: str) -> None:
    with pytest.raises(TraceError) as caught:
        verify_trace(given, PIPELINE)
    assert said in str(caught.value)


@pytest.mark.parametrize("rule", ["G !same_step", "G (a -> O[5s] b)", 'G (a -> said("x"))'])
@pytest.mark.parametrize("partial", [True, False])
def test_what_a_rule_lacks_names_the_rule(rule: str, partial: bool) -> None:
    given = {"tool_calls": [{"tool_name": "b"}, {"tool_name": "a"}]}
    with pytest.raises(TraceError, match=r"^constraint `r`: "):
        verify_trace(given, [Constraint("ok", "F a"), Constraint("r", rule)], partial_trace=partial)
