"""A scripted run of an agent class, with everything about it that can be seen from outside."""

import ast
import io
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import pytest
from rich.console import Console
from smolagents import Tool, ToolCallingAgent
from smolagents.memory import ActionStep, FinalAnswerStep, ToolCall
from smolagents.monitoring import AgentLogger, LogLevel

from agentltl.agents.models import retry
from agentltl.agents.models.scripted import Script, ScriptedModel
from agentltl.agents.tool_calling import ToolCallingAgentWithConstraints

_parse = ast.parse


def _patient(*args: Any, **keywords: Any) -> Any:
    """`ast.parse`; Python 3.11 counts its depth for all threads together, and fails at times when two parse at once."""
    for _ in range(9):
        try:
            return _parse(*args, **keywords)
        except SystemError:
            continue
    return _parse(*args, **keywords)


if sys.version_info < (3, 12):
    ast.parse = _patient

UUID = r"[0-9a-f]{8}-[0-9a-f-]{27}"

EVERY_CALL: dict[str, Any] = {"constraints": [{"name": "every", "rule": "at_most(*, 1000000)"}]}
"""A constraint that each call touches and none breaks."""


@dataclass
class Watched:
    """What came of one run or several: `events` only of streamed ones, `ends` an answer or an error of each."""

    agent: Any
    model: ScriptedModel
    ends: list[Any] = field(default_factory=list)
    errors: list[BaseException | None] = field(default_factory=list)
    events: list[Any] = field(default_factory=list)
    console: io.StringIO = field(default_factory=io.StringIO)

    @property
    def answer(self) -> Any:
        return self.ends[-1]

    @property
    def error(self) -> BaseException | None:
        return self.errors[-1]

    @property
    def steps(self) -> list[ActionStep]:
        return [step for step in self.agent.memory.steps if isinstance(step, ActionStep)]

    @property
    def log(self) -> str:
        """What the console shows, without durations and the names of temporary files."""
        text = re.sub(r"Duration \S+ seconds", "Duration", self.console.getvalue())
        return re.sub(rf"\S*{UUID}(\.png)?", "uuid", text)

    @property
    def overlapping(self) -> bool:
        """Calls of one message may log in any order."""
        return any(len(step.tool_calls or ()) > 1 for step in self.steps)

    def picture(self) -> dict[str, Any]:
        """All of it as plain data that two classes can be compared by."""
        return {
            "ends": [plain(end) for end in self.ends],
            "errors": [error and (type(error).__name__, str(error), plain(error.__cause__)) for error in self.errors],
            "events": in_order([plain(event) for event in self.events]),
            "memory": [plain(step) for step in self.agent.memory.steps],
            "prompts": [
                ([plain(message) for message in r.messages], r.tool_names, plain(r.settings))
                for r in self.model.requests
            ],
            "console": sorted(self.log.splitlines()) if self.overlapping else self.log,
            "tokens": plain(self.agent.monitor.get_total_token_counts()),
            "state": {name: plain(value) for name, value in self.agent.state.items()},
            "tools": list(self.agent.tools),
            "step_number": self.agent.step_number,
        }


def plain(value: Any) -> Any:
    """A value as data that compares: times are left out, and of objects only their kind is kept."""
    match value:
        case None | bool() | int() | float() | str():
            text = re.sub(UUID, "uuid", value) if isinstance(value, str) else value
            return (type(value).__name__, str(text)) if type(value) not in (bool, int, float, str, type(None)) else text
        case dict():
            return {str(name): plain(inner) for name, inner in value.items()}
        case list() | tuple():
            return [plain(inner) for inner in value]
        case BaseException():
            return [type(value).__name__, str(value)]
        case _ if hasattr(value, "__dataclass_fields__"):
            names = [f.name for f in fields(value) if f.name != "timing"]
            return {"kind": type(value).__name__} | {name: plain(getattr(value, name)) for name in names}
    return type(value).__name__


def in_order(events: list[Any]) -> list[Any]:
    """Events with neighbouring outputs of calls by id: calls that overlap may come out in any order."""
    kinds = [event["kind"] if isinstance(event, dict) and "kind" in event else None for event in events]
    start = 0
    ordered: list[Any] = []
    while start < len(events):
        end = start + 1
        if kinds[start] == "ToolOutput":
            while end < len(events) and kinds[end] == "ToolOutput":
                end += 1
        ordered += sorted(events[start:end], key=lambda event: str(event.get("id")) if end - start > 1 else "")
        start = end
    return ordered


Watch = Callable[..., Watched]


@pytest.fixture
def watch() -> Watch:
    """Run a script: `watch(AgentClass, replies, tools, runs=[{...}], stream=..., **keywords of the agent)`."""

    def watch(
        agent_class: type[ToolCallingAgent],
        replies: Sequence[Script],
        tools: Sequence[Tool] = (),
        *,
        runs: Sequence[dict[str, Any]] = ({},),
        stream: bool = False,
        prepare: Callable[[Any], None] | None = None,
        **keywords: Any,
    ) -> Watched:
        model = ScriptedModel(replies, streaming=bool(keywords.get("stream_outputs")))
        console = io.StringIO()
        logger = AgentLogger(
            level=LogLevel.DEBUG, console=Console(file=console, width=200, color_system=None, log_time=False)
        )
        agent = agent_class(list(tools), model, logger=logger, **keywords)
        seen = Watched(agent, model, console=console)
        if prepare is not None:
            prepare(agent)
        for run in runs:
            run = {"task": "Do it.", "stream": stream} | run
            try:
                result = agent.run(**run)
                if run["stream"]:
                    for event in result:
                        seen.events.append(event)
                    last = seen.events[-1]
                    result = last.output if isinstance(last, FinalAnswerStep) else None
                seen.ends.append(result)
                seen.errors.append(None)
            except Exception as error:
                seen.ends.append(None)
                seen.errors.append(error)
        return seen

    return watch


@pytest.fixture(params=["no constraint", "every call"])
def keywords(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The keywords for our class under which it must be the base class."""
    return EVERY_CALL if request.param == "every call" else {}


Twins = Callable[..., tuple[Watched, Watched]]


@pytest.fixture
def twins(watch: Watch, keywords: dict[str, Any]) -> Twins:
    """The same script run by smolagents' class and by ours."""

    def twins(replies: Callable[[], Sequence[Script]] | Sequence[Script], *args: Any, **more: Any) -> Any:
        tools = args[0] if args else ()
        results = []
        for agent_class, own in ((ToolCallingAgent, {}), (ToolCallingAgentWithConstraints, keywords)):
            made = tools() if callable(tools) else tools
            script = replies() if callable(replies) else replies
            results.append(watch(agent_class, script, made, **more, **own))
        return tuple(results)

    return twins


class Echo(Tool):
    """Says what it was given, and remembers it."""

    name = "echo"
    description = "Says what it was given."
    inputs = {"text": {"type": "any", "description": "What to say"}}  # noqa: RUF012
    output_type = "any"

    def __init__(self, name: str = "echo") -> None:
        super().__init__()
        self.name = name
        self.got: list[Any] = []

    def forward(self, text: Any) -> Any:
        self.got.append(text)
        if isinstance(text, str) and text.startswith("fail"):
            raise ValueError(text)
        return text


@pytest.fixture
def echo() -> Callable[..., Echo]:
    return Echo


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits between two calls of a model, in seconds; they take no time."""
    waited: list[float] = []
    monkeypatch.setattr(retry, "pause", waited.append)
    return waited


def calls_of(events: Sequence[Any]) -> list[str]:
    return [event.id for event in events if isinstance(event, ToolCall)]
