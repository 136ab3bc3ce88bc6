"""Aborted transactions of a partition, and completed ones that are not replicated yet (`TransactionIndex`,
`ProducerStateManager.unreplicatedTxns`)."""

from __future__ import annotations

from typing import NamedTuple

from heliograph.model import AbortedTransaction


class Completed(NamedTuple):
    producer_id: int
    first: int
    marker: int  # its offset
    aborted: bool


class TransactionIndex:
    def __init__(self) -> None:
        self._aborted: list[Completed] = []
        self._unreplicated: list[Completed] = []

    def add(self, completed: Completed) -> None:
        self._unreplicated.append(completed)
        if completed.aborted:
            self._aborted.append(completed)

    def replicated_to(self, high_watermark: int) -> None:
        self._unreplicated = [each for each in self._unreplicated if each.marker >= high_watermark]

    @property
    def first_unreplicated(self) -> int | None:
        return min((each.first for each in self._unreplicated), default=None)

    def within(self, offset: int, end: int) -> tuple[AbortedTransaction, ...]:
        """Those that touch the offsets from `offset` to `end`, by the offset of their marker."""
        return tuple(
            AbortedTransaction(each.producer_id, each.first)
            for each in self._aborted
            if each.marker >= offset and each.first < end
        )

    def truncate(self, end: int) -> None:
        self._aborted = [each for each in self._aborted if each.marker < end]
        self._unreplicated = [each for each in self._unreplicated if each.marker < end]

    def drop_before(self, start: int) -> None:
        self._aborted = [each for each in self._aborted if each.marker >= start]
