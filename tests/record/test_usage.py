import json
from dataclasses import FrozenInstanceError, asdict

import pytest

from agentltl import Usage
from agentltl.record.attempt import ModelAttempt
from agentltl.record.usage import usage_of


def attempt(status: str = "success", **more: object) -> dict[str, object]:
    made = ModelAttempt("step", 1, "m", status, 100.0, 5.0, **more)  # type: ignore[arg-type]
    return asdict(made)


def test_an_unknown_cost_is_none_and_not_zero() -> None:
    usage = Usage(10, 5)
    assert (usage.input_cost_usd, usage.output_cost_usd, usage.total_cost_usd) == (None, None, None)
    assert usage.total_tokens == 15


def test_usages_add() -> None:
    one = Usage(10, 5, 4, 3, 2, 1, 0.25, 0.5, 0.75)
    assert one + one == Usage(20, 10, 8, 6, 4, 2, 0.5, 1.0, 1.5)
    assert sum([one, one, one], Usage()) == sum([one, one, one]) == one + one + one
    assert (one + one).total_tokens == 30


def test_a_known_and_an_unknown_cost_are_unknown_together() -> None:
    known, unknown = Usage(1, 1, model_calls=1, total_cost_usd=0.5), Usage(1, 1, model_calls=1)
    assert (known + unknown).total_cost_usd is None
    assert (unknown + known).total_cost_usd is None


def test_calls_that_failed_change_no_cost() -> None:
    known, failed = Usage(1, 1, model_calls=1, total_cost_usd=0.5), Usage(model_calls=2, failed_calls=2)
    assert known + failed == failed + known == Usage(1, 1, model_calls=3, failed_calls=2, total_cost_usd=0.5)
    silent = Usage(model_calls=1)  # it answered, and its provider reports nothing
    assert (known + silent).total_cost_usd is None
    assert (failed + silent + known).total_cost_usd is None


def test_a_usage_of_nothing_changes_nothing() -> None:
    known = Usage(1, 1, model_calls=1, total_cost_usd=0.5)
    assert Usage() + known == known + Usage() == known
    assert Usage() + Usage() == Usage()


def test_only_usages_add() -> None:
    with pytest.raises(TypeError):
        Usage() + 1  # type: ignore[operator]
    with pytest.raises(TypeError):
        1 + Usage()


def test_it_does_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        Usage().input_tokens = 1  # type: ignore[misc]


def test_as_a_dict_it_is_json_with_the_total() -> None:
    usage = Usage(10, 5, model_calls=1)
    assert json.loads(json.dumps(usage.to_dict())) == usage.to_dict()
    assert usage.to_dict()["total_tokens"] == 15


def test_of_attempts_it_is_the_sum() -> None:
    first = attempt(input_tokens=10, output_tokens=5, cached_tokens=4, total_cost_usd=0.5)
    second = attempt(input_tokens=1, output_tokens=1, thinking_tokens=1, cache_creation_tokens=1, total_cost_usd=0.25)
    assert usage_of([first, second]) == Usage(11, 6, 4, 1, 1, 2, total_cost_usd=0.75)
    assert usage_of([]) == Usage()


def test_a_failed_attempt_counts_and_what_it_spent_too() -> None:
    good = attempt(input_tokens=10, output_tokens=5, total_cost_usd=0.5)
    assert usage_of([attempt("error"), good]) == Usage(10, 5, model_calls=2, failed_calls=1, total_cost_usd=0.5)
    assert usage_of([attempt("error", input_tokens=3), good]) == Usage(13, 5, model_calls=2)
    assert usage_of([attempt("error", total_cost_usd=0.25), good]) == Usage(10, 5, model_calls=2, total_cost_usd=0.75)
    assert usage_of([attempt("error")]) == Usage(model_calls=1, failed_calls=1)


def test_a_reply_without_a_cost_makes_the_cost_unknown() -> None:
    good = attempt(input_tokens=10, output_tokens=5, total_cost_usd=0.5)
    assert usage_of([attempt(), good]).total_cost_usd is None
