"""Every execution of a tool goes through the guard: judged before it runs, recorded as it runs, settled after it.

`execute_tool_call` is the one place that sees all of them: the calls of a judged message, those that an override of
`process_tool_calls` makes, and direct calls by the user.
"""

from __future__ import annotations

from typing import Any

from agentltl.agents.call_judging import JudgedCalls
from agentltl.agents.code_values import owned
from agentltl.agents.member_end import End, end_of
from agentltl.agents.members import guarding
from agentltl.agents.stop import ConstraintStopError, PendingStopError, RefusedCallError
from agentltl.agents.ticket import CallName, Ready, Ticket, same
from agentltl.constraints.value import Opaque, hold
from agentltl.guard.decision import Decision


class GuardedExecution(JudgedCalls):
    """A tool-calling agent that asks about each execution."""

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
        if isinstance(tool_name, CallName):
            ticket = tool_name.ticket
        else:
            ticket = Ticket(step=self.step_number)
            if type(tool_name) is not str and isinstance(tool_name, str):
                tool_name = str.__str__(tool_name)  # a class of texts can show the guard another name than the parent
        if not ticket.take():  # an override that tries again
            ticket = ticket.again()
        ready = self._substitute_state_variables(arguments)
        if ticket.decision is None:
            self._propose(ticket, tool_name, ready)
            if ticket.decision is None:
                return super().execute_tool_call(tool_name, ready)  # raises the parent's error
            if ticket.pending is not None:
                raise self._pending(ticket)
            if not ticket.decision.allowed:
                raise self._refused(ticket.decision)
            if ticket.changed is not None:
                ready = ticket.changed
        if not ticket.holds(ready):
            ready = self._as_judged(ticket, tool_name, ready)
        member = self.managed_agents.get(tool_name)
        try:
            if member is None:
                result = super().execute_tool_call(tool_name, ready)
            else:
                with guarding(self, tool_name, member, self._below(), self._approver()):
                    result = super().execute_tool_call(tool_name, ready)
        except BaseException as error:
            end = None if member is None else end_of(error)
            ticket.end = None if end is None else self._ended(end)
            self._settle(ticket, error=error)
            if ticket.end is None:
                raise
            raise ticket.end from error
        ticket.result = result
        self._settle(ticket, result=result)
        if not isinstance(tool_name, CallName):
            for outcome in ticket.outcomes:
                if outcome.action == "stop":
                    raise self._refused(outcome)
        return result

    def _as_judged(self, ticket: Ticket, name: str, arguments: Any) -> Any:
        """What was judged is what runs: the arguments, if they still are the judged ones.

        Under constraints a tool gets lists and mappings of its own, because a tool that runs beside it, or a thread,
        can change those that others hold while it reads them.
        """
        if not self._is_judged:
            return arguments
        too_deep = isinstance(ticket.args, Opaque)
        try:
            own = owned(arguments)
            accepted = self._accepted(name, own)
            if accepted is None or same(hold(accepted), ticket.args):  # what the parent will not accept does not run
                return own
        except RecursionError:
            too_deep = True
        message = f"the arguments of `{name}` have changed since the call was judged\ncall it again"
        if too_deep:
            message = f"the arguments of `{name}` are nested too deeply to be judged\ncall it with simpler ones"
        error = RefusedCallError(message, ticket.decision, self.logger)
        self._settle(ticket, error=error)
        raise error

    def _ended(self, end: End) -> End:
        """What ends the run, since that of a managed agent has ended so."""
        if isinstance(end, PendingStopError):
            return PendingStopError(end.message, end.decision, end.request, self.logger)
        if end.decision is not None:
            self._stopped_by(end.decision)
        return ConstraintStopError(end.message, end.decision, self.logger)

    def _refused(self, decision: Decision) -> ConstraintStopError | RefusedCallError:
        kind = ConstraintStopError if decision.action == "stop" else RefusedCallError
        return kind(decision.feedback, decision, self.logger)

    def _pending(self, ticket: Ticket) -> PendingStopError:
        decision = ticket.decision
        return PendingStopError("" if decision is None else decision.feedback, decision, ticket.pending, self.logger)
