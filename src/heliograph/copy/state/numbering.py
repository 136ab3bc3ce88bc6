"""Which producer id, epoch and sequence number the records of a partition are sent under.

Law: under one identity, one number means one record. Wherever records may get other numbers than they were
sent with before (a jump, a record left out, holes that compaction has made since, another isolation level),
the copy goes on under the next epoch of the producer id, from number 0 on.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from heliograph.model import IsolationLevel, LastBatch, ProducerIdentity, ProducerSnapshot
from heliograph.plan.resume import Landed
from heliograph.records.batch import SEQUENCES


@dataclass(slots=True, eq=False)
class Numbering:
    """Part of a `Partition`, which alone changes it.

    `base` is the snapshot that the copy resumes from, until it has: until the target was looked at, and the
    `skip` records that follow the snapshot, and are on the target, are read and dropped.
    """

    isolation: IsolationLevel
    base: ProducerSnapshot | None = None
    identity: ProducerIdentity | None = None
    retired: ProducerIdentity | None = None  # the identity before, whose next epoch is to be used
    named: bool = True  # the state topic has a snapshot with the identity, or never will
    sequence: int = 0  # of the next record to be acknowledged
    #: Numbers of records below this upstream offset may have been given before, by this task or another.
    given_to: int = -1
    skip: int = 0
    skipped_to: int = -1  # downstream offset of the next record to skip; -1 if not known
    landed_last: bytes = b""  # the batch that the last of them stands in, on the target
    holes: bool = False  # whether compaction has been at them

    def resume(self, landed: Landed, last: LastBatch | None) -> bool:
        """Go on with the predecessor's numbers behind what has landed; it may have sent all that there is.
        False: under another isolation level other records get them."""
        base = self.base
        assert base is not None
        if base.isolation is not self.isolation:
            return False
        self.identity, self.named = base.identity, True
        self.sequence = (base.sequence + landed.records) % SEQUENCES
        self.given_to = sys.maxsize
        self.skip, self.holes = landed.records, False
        self.landed_last = last.data if last is not None else b""
        # With records of others among them, it is not known where each of ours stands.
        self.skipped_to = -1 if landed.foreign else base.downstream
        return True

    def introduce(self, identity: ProducerIdentity) -> None:
        """Records go out under this identity from now on, from number 0 on."""
        self.identity, self.sequence, self.skip, self.retired = identity, 0, 0, None
        self.named = False

    def begin(self) -> None:
        """The target was looked at."""
        self.named = True
        if not self.skip:
            self.base = None

    def skipped(self, records: int) -> int:
        """These are on the target already: at which offset, -1 if that is not known."""
        self.skip -= records
        self.begin()
        at = self.skipped_to
        if at >= 0:
            self.skipped_to += records
        return at

    def skip_deleted(self, records: int) -> None:
        """The source has deleted the first of the records to be skipped. That there was one at each offset
        shows when the last of them is compared with the target's last."""
        assert 0 < records < self.skip
        self.skip -= records
        self.holes = True
        if self.skipped_to >= 0:
            self.skipped_to += records

    def acknowledged(self, sequence: int, records: int) -> None:
        self.sequence = (sequence + records) % SEQUENCES

    def suspend(self, snapshot: ProducerSnapshot | None, read_to: int) -> None:
        """Whether what was sent behind the snapshot has landed is not known."""
        self.given_to = max(self.given_to, read_to)
        self.base, self.identity = snapshot, None

    def retire(self) -> None:
        """Go on with other numbers."""
        if self.identity is not None:
            self.retired = self.identity
        elif self.base is not None:
            self.retired = self.base.identity
        self.identity = self.base = None
        self.skip, self.given_to = 0, -1
