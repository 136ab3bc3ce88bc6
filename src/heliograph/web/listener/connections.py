"""Counts the connections to the listeners, and closes one when there are too many.

At a limit, the connection that has been idle (without a request) for longest is closed to make room for the
new one, so that idle connections cannot lock other clients out. Connections with a request in progress stay;
if there are no others, the new one is closed.
"""

from __future__ import annotations

import ipaddress
import itertools
import logging
from collections.abc import Callable, Iterable

from heliograph.client.net.log_throttle import LogThrottle

_log = logging.getLogger(__name__)

_NETWORK_BITS = 64


class Held:
    """One connection. `drop` closes it; `busy` while it has a request in progress."""

    __slots__ = ("address", "busy", "drop", "since")

    def __init__(self, address: str, since: int) -> None:
        self.address = address
        self.since = since
        self.busy = False
        self.drop: Callable[[], object] = lambda: None


class Connections:
    """The connections of all listeners together. Used by their event loop only."""

    def __init__(self, most: int, most_per_address: int) -> None:
        self._most = most
        self._most_per_address = most_per_address
        self._held: dict[str, set[Held]] = {}
        self._count = 0
        self._order = itertools.count()
        self._repeats = LogThrottle()
        #: Connections closed because a limit was reached.
        self.closed = 0

    def admit(self, address: str) -> Held | None:
        """None if the limit is reached and no connection is idle."""
        of_address = self._held.get(address, set())
        if len(of_address) >= self._most_per_address and not self._make_room(
            of_address, f"{address} has {len(of_address)} (rest.max.connections.per.ip)"
        ):
            return None
        if self._count >= self._most and not self._make_room(
            self._largest(), f"there are {self._count} (rest.max.connections)"
        ):
            return None
        held = Held(address, next(self._order))
        self._held.setdefault(address, set()).add(held)
        self._count += 1
        return held

    def release(self, held: Held) -> None:
        of_address = self._held.get(held.address)
        if of_address is None or held not in of_address:
            return
        of_address.remove(held)
        self._count -= 1
        if not of_address:
            del self._held[held.address]

    def set_busy(self, held: Held, busy: bool) -> None:
        held.busy = busy
        held.since = next(self._order)

    def _largest(self) -> Iterable[Held]:
        """The connections of the address that has most, among addresses with an idle one."""
        idle = [each for each in self._held.values() if any(not held.busy for held in each)]
        return max(idle, key=len, default=set())

    def _make_room(self, among: Iterable[Held], why: str) -> bool:
        victim = min(
            (held for held in among if not held.busy), key=lambda held: held.since, default=None
        )
        self.closed += 1
        fate = "the new one" if victim is None else "the one that has been idle for longest"
        if self._repeats.is_news("room", fate):
            _log.warning("too many connections: %s; closing %s", why, fate)
        if victim is None:
            return False
        self.release(victim)
        victim.drop()
        return True


def address_of(peer: object) -> str:
    """The address that limits count by: for IPv6 the /64 network, since one client may own all of it."""
    host = str(peer[0]) if isinstance(peer, tuple) and peer else ""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    if address.is_loopback:
        return str(address)
    return str(ipaddress.ip_network((address, _NETWORK_BITS), strict=False))
