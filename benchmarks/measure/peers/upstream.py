"""The process of the published package `agentltl`: its `Enforcer` call by call, offline its `verify_trace`."""

from __future__ import annotations

import fnmatch
import importlib
import json
from functools import partial
from itertools import pairwise
from typing import Any

from measure.clock import Action, sample, seconds
from measure.peers.serve import expect, serve
from measure.workload import CYCLE, DOCS, TOOLS, Call, call, lines, metrics, values_call

peer: Any = importlib.import_module("agentltl")


def _matches(tool: str, **arguments: object) -> Any:
    return peer.Matches(peer.ToolPattern(tool, arguments))


def _glob(tool: str, name: str, pattern: str) -> Any:
    """A call pattern of our own, as the package asks for where equality is not enough."""

    def match(_self: object, called: str, arguments: dict[str, object]) -> bool:
        return called == tool and fnmatch.fnmatchcase(str(arguments.get(name)), pattern)

    methods = {"match": match, "bind": lambda self, _bindings: self, "describe": lambda _self: tool, "tools": (tool,)}
    return peer.Matches(type("Glob", (peer.CallPattern,), methods)())


def _written(trace: Any, _metrics: object) -> list[object]:
    return list(dict.fromkeys(done.args["path"] for done in trace.calls if done.name == "write"))


def rules() -> dict[str, Any]:
    """The rules of `measure.rules.MIX10` under the same names, as near in meaning as the package can say them."""
    return {
        "before": peer.Before("read", "write"),
        "at most": peer.CalledNTimes("rollback", 3, "<="),
        "all before": peer.AllBefore(["lint", "typecheck", "test"], "deploy"),
        "since": peer.parse('G(now("deploy") -> Y((!now("write")) S now("test")))'),
        "since, far back": peer.parse('G(now("deploy") -> !((!now("approve")) S now("rollback")))'),
        "per path": peer.ForAll("p", _written, peer.CalledWith("read", {"path": peer.Var("p")})),
        "past": peer.parse('G(now("close_ticket") -> O(now("open_ticket")))'),
        "argument": peer.Globally(peer.Not(_matches("deploy", env="production"))),
        "argument, glob": peer.Globally(peer.Implies(peer.Now("fetch"), _glob("fetch", "url", f"{DOCS}*"))),
        "response": peer.parse('G(now("open_ticket") -> F(now("close_ticket")))'),
    }


def _constraints(names: list[str]) -> list[Any]:
    known = rules()
    if names == ["orderings"]:
        return [peer.Constraint(f"{a} {b}", peer.Before(a, b)) for a, b in pairwise(TOOLS)]
    return [peer.Constraint(name, known[name]) for name in names]


def check(rules: list[str], history: int, values: int = 0) -> float:
    """Seconds of one check, `check` and `record_completed`: the cycle after a history whose last cycle was checked."""
    constraints = _constraints(rules)
    run = [values_call(i, values) if values else call(i) for i in range(history + CYCLE)]

    def prepare() -> Action:
        enforcer = peer.Enforcer(constraints)
        for tool, arguments in run[: history - CYCLE]:
            enforcer.record_completed(tool, arguments, "", "ok")
        _check_all(enforcer, run[history - CYCLE : history])
        return partial(_check_all, enforcer, run[history:])

    return sample(prepare) / CYCLE


def _check_all(enforcer: Any, calls: list[Call]) -> None:
    judge, record = enforcer.check, enforcer.record_completed
    for tool, arguments in calls:
        expect(judge(tool, arguments).action == "allow", f"`{tool}` is refused")
        record(tool, arguments, "", "ok")


def evaluate(rules: list[str], length: int, times: int) -> float:
    """Seconds of evaluating the rules on one finished trace."""
    entries = metrics(length)["tool_calls"]
    made = [peer.ToolCall(e["tool_name"], e["tool_args"], i, e, e["tool_result"]) for i, e in enumerate(entries)]
    trace, formulas, judge = peer.Trace(made), [c.formula for c in _constraints(rules)], peer.LTLEvaluator()

    def all_rules() -> None:
        for _ in range(times):
            for formula in formulas:
                expect(judge.evaluate(formula, trace, metrics={}).passed, f"{formula} is violated")

    return seconds(all_rules) / times


def from_lines(rules: list[str], length: int, times: int) -> float:
    """Seconds from a JSON line to the verdicts, for one trace."""
    constraints, texts = _constraints(rules), lines(times, length)

    def judge() -> None:
        for text in texts:
            score = peer.verify_trace(json.loads(text), constraints)["compliance_score"]
            expect(score == 1, "a rule is violated")

    return seconds(judge) / times


if __name__ == "__main__":
    serve({"check": check, "evaluate": evaluate, "from_lines": from_lines})
