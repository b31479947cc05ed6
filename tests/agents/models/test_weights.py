"""Where a model file is looked for, in which order, and that wrong bytes are never handed out."""

import hashlib
from pathlib import Path

import pytest

from agentltl.agents.models import weights
from agentltl.agents.models.errors import ModelError
from agentltl.agents.models.weights import Parts, Weights, locate

BYTES = b"GGUF and some more"
TINY = Weights(
    name="tiny",
    file="tiny.gguf",
    size=len(BYTES),
    sha256=hashlib.sha256(BYTES).hexdigest(),
    repository="somebody/tiny",
    revision="0" * 40,
    parts=Parts("tiny-part{}", "1.0", 2),
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder, a pinned file `tiny`, and nothing set by the user."""
    monkeypatch.setenv("AGENTLTL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(weights, "PINNED", {"tiny": TINY})
    monkeypatch.setattr(weights, "DEFAULT", "tiny")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    (tmp_path / "cache").mkdir()
    return tmp_path / "cache"


def no_hub(asked: Weights, folder: Path) -> Path:
    raise AssertionError("the hub was asked")


def hub(asked: Weights, folder: Path) -> Path:
    path = folder / asked.file
    path.write_bytes(BYTES)
    return path


def test_a_given_path_comes_first_and_no_hash_is_asked(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cache / TINY.file).write_bytes(BYTES)
    mine, other = tmp_path / "mine.gguf", tmp_path / "other.gguf"
    mine.write_bytes(b"my own")
    other.write_bytes(b"another")
    monkeypatch.setenv("AGENTLTL_LOCAL_MODEL", str(mine))
    assert locate(hub=no_hub) == mine
    assert locate(str(other), hub=no_hub) == other
    assert locate("tiny", hub=no_hub) == cache / TINY.file


def test_then_the_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cache / TINY.file).write_bytes(BYTES)
    monkeypatch.setenv("AGENTLTL_DOWNLOAD", "1")
    assert locate(hub=no_hub) == cache / TINY.file


def test_then_the_hub_where_it_is_allowed(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTLTL_DOWNLOAD", "1")
    assert locate(hub=hub) == cache / TINY.file
    assert (cache / TINY.file).read_bytes() == BYTES
    assert [path.name for path in cache.iterdir()] == [TINY.file]


@pytest.mark.parametrize(
    "settings", [{}, {"AGENTLTL_DOWNLOAD": "0"}, {"AGENTLTL_DOWNLOAD": "1", "HF_HUB_OFFLINE": "1"}]
)
def test_the_hub_is_not_asked_unless_the_user_says_so(
    cache: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str]
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(
        ModelError, match=r"`tiny\.gguf` is not there\nrun `python -m agentltl\.agents\.models\.fetch tiny`"
    ):
        locate(hub=no_hub)


@pytest.mark.parametrize("wrong", [b"GGUF and some mor3", b"GGUF"])
def test_wrong_bytes_in_the_cache_are_refused(cache: Path, wrong: bytes) -> None:
    (cache / TINY.file).write_bytes(wrong)
    with pytest.raises(ModelError, match="delete it and run"):
        locate(hub=no_hub)


def test_wrong_bytes_from_the_hub_are_refused_and_deleted(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def bad(asked: Weights, folder: Path) -> Path:
        path = hub(asked, folder)
        path.write_bytes(bytes(len(BYTES)))
        return path

    monkeypatch.setenv("AGENTLTL_DOWNLOAD", "1")
    with pytest.raises(ModelError, match="is not the pinned file"):
        locate(hub=bad)
    assert not list(cache.iterdir())


def test_a_hub_that_fails_says_what_else_to_do(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(asked: Weights, folder: Path) -> Path:
        raise OSError("no route")

    monkeypatch.setenv("AGENTLTL_DOWNLOAD", "1")
    with pytest.raises(ModelError, match=r"no route\nrun `python -m"):
        locate(hub=broken)


def test_a_path_that_is_no_file(cache: Path) -> None:
    with pytest.raises(ModelError, match=r"`nowhere/m\.gguf` is neither a file nor one of `tiny`"):
        locate("nowhere/m.gguf")


def test_the_pinned_files_are_the_documented_ones() -> None:
    assert {name: (file.size, file.sha256[:8], file.parts.count) for name, file in weights.PINNED.items()} == {
        "1.5b": (1_117_320_768, "cc324af0", 22),
        "0.5b": (491_400_064, "1d961463", 6),
    }
