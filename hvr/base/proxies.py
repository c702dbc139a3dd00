"""Which proxy of the environment a request goes through; none on the way to this machine."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

DIRECT = ("http://", "https://", "all://")
"""Patterns of httpx's `mounts` that take every request past the proxies of the environment."""


@dataclass(frozen=True)
class Proxy:
    """A proxy.

    Args:
        address: Its address without user and password.
        variable: The variable of the environment that names it, in capitals.
    """

    address: str
    variable: str

    def __str__(self) -> str:
        return f"the proxy {self.address} of {self.variable}"


def is_loopback(host: str) -> bool:
    """Return whether a host, as it stands in an address, is this machine.

    Names are not looked up: only `localhost` and what ends with `.localhost` are this machine.
    """
    host = host.strip("[]").partition("%")[0].rstrip(".").lower()
    if host == "localhost" or host.endswith(".localhost"):
        return True
    address: ipaddress.IPv4Address | ipaddress.IPv6Address
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        try:  # 127.1 and 2130706433 are spellings that connecting accepts
            address = ipaddress.IPv4Address(socket.inet_aton(host))
        except OSError:
            return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return bool(mapped.is_loopback or mapped.is_unspecified)


def proxy_of(url: str) -> Proxy | None:
    """Return the proxy of the environment that a request goes through; None for a direct one.

    Requests to this machine are direct whatever the environment says: a key that is meant for a
    server here must not leave the machine.
    """
    from urllib.request import getproxies, proxy_bypass

    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return None
    proxies = getproxies()
    scheme = parts.scheme if proxies.get(parts.scheme) else "all"
    address = proxies.get(scheme)
    if not address or not host or is_loopback(host):
        return None
    if proxy_bypass(host) or _in_networks(host, proxies.get("no", "")):
        return None
    shown = address if "://" in address else f"http://{address}"
    before, _, behind = shown.partition("://")
    return Proxy(f"{before}://{behind.rpartition('@')[2]}", f"{scheme.upper()}_PROXY")


def _in_networks(host: str, exempt: str) -> bool:
    """Return whether NO_PROXY names a network that has the host, as 192.168.0.0/16."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    for entry in exempt.split(","):
        try:
            if "/" in entry and address in ipaddress.ip_network(entry.strip(), strict=False):
                return True
        except ValueError:
            continue
    return False
