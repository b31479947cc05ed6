"""Several calls in one message: what overlaps, in which order things come, and where waves make a difference."""

import contextvars
import threading
from itertools import pairwise
from typing import Any

import pytest
import smolagents.agents
from smolagents import Tool, ToolCallingAgent
from smolagents.agents import ToolOutput
from smolagents.memory import ActionStep, ToolCall
from smolagents.utils import AgentExecutionError

from agentltl.agents.tool_calling import ToolCallingAgentWithConstraints

VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")


def end(answer: Any = "done") -> tuple[str, Any]:
    return ("final_answer", {"answer": answer})


class Meet(Tool):
    """Returns when `parties` calls of it are inside at once; counts how many there are."""

    name = "meet"
    description = "Waits for the others."
    inputs = {"text": {"type": "any", "description": "Anything"}}  # noqa: RUF012
    output_type = "any"

    def __init__(self, parties: int, name: str = "meet") -> None:
        super().__init__()
        self.name = name
        self.barrier = threading.Barrier(parties, timeout=20)
        self.lock = threading.Lock()
        self.inside = self.most = 0
        self.seen: list[str] = []

    def forward(self, text: Any) -> Any:
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
            self.seen.append(VARIABLE.get())
        self.barrier.wait()
        with self.lock:
            self.inside -= 1
        return text


UNRELATED: dict[str, Any] = {"constraints": [{"name": "r", "rule": "precedence(read, write)"}]}
EVERY_CALL: dict[str, Any] = {"constraints": [{"name": "r", "rule": "at_most(*, 1000000)"}]}


@pytest.mark.parametrize("keywords", [{}, UNRELATED], ids=["no constraint", "unrelated"])
def test_unrelated_calls_overlap(keywords: Any, watch: Any) -> None:
    meet = Meet(3)
    message = [("meet", {"text": n}) for n in range(3)]
    seen = watch(ToolCallingAgentWithConstraints, [message, end()], [meet], **keywords)
    assert seen.answer == "done"
    assert seen.steps[0].observations == "0\n1\n2"
    assert meet.most == 3


@pytest.mark.parametrize("keywords", [{}, UNRELATED], ids=["no constraint", "unrelated"])
def test_the_overlap_is_bounded(keywords: Any, watch: Any) -> None:
    meet = Meet(2)
    message = [("meet", {"text": n}) for n in range(6)]
    seen = watch(ToolCallingAgentWithConstraints, [message, end()], [meet], max_tool_threads=2, **keywords)
    assert seen.answer == "done"
    assert meet.most == 2


def test_calls_that_a_rule_relates_run_one_after_another(watch: Any) -> None:
    meet = Meet(1)
    message = [("meet", {"text": n}) for n in range(5)]
    seen = watch(ToolCallingAgentWithConstraints, [message, end()], [meet], **EVERY_CALL)
    assert seen.answer == "done"
    assert meet.most == 1
    calls = seen.agent.guard.trace.calls
    assert all(before.outcome.end <= after.start for before, after in pairwise(calls))


def test_a_wave_ends_with_the_call_that_touches_a_rule(watch: Any, echo: Any) -> None:
    """The unrelated calls overlap with the related one that ends their wave; those after it wait for it."""
    first, second = Meet(3, "first"), Meet(2, "second")

    class Read(Tool):
        name = "read"
        description = "Reads with the first ones."
        inputs: dict[str, Any] = {}  # noqa: RUF012
        output_type = "string"

        def forward(self) -> str:
            assert second.seen == []
            first.forward("x")
            return "read"

    message = [("first", {"text": 1}), ("first", {"text": 2}), ("read", {}), ("second", {"text": 3}), ("second", "4")]
    rule = {"name": "r", "rule": "precedence(read, write)"}
    seen = watch(ToolCallingAgentWithConstraints, [message, end()], [first, second, Read()], constraints=[rule])
    assert seen.answer == "done"
    assert first.most == 3
    assert second.most == 2
    assert [call.tool for call in seen.agent.guard.trace.calls[:3]] == ["first", "first", "read"]


@pytest.mark.parametrize("keywords", [{}, UNRELATED], ids=["no constraint", "unrelated"])
def test_context_variables_reach_the_tools_as_in_the_base(keywords: Any, watch: Any) -> None:
    message = [("meet", {"text": n}) for n in range(3)]
    token = VARIABLE.set("from the caller")
    seen = []
    try:
        for agent_class, more in ((ToolCallingAgent, {}), (ToolCallingAgentWithConstraints, keywords)):
            meet = Meet(1)
            watch(agent_class, [message, ("meet", "x"), end()], [meet], **more)
            seen.append(meet.seen)
    finally:
        VARIABLE.reset(token)
    assert seen[0] == seen[1]
    if hasattr(smolagents.agents, "copy_context"):  # the oldest smolagents does not pass them on
        assert seen[1] == ["from the caller"] * 4


def test_all_calls_come_before_the_first_output(twins: Any, echo: Any) -> None:
    message = [("echo", {"text": n}) for n in range(3)]
    for seen in twins([message, end()], lambda: [echo()], stream=True):
        kinds = [type(event) for event in seen.events[:6]]
        assert kinds == [ToolCall] * 3 + [ToolOutput] * 3


def test_outputs_come_as_calls_finish(watch: Any, echo: Any) -> None:
    """The second call ends first, because the first one waits for its output."""
    for agent_class in (ToolCallingAgent, ToolCallingAgentWithConstraints):
        came = threading.Event()

        class Slow(Tool):
            name = "slow"
            description = "Waits."
            inputs: dict[str, Any] = {}  # noqa: RUF012
            output_type = "string"

            def forward(self, came: Any = came) -> str:
                assert came.wait(20)
                return "slow"

            skip_forward_signature_validation = True

        def run(agent: Any, came: Any = came) -> None:
            agent.order = []
            for event in agent.run("Do it.", stream=True):
                if isinstance(event, ToolOutput):
                    agent.order.append(event.observation)
                    came.set()

        seen = watch(
            agent_class, [[("slow", {}), ("echo", {"text": "quick"})], end(), end()], [Slow(), echo()], prepare=run
        )
        assert seen.agent.order[:2] == ["quick", "slow"]


def test_the_step_is_ordered_by_id(twins: Any, echo: Any) -> None:
    message = [("echo", {"text": id}, id) for id in ("c", "a", "b")]
    for seen in twins([message, end()], lambda: [echo()]):
        assert [call.id for call in seen.steps[0].tool_calls] == ["a", "b", "c"]
        assert seen.steps[0].observations == "a\nb\nc"


def test_a_failing_call_does_not_keep_the_others_from_running(twins: Any, echo: Any) -> None:
    message = [("echo", {"text": "fail"}), ("other", {"text": 1}), ("nothing", {}), ("other", {"text": 2})]
    base, ours = twins([message, end()], lambda: [echo(), echo("other")])
    for seen in (base, ours):
        assert sorted(seen.agent.tools["other"].got) == [1, 2]
        assert isinstance(seen.steps[0].error, AgentExecutionError)
        assert seen.answer == "done"


def test_an_error_in_a_single_wave_leaves_the_step_as_the_base_does(watch: Any, echo: Any) -> None:
    message = [("echo", {"text": "fail"}), ("other", {"text": 1})]
    pictures = []
    for agent_class in (ToolCallingAgent, ToolCallingAgentWithConstraints):
        seen = watch(agent_class, [message, end()], [echo(), echo("other")], stream=True)
        picture = seen.picture()
        # Whether the other output came before the error is a matter of time.
        picture["events"] = [event for event in picture["events"] if event["kind"] != "ToolOutput"]
        picture["console"] = sorted(seen.log.splitlines())
        pictures.append(picture)
    assert pictures[0] == pictures[1]
    assert seen.steps[0].tool_calls is None


def test_an_error_in_one_of_several_waves_keeps_what_the_others_did(watch: Any, echo: Any) -> None:
    message = [("echo", {"text": 1}), ("echo", {"text": "fail"}), ("echo", {"text": 2})]
    seen = watch(ToolCallingAgentWithConstraints, [message, end()], [echo()], **EVERY_CALL)
    step = seen.steps[0]
    assert "fail" in str(step.error)
    assert step.observations == "1\n2"
    assert len(step.tool_calls) == 3
    assert seen.answer == "done"


def test_final_answer_beside_another_call(twins: Any, echo: Any) -> None:
    """All of them run, the step is an error and the run goes on."""
    for order in (1, -1):
        message = [("echo", {"text": 1}), end("early")][::order]
        base, ours = twins([message, end("late")], lambda: [echo()])
        for seen in (base, ours):
            assert seen.answer == "late"
            assert seen.agent.tools["echo"].got == [1]
            assert "please do not perform any other tool calls" in str(seen.steps[0].error)
            assert not seen.steps[0].is_final_answer
        assert type(ours.steps[0].error) is type(base.steps[0].error)
        assert "early" in [call.outcome.text for call in ours.agent.guard.trace.calls]


def test_two_final_answers(twins: Any) -> None:
    base, ours = twins([[end(1), end(2)], end(3)], [])
    assert (base.answer, ours.answer) == (3, 3)
    assert type(ours.steps[0].error) is type(base.steps[0].error)
    assert [call.outcome.value for call in ours.agent.guard.trace.calls] == [1, 2, 3]


def test_two_final_answers_that_a_rule_judges_run_both(watch: Any) -> None:
    rule = {"name": "r", "rule": "at_most(final_answer, 9)"}
    seen = watch(ToolCallingAgentWithConstraints, [[end(1), end(2)], end(3)], [], constraints=[rule])
    assert seen.answer == 3
    assert "please do not perform any other tool calls" in str(seen.steps[0].error)
    assert [call.outcome.value for call in seen.agent.guard.trace.calls] == [1, 2, 3]


def test_of_two_final_answers_the_second_is_refused(watch: Any) -> None:
    rule = {"name": "r", "rule": "at_most(final_answer, 2)", "severity": "PERSISTENT_BLOCK"}
    message = [[end(1), end(2), end(3)], ("nothing", {}), "over"]
    seen = watch(ToolCallingAgentWithConstraints, message, [], constraints=[rule], max_steps=2, stream=True)
    assert "please do not perform any other tool calls" in str(seen.steps[0].error)
    assert [event.output for event in seen.events if type(event) is ToolOutput] == [1]
    assert [call.outcome.value for call in seen.agent.guard.trace.calls] == [1, 2]


def test_of_several_errors_the_first_is_told(watch: Any, echo: Any) -> None:
    message = [("echo", {"text": f"fail {n}"}) for n in (1, 2)]
    seen = watch(ToolCallingAgentWithConstraints, [message, end()], [echo()], **EVERY_CALL)
    assert "fail 1" in str(seen.steps[0].error)
    assert seen.agent.tools["echo"].got == ["fail 1", "fail 2"]


def test_a_consumer_that_leaves_in_the_middle_leaves_no_call_open(watch: Any, echo: Any) -> None:
    def leave(agent: Any) -> None:
        from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction
        from smolagents.monitoring import Timing

        calls = [
            ChatMessageToolCall(ChatMessageToolCallFunction({"text": n}, "echo"), str(n), "function") for n in (1, 2)
        ]
        events = agent.process_tool_calls(ChatMessage("assistant", "", calls), ActionStep(1, Timing(0.0)))
        while not isinstance(next(events), ToolOutput):
            pass
        events.close()
        assert [call.outcome.ok for call in agent.guard.trace.calls] == [True, True]

    watch(ToolCallingAgentWithConstraints, [end()], [echo()], prepare=leave)
