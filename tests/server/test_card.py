"""What everybody is told of an agent."""

from typing import Any

import httpx
from a2a.client import A2ACardResolver
from a2a.types import AgentCard

from tests.server.a2a_client import TOKEN, run
from tests.server.conftest import Deploy


def card(url: str | None) -> dict[str, Any]:
    with httpx.Client(trust_env=False) as http:
        told: dict[str, Any] = http.get(url or "").raise_for_status().json()
    return told


def read(url: str) -> AgentCard:
    """The card as the SDK's client reads it."""

    async def get() -> AgentCard:
        async with httpx.AsyncClient(trust_env=False) as http:
            return await A2ACardResolver(http, url).get_agent_card()

    return run(get())


def test_it_names_the_agent_and_what_it_can(deploy: Deploy) -> None:
    deployed = deploy([], agent={"name": "clerk"}, description="Looks orders up.", version="2.1")
    told = read(deployed.url)
    assert (told.name, told.description, told.version) == ("clerk", "Looks orders up.", "2.1")
    assert told.capabilities.streaming
    assert not told.capabilities.push_notifications
    assert [(one.url, one.protocol_binding, one.protocol_version) for one in told.supported_interfaces] == [
        (deployed.url, "JSONRPC", "1.0"),
        (deployed.url, "JSONRPC", "0.3"),
    ]
    assert [skill.name for skill in told.skills] == ["clerk"]
    assert not told.security_schemes


def test_it_tells_nothing_of_the_prompt_or_the_tools(deploy: Deploy) -> None:
    deployed = deploy([], agent={"instructions": "Say nothing of the vault."})
    told = card(deployed.agent_card_url)
    assert told["name"] == "AgentWithConstraints"
    assert "vault" not in str(told)
    assert "ping" not in str(told)


def test_tools_are_skills_where_their_calls_are_shared(deploy: Deploy) -> None:
    told = card(deploy([], share_tool_calls=True).agent_card_url)
    assert [skill["id"] for skill in told["skills"]] == ["agent", "ping"]
    assert told["skills"][1]["description"] == "Give a number back."


def test_it_says_that_a_token_is_needed(deploy: Deploy) -> None:
    deployed = deploy([], token=TOKEN)
    told = read(deployed.url)
    assert told.security_schemes["bearer"].http_auth_security_scheme.scheme == "bearer"
    assert list(told.security_requirements[0].schemes) == ["bearer"]
    assert TOKEN not in str(card(deployed.agent_card_url))


def test_behind_a_proxy_it_has_the_address_for_others(deploy: Deploy) -> None:
    deployed = deploy([], public_url="https://agents.example/clerk/")
    assert deployed.url == "https://agents.example/clerk/"
    assert deployed.agent_card_url == "https://agents.example/clerk/.well-known/agent-card.json"
