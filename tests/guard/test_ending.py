"""The end of a run for any loop: what is asked for, what it costs, and that a question changes nothing."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from agentltl import Guard
from agentltl.guard.state import SPAN

TOOLS = ("a", "b", "c", "d")
DEBTS = (
    "response(a, b)", "called(c)", "before(a, b)", "G (a(x = ?v) -> F b(x = ?v))", "F (c & X F d)", "response(c, d)",
    "existence(d, 2)", "responded_existence(a, d)", "response(b, final_answer)", "F c[ok]",
)  # fmt: skip
LIMITS = (
    "never(a)",
    "precedence(c, d)",
    "at_most(b, 2)",
    "G (b -> Y (a | c))",
    "no_repeat(*)",
    "precedence(a, final_answer)",
)
SEVERITIES = ("HARD_STOP", "PERSISTENT_BLOCK", "ASK", "SOFT_BLOCK", "BLOCK_AND_WARN", "TOLERATE")


def again(g: Guard) -> Guard:
    return Guard.from_state(json.loads(json.dumps(g.to_state())))


def random_guard(rng: random.Random) -> Guard:
    rules: list[dict[str, Any]] = []
    for number, text in enumerate(rng.sample(DEBTS, rng.randint(1, 3))):
        marked = rng.random() < 0.8
        rules.append({"name": f"debt{number}", "rule": text, "applies_to_final_answer": marked})
    rules += [{"name": f"limit{n}", "rule": t} for n, t in enumerate(rng.sample(LIMITS, rng.randint(0, 2)))]
    for rule in rules:
        rule["severity"] = rng.choice(SEVERITIES)
        rule["enforce"] = rng.random() < 0.9
    return Guard(rules, final_answer_retries=rng.randint(0, 2))


def walk(g: Guard, rng: random.Random, most: int = 6) -> None:
    """Some calls of the manager and of two managed agents."""
    for step in range(1, rng.randint(1, most)):
        agent = rng.choice((None, None, "m", "n"))
        turn = None if agent is None else ({"m": 7, "n": 9}[agent], step)
        said: dict[str, Any] = {"step": step, "agent": agent, "turn": turn}
        tool, args = rng.choice(TOOLS), {"x": rng.randint(1, 2)}
        before = (g.status(), g.verdicts(), len(g.trace.calls))
        refuses = g.refuses(tool, args, **said)
        assert (g.status(), g.verdicts(), len(g.trace.calls)) == before
        decision = g.propose(tool, args, **said)
        assert decision.allowed is not refuses
        if decision.allowed:
            g.settle(decision, "ok", error=rng.choice((None, None, None, "failed")))


def test_a_plan_that_is_told_settles_what_is_asked_for() -> None:
    rng = random.Random("ending")
    asked = 0
    for _ in range(300):
        g = random_guard(rng)
        walk(g, rng)
        if g.stopped is not None:
            continue
        decision = g.finish("done", step=10)
        if decision.violations or decision.allowed or not decision.plan:
            continue
        asked += 1
        names = {line.split()[1].rstrip(".:") for line in decision.feedback.splitlines() if line.startswith("Rule ")}
        assert names <= set(decision.owed)
        for number, call in enumerate(decision.plan):
            done = g.propose(call.tool, call.args, step=11 + number)
            assert done.allowed, (g.constraints, decision.plan, done.feedback)
            g.settle(done, None if call.outcome == "failed" else "ok")
        last = g.finish("done", step=30)
        owing = {violation.constraint_name for violation in last.violations if violation.tool_name == "final_answer"}
        assert not names & owing, (g.constraints, decision.plan)
    assert asked > 40


@pytest.mark.parametrize("seed", range(4))
def test_a_guard_that_was_saved_asks_and_charges_alike(seed: int) -> None:
    rng = random.Random(f"saved ending {seed}")
    for _ in range(20):
        g = random_guard(rng)
        for _ in range(2):
            g.said("go on")
            walk(g, rng, 4)
            for _ in range(rng.randint(0, 3)):
                decision = g.finish(step=5) if rng.random() < 0.5 else g.finish("done", step=5, last=rng.random() < 0.3)
                if decision.index is not None:
                    g.settle(decision, "done")
        twin = again(g)
        assert twin.status() == g.status()
        assert [call.step for call in twin.trace.calls] == [call.step for call in g.trace.calls]
        first, second = (one.finish("x", step=9, start=1e12) for one in (g, twin))
        assert first._replace(call=None) == second._replace(call=None)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_each_debt_is_charged_once_after_the_user_has_spoken(severity: str) -> None:
    rule = {"name": "r", "rule": "called(c)", "applies_to_final_answer": True, "severity": severity}
    g = Guard([rule], final_answer_retries=0)
    for said in (1, 2):
        g.said("go")
        for _ in range(3):
            g.finish(step=1)
        assert len(g.violations) == said
    assert g.status().counts["r"]["violations"] == 2


def test_without_marked_constraints_finish_only_looks() -> None:
    g = Guard([{"name": "r", "rule": "called(c)"}])
    assert (g.finish().allowed, g.finish().owed) == (True, ("r",))
    assert g.to_state()["events"] == []
    assert not g.asks_at_the_end


def test_messages_of_managed_agents_have_steps_of_their_own() -> None:
    g = Guard([{"name": "r", "rule": "G !same_step", "severity": "TOLERATE"}])
    said = [(1, None), (1, (3, 1)), (1, (3, 1)), (1, (3, 2)), (1, (4, 2)), (2, None), (2, (5, 1))]
    broken = [bool(g.propose("a", step=step, turn=turn).violations) for step, turn in said]
    assert broken == [False, False, True, False, False, False, False]
    assert [violation.step_number for violation in g.violations] == [1]
    steps = [call.step for call in g.trace.calls]
    assert steps == [1, SPAN + 1, SPAN + 1, SPAN + 2, 2 * SPAN + 2, 2, 3 * SPAN + 1]
    assert [call.step for call in again(g).trace.calls] == steps
    g.said("go on")
    assert g.propose("a", step=1).violations == ()
    assert [violation.step_number for violation in g.violations] == [1]


def test_an_outcome_of_a_managed_agents_call_is_of_its_managers_step() -> None:
    g = Guard([{"name": "r", "rule": "G !a[failed]", "severity": "TOLERATE"}])
    g.settle(g.propose("a", step=4, agent="m", turn=(1, 9)), error="no")
    assert [violation.step_number for violation in g.violations] == [4]
