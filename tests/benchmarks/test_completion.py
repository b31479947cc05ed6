"""The completion benchmark, replayed with the network shut: its one command, what it counts, and its page."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from desk.conditions import CONDITIONS
from desk.runs import CASSETTES, MODELS, Score, cassette
from desk.table import show
from desk.tasks import JOBS
from rich.console import Console

from agentltl.cli.demo.recording import KEPT_HEADERS
from agentltl.cli.terminal import PIPED_WIDTH

ROOT = Path(__file__).parents[2]
COMMAND = """
import runpy, sys

def shut(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo"):
        raise RuntimeError(f"the network is shut: {arguments}")

sys.addaudithook(shut)
script, *sys.argv[1:] = sys.argv[1:]
sys.path.insert(0, script.rpartition("/")[0])
runpy.run_path(script, run_name="__main__")
"""
RUNS = [(model, condition, task) for model in MODELS for condition in CONDITIONS for task in JOBS]


def test_the_recordings_make_the_table_of_the_page_and_no_forbidden_call_ran_under_a_guard() -> None:
    script = (ROOT / "benchmarks" / "completion.py").as_posix()
    done = subprocess.run([sys.executable, "-c", COMMAND, script, "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = [Score(**score) for score in json.loads(done.stdout)]
    assert [(score.model, score.condition, score.task) for score in found] == RUNS
    assert len(JOBS) >= 12
    guarded = [score for score in found if score.condition != "none"]
    assert [score for score in guarded if score.forbidden or score.harms] == []
    for model in MODELS:
        own = [score for score in found if score.model == model]
        assert any(score.refused for score in own if score.condition == "plain")
        assert any(score.refused for score in own if score.condition == "repair")
        # The same count finds what a model does that nobody holds back.
        assert any(score.forbidden for score in own if score.condition == "none")
    out = io.StringIO()
    show(found, Console(file=out, width=PIPED_WIDTH))
    shown = "\n".join(line.rstrip() for line in out.getvalue().splitlines()).strip("\n")
    assert f"```text\n{shown}\n```" in (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")


def test_every_run_is_recorded_and_nothing_else() -> None:
    assert {path for path in CASSETTES.rglob("*") if path.is_file()} == {cassette(*run) for run in RUNS}


def test_the_recordings_have_no_key_no_host_and_no_path_of_a_machine() -> None:
    for path in CASSETTES.rglob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        assert not [
            word for word in ("127.0.0.1", "localhost", "Bearer", "uthorization", "/root", "/home") if word in text
        ]
        for interaction in yaml.load(text, yaml.CSafeLoader)["interactions"]:
            assert interaction["request"]["uri"] == "http://model.invalid/v1/chat/completions"
            for side in ("request", "response"):
                assert {name.lower() for name in interaction[side]["headers"]} <= KEPT_HEADERS


def test_a_recording_that_does_not_fit_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from desk import runs

    from agentltl.errors import AgentLTLError

    monkeypatch.setattr(runs, "cassette", lambda *run: tmp_path / "run.yaml")
    with pytest.raises(AgentLTLError, match="there is no recording of `full`"):
        runs.replay("1.5b", "none", "full")
    text = cassette("1.5b", "none", "full").read_text(encoding="utf-8")
    (tmp_path / "run.yaml").write_text(text.replace('"sha256": "', '"sha256": "0'), encoding="utf-8")
    with pytest.raises(AgentLTLError, match="does not fit"):
        runs.replay("1.5b", "none", "full")
