"""Every execution of a tool goes through the guard: judged before it runs, recorded as it runs, settled after it.

`execute_tool_call` is the one place that sees all of them: the calls of a judged message, those that an override of
`process_tool_calls` makes, and direct calls by the user.
"""

from __future__ import annotations

from typing import Any

from smolagents.agents import ToolCallingAgent
from smolagents.tools import validate_tool_arguments

from agentltl.agents.above import Outer, judged, stopped
from agentltl.agents.asks import Asks
from agentltl.agents.code_names import left_out, named
from agentltl.agents.code_values import owned
from agentltl.agents.members import decision_of, guarding, outers_of, require_guardable
from agentltl.agents.stop import ConstraintStopError, PendingStopError, RefusedCallError
from agentltl.agents.ticket import CallName, Ready, Ticket, as_value, changed_words, same
from agentltl.constraints.value import Json, Opaque, as_text, hold, thaw
from agentltl.guard.decision import Decision
from agentltl.guard.ending import FINAL_ANSWER


class GuardedExecution(Asks, ToolCallingAgent):
    """A tool-calling agent that asks `guard` about each execution, and its manager's guard while it is called."""

    asks_guards_above = True
    _member_stop: Decision | None = None
    """The decision of another agent's constraint, a managed agent's or a manager's, that has stopped this run."""

    def _setup_managed_agents(self, managed_agents: list[Any] | None = None) -> None:
        super()._setup_managed_agents(managed_agents)
        if self.guard.constraints:
            for member in self.managed_agents.values():
                require_guardable(member)

    def _below(self) -> tuple[Outer, ...]:
        """The guards that judge the calls of a managed agent of this one."""
        own = (Outer(self.guard, self, "", 0),) if self.guard.constraints else ()
        return (*own, *outers_of(self))

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
                with guarding(member, self._below()):
                    result = super().execute_tool_call(tool_name, ready)
        except BaseException as error:
            self._settle(ticket, error=error)
            pending = error.__cause__
            if member is not None and isinstance(pending, PendingStopError):
                raise pending from error
            stop = None if member is None else decision_of(error)
            if stop is None:
                raise
            self._member_stop = stop
            raise ConstraintStopError(stop.feedback, stop, self.logger) from error
        self._settle(ticket, result=result)
        if not isinstance(tool_name, CallName):
            for outcome in ticket.outcomes:
                if outcome.action == "stop":
                    raise self._refused(outcome)
        return result

    def _accepted(self, name: object, arguments: object) -> dict[str, object] | None:
        """The arguments by name, as the tool will get them: a bare value stands under the first name that it takes, and
        what the call leaves out has the tool's default.

        None for a call that the parent will not accept: its own error is what the model gets.
        """
        tool = self._tool(name) if isinstance(name, str) else None
        if tool is None:
            return None
        try:
            validate_tool_arguments(tool, arguments)
        except Exception:
            return None
        if isinstance(arguments, dict):
            arguments = {**arguments, **left_out(tool, arguments)}
        else:
            # Python gives it to the first parameter, which need not be the first of `tool.inputs`.
            arguments = named(tool, (arguments,), {}) or {next(iter(tool.inputs)): arguments}
        return {name: as_value(value) for name, value in arguments.items()}

    def _tool(self, name: str) -> Any:
        return self.managed_agents.get(name, self.tools.get(name))

    def _propose(self, ticket: Ticket, name: str, arguments: object) -> None:
        """Judge the call as the tool will get it. A call that the parent will not accept is no event."""
        ticket.tool = name
        accepted = self._accepted(name, arguments)
        if accepted is not None:
            ticket.args = hold(accepted)
            ticket.decision = self._decided(ticket, name)
            if not ticket.decision.allowed:
                self._ask(ticket, name, arguments)

    def _decided(self, ticket: Ticket, name: str) -> Decision:
        """What the guard says of a call, and the guards of managers while this agent is called by one."""
        guard, outers = self.guard, outers_of(self)
        if name == FINAL_ANSWER and ticket.ends and guard.asks_at_the_end:
            return guard.finish(ticket.args, id=ticket.id, step=ticket.step)
        if not outers or name == FINAL_ANSWER:  # a member's answer is the result of its manager's call
            return guard.propose(str(name), ticket.args, id=ticket.id, step=ticket.step)
        decision, ticket.above = judged(
            guard, outers, str(name), ticket.args, own_step=ticket.step or 0, id=ticket.id, step=ticket.step
        )
        return decision

    def _ask(self, ticket: Ticket, name: str, given: object) -> None:
        """Ask a person about a refused call, where it is for a person to allow it."""
        assert ticket.decision is not None
        unsaid = left_out(self._tool(name), given) if isinstance(given, dict) else {}

        def own(args: Json) -> Ready:
            """The arguments as a call gives them: what it has left to the tool stays left to it."""
            values: dict[str, Any] = dict(thaw(args))
            kept = {name for name in unsaid if name in values and same(hold(values[name]), hold(unsaid[name]))}
            return Ready({name: value for name, value in values.items() if name not in kept})

        def propose(args: Json) -> Decision | None:
            accepted = self._accepted(name, own(args))
            if accepted is None:
                return None
            ticket.args = hold(accepted)
            return self._decided(ticket, name)

        asked = self._asked(ticket.decision, propose, step=ticket.step, id=ticket.id)
        ticket.decision, ticket.pending = asked.decision, asked.pending
        if asked.changed is not None:
            ticket.changed = own(asked.changed)
            if not ticket.decision.allowed:
                told = f"{ticket.decision.feedback}\n{changed_words(ticket)}"
                ticket.decision = ticket.decision._replace(feedback=told)

    def _settle(self, ticket: Ticket, result: object = None, error: BaseException | None = None) -> None:
        """Record what came of a call that was allowed."""
        if ticket.decision is not None and ticket.decision.allowed:
            text = None if error is None else as_text(error) or type(error).__name__
            ticket.outcomes.append(self.guard.settle(ticket.decision, result=as_value(result), error=text))
            if ticket.above is not None:
                ticket.outcomes += ticket.above.settle(as_value(result), error)

    def _as_judged(self, ticket: Ticket, name: str, arguments: Any) -> Any:
        """What was judged is what runs: the arguments, if they still are the judged ones.

        Under constraints a tool gets lists and mappings of its own, because a tool that runs beside it, or a thread,
        can change those that others hold while it reads them.
        """
        if not self.guard.constraints:
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

    def _stopped(self) -> Decision | None:
        """The decision that has stopped this run: of its own guard, or of one above."""
        if self.guard.stopped is not None:
            return self.guard.stopped
        above = stopped(outers_of(self))
        if above is not None:
            self._member_stop = above
        return above

    def _refused(self, decision: Decision) -> ConstraintStopError | RefusedCallError:
        kind = ConstraintStopError if decision.action == "stop" else RefusedCallError
        return kind(decision.feedback, decision, self.logger)

    def _pending(self, ticket: Ticket) -> PendingStopError:
        decision = ticket.decision
        return PendingStopError("" if decision is None else decision.feedback, decision, ticket.pending, self.logger)
