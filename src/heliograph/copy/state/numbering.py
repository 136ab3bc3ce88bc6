"""Producer id, epoch and sequence numbers of the records that are sent to one remote partition.

Law: under one producer id and epoch, one sequence number means one record. Where records might get other
numbers than they were sent with before (a jump, a quarantined record, holes that compaction has made since,
another isolation level), the copy continues under the next epoch of the producer id, from number 0 on.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from heliograph.model import IsolationLevel, LastBatch, ProducerIdentity, ProducerSnapshot
from heliograph.plan.resume import Landed
from heliograph.records.batch import SEQUENCES


@dataclass(slots=True, eq=False)
class Numbering:
    """Part of a `Partition`; only the partition changes it.

    `base` is the snapshot that the copy resumes from. It is dropped once the target was read, and the `skip`
    records after the snapshot that are already on the target were fetched and dropped.
    """

    isolation: IsolationLevel
    base: ProducerSnapshot | None = None
    identity: ProducerIdentity | None = None
    retired: ProducerIdentity | None = None  # the previous identity; its next epoch comes next
    named: bool = True  # the state topic has a snapshot with the identity, or never will
    sequence: int = 0  # of the next record to be acknowledged
    #: Records below this upstream offset may have been sent before, by this task or its predecessor.
    given_to: int = -1
    skip: int = 0
    #: All records to skip take at least one offset each: those below this upstream offset are on the target,
    #: however many of them compaction has removed since.
    landed_to: int = -1
    skipped_to: int = -1  # downstream offset of the next record to skip; -1 if not known
    landed_last: bytes = b""  # the target's batch with the last record to skip
    holes: bool = False  # whether compaction has removed some of the records to skip

    def resume(self, landed: Landed, last: LastBatch | None) -> bool:
        """Continue the predecessor's sequence after the records that have landed. False if the isolation
        level differs: then the same numbers would mean other records."""
        base = self.base
        assert base is not None
        if base.isolation is not self.isolation and not (self.unproven and landed.records):
            return False
        self.identity, self.named = base.identity, True
        self.sequence = (base.sequence + landed.records) % SEQUENCES
        self.given_to = sys.maxsize  # the predecessor may have sent everything that the source has
        self.skip = landed.records
        self.landed_to = base.upstream + landed.records
        self.holes = self.unproven
        self.landed_last = last.data if last is not None else b""
        # With other writers' records in between, the offset of each of ours is not known.
        self.skipped_to = -1 if landed.foreign else base.downstream
        return True

    @property
    def unproven(self) -> bool:
        """The snapshot is of a version that recorded no isolation level, so it may have numbered other
        records. The last record to skip must be compared with the target's last one, as after compaction; if
        they are equal, the copy continues after them, under the next epoch."""
        return self.base is not None and self.base.isolation is None

    def introduce(self, identity: ProducerIdentity) -> None:
        """Send under this identity from now on, from number 0 on."""
        self.identity, self.sequence, self.skip, self.retired = identity, 0, 0, None
        self.named = False

    def begin(self) -> None:
        """The target was read; without records to skip, the snapshot is no longer needed."""
        self.named = True
        if not self.skip:
            self.base = None

    def check_places(self, records: int) -> None:
        """So many records to skip are about to be skipped. If the source has deleted some of them, each of
        the others is where it counts to only if all are found, and the last one equals the target's last."""
        if self.holes and records < self.skip:
            self.skipped_to = -1

    def skipped(self, records: int) -> int:
        """Records on the target were skipped. Returns the target offset of the first, -1 if not known."""
        self.skip -= records
        self.begin()
        at = self.skipped_to
        if at >= 0:
            self.skipped_to += records
        return at

    def skip_deleted(self, records: int) -> None:
        """The source has deleted the first of the records to skip. This assumes one record at each offset;
        the comparison of the last record with the target's last one shows whether that was true."""
        assert 0 < records < self.skip
        self.skip -= records
        self.holes = True
        if self.skipped_to >= 0:
            self.skipped_to += records

    def acknowledged(self, sequence: int, records: int) -> None:
        self.sequence = (sequence + records) % SEQUENCES

    def suspend(self, snapshot: ProducerSnapshot | None, read_to: int) -> None:
        """Whether batches sent after the snapshot were appended is not known."""
        self.given_to = max(self.given_to, read_to)
        self.base, self.identity = snapshot, None

    def retire(self) -> None:
        """Give up this identity; the next epoch of its producer id follows."""
        if self.identity is not None:
            self.retired = self.identity
        elif self.base is not None:
            self.retired = self.base.identity
        self.identity = self.base = None
        self.skip, self.given_to = 0, -1
