"""The template of the sub-agents' tasks."""

import re
from typing import Any

import pytest

from agentltl.agents.sub_agents.requirement import Requirement
from agentltl.agents.sub_agents.template import prompt_of, read_template
from agentltl.errors import ConstraintError

ONE = Requirement("r1", "Handle {braces}", ("read it", "change it"))


def test_each_task_is_a_line() -> None:
    template = read_template("{{id}} {requirement_id}: {requirement_description}\n{tasks}\n{requirement_id}")
    assert prompt_of(template, ONE) == "{id} r1: Handle {braces}\n- read it\n- change it\nr1"


def test_without_tasks_there_is_no_line() -> None:
    assert prompt_of("<{tasks}>", Requirement("r1", "x")) == "<>"


@pytest.mark.parametrize("field", ["task", "", "0", "tasks[0]", "tasks.x"])
def test_any_other_field_is_an_error(field: str) -> None:
    with pytest.raises(ConstraintError) as error:
        read_template(f"x {{tasks}} {{{field}}}")
    assert str(error.value) == (
        f"the template has the unknown field `{{{field}}}`\n"
        "the fields are `{requirement_id}`, `{requirement_description}`, `{tasks}`"
    )


@pytest.mark.parametrize(
    "field",
    ["tasks:9999999999", "tasks:>9", "requirement_id!r", "tasks!x", "tasks!s:d", "tasks:{tasks}", "tasks:{width}"],
)
def test_a_field_is_plain(field: str) -> None:
    with pytest.raises(ConstraintError) as error:
        read_template(f"x {{requirement_id}} {{{field}}}")
    name = re.split("[!:]", field)[0]
    assert str(error.value) == f"the template has a format in `{{{field}}}`\nwrite the plain field `{{{name}}}`"


@pytest.mark.parametrize("template", ["{tasks", "tasks}", "{tasks!}", "{tasks:{"])
def test_a_malformed_one_is_an_error(template: str) -> None:
    with pytest.raises(ConstraintError, match="the template cannot be read"):
        read_template(template)


@pytest.mark.parametrize("template", [None, b"{tasks}"])
def test_it_is_a_text(template: Any) -> None:
    with pytest.raises(ConstraintError, match="the template is `"):
        read_template(template)
