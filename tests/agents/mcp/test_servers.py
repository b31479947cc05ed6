import copy
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL.Image import Image
from smolagents import AgentImage, CodeAgent, ToolCallingAgent
from smolagents.models import get_tool_json_schema

from agentltl import (
    CodeAgentWithConstraints,
    ConstraintError,
    McpServerError,
    McpServers,
    MissingExtraError,
    ToolCallingAgentWithConstraints,
    lint,
)
from agentltl.agents.mcp.errors import McpToolError
from agentltl.agents.models.scripted import ScriptedModel
from tests.agents.mcp.real import SERVER, Settings, children, stdio

SECRET = "tops3cret-value"


@pytest.fixture(scope="module")
def desk() -> Iterator[McpServers]:
    with McpServers({"desk": stdio(env={"API_KEY": SECRET})}) as servers:
        yield servers


def call(servers: McpServers, name: str, /, **arguments: Any) -> Any:
    (tool,) = (tool for tool in servers.tools if tool.name == name)
    return tool(**arguments, sanitize_inputs_outputs=True)


def test_tools_keep_their_names_and_say_what_they_take(desk: McpServers) -> None:
    tools = {tool.name: tool for tool in desk.tools}
    assert {"get_order", "pay-now", "die"} <= tools.keys()
    assert tools["get_order"].description == "Read an order."
    given = get_tool_json_schema(tools["cancel_order"])["function"]["parameters"]
    assert given["required"] == ["order_id"]
    assert given["properties"]["reason"]["enum"] == ["late", "wrong"]
    assert (given["properties"]["tags"]["type"], given["properties"]["tags"]["items"]) == ("array", {"type": "string"})
    assert get_tool_json_schema(tools["pay-now"])["function"]["name"] == "pay-now"


def test_results_are_what_the_tool_gave(desk: McpServers) -> None:
    order = call(desk, "get_order", order_id="W1")
    assert (order["order_id"], order["status"], order["server"] in children()) == ("W1", "pending", True)
    assert call(desk, "cancel_order", order_id="W1", tags=["x"]) == "W1 is cancelled (late, ['x'])"
    assert call(desk, "total", amounts=[1, 2]) == 3
    assert call(desk, "note", text="a") == "a\n[page: https://shop.invalid/page]\na"
    assert call(desk, "nothing") is None


def test_a_picture_is_an_image_and_with_text_one_of_several_parts(desk: McpServers) -> None:
    assert type(call(desk, "photo")) is AgentImage
    text, picture = call(desk, "photo", caption="a dot")
    assert (text, isinstance(picture, Image), picture.size) == ("a dot", True, (1, 1))
    with pytest.raises(McpToolError, match=r"a picture .image/png. that cannot be read"):
        call(desk, "broken_photo")


def test_a_call_that_fails_raises_what_the_server_says_and_the_server_goes_on(desk: McpServers) -> None:
    with pytest.raises(McpToolError, match=r"^no more orders$"):
        call(desk, "refuse", text="no more orders")
    with pytest.raises(McpToolError, match="valid list"):
        call(desk, "total", amounts="x")
    with pytest.raises(McpToolError, match="the arguments are no JSON"):
        call(desk, "total", amounts=[object()])
    assert call(desk, "total", amounts=[1]) == 1
    assert desk.errors == {}


def test_arguments_by_position_have_the_names_of_the_inputs(desk: McpServers) -> None:
    (tool,) = (tool for tool in desk.tools if tool.name == "cancel_order")
    assert tool("W1", "wrong") == "W1 is cancelled (wrong, None)"
    with pytest.raises(TypeError, match="twice"):
        tool("W1", order_id="W2")
    with pytest.raises(TypeError, match="takes 3 arguments, not 4"):
        tool("W1", "late", [], 1)


def test_calls_overlap(desk: McpServers) -> None:
    # The server's tools run in its one loop; that both calls are under way at once is what is looked at.
    results: list[str] = []
    threads = [threading.Thread(target=lambda: results.append(call(desk, "sleep", seconds=0.1))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert results == ["awake"] * 3


def test_the_environment_is_given_and_never_shown(desk: McpServers, caplog: pytest.LogCaptureFixture) -> None:
    assert call(desk, "setting", name="API_KEY") == SECRET
    with pytest.raises(McpToolError, match=r"\[hidden\] is not accepted") as failed:
        call(desk, "leak", name="API_KEY")
    shown = [str(failed.value), repr(failed.value), repr(desk), repr(desk.tools), repr(vars(desk)), caplog.text]
    assert not [text for text in shown if SECRET in text]


def test_tools_cannot_be_saved_and_are_shared_by_a_copy_of_an_agent(desk: McpServers, tmp_path: Any) -> None:
    agent = ToolCallingAgent(tools=[*desk.tools], model=ScriptedModel([]))
    assert copy.deepcopy(agent.tools)["total"] is agent.tools["total"]
    for save in (agent.to_dict, lambda: agent.save(tmp_path), lambda: agent.tools["total"].save(tmp_path)):
        with pytest.raises(ConstraintError, match="belongs to the MCP server `desk` and cannot be saved"):
            save()


def test_a_code_agent_of_smolagents_can_use_the_tools(desk: McpServers) -> None:
    model = ScriptedModel(["<code>\nfinal_answer(get_order('W9')['status'] + str(total([1, 2])))\n</code>"])
    assert CodeAgent(tools=[*desk.tools], model=model, verbosity_level=-1).run("Do it.") == "pending3"


@pytest.mark.parametrize("kind", [ToolCallingAgentWithConstraints, CodeAgentWithConstraints])
def test_a_call_is_judged_with_the_defaults_that_the_server_names(desk: McpServers, kind: Any) -> None:
    code = kind is CodeAgentWithConstraints
    replies: list[Any] = [
        ("cancel_order", {"order_id": "W5"}), ("cancel_order", {"order_id": "W6", "reason": "wrong"}),
        ("final_answer", {"answer": "done"}),
    ]  # fmt: skip
    if code:
        replies = [
            "<code>cancel_order('W5')</code>",
            "<code>cancel_order('W6', 'wrong')\nfinal_answer('done')</code>",
        ]
    rules = [{"name": "never-late", "rule": 'never(cancel_order(reason = "late"))', "severity": "PERSISTENT_BLOCK"}]
    agent = kind(desk.tools, ScriptedModel(replies), constraints=rules, verbosity_level=-1)
    assert agent.run("Cancel them.") == "done"
    (made,) = (call for call in agent.guard.trace.calls if call.tool == "cancel_order")
    assert made.args == {"order_id": "W6", "reason": "wrong", "tags": None}
    assert made.outcome is not None
    assert made.outcome.text == "W6 is cancelled (wrong, None)"


def test_lint_knows_the_tools(desk: McpServers) -> None:
    rules = [
        {"name": "a", "rule": "G !cancel_order(reazon = 1)"},
        {"name": "b", "rule": 'never("pay-later")'},
        {"name": "c", "rule": 'never(cancel_order(reason = "lost"))'},
        {"name": "d", "rule": 'G ("pay-now"(amount > 1) -> O get_order[ok])'},
    ]
    errors = [finding for finding in lint(rules, desk.tools) if finding.severity == "error"]
    assert [(str(finding).split("\n")[0], finding.constraints) for finding in errors] == [
        ("error: there is no argument `reazon` of `cancel_order`", ("a",)),
        ("error: there is no tool `pay-later`", ("b",)),
        ('error: `reason = "lost"` is true of no arguments that fit the schema of `cancel_order`', ("c",)),
    ]


@pytest.mark.usefixtures("nothing_left")
def test_a_server_that_dies_is_an_error_with_its_last_words_and_the_others_go_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    a, b = stdio("die", "get_order", env={"API_KEY": SECRET}), stdio("total")
    with McpServers({"a": a, "b": b}) as servers:
        with pytest.raises(McpServerError, match="`a` has gone away") as died:
            call(servers, "die", text=f"out of orders, {SECRET}")
        assert "it said: out of orders, [hidden]" in str(died.value)
        assert died.value.server == "a"
        start = time.monotonic()
        with pytest.raises(McpServerError, match="`a` has gone away"):
            call(servers, "get_order", order_id="W1")
        assert time.monotonic() - start < 1
        assert call(servers, "total", amounts=[1]) == 1
        assert list(servers.errors) == ["a"]
    assert [r.levelname for r in caplog.records if "has gone away" in r.message] == ["ERROR"]
    assert SECRET not in caplog.text


@pytest.mark.usefixtures("nothing_left")
def test_a_server_that_dies_between_calls_is_noticed_at_the_next_one() -> None:
    with McpServers({"desk": stdio("get_order", "total")}) as servers:
        os.kill(call(servers, "get_order", order_id="W1")["server"], signal.SIGKILL)
        for _ in range(2):
            with pytest.raises(McpServerError, match="`desk` has gone away"):
                call(servers, "total", amounts=[1])


@pytest.mark.usefixtures("nothing_left")
def test_calls_that_run_when_the_server_dies_fail_all() -> None:
    with McpServers({"desk": stdio("sleep", "die")}) as servers:
        errors: list[BaseException] = []

        def wait() -> None:
            try:
                call(servers, "sleep", seconds=0.2)
                call(servers, "sleep", seconds=20)
            except McpServerError as error:
                errors.append(error)

        threads = [threading.Thread(target=wait) for _ in range(2)]
        for thread in threads:
            thread.start()
        with pytest.raises(McpServerError):
            call(servers, "die")
        for thread in threads:
            thread.join(10)
        assert [error.server for error in errors] == ["desk", "desk"]  # type: ignore[attr-defined]


STUBBORN = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("I stay", file=sys.stderr, flush=True)
time.sleep(60)
"""
CANNOT_START: list[tuple[Settings, str]] = [
    ({"command": "no-such-program"}, "No such file or directory: 'no-such-program'"),
    ({"command": sys.executable, "args": ["-c", "import sys; sys.exit('bad settings')"]}, "it said: bad settings"),
    ({"command": sys.executable, "args": ["-c", "input(); input()"], "start_timeout": 0.5}, "within 0.5 seconds"),
    ({"command": sys.executable, "args": ["-c", STUBBORN], "start_timeout": 0.5}, "it said: I stay"),
    ({"command": sys.executable, "args": ["-c", "print('hello')"]}, "cannot be reached"),
    ({"command": sys.executable, "cwd": "no-such-folder"}, "no-such-folder"),
]


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize(("settings", "why"), CANNOT_START, ids=[why for _, why in CANNOT_START])
def test_a_server_that_cannot_start_is_an_error_that_names_it(settings: Settings, why: str) -> None:
    start = time.monotonic()
    with pytest.raises(McpServerError) as failed:
        McpServers({"shop": settings})
    assert str(failed.value).startswith("the MCP server `shop` ")
    assert why in str(failed.value)
    assert time.monotonic() - start < 15


@pytest.mark.usefixtures("nothing_left")
def test_the_others_go_on_when_a_server_cannot_start(caplog: pytest.LogCaptureFixture) -> None:
    with McpServers({"shop": {"command": "no-such-program"}, "desk": stdio("total")}) as servers:
        assert [tool.name for tool in servers.tools] == ["total"]
        assert [(r.levelname, r.message.split("\n")[0]) for r in caplog.records if r.name == "agentltl"] == [
            ("ERROR", "the MCP server `shop` cannot be reached")
        ]
        assert list(servers.errors) == ["shop"]
    with pytest.raises(McpServerError) as failed:
        McpServers({"shop": {"command": "no-such-program"}, "bank": {"command": "nor-this"}})
    assert "no-such-program" in str(failed.value)
    assert "nor-this" in str(failed.value)


@pytest.mark.usefixtures("nothing_left")
def test_a_call_that_takes_too_long_fails_and_the_next_one_does_not() -> None:
    with McpServers({"desk": stdio("sleep", "total", call_timeout=0.3)}) as servers:
        with pytest.raises(McpServerError, match=r"has not answered a call of `sleep` within 0\.3 seconds"):
            call(servers, "sleep", seconds=1)
        time.sleep(1)
        assert call(servers, "total", amounts=[1]) == 1


@pytest.mark.usefixtures("nothing_left")
def test_equal_names_are_kept_apart_by_server(caplog: pytest.LogCaptureFixture) -> None:
    shop, desk = stdio("total", "get_order"), stdio("total", "pay-now", "cancel_order")
    with McpServers({"shop": shop, "desk": desk}, taken=["cancel_order"]) as servers:
        assert sorted(tool.name for tool in servers.tools) == [
            "desk__cancel_order",
            "desk__total",
            "get_order",
            "pay-now",
            "shop__total",
        ]
        assert call(servers, "desk__total", amounts=[2]) == 2
        assert call(servers, "desk__cancel_order", order_id="W1").startswith("W1 is cancelled")
    said = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
    assert said == [
        "`total` of the MCP server `shop` is called `shop__total`: there is another",
        "`cancel_order` of the MCP server `desk` is called `desk__cancel_order`: there is another",
        "`total` of the MCP server `desk` is called `desk__total`: there is another",
    ]


@pytest.mark.usefixtures("nothing_left")
def test_closing_ends_the_calls_that_run_and_refuses_others() -> None:
    servers = McpServers({"desk": stdio("sleep")})
    failed: list[BaseException] = []

    def wait() -> None:
        try:
            call(servers, "sleep", seconds=30)
        except McpServerError as error:
            failed.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.3)
    servers.close()
    servers.close()
    thread.join(10)
    assert len(failed) == 1
    with pytest.raises(McpServerError, match="its connection has been closed"):
        call(servers, "sleep", seconds=0)


@pytest.mark.usefixtures("nothing_left")
def test_the_connections_end_when_nothing_uses_the_tools_any_more() -> None:
    tools = McpServers({"desk": stdio("total")}).tools
    gc.collect()
    assert tools[0](amounts=[4]) == 4
    del tools
    gc.collect()


LEFT_OPEN = """
import os, sys
from agentltl import McpServers
servers = McpServers({{"desk": {{"command": sys.executable, "args": [{server!r}, "--only", "get_order"]}}}})
print(servers.tools[0]("W1")["server"], flush=True)
{end}
"""


@pytest.mark.parametrize("end", ["", "raise ValueError('lost')", "sys.exit(3)"])
def test_the_servers_end_with_the_interpreter(end: str) -> None:
    script = LEFT_OPEN.format(server=str(SERVER), end=end)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == {"": 0, "sys.exit(3)": 3}.get(end, 1)
    assert [line for line in done.stderr.splitlines() if "Traceback" in line] == [
        "Traceback (most recent call last):"
    ] * ("raise" in end)
    assert not Path(f"/proc/{done.stdout.strip()}").exists()


def test_without_the_sdk_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name == "mcp" or name.startswith("mcp.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)  # type: ignore[arg-type]
    with pytest.raises(MissingExtraError, match=r"pip install 'agentltl\[mcp\]'"):
        McpServers({"desk": stdio()})


def test_nobody_needs_the_sdk_who_has_no_server() -> None:
    script = (
        "import agentltl, sys; agentltl.AgentWithAdditionalTools, agentltl.McpServers({}); print('mcp' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert shown.stdout.strip() == "False", shown.stderr
