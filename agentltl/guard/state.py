"""All that a guard knows of a conversation: the calls, the state of its rules, and what was broken."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agentltl.constraints.panel import Panel
from agentltl.constraints.trace import Call, Message
from agentltl.guard.approvals import Approvals
from agentltl.guard.counts import Counts
from agentltl.guard.decision import Decision, Violation

Event = tuple[Any, ...]
"""What happened to a guard, in order: `("said", text)`, `("propose", call, step)` with the run's step,
`("settle", index)`, `("approve", answer)`, `("deny", answer)`."""


@dataclass(slots=True)
class State:
    """`calls` are those that have started; `stopped` is the decision that stopped the run.

    `counts` is what severities count, `approvals` what people were asked and have allowed, `events` all that has
    happened.
    `proposed` counts the proposals, `checks` those among them that `constraint_checks` counts, and `forgotten` the
    calls before a reset (`proposed_before` the proposals): numbers count on, so what comes late for a forgotten call is
    known as such.
    A run's step is the call's own minus `steps_before`; `latest` is when the last call started, in seconds;
    `unjudged` are the constraints of which the log says that they could not be judged.
    """

    panel: Panel
    calls: list[Call] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    events: list[Event] = field(default_factory=list)
    stopped: Decision | None = None
    checks: int = 0
    proposed: int = 0
    forgotten: int = 0
    proposed_before: int = 0
    steps_before: int = 0
    latest: float = 0.0
    unjudged: set[str] = field(default_factory=set)
    approvals: Approvals = field(default_factory=Approvals)

    def copy(self) -> State:
        """A copy that goes its own way."""
        return State(
            self.panel,
            list(self.calls),
            list(self.messages),
            list(self.violations),
            self.counts,
            list(self.events),
            self.stopped,
            self.checks,
            self.proposed,
            self.forgotten,
            self.proposed_before,
            self.steps_before,
            self.latest,
            set(self.unjudged),
            self.approvals,
        )

    def renewed(self, panel: Panel) -> State:
        """The state of a new conversation."""
        return State(
            panel,
            proposed=self.proposed,
            proposed_before=self.proposed,
            forgotten=self.forgotten + len(self.calls),
        )

    def said(self, text: str) -> None:
        """The user has spoken: a stop is lifted, and the run's steps start anew."""
        self.messages.append(Message(text, len(self.calls)))
        self.events.append(("said", text))
        self.stopped = None
        self.steps_before = max((call.step for call in self.calls if call.step is not None), default=0)

    def step(self, of_run: int | None) -> int | None:
        """The conversation's number of a step of this run."""
        return None if of_run is None else self.steps_before + of_run

    def id(self, index: int) -> str:
        """The guard's own id of a call that has started."""
        return f"event-{self.forgotten + index}"
