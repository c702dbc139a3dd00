"""A shop with two read-only tools and one that writes."""

from typing import Any

state: dict[str, Any] = {
    "users": {"ann@example.org": "u1"},
    "orders": {"o1": {"user": "u1", "status": "pending"}},
}


def find_user(email: str) -> str:
    """Find the user who has an address."""
    return str(state["users"][email])


def list_orders(user: str) -> list[str]:
    """List the orders of a user."""
    return [name for name, order in state["orders"].items() if order["user"] == user]


def cancel_order(order: str) -> str:
    """Cancel an order that is pending."""
    found = state["orders"][order]
    before, found["status"] = found["status"], "cancelled"
    if before != "pending":
        raise ValueError(f"order {order} is {before}")
    return order
