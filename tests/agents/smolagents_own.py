"""A pytest plugin that runs smolagents' own tests, with another class in the place of the one it derives from if asked.

It is loaded into a pytest process of its own (`-p smolagents_own`), since it changes smolagents for good.
The source distribution has the test files without the conftest beside them, so the fixtures are made here.
"""

import functools
import importlib
import json
import re
import socket
import time
from pathlib import Path
from typing import Any

import pytest

OUTCOMES = pytest.StashKey[dict[str, dict[str, str]]]()
REPLACED = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("smolagents' own tests")
    group.addoption("--outcomes", required=True, help="the file to write the outcome of each test to, as JSON")
    group.addoption("--agent-class", help="`module:Name` of the class to put in the place of its base")
    group.addoption("--constraint", help="a constraint, as JSON, that every agent of that class is given")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[OUTCOMES] = {}
    socket.getaddrinfo = refuse
    if place := config.getoption("--agent-class"):
        module, _, name = place.partition(":")
        agent_class = getattr(importlib.import_module(module), name)
        if constraint := config.getoption("--constraint"):
            give(agent_class, json.loads(constraint))
        config.stash[REPLACED] = put_in_place(agent_class)


def refuse(host: Any, *args: Any, **kwargs: Any) -> Any:
    raise socket.gaierror(f"the network is shut in tests, and `{host}` was asked for")


def give(agent_class: type, constraint: dict[str, Any]) -> None:
    """Give every agent of the class `constraint`, unless the test names constraints itself."""
    init = agent_class.__init__

    @functools.wraps(init)
    def with_constraint(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **{"constraints": [constraint]} | kwargs)

    agent_class.__init__ = with_constraint


def put_in_place(agent_class: type) -> str:
    """Make every later import of smolagents' class, and its registry, find `agent_class`; returns the class's name."""
    import smolagents
    import smolagents.agents
    import smolagents.cli

    bases = [base for base in agent_class.__mro__ if base in (smolagents.ToolCallingAgent, smolagents.CodeAgent)]
    name = bases[0].__name__
    for module in (smolagents, smolagents.agents, smolagents.cli):
        if hasattr(module, name):
            setattr(module, name, agent_class)
    smolagents.agents.AGENT_REGISTRY[name] = agent_class
    return name


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report: pytest.TestReport = yield
    test = item.nodeid
    if place := item.config.getoption("--agent-class"):
        # A class among the parameters is part of the test's name.
        test = re.sub(rf"\b{place.partition(':')[2]}\b", item.config.stash[REPLACED], test)
    known = item.config.stash[OUTCOMES].setdefault(test, {"outcome": "passed", "why": ""})
    if report.outcome != "passed":
        known.update(outcome=report.outcome, why=call.excinfo.exconly() if call.excinfo else "")
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    Path(session.config.getoption("--outcomes")).write_text(json.dumps(session.config.stash[OUTCOMES]))


@pytest.fixture
def test_tool() -> Any:
    """A tool that says what it was given, and fails on `error`."""
    from smolagents import Tool

    class TestTool(Tool):
        name = "test_tool"
        description = "Says what it was given"
        inputs = {"input": {"type": "string", "description": "What to say"}}  # noqa: RUF012
        output_type = "string"

        def forward(self, input: str) -> str:
            if input == "error":
                raise ValueError("the tool was asked to fail")
            if input == "value2":
                # The outputs come as the calls finish, and a test of two parallel calls wants the first one first.
                time.sleep(0.25)
            return f"Processed: {input}"

    return TestTool()


@pytest.fixture
def shared_datadir(tmp_path: Path) -> Path:
    """A folder with the one picture that the tests open."""
    from PIL import Image

    Image.effect_noise((640, 480), 64).convert("RGB").save(tmp_path / "000000039769.png")
    return tmp_path
