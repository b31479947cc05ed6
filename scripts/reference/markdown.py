"""Small pieces of Markdown, and what the source says that no object remembers."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable, Sequence

NOTE = "<!-- Written by scripts/generate_docs.py: change the code and run it again. -->\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; a bar inside a cell is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def fenced(text: str, language: str = "") -> str:
    """A block of text as it is."""
    return f"```{language}\n{text.rstrip()}\n```\n"


def sentences(text: str) -> str:
    """Prose with one sentence a line; a table or a list keeps its lines."""
    paragraphs = []
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if paragraph.lstrip().startswith(("|", "-")):
            paragraphs.append(paragraph)
            continue
        flat = " ".join(paragraph.split())
        paragraphs.append(re.sub(r"(?<=[a-z0-9\])`\"][.!?]) (?=[A-Z`])", "\n", flat))
    return "\n\n".join(paragraphs)


def first_paragraph(text: str) -> str:
    """The first paragraph of a docstring on one line."""
    return " ".join(inspect.cleandoc(text).split("\n\n")[0].split())


def member_docs(owner: type) -> dict[str, str]:
    """The texts that stand below the members of a class."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
    assert isinstance(tree, ast.ClassDef)
    docs = {}
    for member, below in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(member, ast.Assign) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            (target,) = member.targets
            assert isinstance(target, ast.Name)
            docs[target.id] = " ".join(str(below.value.value).split())
    return docs
