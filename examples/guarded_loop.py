"""A guard in a loop of one's own, without any framework: three calls are proposed, two may run."""

from agentltl import Constraint, Guard

RULES = [
    Constraint(
        "read-first",
        'G (cancel_order(order_id = ?o) -> O get_order(order_id = ?o)[ok, status = "pending"])',
        severity="PERSISTENT_BLOCK",
        description="An order is cancelled only after it was read and was pending",
        repair="Call get_order for this order first.",
    ),
]


def get_order(order_id: str) -> dict[str, str]:
    return {"order_id": order_id, "status": "pending"}


def cancel_order(order_id: str) -> str:
    return f"{order_id} is cancelled"


TOOLS = {"get_order": get_order, "cancel_order": cancel_order}


def main() -> None:
    guard = Guard(RULES)
    guard.said("Cancel order W7.")
    for name in ("cancel_order", "get_order", "cancel_order"):
        decision = guard.propose(name, {"order_id": "W7"})
        if decision.allowed:
            result = TOOLS[name]("W7")
            guard.settle(decision, result)
            print(f"{name}: {result}")
        else:
            print(decision.feedback)
    print("owed at the end:", guard.finish().owed)


if __name__ == "__main__":
    main()
