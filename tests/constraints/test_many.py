"""`verify_many`: what `verify_trace` and `violations` say, for every form of a trace, lazily and in order."""

import gzip
import json
import pickle
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentltl import verify_many as public
from agentltl.constraints.check import violations
from agentltl.constraints.constraint import Constraint
from agentltl.constraints.judging import TraceResult
from agentltl.constraints.many import verify_many
from agentltl.constraints.readers.jsonl import read_jsonl
from agentltl.constraints.rule_file import load_rules
from agentltl.constraints.trace import Trace
from agentltl.constraints.verify import verify_trace
from agentltl.errors import AgentLTLError, ConstraintError, TraceError
from agentltl.testing import random_formula
from tests.constraints import slowly

TAU = Path(__file__).parents[2] / "examples" / "tau_bench"
SAMPLE = TAU / "tau-bench-sample.jsonl.gz"
RULES = [
    Constraint("order", "before(a, b)", 2),
    Constraint("value", "G (c(k = ?k) -> O a(k = ?k))"),
    Constraint("argument", 'never(a(k = "bad"))', 0.5),
    Constraint("sum", "G (c -> sum(a, n) <= 3)"),
    Constraint("answer", "F c"),
]


def metrics(letters: str, **more: Any) -> dict[str, Any]:
    return {
        "tool_calls": [{"tool_name": x, "tool_args": {"k": x, "n": 1}, "tool_result": "ok"} for x in letters],
        **more,
    }


def same_as_one(result: TraceResult, trace: Trace, constraints: list[Constraint]) -> None:
    """A result says what `verify_trace` and `violations` say."""
    try:
        one = verify_trace(trace, constraints)
    except TraceError:  # a sentence may ask for more than the rule does
        one = None
    if one is not None:
        assert (result.compliance_score, result.compliance_label) == (one["compliance_score"], one["compliance_label"])
        assert dict(result.passed) == {record["name"]: record["passed"] for record in one["constraints"]}
    found = {constraint.name: tuple(violations(constraint, trace)) for constraint in constraints}
    assert dict(result.violations) == found == {c.name: tuple(slowly.violations(c, trace)) for c in constraints}
    assert (result.id, len(result.passed)) == (trace.id, len(constraints))


@pytest.mark.parametrize("letters", ["", "ab", "ba", "acb", "aaaac", "abcc", "bac"])
def test_every_form_of_a_trace_has_the_same_result(letters: str) -> None:
    record = metrics(letters, id="t")
    forms = [Trace.from_metrics(record), record, {"metrics": record}, {"id": "t", "metrics": metrics(letters)}]
    results = list(verify_many(forms, RULES))
    lines = list(verify_many(read_jsonl([json.dumps(form) for form in forms[1:]]), RULES))
    assert [result.position for result in results] == [0, 1, 2, 3]
    assert [result.position for result in lines] == [0, 1, 2]
    for result in (*results, *lines):
        same_as_one(result, Trace.from_metrics(record), RULES)


@pytest.mark.parametrize("seed", range(3))
def test_random_rules_on_random_traces_are_judged_as_one_by_one(seed: int) -> None:
    rng, judged, failed = random.Random(f"many {seed}"), 0, 0
    for _ in range(25):
        rules = [
            Constraint(
                f"rule {i}",
                random_formula(rng, rng.randint(2, 6)),
                rng.choice([0, 1, 2.5]),
                where=rng.choice([None, None, {"suite": "x"}]),
            )
            for i in range(rng.randint(1, 5))
        ]
        traces = [slowly.random_trace(rng) for _ in range(8)]
        for result, trace in zip(verify_many(traces, rules, on_error="yield"), traces, strict=True):
            if isinstance(result, TraceError):
                with pytest.raises(AgentLTLError) as raised:
                    [slowly.violations(rule, trace) for rule in rules]
                assert str(result) == f"`traces[{traces.index(trace)}]`: {raised.value}"
                failed += 1
            else:
                same_as_one(result, trace, rules)
                judged += 1
    assert judged > 120
    assert failed


def test_the_real_traces_break_what_is_expected_in_every_form() -> None:
    rules = list(load_rules(TAU / "rules.yaml").constraints)
    expected = json.loads((TAU / "tau-bench-sample.expected.json").read_text(encoding="utf-8"))
    with gzip.open(SAMPLE, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    for source in (SAMPLE, records, Trace.from_jsonl(SAMPLE)):
        found: dict[str, dict[str, list[int]]] = {rule.name: {} for rule in rules}
        for result in verify_many(source, rules):
            for name, calls in result.violations.items():
                if calls:
                    assert result.id is not None
                    found[name][result.id] = list(calls)
        assert found == {name: expected[name]["violations"] for name in found}


def test_a_report_is_that_of_verify_trace_where_the_trace_was_kept() -> None:
    weights = {"order": 9.0}
    forms = [metrics("ba"), Trace.from_metrics(metrics("ba"))]
    for result in verify_many(forms, RULES, keep=True, weight_overrides=weights):
        assert result.report() == verify_trace(metrics("ba"), RULES, weight_overrides=weights)
        assert result.compliance_score == result.report()["compliance_score"]
        assert pickle.loads(pickle.dumps(result)).report() == result.report()
    [lined] = verify_many(read_jsonl([json.dumps(metrics("ba"))]), RULES, keep=True)
    assert lined.trace is not None
    assert (lined.id, lined.trace.id) == ("1", "1")
    [bare] = verify_many([metrics("ba")], RULES)
    assert bare.trace is None
    with pytest.raises(TraceError, match="was not kept") as raised:
        bare.report()
    assert "keep=True" in str(raised.value)


def test_results_come_as_they_are_asked_for() -> None:
    read = []

    def traces() -> Iterator[dict[str, Any]]:
        for letters in ("a", "ab", "abc"):
            read.append(letters)
            yield metrics(letters)

    results = verify_many(traces(), RULES)
    assert read == []
    assert next(results).position == 0
    assert read == ["a"]


def test_a_trace_that_is_none_ends_the_iteration_or_stands_in_its_place() -> None:
    traces: list[Any] = [metrics("ab"), {"tool_calls": [{"tool_name": ""}]}, 7, metrics("ab")]
    results = verify_many(traces, RULES)
    assert next(results).position == 0
    with pytest.raises(TraceError, match=r"^`traces\[1\]`: `tool_calls\[0\]`: the call has no name"):
        next(results)
    kinds = [type(result) for result in verify_many(traces, RULES, on_error="yield")]
    assert kinds == [TraceResult, TraceError, TraceError, TraceResult]
    needs = [Constraint("step", "G !same_step")]
    with pytest.raises(TraceError, match=r"^`traces\[0\]`: constraint `step`: "):
        list(verify_many([metrics("ab")], needs))


def test_a_line_that_is_no_trace_is_named_and_listed(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text("\n".join([json.dumps(metrics("ab")), "", "{", json.dumps(metrics("a", id="x"))]), "utf-8")
    results = list(verify_many(file, RULES, on_error="yield"))
    assert [result.id if isinstance(result, TraceResult) else str(result)[:16] for result in results] == [
        "1",
        "line 3: no JSON:",
        "x",
    ]
    reading = read_jsonl(file)
    assert len(list(verify_many(reading, RULES, on_error="yield"))) == 3
    assert [place for place, _ in reading.unread] == ["line 3"]
    with pytest.raises(TraceError, match=r"^line 3: no JSON"):
        list(verify_many(str(file), RULES))
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(file.read_bytes() * 50)[:-20])
    assert "cannot be read on" in str(list(verify_many(cut, RULES, on_error="yield"))[-1])


def test_what_is_refused_at_once() -> None:
    with pytest.raises(ConstraintError, match="no constraint"):
        verify_many([], RULES, weight_overrides={"other": 1})
    with pytest.raises(ValueError, match="`on_error` is `stop`"):
        verify_many([], RULES, on_error="stop")  # type: ignore[call-overload]
    for one in (metrics("a"), Trace(), 7):
        with pytest.raises(TraceError, match="put a single trace into a list"):
            verify_many(one, RULES)  # type: ignore[call-overload]
    assert public is verify_many


def test_a_number_beyond_64_bits_is_read_as_it_was_written() -> None:
    big = 2**64 + 1
    rule = [Constraint("big", f"never(a(k = {big}))"), Constraint("near", f"never(a(k = {big + 1}))")]
    lines = [json.dumps({"tool_calls": [{"tool_name": "a", "tool_args": {"k": big}, "tool_result": "x"}]})]
    [result] = verify_many(read_jsonl(lines), rule)
    assert dict(result.violations) == {"big": (0,), "near": ()}
    numbered = json.dumps({"id": big, **metrics("a")})
    assert next(verify_many(read_jsonl([numbered]), rule)).id == str(big)


def random_record(rng: random.Random) -> dict[str, Any]:
    """A record of metrics: mostly calls that are plainly ok, some that are not, and every kind of arguments."""
    args: list[Any] = [
        {"k": "u"},
        {"k": "v", "m": 1},
        {"k": 2**70},
        {"k": 1.0},
        {},
        None,
        '{"k": "u"}',
        [1],
        {"k": ["u"]},
    ]
    odd = rng.random() < 0.4
    entries = []
    for i in range(rng.randint(0, 8)):
        entry: dict[str, Any] = {"tool_name": rng.choice("abc"), "tool_args": rng.choice(args), "tool_result": "u"}
        if odd:
            entry |= rng.choice([{}, {"error": "no"}, {"error": None, "tool_result": None}, {"step": i}, {"result": 1}])
        entries.append(entry)
    return {"tool_calls": entries, "suite": rng.choice("xy"), **rng.choice([{}, {"id": "t"}, {"steps": []}])}


def said(result: TraceResult | TraceError) -> tuple[Any, ...]:
    """All that a result says, or the error without its place."""
    if isinstance(result, TraceError):
        return (str(result).partition(": ")[2],)
    return dict(result.violations), dict(result.passed), result.compliance_score, result.position, result.id


@pytest.mark.parametrize("seed", range(2))
def test_records_and_lines_are_judged_as_the_traces_that_they_are(seed: int) -> None:
    rng, kinds = random.Random(f"records {seed}"), set()
    features = frozenset({"future", "past", "counts", "sums", "patterns", "conditions", "outcomes", "comparisons"})
    for i in range(60):
        features ^= {"quantifiers"}
        made = [random_formula(rng, rng.randint(2, 6), features=features) for _ in range(1 + i % 3)]
        rules = [
            Constraint(f"rule {n}", formula, where=rng.choice([None, None, {"suite": "x"}]))
            for n, formula in enumerate(made)
        ]
        records = [random_record(rng) for _ in range(12)]
        lines = read_jsonl([json.dumps(record) for record in records])
        traces = list(lines)
        expected = [said(result) for result in verify_many(traces, rules, on_error="yield")]
        assert [said(result) for result in verify_many(lines, rules, on_error="yield")] == expected
        assert [said(result)[0] for result in verify_many(records, rules, on_error="yield")] == [e[0] for e in expected]
        kinds |= {type(found) if isinstance(found, str) else any(found.values()) for found, *_ in expected}
    assert kinds == {True, False, str}


def test_a_trace_that_cannot_be_judged_was_read() -> None:
    reading = read_jsonl([json.dumps(metrics("ab"))])
    [error] = verify_many(reading, [Constraint("step", "G !same_step")], on_error="yield")
    assert str(error).startswith("line 1: constraint `step`: ")
    assert reading.unread == []
