"""What is found on a target that has lost its tail, and taken other records since. The real readers, and
models of logs (`target_log.py`, `model/`)."""

from __future__ import annotations

import pytest

from heliograph.client.fetch.log_end import Wanted, log_ends
from heliograph.client.fetch.own_batches import OwnEnd, end_before
from heliograph.client.fetch.own_transactions import committed_before
from heliograph.model import ClusterConfig, IsolationLevel, ProducerIdentity, ProducerSnapshot
from heliograph.plan.resume import TargetLost, landed_since
from heliograph.records.batch import rewrite
from heliograph.records.decode import Record
from heliograph.records.encode import encode
from simulation.network import SimulatedClient
from simulation.patches import in_place
from simulation.target_log import EXPIRATION_MS
from simulation.world import TARGET, World

OURS = ProducerIdentity(1, 7)
READ = IsolationLevel.READ_UNCOMMITTED


class Rig:
    """A target without faults."""

    def __init__(self) -> None:
        self.world = World(0, "offsets", None)
        self.world.fault = 0.0
        config = ClusterConfig(alias="b", bootstrap_servers=("localhost:1",))
        self.client = SimulatedClient(self.world, config, "target")

    def ours(self, count: int, sequence: int) -> None:
        batch = encode([Record(timestamp=5, key=None, value=b"v")] * count)
        rewrite(
            memoryview(batch),
            producer_id=OURS.producer_id,
            producer_epoch=OURS.epoch,
            sequence=sequence,
            transactional=False,
        )
        error, _ = self.world.target.append(bytes(batch), 0.0)
        assert not error


def test_newer_records_of_ours_before_the_snapshots_offset_show_a_loss() -> None:
    """Another writer has filled the log up since: neither its length nor its end shows it."""
    rig = Rig()
    snapshot = ProducerSnapshot(48, 17, 0, OURS, (29,), READ)
    rig.world.target.append_foreign(16)
    rig.ours(1, sequence=0)
    rig.world.target.append_foreign(2)

    with in_place(rig.world):
        found = log_ends(rig.client, {TARGET: Wanted(OURS, snapshot.downstream)})

    lost = landed_since(snapshot, found.ends[TARGET], found.last[TARGET], READ)
    assert lost == TargetLost(16, copied_since=True)


def test_records_from_before_the_snapshot_show_none() -> None:
    rig = Rig()
    snapshot = ProducerSnapshot(48, 4, 4, OURS, (29,), READ)
    rig.ours(4, sequence=0)
    rig.world.target.append_foreign(2)

    with in_place(rig.world):
        found = log_ends(rig.client, {TARGET: Wanted(OURS, snapshot.downstream)})

    assert not isinstance(
        landed_since(snapshot, found.ends[TARGET], found.last[TARGET], READ), TargetLost
    )


@pytest.mark.parametrize(("start", "left"), [(0, OwnEnd(2)), (5, OwnEnd(5, proven=False))])
def test_the_end_of_what_is_left_of_ours_is_not_proven_if_the_target_has_deleted_it(
    start: int, left: OwnEnd
) -> None:
    rig = Rig()
    rig.ours(2, sequence=0)
    rig.world.target.append_foreign(3)
    rig.world.target.delete_before(start)

    with in_place(rig.world):
        assert end_before(rig.client, TARGET, OURS, 2, before=9) == left


def test_a_log_without_a_committed_record_has_lost_all_of_them() -> None:
    rig = Rig()
    rig.world.target.append_foreign(3)

    with in_place(rig.world):
        assert committed_before(rig.client, TARGET, before=9) == OwnEnd(0)


@pytest.mark.parametrize(
    ("others", "left"),
    [(0, 4), (1, 4), (2, 10)],
    ids=["next to it", "one other record between", "as many as are missing: nothing shows"],
)
def test_late_records_in_the_place_of_lost_ones_show_by_their_numbers(
    others: int, left: int
) -> None:
    """The next epoch's snapshot does not know where the numbers of the one before ended. The leader has
    restarted and forgotten the producer: it takes number 6 after number 3 (simulation: everything 2335)."""
    rig = Rig()
    rig.ours(4, sequence=0)
    rig.world.target.restart(2 * EXPIRATION_MS)
    if others:
        rig.world.target.append_foreign(others)
    rig.ours(2, sequence=6)
    rig.world.target.append_foreign(1)
    rig.ours(1, sequence=8)
    later = OURS._replace(epoch=OURS.epoch + 1)

    with in_place(rig.world):
        assert end_before(rig.client, TARGET, later, 0, before=20) == OwnEnd(left)
