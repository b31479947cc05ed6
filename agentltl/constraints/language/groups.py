"""Groups of tools: from the names and globs of a rule file, and other groups, to the members that a rule compares."""

from __future__ import annotations

from agentltl.constraints.language.faults import Fault
from agentltl.constraints.language.lexicon import check_tool_name, near
from agentltl.constraints.proposition import Groups, Tools


def group(name: str, groups: Groups | None) -> Tools:
    """The tools of a group; a group inside a group is written `@name`."""
    members = frozenset(_members(name, groups or {}, ()))
    if not members:
        raise Fault(f"the group `@{name}` has no members", "list its tools in the rule file, or drop the group")
    return Tools(members, name)


def _members(name: str, groups: Groups, inside: tuple[str, ...]) -> list[str]:
    if name in inside:
        raise Fault(f"the group `@{name}` contains itself", " -> ".join(f"@{n}" for n in (*inside, name)))
    if name not in groups:
        like = near(name, groups)
        known = ", ".join(f"@{g}" for g in sorted(groups))
        hint = f"the groups are: {known}" if known else "define it under `groups`"
        hint = f"did you mean `@{like}`?" if like else hint
        raise Fault(f"unknown group `@{name}`", hint)
    if isinstance(groups[name], str):
        raise Fault(f"the group `@{name}` is a text", "write its members as a list: [a, b]")
    found: list[str] = []
    for member in groups[name]:
        if not isinstance(member, str):
            raise Fault(f"a member of the group `@{name}` is no text: {member!r}", "write the names of tools")
        if member.startswith("@"):
            found += _members(member[1:], groups, (*inside, name))
        else:
            check_tool_name(member)
            found.append(member)
    return found
