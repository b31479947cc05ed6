"""A task that is ended before its time, by its client or with the server."""

import asyncio
import contextlib
import time

from a2a.types import StreamResponse, Task, TaskState
from a2a.utils.errors import TaskNotCancelableError

from tests.server.a2a_client import asked, cancelled, connected, found, message, noted, run, state
from tests.server.conftest import Deploy, Held

ANSWER = ("final_answer", {"answer": "done"})
LAST = TaskState.TASK_STATE_CANCELED


async def entered(held: Held) -> None:
    assert await asyncio.to_thread(held.entered.acquire, timeout=30)


def test_a_cancelled_task_calls_no_more_tools(deploy: Deploy, held: Held) -> None:
    deployed = deploy([("hold", {}), ("hold", {}), ANSWER], agent={"tools": [held.tool]})

    async def go() -> tuple[Task, Task]:
        async with connected(deployed.url) as client:
            task = await asked(client, "Hold.", now=True)
            await entered(held)
            asyncio.get_running_loop().call_later(0.2, held.go_on.set)
            ended = await cancelled(client, task.id)
            return ended, await found(client, task.id)

    ended, kept = run(go())
    assert (state(ended), state(kept)) == ("canceled", "canceled")
    assert noted(kept)["ending"] == "cancelled"
    assert noted(kept)["usage"]["model_calls"] == 1
    assert not held.entered.acquire(timeout=0.2)


def test_who_follows_a_task_sees_it_cancelled(deploy: Deploy, held: Held) -> None:
    deployed = deploy([("hold", {}), ANSWER], agent={"tools": [held.tool]})

    async def go() -> list[StreamResponse]:
        async with connected(deployed.url, streaming=True) as client:
            updates = []
            async for update in client.send_message(message("Hold.")):
                updates.append(update)
                if noted(update.status_update).get("tool_call", {}).get("status") == "started":
                    await entered(held)
                    asyncio.get_running_loop().call_later(0.2, held.go_on.set)
                    await cancelled(client, updates[0].task.id)
            return updates

    assert run(go())[-1].status_update.status.state == LAST


def test_a_run_that_does_not_end_is_left_behind(deploy: Deploy, held: Held) -> None:
    """The client is told in time, and the conversation goes on when the tool has ended."""
    deployed = deploy([("hold", {}), ANSWER, ANSWER], agent={"tools": [held.tool]}, max_concurrent_runs=2)

    async def go() -> tuple[Task, Task]:
        async with connected(deployed.url) as client:
            task = await asked(client, "Hold.", now=True)
            await entered(held)
            ended = await cancelled(client, task.id)
            asyncio.get_running_loop().call_later(0.3, held.go_on.set)
            return ended, await asked(client, "Go on.", context=task.context_id)

    ended, after = run(go())
    assert (state(ended), state(after)) == ("canceled", "completed")


def test_what_has_ended_cannot_be_cancelled(deploy: Deploy) -> None:
    deployed = deploy([ANSWER])

    async def go() -> None:
        async with connected(deployed.url) as client:
            task = await asked(client, "Go.")
            with contextlib.suppress(TaskNotCancelableError):
                await cancelled(client, task.id)
                raise AssertionError("it was cancelled")

    run(go())


def test_a_client_that_goes_away_does_not_end_its_task(deploy: Deploy, held: Held) -> None:
    deployed = deploy([("hold", {}), ANSWER], agent={"tools": [held.tool]})

    async def leave() -> str:
        async with connected(deployed.url, streaming=True) as client:
            async for update in client.send_message(message("Hold.")):
                await entered(held)
                return update.task.id
        raise AssertionError("nothing was told")

    async def return_to(task: str) -> Task:
        async with connected(deployed.url) as client:
            while state(kept := await found(client, task)) in ("submitted", "working"):
                await asyncio.sleep(0.02)
            return kept

    task = run(leave())
    held.go_on.set()
    assert state(run(return_to(task))) == "completed"


def test_close_ends_running_tasks_as_cancelled(deploy: Deploy, held: Held) -> None:
    deployed = deploy([("hold", {}), ANSWER], agent={"tools": [held.tool]})

    async def go() -> list[StreamResponse]:
        async with connected(deployed.url, streaming=True) as client:
            updates = []
            closing = None
            async for update in client.send_message(message("Hold.")):
                updates.append(update)
                if noted(update.status_update).get("tool_call") and closing is None:
                    await entered(held)
                    closing = asyncio.create_task(asyncio.to_thread(deployed.close))
                    asyncio.get_running_loop().call_later(0.2, held.go_on.set)
            assert closing is not None
            await closing
            return updates

    updates = run(go())
    assert updates[-1].status_update.status.state == LAST
    assert deployed.status == "closed"


def test_close_does_not_wait_for_a_tool_that_hangs(deploy: Deploy, held: Held) -> None:
    deployed = deploy([("hold", {}), ANSWER], agent={"tools": [held.tool]})

    async def go() -> None:
        async with connected(deployed.url) as client:
            await asked(client, "Hold.", now=True)
            await entered(held)

    run(go())
    began = time.monotonic()
    deployed.close()
    assert time.monotonic() - began < 25  # the tool would wait for longer
    assert deployed.status == "closed"
