"""What a monitor says of a prefix: one of five truths, and whether it could still hide a final one."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from agentltl.constraints import judgement as j


class Truth(IntEnum):
    """The five truths, from worst to best."""

    FALSE = 0
    """violated, whatever follows"""
    PFALSE = 1
    """violated if the trace ended here: something is still owed"""
    PENDING = 2
    """rests on the outcome of a call that still runs"""
    PTRUE = 3
    """satisfied if the trace ended here"""
    TRUE = 4
    """satisfied, whatever follows"""


class Verdict(NamedTuple):
    """A truth and its exactness.

    `exact` is False where a truth between the two final ones could still hide a `FALSE` or a `TRUE`; a `FALSE` or a
    `TRUE` is never wrong and never taken back.
    """

    truth: Truth
    exact: bool

    @property
    def name(self) -> str:
        return self.truth.name

    @property
    def final(self) -> bool:
        """Nothing that follows can change it."""
        return self.truth in (Truth.FALSE, Truth.TRUE)

    def __str__(self) -> str:
        return self.truth.name


AT_END = {j.F: Truth.PFALSE, j.U: Truth.PENDING, j.T: Truth.PTRUE}
"""What is not final is worth what it would be worth if the trace ended here."""
