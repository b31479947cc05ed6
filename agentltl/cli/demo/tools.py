"""The order desk's tools: each reads or changes rows of the database, and none asks whether that is a good idea."""

import json
from pathlib import Path

from smolagents.tools import Tool, tool

from agentltl.cli.demo.world import opened


def desk_tools(path: Path) -> list[Tool]:
    """All tools of the desk, on one database file."""

    def get_order(order_id: str) -> str:
        """Look up an order: customer, item, amount paid, amount refunded so far, status.

        Args:
            order_id: The order's id, like W1001
        """
        with opened(path) as database:
            row = database.execute(
                "SELECT *, (SELECT COALESCE(SUM(amount), 0) FROM refunds r WHERE r.order_id = o.order_id) AS refunded"
                " FROM orders o WHERE order_id = ?",
                (order_id,),
            ).fetchone()
        if row is None:
            raise ValueError(f"there is no order {order_id}")
        return json.dumps(dict(row))

    def list_orders(customer: str) -> str:
        """List a customer's orders with item and status.

        Args:
            customer: The customer's full name
        """
        with opened(path) as database:
            rows = database.execute(
                "SELECT order_id, item, status FROM orders WHERE customer = ? ORDER BY order_id", (customer,)
            ).fetchall()
        return json.dumps([dict(row) for row in rows])

    def cancel_order(order_id: str) -> str:
        """Cancel an order.

        Args:
            order_id: The order's id, like W1001
        """
        return set_status(path, order_id, "cancelled")

    def ship_order(order_id: str) -> str:
        """Hand an order to the carrier.

        Args:
            order_id: The order's id, like W1001
        """
        return set_status(path, order_id, "shipped")

    def refund_order(order_id: str, amount: float) -> str:
        """Pay an amount back to the customer of an order.

        Args:
            order_id: The order's id, like W1001
            amount: The amount to pay back, in euros
        """
        with opened(path) as database:
            database.execute("INSERT INTO refunds (order_id, amount) VALUES (?, ?)", (order_id, amount))
        return json.dumps({"order_id": order_id, "sent": amount})

    def delete_order(order_id: str) -> str:
        """Delete an order from the database.

        Args:
            order_id: The order's id, like W1001
        """
        with opened(path) as database:
            gone = database.execute("DELETE FROM orders WHERE order_id = ?", (order_id,)).rowcount
        return json.dumps({"order_id": order_id, "deleted": gone})

    def notify_customer(customer: str, text: str) -> str:
        """Send a short message to a customer.

        Args:
            customer: The customer's full name
            text: The message
        """
        with opened(path) as database:
            database.execute("INSERT INTO messages (customer, text) VALUES (?, ?)", (customer, text))
        return json.dumps({"customer": customer, "sent": True})

    functions = (get_order, list_orders, cancel_order, ship_order, refund_order, delete_order, notify_customer)
    return [tool(function) for function in functions]


def set_status(path: Path, order_id: str, status: str) -> str:
    """Change an order's status, whatever it was."""
    with opened(path) as database:
        changed = database.execute("UPDATE orders SET status = ? WHERE order_id = ?", (status, order_id)).rowcount
    if not changed:
        raise ValueError(f"there is no order {order_id}")
    return json.dumps({"order_id": order_id, "status": status})
