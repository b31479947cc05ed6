"""A provider on this machine that misbehaves on demand: OpenAI's chat completions over HTTP, whole and streamed.

Each request is answered as the next of `will` says; past their end by good answers. What it may do is in `Handler`.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


@dataclass(frozen=True)
class Fault:
    """What a request is answered with: a `status` with `headers` and a `body`, or something else that `does` it."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    does: str = "answer"


def failing(status: int, message: str = "come back later", code: str | None = None, **headers: str) -> Fault:
    """An error as OpenAI writes it."""
    error = {"error": {"message": message, "type": "error", "param": None, "code": code}}
    return Fault(status, error, {name.replace("_", "-"): value for name, value in headers.items()})


RESET = Fault(does="reset")
HANG = Fault(does="hang")
DRIP = Fault(does="drip")
HALF = Fault(does="half")
CUT_OFF = Fault(does="cut_off")
INVALID = Fault(body="{ this is no JSON")
BAD_PIECE = Fault(does="bad_piece")
NO_CHOICES = Fault(does="no_choices")


@dataclass(frozen=True)
class Says:
    """A good answer: calls (name, arguments as a dict or as a text), or a text."""

    calls: tuple[tuple[str, Any], ...] = ()
    text: str | None = None
    finish: str | None = None


class Provider(ThreadingHTTPServer):
    """`requests` are the bodies that came, `headers` their headers. `close` lets go of everything that hangs."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.will: list[Fault | Says] = []
        self.model = "gpt-4o-2024-08-06"
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.over = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        self._lock = threading.Lock()

    def next(self) -> Fault | Says:
        with self._lock:
            return self.will.pop(0) if self.will else Says(text="Nothing more to say.")

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone is what some tests are about."""


class Handler(BaseHTTPRequestHandler):
    server: Provider

    def log_message(self, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append(request)
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        will, streamed = self.server.next(), bool(request.get("stream"))
        if isinstance(will, Says):
            self.stream(chunks(will, self.server.model)) if streamed else self.whole(
                200, reply(will, self.server.model)
            )
            return
        match will.does:
            case "answer":
                self.whole(will.status, will.body, will.headers)
            case "reset":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
            case "hang":
                self.server.over.wait(20)
            case "drip":
                self.drip(streamed)
            case "half" | "cut_off":
                self.half(streamed, announced=will.does == "half")
            case "bad_piece":
                self.begin(200, "text/event-stream", {})
                self.wfile.write(b"data: { this is no JSON\n\ndata: [DONE]\n\n")
            case "no_choices":
                empty = {**reply(Says(text=""), self.server.model), "choices": []}
                self.stream([{**empty, "object": "chat.completion.chunk"}]) if streamed else self.whole(200, empty)

    def drip(self, streamed: bool) -> None:
        """Something comes all the time, and never an answer."""
        self.begin(200, "text/event-stream" if streamed else "application/json", {})
        while not self.server.over.wait(0.02):
            self.wfile.write(b": wait\n\n" if streamed else b" ")

    def whole(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        body = (value if isinstance(value, str) else json.dumps(value)).encode()
        self.begin(status, "application/json", {"content-length": str(len(body)), **(headers or {})})
        self.wfile.write(body)

    def stream(self, pieces: list[dict[str, Any]]) -> None:
        self.begin(200, "text/event-stream", {})
        for piece in pieces:
            self.wfile.write(f"data: {json.dumps(piece)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def half(self, streamed: bool, *, announced: bool) -> None:
        """The beginning of an answer. `announced`: of a known length, so that HTTP itself shows what is missing."""
        length = {"content-length": "100000"} if announced else {}
        if streamed:
            self.begin(200, "text/event-stream", length)
            for piece in chunks(Says(text="The beginning of"), self.server.model)[:2]:
                self.wfile.write(f"data: {json.dumps(piece)}\n\n".encode())
        else:
            self.begin(200, "application/json", length)
            self.wfile.write(json.dumps(reply(Says(text="The beginning of"), self.server.model)).encode()[:60])

    def begin(self, status: int, kind: str, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"content-type": kind, **headers}.items():
            self.send_header(name, value)
        self.end_headers()


def reply(says: Says, model: str) -> dict[str, Any]:
    """A whole answer."""
    message: dict[str, Any] = {"role": "assistant", "content": says.text}
    if says.calls:
        message["tool_calls"] = [written(index, call) for index, call in enumerate(says.calls)]
    choice = {"index": 0, "message": message, "finish_reason": finish(says)}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": model, "choices": [choice], "usage": USAGE}


def chunks(says: Says, model: str) -> list[dict[str, Any]]:
    """The pieces of a streamed answer: words, calls, the end, the usage."""
    deltas: list[dict[str, Any]] = [{"content": f"{word} "} for word in (says.text or "").split()]
    deltas += [{"tool_calls": [{"index": index, **written(index, call)}]} for index, call in enumerate(says.calls)]
    base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": model}
    choices = [{"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": finish(says)})
    return [*({**base, "choices": [choice]} for choice in choices), {**base, "choices": [], "usage": USAGE}]


def written(index: int, call: tuple[str, Any]) -> dict[str, Any]:
    name, given = call
    arguments = given if isinstance(given, str) else json.dumps(given)
    return {"id": f"call_{index}_{name}", "type": "function", "function": {"name": name, "arguments": arguments}}


def finish(says: Says) -> str:
    return says.finish or ("tool_calls" if says.calls else "stop")


@contextmanager
def serving() -> Iterator[Provider]:
    """A provider that answers while this lasts."""
    with Provider() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
            thread.join()
