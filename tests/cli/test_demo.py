"""`agentltl demo`: the replay with the network shut, a model over real HTTP, and what it says when it cannot run."""

import json
import os
import re
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from agentltl.cli import main
from agentltl.cli.demo import command, recording
from agentltl.cli.demo.source import recordings
from agentltl.cli.demo.tasks import TASKS

# One process makes all replays: litellm takes seconds to import.
REPLAYS = """
import contextlib, io, os, sys

def shut(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        sys.stderr.write(f"SOCKET {event} {arguments}\\n")
        raise RuntimeError(f"the network is shut: {arguments}")

sys.addaudithook(shut)
from agentltl.cli.demo.command import demo

for width, task, as_json, keep in ((80, None, False, sys.argv[1]), (140, None, False, None), (80, None, True, None),
                                   (80, "shipped", False, None)):
    os.environ["COLUMNS"] = str(width)
    code = demo(task, live=False, model=None, as_json=as_json, keep=keep)
    print(f"\\f{code}")
"""
HARMED = {
    "refunded": "179.00 € sent back of 79.00 € paid",
    "second": "order W1002 (office chair, shipped) is gone",
    "shipped": "order W1002 (office chair) is cancelled although it is shipped",
}


@pytest.fixture(scope="module")
def replays(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the demo printed: narrow, wide, as JSON, and for one task; `errors` is what went to standard error."""
    folder = tmp_path_factory.mktemp("replays")
    (folder / "temporary").mkdir()
    environment = {key: value for key, value in os.environ.items() if key not in ("FORCE_COLOR", "PYTHONPATH")}
    environment |= {"TMPDIR": str(folder / "temporary"), "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(
        [sys.executable, "-c", REPLAYS, str(folder / "kept")], capture_output=True, text=True, env=environment
    )
    assert ran.returncode == 0, ran.stderr
    parts = [part.lstrip("0\n") if index else part for index, part in enumerate(ran.stdout.split("\f"))]
    assert re.findall("\f(.)", ran.stdout) == ["0"] * 4
    names = ("narrow", "wide", "json", "one")
    return dict(zip(names, parts, strict=False)) | {"errors": ran.stderr, "folder": str(folder)}


def test_a_replay_asks_nobody_and_says_nothing_else(replays: dict[str, str]) -> None:
    assert replays["errors"] == ""


@pytest.mark.parametrize(("kind", "width"), [("narrow", 80), ("wide", 140)])
def test_it_is_plain_text_of_the_width_of_the_terminal(replays: dict[str, str], kind: str, width: int) -> None:
    assert "\x1b" not in replays[kind]
    lines = replays[kind].splitlines()
    assert max(len(line) for line in lines) <= width
    assert any(len(line.rstrip()) > width - 10 for line in lines)


@pytest.mark.parametrize("kind", ["narrow", "wide"])
@pytest.mark.parametrize("task", TASKS)
def test_each_task_shows_what_happened(replays: dict[str, str], kind: str, task: str) -> None:
    section = sections(replays[kind])[task]
    words = " ".join(re.sub(r"[│╭╮╰╯─┬┴]", " ", section).split())
    assert TASKS[task].request in words
    assert "REFUSED" in words
    assert "reason" in words
    assert "instead" in words
    assert re.search(r"\d ran +\d ran, \d refused", words)
    assert re.search(r"score 0\.\d\d PARTIAL", words)
    if task in HARMED:
        assert re.search(rf"harm without rules: .*{re.escape(HARMED[task])} with rules: none", words)
    else:
        assert "harm without rules: none with rules: none" in words


def test_wide_runs_stand_side_by_side_and_narrow_ones_one_after_the_other(replays: dict[str, str]) -> None:
    def headed(text: str, *titles: str) -> bool:
        return any(re.fullmatch("│ " + r"\s+│ ".join(titles) + r"\s+│", line) for line in text.splitlines())

    assert headed(replays["wide"], "without rules", "with rules")
    assert headed(replays["narrow"], "without rules")
    assert headed(replays["narrow"], "with rules")
    assert not headed(replays["narrow"], "without rules", "with rules")


def test_a_task_is_not_longer_than_a_screen(replays: dict[str, str]) -> None:
    assert max(section.count("\n") for section in sections(replays["wide"]).values()) <= 55
    assert max(section.count("\n") for section in sections(replays["narrow"]).values()) <= 70


def test_the_rules_are_scored_and_the_next_commands_are_named(replays: dict[str, str]) -> None:
    end = replays["narrow"].split("the rules ─")[1]
    assert re.search(r"read-before-cancel +2 +broken in .*shipped.* +kept", end)
    assert re.search(r"mean score +0\.\d\d +\d\.\d\d", end)
    assert "agentltl demo --live" in end
    assert "rules.yaml" in end


def test_one_task_alone(replays: dict[str, str]) -> None:
    assert list(sections(replays["one"])) == ["shipped"]
    assert re.search(r"read-before-cancel +2 +broken +kept", replays["one"])


def test_the_results_as_data(replays: dict[str, str]) -> None:
    runs = json.loads(replays["json"])["runs"]
    assert [(run["task"], run["guarded"]) for run in runs] == [(task, kind) for task in TASKS for kind in (False, True)]
    for run in runs:
        assert set(run["result"]) == {"answer", "metrics", "error"}
        assert ("run_status" in run["result"]["metrics"]) == run["guarded"]
        assert bool(run["harms"]) == (run["task"] in HARMED and not run["guarded"])
        assert len(run["compliance"]["constraints"]) >= 8
        if run["guarded"]:
            assert run["result"]["metrics"]["constraint_violations"]
    for without, guarded in zip(runs[::2], runs[1::2], strict=True):
        assert without["compliance"]["compliance_score"] < guarded["compliance"]["compliance_score"]


def test_the_databases_are_kept_where_they_are_wanted_and_else_removed(replays: dict[str, str]) -> None:
    folder = Path(replays["folder"])
    assert list((folder / "temporary").iterdir()) == []
    assert len(list((folder / "kept").iterdir())) == 2 * len(TASKS)
    for kind, status in (("unguarded", "cancelled"), ("guarded", "shipped")):
        database = sqlite3.connect(folder / "kept" / f"shipped-{kind}.sqlite")
        assert database.execute("SELECT status FROM orders WHERE order_id = 'W1002'").fetchone() == (status,)
        database.close()


def sections(text: str) -> dict[str, str]:
    """The text of each task, by its name."""
    found = re.split(r"^task (\w+) ─+$", text.split("\nthe rules ─")[0], flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


def commands() -> dict[str, str]:
    return command._commands([TASKS["shipped"]], recordings(TASKS.values()))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["demo", *arguments])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["shiped"], "no task is called `shiped`\ndid you mean `shipped`?\n"),
        (["x"], "no task is called `x`\nthere are `refunded`, "),
        (["--live", "--model", "openai/x"], "`--live` is the embedded model"),
        (["--model", "nowhere"], "`nowhere` names no provider that litellm knows\n"),
        (["--model", " "], "is no model\ngive a litellm name"),
        (["--model", "local:2b"], "`2b` is neither a file nor one of `1.5b`, `0.5b`\n"),
    ],
)
def test_wrong_usage(arguments: list[str], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert said.strip("\n") in result.stderr


def test_without_the_extra_for_replays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vcr", None)
    result = run()
    assert (result.exit_code, result.stdout) == (2, "")
    assert "replaying a recording needs a package that is not installed" in result.stderr
    assert "agentltl[demo]" in result.stderr


def test_without_the_extra_for_the_embedded_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("AGENTLTL_LOCAL_MODEL", raising=False)
    monkeypatch.setenv("AGENTLTL_CACHE", str(tmp_path))
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    result = run("--live")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "agentltl[local]" in result.stderr, "said before anyone fetches the file, which is large and missing, too"


def test_without_the_file_of_the_embedded_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("AGENTLTL_LOCAL_MODEL", raising=False)
    monkeypatch.delenv("AGENTLTL_DOWNLOAD", raising=False)
    monkeypatch.setenv("AGENTLTL_CACHE", str(tmp_path))
    result = run("--live")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "is not there\nrun `python -m agentltl.agents.models.fetch 1.5b` once" in result.stderr


def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    file = tmp_path / "junk.gguf"
    file.write_bytes(b"junk")
    result = run("--model", f"local:{file}")
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"the model file of `local:{file}` cannot be loaded" in result.stderr


def test_without_a_recording(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(recording, "CASSETTES", tmp_path)
    result = run("shipped")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "the recording `shipped-unguarded.yaml` is not there\n" in result.stderr


def test_a_recording_that_ends_too_soon(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for kind in ("unguarded", "guarded"):
        (tmp_path / f"shipped-{kind}.yaml").write_text("interactions: []\nversion: 1\n")
    monkeypatch.setattr(recording, "CASSETTES", tmp_path)
    result = run("shipped", "--json")
    assert (result.exit_code, result.stdout) == (3, "")
    assert "replaying shipped, without rules: " in result.stderr
    assert "the recording does not fit this version\n" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = run("shipped", "--keep", str(tmp_path / "file" / "inside"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "cannot be made a folder" in result.stderr


def test_the_commands_are_written_as_the_shell_would_find_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "agentltl"
    program.parent.mkdir()
    program.touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(program), "demo"])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert next(iter(commands())) == f"{os.path.join('bin', 'agentltl')} demo refunded"
    monkeypatch.setenv("PATH", str(program.parent))
    assert next(iter(commands())) == "agentltl demo refunded"


def test_help_shows_an_example() -> None:
    result = run("--help")
    assert result.exit_code == 0
    assert "agentltl demo shipped --live" in result.stdout
    assert "Only this task: refunded, " in result.stdout


class Provider(ThreadingHTTPServer):
    """A provider on this machine that answers as `answers` say, one after another."""

    def __init__(self, answers: list[tuple[int, Any]]) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.answers, self.requests = answers, list[dict[str, Any]]()


class Answering(BaseHTTPRequestHandler):
    server: Provider

    def log_message(self, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        self.server.requests.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        status, value = self.server.answers.pop(0)
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    with Provider([]) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        monkeypatch.setenv("OPENAI_API_BASE", f"http://127.0.0.1:{server.server_port}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-the-test")
        monkeypatch.setenv("COLUMNS", "100")
        yield server
        server.shutdown()
        thread.join()


def calling(tool: str, **arguments: Any) -> tuple[int, Any]:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
    }
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    choices = [{"index": 0, "message": message, "finish_reason": "tool_calls"}]
    return 200, {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": choices, "usage": usage}


def test_another_model_over_http(provider: Provider) -> None:
    provider.answers = [
        calling("cancel_order", order_id="W1002"),
        calling("final_answer", answer="Cancelled."),
        calling("cancel_order", order_id="W1002"),
        calling("get_order", order_id="W1002"),
        calling("final_answer", answer="It has shipped already."),
    ]
    result = run("shipped", "--model", "openai/some-model")
    assert result.exit_code == 0, result.stderr
    assert "model: openai/some-model, running now" in result.stdout
    assert "REFUSED  read-before-cancel: " in result.stdout
    assert re.search(r"order W1002 \(office chair\) +shipped +cancelled +shipped", result.stdout)
    assert re.search(r"steps, tokens +2, 220 +3, 330", result.stdout)
    assert re.search(r"seconds +\d+\.\d +\d+\.\d", result.stdout)
    assert "secret" not in result.output
    assert provider.answers == []
    assert {tool["function"]["name"] for tool in provider.requests[0]["tools"]} >= {"get_order", "delete_order"}
    assert "Do instead: Call get_order for this order first." in json.dumps(provider.requests[3]["messages"])


def test_a_model_that_fails(provider: Provider) -> None:
    provider.answers = [(401, {"error": {"message": "wrong key sk-secret-of-the-test", "type": "auth"}})] * 9
    result = run("shipped", "--model", "openai/some-model")
    assert result.exit_code == 3
    assert "running shipped, without rules: " in result.stderr
    assert "look at the model's name, its key in the environment" in result.stderr
    assert "Traceback" not in result.stderr
    assert "secret" not in result.output
    assert len(provider.requests) == 1
