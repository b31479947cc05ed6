"""Chats in the forms of OpenAI and Anthropic, also mixed: the calls are the assistant's, the results come after them.

One assistant message is one step. A result finds its call by its id; where ids are missing or repeat, by order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import replace

from agentltl.constraints.readers.arguments import arguments, content_text, error_text
from agentltl.constraints.readers.fields import at, given, identity, mapping, name, quoted, rest
from agentltl.constraints.trace import NEVER, Call, Message, Outcome, Trace
from agentltl.constraints.value import FrozenDict, Json
from agentltl.errors import TraceError

UNRUN = frozenset({"blocked", "cancelled", "rejected"})
SILENT = frozenset({"system", "developer"})


def from_messages(messages: Iterable[Mapping[str, Json]] | Mapping[str, Json]) -> Trace:
    """The trace of a list of messages, or of a mapping that has one under `messages` (a request, a transcript).

    The other keys of the mapping become `fields`, and `id` the trace's id. A call without a result never settled. A
    result that is marked as an error (`is_error`, or an `error`) is a failure; any other is ok, whatever its text says.
    A call whose result has the `status` `blocked`, `cancelled` or `rejected`, as in the transcript of a `Result`, did
    not run and is not in the trace; a message of the user with `is_error` is none of the user's words.
    """
    identifier, fields, entries = None, FrozenDict(), messages
    if isinstance(messages, Mapping):
        identifier = identity(messages, "id")
        with at("the fields"):
            fields = rest(messages, "id", "messages", "tool_calls", "steps", "user_messages")
        if messages.get("messages") is None:
            raise TraceError("there is no list `messages`\npass the messages of the chat in a list")
        entries = messages["messages"]
    if isinstance(entries, (str, bytes, Mapping)) or not isinstance(entries, Iterable):
        raise TraceError(f"{quoted(entries)} is no list of messages\npass the messages of the chat in a list")
    chat = _Chat()
    for i, entry in enumerate(entries):
        with at(f"`messages[{i}]`"):
            chat.read(mapping(entry, "message"))
    ran = [place for place in range(len(chat.calls)) if place not in chat.unrun]
    calls = tuple(c if c.outcome is not None else c.settle(NEVER) for c in (chat.calls[place] for place in ran))
    said = tuple(replace(message, before=bisect_left(ran, message.before)) for message in chat.said)
    return Trace(calls, said, identifier, fields)


class _Chat:
    """The calls and the user's messages read so far; `unrun` are the indices of calls that did not run.

    `rounds` are the indices of calls that wait for a result: one list for each row of assistant messages with nothing
    between them.
    """

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.unrun: set[int] = set()
        self.said: list[Message] = []
        self.rounds: list[list[int]] = []
        self.step = 0
        self.in_round = False

    def read(self, message: Mapping[str, Json]) -> None:
        role = message.get("role")
        if role in SILENT:
            return
        if role == "assistant":
            self._assistant(message)
            return
        self.in_round = False
        if role in ("tool", "function"):
            self._settle(message, identity(message, "tool_call_id"), message.get("name"))
        elif role == "user":
            if not message.get("is_error"):
                self._user(message.get("content"))
        else:
            what = "there is no role" if role is None else f"{quoted(role)} is no role of a chat"
            raise TraceError(f"{what}\na message is of the system, developer, user, assistant, tool or function")

    def _assistant(self, message: Mapping[str, Json]) -> None:
        self.step += 1
        if not self.in_round:
            self.rounds.append([])
            self.in_round = True
        listed = message.get("tool_calls") or ()
        if not isinstance(listed, (list, tuple)):
            raise TraceError(f"`tool_calls` is {quoted(listed)} and no list\nwrite a list, or leave it out")
        ids = set()
        for i, entry in enumerate(listed):
            with at(f"`tool_calls[{i}]`"):
                ids.add(self._listed(mapping(entry, "tool call")))
        if message.get("function_call") is not None:
            with at("`function_call`"):
                self._listed({"function": mapping(message["function_call"], "function call")})
        for i, block in enumerate(_blocks(message.get("content"))):
            kind = str(block.get("type"))
            with at(f"`content[{i}]`"):
                if kind.endswith("tool_use"):
                    # Some clients repeat as a block what stands in `tool_calls`.
                    identifier = identity(block, "id")
                    if identifier is None or identifier not in ids:
                        self._start(name(block, "name"), block.get("input"), identifier)
                elif kind.endswith("tool_result"):
                    self._settle(block, identity(block, "tool_use_id"), None)

    def _listed(self, entry: Mapping[str, Json]) -> str | None:
        """One entry of `tool_calls`: the call stands under `function`, under `custom`, or in the entry itself."""
        inner = given(entry, "function", "custom")
        body = entry if inner is None else mapping(inner, "function")
        identifier = identity(entry, "id")
        self._start(name(body, "name"), given(body, "arguments", "args", "input"), identifier)
        return identifier

    def _start(self, tool: str, raw: Json, identifier: str | None) -> None:
        self.rounds[-1].append(len(self.calls))
        self.calls.append(Call(tool, arguments(raw), identifier, self.step))

    def _user(self, content: Json) -> None:
        if isinstance(content, str):
            self.said.append(Message(str(content), len(self.calls)))
            return
        others = []
        for i, block in enumerate(_blocks(content)):
            if str(block.get("type")).endswith("tool_result"):
                with at(f"`content[{i}]`"):
                    self._settle(block, identity(block, "tool_use_id"), None)
            else:
                others.append(block)
        if others:
            # A message of pictures alone is a message all the same: the one before it is no longer the latest.
            said = content_text(others)
            self.said.append(Message(said if isinstance(said, str) else "", len(self.calls)))

    def _settle(self, record: Mapping[str, Json], identifier: str | None, tool: Json) -> None:
        index = self._waiting(identifier, tool)
        if index is None:
            whose = "the result" if identifier is None else f"the result for {quoted(identifier)}"
            raise TraceError(f"{whose} belongs to no call before it\nkeep the assistant message that made the call")
        if record.get("status") in UNRUN:
            self.unrun.add(index)
        self.calls[index] = self.calls[index].settle(_outcome(record))

    def _waiting(self, identifier: str | None, tool: Json) -> int | None:
        """Take the call that a result belongs to from those that wait."""
        if identifier is not None:
            for waiting in reversed(self.rounds):
                for index in waiting:
                    if self.calls[index].id == identifier:
                        waiting.remove(index)
                        return index
        # By order only within the latest round: an older call that got no result is not to take a later one's.
        for index in self.rounds[-1] if self.rounds else ():
            call = self.calls[index]
            if (identifier is None or call.id is None) and tool in (None, call.tool):
                self.rounds[-1].remove(index)
                return index
        return None


def _blocks(content: Json) -> list[Mapping[str, Json]]:
    """The blocks of a content that is a list; a plain text has none."""
    if content is None or isinstance(content, str):
        return []
    if not isinstance(content, (list, tuple)):
        raise TraceError(f"the content {quoted(content)} is neither text nor a list of blocks\nwrite one of the two")
    blocks = [{"type": "text", "text": b} if isinstance(b, str) else mapping(b, "block") for b in content]
    for i, block in enumerate(blocks):
        if not isinstance(block.get("type"), str):
            raise TraceError(
                f"`content[{i}]`: the block has no type\nwrite `text`, `tool_use` or the like under `type`"
            )
    return blocks


def _outcome(record: Mapping[str, Json]) -> Outcome:
    content = record.get("content")
    if isinstance(content, (list, tuple)):
        content = [b.model_dump() if hasattr(b, "model_dump") else b for b in content]
    result = content_text(content)
    error = error_text(record.get("error"))
    if error is None and isinstance(content, Mapping) and str(content.get("type")).endswith("_error"):
        error = error_text(given(content, "error_code", "message")) or "error"
    if error is None and record.get("is_error"):
        error = result if isinstance(result, str) and result else "error"
    return Outcome.of(result, error)
