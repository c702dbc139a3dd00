"""The desk of a parcel service: what it knows, and what it does.

A parcel waits, travels, lies at a depot, or is delivered; what the desk does for it depends on
that. A tool refuses with `ValueError`.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

Status = Literal["waiting", "travelling", "at depot", "delivered", "cancelled"]

state: dict[str, Any] = {
    "customers": {
        "C-1": {"name": "Ann Bell", "email": "ann@example.org"},
        "C-2": {"name": "Bob Reed", "email": "bob@example.org"},
        "C-3": {"name": "Cleo Marsh", "email": "cleo@example.org"},
    },
    "depots": {
        "D-1": {"city": "Harbourtown", "slots": {"S-11": "friday", "S-12": "monday"}},
        "D-2": {"city": "Millbrook", "slots": {"S-21": "friday", "S-22": "saturday"}},
    },
    "parcels": {
        "P-1001": {"sender": "C-1", "status": "travelling", "depot": "D-2", "grams": 1200,
                   "address": "4 Quay Street, Harbourtown", "slot": None},
        "P-1002": {"sender": "C-1", "status": "waiting", "depot": "D-2", "grams": 800,
                   "address": "9 Mill Lane, Millbrook", "slot": None},
        "P-1003": {"sender": "C-2", "status": "at depot", "depot": "D-1", "grams": 2500,
                   "address": "1 Rope Walk, Harbourtown", "slot": None},
        "P-1004": {"sender": "C-3", "status": "delivered", "depot": "D-2", "grams": 400,
                   "address": "17 Weir Road, Millbrook", "slot": None},
    },
    "claims": {},
}  # fmt: skip


class Customer(TypedDict):
    """Who sends and gets parcels."""

    customer_id: str
    customer_name: str


class ParcelLine(TypedDict):
    """A parcel in a list."""

    parcel_id: str
    parcel_status: str


class Parcel(TypedDict):
    """A parcel."""

    parcel_status: str
    depot_id: str
    weight_grams: int
    address: str


class Depot(TypedDict):
    """A depot."""

    depot_id: str


class Slot(TypedDict):
    """A time for a pick-up."""

    slot_id: str


class Claim(TypedDict):
    """A claim that was opened."""

    claim_id: str


class ClaimStatus(TypedDict):
    """How far a claim is."""

    claim_status: str


class Sent(TypedDict):
    """A parcel that was taken in."""

    parcel_id: str


class Price(TypedDict):
    """A price."""

    price_cents: int


def find_customer(email: str) -> Customer:
    """Find the customer who has an e-mail address.

    Args:
        email: the e-mail address.
    """
    for number, customer in state["customers"].items():
        if customer["email"] == email.strip().lower():
            return {"customer_id": number, "customer_name": customer["name"]}
    raise ValueError(f"no customer has the address {email}")


def list_parcels(customer_id: str) -> list[ParcelLine]:
    """List the parcels of a customer, the newest first.

    Args:
        customer_id: the number of the customer.
    """
    if customer_id not in state["customers"]:
        raise ValueError(f"there is no customer {customer_id}")
    parcels = reversed(state["parcels"].items())
    return [
        {"parcel_id": number, "parcel_status": parcel["status"]}
        for number, parcel in parcels
        if parcel["sender"] == customer_id
    ]


def get_parcel(parcel_id: str) -> Parcel:
    """Look up where a parcel is, and where it goes.

    Args:
        parcel_id: the number of the parcel.
    """
    parcel = _parcel(parcel_id)
    return {
        "parcel_status": parcel["status"],
        "depot_id": parcel["depot"],
        "weight_grams": parcel["grams"],
        "address": parcel["address"],
    }


def find_depot(city: str) -> Depot:
    """Find the depot of a city.

    Args:
        city: the name of the city.
    """
    for number, depot in state["depots"].items():
        if depot["city"].lower() == city.strip().lower():
            return {"depot_id": number}
    raise ValueError(f"there is no depot in {city}")


def list_pickup_slots(depot_id: str, day: str) -> list[Slot]:
    """List the free times at which a depot hands out parcels on a day.

    Args:
        depot_id: the number of the depot.
        day: the day of the week.
    """
    depot = state["depots"].get(depot_id)
    if depot is None:
        raise ValueError(f"there is no depot {depot_id}")
    taken = {parcel["slot"] for parcel in state["parcels"].values()}
    free: list[Slot] = [
        {"slot_id": number}
        for number, when in depot["slots"].items()
        if when == day.strip().lower() and number not in taken
    ]
    if not free:
        raise ValueError(f"{depot_id} has no free time on {day}")
    return free


def quote_price(weight_grams: int) -> Price:
    """Say what it costs to send a parcel of a weight.

    Args:
        weight_grams: the weight in grams.
    """
    if not 0 < weight_grams <= 30_000:
        raise ValueError("a parcel weighs at most 30 kilograms")
    return {"price_cents": 390 + weight_grams // 100 * 12}


def send_parcel(customer_id: str, address: str, weight_grams: int, city: str) -> Sent:
    """Take in a new parcel for an address.

    Args:
        customer_id: the number of the customer who sends it.
        address: where it goes.
        weight_grams: the weight in grams.
        city: the city in which it is taken in.
    """
    if customer_id not in state["customers"]:
        raise ValueError(f"there is no customer {customer_id}")
    depot = find_depot(city)["depot_id"]
    quote_price(weight_grams)
    number = f"P-{1001 + len(state['parcels'])}"
    state["parcels"][number] = {
        "sender": customer_id, "status": "waiting", "depot": depot, "grams": weight_grams,
        "address": address, "slot": None,
    }  # fmt: skip
    return {"parcel_id": number}


def cancel_parcel(parcel_id: str, reason: str) -> ParcelLine:
    """Cancel a parcel that still waits at its first depot.

    Args:
        parcel_id: the number of the parcel.
        reason: why it is cancelled.
    """
    parcel = _parcel(parcel_id)
    if parcel["status"] == "cancelled":
        return {"parcel_id": parcel_id, "parcel_status": "cancelled"}
    _need(parcel_id, parcel, "waiting")
    if not reason.strip():
        raise ValueError("a reason is needed")
    parcel["status"] = "cancelled"
    return {"parcel_id": parcel_id, "parcel_status": "cancelled"}


def change_address(parcel_id: str, address: str) -> ParcelLine:
    """Change the address of a parcel that still waits at its first depot.

    Args:
        parcel_id: the number of the parcel.
        address: where it goes.
    """
    parcel = _parcel(parcel_id)
    _need(parcel_id, parcel, "waiting")
    parcel["address"] = address
    return {"parcel_id": parcel_id, "parcel_status": parcel["status"]}


def redirect_parcel(parcel_id: str, depot_id: str) -> ParcelLine:
    """Send a parcel that travels on to another depot.

    Args:
        parcel_id: the number of the parcel.
        depot_id: the number of the depot.
    """
    parcel = _parcel(parcel_id)
    _need(parcel_id, parcel, "travelling")
    if depot_id not in state["depots"]:
        raise ValueError(f"there is no depot {depot_id}")
    parcel["depot"] = depot_id
    return {"parcel_id": parcel_id, "parcel_status": parcel["status"]}


def book_pickup(parcel_id: str, slot_id: str) -> ParcelLine:
    """Book a time to pick up a parcel that lies at a depot.

    Args:
        parcel_id: the number of the parcel.
        slot_id: the number of the time.
    """
    parcel = _parcel(parcel_id)
    _need(parcel_id, parcel, "at depot")
    if parcel["slot"] is not None:
        raise ValueError(f"{parcel_id} is to be picked up at {parcel['slot']} already")
    if slot_id not in state["depots"][parcel["depot"]]["slots"]:
        raise ValueError(f"{slot_id} is no time of the depot where {parcel_id} lies")
    if any(other["slot"] == slot_id for other in state["parcels"].values()):
        raise ValueError(f"{slot_id} is taken")
    parcel["slot"] = slot_id
    return {"parcel_id": parcel_id, "parcel_status": parcel["status"]}


def open_claim(parcel_id: str, damage: str) -> Claim:
    """Open a claim for a parcel that was delivered damaged.

    Args:
        parcel_id: the number of the parcel.
        damage: what is broken.
    """
    parcel = _parcel(parcel_id)
    _need(parcel_id, parcel, "delivered")
    if any(claim["parcel"] == parcel_id for claim in state["claims"].values()):
        raise ValueError(f"there is a claim for {parcel_id} already")
    number = f"K-{1 + len(state['claims'])}"
    state["claims"][number] = {"parcel": parcel_id, "damage": damage, "status": "in review"}
    return {"claim_id": number}


def get_claim(claim_id: str) -> ClaimStatus:
    """Say how far a claim is.

    Args:
        claim_id: the number of the claim.
    """
    if claim_id not in state["claims"]:
        raise ValueError(f"there is no claim {claim_id}")
    return {"claim_status": state["claims"][claim_id]["status"]}


def _parcel(parcel_id: str) -> dict[str, Any]:
    if parcel_id not in state["parcels"]:
        raise ValueError(f"there is no parcel {parcel_id}")
    found: dict[str, Any] = state["parcels"][parcel_id]
    return found


def _need(parcel_id: str, parcel: dict[str, Any], status: Status) -> None:
    if parcel["status"] != status:
        raise ValueError(f"{parcel_id} is not {status}: it is {parcel['status']}")
