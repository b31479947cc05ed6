"""The SDK's own client, with what a test says of a conversation in one call."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

import httpx
from a2a.client import Client, ClientConfig, create_client
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    StreamResponse,
    Task,
    TaskState,
)
from google.protobuf.json_format import MessageToDict

T = TypeVar("T")
TOKEN = "correct-horse-battery-staple"


def run(work: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run`, but the thread keeps the loop that it may have."""
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(work)


def message(text: str | list[Part], *, context: str = "", task: str = "", now: bool = False) -> SendMessageRequest:
    """A message of the user; `now` asks for an answer before the task is done."""
    parts = [Part(text=text)] if isinstance(text, str) else text
    said = Message(message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=parts, context_id=context, task_id=task)
    request = SendMessageRequest(message=said)
    request.configuration.return_immediately = now
    return request


@contextlib.asynccontextmanager
async def connected(url: str, *, streaming: bool = False, token: str | None = None) -> AsyncIterator[Client]:
    """A client of the server; it reads the card first."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(headers=headers, timeout=30, trust_env=False) as http:
        client = await create_client(url, ClientConfig(streaming=streaming, httpx_client=http))
        async with client:
            yield client


async def asked(client: Client, text: str | list[Part], **how: Any) -> Task:
    """The task that a message has become."""
    answers = [answer async for answer in client.send_message(message(text, **how))]
    return answers[-1].task


async def cancelled(client: Client, task: str) -> Task:
    return await client.cancel_task(CancelTaskRequest(id=task))


async def found(client: Client, task: str) -> Task:
    return await client.get_task(GetTaskRequest(id=task))


def ask(url: str, text: str | list[Part], *, token: str | None = None, **how: Any) -> Task:
    """One message, and the task when it is done."""

    async def one() -> Task:
        async with connected(url, token=token) as client:
            return await asked(client, text, **how)

    return run(one())


def follow(url: str, text: str, **how: Any) -> list[StreamResponse]:
    """One message, and all that its stream tells."""

    async def all_of_it() -> list[StreamResponse]:
        async with connected(url, streaming=True) as client:
            return [update async for update in client.send_message(message(text, **how))]

    return run(all_of_it())


def state(task: Task) -> str:
    """`completed`, `failed`, ..."""
    return TaskState.Name(task.status.state).removeprefix("TASK_STATE_").lower()


def said(task: Task) -> str:
    """What the task's status says."""
    return "".join(part.text for part in task.status.message.parts)


def answer(task: Task) -> str:
    return "".join(part.text for artifact in task.artifacts for part in artifact.parts)


def noted(thing: Any) -> dict[str, Any]:
    """What is in the metadata of a task or an update."""
    noted: dict[str, Any] = MessageToDict(thing.metadata).get("agentltl", {})
    return noted


def post(url: str, body: bytes | None = None, **headers: str) -> httpx.Response:
    """A request as no client of the SDK would make it."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    with httpx.Client(timeout=30, trust_env=False) as http:
        return http.post(url, content=body, headers={"content-type": "application/json", **given})
