"""A provider on this machine: real HTTP, with answers that a test writes down and requests that it can look at."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from agentltl.agents.models.local import LocalModel
from agentltl.cli.demo.recording import NOWHERE, settings


class Provider(ThreadingHTTPServer):
    """Answers every POST with the next of `answers`, the last one for ever: (status, object), or a list of chunks."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[Any] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.url = f"http://127.0.0.1:{self.server_port}"

    def next_answer(self) -> Any:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class Handler(BaseHTTPRequestHandler):
    server: Provider

    def log_message(self, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        length = int(self.headers["content-length"])
        self.server.requests.append(json.loads(self.rfile.read(length)))
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        answer = self.server.next_answer()
        if isinstance(answer, list):
            lines = [*(json.dumps(chunk) for chunk in answer), "[DONE]"]
            self.send(200, "text/event-stream", "".join(f"data: {line}\n\n" for line in lines))
        else:
            status, value = answer
            self.send(status, "application/json", json.dumps(value))

    def send(self, status: int, kind: str, body: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def ask() -> Any:
    """One user message, as smolagents writes it."""
    return [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]


@pytest.fixture(autouse=True)
def no_keys_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AGENTLTL_LOCAL_MODEL", "AGENTLTL_DOWNLOAD", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def vcr_config() -> dict[str, Any]:
    return settings()


@pytest.fixture(scope="module")
def vcr_cassette_dir(request: pytest.FixtureRequest) -> str:
    """`cassettes/<test file>` at the top of the repository."""
    return str(Path(request.config.rootpath, "cassettes", request.path.stem))


@pytest.fixture
def recorded_model(record_mode: str) -> LocalModel:
    """The embedded model as it was recorded; with `--record-mode` the real one, which must be in the cache."""
    return LocalModel(server=NOWHERE) if record_mode == "none" else LocalModel("1.5b")
