"""Clients of the earlier version of the protocol are answered at the same address."""

from typing import Any

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import StreamResponse

from tests.server.a2a_client import answer, message, post, run, state
from tests.server.conftest import Deploy, Held
from tests.server.test_gate import call

ANSWER = ("final_answer", {"answer": "red and blue"})
SAID = {"messageId": "1", "role": "user", "parts": [{"kind": "text", "text": "Go."}]}


def updates(url: str, *, streaming: bool) -> list[StreamResponse]:
    """What the SDK's client gets that knows only the earlier version."""

    async def get() -> list[StreamResponse]:
        async with httpx.AsyncClient(timeout=30, trust_env=False) as http:
            card = await A2ACardResolver(http, url).get_agent_card()
            del card.supported_interfaces[0]
            assert [one.protocol_version for one in card.supported_interfaces] == ["0.3"]
            client = ClientFactory(ClientConfig(streaming=streaming, httpx_client=http)).create(card)
            async with client:
                return [update async for update in client.send_message(message("Go."))]

    return run(get())


def test_a_task_is_sent(deploy: Deploy) -> None:
    task = updates(deploy([("ping", {"n": 1}), ANSWER]).url, streaming=False)[-1].task
    assert (state(task), answer(task)) == ("completed", "red and blue")


def test_a_task_is_followed(deploy: Deploy) -> None:
    told = updates(deploy([("ping", {"n": 1}), ANSWER], streams=True).url, streaming=True)
    pieces = [part.text for update in told for part in update.artifact_update.artifact.parts]
    assert "".join(pieces) == "red and blue"
    assert len(pieces) > 1


def test_its_methods_by_their_names(deploy: Deploy) -> None:
    task: dict[str, Any] = post(deploy([ANSWER]).url, call("message/send", message=SAID)).json()["result"]
    assert task["status"]["state"] == "completed"
    assert task["artifacts"][0]["parts"][0]["text"] == "red and blue"


def test_its_messages_need_a_slot_too(deploy: Deploy, held: Held) -> None:
    url = deploy([("hold", {}), ANSWER], agent={"tools": [held.tool]}, max_concurrent_runs=1).url
    body = call("message/send", message=SAID, configuration={"blocking": False})
    assert post(url, body).json()["result"]["status"]["state"] in ("submitted", "working")
    assert held.entered.acquire(timeout=30)
    assert post(url, body).status_code == 429
    assert post(url, call("message/stream", message=SAID)).status_code == 429
