"""One run of a task on a database of its own: what the model did, what became of the rows, and what the rules say.

The run with the rules and the run without them differ in nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from smolagents.models import Model

from agentltl.agents.agent import Agent
from agentltl.agents.agent_with_constraints import AgentWithConstraints
from agentltl.cli.demo.desk import RULES
from agentltl.cli.demo.harm import harms
from agentltl.cli.demo.tasks import INSTRUCTIONS, MAX_STEPS, Task
from agentltl.cli.demo.tools import desk_tools
from agentltl.cli.demo.world import Change, Snapshot, create, diff, snapshot
from agentltl.constraints.check import violations
from agentltl.constraints.constraint import Constraint
from agentltl.constraints.trace import Trace
from agentltl.constraints.value import Json
from agentltl.constraints.verify import verify_trace
from agentltl.record.events import Event, Sink
from agentltl.record.result import Result


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run. `events` tell it from start to end; `compliance` is what `verify_trace` says of it.

    `broken` has, for each rule that was broken, the indices of the calls that broke it (the number of calls: at the
    end).
    """

    task: Task
    guarded: bool
    result: Result
    events: tuple[Event, ...]
    before: Snapshot
    after: Snapshot
    compliance: dict[str, Json]
    broken: dict[str, list[int]]

    @property
    def harms(self) -> list[str]:
        """What was done that should not have been, one sentence each."""
        return harms(self.before, self.after)

    @property
    def changes(self) -> list[Change]:
        """The rows that the run changed."""
        return diff(self.before, self.after)

    def to_json(self) -> dict[str, Json]:
        """The run as plain data."""
        return {
            "task": self.task.name,
            "request": self.task.request,
            "guarded": self.guarded,
            "model": self.result.model_id,
            "result": dict(self.result),
            "compliance": self.compliance,
            "changes": [
                {"table": change.table, "key": change.key, "before": change.before, "after": change.after}
                for change in self.changes
            ],
            "harms": list(self.harms),
        }


def run_task(
    task: Task, model: Model, database: Path, constraints: Sequence[Constraint], sink: Sink, *, guarded: bool
) -> Run:
    """Make the database anew and let the model do the task on it. A failure of the model is in the run's result."""
    return run_agent(task, agent_for(model, database, guarded=guarded), database, constraints, sink, guarded=guarded)


def run_agent(
    task: Task, agent: Agent, database: Path, constraints: Sequence[Constraint], sink: Sink, *, guarded: bool
) -> Run:
    """The same with an agent whose tools work on that database."""
    create(database)
    before = snapshot(database)
    events: list[Event] = []
    agent.sinks = [events.append, sink]
    result = agent.run(task.request)
    trace = Trace.from_metrics(result["metrics"])
    found = {constraint.name: violations(constraint, trace) for constraint in constraints}
    return Run(
        task=task,
        guarded=guarded,
        result=result,
        events=tuple(events),
        before=before,
        after=snapshot(database),
        compliance=verify_trace(trace, constraints),
        broken={name: places for name, places in found.items() if places},
    )


def agent_for(model: Model, database: Path, *, guarded: bool) -> Agent:
    """The order desk's agent, under the rules or without them."""
    tools = desk_tools(database)
    if not guarded:
        return Agent(tools, model, instructions=INSTRUCTIONS, max_steps=MAX_STEPS)
    return AgentWithConstraints(tools, model, constraints=RULES, instructions=INSTRUCTIONS, max_steps=MAX_STEPS)
