"""Ways around the guard: the table of those that are tried, and runs of both guarded agents with and without rules."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from smolagents import Tool

from agentltl.agents.code import CodeAgentWithConstraints
from agentltl.agents.models.scripted import ScriptedModel
from agentltl.agents.tool_calling import ToolCallingAgentWithConstraints
from agentltl.errors import ConstraintViolationError
from tests.agents.conftest import Echo

TOOL_CALLING, CODE = "tool-calling", "code"
KINDS: dict[str, Any] = {TOOL_CALLING: ToolCallingAgentWithConstraints, CODE: CodeAgentWithConstraints}
BLOCK, STOP = "PERSISTENT_BLOCK", "HARD_STOP"
NEVER = "never(write)"
SECRET = 'G !write(text ~ "*secret*")'
A = {"text": "a"}
END = ("final_answer", {"answer": "done"})
ASK = ("member", {"task": "Do your part.", "additional_args": {}})

_Test = TypeVar("_Test", bound=Callable[..., None])


@dataclass(frozen=True)
class Way:
    """A row of the page: a way, the agents that it is tried with, and what happens."""

    name: str
    agents: str
    happens: str

    def __str__(self) -> str:
        return f"| {self.name} | {self.agents} | {self.happens} |"


closed: list[Way] = []
left: list[Way] = []


def way(name: str, happens: str, agents: str = "both") -> Callable[[_Test], _Test]:
    """The test tries this way, and it is closed."""
    return _listed(closed, Way(name, agents, happens))


def open_way(name: str, happens: str, agents: str = "both") -> Callable[[_Test], _Test]:
    """The test takes this way, and nothing stops it."""
    return _listed(left, Way(name, agents, happens))


def _listed(rows: list[Way], row: Way) -> Callable[[_Test], _Test]:
    def keep(test: _Test) -> _Test:
        rows.append(row)
        return test

    return keep


def table(rows: Sequence[Way]) -> str:
    """The rows as they stand on the page."""
    return "\n".join(["| way | agent | what happens |", "| --- | --- | --- |", *map(str, rows)])


def rule(text: str, severity: str = STOP, **more: Any) -> dict[str, Any]:
    return {"name": "the-rule", "rule": text, "severity": severity, **more}


def tools() -> list[Any]:
    return [Echo("read"), Echo("write"), Echo("other")]


class Pay(Tool):
    """Pays, with inputs in another order than its parameters."""

    name = "pay"
    description = "Pays."
    inputs = {  # noqa: RUF012
        "amount": {"type": "any", "description": "How much", "nullable": True},
        "to": {"type": "any", "description": "Whom"},
    }
    output_type = "any"

    def __init__(self) -> None:
        super().__init__()
        self.got: list[Any] = []

    def forward(self, to: Any, amount: Any = 100) -> Any:
        self.got.append((to, amount))
        return f"paid {amount}"


@dataclass
class Ran:
    """An agent after its runs; `ends` has the answer or the error of each."""

    agent: Any
    model: ScriptedModel
    ends: list[Any] = field(default_factory=list)

    def got(self, tool: str = "write") -> list[Any]:
        """What has reached the tool."""
        return list(self.agent.tools[tool].got)

    @property
    def end(self) -> Any:
        return self.ends[-1]

    @property
    def events(self) -> list[str]:
        return list(self.agent.guard.trace.events)

    @property
    def text(self) -> str:
        """The errors and observations of the steps."""
        steps = self.agent.memory.steps
        return "\n".join(f"{getattr(step, 'error', '')}\n{getattr(step, 'observations', '')}" for step in steps)


Replies = Sequence[Any]


def written(kind: str, replies: Replies) -> list[Any]:
    """Calls as the agent's model makes them: in messages, or one below the other as code. Texts are code already."""
    if kind == TOOL_CALLING:
        return list(replies)
    return [f"<code>\n{_code(reply)}\n</code>" for reply in replies]


def _code(reply: Any) -> str:
    match reply:
        case str():
            return reply
        case list():
            return "\n".join(map(_code, reply))
        case (name, dict() as arguments):
            return f"{name}(**{arguments!r})"
        case (name, argument):
            return f"{name}({argument!r})"
    raise TypeError(reply)


def run(
    kind: str,
    replies: Replies,
    *rules: dict[str, Any],
    made: Callable[[], list[Any]] = tools,
    runs: Sequence[dict[str, Any]] = ({},),
    prepare: Callable[[Any], None] | None = None,
    agent_class: Any = None,
    **keywords: Any,
) -> Ran:
    """Let an agent of this kind make the calls, in smolagents' own loop."""
    model = ScriptedModel(written(kind, replies))
    agent = (agent_class or KINDS[kind])(made(), model, constraints=list(rules), verbosity_level=-1, **keywords)
    ran = Ran(agent, model)
    if prepare is not None:
        prepare(agent)
    for one in runs:
        try:
            ran.ends.append(agent.run(**({"task": "Do it."} | one)))
        except Exception as error:
            ran.ends.append(error)
    return ran


def holds(kind: str, severity: str, replies: Replies, text: str, tool: str = "write", **more: Any) -> Ran:
    """The calls reach the tool where there is no rule; under the rule none does, and the run ends as it should."""
    free = run(kind, [*replies, END], **more)
    assert free.got(tool), "the way leads nowhere, and the test shows nothing"
    held = run(kind, [*replies, END], rule(text, severity), **more)
    assert held.got(tool) == []
    ended(held, severity)
    return held


def ended(ran: Ran, severity: str) -> None:
    """Refused and told, or stopped."""
    if severity == STOP:
        assert isinstance(ran.end, ConstraintViolationError), ran.end
        assert ran.agent.get_constraint_status()["stopped_by"] == "the-rule"
    else:
        assert ran.end == "done", ran.end
        assert "the-rule" in ran.text


@contextlib.contextmanager
def after_judging(agent: Any, change: Callable[[], None]) -> Iterator[None]:
    """`change` happens each time that the guard has judged a call, before the call runs: as from another thread, at
    the worst moment."""
    propose = agent.guard.propose

    def judged(*args: Any, **kwargs: Any) -> Any:
        decision = propose(*args, **kwargs)
        change()
        return decision

    agent.guard.propose = judged
    try:
        yield
    finally:
        del agent.guard.propose
