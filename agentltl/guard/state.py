"""All that a guard knows of a conversation: the calls, the state of its rules, and what was broken."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any

from agentltl.constraints.panel import Panel
from agentltl.constraints.trace import Call, Message
from agentltl.guard.approvals import Approvals
from agentltl.guard.counts import Counts
from agentltl.guard.decision import Decision, Violation

Event = tuple[Any, ...] | int
"""What happened to a guard, in order: `("said", text)`, `("propose", call, step)` with the run's step (the call alone
if that is its own), the index of a call that has settled, `("approve", call, answer)`, `("deny", call, answer)`,
`("finish", call, step, last)` where `call` is the answer or None, `("watching", on)` from where on nothing is
enforced, or is again, `("handed over",)`."""

Turn = tuple[int, int] | tuple[int, int, int]
"""A message of a managed agent: which of its runs (a number that no other run has), and the step in that run. Where one
message has several steps, as that of a code agent has, the third is the number of the message in that run."""

SPAN = 1_000_000
"""How many steps a run of a managed agent may have in the numbering of a conversation."""


@dataclass(slots=True)
class State:
    """`calls` are those that have started; `stopped` is the decision that stopped the run.

    `counts` is what severities count, `approvals` what people were asked and have allowed, `events` all that has
    happened.
    `proposed` counts the proposals, `checks` those among them that `constraint_checks` counts, and `forgotten` the
    calls before a reset (`proposed_before` the proposals): numbers count on, so what comes late for a forgotten call is
    known as such.
    The steps of a run count on from those before it: `steps_before` for this run, and `runs` has the same for each run
    but the first, oldest first; `latest` is when the last call started, in seconds;
    `unjudged` are the constraints of which the log says that they could not be judged.
    Since the user spoke last, the model has been sent back from its answer `asked` times, and what the constraints of
    the names `charged` owed at the end is on record.
    The steps of a managed agent's run begin after its base, in `bases`; `turns` tells what such a step is: the step of
    the manager's run, and the agent's own message. `top` is the greatest step there was.
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
    runs: tuple[int, ...] = ()
    latest: float = 0.0
    unjudged: set[str] = field(default_factory=set)
    approvals: Approvals = field(default_factory=Approvals)
    asked: int = 0
    charged: frozenset[str] = frozenset()
    bases: dict[int, int] = field(default_factory=dict)
    turns: dict[int, tuple[int | None, Turn]] = field(default_factory=dict)
    top: int = 0

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
            self.runs,
            self.latest,
            set(self.unjudged),
            self.approvals,
            self.asked,
            self.charged,
            dict(self.bases),
            dict(self.turns),
            self.top,
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
        started = max((call.step for call in self.calls if call.step is not None), default=0)
        self.steps_before = max(started, self.steps_before + self.latest_step)
        self.runs += (self.steps_before,)
        self.messages.append(Message(text, len(self.calls)))
        self.events.append(("said", text))
        self.stopped = None
        self.asked, self.charged = 0, frozenset()

    def handed_over(self) -> None:
        """Another model goes on."""
        self.events.append(("handed over",))
        self.counts, self.approvals = self.counts.handed_over(), self.approvals.handed_over()

    @property
    def latest_step(self) -> int:
        """The latest step of this run in which something was proposed, refused calls included; 0 if nothing was."""
        latest = 0
        for event in reversed(self.events):
            match event:
                case ("said", _):
                    break
                case Call(step=step) | ("propose" | "finish", _, step, *_) if step is not None and step > latest:
                    latest = step
        return latest

    def step(self, of_run: int | None, turn: Turn | None = None) -> int | None:
        """The conversation's number of a step of this run; with `turn` that of a managed agent's message in it."""
        if turn is None:
            if of_run is None:
                return None
            number = self.steps_before + of_run
        else:
            number = self.bases.setdefault(turn[0], self.apart()) + turn[1]
            self.turns[number] = of_run, turn
        if number > self.top:
            self.top = number
        return number

    def apart(self) -> int:
        """A step that is behind all there were, and in reach of no managed agent's run."""
        return (self.top // SPAN + 1) * SPAN

    def message(self, step: int | None) -> int | None:
        """The conversation's number of the message that has this step: that of its first step, or of one beside it."""
        known = None if step is None else self.turns.get(step)
        if known is None or len(known[1]) == 2:
            return step
        run, _, message = known[1]
        return self.bases[run] + message

    def step_of_run(self, step: int | None) -> int | None:
        """The step of a run that has that number in the conversation, of an earlier one for what comes late; for a
        managed agent's the manager's step."""
        if step is None:
            return None
        known = self.turns.get(step)
        if known is not None:
            return known[0]
        earlier = bisect_left(self.runs, step)
        return step - self.runs[earlier - 1] if earlier else step

    def own(self, index: int) -> int:
        """The guard's own number of a call that has started, which counts on after a reset."""
        return self.forgotten + index
