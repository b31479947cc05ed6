"""Progress: a function that is told, or a bar."""

import logging
import sys
from typing import Any

import pytest

from agentltl.agents.sub_agents.progress import progress, require_progress
from agentltl.errors import ConstraintError
from agentltl.record.result import Result
from agentltl.record.sub_results import SubResult

FINE = SubResult.of_requirement(Result("x"), "r1", "One", [])
BAD = SubResult.of_requirement(Result(error="no"), "r2", "Two", [])


def test_a_function_that_raises_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def told(*_: object) -> None:
        raise OSError("no disk")

    with caplog.at_level(logging.ERROR, "agentltl"), progress(told, 1) as tell:
        tell(1, 1, FINE)
    assert "`on_progress` failed on the requirement `r1`" in caplog.text


def test_a_bar_says_how_many_are_done_and_how_many_have_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # what rich takes for a terminal
    monkeypatch.setenv("TERM", "xterm")
    with progress("bar", 2) as tell:
        tell(1, 2, FINE)
        tell(2, 2, BAD)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "2/2" in shown.err.replace("\x1b[32m", "").replace("\x1b[0m", "")
    assert "1 failed" in shown.err


@pytest.mark.parametrize("wanted", ["bar", None])
def test_nothing_is_printed_where_no_terminal_is(
    wanted: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    assert not sys.stderr.isatty()
    with progress(wanted, 1) as tell:
        tell(1, 1, FINE)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("wanted", ["bars", True, 3])
def test_anything_else_is_an_error(wanted: Any) -> None:
    with pytest.raises(ConstraintError, match='give a function, "bar", or None'):
        require_progress(wanted)
