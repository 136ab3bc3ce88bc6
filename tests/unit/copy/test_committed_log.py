"""When the target's log is read under exactly once, and what follows from what is found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from heliograph.client.fetch.own_batches import OwnEnd
from heliograph.client.fetch.own_transactions import FoundTransactions, Outcome, Since
from heliograph.copy import committed_log
from heliograph.copy.committed_log import CommittedLog
from heliograph.copy.partition import Partition
from heliograph.copy.state.snapshots import acked_offsets
from heliograph.errors import ClientError
from heliograph.model import AckedOffsets, Lease, Lineage, ProducerIdentity, TopicPartition

TARGET = TopicPartition("a.orders", 0)


class Rig:
    """The task's partition was last whole under epoch 3, with its newest committed record at 49."""

    def __init__(self, patch: pytest.MonkeyPatch, *, epoch: int = 3, end: int = 51) -> None:
        lineage = Lineage(acked_offsets=AckedOffsets(100, 50, 49, 3))
        lease = Lease(
            flow="a->b",
            topic="orders",
            partition=0,
            target_topic="a.orders",
            start=100,
            lineage=lineage,
        )
        self.copy = Partition(lease, transactional=True)
        self.losses: list[OwnEnd] = []
        self.looked: list[Since] = []
        self.found = FoundTransactions(end, Outcome.COMMITTED, None)
        self.missing: dict[TopicPartition, str] = {}
        patch.setattr(committed_log, "available_offsets", lambda *_: ({TARGET: self.found.end}, {}))
        patch.setattr(committed_log, "transactions_since", self._look)
        patch.setattr(committed_log, "committed_before", lambda *_: OwnEnd(40))
        target: Any = SimpleNamespace(metadata=SimpleNamespace(leader_epochs={TARGET: epoch}))
        transaction: Any = SimpleNamespace(identity=ProducerIdentity(7, 0))
        self.log = CommittedLog(
            "a->b",
            target=target,
            probe_client=target,
            transaction=transaction,
            on_loss=lambda _, left: self.losses.append(left),
        )

    def _look(
        self, _: object, wanted: Mapping[TopicPartition, Since]
    ) -> tuple[dict[TopicPartition, FoundTransactions], dict[TopicPartition, str]]:
        self.looked += wanted.values()
        return ({} if self.missing else {TARGET: self.found}), self.missing

    def recover(self) -> Iterable[Partition]:
        return self.log.recover([self.copy])


def test_under_the_same_leader_epoch_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(monkeypatch)

    assert rig.recover() == [rig.copy]
    rig.copy.remote.downstream = 51
    assert rig.log.vouch({rig.copy: 51}) is None
    assert rig.looked == []


def test_the_first_commit_is_not_vouched_for_by_metadata_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two elections may bring back the old leader, without a tail, before the metadata are refreshed; other
    writers may have made up for its length since (simulation: everything 3045, exactly once)."""
    rig = Rig(monkeypatch)
    assert rig.recover() == [rig.copy]
    rig.found = FoundTransactions(52, Outcome.REPLACED, 51)

    assert rig.log.vouch({rig.copy: 51}) is not None
    assert rig.looked == [Since(7, 49)]


def test_what_has_landed_since_the_lease_began_is_remembered_across_a_recovery(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A batch below it shows that the target has lost records. Only the length at the start of the lease was
    kept, and the loss went unnoticed (simulation: everything 2350, exactly once)."""
    rig = Rig(monkeypatch)
    rig.copy.remote.land(60, 2)
    rig.copy.recovered()

    assert rig.copy.shows_loss(61)
    assert not rig.copy.shows_loss(62)


def test_under_another_leader_epoch_it_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(monkeypatch, epoch=4)

    assert rig.recover() == [rig.copy]
    rig.copy.remote.downstream = 51
    assert rig.log.vouch({rig.copy: 51}) is None
    assert rig.looked == [Since(7, 49)]
    assert acked_offsets(rig.copy) == AckedOffsets(100, 51, 49, 4)


def test_a_log_that_is_shorter_than_it_was_is_read_under_any_epoch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rig = Rig(monkeypatch, end=45)
    rig.found = FoundTransactions(45, Outcome.REPLACED, None)

    assert rig.recover() == []
    assert rig.losses == [OwnEnd(40)]


@pytest.mark.parametrize("outcome", [Outcome.ABORTED, Outcome.REPLACED])
def test_records_that_are_not_committed_any_more_are_lost_from_the_last_that_is_on(
    monkeypatch: pytest.MonkeyPatch, outcome: Outcome
) -> None:
    rig = Rig(monkeypatch, epoch=4)
    rig.found = FoundTransactions(60, outcome, None)

    assert rig.recover() == []
    assert rig.losses == [OwnEnd(40)]
    assert (rig.copy.remote.last, rig.copy.remote.leader_epoch) == (39, 4)
    assert rig.recover() == [rig.copy]


def test_records_without_a_marker_are_judged_before_the_next_commit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It may be lost, or on its way: brokers take nothing of the next transaction before it is written."""
    rig = Rig(monkeypatch, epoch=4)
    rig.found = FoundTransactions(50, Outcome.OPEN, 45)

    assert rig.recover() == [rig.copy]
    assert rig.log.vouch({rig.copy: 50}) is not None
    assert rig.losses == []

    rig.copy.aborted()
    assert rig.copy.needs_recovery


def test_records_of_the_transaction_itself_have_no_marker_yet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rig = Rig(monkeypatch, epoch=4)
    rig.found = FoundTransactions(60, Outcome.COMMITTED, 51)

    assert rig.log.vouch({rig.copy: 51}) is None
    assert rig.copy.remote.leader_epoch == 4


def test_records_that_land_elsewhere_than_expected_are_a_reason_to_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rig = Rig(monkeypatch)
    rig.copy.remote.downstream = 51
    rig.found = FoundTransactions(54, Outcome.ABORTED, None)

    assert rig.log.vouch({rig.copy: 53}) is not None


def test_a_log_that_cannot_be_read_now_delays_the_start_and_the_commit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rig = Rig(monkeypatch, epoch=4)
    rig.missing = {TARGET: "a.orders-0: no leader"}

    assert rig.recover() == []
    assert rig.copy.error == "a.orders-0: no leader"
    with pytest.raises(ClientError, match="no leader"):
        rig.log.vouch({rig.copy: 51})


def test_a_log_that_may_not_be_read_is_said_once_and_copied_to(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    rig = Rig(monkeypatch, epoch=4)
    rig.found = FoundTransactions(51, Outcome.UNREADABLE, None)

    assert rig.recover() == [rig.copy]
    assert rig.log.vouch({rig.copy: 51}) is None
    assert caplog.text.count("cannot be read") == 1
