"""The connection to one MCP server, from its start to its end; all of it runs in the event loop of its servers.

A connection lives in a task of its own, because what the SDK opens must be closed by the task that opened it. It is
lost when that task is over.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic_core import to_jsonable_python

from agentltl.agents.limits import as_seconds
from agentltl.agents.mcp.contents import failure_of
from agentltl.agents.mcp.errors import McpServerError, McpToolError
from agentltl.agents.mcp.settings import Http, Server
from agentltl.agents.mcp.transport import LastWords, session
from agentltl.constraints.value import as_text

if TYPE_CHECKING:
    from mcp import ClientSession
    from mcp.types import CallToolResult, Tool

log = logging.getLogger("agentltl")

_END_SECONDS = 6.0
"""A process has two seconds to end by itself and two more when it is told to, before it is killed."""
_PING_SECONDS = 5.0
_MOST_PAGES = 1000
_CLOSED, _FORGOTTEN = "Connection closed", "Session terminated"
"""What the SDK says for the server when the connection has ended, and when an HTTP server does not know the session."""


@dataclass(frozen=True, slots=True, eq=False)
class _Link:
    """One session: the task that it lives in, and what tells it to end."""

    session: ClientSession
    task: asyncio.Task[None]
    leave: asyncio.Event


class Connection:
    """A server that is spoken to. `error` is why it cannot be, None while it can."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.error: McpServerError | None = None
        self._link: _Link | None = None
        self._task: asyncio.Task[None] | None = None
        self._leave = asyncio.Event()
        self._closed = False
        self._opening = asyncio.Lock()
        self._words = LastWords(server)

    async def open(self) -> list[Tool]:
        """Connect and list the tools. Raises `McpServerError`."""
        self._words, self._leave = LastWords(self.server), asyncio.Event()
        ready: asyncio.Future[tuple[ClientSession, list[Tool]]] = asyncio.get_running_loop().create_future()
        task = self._task = asyncio.create_task(self._live(ready, self._leave))
        task.add_done_callback(_seen)
        limit = self.server.start_timeout
        either: set[asyncio.Future[Any]] = {task, ready}
        try:
            await asyncio.wait(either, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        except BaseException:
            task.cancel()
            raise
        if ready.done():
            opened, tools = ready.result()
            self._link, self.error = _Link(opened, task, self._leave), None
            return tools
        if task.done():
            why = self._error("cannot be reached", _cause(task))
        else:
            await self._end(at_once=True)
            why = self._error(f"has not started within {as_seconds(limit)} seconds", None)
        if self.error is None:
            log.error("%s", why)
        self.error = why
        raise why

    async def call(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        """What the server answers. Raises `McpServerError`, or `McpToolError` when the call has failed.

        A server on HTTP that was lost is connected to once more; a process is not started a second time, because
        what it knew is gone.
        """
        try:
            sent = to_jsonable_python(arguments)
        except ValueError as error:
            raise McpToolError(f"the arguments are no JSON: {error}") from None
        link = await self._linked()
        limit = self.server.call_timeout
        answer = asyncio.ensure_future(link.session.call_tool(tool, sent))
        answer.add_done_callback(_seen)
        try:
            async with asyncio.timeout(limit):
                await self._answered(answer, link)
        except TimeoutError:
            problem = f"has not answered a call of `{tool}` within {as_seconds(limit)} seconds"
            raise McpServerError(self.server.name, problem) from None
        finally:
            answer.cancel()
        failed = answer.exception() if answer.done() and not answer.cancelled() else None
        if not answer.done() or answer.cancelled() or (failed is not None and await self._is_lost(failed, link)):
            raise await self._lost(link, failed)
        if failed is not None:
            raise McpToolError(self.server.tell(_text(failed)))
        if (failure := failure_of(answer.result())) is not None:
            raise McpToolError(self.server.tell(failure))
        return answer.result()

    async def close(self) -> None:
        """End the session and the process. It takes a bounded time and raises nothing."""
        starting = self._link is None
        self._link, self._closed = None, True
        self.error = McpServerError(self.server.name, "is not connected any more", "its connection has been closed")
        await self._end(at_once=starting)

    async def _live(self, ready: asyncio.Future[tuple[ClientSession, list[Tool]]], leave: asyncio.Event) -> None:
        """Open, be there until told to leave, close."""
        async with session(self.server, self._words) as opened:
            await opened.initialize()
            tools = await _listed(opened)
            if not ready.done():
                ready.set_result((opened, tools))
            await leave.wait()

    async def _linked(self) -> _Link:
        """The session to be used for a call."""
        async with self._opening:
            if self._link is not None and self._link.task.done():
                await self._lost(self._link, None)
            if self._link is None and isinstance(self.server, Http) and not self._closed:
                await self._end()
                await self.open()
                log.warning("the MCP server `%s` is connected again", self.server.name)
            if self._link is None:
                assert self.error is not None
                raise self.error.again()
            return self._link

    async def _answered(self, answer: asyncio.Future[Any], link: _Link) -> None:
        """Wait until there is an answer or the connection has ended.

        The SDK does not notice that an HTTP server ends while it works on a call, but it does when a ping fails.
        """
        ping: asyncio.Future[Any] | None = None
        either: set[asyncio.Future[Any]] = {answer, link.task}
        try:
            while not (answer.done() or link.task.done()):
                await asyncio.wait(either, timeout=_PING_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                if isinstance(self.server, Http) and (ping is None or ping.done()):
                    ping = asyncio.ensure_future(link.session.send_ping())
                    ping.add_done_callback(_seen)
        finally:
            if ping is not None:
                ping.cancel()

    async def _is_lost(self, error: BaseException, link: _Link) -> bool:
        """Has the session ended, or has only this call failed?"""
        from mcp.shared.exceptions import McpError

        if isinstance(error, McpError) and error.error.message != _CLOSED:
            return error.error.message == _FORGOTTEN and isinstance(self.server, Http)
        if isinstance(error, ValueError | RuntimeError):  # an answer that is none, or that does not fit its schema
            return False
        await asyncio.wait({link.task}, timeout=_END_SECONDS)
        return link.task.done()

    async def _lost(self, link: _Link, error: BaseException | None) -> McpServerError:
        """The session has been lost: let what is left of it end, and say so once."""
        link.leave.set()
        await asyncio.wait({link.task}, timeout=_END_SECONDS)
        why = self._error("has gone away", (_cause(link.task) if link.task.done() else None) or error)
        if self._link is link:
            self._link, self.error = None, why
            log.error("%s", why)
        return self.error.again() if self._closed and self.error is not None else why

    async def _end(self, *, at_once: bool = False) -> None:
        """Leave the session; what does not end by itself is cancelled."""
        self._leave.set()
        if (task := self._task) is None:
            return
        await asyncio.wait({task}, timeout=0 if at_once else _END_SECONDS)
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=_END_SECONDS)

    def _error(self, problem: str, cause: BaseException | None) -> McpServerError:
        """An error with what is known about it, and no secret in it."""
        said = [self.server.tell(as_text(cause))] if cause is not None else []
        if self._words.last:
            said.append(f"it said: {self._words.last}")
        return McpServerError(self.server.name, problem, "\n".join([*filter(None, said), f"it is {self.server.place}"]))


async def _listed(opened: ClientSession) -> list[Tool]:
    """All tools of a server, page by page."""
    page = await opened.list_tools()
    tools = list(page.tools)
    for _ in range(_MOST_PAGES):
        if not page.nextCursor:
            break
        page = await opened.list_tools(page.nextCursor)
        tools += page.tools
    return tools


def _cause(task: asyncio.Task[None]) -> BaseException | None:
    """Why a task has ended, taken out of the groups that the SDK puts around it: an error that says something first."""
    waiting = [None if task.cancelled() else task.exception()]
    found: list[BaseException] = []
    while waiting:
        error = waiting.pop(0)
        if isinstance(error, BaseExceptionGroup):
            waiting += error.exceptions
        elif error is not None:
            found.append(error)
    return next((error for error in found if as_text(error)), found[0] if found else None)


def _text(error: BaseException) -> str:
    return as_text(error) or type(error).__name__


def _seen(future: asyncio.Future[Any]) -> None:
    """Look at the error of a future that is done, so that nobody complains that no one has."""
    if not future.cancelled():
        future.exception()
