import gc
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from smolagents import tool

from agentltl import AgentWithAdditionalTools, AgentWithConstraints, ConstraintError, McpServerError, verify_trace
from agentltl.agents.models.scripted import ScriptedModel
from agentltl.record.result import Result
from tests.agents.documented import check
from tests.agents.mcp.conftest import http, nothing_left  # noqa: F401
from tests.agents.mcp.real import HttpServer, stdio

ANSWER = ("final_answer", {"answer": "done"})
READ_FIRST = {
    "name": "read_first",
    "rule": 'G (cancel_order(order_id = ?o) -> O get_order(order_id = ?o)[ok, status = "pending"])',
    "severity": "PERSISTENT_BLOCK",
}
pytestmark = pytest.mark.usefixtures("nothing_left")


@tool
def total(amounts: list[int]) -> int:
    """Multiply, to be told from the server's.

    Args:
        amounts: numbers
    """
    return amounts[0] * amounts[1]


def calls(result: Result) -> list[tuple[str, Any, Any]]:
    return [(c["tool_name"], c["arguments"], c["tool_result"]) for c in result["metrics"]["tool_calls"]]


def test_tools_of_a_server_are_called_like_others() -> None:
    model = ScriptedModel([("total", {"amounts": [3, 4]}), ("desk__total", {"amounts": [3, 4]}), ("photo", {}), ANSWER])
    servers = {"desk": stdio("total", "photo")}
    with AgentWithAdditionalTools([total], model, mcp_servers=servers, name="clerk") as agent:
        assert isinstance(agent, AgentWithAdditionalTools)
        result = agent.run("Add.")
        assert [tool.name for tool in agent.mcp_servers.tools] == ["desk__total", "photo"]
    check(result, guarded=False)
    assert calls(result) == [
        ("total", {"amounts": [3, 4]}, "12"),
        ("desk__total", {"amounts": [3, 4]}, "7"),
        ("photo", {}, "Stored 'image.png' in memory."),
        ("final_answer", {"answer": "done"}, "done"),
    ]
    assert "constraint_checks" not in result["metrics"]
    assert {"total", "desk__total", "photo"} <= set(model.requests[0].tool_names)


def test_a_call_that_the_guard_refuses_does_not_reach_the_server() -> None:
    order = {"order_id": "W1"}
    model = ScriptedModel([("cancel_order", order), ("get_order", order), ("cancel_order", order), ANSWER])
    with AgentWithConstraints(
        model=model, mcp_servers={"desk": stdio("get_order", "cancel_order")}, constraints=[READ_FIRST]
    ) as agent:
        assert isinstance(agent, AgentWithAdditionalTools)
        result = agent.run("Cancel W1.")
    check(result, guarded=True)
    metrics = result["metrics"]
    assert [c["tool_name"] for c in metrics["completed_trace"]] == ["get_order", "cancel_order"]
    # The server has seen no cancellation before it was asked for the order.
    assert "'status': 'pending'" in metrics["completed_trace"][0]["tool_result"]
    assert [v["tool_name"] for v in metrics["constraint_violations"]] == ["cancel_order"]
    assert metrics["constraint_checks"] == 3
    assert verify_trace(metrics, [READ_FIRST])["compliance_score"] == 1.0


def test_rules_name_tools_as_the_agent_does() -> None:
    rules = [
        {"name": "small", "rule": 'G !"pay-now"(amount > 100)', "severity": "PERSISTENT_BLOCK"},
        {"name": "none", "rule": 'never("desk__total")', "severity": "HARD_STOP"},
    ]
    model = ScriptedModel(
        [("pay-now", {"amount": 500}), ("pay-now", {"amount": 5}), ("shop__total", {"amounts": [1]}),
         ("desk__total", {"amounts": [1]}), ANSWER]
    )  # fmt: skip
    servers = {"desk": stdio("pay-now", "total"), "shop": stdio("total")}
    with AgentWithConstraints(model=model, mcp_servers=servers, constraints=rules) as agent:
        result = agent.run("Pay.")
    assert [(name, got) for name, _, got in calls(result)] == [("pay-now", "paid 5.0"), ("shop__total", "1")]
    assert result["metrics"]["stopped_by_constraint"] == "none"


def test_a_rule_for_a_name_that_the_tool_does_not_have_now_is_an_error() -> None:
    model = ScriptedModel([])
    both = {"desk": stdio("total"), "shop": stdio("total")}
    with pytest.raises(ConstraintError, match=r"the rule `a` names `total`.*`desk` is called `desk__total` now"):
        AgentWithConstraints(model=model, mcp_servers=both, constraints=[{"name": "a", "rule": "never(total)"}])
    one_down = {"desk": stdio("total"), "shop": {"command": "no-such-program"}}
    with pytest.raises(ConstraintError, match="the rule `a` names `desk__total`"):
        AgentWithConstraints(
            model=model, mcp_servers=one_down, constraints=[{"name": "a", "rule": "never(desk__total)"}]
        )
    group = [{"name": "a", "rule": "at_most(*total, 1)"}, {"name": "b", "rule": "never(elsewhere)"}]
    AgentWithConstraints(model=model, mcp_servers=both, constraints=group).close()


def test_calls_of_a_server_that_dies_in_the_middle_of_a_run_are_failed_calls_and_the_others_go_on() -> None:
    model = ScriptedModel(
        [("die", {"text": "out of paper"}), ("get_order", {"order_id": "W1"}), ("total", {"amounts": [1, 2]}), ANSWER]
    )
    rules = [{"name": "no_failure", "rule": "G !*[failed]", "severity": "TOLERATE"}]
    servers = {"desk": stdio("die", "get_order"), "shop": stdio("total")}
    with AgentWithConstraints(model=model, mcp_servers=servers, constraints=rules) as agent:
        result = agent.run("Go on.")
        assert list(agent.mcp_servers.errors) == ["desk"]
    check(result, guarded=True)
    assert [(name, got) for name, _, got in calls(result)] == [
        ("die", None), ("get_order", None), ("total", "3"), ("final_answer", "done"),
    ]  # fmt: skip
    assert [v["tool_name"] for v in result["metrics"]["constraint_violations"]] == ["die", "get_order"]
    error = result["metrics"]["steps"][0]["error"]
    assert "the MCP server `desk` has gone away" in error
    assert "out of paper" in error
    failed = [c.outcome for c in agent.guard.trace.calls[:2]]
    assert [outcome is not None and outcome.error is not None for outcome in failed] == [True, True]


def test_an_error_of_a_tool_is_a_failed_call() -> None:
    model = ScriptedModel([("refuse", {"text": "not today"}), ANSWER])
    with AgentWithAdditionalTools(model=model, mcp_servers={"desk": stdio("refuse")}) as agent:
        result = agent.run("Ask.")
    assert calls(result)[0] == ("refuse", {"text": "not today"}, None)
    assert "not today" in result["metrics"]["steps"][0]["error"]
    assert result.success


def test_both_transports_at_once(http: Callable[..., HttpServer]) -> None:  # noqa: F811
    shop = http("get_order")
    model = ScriptedModel([[("get_order", {"order_id": "W1"}), ("total", {"amounts": [1]})], ANSWER])
    servers = {"shop": {"url": shop.url}, "desk": stdio("total")}
    with AgentWithAdditionalTools(model=model, mcp_servers=servers) as agent:
        assert [name for name, _, got in calls(agent.run("Do both.")) if got] == ["get_order", "total", "final_answer"]


def test_the_connections_end_when_the_block_raises_and_when_the_run_does() -> None:
    def interrupt(*_: Any) -> Any:
        raise KeyboardInterrupt

    model = ScriptedModel([interrupt])
    with (
        pytest.raises(KeyboardInterrupt),
        AgentWithAdditionalTools(model=model, mcp_servers={"desk": stdio("total")}) as agent,
    ):
        agent.run("Stop.")
    assert agent.mcp_servers.closed
    assert agent.last_result is not None
    assert agent.last_result.interrupted


def test_after_close_a_run_is_an_error() -> None:
    agent = AgentWithAdditionalTools(model=ScriptedModel([ANSWER]), mcp_servers={"desk": stdio("total")})
    agent.close()
    agent.close()
    with pytest.raises(ConstraintError, match="have been closed"):
        agent.run("Go on.")
    with AgentWithAdditionalTools(model=ScriptedModel([ANSWER])) as alone:
        pass
    assert alone.run("Go on.").success


def test_an_agent_that_is_forgotten_ends_its_connections() -> None:
    agent = AgentWithAdditionalTools(model=ScriptedModel([]), mcp_servers={"desk": stdio("total")})
    gone = weakref.ref(agent)
    del agent
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"constraints": [{"name": "a", "rule": "never("}]}, ValueError),
        ({"constraints": [{"name": "a", "rule": "never(x)", "severity": "LOUD"}]}, ValueError),
    ],
)
def test_an_agent_that_cannot_be_made_leaves_no_connection(settings: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        AgentWithConstraints(model=ScriptedModel([]), mcp_servers={"desk": stdio("total")}, **settings)


def test_no_server_that_can_be_reached_is_an_error(tmp_path: Path) -> None:
    servers = {"desk": {"command": sys.executable, "args": [str(tmp_path / "lost.py")]}}
    with pytest.raises(McpServerError, match="the MCP server `desk` cannot be reached"):
        AgentWithAdditionalTools(model=ScriptedModel([]), mcp_servers=servers)
    with pytest.raises(ConstraintError, match="unknown setting `comand`"):
        AgentWithAdditionalTools(model=ScriptedModel([]), mcp_servers={"desk": {"command": "x", "comand": "y"}})
    with pytest.raises(ConstraintError, match="a mapping"):
        AgentWithAdditionalTools(model=ScriptedModel([]), mcp_servers=["desk"])  # type: ignore[arg-type]
