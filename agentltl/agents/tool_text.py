"""What a docstring says of a tool and of its arguments."""

from __future__ import annotations

import re
from collections.abc import Collection

_HEADING = re.compile(r"(Args|Arguments|Parameters):\s*$")
_ENTRY = re.compile(r"(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")


def described(docstring: str, names: Collection[str]) -> tuple[str, dict[str, str]]:
    """The text without its section of arguments, and what that section says of each of these arguments.

    The docstring is one without the indent of its code, as `inspect.getdoc` gives it.
    The section is `Args:`, `Arguments:` or `Parameters:` on a line of its own with indented lines below; there need be
    none, and it need not name every argument.
    """
    lines = docstring.splitlines()
    start = next((at for at, line in enumerate(lines) if _HEADING.match(line)), len(lines))
    end = start + 1
    while end < len(lines) and (not lines[end].strip() or lines[end][0].isspace()):
        end += 1
    text = "\n".join([*lines[:start], *lines[end:]]).strip()
    return re.sub(r"\n{3,}", "\n\n", text), _entries(lines[start + 1 : end], names)


def _entries(lines: list[str], names: Collection[str]) -> dict[str, str]:
    """What is said of each name; a line that begins with no name goes on with the one before."""
    said: dict[str, list[str]] = {}
    last: str | None = None
    for line in (line.strip() for line in lines if line.strip()):
        entry = _ENTRY.match(line)
        if entry and entry[1] in names and entry[1] not in said:
            last = entry[1]
            said[last] = [entry[2]]
        elif last is not None:
            said[last].append(line)
    return {name: " ".join(parts).strip() for name, parts in said.items()}
