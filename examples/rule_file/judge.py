"""A rule file: loaded, shown, and used by a guard with one severity changed."""

from pathlib import Path

from agentltl import Guard, load_rules

RULES = Path(__file__).with_name("rules.yaml")


def main() -> None:
    for constraint in load_rules(RULES).constraints:
        print(f"{constraint.name} ({constraint.severity}, weight {constraint.weight:g}): {constraint.formula}")

    guard = Guard(RULES, {"known-order": "PERSISTENT_BLOCK"})
    guard.said("Refund order W7, please.")
    guard.settle(guard.propose("get_order", {"order_id": "W8"}), {"order_id": "W8", "paid": 80})
    print(guard.propose("refund", {"order_id": "W8"}).feedback)
    guard.settle(guard.propose("get_order", {"order_id": "W7"}), {"order_id": "W7", "paid": 80})
    decision = guard.propose("refund", {"order_id": "W7"})
    print("refund of W7:", decision.action)
    guard.settle(decision, "sent")
    print("owed at the end:", guard.finish().owed)


if __name__ == "__main__":
    main()
