"""How one call of a tool-calling agent is judged: by its guard, by those of its managers, and by people."""

from __future__ import annotations

from typing import Any

from smolagents.agents import ToolCallingAgent
from smolagents.tools import validate_tool_arguments

from agentltl.agents.code_names import left_out, named
from agentltl.agents.joint_call import JointCall
from agentltl.agents.managing import Manages
from agentltl.agents.members import outers_of
from agentltl.agents.models.hidden_error import error_text
from agentltl.agents.remembering import Remembering
from agentltl.agents.rendering import Rendering
from agentltl.agents.stop import PendingStopError
from agentltl.agents.ticket import Ready, Ticket, as_value, changed_words, same
from agentltl.agents.verdict import Verdict
from agentltl.constraints.value import Json, hold, thaw
from agentltl.guard.decision import Decision
from agentltl.guard.ending import FINAL_ANSWER
from agentltl.guard.state import Turn


class JudgedCalls(Manages, Remembering, Rendering, ToolCallingAgent):
    """A tool-calling agent that asks `guard` about each call, and its manager's guard while it is called."""

    _goes_on: int | None = None

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
            left = left_out(tool, arguments)
            arguments = {**arguments, **left} if left else arguments
        else:
            # Python gives it to the first parameter, which need not be the first of `tool.inputs`.
            arguments = named(tool, (arguments,), {}) or {next(iter(tool.inputs)): arguments}
        return {name: as_value(value) for name, value in arguments.items()}

    def _tool(self, name: str) -> Any:
        return self.managed_agents.get(name, self.tools.get(name))

    def _propose(self, ticket: Ticket, name: str, arguments: object) -> None:
        """Judge the call as the tool will get it. A call that the parent will not accept is no event."""
        self._judge_call(ticket, name, arguments)
        if ticket.decision is not None and ticket.decision.allowed:
            self._told_of_start(ticket)

    def _told_of_start(self, ticket: Ticket) -> None:
        """A call may run."""

    def _judge_call(self, ticket: Ticket, name: str, arguments: object) -> None:
        ticket.tool = name
        accepted = self._accepted(name, arguments)
        if accepted is None:
            return
        ticket.args = hold(accepted)
        outers = outers_of(self)
        if not outers or name == FINAL_ANSWER:  # a member's answer is the result of its manager's call
            ticket.decision = self._decided(ticket, name)
            if not ticket.decision.allowed:
                self._ask(ticket, name, arguments, ticket.decision)
            return
        ticket.joint = JointCall(
            self.guard, outers, str(name), place=(ticket.step or 0,), approver=self._approver(), id=ticket.id,
            step=ticket.step, turn=self._turn(ticket),
        )  # fmt: skip
        verdict = ticket.joint.judge(ticket.args)
        ticket.decision = verdict.decision
        if not ticket.decision.allowed:
            self._ask(ticket, name, arguments, verdict)
            if not ticket.decision.allowed:
                ticket.joint.refused(ticket.decision.feedback)

    def _decided(self, ticket: Ticket, name: str) -> Decision:
        """What the guard alone says of a call."""
        if name == FINAL_ANSWER and ticket.ends and self.guard.asks_at_the_end:
            return self.guard.finish(ticket.args, id=ticket.id, step=ticket.step)
        return self.guard.propose(str(name), ticket.args, id=ticket.id, step=ticket.step, turn=self._turn(ticket))

    def _turn(self, ticket: Ticket) -> Turn | None:
        return None if self._goes_on is None else (self._goes_on, ticket.step or 0)

    def _ask(self, ticket: Ticket, name: str, given: object, said: Decision | Verdict) -> None:
        """Ask people about a refused call, where it is for people to allow it."""
        unsaid = left_out(self._tool(name), given) if isinstance(given, dict) else {}

        def own(args: Json) -> Ready:
            """The arguments as a call gives them: what it has left to the tool stays left to it."""
            values: dict[str, Any] = dict(thaw(args))
            kept = {name for name in unsaid if name in values and same(hold(values[name]), hold(unsaid[name]))}
            return Ready({name: value for name, value in values.items() if name not in kept})

        def propose(args: Json) -> Decision | Verdict | None:
            accepted = self._accepted(name, own(args))
            if accepted is None:
                return None
            ticket.args = hold(accepted)
            return ticket.joint.judge(ticket.args) if ticket.joint else self._decided(ticket, name)

        asked = self._asked(said, propose, step=ticket.step, id=ticket.id, joint=ticket.joint)
        ticket.decision, ticket.pending = asked.decision, asked.pending
        if asked.changed is not None:
            ticket.changed = own(asked.changed)
            if not ticket.decision.allowed:
                told = f"{ticket.decision.feedback}\n{changed_words(ticket)}"
                ticket.decision = ticket.decision._replace(feedback=told)

    def _settle(self, ticket: Ticket, result: object = None, error: BaseException | None = None) -> None:
        """Record what came of a call that was allowed."""
        if ticket.decision is not None and ticket.decision.allowed:
            text = None if error is None else error_text(error)
            status = "pending" if isinstance(ticket.end, PendingStopError) else None
            value = as_value(result)
            ticket.outcomes.append(self.guard.settle(ticket.decision, result=value, error=text, status=status))
            if ticket.joint is not None:
                ticket.outcomes += ticket.joint.settle(value, error, status)
