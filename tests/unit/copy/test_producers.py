"""What is under way when a copy ends."""

from __future__ import annotations

import time

import pytest

from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.producer import Producer
from heliograph.copy.producers import Producers
from heliograph.model import ClusterConfig


def stopped_cluster() -> ClusterClient:
    """As at the end of an epoch."""
    config = ClusterConfig(alias="eu", bootstrap_servers=("127.0.0.1:1",))
    return ClusterClient(config, client_id="test", stopped=lambda: True)


@pytest.mark.parametrize("apart", [False, True])
def test_the_stop_does_not_interrupt_the_last_acknowledgements_before_their_deadline(
    apart: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = stopped_cluster()
    stored_on = stopped_cluster() if apart else target
    monkeypatch.setattr(Producer, "idle", property(lambda self: len(asked) > 2))
    asked: list[bool] = []
    producers = Producers(
        lambda cluster, topics: Producer(
            cluster, topics, on_ack=_nothing, on_retry=_nothing, on_refused=_nothing
        ),
        *(target, {"t"}, stored_on, "offsets"),
    )

    producers.drain(
        lambda: asked.extend(each.stopped() for each in (target, stored_on)), time.monotonic() + 60
    )
    assert not any(asked)

    producers.drain(lambda: None, time.monotonic())
    assert target.stopped()


def _nothing(*_: object) -> None:
    pass
