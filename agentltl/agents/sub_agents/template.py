"""The template from which each sub-agent's task is made."""

from __future__ import annotations

from string import Formatter

from agentltl.agents.sub_agents.requirement import Requirement
from agentltl.errors import ConstraintError

FIELDS = ("requirement_id", "requirement_description", "tasks")


def read_template(template: str) -> str:
    """The template, checked: its fields are among `FIELDS`, and nothing in it but their names. Raises
    `ConstraintError`."""
    if not isinstance(template, str):
        raise ConstraintError(f"the template is `{type(template).__name__}`\ngive a text with {_known()}")
    try:
        parts = list(Formatter().parse(template))
    except ValueError as error:
        raise ConstraintError(
            f"the template cannot be read ({error})\nwrite {_known()} for fields, and {{{{ and }}}} for braces"
        ) from error
    for _, name, spec, conversion in parts:
        if name is None:
            continue
        if name not in FIELDS:
            raise _unknown(name)
        if spec or conversion:
            written = name + (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "")
            raise ConstraintError(f"the template has a format in `{{{written}}}`\nwrite the plain field `{{{name}}}`")
    return template


def prompt_of(template: str, requirement: Requirement) -> str:
    """The task of a requirement's sub-agent, from a checked template; each of its tasks is a line with `- ` before."""
    tasks = "\n".join(f"- {task}" for task in requirement.tasks)
    return template.format(requirement_id=requirement.id, requirement_description=requirement.description, tasks=tasks)


def _unknown(name: str) -> ConstraintError:
    return ConstraintError(f"the template has the unknown field `{{{name}}}`\nthe fields are {_known()}")


def _known() -> str:
    return ", ".join(f"`{{{name}}}`" for name in FIELDS)
