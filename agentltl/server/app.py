"""The application: the parts of the SDK put together, behind the gate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH as CARD_PATH
from starlette.applications import Starlette

from agentltl.agents.agent import Agent
from agentltl.agents.models.redaction import known_secrets, secrets_of
from agentltl.server.card import card_of
from agentltl.server.conversations import Conversations
from agentltl.server.executor import Executor
from agentltl.server.gate import Gate
from agentltl.server.requests import CallContexts, RequestContexts
from agentltl.server.settings import Settings
from agentltl.server.slots import Slots
from agentltl.server.tasks import Tasks

_FORGOTTEN_SECONDS = 600.0
"""A task that waits for input so long is only kept as a record."""


@dataclass(frozen=True, slots=True)
class App:
    """The application and what is ended with it."""

    gate: Gate
    executor: Executor
    handler: DefaultRequestHandler
    card_url: str


def app_of(agent: Agent, url: str, settings: Settings) -> App:
    """The application that serves an agent at `url`, both versions of the protocol at one address."""
    slots = Slots(settings.max_concurrent_runs)
    key = getattr(agent.model, "api_key", None)  # that of a model of smolagents; ours hides its own
    keys = [settings.token, key if isinstance(key, str) else None, *secrets_of(agent.model)]
    tasks = Tasks(settings.max_tasks)
    executor = Executor(
        Conversations(agent, settings.max_contexts),
        tasks,
        slots,
        share=settings.share_tool_calls,
        secrets=partial(known_secrets, *keys),
    )
    card = card_of(agent, url, settings)
    handler = DefaultRequestHandler(
        executor,
        tasks,
        card,
        request_context_builder=RequestContexts(tasks),
        interrupted_task_timeout=_FORGOTTEN_SECONDS,
    )
    routes = [
        *create_agent_card_routes(card),
        *create_jsonrpc_routes(handler, "/", context_builder=CallContexts(), enable_v0_3_compat=True),
    ]
    gate = Gate(Starlette(routes=routes), settings, slots, frozenset({CARD_PATH}))
    return App(gate, executor, handler, url.rstrip("/") + CARD_PATH)
