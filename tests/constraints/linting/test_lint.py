"""What lint finds, kind by kind, and what it leaves alone."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from agentltl import lint as from_the_top
from agentltl.constraints import Constraint, Finding, FindingKind, Trace, holds, lint, parse
from agentltl.errors import ConstraintError, RuleFileError

ROOT = Path(__file__).parents[3]
K = FindingKind


def rules(*texts: str | dict[str, Any]) -> list[dict[str, Any]]:
    """Constraints named `r0`, `r1`, ..."""
    return [{"name": f"r{i}", **(t if isinstance(t, dict) else {"rule": t})} for i, t in enumerate(texts)]


def found(kind: FindingKind, *texts: str | dict[str, Any], tools: Any = None) -> list[Finding]:
    return [finding for finding in lint(rules(*texts), tools) if finding.kind is kind]


def whose(kind: FindingKind, *texts: str | dict[str, Any]) -> list[tuple[str, ...]]:
    return [finding.constraints for finding in found(kind, *texts)]


@pytest.mark.parametrize(
    "text",
    [
        "F a & G !a",
        "F (a & b)",
        "F a(k = 1) & G !a(k < 2)",
        "called(a) & never(a)",
        "G (w(o = ?o) -> O r(o = ?o)) & G !r & F w(o = 1)",
        'F a(k = "x", k = "y")',
    ],
)
def test_a_rule_that_no_trace_satisfies(text: str) -> None:
    (finding,) = found(K.UNSATISFIABLE, text)
    assert finding.severity == "error"
    assert finding.message == "no trace satisfies `r0`"
    assert finding.witness is None


@pytest.mark.parametrize("text", ["G false", "F a & G !b", "F a(k = 1) & G !a(k < 1)", 'F (user =~ "yes") & never(b)'])
def test_a_rule_that_some_trace_satisfies(text: str) -> None:
    assert not found(K.UNSATISFIABLE, text)


@pytest.mark.parametrize("text", ["a | !a", "G (a -> a)", "F a -> F a", "G (w(o = ?o) & false -> r)", "count(a) >= 0"])
def test_a_rule_that_every_trace_satisfies(text: str) -> None:
    assert whose(K.ALWAYS_TRUE, text) == [("r0",)]


@pytest.mark.parametrize("text", ["G (a(k = 1) -> a(k < 2))", "G (a -> a[ok])", "G (w(o = ?o) -> O r(o = ?o))"])
def test_a_rule_that_undecidable_arguments_or_a_failure_break_is_not_always_true(text: str) -> None:
    assert not found(K.ALWAYS_TRUE, text)


def test_contradictory_rules_are_named_without_those_that_do_not_matter() -> None:
    cycle = ["before(a, b)", "at_most(d, 3)", "before(b, c)", "before(c, a)", "never(e)"]
    assert whose(K.CONTRADICTORY, *cycle) == [("r0", "r2", "r3")]
    assert whose(K.CONTRADICTORY, "response(x, y)", "never(y)") == []
    assert whose(K.CONTRADICTORY, "response(x, y)", "never(y)", "F x") == [("r0", "r1", "r2")]


def test_two_contradictions_that_share_no_rule_are_both_found() -> None:
    assert whose(K.CONTRADICTORY, "called(a)", "never(a)", "called(b)", "never(b)") == [("r0", "r1"), ("r2", "r3")]


def test_rules_that_never_meet_on_one_trace_do_not_contradict_each_other() -> None:
    retail = {"rule": "called(a)", "where": {"suite": "retail"}}
    both = {"rule": "never(a)", "where": {"suite": ["retail", "airline"]}}
    airline = {"rule": "never(a)", "where": {"suite": "airline"}}
    assert whose(K.CONTRADICTORY, retail, airline) == []
    assert whose(K.CONTRADICTORY, retail, both) == [("r0", "r1")]


def test_a_rule_that_follows_from_others() -> None:
    assert whose(K.IMPLIED, "never(a)", "at_most(a, 3)") == [("r1", "r0")]
    assert whose(K.IMPLIED, "at_most(a, 3)", "at_most(b, 3)") == []
    (finding,) = found(K.IMPLIED, "response(a, b)", "response(b, c)", "never(d)", "response(a, c)")
    assert finding.constraints == ("r3", "r0", "r1")


def test_of_rules_that_say_the_same_the_later_ones_are_named() -> None:
    (finding,) = found(K.IMPLIED, "G (a -> O b[ok])", "precedence(b, a) | never(a)")
    assert finding.constraints == ("r1", "r0")
    assert "says the same as" in finding.message


def test_an_implied_rule_names_reasons_that_stay() -> None:
    assert whose(K.IMPLIED, "at_most(a, 3)", "never(a)", "at_most(a, 5)") == [("r0", "r1"), ("r2", "r1")]


def test_rules_with_variables_are_compared_value_by_value() -> None:
    general, renamed = "G (w(o = ?o) -> O r(o = ?o))", "G (w(o = ?p) -> O r(o = ?p))"
    assert whose(K.IMPLIED, general, renamed) == [("r1", "r0")]
    assert whose(K.IMPLIED, general, 'G (w(o = "W1") -> O r(o = "W1"))') == [("r1", "r0")]
    assert whose(K.IMPLIED, 'G (w(o = "W1") -> O r(o = "W1"))', general) == [("r0", "r1")]
    assert whose(K.IMPLIED, general, "G (w -> O r)") == []
    assert whose(K.IMPLIED, "at_most_once(a(k = ?x))", "at_most(a(k = ?x), 2)") == [("r1", "r0")]
    assert whose(K.IMPLIED, "at_most_once(a)", "at_most_once(a(k = ?x))") == [("r1", "r0")]


def test_values_that_an_ordering_tells_apart_are_not_taken_as_alike() -> None:
    narrow = "G (a(k = ?x) -> b(k = ?x) | a(k < 5))"
    assert whose(K.IMPLIED, "G (a -> a(k > 7))", narrow) == []


def test_a_rule_follows_only_from_rules_that_are_there_wherever_it_is() -> None:
    retail = {"rule": "never(a)", "where": {"suite": "retail"}}
    assert whose(K.IMPLIED, retail, "at_most(a, 3)") == []
    assert whose(K.IMPLIED, retail, {"rule": "at_most(a, 3)", "where": {"suite": "airline"}}) == []
    assert whose(K.IMPLIED, retail, {"rule": "at_most(a, 3)", "where": {"suite": ["airline", "retail"]}}) == []
    assert whose(K.IMPLIED, retail, {"rule": "at_most(a, 3)", "where": {"suite": "retail", "x": 1}}) == [("r1", "r0")]
    assert whose(K.IMPLIED, "never(a)", {"rule": "at_most(a, 3)", "where": {"suite": "retail"}}) == [("r1", "r0")]


def test_a_left_side_that_can_never_be_true() -> None:
    (finding,) = found(K.NEVER_FIRES, "G (pay(n > 10, n < 5) -> F ask)")
    assert "`pay(n > 10, n < 5)` in `r0` can never be true" in finding.message
    assert not found(K.NEVER_FIRES, "G (pay(n > 5, n < 10) -> F ask)")
    assert not found(K.NEVER_FIRES, "G (w(o = ?o) -> O r(o = ?o))")
    assert found(K.NEVER_FIRES, "G (w(o = ?o) & r(o = ?o) -> F ask)")
    assert found(K.NEVER_FIRES, "G (a -> (b -> F c))")


def test_a_left_side_that_is_true_in_no_run_that_satisfies_the_rules() -> None:
    (finding,) = found(K.NEVER_FIRES, "response(x, y)", "never(y)")
    assert finding.constraints == ("r0", "r1")
    assert finding.witness is not None
    assert finding.witness.events == ["x"]


def test_a_rule_that_no_call_can_break() -> None:
    (finding,) = found(K.ONLY_AT_END, {"rule": "called(a)", "severity": "HARD_STOP"})
    assert finding.severity == "note"
    assert "`HARD_STOP` refuses nothing" in finding.message
    assert finding.witness is not None
    assert len(finding.witness) == 0
    assert "witness: no call at all" in str(finding)
    assert not found(K.ONLY_AT_END, {"rule": "called(a)", "severity": "TOLERATE"})
    assert not found(K.ONLY_AT_END, "before(a, b)", "never(a)", "at_most(a, 3)")
    assert "the default severity" in found(K.ONLY_AT_END, "response(a, b)")[0].message


@pytest.mark.parametrize(
    ("text", "demands"),
    [
        ("G a(x = ?x)", "G false"),
        ("precedence(read(p = ?p), write)", "!write W false"),
        ("response(a, b(k = ?x))", "G !a"),
        ("G (c(k = ?x) -> O a) & response(a, b(k = ?x))", "G !a"),
        ("G (w(o = ?o) -> F r(o = ?o)) & G (w(o = ?o) | O q(o = ?o))", "G false"),
    ],
)
def test_a_variable_for_every_value_of_which_something_must_happen(text: str, demands: str) -> None:
    (finding,) = found(K.UNGUARDED_VARIABLE, text)
    assert finding.severity == "warning"
    assert f"it demands `{demands}`" in finding.message
    assert finding.witness is not None
    assert not holds(parse(text), finding.witness)


def test_a_variable_that_is_used_once() -> None:
    (finding,) = found(K.UNGUARDED_VARIABLE, "never(pay(to = ?who))")
    assert finding.severity == "note"
    assert found(K.UNGUARDED_VARIABLE, "exists ?x. F a(k = ?x)")


@pytest.mark.parametrize(
    "text",
    [
        "G (w(o = ?o) -> O r(o = ?o)[ok])",
        "precedence(r(o = ?o), w(o = ?o))",
        "at_most_once(a(k = ?x))",
        "no_repeat(*)",
        "G (a & b(k = ?x) -> c(k = ?x) | d)",
        "G (w(o = ?o) -> seen(?o))",
        "G (w(o = ?o) -> O r(o = ?o)) & G !bad",
        "between(w(o = ?o), open(o = ?o), close(o = ?o))",
    ],
)
def test_variables_that_are_guarded(text: str) -> None:
    assert not found(K.UNGUARDED_VARIABLE, text)


def test_tools_that_no_run_calls() -> None:
    (finding,) = found(K.UNCALLABLE, "never(a)", "at_most(b, 2)")
    assert (finding.constraints, finding.severity) == (("r0",), "note")
    cycle = found(K.UNCALLABLE, "precedence(a, b)", "precedence(b, a)", "called(c)")
    assert [f.constraints for f in cycle] == [("r0", "r1"), ("r0", "r1")]
    assert {f.severity for f in cycle} == {"warning"}
    (finding,) = found(K.UNCALLABLE, "G (a | b)", tools=["a", "b", "c"])
    assert finding.message == "no run that satisfies `r0` calls `c`"
    (finding,) = found(K.UNCALLABLE, "G a(x = ?x)")
    assert finding.message == "no run that satisfies `r0` makes any call"


def test_rules_that_cannot_be_looked_at_exactly_are_left_alone() -> None:
    said = 'G (pay -> user =~ "yes")'
    assert not lint(rules(said, said.replace("yes", "no"), "G (pay -> O[60s] ask)", "G !same_step"))


def test_what_is_proved_of_some_rules_holds_beside_others() -> None:
    (finding,) = found(K.CONTRADICTORY, 'G (pay -> user =~ "yes")', "called(pay)", "no_repeat(*)", "never(pay)")
    assert finding.constraints == ("r1", "r3")


def test_findings_are_sorted_and_can_be_written_down() -> None:
    findings = lint(rules("called(a)", "never(a)", "at_most(b, 2)", "at_most(b, 3)", "G (x -> x)", "response(c, d)"))
    gravities = [f.severity for f in findings]
    assert gravities == sorted(gravities, key=["error", "warning", "note"].index)
    assert {"error", "warning", "note"} == set(gravities)
    for finding in findings:
        data = json.loads(json.dumps(finding.to_dict()))
        assert data["kind"] in str(finding.kind)
        assert str(finding).startswith(f"{finding.severity}: {finding.message}")
        if finding.witness is not None:
            assert Trace.from_metrics(data["witness"]).events == finding.witness.events


def test_a_witness_reads_back_with_its_outcomes() -> None:
    (finding,) = found(K.ONLY_AT_END, "G (a[failed] -> F b(k = 1)[ok, n = 2])")
    assert finding.witness is not None
    assert str(finding).splitlines()[1].endswith("fails")
    again = Trace.from_metrics(finding.to_dict()["witness"])
    assert not holds(parse("G (a[failed] -> F b(k = 1)[ok, n = 2])"), again)


def test_rule_files_and_constraints_are_taken_as_everywhere() -> None:
    assert from_the_top is lint
    assert lint([]) == ()
    assert lint([Constraint("one", "F a & G !a")])[0].constraints == ("one",)
    with pytest.raises(RuleFileError):
        lint("no-such-file.yaml")
    with pytest.raises(ConstraintError):
        lint({"name": "one", "rule": "F a"})  # type: ignore[arg-type]


def test_real_rules_have_nothing_wrong_with_them() -> None:
    assert lint(ROOT / "examples" / "tau_bench" / "rules.yaml") == ()
    assert {f.severity for f in lint(ROOT / "examples" / "rule_file" / "rules.yaml")} <= {"note"}


TWENTY_FIVE = """G (write_file(path = ?p) -> O read_file(path = ?p)[ok])
before(login, search)
precedence(login, pay)
at_most(pay, 3)
response(open_ticket, close_ticket)
never(delete_db)
at_most(search, 10)
G (pay -> pay(amount <= 100))
G !pay(currency != "EUR")
precedence(lint, test)
precedence(test, deploy)
all_before([lint, typecheck, test], deploy)
G (deploy -> (!write_file S test[ok]))
chain_response(fetch, parse)
not_coexistence(refund, cancel)
G (refund -> Y O get_order[ok])
at_most_once(refund(order_id = ?o))
G (cancel(order_id = ?o) -> O get_order(order_id = ?o)[ok])
alternate_response(lock, unlock)
between(write_row, lock, unlock)
absence(send_mail, 4)
response(pay, receipt)
not_succession(logout, search)
G (transfer -> transfer(amount <= 1000, currency in ["EUR", "USD"]))
succession(start, stop)"""


def test_twenty_five_rules_take_seconds_at_most() -> None:
    """The target is one second, which `benchmarks` measures; this bound holds on a busy machine."""
    begun = time.process_time()
    findings = lint(rules(*TWENTY_FIVE.split("\n")))
    assert time.process_time() - begun < 5
    assert [f.constraints for f in findings if f.kind is K.IMPLIED] == [("r10", "r11")]
    assert not [f for f in findings if f.severity != "note"]
