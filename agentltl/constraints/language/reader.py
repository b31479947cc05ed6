"""From the parse tree of a rule to its formula."""

from __future__ import annotations

from lark import Token, Tree

from agentltl.constraints import facts
from agentltl.constraints.compare import Condition, Literal_, Present
from agentltl.constraints.formula import Apply, Const, Formula, Limit, Order, Place, Proposition, Window
from agentltl.constraints.language import lexicon
from agentltl.constraints.language.climb import Binary, Item, Prefix, Quantifier, climb
from agentltl.constraints.language.expand import Argument, expand
from agentltl.constraints.language.faults import Fault
from agentltl.constraints.language.groups import group
from agentltl.constraints.language.reader_conditions import (
    Part,
    absolute,
    comparison,
    conditions,
    listed,
    placed,
    right_side,
    span,
    value,
)
from agentltl.constraints.operators import AT, BOUNDED, COUNT, SUM, SYMBOLS, WORDS
from agentltl.constraints.path import Path
from agentltl.constraints.patterns import PATTERNS
from agentltl.constraints.proposition import Called, Groups, Tools
from agentltl.constraints.value import freeze


class Reader:
    """Reads one text, and remembers where its propositions and patterns stand."""

    def __init__(self, groups: Groups | None) -> None:
        self.groups = groups
        self.parts: dict[int, tuple[Formula, Part]] = {}

    def where(self, formula: Formula) -> tuple[int, int] | None:
        """Where a proposition or pattern of this text starts, and its width."""
        found = self.parts.get(id(formula))  # the formula beside the part is kept alive, and its id its own
        return None if found is None else span(found[1])

    def formula(self, tree: Tree[Token]) -> Formula:
        """The formula of a `formula` node."""
        return climb([self.item(part) for part in tree.children])

    def item(self, part: Part) -> Item:
        if isinstance(part, Token):
            return Binary(SYMBOLS.get(part) or WORDS[part], *span(part))
        match rule := str(part.data):
            case "group":
                return self.formula(_tree(part.children[1]))
            case "prefix":
                return _prefix(part.children)
            case "quantifier":
                return _quantifier(part.children)
            case _:
                with placed(part):
                    formula = self.operand(rule, part.children)
                self.parts[id(formula)] = (formula, part)
                return formula

    def operand(self, rule: str, parts: list[Part]) -> Formula:
        match rule:
            case "constant":
                return Const(str(parts[0]) == "true")
            case "call":
                return Proposition(self.call(parts))
            case "moment":
                return Proposition(facts.First() if parts[0] == "first" else facts.SameStep())
            case "said":
                return Proposition(facts.Said(right_side(parts[2], "call")))
            case "seen":
                tools = tuple(self.tools(part) for part in parts[4:-1:2])
                return Proposition(facts.Seen(right_side(parts[2], "call"), tools))
            case "words":
                compare, right = comparison(parts[1:], "call")
                return Proposition(facts.Words("user" if parts[0] == "user" else "task", compare, right))
            case "predicate":
                operands = tuple(right_side(part, "call") for part in listed(parts[1:]))
                return Proposition(facts.Predicate(str(parts[0])[1:], operands))
            case "count":
                return self.tally(parts[2:], None)
            case "sum":
                return self.tally([parts[2], *parts[5:]], absolute(parts[4], "call"))
            case "at":
                return Apply(AT, (self.formula(_tree(parts[4])),), None, Place(_position(parts[2])))
            case _:
                return self.pattern(str(parts[0]), listed(parts[1:]))

    def tally(self, parts: list[Part], path: Path | None) -> Formula:
        *front, _, compare, number = parts
        window = _window(front[2], future=False, what="window") if len(front) > 1 else None
        if window is not None and not window.timed and window.events == 0:
            raise Fault("a window of no events counts nothing", "this event is the first: `1`").at(*span(front[2]))
        limit = Limit(_compare(compare), _number(number), path)
        return Apply(SUM if path else COUNT, (self.formula(_tree(front[0])),), window, limit)

    def call(self, parts: list[Part]) -> Called:
        args: list[Condition] = []
        outcome: list[Condition] = []
        for part in parts[1:]:
            tree = _tree(part)
            if tree.data == "arguments":
                args += conditions(tree.children, "call")
            else:
                outcome += conditions(tree.children, "outcome")
        tools = self.tools(parts[0])
        name = _token(parts[0])
        if name.type == "NAME" and args and all(isinstance(c, Present) for c in args):
            meant = lexicon.mistaken_for(name)
            if meant is not None:
                raise Fault(
                    f"`{name}` is no pattern and no operator",
                    f'did you mean `{meant}`? a tool of that name is quoted: "{name}"',
                ).at(*span(name))
        return Called(tools, tuple(args), tuple(outcome))

    def tools(self, part: Part) -> Tools:
        token = _token(part)
        with placed(token):
            if token.type == "GROUP":
                name = token[1:]
                return group(lexicon.unquoted(name) if name.startswith('"') else name, self.groups)
            if token.type == "TEXT":
                name = lexicon.unquoted(token)
                lexicon.check_tool_name(name)
                return Tools.named(name)
            if token in lexicon.RESERVED:
                raise Fault(f"`{token}` is a reserved word", f'a tool of that name is quoted: "{token}"')
            if lexicon.lonely_star(token):
                raise Fault(
                    f"`{token}` can be read in two ways",
                    f'any call under the operator is `{token[0]} *`, the glob is quoted: "{token}"',
                )
            return Tools.named(str(token))

    def pattern(self, name: str, parts: list[Part]) -> Formula:
        pattern = PATTERNS[name]
        arguments: list[Argument] = []
        for part in parts:
            tree = _tree(part)
            match str(tree.data):
                case "formula":
                    arguments.append(self.formula(tree))
                case "formulas":
                    arguments.append(tuple(self.formula(_tree(inner)) for inner in listed(tree.children)))
                case "size":
                    arguments.append(_size(tree.children[0]))
                case "limit":
                    arguments.append((_compare(tree.children[0]), _number(tree.children[1])))
                case "condition":
                    arguments += conditions([tree], "call")
                case _:
                    arguments.append(Literal_(freeze(value(tree))))
        try:
            return expand(pattern, tuple(arguments))
        except Fault as fault:
            at = fault.argument
            raise fault.at(*span(parts[at])) if at is not None and at < len(parts) else fault from None


def _prefix(parts: list[Part]) -> Prefix:
    word = _token(parts[0])
    op = SYMBOLS.get(word) or WORDS[word]
    if len(parts) == 1:
        return Prefix(op)
    if op.symbol not in BOUNDED:
        takes = ", ".join(sorted(BOUNDED))
        raise Fault(f"`{word}` takes no bound", f"a bound stands after {takes}: `F[5]`").at(*span(parts[1]))
    return Prefix(op, _window(parts[1], future=op.direction == "future"))


def _quantifier(parts: list[Part]) -> Quantifier:
    kind, *rest = (_token(part) for part in parts)
    variables = tuple(str(v)[1:] for v in rest if v.type == "VARIABLE")
    domain = next((str(v)[1:] for v in rest if v.type == "PREDICATE"), None)
    return Quantifier("forall" if kind == "forall" else "exists", variables, domain)


def _window(part: Part, *, future: bool, what: str = "bound") -> Window:
    with placed(part):
        return lexicon.window(str(part), future=future, what=what)


def _number(part: Part) -> int | float:
    with placed(part):
        return lexicon.number(str(part))


def _size(part: Part) -> int | float:
    """A number where a tool may stand too."""
    text = str(part)
    if text[0].isdigit() and any(c.isalpha() or c == "_" for c in text):
        raise Fault(f"`{text}` is neither a number nor a plain name", f'a tool of that name is quoted: "{text}"').at(
            *span(part)
        )
    return _number(part)


def _position(part: Part) -> int:
    number = _number(part)
    if not isinstance(number, int) or number < 0:
        raise Fault(f"`{part}` is no position", "positions are counted from 0").at(*span(part))
    return number


def _compare(part: Part) -> Order:
    return lexicon.ORDERS[str(part)]


def _token(part: Part) -> Token:
    assert isinstance(part, Token)
    return part


def _tree(part: Part) -> Tree[Token]:
    assert isinstance(part, Tree)
    return part
