"""smolagents' own tests hold with our classes in the place of the ones that they derive from: they are drop-ins.

The test files come out of smolagents' source distribution (`make test` unpacks them) and are run as they are,
each time in a process of its own: once with the base class, which says what passes on this machine,
and then with each of ours, under no constraint, under one that no call touches and under one that every call touches.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SMOLAGENTS = ROOT / "build" / "smolagents"
TOOL_CALLING = "agentltl.agents.tool_calling:ToolCallingAgentWithConstraints"
CODE = "agentltl.agents.code:CodeAgentWithConstraints"

# The files that make an agent, or read what one leaves behind.
FILES = ["test_agents.py", "test_monitoring.py", "test_memory.py", "test_gradio_ui.py"]

CONSTRAINTS: dict[str, dict[str, str] | None] = {
    "no constraint": None,
    "untouched": {"name": "untouched", "rule": "precedence(no_such_tool, other)"},
    "every call touches it": {"name": "every", "rule": "at_most(*, 1000000)"},
}

NAMES_ITS_CLASS = "test_multiagent_to_dict_from_dict_roundtrip"
"""This test asks a code agent's dict for the class `CodeAgent` by name."""

Outcomes = dict[str, dict[str, str]]


def run(folder: Path, *arguments: str) -> Outcomes:
    """The outcome of each of smolagents' tests, with the reason where it did not pass."""
    outcomes = folder / "outcomes.json"
    (folder / "pytest.ini").write_text("[pytest]\n")  # none of our settings
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-c", str(folder / "pytest.ini"), "--rootdir", str(SMOLAGENTS)),
        *("-p", "smolagents_own", "-p", "no:cacheprovider", "-p", "no:xdist"),
        *("--allow-hosts=127.0.0.1,::1", "--allow-unix-socket", "--outcomes", str(outcomes), *arguments),
        *(str(SMOLAGENTS / "tests" / file) for file in FILES),
    ]
    paths = [str(HERE), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert outcomes.exists(), ended.stdout[-5000:] + ended.stderr[-5000:]
    return dict(json.loads(outcomes.read_text()))


def ours_under(constraint: dict[str, str] | None, ours: str = TOOL_CALLING) -> list[str]:
    return ["--agent-class", ours, *(["--constraint", json.dumps(constraint)] if constraint else [])]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """What smolagents' own class passes here."""
    if not (SMOLAGENTS / "tests" / FILES[0]).exists():
        pytest.fail("smolagents' own tests are not here\n  run `make test`, which unpacks them", pytrace=False)
    return run(tmp_path_factory.mktemp("base"))


def test_the_base_class_passes_most_of_them(base: Outcomes) -> None:
    passed = {test for test, seen in base.items() if seen["outcome"] == "passed"}
    assert len(passed) > 120, {test: seen for test, seen in base.items() if seen["outcome"] != "passed"}
    assert sum("TestToolCallingAgent::test_process_tool_calls" in test for test in passed) == 7
    assert sum("TestCodeAgent::" in test for test in passed) > 10


@pytest.mark.parametrize("agent_class", [TOOL_CALLING, CODE], ids=["tool calling", "code"])
@pytest.mark.parametrize("case", CONSTRAINTS)
def test_what_the_base_class_passes_ours_passes(case: str, agent_class: str, base: Outcomes, tmp_path: Path) -> None:
    constraint = CONSTRAINTS[case]
    ours = run(tmp_path, *ours_under(constraint, agent_class))
    assert ours.keys() == base.keys()
    passed = [test for test, seen in base.items() if seen["outcome"] == "passed"]
    if agent_class == CODE:
        (named,) = [test for test in passed if test.endswith(NAMES_ITS_CLASS)]
        assert "'CodeAgentWithConstraints' == 'CodeAgent'" in ours[named]["why"]
        passed.remove(named)
    lost = [f"{test}: {ours[test]['why']}" for test in passed if ours[test]["outcome"] != "passed"]
    assert not lost, "\n".join(lost)


def test_the_constraint_is_in_force(tmp_path: Path) -> None:
    """A constraint that allows no call is felt by the same tests, so the runs above mean something."""
    ours = run(tmp_path, *ours_under({"name": "nothing", "rule": "never(*)"}), "-k", "test_process_tool_calls")
    stopped = {test for test, seen in ours.items() if "ConstraintStopError" in seen["why"]}
    assert any(test.endswith("[test_case0]") for test in stopped), ours


def test_the_constraint_is_in_force_in_code(tmp_path: Path) -> None:
    nothing = {"name": "nothing", "rule": "never(final_answer)"}
    ours = run(tmp_path, *ours_under(nothing, CODE), "-k", "test_change_tools or test_custom_final_answer")
    stopped = {test for test, seen in ours.items() if "ConstraintStopError" in seen["why"]}
    assert any("test_custom_final_answer_with_custom_inputs" in test for test in stopped), ours
