"""What is wrong at a place of a text, before it becomes an error with line, column and caret."""

from __future__ import annotations

from agentltl.errors import FormulaError


class Fault(Exception):
    """A problem at `start` (an offset into the text) over `width` characters; `argument` counts a pattern's, from 0."""

    def __init__(
        self,
        problem: str,
        hint: str | None = None,
        *,
        start: int | None = None,
        width: int = 1,
        argument: int | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem, self.hint, self.start, self.width, self.argument = problem, hint, start, width, argument

    def at(self, start: int, width: int) -> Fault:
        """The same fault at a place, unless it has one."""
        if self.start is not None:
            return self
        return Fault(self.problem, self.hint, start=start, width=width, argument=self.argument)

    def error(self, text: str | None = None) -> FormulaError:
        """The error for users."""
        if text is None or self.start is None:
            return FormulaError(self.problem, hint=self.hint)
        before = text[: self.start]
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        return FormulaError(self.problem, text=text, line=line, column=column, width=self.width, hint=self.hint)
