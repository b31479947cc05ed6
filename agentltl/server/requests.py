"""What the SDK makes of a request before the agent sees it: the state of a call, and a message that can be answered."""

from __future__ import annotations

from a2a.server.agent_execution import RequestContext, SimpleRequestContextBuilder
from a2a.server.context import ServerCallContext
from a2a.server.routes import ServerCallContextBuilder
from a2a.types import SendMessageRequest, Task
from a2a.utils.errors import ContentTypeNotSupportedError, InvalidParamsError
from starlette.requests import Request

from agentltl.server.gate import SLOT
from agentltl.server.tasks import Tasks
from agentltl.server.values import task_of

_HEADERS = ("a2a-version", "a2a-extensions")


class CallContexts(ServerCallContextBuilder):
    """The state of a call: its slot, and of the headers only those of the protocol, so that no token is kept."""

    def build(self, request: Request) -> ServerCallContext:
        """The context of a request."""
        headers = {name: request.headers[name] for name in _HEADERS if name in request.headers}
        return ServerCallContext(state={"headers": headers, SLOT: request.scope.get(SLOT)})


class RequestContexts(SimpleRequestContextBuilder):
    """The context of a message; one that gives no task is an error of the protocol, and makes none.

    A message that goes on with one of `tasks` belongs to its conversation, also where it does not say so. Only one that
    waits for input goes on; the SDK would queue what is sent to one that works, and answer it with the answer it has.
    """

    def __init__(self, tasks: Tasks) -> None:
        super().__init__()
        self._tasks = tasks

    async def build(
        self,
        context: ServerCallContext,
        params: SendMessageRequest | None = None,
        task_id: str | None = None,
        context_id: str | None = None,
        task: Task | None = None,
    ) -> RequestContext:
        """The context of a message. Raises what the client is told."""
        if params is not None:
            if any(part.WhichOneof("content") in ("raw", "url") for part in params.message.parts):
                raise ContentTypeNotSupportedError("files are not taken: send text or data")
            if not task_of(params.message):
                raise InvalidParamsError("the message gives no task: send a text")
        if task_id is not None and context_id is None:
            known = await self._tasks.get(task_id, context)
            context_id = known.context_id if known is not None else None
        if task_id is not None:
            self._tasks.take(task_id, context.state[SLOT])
        return await super().build(context, params, task_id, context_id, task)
