"""Proxies from the environment, which requests to this machine bypass."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

DIRECT = ("http://", "https://", "all://")
"""Patterns for httpx's `mounts` that bypass the proxies of the environment."""


@dataclass(frozen=True)
class Proxy:
    """A proxy from an environment variable.

    Args:
        address: Address without user and password.
        variable: Upper-case name of the environment variable that sets the proxy.
    """

    address: str
    variable: str

    def __str__(self) -> str:
        return f"the proxy {self.address} of {self.variable}"


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine: a loopback address, 0.0.0.0, or a `localhost` name."""
    host = host.strip("[]").partition("%")[0].rstrip(".").lower()
    if host == "localhost" or host.endswith(".localhost"):
        return True
    address: ipaddress.IPv4Address | ipaddress.IPv6Address
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        try:  # connecting also accepts 127.1 and 2130706433
            address = ipaddress.IPv4Address(socket.inet_aton(host))
        except OSError:
            return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return bool(mapped.is_loopback or mapped.is_unspecified)


def proxy_of(url: str) -> Proxy | None:
    """Return the proxy for a request, or None for a direct connection.

    Requests to this machine are always direct: a key for a local server must not leave the machine.
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
