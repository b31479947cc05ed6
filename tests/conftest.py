"""What holds for every test: the network is shut, and nothing even looks a host up.

The environment is set before anything is imported, because litellm and the hub's client read it at import.
Connections are refused by pytest-socket (see pyproject.toml); names are refused here, from the collection on,
and a test in which somebody asked for one fails even when the refusal was swallowed.
"""

import os

os.environ.update(
    {
        "ANONYMIZED_TELEMETRY": "False",
        "DO_NOT_TRACK": "1",
        "GRADIO_ANALYTICS_ENABLED": "False",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_OFFLINE": "1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }
)

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

# A busy machine makes an example slow, not wrong.
settings.register_profile("agentltl", deadline=None, print_blob=True)
settings.load_profile("agentltl")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--agreement", type=int, default=200_000, help="how many random (rule, prefix) pairs are judged twice"
    )
    parser.addoption("--agreement-seed", default="0", help="another seed judges other pairs")


LOOPBACK = {None, "", "localhost", "127.0.0.1", "::1"}
wanted: list[str] = []
look_up = socket.getaddrinfo


def look_up_loopback(host: Any, *args: Any, **kwargs: Any) -> Any:
    name = host.decode() if isinstance(host, bytes) else host
    if name in LOOPBACK:
        return look_up(host, *args, **kwargs)
    wanted.append(name)
    raise socket.gaierror(f"the network is shut in tests, and `{name}` was asked for")


socket.getaddrinfo = look_up_loopback


@pytest.fixture
def hosts_wanted() -> list[str]:
    """The names that were looked up and refused; a test that expects some takes them out of the list."""
    return wanted


@pytest.fixture(autouse=True)
def no_host_is_wanted(hosts_wanted: list[str]) -> Iterator[None]:
    """Fail a test in which a host beyond this machine was looked up."""
    hosts_wanted.clear()
    yield
    assert not hosts_wanted, f"the test tried to reach {', '.join(hosts_wanted)}"
