"""From `deploy` to `close`."""

import socket
import subprocess
import sys
import threading
from typing import Any

import httpx
import pytest

from agentltl import Agent, ConstraintError, DeployError, MissingExtraError, ResultDeploy
from agentltl.testing import ScriptedModel
from tests.server.a2a_client import TOKEN, ask, post, state
from tests.server.conftest import Deploy

ANSWER = ("final_answer", {"answer": "done"})


def agent() -> Agent:
    return Agent(model=ScriptedModel([ANSWER] * 9))


def test_a_result_made_by_hand_is_pending() -> None:
    made = ResultDeploy("http://agents.example")
    assert (made.status, made.agent_card_url) == ("pending", None)
    assert made == ResultDeploy("http://agents.example", "pending", None)
    assert repr(made) == "ResultDeploy(url='http://agents.example', status='pending', agent_card_url=None)"
    assert made.wait()
    made.close()
    assert made.status == "closed"


def test_it_runs_answers_and_is_closed_once_and_for_all() -> None:
    with agent().deploy() as deployed:
        assert deployed.status == "running"
        assert deployed.agent_card_url == f"{deployed.url}/.well-known/agent-card.json"
        assert state(ask(deployed.url, "Go.")) == "completed"
        assert not deployed.wait(0.01)
    assert deployed.status == "closed"
    assert deployed.wait()
    deployed.close()
    with pytest.raises(httpx.ConnectError):
        post(deployed.url)


def test_several_threads_can_close_it() -> None:
    deployed = agent().deploy()
    threads = [threading.Thread(target=deployed.close) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert deployed.status == "closed"


def test_a_port_can_be_chosen_and_used_again() -> None:
    with agent().deploy() as first:
        port = int(first.url.rpartition(":")[2])
    with agent().deploy(port=port) as second:
        assert second.url == first.url
        assert state(ask(second.url, "Go.")) == "completed"


def test_a_port_in_use_is_one_error(deploy: Deploy) -> None:
    port = int(deploy([]).url.rpartition(":")[2])
    with pytest.raises(DeployError) as raised:
        agent().deploy(port=port)
    assert str(raised.value) == (f"port {port} of `127.0.0.1` is in use\ngive another one, or `port=0` for a free one")


def test_two_agents_are_served_beside_each_other(deploy: Deploy) -> None:
    first, second = deploy([ANSWER]), deploy([ANSWER])
    assert first.url != second.url
    first.close()
    assert state(ask(second.url, "Go.")) == "completed"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7"])
def test_others_may_reach_it_only_with_a_token(host: str) -> None:
    with pytest.raises(ConstraintError, match=r"can be reached from other machines, and there is no token\ngive a"):
        agent().deploy(host=host)


def test_with_a_token_it_listens_to_all() -> None:
    with agent().deploy(host="0.0.0.0", token=TOKEN) as deployed:
        assert deployed.url.startswith("http://127.0.0.1:")
        assert state(ask(deployed.url, "Go.", token=TOKEN)) == "completed"


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6")
def test_the_loopback_of_ipv6() -> None:
    with agent().deploy(host="::1") as deployed:
        assert deployed.url.startswith("http://[::1]:")
        assert state(ask(deployed.url, "Go.")) == "completed"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"token": "short"}, "`token` is no text of 16 or more"),
        ({"token": ""}, "`token` is no text"),
        ({"token": "with spaces between words"}, "`token` is no text"),
        ({"token": "schlüssel-zum-garten"}, "`token` is no text"),
        ({"token": 12345678901234567890}, "`token` is no text"),
        ({"port": -1}, "`port=-1` is no port"),
        ({"port": "80"}, "`port='80'` is no port"),
        ({"port": 70000}, "`port=70000` is no port"),
        ({"host": ""}, "`host=''` is no host"),
        ({"max_body_bytes": 0}, "`max_body_bytes=0` leaves nothing"),
        ({"max_concurrent_runs": 0}, "`max_concurrent_runs=0` leaves nothing"),
        ({"max_contexts": True}, "`max_contexts=True` leaves nothing"),
        ({"max_tasks": 1.5}, r"`max_tasks=1\.5` leaves nothing"),
        ({"public_url": "agents.example"}, "`public_url` is no address"),
        ({"public_url": "https://me:secret@agents.example"}, "`public_url` is no address"),
    ],
)
def test_settings_that_make_no_sense_are_errors(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConstraintError, match=message) as raised:
        agent().deploy(**settings)
    assert str(raised.value).count("\n") == 1
    assert "schlüssel" not in str(raised.value)
    assert "secret@" not in str(raised.value)


def test_an_address_of_another_machine_is_an_error() -> None:
    with pytest.raises(DeployError, match=r"`192\.0\.2\.7` is no address of this machine\ngive one of its own"):
        agent().deploy(host="192.0.2.7", token=TOKEN)


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "a2a.server.routes", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'agentltl\[serve\]'"):
        agent().deploy()


def test_it_ends_with_the_interpreter() -> None:
    program = """
import threading
from agentltl import Agent, tool
from agentltl.testing import ScriptedModel

@tool
def hang() -> str:
    "Hang."
    entered.set()
    threading.Event().wait()

entered = threading.Event()
deployed = Agent([hang], ScriptedModel([("hang", {})])).deploy()
import httpx
message = {"messageId": "1", "role": "ROLE_USER", "parts": [{"text": "Hang."}]}
params = {"message": message, "configuration": {"returnImmediately": True}}
answer = httpx.post(deployed.url, json={"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params},
                    headers={"A2A-Version": "1.0"}, trust_env=False)
assert entered.wait(30)
print(answer.json()["result"]["task"]["status"]["state"])
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout in ("TASK_STATE_SUBMITTED\n", "TASK_STATE_WORKING\n")
