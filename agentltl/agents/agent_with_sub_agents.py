"""`AgentWithSubAgents`: one sub-agent for each requirement, in threads or on other machines."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any, Literal, Self, Unpack, cast

from smolagents.models import Model
from smolagents.tools import Tool

from agentltl.agents.agent_with_constraints import AgentWithConstraints
from agentltl.agents.background import result_async
from agentltl.agents.settings import ConstrainedSettings, takes_settings_of
from agentltl.agents.sub_agents.blueprint import blueprint
from agentltl.agents.sub_agents.factory import is_factory, made_by
from agentltl.agents.sub_agents.fan_out import FanOut
from agentltl.agents.sub_agents.options import Options, require_number
from agentltl.agents.sub_agents.place import Place
from agentltl.agents.sub_agents.processes import Processes
from agentltl.agents.sub_agents.progress import OnProgress
from agentltl.agents.sub_agents.requirement import Requirements, Tasks, read_requirements
from agentltl.agents.sub_agents.sinks import sinks_for
from agentltl.agents.sub_agents.task import Task
from agentltl.agents.sub_agents.template import prompt_of, read_template
from agentltl.agents.sub_agents.threads import Threads
from agentltl.guard.guard import Guard
from agentltl.record.sub_results import SubAgentsResult


class _Given(dict[str, Any]):
    """Settings as they were given; what may be secret is not in their text form."""

    def __repr__(self) -> str:
        return f"<{', '.join(self)}>"


@takes_settings_of(AgentWithConstraints)
class AgentWithSubAgents(AgentWithConstraints):
    """An agent that also fans out: `run_per_requirement` runs a sub-agent of its own for each requirement.

    A sub-agent has the model, tools, MCP connections, instructions, constraints and all other settings of this agent,
    at most `sub_agent_max_steps` steps, and a memory and a guard of its own.
    `tools` may also be the name of a function that makes the list, `"package.module:function"`, and so may `model`:
    workers in other processes then make their own.
    All other parameters are those of `AgentWithConstraints`.
    """

    def __init__(
        self,
        tools: Sequence[Tool] | str | None = None,
        model: str | Model | None = None,
        *,
        sub_agent_max_steps: int = 15,
        **settings: Unpack[ConstrainedSettings],
    ) -> None:
        require_number("sub_agent_max_steps", sub_agent_max_steps)
        self.sub_agent_max_steps = sub_agent_max_steps
        self._given = _Given(tools=tools, model=model, sub_agent_max_steps=sub_agent_max_steps, **settings)
        if isinstance(tools, str):
            tools = cast(Sequence[Tool], made_by(tools, "the tools"))
        if isinstance(model, str) and is_factory(model, dotted=True):
            model = cast(Model, made_by(model, "the model"))
        super().__init__(tools, model, **settings)

    def run_per_requirement(
        self,
        requirements: Requirements,
        tasks: Tasks,
        template: str,
        *,
        max_workers: int = 1,
        executor: Executor | None = None,
        on_progress: OnProgress | Literal["bar"] | None = None,
        inherit: Literal["state"] | None = None,
        max_cost_usd: float | None = None,
        on_worker_loss: Literal["retry", "report"] = "retry",
    ) -> SubAgentsResult:
        """Run a sub-agent for each requirement, and give back what came of all of them, in the order of requirements.

        `requirements` is a mapping `{id: description}`, a list of descriptions (ids `req_1`, `req_2`, ...), or a list
        of `{"id", "description"}`; `tasks` is a mapping by id or a parallel list, of a list of texts each. A sub-agent
        is given `template` with the fields `{requirement_id}`, `{requirement_description}` and `{tasks}`, which is a
        line `- ...` for each task.
        With `inherit="state"` the constraints of each sub-agent go on from what has happened in this agent's last run:
        not from what it was told or people have allowed it. Otherwise they begin with nothing.

        A sub-agent that fails has its error in its entry and does not disturb the others.
        `max_workers` of them run at once, in threads of this process; of an `executor` in its workers, as many as it
        takes, or at most `max_workers` if that is more than 1 or there is a budget.
        In a `ThreadPoolExecutor` they share the model and the tools. Any other executor is taken for one of other
        processes: what makes up the agent is sent there and must be picklable, the names of functions that make it
        always are; connections to MCP servers are made anew in each worker; sinks are told of a sub-agent's events when
        it is over. Of a Dask client give `client.get_executor()`.
        When a worker is lost, `on_worker_loss="retry"` runs its requirements again, up to twice, so that what their
        tools do may be done more than once; with `"report"` they are entries with an error. A `ProcessPoolExecutor`
        loses all its workers at once.

        `max_cost_usd`, in US dollars: once the sub-agents have spent it together, no further one starts, and those that
        have not started are entries with an error. A cost that is not known counts as more than any budget.
        `on_progress` is called with how many are done, how many there are, and the result that has come; `"bar"` is a
        bar on standard error if that is a terminal.
        An interrupt cancels the sub-agents (in other processes those that have not begun), and is raised again when
        those of this process have ended. Each event that a sink gets has the `requirement_id` in its data.
        Raises `ConstraintError` for input that makes no sense, before anything runs.
        """
        options = Options(max_workers, executor, on_progress, inherit, max_cost_usd, on_worker_loss)
        return self._fan_out(requirements, tasks, template, options).go()

    async def arun_per_requirement(
        self,
        requirements: Requirements,
        tasks: Tasks,
        template: str,
        *,
        max_workers: int = 1,
        executor: Executor | None = None,
        on_progress: OnProgress | Literal["bar"] | None = None,
        inherit: Literal["state"] | None = None,
        max_cost_usd: float | None = None,
        on_worker_loss: Literal["retry", "report"] = "retry",
    ) -> SubAgentsResult:
        """As `run_per_requirement`, beside an event loop; `on_progress` is called in another thread.

        Cancelling the task that waits for it is an interrupt.
        """
        options = Options(max_workers, executor, on_progress, inherit, max_cost_usd, on_worker_loss)
        return await result_async(self._fan_out(requirements, tasks, template, options))

    def _fan_out(self, requirements: Requirements, tasks: Tasks, template: str, options: Options) -> FanOut:
        wanted, template = read_requirements(requirements, tasks), read_template(template)
        work = [Task(index, one, prompt_of(template, one)) for index, one in enumerate(wanted)]
        self._require_usable()
        return FanOut(work, self._place(options), options)

    def _place(self, options: Options) -> Place:
        guard = None
        if options.inherit is not None:
            guard = copy.deepcopy(self.guard)
            guard.handed_over()
        sinks = sinks_for(self.sinks)
        if options.in_threads:
            return Threads(options.executor, options.max_workers, lambda: self._child(guard), sinks, guard is not None)
        assert options.executor is not None
        sent = blueprint(self._given, self._constraints["constraints"], self._validators, guard)
        once = options.on_worker_loss == "report"
        return Processes(options.executor, sent, sinks, events=bool(self.sinks), once=once)

    def _child(self, guard: Guard | None) -> Self:
        """A sub-agent, whose constraints go on from what is in a guard."""
        child = self._twin(max_steps=self.sub_agent_max_steps)
        child._original, child.sinks = None, []
        if guard is not None:
            child.smolagent.guard = copy.deepcopy(guard)
        return child
