"""Arguments, errors and results in every shape, through the metrics form that carries them as they are."""

import math
from typing import Any

import pytest

from agentltl.constraints.trace import ABSENT, Call, Trace
from agentltl.constraints.value import FrozenDict, Opaque


def call(**entry: Any) -> Call:
    return Trace.from_metrics({"tool_calls": [{"tool_name": "t", **entry}]}).calls[0]


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        ({"a": {"b": [1, {"c": None}]}}, {"a": {"b": [1, {"c": None}]}}),
        ('{"a": 1}', {"a": 1}),
        (' \n{"a": [1, 2.5]} ', {"a": [1, 2.5]}),
        ("{'a': True, 'b': None, 'c': 'it\\'s'}", {"a": True, "b": None, "c": "it's"}),
        (r"{'pattern': '\d+'}", {"pattern": r"\d+"}),
        (None, {}),
        ("null", {}),
        ("None", {}),
        ("", {}),
        ("  ", {}),
        ({}, {}),
        ([1, "x"], {"input": [1, "x"]}),
        ("[1, 2]", {"input": [1, 2]}),
        ([], {"input": []}),
        (7, {"input": 7}),
        (0, {"input": 0}),
        (False, {"input": False}),
        ("7", {"input": 7}),
        ("true", {"input": True}),
        ('"quoted"', {"input": "quoted"}),
        ("plain words", {"input": "plain words"}),
        ('{"a": 1', {"input": '{"a": 1'}),
        ('{"a": 1}}', {"input": '{"a": 1}}'}),
        ("{'a': open('x')}", {"input": "{'a': open('x')}"}),
    ],
)
def test_arguments(given: Any, seen: dict[str, Any]) -> None:
    args = call(arguments=given).args
    assert args == seen
    assert isinstance(args, FrozenDict)


def test_arguments_keep_booleans_apart_from_numbers() -> None:
    assert call(arguments=True).args["input"] is True
    assert type(call(arguments="1").args["input"]) is int


def test_binary_arguments_are_opaque() -> None:
    held = call(arguments=b"\xff\x00").args["input"]
    assert isinstance(held, Opaque)
    assert held.value == b"\xff\x00"


def test_nan_and_infinity_stay_what_they_are() -> None:
    args = call(arguments='{"a": NaN, "b": -Infinity}').args
    assert math.isnan(args["a"])
    assert args["b"] == -math.inf


def test_the_caller_can_change_its_own_copy() -> None:
    given = {"items": [1]}
    held = call(arguments=given)
    given["items"].append(2)
    assert held.args == {"items": [1]}


@pytest.mark.parametrize("key", ["arguments", "tool_args", "args_raw"])
def test_the_keys_of_arguments(key: str) -> None:
    assert call(**{key: '{"a": 1}'}).args == {"a": 1}


def test_the_raw_arguments_are_used_only_where_there_are_no_others() -> None:
    assert call(arguments={"a": 1}, args_raw='{"a": 2}').args == {"a": 1}
    assert call(arguments={}, args_raw='{"a": 2}').args == {}
    assert call(arguments=None, args_raw='{"a": 2}').args == {"a": 2}


@pytest.mark.parametrize(
    ("record", "ok", "failed", "error"),
    [
        # With a key `error`: a text is a failure, none beside a null result never settled.
        ({"tool_result": "fine", "error": None}, True, False, None),
        ({"tool_result": "fine", "error": ""}, True, False, None),
        ({"tool_result": "", "error": None}, True, False, None),
        ({"tool_result": "told", "error": "denied"}, False, True, "denied"),
        ({"tool_result": None, "error": "denied"}, False, True, "denied"),
        ({"error": "denied"}, False, True, "denied"),
        ({"tool_result": None, "error": None}, False, False, None),
        ({"tool_result": None, "error": ""}, False, False, None),
        ({"error": None}, False, False, None),
        # Without one: ok.
        ({"tool_result": "fine"}, True, False, None),
        ({"tool_result": None}, True, False, None),
        ({}, True, False, None),
        # Errors that are no texts.
        ({"tool_result": "x", "error": {"type": "E", "message": "denied"}}, False, True, "denied"),
        ({"tool_result": "x", "error": {"code": 3}}, False, True, '{"code": 3}'),
        ({"tool_result": "x", "error": True}, False, True, "error"),
        ({"tool_result": "x", "error": False}, True, False, None),
        ({"tool_result": "x", "error": {}}, True, False, None),
        ({"tool_result": "x", "error": KeyError("k")}, False, True, "'k'"),
    ],
)
def test_what_came_of_a_call(record: dict[str, Any], ok: bool, failed: bool, error: str | None) -> None:
    outcome = call(**record).outcome
    assert outcome is not None
    assert (outcome.ok, outcome.failed, outcome.error) == (ok, failed, error)
    assert outcome.settled == (ok or failed)


@pytest.mark.parametrize(
    ("result", "text", "value"),
    [
        ('{"status": "pending"}', '{"status": "pending"}', {"status": "pending"}),
        ("{'status': 'pending'}", "{'status': 'pending'}", {"status": "pending"}),
        ("just words", "just words", ABSENT),
        ("", "", ABSENT),
        (None, None, ABSENT),
        ({"a": 1}, "{'a': 1}", {"a": 1}),
        ([1, 2], "[1, 2]", [1, 2]),
        (12.5, "12.5", 12.5),
        (False, "False", False),
        ("é" * 50_000, "é" * 50_000, ABSENT),
        ("[" * 100_000, "[" * 100_000, ABSENT),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_results(result: Any, text: str | None, value: Any) -> None:
    outcome = call(tool_result=result).outcome
    assert outcome is not None
    assert outcome.ok
    assert outcome.text == text
    assert outcome.value is value if value is ABSENT else outcome.value == value


def test_a_large_json_result_is_parsed() -> None:
    outcome = call(result='["' + "x" * 100_000 + '"]').outcome
    assert outcome is not None
    assert len(outcome.value[0]) == 100_000


def test_a_binary_result_is_opaque_and_its_text_is_what_str_says() -> None:
    outcome = call(tool_result=b"\x00\xff").outcome
    assert outcome is not None
    assert outcome.ok
    assert outcome.text == "b'\\x00\\xff'"
    assert isinstance(outcome.value, Opaque)


def test_status() -> None:
    outcome = call(tool_result="x", status="cached").outcome
    assert outcome is not None
    assert outcome.status == "cached"
