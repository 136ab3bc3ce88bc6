"""Records on their way through a chain, column by column. Keys and values are bytes until a transformation
looks into one: then it is a document, read once however many transformations follow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from heliograph.records.columns import ByteColumn, Columns
from heliograph.transforms.failures import RecordFailed
from heliograph.transforms.json_document import Document

Side = Literal["Key", "Value"]
Headers = tuple[tuple[bytes, bytes | None], ...]
Cell = bytes | Document | None


@dataclass(frozen=True, slots=True)
class Failure:
    """`row` counts the records that entered the chain. `transform`: the alias in the configuration."""

    row: int
    transform: str
    reason: str


class Rows:
    """Records of one partition. `topic` is the remote topic, as MirrorMaker's transformations see it."""

    def __init__(
        self,
        *,
        topic: str,
        partition: int,
        timestamp: Sequence[int],
        key: Sequence[bytes | None],
        value: Sequence[bytes | None],
        headers: Sequence[Headers],
    ) -> None:
        self.topic = [topic] * len(timestamp)
        self.partition = partition
        self.timestamp = timestamp
        self.headers = list(headers)
        self.failures: list[Failure] = []
        self.live: list[int] = list(range(len(timestamp)))
        self._cells: dict[Side, list[Cell]] = {"Key": list(key), "Value": list(value)}
        self._read: dict[Side, dict[int, bytes]] = {"Key": {}, "Value": {}}

    @classmethod
    def of(cls, columns: Columns, topic: str, partition: int) -> Rows:
        return cls(
            topic=topic,
            partition=partition,
            timestamp=columns.timestamp.tolist(),
            key=columns.key.tolist(),
            value=columns.value.tolist(),
            headers=columns.headers(),
        )

    def document(self, side: Side, row: int, *, whole: bool = False) -> Document | None:
        """The key or value of a record; None: it has none. `whole`: few members are needed, and none is added
        or removed. Raises RecordFailed."""
        cells = self._cells[side]
        cell = cells[row]
        if not isinstance(cell, bytes):
            return cell
        document = Document.read(cell, exact=side == "Key", whole=whole)
        self._read[side][row] = cell
        cells[row] = document
        return document

    def put(self, side: Side, row: int, document: Document) -> None:
        self._cells[side][row] = document

    def is_null(self, side: Side, row: int) -> bool:
        """`null` in JSON counts once a transformation has read it, as under Connect."""
        cell = self._cells[side][row]
        if isinstance(cell, Document):
            return cell.is_null
        return cell is None

    def bytes_of(self, side: Side, row: int) -> bytes | None:
        """As it came unless a transformation changed it."""
        cell = self._cells[side][row]
        if not isinstance(cell, Document):
            return cell
        return cell.write() if cell.changed else self._read[side][row]

    def is_changed(self, side: Side, row: int) -> bool:
        cell = self._cells[side][row]
        return isinstance(cell, Document) and cell.changed

    def column(self, side: Side, rows: Iterable[int]) -> ByteColumn:
        return ByteColumn.of([self.bytes_of(side, row) for row in rows])

    def drop(self, rows: Sequence[int]) -> None:
        gone = set(rows)
        self.live = [row for row in self.live if row not in gone]

    def fail(self, row: int, transform: str, problem: RecordFailed) -> None:
        self.failures.append(Failure(row, transform, str(problem)))
