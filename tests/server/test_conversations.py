"""Messages of one context are one conversation; two contexts know nothing of each other."""

import asyncio
from typing import Any

from a2a.types import Task
from smolagents.models import ChatMessage

from tests.server.a2a_client import answer, ask, asked, connected, noted, run, state
from tests.server.conftest import Deploy, Held

ANSWER = ("final_answer", {"answer": "done"})
ONCE = [{"name": "once", "rule": "at_most_once(ping)"}]


def heard(messages: list[ChatMessage], tools: list[Any]) -> tuple[str, dict[str, Any]]:
    """Answers with the tasks that the model has been told of."""
    texts = [str(message.content) for message in messages]
    return "final_answer", {"answer": ",".join(word for word in ("RED", "BLUE", "GREEN") if word in str(texts))}


def test_a_context_goes_on_where_it_was(deploy: Deploy) -> None:
    url = deploy([heard] * 3).url
    first = ask(url, "RED")
    second = ask(url, "BLUE", context=first.context_id)
    other = ask(url, "GREEN")
    assert [answer(task) for task in (first, second, other)] == ["RED", "RED,BLUE", "GREEN"]
    assert [noted(task)["turn"] for task in (first, second, other)] == [1, 2, 1]
    assert second.context_id == first.context_id != other.context_id


def test_rules_hold_over_a_conversation_and_not_between_two(deploy: Deploy) -> None:
    calls = [("ping", {"n": 1}), ANSWER]
    url = deploy([*calls, *calls, ("ping", {"n": 2})], agent={"constraints": ONCE}).url
    first = ask(url, "Ping.")
    other = ask(url, "Ping.")
    again = ask(url, "Ping.", context=first.context_id)
    assert [state(task) for task in (first, other, again)] == ["completed", "completed", "rejected"]


def test_a_client_can_name_its_context(deploy: Deploy) -> None:
    url = deploy([heard] * 2).url
    assert ask(url, "RED", context="mine").context_id == "mine"
    assert answer(ask(url, "BLUE", context="mine")) == "RED,BLUE"


def test_the_context_unused_for_longest_is_forgotten(deploy: Deploy) -> None:
    url = deploy([heard] * 5, max_contexts=2).url
    for text, context in [("RED", "a"), ("RED", "b"), ("BLUE", "a"), ("RED", "c")]:
        ask(url, text, context=context)
    # b is gone, a was used after it
    task = ask(url, "GREEN", context="b")
    assert (answer(task), noted(task)["turn"]) == ("GREEN", 1)


def test_the_agent_that_is_deployed_has_no_part_in_it(deploy: Deploy) -> None:
    from agentltl import Agent
    from agentltl.testing import ScriptedModel

    agent = Agent(model=ScriptedModel([heard] * 3))
    agent.run("RED")
    with agent.deploy() as deployed:
        assert answer(ask(deployed.url, "BLUE")) == "BLUE"
    assert str(agent.run("GREEN", reset=False)) == "RED,GREEN"


def test_messages_of_one_context_wait_for_each_other(deploy: Deploy, held: Held) -> None:
    deployed = deploy([("hold", {}), heard, heard], agent={"tools": [held.tool]})

    async def go() -> tuple[Task, Task, bool]:
        async with connected(deployed.url) as client, connected(deployed.url) as other:
            first = asyncio.create_task(asked(client, "RED", context="one"))
            assert await asyncio.to_thread(held.entered.acquire, timeout=30)
            second = asyncio.create_task(asked(other, "BLUE", context="one"))
            _, waiting = await asyncio.wait({second}, timeout=0.3)
            held.go_on.set()
            return await first, await second, bool(waiting)

    first, second, waited = run(go())
    assert waited
    assert (answer(first), answer(second)) == ("RED", "RED,BLUE")


def test_contexts_run_beside_each_other(deploy: Deploy, held: Held) -> None:
    deployed = deploy([("hold", {}), ("hold", {}), ANSWER, ANSWER], agent={"tools": [held.tool]})

    async def go() -> list[Task]:
        async with connected(deployed.url) as client, connected(deployed.url) as other:
            both = [asyncio.create_task(asked(one, "Hold.")) for one in (client, other)]
            for _ in both:
                assert await asyncio.to_thread(held.entered.acquire, timeout=30)
            held.go_on.set()
            return await asyncio.gather(*both)

    assert [state(task) for task in run(go())] == ["completed", "completed"]
