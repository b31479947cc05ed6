"""Judging a finished (or growing) trace under constraints, with a compliance score.

The score is one minus the weight of what is violated over the weight of all; label and details come from its exact
value, the number in the result is rounded to six places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from fractions import Fraction
from os import PathLike

from agentltl.constraints.check import breaches, naming, newly_false
from agentltl.constraints.constraint import Constraint, constraints_of
from agentltl.constraints.constraint_values import checked_weight
from agentltl.constraints.explain import explain_judged
from agentltl.constraints.formula import Apply, Formula, Proposition, Quantified
from agentltl.constraints.monitor import Monitor
from agentltl.constraints.proposition import Called
from agentltl.constraints.trace import Trace
from agentltl.constraints.value import Json
from agentltl.constraints.verdict import Truth
from agentltl.errors import ConstraintError, TraceError

NOT_MEANT = "Not meant for this trace."


def verify_trace(
    metrics: Mapping[str, Json] | Trace,
    constraints: Sequence[Constraint | Mapping[str, Json]] | str | PathLike[str],
    *,
    weight_overrides: Mapping[str, float] | None = None,
    full_compliance_detail: str = "All constraints satisfied.",
    partial_trace: bool = False,
) -> dict[str, Json]:
    """Judge a trace and score it.

    `metrics` is the metrics dict of a run, the result that holds it, or a `Trace`; `constraints` a list of constraints
    or mappings, or a rule file. `weight_overrides` gives constraints, by name, another weight.
    With `partial_trace=True` the run is still under way: a constraint passes unless it is violated whatever follows.

    The keys are `compliance_score`, `compliance_label` (`FULL`, `PARTIAL`, `VIOLATION`), `details`, `tool_sequence`
    and `constraints`, a record with `name`, `weight`, `passed`, `detail` and `description` for each.
    A total weight of zero scores 1.0 when nothing failed, else 0.0. A constraint that is not meant for the trace
    passes and has no part in the score.

    Raises `TraceError` for what is no trace, or lacks what a rule needs; `ConstraintError` for a weight that makes no
    sense or belongs to no constraint.
    """
    trace = metrics if isinstance(metrics, Trace) else _trace_of(metrics)
    rules = constraints_of(constraints)
    weights = weights_of(rules, weight_overrides or {})
    records: list[dict[str, Json]] = []
    for constraint in rules:
        try:
            passed, detail = _judge(constraint, trace, partial_trace)
        except TraceError as error:
            raise naming(constraint, error) from error
        records.append(
            {
                "name": constraint.name,
                "weight": weights[constraint.name],
                "passed": passed,
                "detail": detail,
                "description": constraint.description,
            }
        )
    meant = [record for record, rule in zip(records, rules, strict=True) if rule.applies(trace)]
    score, label = scored(meant)
    passed_all = all(record["passed"] for record in records)
    return {
        "compliance_score": score,
        "compliance_label": label,
        "details": full_compliance_detail if passed_all else _details(records, rules, trace),
        "tool_sequence": trace.events,
        "constraints": records,
    }


def _trace_of(metrics: object) -> Trace:
    if not isinstance(metrics, Mapping):
        raise TraceError(
            f"a trace is expected, not a {type(metrics).__name__}\n"
            "give the metrics of a run (a dict with a list `tool_calls`), or a trace: Trace.from_messages(chat), ..."
        )
    inner = metrics.get("metrics")
    return Trace.from_metrics(inner if "tool_calls" not in metrics and isinstance(inner, Mapping) else metrics)


def weights_of(constraints: Sequence[Constraint], overrides: Mapping[str, float]) -> dict[str, float]:
    """The weight of each constraint, by name; a `ConstraintError` for one that makes no sense or is nobody's."""
    weights = {constraint.name: constraint.weight for constraint in constraints}
    for name, weight in overrides.items():
        if name not in weights:
            near = get_close_matches(str(name), weights, 1, 0.6)
            known = ", ".join(weights) or "none"
            raise ConstraintError(
                f"`weight_overrides` names `{name}`, which is no constraint\n"
                + (f"did you mean `{near[0]}`?" if near else f"the constraints are: {known}")
            )
        weights[name] = checked_weight(weight, f"constraint `{name}` in `weight_overrides`")
    return weights


def _judge(constraint: Constraint, trace: Trace, partial: bool) -> tuple[bool, str]:
    formula = constraint.formula
    if not constraint.applies(trace):
        return True, NOT_MEANT
    if partial:
        first = next(newly_false(formula, trace), None)
        passed = first is None and Monitor.of(formula).verdict.truth is not Truth.FALSE
        return passed, explain_judged(formula, trace, False, first)
    first = next(breaches(formula, trace), None)
    return first is None, explain_judged(formula, trace, True, first)


def scored(records: Sequence[Mapping[str, Json]]) -> tuple[float, str]:
    """The score and the label of records with `weight` and `passed`, those of the constraints that are meant."""
    score = _score(records)
    return round(float(score), 6), "FULL" if score == 1 else "VIOLATION" if score == 0 else "PARTIAL"


def _score(records: Sequence[Mapping[str, Json]]) -> Fraction:
    failed = [record for record in records if not record["passed"]]
    total = sum(Fraction(record["weight"]) for record in records)
    if total == 0:
        return Fraction(not failed)
    return 1 - sum(Fraction(record["weight"]) for record in failed) / total


def _details(records: Sequence[Mapping[str, Json]], constraints: Sequence[Constraint], trace: Trace) -> str:
    violated = [record["name"] for record in records if not record["passed"]]
    there = set(trace.events)
    wanted = dict.fromkeys(
        name for constraint in constraints if constraint.applies(trace) for name in required_tools(constraint.formula)
    )
    missing = [name for name in wanted if name not in there]
    return f"Violated: {violated}." + (f" Missing tools: {missing}." if missing else "")


def required_tools(formula: Formula) -> list[str]:
    """The tools that the patterns `called`, `before`, `all_before` and `branch` (its right one) name, in order."""
    written = formula.written if isinstance(formula, Apply | Quantified | Proposition) else None
    if written is None:
        return [name for child in formula.children for name in required_tools(child)]
    match written.pattern:
        case "called":
            named: Sequence[object] = written.arguments[:1]
        case "before" | "all_before":
            named = written.arguments
        case "branch":
            named = written.arguments[:1]
        case _:
            return []
    flat = [part for item in named for part in (item if isinstance(item, list | tuple) else [item])]
    return [tool for part in flat for tool in _literal(part)]


def _literal(part: object) -> list[str]:
    if isinstance(part, Proposition) and isinstance(part.atom, Called):
        tools = part.atom.tools
        return sorted(tools.exact) if len(tools.members) == 1 else []
    return []
