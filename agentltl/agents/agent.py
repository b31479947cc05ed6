"""`Agent`: a smolagents agent whose `run` gives back a `Result`.

A run becomes a stream of events, the sinks are told of each, and the result is a fold of them.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncGenerator, Generator, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from functools import partial
from typing import Any, Literal, Self, cast, overload

from smolagents.memory import ActionStep
from smolagents.models import Model
from smolagents.monitoring import LogLevel
from smolagents.tools import BaseTool, Tool

from agentltl.agents.background import events, events_async, result_async
from agentltl.agents.deltas import FINAL_ANSWER
from agentltl.agents.deployable import Deployable
from agentltl.agents.dry_run import dry
from agentltl.agents.earlier import Messages, remembered
from agentltl.agents.limits import Limits
from agentltl.agents.models.chosen import chosen
from agentltl.agents.models.wrapper import apart
from agentltl.agents.output_tool import OutputTool, Validator
from agentltl.agents.recorded import Recorded, RecordedAgent
from agentltl.agents.running import Running
from agentltl.agents.tool_approval import require_none
from agentltl.agents.watched_model import WatchedModel
from agentltl.constraints.readers.messages import SILENT
from agentltl.constraints.value import Json
from agentltl.errors import ConstraintError
from agentltl.guard.decision import Violation
from agentltl.record.events import Event, Sink
from agentltl.record.result import Result


class Agent(Deployable):
    """A model with tools.

    `tools` are smolagents tools. `model` is a litellm name (`"openai/gpt-4o"`), a smolagents model, or `"local"`, the
    embedded model and the default; `model_instance` is a model that is already built, given instead of `model`.
    `model_seed`, `temperature`, `api_key` and `api_base` are for a model that is built here.
    `instructions` are added to the system prompt; a run has at most `max_steps` steps, and one more model call that
    asks for the answer.
    `output_type` is the type of the answer: a pydantic model, or any type that pydantic takes; `output` is another name
    for it. An answer that is none of it goes back to the model, `output_retries` times in a run; then the run ends with
    the error. See `output_validator`.
    A model call that fails for a reason that can pass is made again up to `retries` times; when a model has finally
    failed, the next one of `fallback_models` is asked. `timeout` bounds each call, `total_timeout` the run, in seconds;
    of a streamed reply `timeout` is the time to the first piece and from each piece to the next.
    `max_cost_usd`, `max_tokens_total` and `max_model_calls` are looked at before each model call of a run, and end it.
    Each of `sinks` is called with every event of a run.
    `smolagent` is the smolagents agent that does the work; `last_result` what the last run gave.
    """

    def __init__(
        self,
        tools: Sequence[Tool] | None = None,
        model: str | Model | None = None,
        *,
        name: str | None = None,
        instructions: str | None = None,
        max_steps: int = 10,
        model_seed: int | None = None,
        api_key: str | None = None,
        api_base: str | None = None,
        temperature: float | None = None,
        model_instance: Model | None = None,
        output_type: object = None,
        output: object = None,
        output_retries: int = 1,
        fallback_models: Sequence[str | Model] = (),
        retries: int = 3,
        timeout: float | None = None,
        total_timeout: float | None = None,
        max_cost_usd: float | None = None,
        max_tokens_total: int | None = None,
        max_model_calls: int | None = None,
        sinks: Iterable[Sink] = (),
    ) -> None:
        if model is not None and model_instance is not None:
            raise ConstraintError("there are two models\ngive `model` or `model_instance`")
        if max_steps < 1:
            raise ConstraintError(f"`max_steps={max_steps}` leaves no step\ngive a number from 1")
        if not isinstance(cast(object, tools), Iterable | None):
            raise ConstraintError("a list of tools is expected\nput the tool into a list: [tool]")
        for tool in tools or ():
            if not isinstance(tool, BaseTool):
                raise ConstraintError(f"`{tool!r}` is no tool\nmake it one with the decorator `agentltl.tool`")
        given = model_instance if model_instance is not None else (model if model is not None else "local")
        self._built, self._asked = chosen(
            given, fallback_models, retries=retries, timeout=timeout,
            temperature=temperature, seed=model_seed, api_key=api_key, api_base=api_base,
        )  # fmt: skip
        self._limits = Limits(total_timeout, max_cost_usd, max_tokens_total, max_model_calls)
        self.name = name
        self.sinks: list[Sink] = list(sinks)
        self.temperature = temperature
        self.last_result: Result | None = None
        self._earlier: list[dict[str, Json]] = []
        if output_type is not None and output is not None:
            raise ConstraintError("there are two output types\ngive `output_type` or `output`, which is the same")
        if output_retries < 0:
            raise ConstraintError(f"`output_retries` is `{output_retries}`\ngive a number from 0")
        self._output_type, self._output_retries = output_type if output_type is not None else output, output_retries
        self._validators: list[Validator] = []
        self._original: Agent | None = None
        self._under_way: dict[str, object] = {}
        self._run: Running | None = None
        self._model = WatchedModel(self._asked)
        self._tools = self._all_tools(list(tools or ()))
        self._settings: dict[str, Any] = {
            "instructions": instructions,
            "max_steps": max_steps,
            "verbosity_level": LogLevel.OFF,
        }
        self.smolagent = self._made()

    @property
    def model(self) -> Model:
        """The model that the agent calls."""
        return self._built

    @overload
    def run(self, task: str, *, reset: bool = True, messages: Messages | None = None) -> Result: ...
    @overload
    def run(
        self, task: str, *, reset: bool = True, messages: Messages | None = None, dry_run: Literal[True]
    ) -> dict[str, Json]: ...
    @overload
    def run(
        self, task: str, *, reset: bool = True, messages: Messages | None = None, dry_run: bool
    ) -> Result | dict[str, Json]: ...
    def run(
        self, task: str, *, reset: bool = True, messages: Messages | None = None, dry_run: bool = False
    ) -> Result | dict[str, Json]:
        """Do the task. An error of the model or of the run is in the result, it is not raised.

        `reset=False` goes on with the conversation of the last run. `messages` goes on with another one instead: a
        transcript, like the `messages` of an earlier result. Its calls have happened for the constraints, too.
        With `dry_run` nothing is called: the dict says what would be, under `dry_run`, `agent`, `model`, `temperature`,
        `system_prompt`, `user_prompt`, `schema`, `tools` and `constraints`.
        A run that begins while another one of the agent is under way, from another thread or an event loop, is one of a
        twin: an agent of the same settings with a memory and a guard of its own.
        """
        if dry_run:
            return dry(self, task)
        with self._free(reset, messages) as agent:
            return Running(agent, task, reset=reset, messages=messages).go()

    async def arun(self, task: str, *, reset: bool = True, messages: Messages | None = None) -> Result:
        """As `run`, beside an event loop, in a thread of its own.

        Cancelling the task that waits for it cancels the run: it ends at its next model call, and is waited for.
        """
        with self._free(reset, messages) as agent:
            return await result_async(Running(agent, task, reset=reset, messages=messages))

    def stream(self, task: str, *, reset: bool = True, messages: Messages | None = None) -> Generator[Event]:
        """As `run`, as an iterator of the events while they happen; the last is `agent_end`, with the `result`.

        A model that can stream writes piece by piece.
        Closing the iterator cancels the run and waits for its end: `last_result` has what came of it.
        """
        with self._free(reset, messages) as agent:
            yield from events(partial(Running, agent, task, reset=reset, messages=messages, streaming=True))

    async def astream(
        self, task: str, *, reset: bool = True, messages: Messages | None = None
    ) -> AsyncGenerator[Event]:
        """As `stream`, for `async for`.

        Leave it early only within `contextlib.aclosing`, or the run goes on until the loop gets to closing it.
        """
        with self._free(reset, messages) as agent:
            begin = partial(Running, agent, task, reset=reset, messages=messages, streaming=True)
            async with aclosing(events_async(begin)) as happened:
                async for event in happened:
                    yield event

    def output_validator(self, validator: Validator) -> Validator:
        """A decorator for a function that is given each answer, in its type, and gives it back, or another one; sync or
        async.

        A `ValueError` or a failing `assert` sends the answer back to the model, with its text, as often as
        `output_retries` says. Validators are called in the order in which they were added.
        """
        self._validators.append(validator)
        if self._output is None:
            made = OutputTool(self._output_type, self._validators, self._output_retries)
            self.smolagent.tools[FINAL_ANSWER] = made
        return validator

    @contextmanager
    def _free(self, reset: bool, messages: Messages | None) -> Iterator[Agent]:
        """The agent for one run: this one, or its twin while a run of this one is under way."""
        if messages is not None and not reset:
            raise ConstraintError("`messages` and `reset=False` are two conversations to go on with\ngive one of them")
        self._require_usable()
        mine = object()
        if self._under_way.setdefault("run", mine) is mine:  # one step: no two threads get through
            try:
                yield self
            finally:
                run = self._run
                if run is None:
                    self._under_way.clear()
                else:  # nobody waits for it any more, and it goes on until it notices
                    run.when_over(self._under_way.clear)
        elif reset:
            yield self._twin()
        else:
            raise ConstraintError(
                "this conversation is under way in another run\nwait for it, or make an agent for each"
            )

    def _twin(self, **changed: Any) -> Self:
        """An agent with the settings, tools and model of this one, and a memory, a guard, circuit breakers and a
        conversation of its own; what its runs give is this one's `last_result`, too. `changed` are settings that
        smolagents' agent has instead."""
        twin = copy.copy(self)
        twin._under_way, twin._run, twin._earlier, twin.last_result = {}, None, [], None
        twin._asked = apart(self._asked)
        twin._model = WatchedModel(twin._asked)
        # The templates given, or smolagents reads its own from their file again.
        twin._settings = {**self._settings, "prompt_templates": self.smolagent.prompt_templates, **changed}
        twin.smolagent = twin._made()
        twin.smolagent.take_settings_of(self.smolagent)
        twin._original = self._original or self
        return twin

    def _made(self) -> Recorded:
        made = self._make(self._tools, cast(Model, self._model), dict(self._settings))
        made.step_callbacks.register(ActionStep, self._step_ended)
        if self._output_type is not None or self._validators:
            made.tools[FINAL_ANSWER] = OutputTool(self._output_type, self._validators, self._output_retries)
        return made

    @property
    def _output(self) -> OutputTool | None:
        tool = self.smolagent.tools.get(FINAL_ANSWER)
        return tool if isinstance(tool, OutputTool) else None

    def _keep(self, result: Result) -> None:
        """A run is over, with this."""
        self.last_result, self._earlier = result, result.messages
        if self._original is not None:
            self._original.last_result = result

    def _step_ended(self, step: ActionStep) -> None:
        if self.smolagent.recorder is not None:
            self.smolagent.recorder.step_ended(step)

    def _all_tools(self, given: list[Tool]) -> list[Tool]:
        """The tools of the agent, in the order of the prompt."""
        return given

    def _make(self, tools: list[Tool], model: Model, settings: dict[str, Any]) -> Recorded:
        require_none(tools)
        return RecordedAgent(tools, model, **settings)

    def _require_usable(self) -> None:
        """Raise if no run can begin."""

    def _judges_answer(self) -> bool:
        """Whether the answer is judged before it is one."""
        return bool(self.smolagent.final_answer_checks) or self._output is not None

    def _take_up(self, messages: Messages) -> None:
        """Begin with an earlier conversation; a run with `reset=False` goes on with it."""
        self.smolagent.memory.steps = remembered(messages)
        self.smolagent.monitor.reset()  # type: ignore[no-untyped-call]
        system: dict[str, Json] = {"role": "system", "content": self.smolagent.system_prompt}
        self._earlier = [system, *(dict(message) for message in messages if message.get("role") not in SILENT)]

    def _rules(self) -> list[dict[str, Json]]:
        """The constraints as plain data, with the severities that they have here."""
        return []

    def _constraint_status(self) -> dict[str, Json] | None:
        return None

    def _compliance(self) -> float | None:
        return None

    def _violations(self) -> Sequence[Violation]:
        return ()
