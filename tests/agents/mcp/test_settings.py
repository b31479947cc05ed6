from pathlib import Path
from typing import Any

import pytest

from agentltl import ConstraintError
from agentltl.agents.mcp.settings import Http, Stdio, read_servers

SECRET = "tops3cret"


def test_the_two_kinds() -> None:
    assert read_servers(
        {
            "a": {"command": "npx", "args": ["-y", "x"], "env": {"A": "b"}, "cwd": Path("c"), "start_timeout": 5},
            "b_c-1": {"url": "https://shop.invalid/mcp", "headers": {"A": "b"}, "call_timeout": None},
            "d": {"command": "x", "args": None, "env": None},
        }
    ) == (
        Stdio("a", "npx", ("-y", "x"), {"A": "b"}, Path("c"), start_timeout=5),
        Http("b_c-1", "https://shop.invalid/mcp", {"A": "b"}, call_timeout=None),
        Stdio("d", "x"),
    )


@pytest.mark.parametrize("name", ["", "a b", "a__b", "_a", "a_", "a.b", "ä", 1, "a\n"])
def test_a_name_that_cannot_be_part_of_the_name_of_a_tool(name: Any) -> None:
    with pytest.raises(ConstraintError, match="cannot be the name of an MCP server"):
        read_servers({name: {"command": "x"}})


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "it is not clear how the MCP server `shop` is reached"),
        ({"command": "x", "url": "http://x"}, "it is not clear how"),
        ("npx", "it is not clear how"),
        ({"command": "x", "arg": []}, "unknown setting `arg`\ndid you mean `args`?"),
        ({"url": "http://x", "env": {}}, "unknown setting `env`\nthere are `url`, `headers`"),
        ({"command": ""}, "`command` of the MCP server `shop` is not a text"),
        ({"command": "x", "args": SECRET}, "`args` of the MCP server `shop` is not a list of texts"),
        ({"command": "x", "args": [1]}, "not a list of texts"),
        ({"command": "x", "env": {SECRET: 1}}, "`env` of the MCP server `shop` is not a mapping from texts to texts"),
        ({"url": "http://x", "headers": [SECRET]}, "not a mapping from texts to texts"),
        ({"command": "x", "cwd": 1}, "not a path"),
        ({"url": f"ftp://{SECRET}"}, "not an address that begins with http"),
        ({"url": "http://"}, "not an address"),
        ({"url": "http://["}, "not an address"),
        ({"command": "x", "start_timeout": 0}, "not a number of seconds"),
        ({"command": "x", "start_timeout": None}, "not a number of seconds"),
        ({"command": "x", "call_timeout": True}, "not a number of seconds"),
    ],
)
def test_what_is_wrong_is_said_without_the_value(settings: Any, said: str) -> None:
    with pytest.raises(ConstraintError) as failed:
        read_servers({"shop": settings})
    assert said in str(failed.value)
    assert SECRET not in str(failed.value)


def test_secrets_are_not_shown() -> None:
    stdio, http = read_servers(
        {
            "a": {"command": "x", "args": ["--token", SECRET], "env": {"API_KEY": "k3y", "LEVEL": "low", "B": SECRET}},
            "b": {
                "url": f"https://ada:{SECRET}-1@shop.invalid:8/mcp?key={SECRET}%2F2&x=y",
                "headers": {"Authorization": f"Bearer {SECRET}-3"},
            },
        }
    )
    assert SECRET not in repr(stdio) + repr(http) + stdio.place + http.place
    assert http.place == "`https://shop.invalid:8/mcp`"
    assert stdio.tell(f"k3y {SECRET} low") == "[hidden] [hidden] low"
    assert (
        http.tell(f"{SECRET}-3, {SECRET}-1, {SECRET}/2, {SECRET}%2F2, y") == "[hidden], [hidden], [hidden], [hidden], y"
    )
