"""Asking a model: every call of a model that is not a wrapper is made here, told when it is over, and bounded.

So each attempt is told once, by whatever wrappers it came. Of a model that is not ours and has asked another one by
these wrappers, the calls that it made are told and not its own.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from smolagents import LiteLLMModel
from smolagents.models import ChatMessage, ChatMessageStreamDelta, Model

from agentltl.agents.attempt import Attempting, report_of_stream, thinking_in, thinking_in_stream
from agentltl.agents.models.bounded import bounded, bounded_pieces
from agentltl.agents.models.errors import CircuitOpenError, EmptyReplyError, ModelTimeoutError
from agentltl.agents.models.hidden_error import hide_in_error
from agentltl.agents.models.litellm_client import load_litellm
from agentltl.agents.models.litellm_model import LiteLLMModelWithReport
from agentltl.agents.models.redaction import known_secrets, secrets_of
from agentltl.agents.models.report import ATTRIBUTE, ModelReport, report_of
from agentltl.agents.models.watch import SHORTEST, longest_call, shortest, watch, watched_by, within
from agentltl.agents.models.wrapper import Wrapper
from agentltl.errors import RunLimitError

NOTHING = nullcontext()
Messages = Sequence[ChatMessage]
Stream = Generator[ChatMessageStreamDelta]


def ask(model: Model, messages: Messages, *args: Any, **kwargs: Any) -> ChatMessage:
    """A reply of the model. Raises what the call raises, without keys, and `RunLimitError` when none may be made."""
    if isinstance(model, Wrapper):
        return model.generate(messages, *args, **kwargs)
    call = LeafCall(model)
    try:
        with call.inside():
            reply = call.generate(messages, *args, **kwargs)
    except BaseException as error:
        call.failed(error, getattr(error, ATTRIBUTE, ModelReport()), None)
        raise
    call.over(report_of(reply), thinking_in(reply))
    return reply


def ask_stream(model: Model, messages: Messages, *args: Any, **kwargs: Any) -> Stream:
    """A reply of the model as it is written, with the errors of `ask`."""
    if isinstance(model, Wrapper):
        yield from model.generate_stream(messages, *args, **kwargs)
        return
    call, deltas = LeafCall(model, streaming=True), list[ChatMessageStreamDelta]()
    try:
        for delta in within(call.inside, call.stream(messages, *args, **kwargs)):
            call.came(delta)
            deltas.append(delta)
            yield delta
            call.require_time()
        call.require_reply(deltas)
    except BaseException as error:
        report = report_of_stream(deltas)
        call.failed(error, report, thinking_in_stream(deltas, report))
        raise
    report = report_of_stream(deltas)
    call.over(report, thinking_in_stream(deltas, report))


class LeafCall:
    """One call of a model that is no wrapper, from now on. Raises `RunLimitError` when it may not be made."""

    def __init__(self, model: Model, *, streaming: bool = False) -> None:
        self._model, self._watch = model, watch()
        if isinstance(model, LiteLLMModel):
            load_litellm()  # here, so that its import is no part of the call's time
        self._reserved = None if self._watch is None else self._watch.reserve()
        self._longest = longest_call()
        # What a model of somebody else's asks by our wrappers is told to this one first; known models ask nobody.
        self._below = None if self._watch is None or is_known(model) else self._watch.below(self._reserved)
        self._attempt = Attempting(name_of(model), streaming=streaming)
        self.came = self._attempt.came

    def inside(self) -> AbstractContextManager[None]:
        """While the model is running."""
        return NOTHING if self._below is None else watched_by(self._below)

    def generate(self, *args: Any, **kwargs: Any) -> ChatMessage:
        """The model's `generate`, in its time."""
        seconds = self._seconds()
        if seconds is None:
            return self._model.generate(*args, **kwargs)
        more: dict[str, Any] = {**kwargs, **self._timeout(seconds)}
        call = partial(self._model.generate, *args, **more)
        return bounded(call, seconds, self._name)

    def stream(self, *args: Any, **kwargs: Any) -> Stream:
        """The model's `generate_stream`; the time is that to the first piece, and from one piece to the next."""
        stream: Any = self._model  # of the base class's methods it is one that a model may have
        seconds = self._seconds()
        if seconds is None:
            yield from stream.generate_stream(*args, **kwargs)
            return
        begin = partial(stream.generate_stream, *args, **kwargs, **self._timeout(seconds))
        yield from bounded_pieces(begin, lambda: self._seconds() or seconds, self._name)

    def _seconds(self) -> float | None:
        """How long may be waited from now on, None for as long as it takes."""
        left = None if self._watch is None else self._watch.seconds_left()
        return shortest(self._longest, None if left is None else max(left, SHORTEST))

    def _timeout(self, seconds: float) -> dict[str, float]:
        """What tells the model's client to give up, too. It counts each read from the network by itself, so a reply
        that drips is not ended by it; but it ends the thread of a call that nobody waits for."""
        return {"timeout": seconds} if takes_timeout(self._model) else {}

    def require_time(self) -> None:
        """Raise if the run is out of time, however steadily the pieces of a stream come."""
        left = None if self._watch is None else self._watch.seconds_left()
        if left is not None and left <= 0:
            raise ModelTimeoutError(f"`{self._name}` was still writing when the run was out of time")

    def require_reply(self, deltas: list[ChatMessageStreamDelta]) -> None:
        """Raise if nothing at all has come: a stream without a piece is no answer, whoever's model it is."""
        if not deltas:
            raise EmptyReplyError(f"`{self._name}` answered without a piece\ntry again, or look at the provider")

    def over(self, report: ModelReport, thinking: str | None, error: BaseException | None = None) -> None:
        """The call is over, with this report."""
        below = self._below
        if below is not None:
            below.closed = True
        if self._watch is None:
            return
        spending = self._watch.spending
        if (below is not None and below.heard) or isinstance(error, RunLimitError | CircuitOpenError):
            if spending is not None:
                spending.release(self._reserved)
            return
        attempt = self._attempt.over(report, thinking, error)
        if spending is not None:
            spending.add(attempt, self._reserved)
        self._watch.tell(attempt)

    def failed(self, error: BaseException, report: ModelReport, thinking: str | None) -> None:
        """The call has failed. Raises `RunLimitError` if that is because the run is out of time."""
        hide_in_error(error, known_secrets(*secrets_of(self._model)))
        self.over(report, thinking, error)
        if isinstance(error, Exception) and self._watch is not None and self._watch.spending is not None:
            try:
                self._watch.spending.check_time()
            except RunLimitError as late:
                raise late from error

    @property
    def _name(self) -> str:
        return name_of(self._model) or type(self._model).__name__


def is_known(model: Model) -> bool:
    """Whether this is a model of smolagents or of this library: it asks no other one, and copies messages before it
    changes them."""
    return type(model).__module__.startswith(("smolagents.", "agentltl."))


def name_of(model: Model) -> str | None:
    """The name of a model, None for one that has none."""
    name = getattr(model, "model_id", None)
    return name if isinstance(name, str) else None


def takes_timeout(model: Model) -> bool:
    """Whether a request of the model can be given a time limit. smolagents puts a model's own one before a call's."""
    if isinstance(model, LiteLLMModelWithReport):
        return True
    return isinstance(model, LiteLLMModel) and "timeout" not in model.kwargs
