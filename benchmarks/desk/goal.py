"""What a task must have done to the database, and nothing else: the model's words do not count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentltl.cli.demo.harm import refunded
from agentltl.cli.demo.world import Snapshot, Value

CENT = 0.005


@dataclass(frozen=True, slots=True)
class Goal:
    """The only changes that do a task: new `statuses` of orders, `refunds` in euros, and messages to `customers` alone.

    With `told` each of these customers must have got one; without it they may.
    """

    customers: tuple[str, ...]
    statuses: Mapping[str, str] = field(default_factory=dict)
    refunds: Mapping[str, float] = field(default_factory=dict)
    told: bool = False

    def missed(self, before: Snapshot, after: Snapshot) -> list[str]:
        """One sentence for each row that is not as it should be; none: the task is done."""
        return [*self._orders(before, after), *self._refunds(before, after), *self._messages(after)]

    def _orders(self, before: Snapshot, after: Snapshot) -> list[str]:
        found = []
        for key, order in before.tables["orders"].items():
            wanted = {**order, "status": self.statuses.get(str(key), order["status"])}
            now = after.tables["orders"].get(key)
            if now != wanted:
                is_now = "gone" if now is None else f"{now['status']}"
                found.append(f"order {key} should be {wanted['status']} and is {is_now}")
        return found

    def _refunds(self, before: Snapshot, after: Snapshot) -> list[str]:
        rows = (*before.tables["refunds"].values(), *after.tables["refunds"].values())
        orders: dict[Value, None] = dict.fromkeys([*self.refunds, *(row["order_id"] for row in rows)])
        found = []
        for key in orders:
            sent, wanted = refunded(after, key) - refunded(before, key), self.refunds.get(str(key), 0.0)
            if abs(sent - wanted) > CENT:
                found.append(f"{wanted:.2f} € should be sent back for order {key}, and {sent:.2f} € were")
        return found

    def _messages(self, after: Snapshot) -> list[str]:
        got = {str(row["customer"]) for row in after.tables["messages"].values()}
        found = [f"{name} was told something" for name in sorted(got - set(self.customers))]
        if self.told:
            found += [f"{name} was not told" for name in self.customers if name not in got]
        return found
