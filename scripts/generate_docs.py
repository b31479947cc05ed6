"""Write the generated pages of the documentation, or with `--check` say which of them are out of date.

Each page is a function of the package's own tables, docstrings and judges, so it says what the code says.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

# Must be there before litellm is first imported, or it fetches a price list.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

from reference import api, commands, operators, patterns, severities

REFERENCE = Path(__file__).parent.parent / "docs" / "reference"
PAGES: dict[str, Callable[[], str]] = {
    "operators.md": operators.page,
    "patterns.md": patterns.page,
    "severities.md": severities.page,
    "api.md": api.page,
    "commands.md": commands.page,
}


def main(arguments: list[str]) -> int:
    """Write every page; with `--check` change nothing, name the stale ones and give 1 if there are any."""
    if arguments not in ([], ["--check"]):
        print("usage: python scripts/generate_docs.py [--check]", file=sys.stderr)
        return 2
    stale = []
    for name, page in PAGES.items():
        path, text = REFERENCE / name, page()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if not arguments:
                path.write_text(text, encoding="utf-8")
    if not arguments:
        print(f"written: {', '.join(stale)}" if stale else "all pages are up to date")
        return 0
    for name in stale:
        print(f"`docs/reference/{name}` is out of date\nwrite it anew: python scripts/generate_docs.py")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
