"""`import agentltl` is light: the heavy packages are imported when they are first needed, and not before."""

import json
import subprocess
import sys

import pytest

HEAVY = {"httpx", "lark", "litellm", "openai", "pydantic", "re2", "rich", "smolagents", "tenacity", "typer", "yaml"}

SHOW = (
    "import json, sys; before = set(sys.modules); import {module}; print(json.dumps(list(set(sys.modules) - before)))"
)


def brought_by(module: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after importing `module`, and not before."""
    shown = subprocess.run([sys.executable, "-c", SHOW.format(module=module)], capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    return set(json.loads(shown.stdout))


# A bound on modules is the same on a busy machine; benchmarks/imports.py shows the time.
@pytest.mark.parametrize(("module", "most"), [("agentltl", 150), ("agentltl.constraints", 120)])
def test_importing_brings_nothing_heavy(module: str, most: int) -> None:
    modules = brought_by(module)
    assert module in modules
    assert not HEAVY & {name.partition(".")[0] for name in modules}
    assert len(modules) <= most, sorted(modules)
