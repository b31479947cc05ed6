"""What an agent calls the tools of its servers: their own names, unless two things would have the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from agentltl.constraints.constraint import Constraint
from agentltl.constraints.facts import Seen
from agentltl.constraints.formula import Proposition
from agentltl.constraints.proposition import Called, Tools
from agentltl.errors import ConstraintError

Offer = tuple[str, str]
"""A server and the name that it has for a tool."""


def qualified(offer: Offer) -> str:
    """The name that tells a tool from those of other servers: `server__tool`."""
    return "__".join(offer)


def names_for(offers: Sequence[Offer], taken: Collection[str]) -> dict[Offer, str]:
    """A name for each tool: its own, or `server__tool` when it is in `taken` or another server has it too.

    Raises `ConstraintError` when that does not tell them apart.
    """
    count = Counter(name for _, name in offers)
    chosen = {o: qualified(o) if count[o[1]] > 1 or o[1] in taken else o[1] for o in offers}
    uses = Counter([*chosen.values(), *taken])
    for offer, name in chosen.items():
        if uses[name] > 1:
            raise ConstraintError(
                f"`{name}` is the name of two tools, one of them of the MCP server `{offer[0]}`\n"
                "give the server another name"
            )
    return chosen


def require_meant(constraints: Iterable[Constraint], chosen: dict[Offer, str], known: Collection[str]) -> None:
    """Raises `ConstraintError` for a rule that names a tool by the one of its two names which it does not have now.

    Which of them it has depends on what other servers offer and on whether they could be reached; a rule that names
    the other one would guard nothing. `known` are the names of all tools.
    """
    for constraint in constraints:
        for tools in _tools(constraint):
            for member in tools.members:
                named = Tools.named(member)
                if any(named.match(name) for name in known):
                    continue
                for offer, name in chosen.items():
                    for other in {offer[1], qualified(offer)} - {name}:
                        if named.match(other):
                            raise ConstraintError(
                                f"the rule `{constraint.name}` names `{member}`, but that tool of the MCP server "
                                f"`{offer[0]}` is called `{name}` now\n"
                                f'write "{name}", or a group of both names'
                            )


def _tools(constraint: Constraint) -> Iterable[Tools]:
    for inner in constraint.formula.walk():
        match inner:
            case Proposition(Called(tools)):
                yield tools
            case Proposition(Seen(_, several)):
                yield from several
