"""How far the engine looks: caps with defaults, and what happens where one is reached."""

from __future__ import annotations

from dataclasses import dataclass

from agentltl.errors import ConstraintError


@dataclass(frozen=True, slots=True)
class Limits:
    """`states`: how many states of one rule are numbered and remembered; beyond, each event is applied to what is owed
    anew, and whether a verdict hides a final one is left open (`exact` is False).
    `joint`: how many joint states of several rules one search looks at; beyond, it answers that it does not know.
    `values`: how many values of one rule's variables may be open at once; beyond, the rule cannot be judged, which a
    guard answers by refusing.
    """

    states: int = 400
    joint: int = 10_000
    values: int = 1_000_000

    def __post_init__(self) -> None:
        for name in ("states", "joint", "values"):
            number = getattr(self, name)
            if not isinstance(number, int) or isinstance(number, bool) or number < 1:
                raise ValueError(f"`{name}` of the limits is `{number!r}`\ngive a whole number from 1 on")


DEFAULT = Limits()


def too_many(values: int, rule: object) -> ConstraintError:
    """The error of a rule that has more values open than it may."""
    return ConstraintError(
        f"{values} values are open at once in the rule {rule}\n"
        "raise `values` of the limits, or close values by a rule that ends what it begins"
    )
