"""How long a fan-out takes beside as many rounds of single runs, and what it leaves in memory.

200 requirements, 16 workers, and a model that sleeps 50 ms in each of its three calls: perfect workers would take
ceil(200 / 16) = 13 single runs. Every agent is constrained, each makes two calls, and each call is judged.
"""

from __future__ import annotations

import argparse
import gc
import math
import os
import statistics
import sys
import time
import tracemalloc
from typing import Any

# Must be there before litellm is first imported, or it fetches a price list.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole, Model

from agentltl import AgentWithSubAgents, SubAgentsResult, tool

REQUIREMENTS, WORKERS, SECONDS, TARGET = 200, 16, 0.05, 1.3
TEMPLATE = "Look after {requirement_id}: {requirement_description}\n{tasks}"
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("read_order", {"order": "W1"}),
    ("change_order", {"order": "W1"}),
    ("final_answer", {"answer": "It is changed."}),
]


@tool
def read_order(order: str) -> str:
    """Read an order."""
    return f"{order} is open"


@tool
def change_order(order: str) -> str:
    """Change an order."""
    return f"{order} is changed"


class Sleepy(Model):
    """Sleeps, and makes the call that comes next in its conversation."""

    def __init__(self, seconds: float) -> None:
        super().__init__(model_id="sleepy")
        self.seconds = seconds

    def generate(self, messages: list[ChatMessage], *_: Any, **__: Any) -> ChatMessage:
        """One reply."""
        time.sleep(self.seconds)
        name, arguments = CALLS[sum(message.role == MessageRole.TOOL_CALL for message in messages)]
        function = ChatMessageToolCallFunction(name=name, arguments=arguments)
        call = ChatMessageToolCall(function=function, id="call_1", type="function")
        return ChatMessage(role=MessageRole.ASSISTANT, content=None, tool_calls=[call])


def agent_of(seconds: float) -> AgentWithSubAgents:
    """An agent under two rules, whose model sleeps for so long."""
    rules = [
        {"name": "read-first", "rule": "before(read_order, change_order)"},
        {"name": "once", "rule": "forall ?o. at_most_once(change_order(order = ?o))"},
    ]
    return AgentWithSubAgents([read_order, change_order], Sleepy(seconds), constraints=rules)


def fanned(agent: AgentWithSubAgents, requirements: int, workers: int) -> SubAgentsResult:
    """The result of a fan-out; an error in it is one of the benchmark."""
    wanted = {f"order-{n}": f"order number {n}" for n in range(requirements)}
    result = agent.run_per_requirement(wanted, {id: ["change it"] for id in wanted}, TEMPLATE, max_workers=workers)
    assert [entry["requirement_id"] for entry in result["sub_results"]] == list(wanted), "the order is another"
    assert all(entry["answer"] == "It is changed." for entry in result["sub_results"]), "a sub-agent has failed"
    return result


def speed(rounds: int) -> list[float]:
    """The ratio to as many single runs as the busiest worker has to do, once for each round."""
    agent = agent_of(SECONDS)
    fanned(agent, WORKERS, WORKERS)
    ratios = []
    for _ in range(rounds):
        began = time.perf_counter()
        agent.run("Change the order.")
        single = time.perf_counter() - began
        began = time.perf_counter()
        fanned(agent, REQUIREMENTS, WORKERS)
        took = time.perf_counter() - began
        ratios.append(took / (math.ceil(REQUIREMENTS / WORKERS) * single))
        print(f"one run {single * 1e3:6.1f} ms   {REQUIREMENTS} in {took:5.2f} s   ratio {ratios[-1]:4.2f}")
    return ratios


def made() -> float:
    """Milliseconds of this process for one child without a sleeping model: made, run, and its result."""
    agent, children = agent_of(0.0), 200
    fanned(agent, 20, 1)
    began = time.process_time()
    fanned(agent, children, 1)
    return (time.process_time() - began) * 1e3 / children


def left() -> tuple[float, float]:
    """Kilobytes that a fan-out's result holds for each requirement, and what is left of them when it is dropped."""
    agent = agent_of(0.0)
    fanned(agent, 20, WORKERS)
    tracemalloc.start()
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    result: SubAgentsResult | None = fanned(agent, REQUIREMENTS, WORKERS)
    gc.collect()
    held = tracemalloc.get_traced_memory()[0] - before
    del result
    gc.collect()
    after = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return held / 1024 / REQUIREMENTS, after / 1024 / REQUIREMENTS


def main() -> int:
    """Print the figures; 1 if the ratio misses its target."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=5, help="how often the fan-out is timed")
    ratios = speed(options.parse_args().rounds)
    median = statistics.median(ratios)
    print(f"median ratio {median:.2f}, target at most {TARGET}: {'met' if median <= TARGET else 'MISSED'}")
    print(f"a child takes {made():.2f} ms of one processor, made, run and recorded")
    held, after = left()
    print(f"a requirement's result holds {held:.1f} kB; {after:.2f} kB are left of it when the result is dropped")
    return 0 if median <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
