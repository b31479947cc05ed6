"""The forms in which requirements and their tasks are given."""

from typing import Any

import pytest

from agentltl.agents.sub_agents.requirement import Requirement, read_requirements
from agentltl.errors import ConstraintError

BOTH = (Requirement("req_1", "One", ("a", "b")), Requirement("req_2", "Two"))


@pytest.mark.parametrize(
    "requirements",
    [
        {"req_1": "One", "req_2": "Two"},
        ["One", "Two"],
        [{"id": "req_1", "description": "One"}, {"description": "Two", "id": "req_2"}],
    ],
)
@pytest.mark.parametrize("tasks", [{"req_2": [], "req_1": ["a", "b"]}, [["a", "b"], ()]])
def test_all_forms_say_the_same(requirements: Any, tasks: Any) -> None:
    assert read_requirements(requirements, tasks) == BOTH


def test_there_may_be_none() -> None:
    assert read_requirements({}, {}) == read_requirements([], []) == ()


@pytest.mark.parametrize(
    ("requirements", "tasks", "message"),
    [
        ("One", [["a"]], "the requirements are `str`\ngive a mapping from ids"),
        (None, [], "the requirements are `NoneType`\n"),
        ([3], [[]], "the description of requirement 1 is `int`\ngive a text"),
        ({"a": None}, {"a": []}, "the description of requirement `a` is `NoneType`\n"),
        ({"": "One"}, [[]], "`''` cannot be the id of a requirement\n"),
        ([{"id": 3, "description": "x"}], [[]], "`3` cannot be the id of a requirement\n"),
        ([{"id": "a"}], [[]], "requirement 1 has the keys `id`\ngive it `id` and `description`"),
        ([{"id": "a", "description": "x", "task": "y"}], [[]], "requirement 1 has the keys `id`, `descr"),
        ([{"id": "a", "description": "x"}] * 2, [[], []], "two requirements have the id `a`\ngive each"),
        (["x", {"id": "req_1", "description": "y"}], [[], []], "two requirements have the id `req_1`\n"),
        (["One"], "abc", "the tasks are `str`\ngive a mapping by id, or a list"),
        (["One"], [], "there are 1 requirements and 0 lists of tasks\ngive one list for each"),
        (["One"], ["abc"], "the tasks of requirement `req_1` are no list of texts\nput them into one"),
        (["One"], [[3]], "the tasks of requirement `req_1` are no list of texts\n"),
        (["One", "Two"], {"req_1": []}, "requirement `req_2` has no tasks\n"),
        (["One"], {"req_1": [], "req-1": []}, "there are tasks for `req-1`, and no such requirement\ndid"),
        (["One"], {"req_1": [], "other": []}, "there are tasks for `other`, and no such requirement\nthere are `"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_an_error(requirements: Any, tasks: Any, message: str) -> None:
    with pytest.raises(ConstraintError) as error:
        read_requirements(requirements, tasks)
    assert str(error.value).startswith(message)
