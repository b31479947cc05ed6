"""Run the code blocks of pages and write below each what it prints now: `refresh_outputs.py README.md docs/*.md`.

For the day on which a sentence changes; read the difference before you keep it.
A model behind a litellm name is not asked: it answers `done`.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

from blocks import FENCE, Session, blocks, tidy

from agentltl.agents.models.litellm_model import LiteLLMModelWithReport
from agentltl.agents.models.scripted import ScriptedModel


def refreshed(page: str) -> str:
    """The page with what its blocks print."""
    session, parts, done = Session(), [], 0
    ends = {page.count("\n", 0, match.start()) + 1: match.end() for match in FENCE.finditer(page)}
    for block in blocks(page):
        printed = session.run(block)
        if printed is None:
            continue
        end = ends[block.line]
        parts.append(page[done:end])
        if tidy(printed):
            parts.append(f"\n\n```text\n{tidy(printed)}\n```")
        done = end if block.output is None else next(e for line, e in ends.items() if line > block.line)
    return "".join([*parts, page[done:]])


def main(pages: list[str]) -> None:
    """Rewrite the pages."""
    script = ScriptedModel([("final_answer", {"answer": "done"})] * 99)
    patch.object(
        LiteLLMModelWithReport, "generate", lambda _, *args, **kwargs: script.generate(*args, **kwargs)
    ).start()
    here = Path.cwd()
    for name in pages:
        path = here / name
        text = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            new = refreshed(text)
            os.chdir(here)
        if new != text:
            path.write_text(new, encoding="utf-8")
            print(f"rewritten: {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
