"""The differential test can fail: an error in the model changes an outcome within sixty sequences.

Without the error, `tests/real/simulation` shows that a real broker has the same outcomes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from simulation.differential import operations as op
from simulation.differential.generate import Sequence, generate, replay
from simulation.model import append_checks, partition_log, producer_entry
from simulation.model.errors import Error
from simulation.model.partition_log import PartitionLog
from simulation.model.producer_entry import ProducerEntry
from simulation.model.producer_state import ProducerState
from simulation.model.transaction_metadata import TransactionMetadata

_SEQUENCES = 60
_NOW_MS = 1_800_000_000_000


def six_remembered_batches(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(producer_entry, "REMEMBERED_BATCHES", 6)


def a_new_epoch_begins_anywhere(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(append_checks, "_in_sequence", _unless_new_epoch(append_checks._in_sequence))


def _unless_new_epoch(check: Callable[..., bool]) -> Callable[..., bool]:
    def mutated(entry: ProducerEntry, verification: Any, batch: Any) -> bool:
        return batch.header.producer_epoch > entry.epoch or check(entry, verification, batch)

    return mutated


def an_unknown_producer_begins_with_0(patch: pytest.MonkeyPatch) -> None:
    check = append_checks.check_data

    def mutated(entry: ProducerEntry, verification: Any, batch: Any) -> Error:
        if entry == producer_entry.UNKNOWN and batch.header.base_sequence:
            return Error.OUT_OF_ORDER_SEQUENCE_NUMBER
        return check(entry, verification, batch)

    patch.setattr(partition_log, "check_data", mutated)


def open_transactions_are_visible(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PartitionLog, "last_stable", property(lambda log: log.high_watermark))


def markers_keep_the_epoch(patch: pytest.MonkeyPatch) -> None:
    """As in version 1."""
    prepare = TransactionMetadata.prepare

    def mutated(self: TransactionMetadata, *, commit: bool, version: int, **_: int) -> None:
        prepare(self, commit=commit, version=min(version, 1))

    patch.setattr(TransactionMetadata, "prepare", mutated)


def sequences_do_not_wrap_around(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(append_checks, "_LAST_SEQUENCE", 1 << 40)


def all_batches_outlive_a_restart(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ProducerEntry, "in_snapshot", lambda entry: replace(entry))


def producers_do_not_expire(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ProducerState, "expire", lambda state, now_ms: None)


MUTATIONS = [
    six_remembered_batches,
    a_new_epoch_begins_anywhere,
    an_unknown_producer_begins_with_0,
    open_transactions_are_visible,
    markers_keep_the_epoch,
    sequences_do_not_wrap_around,
    all_batches_outlive_a_restart,
    producers_do_not_expire,
]


@pytest.fixture(scope="module")
def sequences() -> list[Sequence]:
    return [generate(seed, _NOW_MS, op.Restart(clean=True)) for seed in range(_SEQUENCES)]


def test_a_sequence_has_the_same_outcomes_again(sequences: list[Sequence]) -> None:
    assert all(replay(each, _NOW_MS) is None for each in sequences)


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda each: str(each.__name__))
def test_an_error_in_the_model_is_found(
    mutate: Callable[[pytest.MonkeyPatch], None],
    sequences: list[Sequence],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mutate(monkeypatch)
    assert any(replay(each, _NOW_MS) is not None for each in sequences)
