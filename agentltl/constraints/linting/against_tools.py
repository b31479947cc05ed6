"""Rules against the tools there are: names that none has, arguments that none takes, comparisons that none passes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from agentltl.constraints import facts
from agentltl.constraints.compare import Compare, Flag, Literal_, Present
from agentltl.constraints.comparison import glob
from agentltl.constraints.constraint import Constraint
from agentltl.constraints.facts import Seen, paths
from agentltl.constraints.formula import Apply, Limit, Proposition
from agentltl.constraints.language.lexicon import near
from agentltl.constraints.language.show_conditions import condition_text, path_text
from agentltl.constraints.linting.finding import Finding, FindingKind, Gravity, names
from agentltl.constraints.linting.look_alikes import folded, skeleton
from agentltl.constraints.linting.places import Stuck, passes, told, walk
from agentltl.constraints.linting.toolset import ToolShape
from agentltl.constraints.operators import SUM
from agentltl.constraints.path import Filter, Key, Path
from agentltl.constraints.proposition import Called
from agentltl.constraints.proposition import Tools as Named
from agentltl.constraints.trace import SPECIAL


def against_tools(constraints: Sequence[Constraint], tools: Mapping[str, ToolShape]) -> Iterator[Finding]:
    """What the rules ask of tools or arguments that do not exist. The same finding of several rules is one."""
    found: dict[tuple[FindingKind, str], Finding] = {}
    for constraint in constraints:
        for finding in _Against(constraint.name, tools).all(constraint):
            known = found.setdefault((finding.kind, finding.message), finding)
            if constraint.name not in known.constraints:
                whose = (*known.constraints, constraint.name)
                found[finding.kind, finding.message] = Finding(
                    finding.kind, whose, finding.message, finding.hint, None, finding.severity
                )
    yield from found.values()


@dataclass(frozen=True, slots=True)
class _Against:
    """One constraint against the tools."""

    name: str
    tools: Mapping[str, ToolShape]

    def all(self, constraint: Constraint) -> Iterator[Finding]:
        for inner in constraint.formula.walk():
            match inner:
                case Proposition(Called() as atom):
                    yield from self._called(atom)
                case Proposition(atom):
                    if isinstance(atom, Seen):
                        for tools in atom.tools:
                            yield from self._names(tools)
                    for path in paths(atom):
                        yield from self._argument(path, tuple(self.tools))
                    if isinstance(atom, facts.Predicate):
                        for operand in atom.operands:
                            if isinstance(operand, Path):
                                yield from self._argument(operand, tuple(self.tools))
                case Apply(op, (counted,), _, Limit(path=Path() as added)) if op is SUM:
                    alone = isinstance(counted, Proposition) and isinstance(counted.atom, Called)
                    of = cast(Called, cast(Proposition, counted).atom).tools if alone else Named.named("*")
                    yield from self._argument(added, self._matched(of))

    def _finding(self, kind: FindingKind, message: str, hint: str, severity: Gravity = "error") -> Finding:
        return Finding(kind, (self.name,), message, hint, None, severity)

    def _called(self, atom: Called) -> Iterator[Finding]:
        yield from self._names(atom.tools)
        matched = self._matched(atom.tools)
        for condition in atom.args:
            if isinstance(condition, Compare) and condition.path == Path("tool"):
                yield from self._tool_names(condition)
            elif not isinstance(condition, Compare | Present) or condition.path.root != "args":
                continue
            else:
                lost = list(self._argument(condition.path, matched))
                if isinstance(condition, Compare) and isinstance(condition.right, Path):
                    lost += self._argument(condition.right, matched)
                yield from lost
                yield from self._filters(condition.path, matched)
                if not lost and isinstance(condition, Compare):
                    yield from self._possible(condition, matched)
        for condition in atom.outcome:
            if isinstance(condition, Compare) and isinstance(condition.right, Path):
                yield from self._argument(condition.right, matched)

    def _names(self, tools: Named) -> Iterator[Finding]:
        group = "" if tools.group is None else f", a member of `@{tools.group}`,"
        for name in sorted(tools.exact - self.tools.keys() - SPECIAL):
            message = f"there is no tool `{name}`{group.rstrip(',')}"
            yield self._finding(FindingKind.UNKNOWN_TOOL, message, _nearest(name, self.tools, "the tools are"))
        for pattern in tools.globs:
            if pattern != "*" and not any(glob(name, pattern) for name in (*self.tools, *SPECIAL)):
                message = f"no tool has a name that matches `{pattern}`{group.rstrip(',')}"
                yield self._finding(FindingKind.UNKNOWN_TOOL, message, _nearest(pattern, self.tools, "the tools are"))

    def _tool_names(self, condition: Compare) -> Iterator[Finding]:
        """Names of tools that stand as literals: `*(tool = "pay")`."""
        if condition.op in ("=", "in") and isinstance(condition.right, Literal_):
            value = condition.right.value
            for name in value if isinstance(value, list) else [value]:
                if isinstance(name, str) and name not in self.tools and name not in SPECIAL:
                    hint = _nearest(name, self.tools, "the tools are")
                    yield self._finding(FindingKind.UNKNOWN_TOOL, f"there is no tool `{name}`", hint)

    def _matched(self, tools: Named) -> tuple[str, ...]:
        return tuple(name for name in self.tools if tools.match(name))

    def _argument(self, path: Path, tools: Sequence[str]) -> Iterator[Finding]:
        """A path that leads nowhere in any of these tools."""
        if path.root != "args" or not tools:
            return
        ends = [walk(list(self.tools[name].arguments), path.steps) for name in tools]
        if any(not isinstance(end, Stuck) for end in ends):
            return
        stuck = max((end for end in ends if isinstance(end, Stuck)), key=lambda end: end.done)
        whole = path_text(Path("args", path.steps[: stuck.done + 1]), "call")
        of = names(tools[:3]) if len(tools) < 4 else f"any of {len(tools)} tools"
        step = path.steps[stuck.done]
        if isinstance(step, Key):
            message = f"there is no argument `{whole}` of {of}"
            yield self._finding(
                FindingKind.UNKNOWN_ARGUMENT, message, _nearest(step.name, stuck.known, "the names there are")
            )
        else:
            message = f"`{whole}` looks into a list, and the schema of {of} has none there"
            yield self._finding(FindingKind.UNKNOWN_ARGUMENT, message, "leave the brackets out, or look elsewhere")

    def _filters(self, path: Path, tools: Sequence[str]) -> Iterator[Finding]:
        """What the filters of a path ask of elements that have no such key, or never such a value there."""
        for done, step in enumerate(path.steps):
            if not isinstance(step, Filter):
                continue
            ends = [walk(list(self.tools[name].arguments), path.steps[: done + 1]) for name in tools]
            elements = [shape for end in ends if not isinstance(end, Stuck) for shape in end]
            where = path_text(Path("args", path.steps[:done]), "call")
            for condition in step.conditions if elements else ():
                if isinstance(condition, Flag) or condition.path.root != "it":
                    continue
                text, end = condition_text(condition, "element"), walk(elements, condition.path.steps)
                if isinstance(end, Stuck):
                    key = condition.path.steps[end.done]
                    name = key.name if isinstance(key, Key) else str(key)
                    message = f"`{text}` asks for a key that no element of `{where}` has"
                    yield self._finding(
                        FindingKind.UNKNOWN_ARGUMENT, message, _nearest(name, end.known, "the names there are")
                    )
                elif isinstance(condition, Compare) and not passes(end, condition):
                    message = f"`{text}` is true of no element of `{where}` that fits the schema"
                    yield self._finding(FindingKind.IMPOSSIBLE_VALUE, message, f"the schema says: {told(end)}")

    def _possible(self, condition: Compare, tools: Sequence[str]) -> Iterator[Finding]:
        """A comparison that no arguments which fit a schema could pass."""
        ends = [walk(list(self.tools[name].arguments), condition.path.steps) for name in tools]
        there = {name: end for name, end in zip(tools, ends, strict=True) if not isinstance(end, Stuck)}
        if there and not any(passes(end, condition) for end in there.values()):
            what, of = condition_text(condition, "call"), names(list(there)[:3])
            message = f"`{what}` is true of no arguments that fit the schema of {of}"
            hint = f"the schema says: {told(next(iter(there.values())))}"
            yield self._finding(FindingKind.IMPOSSIBLE_VALUE, message, hint)


def _nearest(name: str, known: Iterable[str], are: str) -> str:
    """The name that was probably meant, or the names there are."""
    known = list(dict.fromkeys(known))
    like = next((k for k in known if skeleton(k) == skeleton(name) or folded(k) == folded(name)), None)
    if like := like or near(name, known, 0.6):
        return f"did you mean `{like}`?"
    return f"{are}: {', '.join(f'`{k}`' for k in known[:12])}" if known else "there are none"
