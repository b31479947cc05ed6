"""Nothing in the repository points at one machine or one registry."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Each is written so that this file does not match itself.
MACHINE_PATH = re.compile(r"(?<![\w.~}-])/(?:[h]ome|[r]oot|[t]mp|[w]ork|[U]sers)/[\w.]")
REGISTRY = re.compile(
    r"[p]ypi\.org|pythonhosted\.[o]rg|registry\.[n]pmjs|https?://[^\s\"'<>]*(?:/[s]imple\b|\.[w]hl\b|\.[t]gz\b)"
    r"|^\s*--(?:extra-)?index-url|^\s*--find-links|^\s*-[if] ",
    re.MULTILINE,
)


def tracked() -> list[Path]:
    """The files of the repository, those that are staged too."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True)
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def text_of(path: Path) -> str:
    data = path.read_bytes()
    return "" if b"\0" in data else data.decode("utf-8", errors="replace")


@pytest.mark.parametrize("pattern", [MACHINE_PATH, REGISTRY], ids=["machine paths", "registries"])
def test_no_file_names_a_machine_or_a_registry(pattern: re.Pattern[str]) -> None:
    found = []
    files = tracked()
    assert ROOT / "pyproject.toml" in files
    for path in files:
        text = text_of(path)
        for match in pattern.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found.append(f"{path.relative_to(ROOT)}:{line}: {match.group()}")
    assert not found, "\n".join(found)


def test_the_search_finds_what_it_looks_for() -> None:
    home, simple = "/ho" + "me/ada/x", "https://registry.example/sim" + "ple/agentltl/"
    assert MACHINE_PATH.search(f'open("{home}")')
    assert REGISTRY.search(simple)
    assert REGISTRY.search("--index-" + "url x")
    assert not MACHINE_PATH.search("docs/ho" + "me/index.md")


def test_the_lock_pins_every_line_with_a_hash() -> None:
    pinned = (ROOT / "requirements.lock").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    assert len(pinned) > 50
    assert [
        line for line in pinned if not re.fullmatch(r"[\w.-]+==\S+( ;.*?)?( +--hash=sha256:[0-9a-f]{64})+", line)
    ] == []
