"""The `Host` headers that a server answers to.

A page of a stranger whose name leads to this machine (DNS rebinding) could otherwise read answers as if they were its
own. Names and addresses of the machine itself cannot lead elsewhere and are always allowed.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING, final

from ropewalk.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable

EVERY = "*"
NAME = re.compile(r"\[[0-9a-f:.]+\]|[^\s:/@\[\]]+")
HEADER = re.compile(rf"({NAME.pattern})(?::[0-9]*)?")


@final
class Hosts:
    """The names in `allowed` and those of the machine itself; every name if `allowed` is empty or has `*`."""

    def __init__(self, allowed: Iterable[str]) -> None:
        names = list(allowed)
        for name in names:
            if name != EVERY and not _is_host(_written(name)):
                raise OptionError(
                    f"the allowed host is {name!r}; expected a name or an address without a port, such as example.org"
                )
        self.every = not names or EVERY in names
        self.names = frozenset({"localhost", "127.0.0.1", "[::1]", *map(_written, names)})

    def allows(self, header: str) -> bool:
        """Return whether a `Host` header is allowed."""
        if self.every or header in self.names:
            return True
        found = HEADER.fullmatch(header.lower())
        if not found:
            return False
        name = found[1].removesuffix(".")
        return name in self.names or is_own(name)


def is_own(name: str) -> bool:
    """Return whether a name or an address is that of the loopback interface, wherever it is looked up."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    address = _address(name)
    if address is None:
        return False
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback


def _address(name: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None


def _is_host(written: str) -> bool:
    return bool(NAME.fullmatch(written)) and not (written.startswith("[") and _address(written) is None)


def _written(name: str) -> str:
    """Write a name as headers do."""
    return f"[{name.lower()}]" if ":" in name and not name.startswith("[") else name.lower().removesuffix(".")
