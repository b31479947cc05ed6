"""Every execution of a tool goes through the guard: judged before it runs, recorded as it runs, settled after it.

`execute_tool_call` is the one place that sees all of them: the calls of a judged message, those that an override of
`process_tool_calls` makes, and direct calls by the user.
"""

from __future__ import annotations

from typing import Any

from smolagents.agents import ToolCallingAgent
from smolagents.tools import validate_tool_arguments

from agentltl.agents.approval import Approver
from agentltl.agents.asking import Asking
from agentltl.agents.stop import ConstraintStopError, PendingStopError, RefusedCallError
from agentltl.agents.ticket import CallName, Ready, Ticket, as_value, changed_words, same
from agentltl.constraints.value import Json, as_text, hold, thaw
from agentltl.guard.decision import Decision
from agentltl.guard.guard import Guard
from agentltl.record.events import EventKind


class GuardedExecution(ToolCallingAgent):
    """A tool-calling agent that asks `guard` about each execution."""

    guard: Guard
    approve: Approver | None = None
    """Who is asked about calls that a person can allow."""
    _member_stop: Decision | None = None
    """The decision of a managed agent's constraint that has stopped this run."""

    def _substitute_state_variables(self, arguments: dict[str, Any] | str) -> dict[str, Any] | str:
        if isinstance(arguments, Ready):
            return arguments
        ready: dict[str, Any] | str = super()._substitute_state_variables(arguments) if self.state else arguments
        return Ready(ready) if isinstance(ready, dict) else ready

    def execute_tool_call(self, tool_name: str, arguments: dict[str, Any] | str) -> Any:
        """Execute a tool or a managed agent as smolagents does.

        A call that is not part of a judged message (one of your own) is judged here; refused, it raises
        `ConstraintViolationError`.
        """
        ticket = tool_name.ticket if isinstance(tool_name, CallName) else Ticket(step=self.step_number)
        if ticket.taken:  # an override that tries again
            ticket = ticket.again()
        ready = self._substitute_state_variables(arguments)
        if ticket.decision is None:
            self._propose(ticket, tool_name, ready)
            if ticket.decision is None:
                return super().execute_tool_call(tool_name, arguments)  # raises the parent's error
            if ticket.pending is not None:
                raise self._pending(ticket)
            if not ticket.decision.allowed:
                raise self._refused(ticket.decision)
            if ticket.changed is not None:
                ready = ticket.changed
        ticket.taken = True
        if not ticket.holds(ready):
            self._require_unchanged(ticket, tool_name, ready)
        try:
            result = super().execute_tool_call(tool_name, ready)
        except BaseException as error:
            self._settle(ticket, error=error)
            stop = error.__cause__
            if not isinstance(stop, ConstraintStopError | PendingStopError) or tool_name not in self.managed_agents:
                raise
        else:
            self._settle(ticket, result=result)
            if not isinstance(tool_name, CallName) and ticket.outcomes[-1].action == "stop":
                raise self._refused(ticket.outcomes[-1])
            return result
        if isinstance(stop, ConstraintStopError):
            self._member_stop = stop.decision
        raise stop

    def _accepted(self, name: object, arguments: object) -> dict[str, object] | None:
        """The arguments by name, as the tool will get them: a bare value stands under the tool's first input.

        None for a call that the parent will not accept: its own error is what the model gets.
        """
        tool: Any = self.managed_agents.get(name, self.tools.get(name)) if isinstance(name, str) else None
        if tool is None:
            return None
        try:
            validate_tool_arguments(tool, arguments)
        except Exception:
            return None
        if not isinstance(arguments, dict):
            arguments = {next(iter(tool.inputs)): arguments}
        return {name: as_value(value) for name, value in arguments.items()}

    def _propose(self, ticket: Ticket, name: str, arguments: object) -> None:
        """Judge the call as the tool will get it. A call that the parent will not accept is no event."""
        accepted = self._accepted(name, arguments)
        if accepted is not None:
            ticket.args = hold(accepted)
            ticket.decision = self.guard.propose(str(name), ticket.args, id=ticket.id, step=ticket.step)
            if self.approve is not None and not ticket.decision.allowed:
                self._ask(ticket, name, self.approve)

    def _ask(self, ticket: Ticket, name: str, approver: Approver) -> None:
        """Ask a person about a refused call, where it is for a person to allow it."""
        assert ticket.decision is not None

        def propose(args: Json) -> Decision | None:
            accepted = self._accepted(name, Ready(thaw(args)))
            if accepted is None:
                return None
            ticket.args = hold(accepted)
            return self.guard.propose(str(name), ticket.args, id=ticket.id, step=ticket.step)

        def tell(kind: EventKind, data: dict[str, Json]) -> None:
            self._told_of_approval(kind, data, ticket)

        asking = Asking(self.guard, approver, tell, self.task, ticket.step, self.name)
        asked = asking.ask(ticket.decision, propose)
        ticket.decision, ticket.pending = asked.decision, asked.pending
        if asked.changed is not None:
            ticket.changed = Ready(asked.changed)
            if not ticket.decision.allowed:
                told = f"{ticket.decision.feedback}\n{changed_words(ticket)}"
                ticket.decision = ticket.decision._replace(feedback=told)

    def _told_of_approval(self, kind: EventKind, data: dict[str, Json], ticket: Ticket) -> None:
        """A person is asked about a call, or has answered."""

    def _settle(self, ticket: Ticket, result: object = None, error: BaseException | None = None) -> None:
        """Record what came of a call that was allowed."""
        if ticket.decision is not None and ticket.decision.allowed:
            text = None if error is None else as_text(error) or type(error).__name__
            ticket.outcomes.append(self.guard.settle(ticket.decision, result=as_value(result), error=text))

    def _require_unchanged(self, ticket: Ticket, name: str, arguments: object) -> None:
        """What was judged is what runs."""
        accepted = self._accepted(name, arguments)
        if accepted is None or not self.guard.constraints or same(hold(accepted), ticket.args):
            return  # what the parent will not accept does not run
        message = f"the arguments of `{name}` have changed since the call was judged\ncall it again"
        error = RefusedCallError(message, ticket.decision, self.logger)
        self._settle(ticket, error=error)
        raise error

    def _refused(self, decision: Decision) -> ConstraintStopError | RefusedCallError:
        kind = ConstraintStopError if decision.action == "stop" else RefusedCallError
        return kind(decision.feedback, decision, self.logger)

    def _pending(self, ticket: Ticket) -> PendingStopError:
        decision = ticket.decision
        return PendingStopError("" if decision is None else decision.feedback, decision, ticket.pending, self.logger)
