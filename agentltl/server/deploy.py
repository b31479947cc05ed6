"""`deploy`: an agent at an address, from the checks of its settings to a server that answers."""

from __future__ import annotations

import importlib
import socket

from agentltl.agents.agent import Agent
from agentltl.errors import MissingExtraError
from agentltl.record.deployment import ResultDeploy
from agentltl.server.address import bound, url_of
from agentltl.server.settings import Settings


def deploy(agent: Agent, host: str, port: int, settings: Settings) -> ResultDeploy:
    """Serve an agent, as `Agent.deploy` says. What is wrong with the address is raised before anything listens."""
    require_sdk()
    listening = bound(host, port, guarded=settings.token is not None)
    try:
        return _served(agent, listening, settings)
    except BaseException:
        listening.close()
        raise


def require_sdk() -> None:
    """Raises `MissingExtraError` without the extra `serve`."""
    try:
        importlib.import_module("a2a.server.routes")
        importlib.import_module("sse_starlette")
        importlib.import_module("uvicorn")
    except ImportError as error:
        raise MissingExtraError("serving an agent", "serve") from error


def _served(agent: Agent, listening: socket.socket, settings: Settings) -> ResultDeploy:
    from agentltl.server.app import app_of
    from agentltl.server.thread import ServerThread

    own = url_of(listening)
    app = app_of(agent, settings.public_url or own, settings)
    deployed = ResultDeploy(settings.public_url or own, agent_card_url=app.card_url)

    def ended() -> None:
        deployed.status = "closed"

    deployed._server = server = ServerThread(app, listening, ended)
    server.start()
    deployed.status = "running"
    return deployed
