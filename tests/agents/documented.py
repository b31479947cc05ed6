"""The dicts that the reference documents, written down once more as tables: keys, types, and nothing besides."""

import json
from typing import Any

NONE = type(None)
Rule = Any  # a type, a tuple of rules, a set of values, [rule of each item], {key: rule} or Maybe


class Maybe:
    """A key that may be absent."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule


CALL = {"id": (str, NONE), "name": str, "arguments": dict}
HISTORY = {
    "role": str,
    "type": {"reasoning", "tool_call", "tool_result", "message"},
    "text": str,
    "tool_calls": (NONE, [CALL]),
}
PARSED = {
    "num_messages": int,
    "approx_chars": int,
    "system_prompts": [str],
    "task": (str, NONE),
    "history": [HISTORY],
}
RAW = {"role": str, "content": (str, list, NONE), "tool_calls": Maybe(list), "token_usage": Maybe(dict)}
TOOL_CALL = {
    "step": int,
    "tool_name": str,
    "arguments": dict,
    "id": (str, NONE),
    "tool_result": (str, NONE),
    "action_output": (str, NONE),
}
STEP = {
    "step_number": int,
    "type": {"tool_call", "reasoning", "error"},
    "reasoning": (str, NONE),
    "thinking": (str, NONE),
    "tool_name": (str, NONE),
    "tool_args": (dict, NONE),
    "tool_id": (str, NONE),
    "tool_result": (str, NONE),
    "action_output": (str, NONE),
    "input_tokens": int,
    "output_tokens": int,
    "start_time": (float, NONE),
    "end_time": (float, NONE),
    "duration": (float, NONE),
    "error": (str, NONE),
    "model_input_raw": (NONE, [RAW]),
    "model_input_parsed": (NONE, PARSED),
    "step_tool_calls": Maybe([{"tool_name": str, "tool_args": dict}]),
}
METRICS = {
    "num_steps": int,
    "num_tool_calls": int,
    "input_tokens": int,
    "output_tokens": int,
    "total_tokens": int,
    "tool_calls": [TOOL_CALL],
    "steps": [STEP],
}
VIOLATION = {
    "constraint_name": str,
    "severity": {"HARD_STOP", "PERSISTENT_BLOCK", "TOLERATE"},
    "step_number": int,
    "tool_name": str,
    "tool_args": dict,
    "detail": str,
}
DONE = {"tool_name": str, "tool_args": dict, "tool_id": (str, NONE), "tool_result": (str, NONE)}
GUARDED = {
    "run_status": {"completed", "stopped"},
    "stopped_by_constraint": (str, NONE),
    "constraint_violations": [VIOLATION],
    "constraint_checks": int,
    "completed_trace": [DONE],
}


def faults(value: Any, rule: Rule, at: str = "it") -> list[str]:
    """What is wrong with a value: wrong types, missing keys, keys that the reference does not have."""
    if isinstance(rule, dict):
        if type(value) is not dict:
            return [f"{at} is {value!r}"]
        needed = {key for key, of in rule.items() if not isinstance(of, Maybe)}
        found = [f"{at} lacks `{key}`" for key in sorted(needed - value.keys())]
        found += [f"{at} has `{key}` besides" for key in sorted(value.keys() - rule.keys())]
        for key in value.keys() & rule.keys():
            of = rule[key].rule if isinstance(rule[key], Maybe) else rule[key]
            found += faults(value[key], of, f"{at}.{key}")
        return found
    if isinstance(rule, list):
        if type(value) is not list:
            return [f"{at} is {value!r}"]
        return [fault for i, item in enumerate(value) for fault in faults(item, rule[0], f"{at}[{i}]")]
    if isinstance(rule, tuple):
        of_each = [faults(value, one, at) for one in rule]
        return [] if [] in of_each else max(of_each, key=len)
    if isinstance(rule, set):
        return [] if value in rule else [f"{at} is {value!r}"]
    return [] if type(value) is rule else [f"{at} is {value!r}"]


def result_rule(guarded: bool) -> Rule:
    """The rule for what `run` gives back, of an agent with or without constraints."""
    return {"answer": (str, NONE), "metrics": METRICS | GUARDED if guarded else METRICS, "error": (str, NONE)}


def check(result: dict[str, Any], guarded: bool = False) -> None:
    """Fail when a result is not the documented dict: keys, types, sums, and that JSON gives the same dict back."""
    assert isinstance(result, dict)
    assert faults(dict(result), result_rule(guarded), "result") == []
    assert json.loads(json.dumps(result)) == result
    metrics, steps = result["metrics"], result["metrics"]["steps"]
    assert metrics["num_steps"] == len(steps)
    assert [step["step_number"] for step in steps] == list(range(1, len(steps) + 1))
    assert metrics["num_tool_calls"] == len(metrics["tool_calls"])
    assert {call["step"] for call in metrics["tool_calls"]} <= {step["step_number"] for step in steps}
    for key in ("input_tokens", "output_tokens"):
        assert metrics[key] == sum(step[key] for step in steps)
    assert metrics["total_tokens"] == metrics["input_tokens"] + metrics["output_tokens"]
    for step in steps:
        check_step(step)


def check_step(step: dict[str, Any]) -> None:
    """Fail when the keys of a step do not agree with each other."""
    assert step["end_time"] - step["start_time"] == step["duration"] >= 0
    assert (step["type"] == "error") == (step["error"] is not None)
    assert (step["type"] == "tool_call") == (step["tool_name"] is not None and step["error"] is None)
    assert (step["tool_name"] is None) == (step["tool_args"] is None)
    assert len(step.get("step_tool_calls", "many")) > 1
    raw, parsed = step["model_input_raw"], step["model_input_parsed"]
    assert (raw is None) == (parsed is None)
    if parsed is not None:
        assert parsed["num_messages"] == len(raw)
        assert len(parsed["history"]) == len(raw) - len(parsed["system_prompts"]) - 1
