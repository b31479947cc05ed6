"""An approver that asks whoever sits at the terminal."""

from __future__ import annotations

import json
import sys
import threading
from typing import Never

from agentltl.agents.approval import Allow, Answer, ApprovalRequest, Change, Deny
from agentltl.constraints.value import Json

_one_at_a_time = threading.Lock()


def in_terminal(request: ApprovalRequest) -> Answer:
    """Show a call and the rules that it breaks, and read the answer: `y`, `n` and a reason, or `e` to edit.

    Where input or output is no terminal, and at the end of the input, the answer is no.
    """
    if not (_terminal(sys.stdin) and _terminal(sys.stdout)):
        return Deny("There is no terminal to ask in.")
    with _one_at_a_time:
        try:
            return _asked(request)
        except EOFError:
            return Deny("Nobody answered.")


def _asked(request: ApprovalRequest) -> Answer:
    print(f"\n{visible(request.agent or 'The agent')} wants to call {visible(request.tool)} with")
    print(shown(request.args))
    for rule in request.constraints:
        about = f" ({visible(rule.description)})" if rule.description else ""
        print(f"rule {visible(rule.name)}{about}: {visible(rule.sentence)}")
    while True:
        word, _, rest = input("y = allow, n [reason] = deny, e = edit the arguments: ").strip().partition(" ")
        match word.lower():
            case "y" | "yes" if not rest:
                return Allow()
            case "n" | "no":
                return Deny(rest.strip())
            case "e" | "edit":
                return Change(_edited(rest))


def _edited(given: str) -> dict[str, Json]:
    """Arguments as a JSON object, asked for until they are one."""
    while True:
        text = given or input("arguments as JSON: ")
        given = ""
        try:
            value = json.loads(text, parse_constant=_refuse)
        except ValueError as error:
            print(f"this is no JSON: {visible(str(error))}")
            continue
        if isinstance(value, dict):
            return value
        print('arguments are an object, as in {"amount": 5}')


def _refuse(name: str) -> Never:
    raise ValueError(f"{name} is no JSON value")


def shown(args: Json) -> str:
    """Arguments as indented JSON in which every character can be seen."""
    text = json.dumps(args, indent=2, ensure_ascii=False, default=str)
    return "\n".join(visible(line) for line in text.split("\n"))


def visible(text: str) -> str:
    """The text with whatever cannot be seen escaped: an agent's words are not to move the cursor or turn the line."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def _terminal(stream: object) -> bool:
    try:
        return bool(stream is not None and stream.isatty())  # type: ignore[attr-defined]
    except ValueError:  # it is closed
        return False
