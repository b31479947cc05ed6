"""Real MCP servers for the tests, and what must not be left of them."""

import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SERVER = Path(__file__).parent / "desk_server.py"
Settings = dict[str, Any]


def stdio(*only: str, **more: Any) -> Settings:
    """The settings of the server as a process, with some of its tools or all."""
    return {"command": sys.executable, "args": [str(SERVER), *(["--only", *only] if only else [])], **more}


@dataclass
class HttpServer:
    """The server on a port of this machine."""

    port: int
    only: tuple[str, ...]
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def start(self) -> None:
        command = [
            sys.executable,
            str(SERVER),
            "--port",
            str(self.port),
            *(["--only", *self.only] if self.only else []),
        ]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 30
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise AssertionError("the server has not started")

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def children() -> set[int]:
    """The processes that this one has started and that still run."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == os.getpid() and state != "Z":
            found.add(int(folder.name))
    return found
