"""The money that sub-agents may spend together."""

from typing import Any

import pytest

from agentltl.agents.sub_agents.budget import Budget
from agentltl.errors import ConstraintError
from agentltl.record.result import Result


def attempt(status: str = "success", cost: float | None = None, tokens: int | None = 5) -> dict[str, Any]:
    costs = {"input_cost_usd": cost, "output_cost_usd": 0.0, "total_cost_usd": cost}
    counts = dict.fromkeys(("cached_tokens", "cache_creation_tokens", "thinking_tokens"))
    return {"status": status, "input_tokens": tokens, "output_tokens": tokens, **counts, **costs}


def test_it_is_spent_when_the_costs_have_come_to_it() -> None:
    budget = Budget(0.5)
    budget.add("a", Result("x", attempts=[attempt(cost=0.25)]))
    assert budget.why_not is None
    budget.add("b", Result("x", attempts=[attempt(cost=0.25)]))
    assert budget.why_not == (
        "not started: the sub-agents have used up `max_cost_usd=0.5`: 0.5 USD\n"
        "raise it, and run the requirements that are left"
    )


@pytest.mark.parametrize("result", [None, Result("x", attempts=[attempt()])])
def test_an_unknown_cost_is_more_than_any_budget(result: Result | None) -> None:
    budget = Budget(1000)
    budget.add("a", result)
    assert (budget.why_not or "").startswith("not started: `max_cost_usd=1000` cannot be kept, since nobody knows")


@pytest.mark.parametrize("attempts", [[], [{**attempt("error", tokens=None), "output_cost_usd": None}]])
def test_what_has_not_used_a_model_costs_nothing(attempts: list[dict[str, Any]]) -> None:
    budget = Budget(1)
    budget.add("a", Result(error="no", attempts=attempts))
    assert budget.why_not is None


def test_without_a_limit_everything_may_start() -> None:
    budget = Budget(None)
    budget.add("a", None)
    assert budget.why_not is None


@pytest.mark.parametrize("limit", [0, -1, True, float("nan"), float("inf"), "1"])
def test_a_limit_is_a_number_above_0(limit: Any) -> None:
    with pytest.raises(ConstraintError, match="limits nothing"):
        Budget(limit)
