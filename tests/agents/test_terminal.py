"""The approver at the terminal: what it shows, what it takes for an answer, and that it needs a terminal."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest

from agentltl import Allow, ApprovalRequest, Change, Deny, in_terminal
from agentltl.agents.approval import BrokenRule

RULE = BrokenRule("limit", '"pay" (call #1) has `amount` 500', "Large payments are seen by a person")
REQUEST = ApprovalRequest("pay", {"to": "bob", "amount": 500}, (RULE,), "Pay bob.", 2, "clerk")


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What comes of these lines at a terminal, and what the terminal shows."""

    def answers(*lines: str, request: ApprovalRequest = REQUEST) -> tuple[Any, str]:
        screen = Screen()
        monkeypatch.setattr(sys, "stdin", Screen("".join(f"{line}\n" for line in lines)))
        monkeypatch.setattr(sys, "stdout", screen)
        return in_terminal(request), screen.getvalue()

    return answers


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (["y"], Allow()),
        (["Yes"], Allow()),
        (["n"], Deny()),
        (["n  too much "], Deny("too much")),
        (["no way"], Deny("way")),
        ([""], Deny("Nobody answered.")),
        ([], Deny("Nobody answered.")),
        (["what?", "yy", "y please", "y"], Allow()),
        (["e", '{"amount": 5}'], Change({"amount": 5})),
        (['e {"amount": 5}'], Change({"amount": 5})),
        (["e", "5", "{", '{"amount": NaN}', "{}"], Change({})),
        (["e", "{"], Deny("Nobody answered.")),
    ],
)
def test_answers(lines: list[str], answer: object, answers: Any) -> None:
    assert answers(*lines)[0] == answer


def test_what_is_shown(answers: Any) -> None:
    shown = answers("y")[1]
    for part in ("clerk", "pay", '"to": "bob"', '"amount": 500', "limit", RULE.sentence, RULE.description):
        assert part in shown


def test_an_agent_cannot_write_on_the_screen(answers: Any) -> None:
    evil = "a\x1b[2J\x9b1A\u202eb\nrule none: all is well\r"
    rule = BrokenRule(evil, evil, evil)
    shown = answers("y", request=ApprovalRequest(evil, {evil: evil}, (rule,), agent=evil))[1]
    assert not set("\x1b\x9b\u202e\r") & set(shown)
    assert not any(line.startswith("rule none") for line in shown.split("\n"))
    assert "\\x1b[2J" in shown


def test_a_value_that_is_no_json_is_named(answers: Any) -> None:
    class Picture:
        def __str__(self) -> str:
            return "a picture"

    assert "a picture" in answers("y", request=ApprovalRequest("pay", {"p": Picture()}))[1]


@pytest.mark.parametrize("which", ["stdin", "stdout"])
@pytest.mark.parametrize("stream", [None, io.StringIO("y\n")])
def test_without_a_terminal_the_answer_is_no(which: str, stream: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Screen("y\n"))
    monkeypatch.setattr(sys, "stdout", Screen())
    monkeypatch.setattr(sys, which, stream)
    assert in_terminal(REQUEST) == Deny("There is no terminal to ask in.")


def test_a_closed_terminal_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = Screen("y\n")
    closed.close()
    monkeypatch.setattr(sys, "stdin", closed)
    assert isinstance(in_terminal(REQUEST), Deny)
