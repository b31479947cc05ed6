"""`agentltl check`: what it prints, what it exits with, and that one bad input does not take the others with it."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from agentltl import __version__
from agentltl.cli import main

RULES = """\
version: 1
constraints:
  - name: login-first
    rule: |-
      G (pay -> O login[ok])
    weight: 3
    description: Nobody pays before a login
    repair: Call login first
  - name: receipt
    rule: |-
      G (pay -> F receipt)
  - name: shop-only
    rule: |-
      G !refund
    where: {suite: shop}
"""
COMMAND = [sys.executable, "-c", "from agentltl.cli import main; main()", "check"]


def run(*arguments: object, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(main, ["check", *map(str, arguments)], input=stdin)


def call(tool: str, result: object = "done", **more: object) -> dict[str, object]:
    return {"tool_name": tool, "arguments": {}, "tool_result": result, "error": None, **more}


def line(*tools: str, **fields: object) -> str:
    return json.dumps({**fields, "tool_calls": [call(tool) for tool in tools]}) + "\n"


def strict(text: str) -> Any:
    """The one JSON value of a text; NaN and infinities are none."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "rules.yaml"
    path.write_text(RULES, encoding="utf-8")
    return path


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return file


def test_0_when_every_rule_holds(rules: Path, write: Any) -> None:
    done = run(rules, write("a.jsonl", line("login", "pay", "receipt", id="good")))
    assert done.exit_code == 0
    assert "0 violations of 0 of 3 constraints" in done.stdout
    assert "mean score 1.000" in done.stdout
    assert done.stderr == ""


def test_1_when_a_rule_is_violated_and_the_table_says_where(rules: Path, write: Any) -> None:
    done = run(rules, write("a.jsonl", line("look", "pay", "receipt", "pay", id="bad") + line("login", id="good")))
    assert done.exit_code == 1
    rows = {cells[0]: cells[1:] for row in done.stdout.splitlines() if (cells := row.split())}
    assert rows["login-first"] == ["3", "2", "1", "2", "bad", "#2", "#4"]
    assert rows["receipt"] == ["1", "2", "1", "1", "bad", "end"]
    assert rows["shop-only"] == ["1", "0", "0", "0"]
    assert "2 traces, 5 calls; 3 violations of 2 of 3 constraints in 1 trace; mean score 0.500" in done.stdout


def test_json_is_exactly_this_object(rules: Path, write: Any) -> None:
    file = write(
        "a.jsonl",
        line("look", "pay", "receipt", "pay", id="bad")
        + line("login", "pay", id="half")
        + line("login", "refund", id="shop", suite="shop"),
    )
    done = run(rules, file, "--json")
    assert done.exit_code == 1
    assert strict(done.stdout) == {
        "traces": 3,
        "calls": 8,
        # 0 of 4, 3 of 4, and 4 of 5: a rule that is not meant for a trace has no weight there
        "score": pytest.approx((0 + 3 / 4 + 4 / 5) / 3),
        "constraints": {
            "login-first": {"weight": 3.0, "violating_traces": 1, "violations": {"bad": [1, 3]}},
            "receipt": {"weight": 1.0, "violating_traces": 2, "violations": {"bad": [4], "half": [2]}},
            "shop-only": {"weight": 1.0, "violating_traces": 1, "violations": {"shop": [1]}},
        },
        "unread": [],
    }
    assert list(strict(done.stdout)) == ["traces", "calls", "score", "constraints", "unread"]
    assert done.stdout.count("\n") == 1


def test_json_has_no_nan_whatever_the_traces_hold(rules: Path, write: Any) -> None:
    odd = call("pay", "x", arguments={"amount": float("nan"), "limit": float("-inf")})
    done = run(rules, write("a.jsonl", json.dumps({"id": "é\ud800", "tool_calls": [odd]}) + "\n"), "--json")
    assert done.exit_code == 1
    assert strict(done.stdout)["constraints"]["login-first"]["violations"] == {"é\ud800": [0]}
    assert done.stdout.isascii()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "Missing argument"),
        (["rules.yaml"], "Missing argument"),
        (["rules.yaml", "a.jsonl", "--jsno"], "No such option"),
        (["rules.yaml", "a.jsonl", "--json", "--explain"], "leave one of them out"),
        (["missing.yaml", "a.jsonl"], "there is no file `missing.yaml`"),
    ],
)
def test_2_for_wrong_usage(
    arguments: list[str], problem: str, rules: Path, write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.jsonl", line("login"))
    monkeypatch.chdir(rules.parent)
    done = run(*arguments)
    assert done.exit_code == 2
    assert problem in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("weight: 3", "wieght: 3", "did you mean `weight`?"),
        ("G (pay -> F receipt)", "G (pay -> F receipt", "rules.yaml:11"),
        ("    weight: 3", "    severity: SOFT", "unknown severity"),
        ("login-first", "receipt", "two constraints are named `receipt`"),
        ("version: 1", "version: [", "rules.yaml:"),
    ],
)
def test_2_for_a_bad_rule_file(old: str, new: str, problem: str, write: Any) -> None:
    done = run(write("rules.yaml", RULES.replace(old, new)), write("a.jsonl", line("login")))
    assert done.exit_code == 2
    assert problem in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_3_when_a_line_is_no_trace_and_the_rest_is_judged(rules: Path, write: Any) -> None:
    file = write("a.jsonl", "{not json\n" + line("pay", "receipt", id="bad") + '{"tool_calls": [{"arguments": {}}]}\n')
    done = run(rules, file, "--json")
    assert done.exit_code == 3
    report = strict(done.stdout)
    assert report["traces"] == 1
    assert report["constraints"]["login-first"]["violations"] == {"bad": [0]}
    assert [(entry["input"], entry["place"]) for entry in report["unread"]] == [
        (str(file), "line 1"),
        (str(file), "line 3"),
    ]
    for entry in report["unread"]:
        assert list(entry) == ["input", "place", "trace", "constraint", "problem"]
        assert entry["trace"] is entry["constraint"] is None
        assert entry["problem"]


def test_3_when_a_file_is_missing_and_the_rest_is_judged(rules: Path, write: Any, tmp_path: Path) -> None:
    good = write("a.jsonl", line("login", id="good"))
    missing, pattern = tmp_path / "b.jsonl", tmp_path / "c*.jsonl"
    done = run(rules, missing, good, pattern, tmp_path)
    assert done.exit_code == 3
    assert "1 trace, 1 call; 0 violations" in done.stdout
    assert f"not read: {missing}" in done.stdout
    assert f"no file matches `{pattern}`" in done.stdout
    assert "3 not read or not judged" in done.stdout


def test_3_when_nothing_could_be_read_and_there_is_no_score(rules: Path, tmp_path: Path) -> None:
    done = run(rules, tmp_path / "b.jsonl", "--json")
    assert done.exit_code == 3
    report = strict(done.stdout)
    assert (report["traces"], report["calls"], report["score"]) == (0, 0, None)
    assert "score" not in run(rules, tmp_path / "b.jsonl").stdout


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_3_when_an_input_holds_no_trace(rules: Path, tmp_path: Path, content: str) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text(content)
    done = run(rules, empty)
    assert done.exit_code == 3
    assert "it holds no trace" in done.stdout
    assert run(rules, "-", stdin=content).exit_code == 3


def test_2_when_there_is_nothing_to_judge_by(tmp_path: Path) -> None:
    rules, trace = tmp_path / "none.yaml", tmp_path / "t.jsonl"
    rules.write_text("version: 1\nconstraints: []\n")
    trace.write_text(line("pay"))
    done = run(rules, trace)
    assert done.exit_code == 2
    assert "has no constraints" in done.stderr


def test_3_when_a_trace_lacks_what_a_rule_needs_and_its_other_rules_are_judged(write: Any) -> None:
    rules = write(
        "rules.yaml",
        "version: 1\nconstraints:\n- {name: alone, rule: G !same_step}\n- {name: dry, rule: G !pay, weight: 3}\n",
    )
    stepped = json.dumps({"id": "steps", "tool_calls": [call("pay", step=1), call("look", step=1)]}) + "\n"
    file = write("a.jsonl", line("look", "pay", id="none") + stepped)
    done = run(rules, file, "--json")
    assert done.exit_code == 3
    report = strict(done.stdout)
    assert report["traces"] == 2
    assert report["score"] == 0.0
    assert report["constraints"]["alone"]["violations"] == {"steps": [1]}
    assert report["constraints"]["dry"]["violations"] == {"none": [1], "steps": [0]}
    [entry] = report["unread"]
    assert (entry["input"], entry["trace"], entry["constraint"]) == (str(file), "none", "alone")
    assert "has no step" in entry["problem"]
    assert "not judged" in run(rules, file).stdout


def test_what_could_not_be_judged_counts_for_nothing_in_the_score(write: Any) -> None:
    rules = write("rules.yaml", "version: 1\nconstraints:\n- {name: alone, rule: G !same_step}\n")
    stepped = json.dumps({"tool_calls": [call("pay", step=1), call("look", step=1)]}) + "\n"
    assert strict(run(rules, write("a.jsonl", line("pay") + stepped), "--json").stdout)["score"] == 0.0
    assert strict(run(rules, write("b.jsonl", line("pay")), "--json").stdout)["score"] is None


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", line("pay", id="t").encode()),
        ("a.jsonl.gz", gzip.compress(line("pay", id="t").encode())),
        ("a.json", json.dumps([json.loads(line("pay", id="t"))], indent=2).encode()),
        ("a.json", json.dumps(json.loads(line("pay", id="t")), indent=2).encode()),
    ],
)
def test_every_form_of_file(name: str, content: bytes, rules: Path, write: Any) -> None:
    report = strict(run(rules, write(name, content), "--json").stdout)
    assert report["constraints"]["login-first"]["violations"] == {"t": [0]}


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input(packed: bool, rules: Path) -> None:
    content = (line("pay", id="t") + "{\n").encode()
    content = gzip.compress(content) if packed else content
    done = subprocess.run([*COMMAND, rules, "-", "-", "--json"], input=content, capture_output=True)
    assert (done.returncode, done.stderr) == (3, b"")
    report = strict(done.stdout.decode())
    assert report["constraints"]["login-first"]["violations"] == {"t": [0]}
    assert [(entry["input"], entry["place"]) for entry in report["unread"]] == [("standard input", "line 2")]


@pytest.mark.skipif(sys.platform == "win32", reason="the shell is another")
def test_closed_standard_input(rules: Path) -> None:
    done = subprocess.run(["sh", "-c", '"$@" <&-', "sh", *COMMAND, rules, "-"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (3, "")
    assert "standard input is closed" in done.stdout


def test_globs_are_expanded_and_each_file_is_read_once(
    rules: Path, write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("b.jsonl", line("pay", id="b"))
    write("a.jsonl", line("pay", id="a"))
    monkeypatch.chdir(tmp_path)
    report = strict(run(rules, "*.jsonl", tmp_path / "a.jsonl", "--json").stdout)
    assert list(report["constraints"]["login-first"]["violations"]) == ["a", "b"]
    assert report["traces"] == 2


def test_traces_of_one_id_stay_apart(rules: Path, write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.jsonl", line("pay", id="x") + line("pay", id="x") + line("pay", id="only"))
    write("b.jsonl", line("pay", id="x") + line("login"))
    monkeypatch.chdir(tmp_path)
    report = strict(run(rules, "a.jsonl", "b.jsonl", "--json").stdout)
    assert list(report["constraints"]["login-first"]["violations"]) == ["a.jsonl:x", "a.jsonl:x#2", "only", "b.jsonl:x"]
    assert report["constraints"]["login-first"]["violating_traces"] == 4


def test_explain_says_why_and_what_to_do_instead(rules: Path, write: Any) -> None:
    done = run(rules, write("a.jsonl", line("pay", id="bad")), "--explain")
    assert done.exit_code == 1
    assert "login-first Nobody pays before a login" in done.stdout
    assert 'bad #1 pay: "pay" was called (call #1) and "login" had not succeeded before it' in done.stdout
    assert "bad end:" in done.stdout
    assert "instead: Call login first" in done.stdout


def test_explain_counts_what_it_does_not_tell(rules: Path, write: Any) -> None:
    done = run(rules, write("a.jsonl", line(*["pay"] * 25, id="bad")), "--explain")
    assert "bad #20 pay:" in done.stdout
    assert "bad #21 pay:" not in done.stdout
    assert "bad: ... and 5 more" in done.stdout


def test_nothing_in_a_trace_can_steer_the_terminal(write: Any) -> None:
    rules = write("rules.yaml", "version: 1\nconstraints:\n- {name: none, rule: G false}\n")
    done = run(rules, write("a.jsonl", line("[red]pay\x1b[2J", id="\x1b]0;x\x07[bold]t")), "--explain")
    assert "\x1b" not in done.stdout
    assert "\\x1b]0;x\\x07[bold]t #1" in done.stdout
    assert "[red]pay\\x1b[2J" in done.stdout


def test_an_encoding_that_lacks_characters_is_no_error(rules: Path, write: Any) -> None:
    done = subprocess.run(
        [*COMMAND, rules, write("a.jsonl", line("pay", id="注文")), "--explain"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"\\u6ce8\\u6587 #1" in done.stdout


def test_a_long_list_of_what_could_not_be_read_is_cut_for_people(rules: Path, write: Any) -> None:
    file = write("notes.txt", "no trace\n" * 100)
    done = run(rules, file)
    assert done.stdout.count("not read:") == 20
    assert "and 80 more" in done.stdout
    assert len(strict(run(rules, file, "--json").stdout)["unread"]) == 100


def test_the_version_can_be_asked_for() -> None:
    done = CliRunner().invoke(main, ["--version"])
    assert (done.exit_code, done.stdout) == (0, f"agentltl {__version__}\n")


def test_help_shows_an_example_and_the_exit_codes() -> None:
    done = run("--help")
    assert done.exit_code == 0
    assert "agentltl check rules.yaml" in done.stdout
    assert "3  some input could not be read" in done.stdout


def test_as_a_process_only_the_object_is_on_standard_output(rules: Path, write: Any) -> None:
    done = subprocess.run(
        [*COMMAND, rules, write("a.jsonl", line("pay", id="t")), "--json"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert strict(done.stdout)["traces"] == 1


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal")
def test_progress_is_on_standard_error_and_only_there(rules: Path, write: Any) -> None:
    ours, theirs = os.openpty()
    done = subprocess.run(
        [*COMMAND, rules, write("a.jsonl", line("pay", id="t")), "--json"],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "NO_COLOR": "1"},
    )
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert done.returncode == 1
    assert strict(done.stdout.decode())["traces"] == 1
    assert "judging: 1 traces" in shown


def test_help_needs_nothing_that_judges() -> None:
    script = "import sys\nfrom agentltl.cli import main\ntry: main(['--help'])\nexcept SystemExit: print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "Commands:" in done.stdout
    loaded = set(done.stdout.split())
    assert not loaded & {"agentltl.constraints.monitor", "lark", "litellm", "pydantic", "smolagents", "yaml"}
