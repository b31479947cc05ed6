"""A peer: its environment under `build/peers`, made on first use, and its process, asked one question at a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[3]
HOME = ROOT / "build" / "peers"
RELEASES = {
    "upstream": "agentltl==0.2.1",
    "upstream_agents": "agentltl[smolagents]==0.2.1",
    "sponsio": "sponsio==0.2.0a21",
    "reelay": "reelay==25.0.0",
}
"""What is installed for each peer. The names are those of the modules beside this one."""


class Missing(Exception):
    """There is no figure, and the message says why."""


class Peer:
    """The process of one peer. `ask` raises `Missing` when the peer cannot answer."""

    def __init__(self, name: str) -> None:
        python = installed(name)
        kept = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
        self.log = HOME / f"{name}.log"
        with open(self.log, "w") as log:
            process = subprocess.Popen(
                [python, "-m", f"measure.peers.{name}"],
                cwd=ROOT / "benchmarks",
                env=kept,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert process.stdin is not None
        assert process.stdout is not None
        self.process, self.questions, self.answers = process, process.stdin, process.stdout

    def ask(self, work: str, **settings: object) -> float:
        """The seconds of one unit of some work."""
        try:
            self.questions.write(json.dumps({"work": work, **settings}) + "\n")
            self.questions.flush()
            line = self.answers.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise Missing(f"its process has ended, see {self.log.relative_to(ROOT)}")
        answer = json.loads(line)
        if "error" in answer:
            raise Missing(answer["error"])
        return float(answer["seconds"])

    def close(self) -> None:
        """End the process."""
        with suppress(BrokenPipeError):
            self.questions.close()
        self.answers.close()
        self.process.wait(30)


def installed(name: str) -> Path:
    """The Python of the peer's environment, which is made if it is not there; `Missing` if that fails."""
    release, home = RELEASES[name], HOME / name
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    stamp = home / "release"
    if stamp.exists() and stamp.read_text() == release:
        return python
    print(f"installing {release} into {home.relative_to(ROOT)}, once", file=sys.stderr)
    for command in (
        [sys.executable, "-m", "venv", "--clear", str(home)],
        [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check", release],
    ):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        except subprocess.TimeoutExpired:
            raise Missing(f"{release} was not installed in 300 s") from None
        if done.returncode:
            last = next(iter(reversed(done.stderr.strip().splitlines())), "no message")
            raise Missing(f"{release} does not install: {last}")
    stamp.write_text(release)
    return python
