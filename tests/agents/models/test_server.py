"""How the embedded server is started: on loopback, behind a key, once for all who ask."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agentltl.agents.models import server
from agentltl.agents.models.server import serve
from agentltl.errors import MissingExtraError

xllamacpp = pytest.importorskip("xllamacpp")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """llama.cpp with its real settings and no model: each start is noted."""
    settings: list[Any] = []

    def start(given: Any) -> Any:
        settings.append(given)
        return SimpleNamespace(listening_address=f"http://127.0.0.1:{1000 + len(settings)}")

    stand_in = SimpleNamespace(Server=start, CommonParams=xllamacpp.CommonParams)
    monkeypatch.setitem(sys.modules, "xllamacpp", stand_in)
    monkeypatch.setattr(server, "_running", {})
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    yield settings
    os.environ.pop("OMP_WAIT_POLICY", None)


def test_it_listens_on_loopback_behind_a_key(started: list[Any]) -> None:
    running = serve(Path("/models/m.gguf"), "m")
    (settings,) = started
    assert running.url == "http://127.0.0.1:1001/v1"
    assert settings.hostnames == ["127.0.0.1"]
    assert list(settings.api_keys) == [running.key]
    assert len(running.key) >= 32
    assert settings.model.path == "/models/m.gguf"
    assert set(settings.model_alias) == {"m"}
    assert settings.n_ctx == server.CONTEXT
    assert settings.offline
    assert not settings.ui
    assert os.environ["OMP_WAIT_POLICY"] == "passive"


def test_one_server_serves_all_and_another_file_has_its_own(started: list[Any]) -> None:
    first, again, other = serve(Path("a"), "a"), serve(Path("a"), "a"), serve(Path("b"), "b")
    assert first is again
    assert other.url != first.url
    assert other.key != first.key
    assert len(started) == 2


def test_the_key_is_not_shown(started: list[Any]) -> None:
    running = serve(Path("a"), "a")
    assert running.key not in repr(running)


def test_without_the_extra_the_error_names_it(started: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(MissingExtraError, match=r"agentltl\[local\]"):
        serve(Path("a"), "a")
