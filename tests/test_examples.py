"""Every example runs on its own, without a network, and does what it is there to show."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"

# What each must print, besides sentences of the guard, which have tests of their own.
PRINTS = {
    "guarded_loop.py": [
        "Refused: `cancel_order` did not run.",
        "Do instead: Call get_order for this order first.",
        "get_order: {'order_id': 'W7', 'status': 'pending'}",
        "cancel_order: W7 is cancelled",
        "owed at the end: ()",
    ],
    "smolagents_drop_in.py": [
        "Refused: `send_money` did not run.",
        "Rule small-sums: One run sends at most 300 euros.",
        "stopped by small-sums",
        "step 1: look-first (PERSISTENT_BLOCK)",
        "step 4: small-sums (HARD_STOP)",
        "ran: ['get_balance', 'send_money']",
    ],
    "agent_with_result.py": [
        "Saved. True None",
        "ran: ['fetch', 'save', 'clean']",
        "4 steps, 60 tokens, 4 checks",
        "TOLERATE clean-before-save:",
        "PERSISTENT_BLOCK save-once:",
        "score: 0.75 PARTIAL",
        "  passed fetch-before-clean -",
        "  failed clean-before-save -",
        "  passed save-once -",
    ],
    "check_traces.py": [
        "openai: ['get_order', 'refund'], score 1.0 (FULL)",
        "anthropic: ['refund'], score 0.0 (VIOLATION)",
        "  read-first:",
        "  asked-for:",
        "  not-too-much:",
    ],
    "rule_file/judge.py": [
        "read-first (PERSISTENT_BLOCK, weight 2): G (@changes(order_id = ?o) -> O @reads(order_id = ?o)[ok])",
        "Refused: `refund` did not run.",
        "Rule known-order: Only an order that the user named, or that list_orders showed, is changed.",
        "refund of W7: allow",
        "owed at the end: ('tell-the-user',)",
    ],
}
SHUT = (
    "import runpy, socket, sys\n"
    "def shut(*_, **__): raise OSError('the network is shut')\n"
    "socket.socket.connect = socket.getaddrinfo = shut\n"
    "runpy.run_path(sys.argv[1], run_name='__main__')\n"
)


@pytest.mark.parametrize("name", PRINTS)
def test_an_example_prints_what_it_shows(name: str, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", SHUT, str(EXAMPLES / name)],
        capture_output=True,
        text=True,
        cwd=tmp_path,  # from anywhere, not only from the repository
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
    )
    assert ran.returncode == 0, ran.stderr
    lines = iter(ran.stdout.splitlines())
    for wanted in PRINTS[name]:
        assert any(line.startswith(wanted) for line in lines), f"`{wanted}` is missing, or out of order:\n{ran.stdout}"


def test_every_example_is_run_and_listed() -> None:
    files = {str(file.relative_to(EXAMPLES)) for file in EXAMPLES.rglob("*.py") if "tau_bench" not in file.parts}
    assert files == set(PRINTS)
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert [entry.name for entry in EXAMPLES.iterdir() if entry.name != "README.md" and entry.name not in listed] == []
