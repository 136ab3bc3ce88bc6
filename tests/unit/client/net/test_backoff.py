from __future__ import annotations

from heliograph.client.net.backoff import Backoff


def test_delays_double_up_to_their_limit_however_often() -> None:
    backoff = Backoff(first=1.0, most=30.0)

    delays = [backoff.next() for _ in range(5000)]

    assert 0.8 <= delays[0] <= 1.2
    assert 1.6 <= delays[1] <= 2.4
    assert all(24 <= delay <= 36 for delay in delays[5:])
