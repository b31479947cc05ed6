"""An agent as bytes that another process builds it from.

Rules and the guard's state travel as plain data, the model by its name or by pickle, tools and other settings by
cloudpickle or as the name of a function that makes them. No sink travels: events come back with the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import cloudpickle

from agentltl.agents.output_tool import Validator
from agentltl.constraints.constraint import Constraint
from agentltl.constraints.registered import functions_of, register
from agentltl.constraints.value import as_text
from agentltl.errors import ConstraintError
from agentltl.guard.guard import Guard

if TYPE_CHECKING:
    from agentltl.agents.agent_with_sub_agents import AgentWithSubAgents

_INSTEAD = {
    "tools": 'define it in a module that the workers can import, or give tools="package.module:function"',
    "model": 'give a litellm name, a model that can be pickled, or model="package.module:function"',
}
_INSTEAD["model_instance"] = _INSTEAD["model"]


def blueprint(
    given: Mapping[str, Any],
    constraints: Sequence[Constraint],
    validators: Sequence[Validator] = (),
    guard: Guard | None = None,
) -> bytes:
    """The agent that was made with these settings and constraints and was given these validators, and the guard from
    which its children go on.

    Raises `ConstraintError` for what cannot be sent to another process.
    """
    settings = {name: value for name, value in given.items() if name not in ("sinks", "constraints")}
    plain = {
        "constraints": [constraint.to_mapping() for constraint in constraints],
        "guard": None if guard is None else guard.to_state(),
    }
    functions = functions_of(constraint.formula for constraint in constraints)
    whole = {"settings": settings, "functions": functions, "validators": list(validators), **plain}
    try:
        return bytes(cloudpickle.dumps(whole))
    except Exception as error:
        for name, value in [*settings.items(), ("output_validator", whole["validators"])]:
            for part in value if isinstance(value, list | tuple) else [value]:
                _require(part, name)
        for kind, named in functions.items():
            for name, function in named.items():
                _require(function, kind, name)
        raise ConstraintError(f"the agent cannot be sent to another process ({_why(error)})\nuse threads") from error


def built(data: bytes) -> tuple[AgentWithSubAgents, Guard | None]:
    """The agent of a blueprint, and the guard that its children go on from."""
    from agentltl.agents.agent_with_sub_agents import AgentWithSubAgents

    whole = cloudpickle.loads(data)
    register(whole["functions"])
    agent = AgentWithSubAgents(**whole["settings"], constraints=whole["constraints"])
    for validator in whole["validators"]:
        agent.output_validator(validator)
    return agent, None if whole["guard"] is None else Guard.from_state(whole["guard"])


def _require(value: object, setting: str, name: str | None = None) -> None:
    try:
        cloudpickle.dumps(value)
    except Exception as error:
        named = name or getattr(value, "name", None)
        what = f"`{named}` of `{setting}`" if isinstance(named, str) and setting != "model" else f"`{setting}`"
        instead = _INSTEAD.get(setting, "define it in a module that the workers can import")
        raise ConstraintError(f"{what} cannot be sent to another process ({_why(error)})\n{instead}") from error


def _why(error: Exception) -> str:
    return as_text(error).partition("\n")[0] or type(error).__name__
