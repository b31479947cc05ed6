"""The generated pages are those that the code would write now, and no public name is missing from them."""

import subprocess
import sys
from pathlib import Path

import pytest

import agentltl
from agentltl import constraints
from agentltl.constraints.operators import OPERATORS
from agentltl.constraints.patterns import PATTERNS

ROOT = Path(__file__).parent.parent.parent
REFERENCE = ROOT / "docs" / "reference"


def headings(page: str) -> set[str]:
    lines = (REFERENCE / page).read_text(encoding="utf-8").split("\n")
    return {line.lstrip("#").strip() for line in lines if line.startswith("#")}


@pytest.mark.parametrize("script", ["generate_docs.py", "draw_refused_call.py"])
def test_what_is_generated_is_current(script: str) -> None:
    checked = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / script), "--check"], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_every_public_name_has_a_heading() -> None:
    public = {name for name in (*agentltl.__dir__(), *constraints.__all__) if not name.startswith("_")}
    ours = {name for name in public if name in constraints.__all__ or name in agentltl._HOME_OF}
    assert {"Guard", "AgentWithConstraints", "verify_trace", "Before", "parse"} <= ours
    assert not {f"`{name}`" for name in ours} - headings("api.md")


def test_every_operator_and_pattern_has_a_heading() -> None:
    operators = headings("operators.md")
    assert all(any(heading.startswith(f"`{op.symbol}`") for heading in operators) for op in OPERATORS)
    assert not {f"`{name}`" for name in PATTERNS} - headings("patterns.md")
