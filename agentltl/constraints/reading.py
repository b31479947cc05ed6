"""The letter of a call: a table for each tool, so that only conditions that the tool could meet are judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from agentltl.constraints import judgement as j
from agentltl.constraints.automaton import Automaton, Letter
from agentltl.constraints.compare import Flag
from agentltl.constraints.judgement import Judgement
from agentltl.constraints.path import Env
from agentltl.constraints.proposition import Atom, Called
from agentltl.constraints.trace import Position

MOST_TOOLS = 4096
"""How many tools have a table; with more, all are made anew."""
MOST_LETTERS = 4096
"""How many letters of one tool have a place in its table."""
NOTHING: Env = {}


@dataclass(slots=True, eq=False)
class Page:
    """What is known of a tool: `certain` for each proposition, or None where `open` ones are judged for each call.

    `only` is the letter when nothing is open; `by_flag` says that the open ones ask for `ok` and `failed` alone, so
    `letters` has one for each way to settle.
    """

    certain: list[Judgement | None]
    open: tuple[tuple[int, Atom], ...]
    by_flag: bool
    named: bool
    only: Letter | None = None
    letters: dict[object, Letter] = field(default_factory=dict)


class Reading:
    """Reads calls for one automaton."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self._pages: dict[str, Page] = {}

    def page(self, tool: str) -> Page:
        """The table of a tool."""
        page = self._pages.get(tool)
        if page is None:
            if len(self._pages) >= MOST_TOOLS:
                self._pages.clear()
            page = self._pages[tool] = self._page(tool)
        return page

    def letter(self, position: Position, env: Env = NOTHING) -> Letter:
        """The letter of a call at its position, under values for the variables."""
        call = position.call
        page = self._pages.get(call.tool) or self.page(call.tool)
        if page.only is not None:
            return page.only
        outcome = call.outcome
        own: object
        if page.by_flag:
            own = 0 if outcome is None else outcome.way
        else:
            own = tuple([atom.judge(position, env) for _, atom in page.open])
        letter = page.letters.get(own)
        if letter is None:
            judged = list(page.certain)
            for place, atom in page.open:
                judged[place] = atom.judge(position, env)
            if len(page.letters) >= MOST_LETTERS:
                page.letters.clear()
            letter = page.letters[own] = self.automaton.letter([j.NO if one is None else one for one in judged])
        return letter

    def _page(self, tool: str) -> Page:
        certain: list[Judgement | None] = []
        for atom in self.automaton.atoms:
            if not isinstance(atom, Called):
                certain.append(None)
            elif not atom.tools.match(tool):
                certain.append(j.NO)
            else:
                certain.append(None if atom.args or atom.outcome else j.YES)
        waiting = tuple((i, atom) for i, atom in enumerate(self.automaton.atoms) if certain[i] is None)
        by_flag = all(
            isinstance(atom, Called) and not atom.args and all(isinstance(c, Flag) for c in atom.outcome)
            for _, atom in waiting
        )
        named = bool(waiting) or j.YES in certain
        page = Page(certain, waiting, by_flag, named)
        if not waiting:
            page.only = self.automaton.letter([j.NO if one is None else one for one in certain])
        return page


def mentions(atoms: Sequence[Atom], tool: str) -> bool:
    """Whether a proposition could be true of a call of the tool; facts aside."""
    return any(isinstance(atom, Called) and atom.tools.match(tool) for atom in atoms)
