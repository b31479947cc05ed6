"""Messages that name a task: only one that waits for input goes on, with one message at a time."""

import asyncio
from typing import Any

import pytest
from a2a.server.agent_execution import RequestContext
from a2a.server.context import ServerCallContext
from a2a.types import Task
from a2a.utils.errors import UnsupportedOperationError

from agentltl import AgentWithConstraints, Pending
from agentltl.server.conversations import Conversations
from agentltl.server.executor import Executor
from agentltl.server.gate import SLOT
from agentltl.server.slots import Slots
from agentltl.server.tasks import Tasks
from agentltl.testing import ScriptedModel
from tests.server.a2a_client import answer, ask, asked, connected, found, message, noted, post, run, state
from tests.server.conftest import Deploy, Held
from tests.server.test_gate import V1, call
from tests.server.test_tasks import save, task

ANSWER = ("final_answer", {"answer": "done"})
ASK_TWICE = {
    "constraints": [{"name": "once", "rule": "at_most_once(ping)", "severity": "ASK"}],
    "approve": lambda request: Pending(),
}


def to_task(url: str, task_id: str, method: str = "SendMessage") -> dict[str, Any]:
    """The error that a message to a task is answered with, empty where there is none."""
    said = {"messageId": "2", "role": "ROLE_USER", "parts": [{"text": "More."}], "taskId": task_id}
    answered = post(url, call(method, message=said), **V1)
    return answered.json().get("error", {}) if '"error"' in answered.text else {}


def test_a_task_that_works_takes_no_further_message(deploy: Deploy, held: Held) -> None:
    deployed = deploy([("hold", {}), ANSWER, ("final_answer", {"answer": "other"})], agent={"tools": [held.tool]})

    async def go() -> tuple[Task, list[dict[str, Any]], Task]:
        async with connected(deployed.url) as client:
            begun = await asked(client, "Hold.", now=True)
            assert await asyncio.to_thread(held.entered.acquire, timeout=30)
            methods = ("SendMessage", "SendStreamingMessage", "SendMessage")
            refused = await asyncio.gather(
                *(asyncio.to_thread(to_task, deployed.url, begun.id, method) for method in methods)
            )
            held.go_on.set()
            after = await asked(client, "After.", context=begun.context_id)
            return await found(client, begun.id), refused, after

    first, refused, after = run(go())
    assert {error["code"] for error in refused} == {-32004}
    assert {error["message"] for error in refused} == {
        f"task {first.id} is still working\nwait for its end, or send the message with the contextId alone"
    }
    assert (state(first), answer(first), len(first.history)) == ("completed", "done", 1)
    assert (answer(after), noted(after)["turn"]) == ("other", 2)


def test_a_task_that_has_ended_takes_none(deploy: Deploy) -> None:
    url = deploy([ANSWER]).url
    ended = ask(url, "Go.")
    error = to_task(url, ended.id)
    assert error["code"] == -32004
    assert error["message"].startswith(f"task {ended.id} has ended: it is completed\n")


def test_of_messages_at_once_to_a_task_that_waits_one_goes_on(deploy: Deploy) -> None:
    url = deploy([("ping", {"n": 1}), ("ping", {"n": 2}), *[ANSWER] * 6], agent=ASK_TWICE).url

    async def go() -> tuple[list[dict[str, Any]], Task]:
        async with connected(url) as client:
            waits = await asked(client, "Ping twice.")
            assert state(waits) == "input_required"
            told = await asyncio.gather(*(asyncio.to_thread(to_task, url, waits.id) for _ in range(6)))
            return told, await found(client, waits.id)

    told, at_last = run(go())
    assert sum(not error for error in told) == 1
    assert {error["code"] for error in told if error} == {-32004}
    assert (state(at_last), noted(at_last)["turn"]) == ("completed", 2)


def test_a_message_that_came_to_nothing_leaves_the_task_to_others() -> None:
    tasks, slots = Tasks(9), Slots(9)
    save(tasks, task("a", "INPUT_REQUIRED"))
    first, second = slots.reserve(), slots.reserve()
    assert first is not None
    assert second is not None
    tasks.take("a", first)
    tasks.take("a", first)
    with pytest.raises(UnsupportedOperationError, match="still working"):
        tasks.take("a", second)
    first.release()
    tasks.take("a", second)


def test_a_message_has_its_task_until_the_task_works() -> None:
    tasks, slots = Tasks(1), Slots(9)
    save(tasks, task("a", "INPUT_REQUIRED"))
    first, second = slots.reserve(), slots.reserve()
    assert first is not None
    assert second is not None
    tasks.take("a", first)
    first.taken = True
    first.release()  # the run is over, what it told is not kept yet
    save(tasks, task("a", "INPUT_REQUIRED"), task("b", "WORKING"))
    for kept in ("INPUT_REQUIRED", "WORKING"):
        save(tasks, task("a", kept))
        with pytest.raises(UnsupportedOperationError, match="still working"):
            tasks.take("a", second)
    save(tasks, task("a", "INPUT_REQUIRED"))
    assert tasks._states.keys() == {"b"}  # nobody has it any more
    tasks.take("unknown", second)


def test_a_message_whose_client_went_before_it_began_does_not_run_beside_a_later_one() -> None:
    async def go() -> tuple[Tasks, Slots]:
        tasks, slots = Tasks(9), Slots(9)
        await tasks.save(task("a", "INPUT_REQUIRED"), ServerCallContext())
        gone, later = slots.reserve(), slots.reserve()
        assert gone is not None
        assert later is not None
        tasks.take("a", gone)
        gone.release()
        tasks.take("a", later)
        agent = AgentWithConstraints([], ScriptedModel([]))
        executor = Executor(Conversations(agent, 9), tasks, slots, share=False, secrets=list)
        calling = ServerCallContext(state={SLOT: gone})
        context = RequestContext(calling, message("More.", task="a", context="c"), task_id="a", context_id="c")
        await executor.execute(context, None)  # type: ignore[arg-type]  # it tells nothing
        return tasks, slots

    tasks, slots = run(go())
    assert slots.free == 8
    assert list(tasks._taken) == ["a"]
