"""The page of patterns: what each stands for, and short traces that satisfy and violate it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from agentltl.constraints.facts import SameStep
from agentltl.constraints.formula import Formula, Proposition
from agentltl.constraints.patterns import PATTERNS, Parameter, Pattern
from agentltl.constraints.semantics import holds
from agentltl.constraints.text import parse
from agentltl.constraints.trace import Call, Outcome, Trace
from reference.markdown import NOTE, table

INTRO = """# Patterns

A pattern is a name for a common formula.
It expands when it is read, and prints as it was written.
Its parameters `a`, `b` are calls, with conditions or without: `precedence(read(path = ?p), write(path = ?p))`.

A pattern that *demands* fails on the empty trace, or on one in which its call never comes.
So it takes no variable that is free in the rule: as a rule over every value there is, it could never hold.
Use `precedence` or `response` there.

In a prerequisite an earlier call counts once it has succeeded.
In a limit or a prohibition a call counts once it has started.

The traces below are short ones that satisfy and violate each pattern, found by judging them.
After the shortest come those in which a single call decides.
`c` is some other call, `a!` is an `a` that failed, `(a b)` are two calls of one message, and `-` is the empty trace.
"""

SHOWN = 4
LONGEST = 4


def page() -> str:
    """The text of the page."""
    rows = [(f"`{p}`", "yes" if p.demands else "", p.sentence) for p in PATTERNS.values()]
    parts = [NOTE, INTRO, "\n", table(("pattern", "demands", "meaning"), rows)]
    return "".join(parts + [_entry(pattern) for pattern in PATTERNS.values()])


def _entry(pattern: Pattern) -> str:
    example = _example(pattern)
    formula = parse(example)
    good, bad = _telling(formula)
    return f"\n## `{pattern.name}`\n\n`{pattern}`: {pattern.sentence}.\n\nStands for `{pattern.text}`.\n\n" + table(
        ("", f"`{example}`"), [("satisfied by", _listed(good)), ("violated by", _listed(bad))]
    )


def _example(pattern: Pattern) -> str:
    """The pattern with plain arguments."""
    calls = iter("abc")
    arguments = [_argument(parameter, calls) for parameter in pattern.parameters]
    return f"{pattern.name}({', '.join(arguments)})"


def _argument(parameter: Parameter, calls: Iterator[str]) -> str:
    match parameter.kind:
        case "proposition":
            return next(calls)
        case "propositions":
            return f"[{next(calls)}, {next(calls)}]"
        case "number":
            return "1" if parameter.name == "m" else "2"
        case "limit":
            return ">= 2"
        case "conditions":
            return "k = 1"
        case "values":
            return "1"


def _telling(formula: Formula) -> tuple[list[str], list[str]]:
    """Traces that satisfy a formula and traces that violate it.

    The shortest of each, and then the shortest on which one thing less or otherwise decides the other way.
    """
    messages = any(isinstance(f, Proposition) and isinstance(f.atom, SameStep) for f in formula.walk())
    text = str(formula)
    letters = ("a", "a(1)", "b") if "called_with" in text else ("a", "b", "c", "a!")
    letters = ("a(1)", "a(2)", "b") if "no_repeat" in text else letters
    worth: dict[Sample, bool] = {}

    def satisfies(sample: Sample) -> bool:
        if sample not in worth:
            worth[sample] = holds(formula, sample.trace())
        return worth[sample]

    found: dict[bool, list[str]] = {True: [], False: []}
    for sample in _samples(letters, messages):
        side = found[satisfies(sample)]
        if len(side) < SHOWN and (
            not side or any(satisfies(other) is not satisfies(sample) for other in sample.neighbours(messages))
        ):
            side.append(str(sample))
    for sample in _samples(letters, messages):  # where hardly any are decided by so little
        side = found[satisfies(sample)]
        if len(side) < 3 and str(sample) not in side:
            side.append(str(sample))
    return found[True], found[False]


def _samples(letters: Sequence[str], messages: bool) -> Iterator[Sample]:
    for length in range(LONGEST + 1):
        for names in product(letters, repeat=length):
            yield Sample(names)
            if messages and length > 1:
                yield Sample(names, True)


@dataclass(frozen=True, slots=True)
class Sample:
    """A short trace: the names of its calls, and whether one message made them all."""

    names: tuple[str, ...]
    together: bool = False

    def __str__(self) -> str:
        text = " ".join(self.names) or "-"
        return f"({text})" if self.together else text

    def neighbours(self, messages: bool) -> Iterator[Sample]:
        """The traces with one call less, two calls swapped, a success for a failure, or other messages."""
        names = self.names
        for i, name in enumerate(names):
            yield Sample(names[:i] + names[i + 1 :], self.together)
            yield Sample((*names[:i], *names[i + 1 : i + 2], name, *names[i + 2 :]), self.together)
            if name.endswith("!"):
                yield Sample((*names[:i], name[:-1], *names[i + 1 :]), self.together)
        if messages:
            yield Sample(names, not self.together)

    def trace(self) -> Trace:
        return Trace(tuple(_call(name, 0 if self.together else i) for i, name in enumerate(self.names)), ())


def _call(name: str, step: int) -> Call:
    value = name[2:-1] if "(" in name else None
    outcome = Outcome.of(value or "fine", "it failed" if name.endswith("!") else None)
    return Call(name[0], {} if value is None else {"k": int(value)}, step=step, outcome=outcome)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "no short trace"
