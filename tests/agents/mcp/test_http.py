"""Servers on streamable HTTP, on ports of this machine."""

import logging
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from agentltl import McpServerError, McpServers
from agentltl.agents.mcp import connection
from tests.agents.mcp.real import HttpServer, free_port

Http = Callable[..., HttpServer]
TOKEN = "tops3cret-token"


def call(servers: McpServers, name: str, /, **arguments: Any) -> Any:
    (tool,) = (tool for tool in servers.tools if tool.name == name)
    return tool(**arguments, sanitize_inputs_outputs=True)


@pytest.mark.usefixtures("nothing_left")
def test_tools_over_http(http: Http, caplog: pytest.LogCaptureFixture) -> None:
    server = http()
    caplog.set_level(logging.INFO)  # the SDK logs every answer for debugging, and one here holds the token
    settings = {"url": f"{server.url}?key={TOKEN}-query", "headers": {"Authorization": f"Bearer {TOKEN}"}}
    with McpServers({"desk": settings}) as servers:
        assert call(servers, "total", amounts=[1, 2]) == 3
        assert call(servers, "header", name="authorization") == f"Bearer {TOKEN}"
        shown = repr(servers) + repr(servers.tools) + repr(vars(servers))
    ours = "".join(record.getMessage() for record in caplog.records if record.name == "agentltl")
    rest = "".join(record.getMessage() for record in caplog.records)
    assert TOKEN not in shown + ours
    assert f"Bearer {TOKEN}" not in rest


@pytest.mark.usefixtures("nothing_left")
def test_a_server_that_dies_and_comes_back(http: Http, caplog: pytest.LogCaptureFixture) -> None:
    desk, shop = http("total"), http("get_order")
    headers = {"X-Key": TOKEN}
    with McpServers({"desk": {"url": desk.url, "headers": headers}, "shop": {"url": shop.url}}) as servers:
        assert call(servers, "total", amounts=[1]) == 1
        desk.kill()
        for _ in range(2):
            with pytest.raises(McpServerError, match="the MCP server `desk` ") as died:
                call(servers, "total", amounts=[1])
            assert TOKEN not in str(died.value)
        assert call(servers, "get_order", order_id="W1")["order_id"] == "W1"
        assert list(servers.errors) == ["desk"]
        desk.start()
        assert call(servers, "total", amounts=[2]) == 2
        assert servers.errors == {}
    ours = [r.getMessage().split("\n")[0] for r in caplog.records if r.name == "agentltl"]
    assert ours == ["the MCP server `desk` has gone away", "the MCP server `desk` is connected again"]
    assert TOKEN not in caplog.text


@pytest.mark.usefixtures("nothing_left")
def test_calls_that_run_when_the_server_dies_fail(http: Http, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_PING_SECONDS", 0.2)
    server = http("sleep", "die")
    with McpServers({"desk": {"url": server.url}}) as servers:
        failed: list[BaseException] = []

        def wait() -> None:
            try:
                call(servers, "sleep", seconds=0.3)
                call(servers, "sleep", seconds=30)
            except McpServerError as error:
                failed.append(error)

        threads = [threading.Thread(target=wait) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.1)
        server.kill()
        for thread in threads:
            thread.join(15)
        assert len(failed) == 3


@pytest.mark.usefixtures("nothing_left")
def test_a_server_that_is_started_anew_forgets_the_session_and_the_next_call_makes_another(http: Http) -> None:
    server = http("total")
    with McpServers({"desk": {"url": server.url}}) as servers:
        server.kill()
        server.start()
        with pytest.raises(McpServerError, match="has gone away"):
            call(servers, "total", amounts=[1])
        assert call(servers, "total", amounts=[1]) == 1


@pytest.mark.usefixtures("nothing_left")
def test_a_server_that_is_not_there() -> None:
    url = f"http://ada:{TOKEN}@127.0.0.1:{free_port()}/mcp?key={TOKEN}"
    with pytest.raises(McpServerError) as failed:
        McpServers({"desk": {"url": url, "headers": {"Authorization": TOKEN}}})
    assert str(failed.value).startswith("the MCP server `desk` cannot be reached\n")
    assert f"it is `{url.split('?')[0].replace(f'ada:{TOKEN}@', '')}`" in str(failed.value)
    assert TOKEN not in str(failed.value)


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", "401 Unauthorized"),
        (
            b"HTTP/1.1 307 Moved\r\nLocation: http://elsewhere.invalid/\r\nContent-Length: 0\r\n\r\n",
            "cannot be reached",
        ),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi", "within 1 seconds"),
        (b"", "within 1 seconds"),
    ],
    ids=["refuses", "sends elsewhere", "is none", "hangs"],
)
def test_a_server_that_does_not_start(answer: bytes, why: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        kept: list[socket.socket] = []

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                kept.append(connection)
                if answer:
                    connection.recv(65536)
                    connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        start = time.monotonic()
        with pytest.raises(McpServerError, match="the MCP server `desk` ") as failed:
            McpServers({"desk": {"url": f"http://127.0.0.1:{port}/mcp?key={TOKEN}", "start_timeout": 1}})
        assert why in str(failed.value)
        assert TOKEN not in str(failed.value)
        assert time.monotonic() - start < 5
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(5)
        for connection in kept:
            connection.close()
