"""Named Python predicates and domains: what they get, when, and what is said when they fail."""

from collections.abc import Mapping

import pytest

from agentltl.constraints import judgement as j
from agentltl.constraints.compare import Literal_, Var
from agentltl.constraints.path import OTHER, Key, Path, Some
from agentltl.constraints.predicates import ask, domain_values, register_domain, register_predicate
from agentltl.constraints.semantics import holds
from agentltl.constraints.text import parse
from agentltl.constraints.trace import Call, Message, Outcome, Trace
from agentltl.constraints.value import FrozenDict
from agentltl.errors import ConstraintError, FormulaError, PredicateError

seen: list[tuple[Trace, tuple[object, ...]]] = []


@register_predicate("pr_seen")
def pr_seen(trace: Trace, *values: object) -> bool:
    seen.append((trace, values))
    return True


@register_predicate("pr_same")
def pr_same(trace: Trace, a: object, b: object) -> bool:
    return a == b


@register_predicate("pr_number")
def pr_number(trace: Trace) -> int:
    return 1


@register_predicate("pr_raises")
def pr_raises(trace: Trace) -> bool:
    raise KeyError("order")


@register_domain("pr_orders")
def pr_orders(trace: Trace, metrics: Mapping[str, list[dict[str, object]]]) -> list[object]:
    assert [c.tool for c in trace.calls] == [c["tool_name"] for c in metrics["tool_calls"]]
    return [c.args["id"] for c in trace.calls if c.tool == "open"] + [float("nan")]


def settled(tool: str, result: object = "x", **args: object) -> Call:
    return Call(tool, args, outcome=Outcome.of(result))


TRACE = Trace(
    (settled("a", k=1), settled("final_answer"), settled("b", k=[1, 2]), settled("a", k=2)),
    (Message("do it"), Message("now", 2), Message("later", 3)),
)


def at(index: int, trace: Trace = TRACE) -> object:
    return next(p for p in trace.positions() if p.index == index)


def test_it_gets_the_prefix_that_was_known_when_the_call_started() -> None:
    seen.clear()
    assert ask("pr_seen", (), at(2), {}) == j.YES  # type: ignore[arg-type]
    ((prefix, values),) = seen
    assert values == ()
    assert prefix.events == ["a", "b"]
    assert prefix.calls[0].outcome is not None
    assert prefix.calls[1].outcome is None
    assert [m.text for m in prefix.messages or ()] == ["do it", "now"]


def test_an_outcome_that_came_later_was_not_known() -> None:
    late = Outcome("slow", end=10.0)
    trace = Trace((Call("a", start=1.0, outcome=late), Call("b", start=2.0, outcome=late), Call("c", start=11.0)))
    seen.clear()
    ask("pr_seen", (), at(1, trace), {})  # type: ignore[arg-type]
    ask("pr_seen", (), at(2, trace), {})  # type: ignore[arg-type]
    assert [c.outcome for c in seen[0][0].calls] == [None, None]
    assert [c.outcome for c in seen[1][0].calls] == [late, late, None]


def test_it_gets_plain_values() -> None:
    seen.clear()
    k, env = Path("args", (Key("k"),)), {"x": FrozenDict({"a": [1]})}
    ask("pr_seen", (Literal_("u"), Var("x"), k), at(2), env)  # type: ignore[arg-type]
    assert seen[0][1] == ("u", {"a": [1]}, [1, 2])
    assert type(seen[0][1][1]) is dict
    assert type(seen[0][1][2]) is list


def test_a_missing_path_is_false_and_some_element_is_enough() -> None:
    missing, some = Path("args", (Key("no"),)), Path("args", (Key("k"), Some()))
    assert ask("pr_seen", (missing,), at(2), {}) == j.NO  # type: ignore[arg-type]
    assert ask("pr_same", (some, Literal_(2)), at(2), {}) == j.YES  # type: ignore[arg-type]
    assert ask("pr_same", (some, Literal_(3)), at(2), {}) == j.NO  # type: ignore[arg-type]
    assert ask("pr_same", (some, some), at(0), {}) == j.UNDECIDABLE  # type: ignore[arg-type]


def test_it_is_not_asked_about_a_value_that_is_none() -> None:
    seen.clear()
    assert ask("pr_seen", (Var("x"),), at(0), {"x": OTHER}) == j.UNDECIDABLE  # type: ignore[arg-type]
    assert seen == []


def test_in_rules() -> None:
    assert holds(parse("G (a(k = ?x) -> $pr_same(?x, .k))"), TRACE)
    assert not holds(parse("G $pr_same(.k, 1)"), TRACE)
    assert holds(parse("forall ?x in $pr_orders. a"), Trace((settled("a"),)))


def test_a_domain_is_evaluated_anew_at_every_event() -> None:
    rule = parse("G (close -> forall ?x in $pr_orders. X true -> X F close(id = ?x))")
    calls = (settled("open", id=1), settled("open", id=2), settled("close", id=1), settled("close", id=2))
    assert domain_values("pr_orders", list(Trace(calls).positions())[:1]) == [1]
    assert domain_values("pr_orders", list(Trace(calls).positions())) == [1, 2]
    assert domain_values("pr_orders", []) == []
    assert not holds(rule, Trace(calls))  # after the first is closed it is still in the domain
    assert holds(parse("F (exists ?x in $pr_orders. close(id = ?x))"), Trace(calls))
    assert not holds(parse("F (exists ?x in $pr_orders. close(id = ?x))"), Trace(calls[:2]))


def test_one_that_fails_is_named() -> None:
    with pytest.raises(PredicateError, match=r"the predicate `\$pr_raises` raised KeyError: 'order'") as caught:
        holds(parse("G $pr_raises"), TRACE)
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(
        PredicateError, match=r"the predicate `\$pr_number` gave a value of type int\nreturn True or False"
    ):
        holds(parse("G $pr_number"), TRACE)
    with pytest.raises(PredicateError, match=r"the domain `\$pr_orders` raised KeyError: 'id'"):
        domain_values("pr_orders", list(Trace((settled("open"),)).positions()))


def test_a_name_is_registered_once() -> None:
    with pytest.raises(ConstraintError, match="another predicate of the name `pr_same`"):
        register_predicate("pr_same", lambda trace: True)
    register_predicate("pr_same", pr_same)
    with pytest.raises(ConstraintError, match="`pr-same` cannot be the name of a predicate"):
        register_predicate("pr-same", pr_same)
    with pytest.raises(ConstraintError, match="`pr_text` is no function"):
        register_predicate("pr_text", "no function")  # type: ignore[call-overload]
    with pytest.raises(FormulaError, match=r"there is no predicate `\$pr_nobody`"):
        ask("pr_nobody", (), at(0), {})  # type: ignore[arg-type]


def test_a_function_that_is_defined_anew_replaces_the_old_one() -> None:
    def define(answer: bool) -> object:
        @register_predicate("pr_again")
        def pr_again(trace: Trace) -> bool:
            return answer

        return pr_again

    define(True)
    assert ask("pr_again", (), at(0), {}) == j.YES  # type: ignore[arg-type]
    define(False)
    assert ask("pr_again", (), at(0), {}) == j.NO  # type: ignore[arg-type]
