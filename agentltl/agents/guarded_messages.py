"""A message of the model whose tool calls are judged before they run, in waves (see `waves.py`).

It decides in `process_tool_calls` and acts in `execute_tool_call`; threads, images and streaming stay the parent's.
A refusal is an observation, so the other calls of the message are not lost; a stop ends the run at that call.
"""

from __future__ import annotations

import copy
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from typing import Any

from rich.panel import Panel
from rich.text import Text
from smolagents.agents import ToolOutput
from smolagents.memory import ActionStep, ToolCall
from smolagents.models import ChatMessage, ChatMessageToolCall
from smolagents.utils import AgentError

from agentltl.agents.call_log import observation_of
from agentltl.agents.execution import GuardedExecution
from agentltl.agents.judged import JudgedWave, with_words, words
from agentltl.agents.member_end import End
from agentltl.agents.member_tree import tools_of
from agentltl.agents.members import outers_of
from agentltl.agents.refusal import Refusal, Waiting
from agentltl.agents.step_memory import StepMemory
from agentltl.agents.stop import ConstraintStopError, PendingStopError
from agentltl.agents.ticket import CallName, Ticket
from agentltl.agents.waves import in_order, next_wave
from agentltl.constraints.trace import ABSENT


class GuardedMessages(GuardedExecution):
    """A tool-calling agent that asks `guard` about the calls of each message, before they run."""

    def process_tool_calls(
        self, chat_message: ChatMessage, memory_step: ActionStep
    ) -> Generator[ToolCall | ToolOutput, None, None]:
        """Judge the calls of a message and run those that may run; yields and remembers what smolagents does.

        A refused call yields a `Refusal`. A stop raises once what came before it has finished and is in the step.
        """
        match chat_message.tool_calls:
            case None | []:
                return super().process_tool_calls(chat_message, memory_step)
            case [_]:
                return self._alone(chat_message, memory_step)
            case said:
                return self._several(said, chat_message, memory_step)

    def _several(
        self, said: Sequence[ChatMessageToolCall], chat_message: ChatMessage, memory_step: ActionStep
    ) -> Generator[ToolCall | ToolOutput, None, None]:
        """The calls of a message that has several, in waves."""
        calls: dict[str, ToolCall] = {}
        for one in said:
            call = ToolCall(one.function.name, one.function.arguments, one.id)
            yield call
            calls[call.id] = call  # of calls with one id smolagents runs the last
        yield from self._carry_out(self._waves(calls.values(), memory_step.step_number), chat_message, memory_step)

    def _alone(
        self, chat_message: ChatMessage, memory_step: ActionStep
    ) -> Generator[ToolCall | ToolOutput, None, None]:
        """The only call of a message. The parent announces, runs and remembers it; only while it runs, the ticket is on
        its name. A refusal or an error is carried out as a wave of one call.
        """
        events: Generator[Any, None, None] = super().process_tool_calls(chat_message, memory_step)
        call: ToolCall = next(events)
        yield call
        ticket = self._judged(call, memory_step.step_number)
        wave: JudgedWave | None = None
        if ticket.decision is None or ticket.decision.allowed:
            name = call.name
            call.name = CallName.of(ticket.tool, ticket)  # as it was judged, whoever changes the call
            arguments = call.arguments
            if ticket.changed is not None:
                call.arguments = ticket.changed
            try:
                output: ToolOutput = next(events)
            except Exception as error:
                wave = JudgedWave([(call, ticket)], error=error)
            finally:
                call.name, call.arguments = name, arguments
        else:
            pending = None if ticket.pending is None else self._pending(ticket)
            wave = JudgedWave(refusals=[Refusal.of(call, ticket.decision)], pending=pending)
        if wave is not None:
            yield from self._carry_out([wave], chat_message, memory_step)
            return
        yield self._returned(output, ticket)
        next(events, None)  # the step is written
        stop = self._stop(ticket.end)
        if stop is not None:
            raise stop

    def _carry_out(
        self, waves: Iterable[JudgedWave], chat_message: ChatMessage, memory_step: ActionStep
    ) -> Generator[ToolOutput, None, None]:
        """Run the waves of a message, one after another. A wave that has an error already has run."""
        memory = StepMemory(memory_step)
        error: Exception | None = None
        untold: list[str] = []
        answers: list[ToolOutput] = []
        told = False  # the step is to show what happened, though the message does not come to its end
        try:
            for wave in waves:
                memory.reach(wave.calls)
                told = told or bool(not wave.last or wave.refusals)
                for output in self._run_wave(wave, chat_message, memory_step):
                    memory.keep(output)
                    if output.is_final_answer and not wave.last:
                        answers.append(output)  # at an answer smolagents ends the message, and all calls are to run
                    else:
                        yield output
                error, untold = error or wave.error, untold + wave.untold
                stop = self._stop(wave.end)
                if stop is not None:
                    told = True
                    if isinstance(error, AgentError) and not isinstance(error, End):
                        memory_step.error = with_words(error, untold)
                    raise stop
            yield from answers
            if error is not None:
                raise with_words(error, untold)
        except BaseException:
            if told:  # an error in a message of one wave leaves no calls in the step, as in smolagents
                memory.write_what_came()
            raise
        memory.write()

    def _waves(self, calls: Iterable[ToolCall], step: int) -> Iterator[JudgedWave]:
        """The waves of a message; each is judged when the one before it is over."""
        rest: Sequence[ToolCall] = in_order(calls)
        while rest:
            part, rest = next_wave(rest, lambda call: self._touches(call, step))
            yield self._judge(part, step, last=not rest)

    def _touches(self, call: ToolCall, step: int) -> bool:
        arguments = self._accepted(call.name, self._substitute_state_variables(call.arguments or {}))
        if arguments is None:
            return False
        name, outers = str(call.name), outers_of(self)
        if self.guard.touches(name, arguments, step=step):
            return True
        if any(outer.guard.touches(name, arguments, step=step, agent=outer.agent) for outer in outers):
            return True
        guards = [self.guard, *(outer.guard for outer in outers)]
        return any(guard.may_touch(tool) for guard in guards for tool in tools_of(self.managed_agents.get(name)))

    def _judge(self, calls: Sequence[ToolCall], step: int, *, last: bool) -> JudgedWave:
        """Judge calls in their order, up to a stop."""
        wave = JudgedWave(last=last)
        for call in calls:
            ticket = self._judged(call, step, ends=False)  # smolagents accepts no answer beside another call
            if ticket.decision is None or ticket.decision.allowed:
                wave.running.append((call, ticket))
            else:
                wave.refusals.append(Refusal.of(call, ticket.decision))
                wave.pending = None if ticket.pending is None else self._pending(ticket)
                if ticket.decision.action == "stop" or wave.pending is not None:
                    break
        return wave

    def _judged(self, call: ToolCall, step: int, *, ends: bool = True) -> Ticket:
        ticket = Ticket(call.id, step, ends=ends)
        self._propose(ticket, call.name, self._substitute_state_variables(call.arguments or {}))
        return ticket

    def _run_wave(
        self, wave: JudgedWave, chat_message: ChatMessage, memory_step: ActionStep
    ) -> Generator[ToolOutput, None, None]:
        """Let the parent run what may run; the error of a call is kept in the wave."""
        tickets = {call.id: ticket for call, ticket in wave.running}
        calls = {call.id: call for call, _ in wave.running}
        if tickets and wave.error is None:
            with closing(super().process_tool_calls(wave.message(chat_message), copy.copy(memory_step))) as events:
                while True:
                    try:
                        event = next(events, None)
                    except Exception as error:
                        wave.error = error
                        break
                    if event is None:
                        break
                    if isinstance(event, ToolOutput):
                        yield self._returned(event, tickets.pop(event.id))
        for id, ticket in tickets.items():
            # Open is only a call that an override ran without the parent. Which of several has failed is not known
            # then; one that counts as failed opens no door.
            if not ticket.outcomes:
                self._settle(ticket, error=wave.error)
            if isinstance(ticket.end, PendingStopError):
                yield Waiting.of(calls[id])
            elif wave.end is not None and ticket.result is not ABSENT:
                # The end of the run came out before it. What goes on later is to know what came of it.
                seen = observation_of(ticket.result)
                yield self._returned(ToolOutput(id, ticket.result, False, seen, calls[id]), ticket)
            else:
                wave.untold.extend(words(ticket))
        for refusal in wave.refusals:
            call = refusal.tool_call
            self.logger.log(Panel(Text(f"Refused tool call: '{call.name}' with arguments: {call.arguments or {}}")))
            self.logger.log(Text(refusal.observation))
            yield refusal

    def _returned(self, output: ToolOutput, ticket: Ticket) -> ToolOutput:
        """What came of a call that gave an output, with what the constraints have to say of it."""
        if not ticket.outcomes:
            self._settle(ticket, result=output.output)
        for told in words(ticket):
            output.observation = f"{output.observation}\n{told}"
            self.logger.log(Text(told))
        return output

    def _stop(self, end: End | None) -> End | None:
        """What ends the run here, if anything does: a stop, or a call that waits for a person. `end` is that of the
        calls so far."""
        if isinstance(end, ConstraintStopError):
            return end
        decision = self._stopped()
        return end if decision is None else ConstraintStopError(decision.feedback, decision, self.logger)
