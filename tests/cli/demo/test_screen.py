"""What the demo's screen shows of runs that the recordings do not have: stops, failures, texts that would steer it."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from agentltl.agents.models.scripted import ScriptedModel
from agentltl.cli.demo.desk import RULES
from agentltl.cli.demo.run import Run, run_task
from agentltl.cli.demo.screen import Screen
from agentltl.cli.demo.story import Move, changed, moves, owed
from agentltl.cli.demo.tasks import TASKS
from agentltl.cli.demo.wording import LONG, brief, call_text, result_text
from agentltl.constraints.rule_file import load_rules

CONSTRAINTS = load_rules(RULES).constraints
TASK = TASKS["pending"]
READ, CANCEL = ("get_order", {"order_id": "W1005"}), ("cancel_order", {"order_id": "W1005"})
TELL = ("notify_customer", {"customer": "Jonas Frey", "text": "It is cancelled."})
DONE = ("final_answer", {"answer": "Done."})


def done(folder: Path, *script: Any, guarded: bool = True) -> Run:
    model = ScriptedModel(list(script))
    return run_task(TASK, model, folder / "desk.sqlite", CONSTRAINTS, lambda event: None, guarded=guarded)


def drawn(*runs: Run, width: int = 100, encoding: str = "utf-8", **settings: Any) -> str:
    written = io.BytesIO()
    file = io.TextIOWrapper(written, encoding=encoding, errors="backslashreplace")
    screen = Screen(Console(file=file, width=width, highlight=False, **settings), CONSTRAINTS, recorded=True)
    screen.opening("a model", len(runs))
    for run in runs:
        screen.task(run, run)
    screen.scores([(run, run) for run in runs])
    screen.closing({"agentltl demo": "again"}, [])
    file.flush()
    return written.getvalue().decode(encoding)


def test_calls_of_one_message_each_have_their_own_verdict(tmp_path: Path) -> None:
    other = ("cancel_order", {"order_id": "W1001"})
    run = done(tmp_path, READ, [CANCEL, other], TELL, DONE)
    told = moves(run)
    assert [(move.step, move.tool, move.outcome) for move in told] == [
        (1, "get_order", "ran"),
        (2, "cancel_order", "ran"),
        (2, "cancel_order", "refused"),
        (3, "notify_customer", "ran"),
        (4, "final_answer", "ran"),
    ]
    assert [refusal.rule for refusal in told[2].refusals] == ["known-order", "read-before-cancel"]
    shown = drawn(run)
    assert 'cancel_order(order_id="W1001")' in shown
    assert "4 ran, 1 refused" in shown


def test_a_stop(tmp_path: Path) -> None:
    run = done(tmp_path, READ, CANCEL, ("ship_order", {"order_id": "W1005"}), DONE)
    assert run.result.ending == "stop"
    last = moves(run)[-1]
    assert (last.outcome, [(refusal.rule, refusal.stops) for refusal in last.refusals]) == (
        "refused",
        [("cancelled-stays", True)],
    )
    assert "the run stops here" in drawn(run)


def test_a_call_that_fails_one_that_nobody_has_and_a_reply_without_a_call(tmp_path: Path) -> None:
    run = done(tmp_path, ("get_order", {"order_id": "W9"}), ("fly", {}), "I think.", DONE, guarded=False)
    told = moves(run)
    assert [(move.step, move.tool, move.outcome) for move in told] == [
        (1, "get_order", "failed"),
        (2, "fly", "failed"),
        (3, None, "none"),
        (4, "final_answer", "ran"),
    ]
    assert "there is no order W9" in told[0].text
    shown = drawn(run, width=140)
    assert "failed  " in shown
    assert "no tool call: " in shown


def test_the_calls_that_break_a_rule_without_being_asked(tmp_path: Path) -> None:
    run = done(tmp_path, READ, CANCEL, CANCEL, DONE, guarded=False)
    assert [move.breaks for move in moves(run)] == [(), (), ("no-repeat",), ()]
    assert owed(run) == ["tell-the-customer"]
    shown = drawn(run)
    assert "BREAKS no-repeat" in shown
    assert "at the end, broken: tell-the-customer" in shown


def test_no_step_is_left(tmp_path: Path) -> None:
    looks: list[Any] = [("get_order", {"order_id": f"W100{number % 6 + 1}"}) for number in range(10)]
    run = done(tmp_path, *looks, "I looked at everything.", guarded=False)
    assert run.result.ending == "max_steps"
    shown = drawn(run)
    assert "no step is left" in shown
    assert "I looked at everything." in shown


def test_nothing_changed(tmp_path: Path) -> None:
    run = done(tmp_path, DONE)
    assert changed(run.before, [run.after]) == []
    assert "as it was" in drawn(run)


def test_each_kind_of_change_is_a_line(tmp_path: Path) -> None:
    script = (
        CANCEL,
        ("delete_order", {"order_id": "W1001"}),
        ("refund_order", {"order_id": "W1004", "amount": 21}),
        TELL,
        DONE,
    )
    run = done(tmp_path, *script, guarded=False)
    assert [(line.name, line.before, line.after) for line in changed(run.before, [run.after])] == [
        ("order W1001 (desk lamp)", "pending", ("GONE",)),
        ("order W1005 (coffee beans)", "pending", ("cancelled",)),
        ("refunds of W1004 (79.00 € paid)", "79.00 €", ("100.00 €",)),
        ("messages to Jonas Frey", "0", ("1",)),
    ]


@pytest.mark.parametrize("width", [60, 80, 140, 300])
def test_no_text_of_the_model_steers_the_terminal(tmp_path: Path, width: int) -> None:
    evil = "\x1b[31mred\x07 [bold]markup[/bold] [/nope] \u202e \r\n" + "long " * 200
    script = (
        ("notify_customer", {"customer": evil, "text": evil}),
        ("refund_order", {"order_id": evil, "amount": 1}),
        ("final_answer", {"answer": evil}),
    )
    for guarded in (False, True):
        more = () if not guarded else (DONE,)
        shown = drawn(done(tmp_path, *script, *more, guarded=guarded), width=width)
        assert not {char for char in shown if not (char.isprintable() or char == "\n")}
        assert "[bold]markup[/bold] [/nope]" in shown
        if width >= 140:  # where the name of the row is not cut into many lines
            assert "messages to \\x1b[31mred\\x07 [bold]markup" in shown
        assert max(len(line) for line in shown.splitlines()) <= min(width, 160)


def test_colours_only_where_they_are_wanted(tmp_path: Path) -> None:
    run = done(tmp_path, CANCEL, DONE)
    assert "\x1b[" in drawn(run, force_terminal=True, color_system="truecolor")
    assert "\x1b[3" not in drawn(run, force_terminal=True, color_system="truecolor", no_color=True)


def test_a_terminal_that_has_no_boxes(tmp_path: Path) -> None:
    shown = drawn(done(tmp_path, CANCEL, READ, CANCEL, DONE), encoding="ascii")
    assert "REFUSED  read-before-cancel" in shown
    assert "\\u25" not in shown


def test_a_model_that_cannot_answer_is_an_error_of_the_run(tmp_path: Path) -> None:
    run = done(tmp_path, ValueError("no such key"), guarded=False)
    assert run.result.ending == "error"
    assert "no such key" in run.result["error"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"order_id": "W1", "paid": 1.5, "ok": true}', "order_id W1, paid 1.5, ok true"),
        ('[{"id": "W1", "n": 1}, {"id": "W2", "n": 2}]', "W1, 1; W2, 2"),
        ("[]", "[]"),
        ("[1, 2]", "[1, 2]"),
        ("no JSON\n at  all", "no JSON at all"),
        ("", ""),
    ],
)
def test_results_in_words(text: str, said: str) -> None:
    assert result_text(text) == said


def test_long_texts_are_cut() -> None:
    assert brief("x" * LONG) == "x" * LONG
    assert brief("x" * (LONG + 1)) == "x" * (LONG - 3) + "..."


def test_calls_in_words() -> None:
    def text(tool: str | None, arguments: Any, told: str = "") -> str:
        return call_text(Move(1, tool, arguments, "ran", told))

    assert text("pay", {"to": "é", "sum": 1.5}) == 'pay(to="é", sum=1.5)'
    assert text("final_answer", {"answer": "yes"}) == "answer: yes"
    assert text("final_answer", {"answer": {"a": 1}}) == 'answer: {"a": 1}'
    assert text("final_answer", {}) == "final_answer()"
    assert text(None, None, "hm") == "no tool call: hm"
