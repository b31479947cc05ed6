"""What a sentence has told so far: the values it has named, and the call that it may call "it"."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from agentltl.constraints.compare import Compare, Condition, Var
from agentltl.constraints.path import OTHER, Env
from agentltl.constraints.sentences.places import Places
from agentltl.constraints.sentences.wording import path_text, value_text
from agentltl.constraints.value import Json, key

Bound = tuple[str, Json]
"""A path as it is written, and the value that a variable gives it."""


def bound(conditions: Iterable[Condition], env: Env) -> list[Bound]:
    """The values that variables give to what a call says; the name of its tool is none of them."""
    return [
        (path_text(c.path), env[c.right.name])
        for c in conditions
        if isinstance(c, Compare) and c.op == "=" and isinstance(c.right, Var) and c.path.root != "tool"
        if env.get(c.right.name, OTHER) is not OTHER
    ]


class Mentions:
    """The values that a sentence has named."""

    def __init__(self) -> None:
        self._named: dict[str, set[Hashable]] = {}

    def text(self, one: Bound) -> str:
        """`order` "W1"; that `order` where it has been named and no other has."""
        path, value = one
        named, known = self._named.setdefault(path, set()), key(value)
        if known is not None and named == {known}:
            return f"that `{path}`"
        named.add(known)
        return f"`{path}` {value_text(value)}"


@dataclass(slots=True)
class Telling:
    """A sentence under way. `focus` is the position of the call that it is about; `proposed` is the same where that
    call has no outcome yet: it may be refused, so it is not told as one that ran.
    `about` is a call that is told first and is the only one with a clause: it may be called "it".
    `last` is the call that was told of just before, with the values that it was told to have.
    """

    places: Places
    focus: int | None
    proposed: int | None = None
    mentions: Mentions = field(default_factory=Mentions)
    about: int | None = None
    last: tuple[int, list[Bound]] | None = None

    def ref(self, index: int) -> str:
        return "it" if index == self.about else self.places.call(index)
