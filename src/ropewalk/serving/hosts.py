"""The `Host` headers that a server accepts.

Without this check, a foreign web page whose host name resolves to this machine (DNS rebinding) could read answers of
the server. Names and addresses of the loopback interface, such as `localhost`, are always allowed: they cannot belong
to another machine.
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
    """The allowed host names: those in `allowed`, and those of the loopback interface, such as `localhost`.

    If `allowed` is empty or contains `*`, every name is allowed.
    """

    def __init__(self, allowed: Iterable[str]) -> None:
        names = list(allowed)
        for name in names:
            if name != EVERY and not _is_host(_written(name)):
                raise OptionError(
                    f"the allowed host is {name!r}; use a name or an address without a port, such as example.org"
                )
        self.every = not names or EVERY in names
        self.names = frozenset({"localhost", "127.0.0.1", "[::1]", *map(_written, names)})

    def allows(self, header: str) -> bool:
        """Return whether a `Host` header, with or without a port, names an allowed host."""
        if self.every or header in self.names:
            return True
        match = HEADER.fullmatch(header.lower())
        if not match:
            return False
        name = match[1].removesuffix(".")
        return name in self.names or is_own(name)


def is_own(name: str) -> bool:
    """Return whether a name or an address always belongs to the loopback interface."""
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
    """Return a host name as `Host` headers contain it: in lower case, and IPv6 addresses in brackets."""
    return f"[{name.lower()}]" if ":" in name and not name.startswith("[") else name.lower().removesuffix(".")
