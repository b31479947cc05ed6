"""The template from which each sub-agent's task is made."""

from __future__ import annotations

from collections.abc import Iterator
from string import Formatter

from agentltl.agents.sub_agents.requirement import Requirement
from agentltl.errors import ConstraintError

FIELDS = ("requirement_id", "requirement_description", "tasks")


def read_template(template: str) -> str:
    """The template, checked: its fields are among `FIELDS`. Raises `ConstraintError`."""
    if not isinstance(template, str):
        raise ConstraintError(f"the template is `{type(template).__name__}`\ngive a text with {_known()}")
    try:
        fields = list(_fields(template))
        template.format(**dict.fromkeys(FIELDS, ""))
    except (LookupError, AttributeError, ValueError) as error:
        unknown = next((name for name in _named(template) if name not in FIELDS), None)
        if unknown is not None:
            raise _unknown(unknown) from error
        raise ConstraintError(
            f"the template cannot be read ({error})\nwrite {_known()} for fields, and {{{{ and }}}} for braces"
        ) from error
    for name in fields:
        if name not in FIELDS:
            raise _unknown(name)
    return template


def prompt_of(template: str, requirement: Requirement) -> str:
    """The task of a requirement's sub-agent, from a checked template; each of its tasks is a line with `- ` before."""
    tasks = "\n".join(f"- {task}" for task in requirement.tasks)
    return template.format(requirement_id=requirement.id, requirement_description=requirement.description, tasks=tasks)


def _fields(template: str) -> Iterator[str]:
    for _, name, spec, _ in Formatter().parse(template):
        if name is not None:
            yield f"{name}:{spec}" if spec and "{" in spec else name


def _named(template: str) -> list[str]:
    try:
        return list(_fields(template))
    except ValueError:
        return []


def _unknown(name: str) -> ConstraintError:
    return ConstraintError(f"the template has the unknown field `{{{name}}}`\nthe fields are {_known()}")


def _known() -> str:
    return ", ".join(f"`{{{name}}}`" for name in FIELDS)
