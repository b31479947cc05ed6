"""Every Python block of the README and the documentation runs, and prints what the page shows."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agentltl.agents.models.litellm_model import LiteLLMModelWithReport
from agentltl.agents.models.scripted import ScriptedModel
from scripts.blocks import Block, Session, blocks, tidy

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]


def read(page: Path) -> list[Block]:
    return list(blocks(page.read_text(encoding="utf-8")))


@pytest.fixture
def real_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands behind a litellm name: a model that answers at once, since the network is shut."""
    script = ScriptedModel([("final_answer", {"answer": "done"})] * 9)
    monkeypatch.setattr(LiteLLMModelWithReport, "generate", lambda _, *args, **kwargs: script.generate(*args, **kwargs))


@pytest.mark.usefixtures("real_model")
@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_every_block_runs_and_prints_what_is_shown(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    session = Session()
    # In a thread of its own: a page may call `asyncio.run`, which takes the event loop of its thread away.
    with ThreadPoolExecutor(1) as alone:
        printed_by = [(block, alone.submit(session.run, block).result()) for block in read(page)]
    for block, printed in printed_by:
        if printed is not None:
            shown = block.output or ""
            assert tidy(printed) == tidy(shown), f"{page.relative_to(ROOT)}, line {block.line} prints:\n{printed}"


def test_blocks_and_their_outputs_are_found() -> None:
    page = "a\n```python\nprint(1)\n```\n\n```text\n1\n```\nb\n```python\nx = 1\n```\nso:\n```text\nno output\n```\n"
    found = list(blocks(page))
    assert [(b.language, b.line, b.output) for b in found] == [
        ("python", 2, "1\n"),
        ("text", 6, None),
        ("python", 10, None),
        ("text", 14, None),
    ]


def test_the_readme_and_the_tutorial_have_blocks_that_show_their_output() -> None:
    for name in ("README.md", "docs/tutorial.md"):
        assert any(block.language == "python" and block.output for block in read(ROOT / name)), name


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    lost = [link for link in links if "://" not in link and not (page.parent / link.split("#")[0]).exists()]
    assert not lost
