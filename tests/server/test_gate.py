"""What is not let in, and what the client is told instead."""

import asyncio
import json
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest
from a2a.types import Part

from tests.server.a2a_client import TOKEN, ask, asked, connected, post, run, state
from tests.server.conftest import Deploy, Held

ANSWER = ("final_answer", {"answer": "done"})


def call(method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


def send(text: str = "Go.") -> bytes:
    return call("SendMessage", message={"messageId": "1", "role": "ROLE_USER", "parts": [{"text": text}]})


LIST = call("ListTasks")
V1 = {"a2a-version": "1.0"}


def test_without_the_token_only_the_card_is_given(deploy: Deploy) -> None:
    deployed = deploy([ANSWER], token=TOKEN)
    assert state(ask(deployed.url, "Go.", token=TOKEN)) == "completed"
    for given in ("", "Bearer", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN, "Bearer ünï"):
        refused = post(deployed.url, LIST, **V1, authorization=given.encode("latin-1"))  # type: ignore[arg-type]
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        assert "the token is missing or wrong" in refused.json()["error"]["message"]
    assert post(deployed.url, LIST, **V1, authorization=f"bearer {TOKEN}").status_code == 200
    assert post(deployed.agent_card_url or "", LIST, **V1).status_code == 401


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "[", "10.0.0.1", "a@127.0.0.1"]
)
def test_a_name_that_leads_here_is_not_let_in(deploy: Deploy, host: str) -> None:
    assert post(deploy([]).url, LIST, **V1, host=host).status_code in (400, 421)


def test_names_of_this_machine_and_what_a_proxy_says_with_a_token_are(deploy: Deploy) -> None:
    url = deploy([]).url
    for host in ("localhost", "localhost:1", "127.0.0.1", "[::1]:8", "LOCALHOST."):
        assert post(url, LIST, **V1, host=host).status_code == 200
    guarded = deploy([], token=TOKEN).url
    assert post(guarded, LIST, **V1, host="agents.example", authorization=f"Bearer {TOKEN}").status_code == 200


def test_pages_of_other_origins_are_not_let_in(deploy: Deploy) -> None:
    url = deploy([]).url
    port = urlsplit(url).port or 0
    for own in (url, f"http://localhost:{port}", f"http://127.0.0.1:{port}", f"http://[::1]:{port}"):
        assert post(url, LIST, **V1, origin=own).status_code == 200, own
    others = ["https://evil.example", f"http://evil.example:{port}", "null", "", "[", f"http://a@localhost:{port}"]
    others += ["http://localhost", "http://localhost:3000", f"http://127.0.0.1:{port + 1}", f"https://localhost:{port}"]
    others += [f"localhost:{port}", f"//localhost:{port}", f"http://localhost:{port}/", f"http://localhost:{port}x"]
    for other in others:
        assert post(url, LIST, **V1, origin=other).status_code == 403, other
    assert post(url, LIST, **V1, content_type="text/plain").status_code == 415
    guarded = deploy([], token=TOKEN).url
    authorization = f"Bearer {TOKEN}"
    assert post(guarded, LIST, **V1, origin="https://agents.example", authorization=authorization).status_code == 200


def test_a_body_that_is_too_large_is_refused_however_it_comes(deploy: Deploy) -> None:
    url = deploy([ANSWER], max_body_bytes=1000).url
    assert post(url, send("x" * 2000), **V1).status_code == 413
    assert post(url, send("x" * 100), **V1).json()["result"]["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
    address = (urlsplit(url).hostname or "", urlsplit(url).port or 0)
    with socket.create_connection(address, timeout=30) as raw:
        head = (
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        raw.sendall(head.encode() + b"400\r\n" + b" " * 1024 + b"\r\n")  # and no end
        assert b" 413 " in raw.recv(4096).split(b"\r\n")[0]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"[]", -32600),
        (b"17", -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ListTasks"}', -32600),
        (call("NoSuchMethod"), -32601),
        (call("SendMessage", message=[]), -32602),
        (call("SendMessage", message={"messageId": "1", "role": "ROLE_USER", "parts": [{"text": "  "}]}), -32602),
        (call("SendMessage", message={"messageId": "1", "role": "ROLE_USER", "parts": [{"url": "file:x"}]}), -32005),
        (call("GetTask", id="unknown"), -32001),
    ],
)
def test_what_is_no_request_is_an_error_of_the_protocol(deploy: Deploy, body: bytes, code: int) -> None:
    answer = post(deploy([]).url, body, **V1)
    assert answer.status_code == 200
    assert answer.json()["error"]["code"] == code


def test_a_message_over_the_limit_of_runs_is_told_that_the_agent_is_busy(deploy: Deploy, held: Held) -> None:
    deployed = deploy([("hold", {}), ANSWER, ANSWER], agent={"tools": [held.tool]}, max_concurrent_runs=1)

    async def go() -> None:
        async with connected(deployed.url) as client:
            first = asyncio.create_task(asked(client, [Part(text="Hold.")]))
            assert await asyncio.to_thread(held.entered.acquire, timeout=30)
            for body in (send(), send().replace(b"SendMessage", b"SendStreamingMessage")):
                busy = await asyncio.to_thread(post, deployed.url, body, **V1)
                assert (busy.status_code, busy.headers["retry-after"]) == (429, "1")
                assert "the agent is busy" in busy.json()["error"]["message"]
            assert (await asyncio.to_thread(post, deployed.url, LIST, **V1)).status_code == 200
            held.go_on.set()
            assert state(await first) == "completed"
            assert state(await asked(client, "Again.")) == "completed"

    run(go())


def test_messages_that_come_to_nothing_take_no_slot(deploy: Deploy) -> None:
    url = deploy([ANSWER], max_concurrent_runs=1).url
    for _ in range(3):
        assert "error" in post(url, call("SendMessage", message={}), **V1).json()
    assert state(ask(url, "Go.")) == "completed"


def test_other_methods_and_paths_are_not_there(deploy: Deploy) -> None:
    import httpx

    url = deploy([]).url
    with httpx.Client(trust_env=False) as http:
        assert http.get(url).status_code == 405
        assert http.get(f"{url}/docs").status_code == 404
