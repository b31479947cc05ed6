"""The fenced blocks of a Markdown page, and running them as a reader would: from the top, in one session."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from typer.testing import CliRunner

from agentltl.cli import main
from agentltl.constraints import load_rules

FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One block: its language, its text, the line on which it begins, and the `text` block right below it, if any."""

    language: str
    text: str
    line: int
    output: str | None


def blocks(page: str) -> Iterator[Block]:
    """The blocks of a page; one that shows the output of the block above it is part of that."""
    found = list(FENCE.finditer(page))
    for i, match in enumerate(found):
        after = found[i + 1] if i + 1 < len(found) else None
        shown = after is not None and after["language"] == "text" and not page[match.end() : after.start()].strip()
        line = page.count("\n", 0, match.start()) + 1
        yield Block(match["language"], match["text"], line, after["text"] if shown and after is not None else None)


class Session:
    """Runs the blocks of one page in the current directory."""

    def __init__(self) -> None:
        self.names: dict[str, object] = {"__name__": "docs"}

    def run(self, block: Block) -> str | None:
        """What a block prints; None for a block that is not run."""
        match block.language:
            case "python":
                return self._python(block)
            case "yaml":
                self._yaml(block)
            case "console":
                return self._console(block.text)
        return None

    def _python(self, block: Block) -> str:
        file = Path(f"block_{block.line}.py")  # smolagents reads the source of a tool
        file.write_text(block.text, encoding="utf-8")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block.text, str(file), "exec"), self.names)
        return printed.getvalue()

    def _yaml(self, block: Block) -> None:
        """Load a rule file; a first line `# name.yaml` also writes it, for the blocks below."""
        name = re.match(r"# (\S+\.yaml)\n", block.text)
        if "constraints:" not in block.text:
            yaml.safe_load(block.text)
            return
        file = Path(name[1] if name else f"block_{block.line}.yaml")
        file.write_text(block.text, encoding="utf-8")
        load_rules(file)

    def _console(self, text: str) -> str:
        """What a command prints, on both streams."""
        (line,) = text.splitlines()
        assert line.startswith("$ agentltl "), f"`{line}` is no command of ours"
        return CliRunner().invoke(main, line.split()[2:]).output


def tidy(text: str) -> str:
    """Without spaces at the ends of lines and empty lines at the ends of the text, as Markdown keeps it."""
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")
