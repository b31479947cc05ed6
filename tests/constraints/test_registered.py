"""The registered functions that rules name."""

import pytest

from agentltl.constraints import parse, predicates, register_domain, register_predicate
from agentltl.constraints.registered import functions_of, register
from agentltl.errors import ConstraintError


def test_they_are_found_and_registered_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for registry in (predicates._PREDICATES, predicates._DOMAINS):
        monkeypatch.setattr(registry, "functions", {})
    large = register_predicate("large", lambda trace, amount: amount > 5)
    register_predicate("other", lambda trace: True)
    orders = register_domain("orders", lambda trace, metrics: ["W1"])
    formulas = [parse("G (refund -> $large(.amount))"), parse("forall ?o in $orders. F ship(order = ?o)")]
    found = functions_of(formulas)
    assert found == {"predicates": {"large": large}, "domains": {"orders": orders}}

    predicates._PREDICATES.functions.clear()
    predicates._DOMAINS.functions.clear()
    register(found)
    register(found)
    assert parse(str(formulas[0])) == formulas[0]
    assert set(predicates._DOMAINS.functions) == {"orders"}
    with pytest.raises(ConstraintError, match="there is another predicate of the name `large`"):
        register({"predicates": {"large": lambda trace: True}, "domains": {}})
