"""A requirement with its tasks, and the forms in which a user gives many of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from agentltl.constraints.language.lexicon import near
from agentltl.errors import ConstraintError

Requirements = Mapping[str, str] | Sequence[str] | Sequence[Mapping[str, str]]
Tasks = Mapping[str, Sequence[str]] | Sequence[Sequence[str]]

_KEYS = {"id", "description"}


@dataclass(frozen=True, slots=True)
class Requirement:
    """What one sub-agent has to do: an id that no other requirement has, a description, and its tasks."""

    id: str
    description: str
    tasks: tuple[str, ...] = ()


def read_requirements(requirements: Requirements, tasks: Tasks) -> tuple[Requirement, ...]:
    """The requirements of a mapping from ids to descriptions, of a list of descriptions, or of a list of mappings with
    `id` and `description`; the tasks of a mapping by id, or of a list that is parallel to the requirements.

    Raises `ConstraintError` for anything else, for an id that is there twice, and for tasks that do not fit.
    """
    named = list(_named(requirements))
    seen: set[str] = set()
    for id, _ in named:
        if id in seen:
            raise ConstraintError(f"two requirements have the id `{id}`\ngive each an id of its own")
        seen.add(id)
    by_id = _tasks_by_id(tasks, [id for id, _ in named])
    return tuple(Requirement(id, description, by_id[id]) for id, description in named)


def _named(requirements: object) -> Iterable[tuple[str, str]]:
    if isinstance(requirements, Mapping):
        for id, description in requirements.items():
            yield _id(id), _description(description, f"requirement `{id}`")
    elif _is_list(requirements):
        for number, one in enumerate(cast(Sequence[object], requirements), 1):
            if isinstance(one, Mapping):
                if set(one) != _KEYS:
                    raise ConstraintError(
                        f"requirement {number} has the keys {_listed(one)}\n"
                        "give it `id` and `description`, and no other"
                    )
                yield _id(one["id"]), _description(one["description"], f"requirement `{one['id']}`")
            else:
                yield f"req_{number}", _description(one, f"requirement {number}")
    else:
        raise ConstraintError(
            f"the requirements are `{type(requirements).__name__}`\n"
            "give a mapping from ids to descriptions, a list of descriptions, "
            'or a list of {"id": ..., "description": ...}'
        )


def _tasks_by_id(tasks: object, ids: list[str]) -> dict[str, tuple[str, ...]]:
    if isinstance(tasks, Mapping):
        for id in tasks:
            if id not in ids:
                guess = near(str(id), ids)
                hint = f"did you mean `{guess}`?" if guess else f"there are {_listed(ids)}"
                raise ConstraintError(f"there are tasks for `{id}`, and no such requirement\n{hint}")
        for id in ids:
            if id not in tasks:
                raise ConstraintError(f"requirement `{id}` has no tasks\ngive it a list of texts, which may be empty")
        return {id: _texts(tasks[id], id) for id in ids}
    if not _is_list(tasks):
        raise ConstraintError(
            f"the tasks are `{type(tasks).__name__}`\n"
            "give a mapping by id, or a list that is parallel to the requirements"
        )
    listed = list(cast(Sequence[object], tasks))
    if len(listed) != len(ids):
        raise ConstraintError(
            f"there are {len(ids)} requirements and {len(listed)} lists of tasks\n"
            "give one list for each, in their order"
        )
    return {id: _texts(given, id) for id, given in zip(ids, listed, strict=True)}


def _texts(given: object, id: str) -> tuple[str, ...]:
    if not _is_list(given) or not all(isinstance(text, str) for text in cast(Sequence[object], given)):
        raise ConstraintError(f"the tasks of requirement `{id}` are no list of texts\nput them into one: [...]")
    return tuple(cast(Sequence[str], given))


def _id(given: object) -> str:
    if not isinstance(given, str) or not given.strip():
        raise ConstraintError(f"`{given!r}` cannot be the id of a requirement\ngive a text that is not empty")
    return given


def _description(given: object, whose: str) -> str:
    if not isinstance(given, str):
        raise ConstraintError(f"the description of {whose} is `{type(given).__name__}`\ngive a text")
    return given


def _is_list(given: object) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, str | bytes)


def _listed(names: Iterable[object]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"
