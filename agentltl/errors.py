"""Every error that this library raises on purpose: one class for each thing that can be wrong.

A message says what is wrong, where, and on a line of its own what to do next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentltl.agents.approval import ApprovalRequest
    from agentltl.guard.decision import Decision


class AgentLTLError(Exception):
    """The base of all errors of this library."""


class FormulaError(AgentLTLError, ValueError):
    """A formula that cannot be read or cannot be a rule.

    `problem` and `hint` are sentences; `text`, `line` and `column` (both from 1) say where, and are None for a formula
    that was built in Python.
    """

    def __init__(
        self,
        problem: str,
        *,
        text: str | None = None,
        line: int | None = None,
        column: int | None = None,
        width: int = 1,
        hint: str | None = None,
    ) -> None:
        self.problem, self.hint, self.text = problem, hint, text
        self.line, self.column, self.width = line, column, max(1, width)
        super().__init__(self._message())

    def _message(self) -> str:
        parts = [self.problem]
        if self.text is not None and self.line is not None and self.column is not None:
            parts[0] = f"line {self.line}, column {self.column}: {self.problem}"
            lines = self.text.split("\n")
            shown = lines[self.line - 1] if self.line <= len(lines) else ""
            parts.append("    " + shown.replace("\t", " "))
            parts.append("    " + " " * (self.column - 1) + "^" * max(1, min(self.width, len(shown) - self.column + 1)))
        if self.hint:
            parts.append(self.hint)
        return "\n".join(parts)


class RuleFileError(AgentLTLError, ValueError):
    """A rule file that cannot be loaded: the file, the line and the column are in the message."""


class ConstraintError(AgentLTLError, ValueError):
    """A constraint, a severity or a setting that makes no sense."""


class TraceError(AgentLTLError, ValueError):
    """Input that is no trace, or that lacks what a rule needs."""


class PredicateError(AgentLTLError):
    """A registered predicate or domain that raised; the cause is chained."""


class MissingExtraError(AgentLTLError, ImportError):
    """A feature whose optional dependency is not installed; the message names the extra."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(
            f"{what} needs a package that is not installed\ninstall it with: pip install 'agentltl[{extra}]'"
        )


class OutputError(AgentLTLError, ValueError):
    """An answer that is not of the type that was asked for, or that a validator does not accept."""


class DeployError(AgentLTLError):
    """An agent that cannot be served: its address cannot be had, or the server does not start."""


class ConstraintViolationError(AgentLTLError):
    """A constraint has stopped the run. `decision` says which call broke which constraints, and how."""

    def __init__(self, message: str, decision: Decision | None = None) -> None:
        super().__init__(message)
        self.decision = decision


class ApprovalPendingError(AgentLTLError):
    """A call waits for a person's approval, and the run has ended. `decision` is what the guard said of the call,
    `request` what the person is asked."""

    def __init__(self, message: str, decision: Decision | None = None, request: ApprovalRequest | None = None) -> None:
        super().__init__(message)
        self.decision = decision
        self.request = request


class RunLimitError(AgentLTLError):
    """A run has used up what it may. `limit` names the setting, such as `max_cost_usd`, the text what was spent."""

    def __init__(self, message: str, limit: str) -> None:
        super().__init__(message)
        self.limit = limit

    def __reduce__(self) -> tuple[type[RunLimitError], tuple[str, str]]:
        return type(self), (str(self), self.limit)
