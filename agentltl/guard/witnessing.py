"""What a guard is told of that it has not judged: what the user says, and what happened elsewhere before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from agentltl.constraints.trace import Trace
from agentltl.guard.proposing import Proposing
from agentltl.guard.severity import ConstraintSeverity


class Witnessing(Proposing):
    """A guard that takes up what it hears of."""

    def said(self, text: str) -> None:
        """A message of the user: the task, or a later one. It lifts a stop, and the run's steps start anew."""
        if not isinstance(text, str):
            raise TypeError(f"said takes the text of a message, not {type(text).__name__}")
        with self._lock:
            self._state.said(text)

    def handed_over(self) -> None:
        """Another model goes on from here, which has not been told what the one before was told.

        What has happened stands: the calls with what came of them, what the user said, what was approved as an event,
        violations. What was held for the other model's next calls is void: that it may insist on a refused one, what
        people were asked and have allowed, and how often it was refused.
        """
        with self._lock:
            self._state.handed_over()

    def seen(self, trace: Trace) -> None:
        """Take up what has happened elsewhere, before: calls with what came of them, and what the user said.

        They have happened, so none is refused; what they break is on record, not enforced. Approvals are left out: they
        are for one guard alone. A call without a time counts as one of now.
        """
        with self._lock, self._watching():
            messages = list(trace.messages or ())
            begun = 0
            for place, call in enumerate(trace.calls):
                while messages and messages[0].before <= place:
                    self.said(messages.pop(0).text)
                    begun = (call.step or 1) - 1
                if call.approves is not None:
                    continue  # an approval is for one guard alone
                step = None if call.step is None else call.step - begun
                decision = self.propose(call.tool, call.args, id=call.id, step=step, agent=call.agent, start=call.start)
                if call.outcome is not None and decision.index is not None:
                    self._settled(decision, decision.index, self._state.calls[decision.index].settle(call.outcome))
            for message in messages:
                self.said(message.text)

    @contextmanager
    def _watching(self) -> Iterator[None]:
        """In here nothing is enforced, now and when the guard is made again from what has happened."""
        kept = self.settings, self._effective, self._lookahead
        stopped, self._state.stopped = self._state.stopped, None
        spoken = len(self._state.messages)
        self.settings, self._lookahead = replace(self.settings, enforce=False), None
        self._effective = dict.fromkeys(self._effective, ConstraintSeverity.TOLERATE)
        self._state.events.append(("watching", True))
        try:
            yield
        finally:
            self.settings, self._effective, self._lookahead = kept
            if len(self._state.messages) == spoken:
                self._state.stopped = stopped
            self._state.events.append(("watching", False))
