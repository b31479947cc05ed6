"""The tests' own walls: what conftest.py and pytest-socket promise holds."""

import socket

import pytest
from pytest_socket import SocketConnectBlockedError


def test_a_name_beyond_this_machine_is_not_looked_up(hosts_wanted: list[str]) -> None:
    with pytest.raises(socket.gaierror, match="the network is shut"):
        socket.create_connection(("agentltl.invalid", 443), timeout=1)
    assert hosts_wanted == ["agentltl.invalid"]
    hosts_wanted.clear()


def test_an_address_beyond_this_machine_is_not_connected_to() -> None:
    # 192.0.2.0/24 is reserved for documentation: there is no such machine.
    with socket.socket() as far, pytest.raises(SocketConnectBlockedError):
        far.connect(("192.0.2.1", 443))


def test_this_machine_can_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        host, port = server.getsockname()
        with socket.create_connection((host, port), timeout=5) as client:
            assert client.getpeername() == (host, port)
