from __future__ import annotations

import socket

import pytest

from heliograph.embedded import Cluster
from heliograph.embedded.ports import HeldPorts, ephemeral_start


def test_held_ports_are_different_and_nobody_elses() -> None:
    with HeldPorts() as held:
        ports = [held.take() for _ in range(20)]
        with socket.socket() as stranger, pytest.raises(OSError, match="in use"):
            stranger.bind(("127.0.0.1", ports[0]))
    assert len(set(ports)) == 20
    assert max(ports) < ephemeral_start()

    with socket.socket() as later:
        later.bind(("127.0.0.1", ports[0]))


@pytest.mark.parametrize("lost", [1, 2, 3], ids=["controller", "internal", "client"])
def test_a_port_lost_before_the_broker_binds_it_is_replaced(
    lost: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The race cannot be had on demand, so the lost port is slipped in where ports are taken."""
    take = HeldPorts.take
    taken = 0

    def take_a_lost_one(held: HeldPorts) -> int:
        nonlocal taken
        taken += 1
        return strangers_port if taken == lost else take(held)

    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()
        strangers_port = stranger.getsockname()[1]
        monkeypatch.setattr(HeldPorts, "take", take_a_lost_one)

        with Cluster("race") as cluster:
            assert taken == 6, "all three ports were taken a second time"
            assert str(strangers_port) not in cluster.bootstrap_servers
