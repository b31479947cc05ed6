"""What text cannot say: named Python predicates over the prefix of a trace, and named domains for quantifiers.

Both are judged when a call starts, from what was known then, so a recorded trace is judged as the running one was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast, overload

from agentltl.constraints import judgement as j
from agentltl.constraints.compare import Operand, operand
from agentltl.constraints.facts import _settled_before
from agentltl.constraints.judgement import Judgement
from agentltl.constraints.language.lexicon import is_name, near
from agentltl.constraints.path import Env, Frame, Other
from agentltl.constraints.trace import Position, Trace
from agentltl.constraints.value import Json, freeze, key, thaw
from agentltl.errors import ConstraintError, FormulaError, PredicateError

PredicateFunction = Callable[..., bool]
"""Takes the prefix of the trace, the call in question last and without its outcome, and the values of the operands."""
DomainFunction = Callable[[Trace, Mapping[str, Json]], Iterable[Json]]
"""Takes the prefix and the same calls as a metrics dict, and gives the values that the variable takes now."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(slots=True)
class _Registry:
    what: Literal["predicate", "domain"]
    functions: dict[str, Callable[..., Any]]

    def add(self, name: str, function: Callable[..., Any]) -> None:
        if not is_name(name):
            raise ConstraintError(f"`{name}` cannot be the name of a {self.what}\nuse letters, digits and `_`")
        if not callable(function):
            raise ConstraintError(f"the {self.what} `{name}` is no function\ngive a function")
        known = self.functions.get(name)
        if known is not None and _origin(known) != _origin(function):
            raise ConstraintError(f"there is another {self.what} of the name `{name}`\ngive this one another name")
        self.functions[name] = function


_PREDICATES = _Registry("predicate", {})
_DOMAINS = _Registry("domain", {})


def _origin(function: Callable[..., Any]) -> object:
    """Where a function was defined: defining it anew, as a notebook does, replaces it."""
    name = getattr(function, "__qualname__", None)
    return function if name is None or "<lambda>" in name else (getattr(function, "__module__", None), name)


@overload
def register_predicate(name: str, function: PredicateFunction) -> PredicateFunction: ...
@overload
def register_predicate(name: str) -> Callable[[_Function], _Function]: ...
def register_predicate(name: str, function: PredicateFunction | None = None) -> object:
    """Register a predicate under a name, so that rules can say `$name(?x, .path)`; without a function, a decorator.

    The function gets the prefix of the trace and the values of the operands, and says True or False. A second function
    under the same name is a `ConstraintError`.
    """
    return _register(_PREDICATES, name, function)


@overload
def register_domain(name: str, function: DomainFunction) -> DomainFunction: ...
@overload
def register_domain(name: str) -> Callable[[_Function], _Function]: ...
def register_domain(name: str, function: DomainFunction | None = None) -> object:
    """Register a domain under a name, so that rules can say `forall ?x in $name. ...`; without a function, a decorator.

    The function gets the prefix of the trace and its calls as a metrics dict, and gives the values of the variable.
    """
    return _register(_DOMAINS, name, function)


def _register(registry: _Registry, name: str, function: Callable[..., Any] | None) -> object:
    if function is not None:
        registry.add(name, function)
        return function

    def decorate(decorated: _Function) -> _Function:
        registry.add(name, decorated)
        return decorated

    return decorate


def check_registered(what: Literal["predicate", "domain"], name: str) -> None:
    """Raise `FormulaError` unless there is a predicate or domain of that name."""
    _function(_PREDICATES if what == "predicate" else _DOMAINS, name)


def _function(registry: _Registry, name: str) -> Callable[..., Any]:
    if name not in registry.functions:
        like = near(name, registry.functions)
        hint = (
            f"did you mean `${like}`?" if like else f"register it first: register_{registry.what}({name!r}, function)"
        )
        raise FormulaError(f"there is no {registry.what} `${name}`", hint=hint)
    return registry.functions[name]


def ask(name: str, operands: Sequence[Operand], position: Position, env: Env) -> Judgement:
    """The judgement of a predicate at a position. Raises `PredicateError` when the function raises or says no bool."""
    function = _function(_PREDICATES, name)
    prefix = _prefix(position)
    frame = Frame(position.call)

    def given(values: tuple[Json, ...]) -> Judgement:
        if len(values) < len(operands):
            return operand(operands[len(values)], frame, env, lambda value: given((*values, value)))
        if any(isinstance(value, Other) for value in values):
            return j.UNDECIDABLE
        answer = _call("predicate", name, function, prefix, *(thaw(value) for value in values))
        if not isinstance(answer, bool):
            kind = type(answer).__name__
            raise PredicateError(f"the predicate `${name}` gave a value of type {kind}\nreturn True or False")
        return j.of(answer)

    return given(())


def domain_values(name: str, positions: Sequence[Position]) -> list[Json]:
    """The values of a domain now, after the events so far. Raises `PredicateError` when the function raises."""
    function = _function(_DOMAINS, name)
    prefix = _prefix(positions[-1]) if positions else Trace()
    found: dict[object, Json] = {}
    values = _call("domain", name, lambda *given: list(function(*given)), prefix, _metrics(prefix))
    for value in cast("list[Json]", values):
        frozen = freeze(value)
        own = key(frozen)
        if own is not None:  # NaN equals nothing, so no call could have it
            found.setdefault(own, frozen)
    return list(found.values())


def _call(what: str, name: str, function: Callable[..., Any], *arguments: object) -> object:
    try:
        return function(*arguments)
    except Exception as error:
        raise PredicateError(
            f"the {what} `${name}` raised {type(error).__name__}: {error}\nmend it, or leave the rule out"
        ) from error


def _prefix(position: Position) -> Trace:
    """What was known when a call started: the events up to it, and the outcomes that had come by then."""
    now = position.call
    before = [c if _settled_before(c, now) else c.settle(None) for c in reversed(list(position.earlier()))]
    said = position.said
    return Trace((*before, now.settle(None)), None if said is None else tuple(said))


def _metrics(trace: Trace) -> dict[str, Json]:
    calls = []
    for call in trace.calls:
        outcome = call.outcome
        text = None if outcome is None or outcome.text is None else outcome.text
        calls.append({"step": call.step, "tool_name": call.tool, "arguments": thaw(call.args), "id": call.id}
                     | {"tool_result": text, "action_output": text})  # fmt: skip
    return {"num_tool_calls": len(calls), "tool_calls": calls}
