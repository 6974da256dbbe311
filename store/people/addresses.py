"""Says which addresses a host has, and which of them are on the public internet."""

from __future__ import annotations

import ipaddress
import socket


def addresses_of(host: str, port: int) -> list[str]:
    """Returns the IP addresses of a host's name, the preferred first. Raises OSError or ValueError."""
    return [str(row[4][0]) for row in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def is_public(address: str) -> bool:
    """Returns whether an IP address belongs to the public internet, and is one host's."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour
        if inner is not None:
            return is_public(str(inner))
        if found.teredo is not None or found in _NAT64:
            return False
    return found.is_global and not found.is_multicast


_NAT64 = ipaddress.ip_network("64:ff9b::/96")
