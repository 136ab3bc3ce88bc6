"""Which connection a call to any broker uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from heliograph.client.net import cluster as cluster_module
from heliograph.client.net.cluster import ClusterClient, Metadata
from heliograph.errors import ConnectionLost, Interrupted, SecurityFailed, Unreachable
from heliograph.model import ClusterConfig

_ANSWER = SimpleNamespace(topics=[], brokers=[], controller_id=1, cluster_id="c")


class Line:
    """A connection that has its time for each answer; one that is `dead` has it for nothing."""

    def __init__(self, timeout: float, ends: Iterator[float] | None = None) -> None:
        self.timeout = timeout
        self.dead = False
        self.is_trusted = True
        self.certificate_ends = None if ends is None else next(ends)
        self.address = "broker:9092"
        self.waited: list[float] = []

    def call_all(self, requests: Sequence[Any], *, stopped: Callable[[], bool]) -> list[Any]:
        self.waited.append(self.timeout)
        if stopped():
            raise Interrupted("stopped")
        if self.dead:
            raise ConnectionLost("no answer")
        for request in requests:
            request.API_VERSION = 12
        return [_ANSWER for _ in requests]

    def close(self) -> None:
        self.dead = True


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> list[Line]:
    opened: list[Line] = []

    def connect(host: str, port: int, *, timeout: float, **_: Any) -> Line:
        opened.append(Line(timeout))
        return opened[-1]

    monkeypatch.setattr(cluster_module, "Connection", connect)
    return opened


@pytest.fixture
def client(lines: list[Line]) -> ClusterClient:
    config = ClusterConfig(alias="a", bootstrap_servers=("localhost:1",))
    return ClusterClient(config, client_id="test")


def test_an_old_connection_that_is_silent_is_left_for_a_new_one_which_has_all_its_time(
    lines: list[Line], client: ClusterClient
) -> None:
    client.refresh()
    lines[0].dead = True

    client.refresh()

    assert lines[0].waited == [30.0, 5.0]
    assert lines[1].waited == [30.0]


def test_what_is_not_trusted_is_never_asked_again(lines: list[Line], client: ClusterClient) -> None:
    client.refresh()
    client.metadata = Metadata(nodes={1: ("b", 1)})
    client.call(1, SimpleNamespace())
    for line in lines:
        line.is_trusted = False

    client.refresh()
    client.metadata = Metadata(nodes={1: ("b", 1)})
    client.call(1, SimpleNamespace())

    assert [line.waited for line in lines] == [[30.0]] * 4


def test_a_stop_is_no_word_on_the_cluster(client: ClusterClient) -> None:
    client.stopped = lambda: True

    with pytest.raises(Interrupted, match=r"^stopped$"):
        client.refresh()


def test_a_stop_hides_no_failure_before_it(
    lines: list[Line], client: ClusterClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.refresh()
    broken = lines[0]
    broken.dead = True
    monkeypatch.setattr(client, "stopped", lambda: len(lines) > 1)

    with pytest.raises(Unreachable, match=r"^cluster 'a': no broker answers \(no answer\)$"):
        client.refresh()


def test_a_cluster_is_unreachable_until_a_broker_answers_again(
    lines: list[Line], client: ClusterClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.refresh()
    assert client.meter.report("a").reachable
    lines[0].dead = True

    def refuse(*_: Any, **__: Any) -> Line:
        raise ConnectionLost("refused")

    with monkeypatch.context() as patch:
        patch.setattr(cluster_module, "Connection", refuse)
        with pytest.raises(Unreachable):
            client.refresh()
    assert not client.meter.report("a").reachable

    client.refresh()
    report = client.meter.report("a")
    assert (report.reachable, report.connections, report.login_failures) == (True, 2, 0)


def test_the_certificate_of_the_newest_connection_to_a_broker_counts(
    lines: list[Line], client: ClusterClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.refresh()
    assert client.meter.report("a").broker_certificate_ends is None
    ends = iter((100.0, 200.0))

    def connect(host: str, port: int, *, timeout: float, **_: Any) -> Line:
        lines.append(Line(timeout, ends))
        return lines[-1]

    monkeypatch.setattr(cluster_module, "Connection", connect)
    for expected in (100.0, 200.0):
        lines[-1].dead = True
        client.refresh()
        assert client.meter.report("a").broker_certificate_ends == expected


def test_a_stop_does_not_make_a_cluster_unreachable(client: ClusterClient) -> None:
    client.stopped = lambda: True
    with pytest.raises(Interrupted):
        client.refresh()

    assert client.meter.reachable


def test_refused_logins_are_counted_and_not_those_that_are_not_tried(
    client: ClusterClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> Line:
        raise SecurityFailed("wrong password")

    monkeypatch.setattr(cluster_module, "Connection", refuse)
    for _ in range(3):
        with pytest.raises(SecurityFailed):
            client.refresh()

    assert (client.meter.login_failures, client.meter.connections) == (1, 0)
