"""Things that are named by where they are made: `"package.module:function"`."""

from __future__ import annotations

import importlib
import re
from typing import Any

from agentltl.errors import ConstraintError

_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


def is_factory(text: object, *, dotted: bool = False) -> bool:
    """Whether a text is the name of a function; with `dotted` only if its module is within a package, so that no name
    of a model looks like it."""
    return isinstance(text, str) and bool(_NAME.fullmatch(text)) and (not dotted or "." in text.partition(":")[0])


def made_by(text: str, what: str) -> Any:
    """What the function of that name gives, which is called without arguments. Raises `ConstraintError`."""
    if not is_factory(text):
        raise ConstraintError(f"`{text}` names no function for {what}\nwrite it as `package.module:function`")
    place, _, name = text.partition(":")
    try:
        function = getattr(importlib.import_module(place), name)
    except (ImportError, AttributeError) as error:
        raise ConstraintError(
            f"`{text}`, which makes {what}, cannot be imported ({error})\n"
            "name a function of a module that can be imported here and in every worker"
        ) from error
    if not callable(function):
        raise ConstraintError(f"`{text}`, which makes {what}, is no function\nname a function without parameters")
    return function()
