"""Reads both sides at the end of a session, and compares them under the fault's allowance."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from datetime import datetime

from chaos.clusters.cluster_logs import end_at
from chaos.clusters.stage import Stage
from chaos.errors import ChaosError
from chaos.judging.archive import offsets_without_record, read
from chaos.judging.oracle import (
    Allowed,
    Difference,
    Log,
    all_of,
    count,
    find,
    missing_at_source,
    spans,
)
from chaos.judging.reports import Report, ranges, read_reports
from chaos.judging.truth import Allowance, Truth, Where
from chaos.load import Topic
from chaos.subjects import Mode, Subject

#: Times in the mirror's log are whole seconds.
_REPORT_MS = 1_000
#: Offsets of differing records, beside a service's logs.
_DETAILS = "differences.json"


class Judge:
    """Call `see_source` first."""

    def __init__(
        self, stage: Stage, allowance: Allowance, topics: Sequence[Topic], truth: Truth
    ) -> None:
        self._stage = stage
        self._allowance = allowance
        self._topics = topics
        self._truth = truth
        self._source: Log = {}
        self._withdrawn: dict[Where, Container[int]] = {}

    def see_source(self, acknowledged: Mapping[Where, Sequence[range]]) -> None:
        """Raises ChaosError if the source lacks acknowledged records that no fault has removed."""
        self._source = self._truth.source.extend()
        durable = {topic.name for topic in self._topics if topic.durable}
        checked = {where: each for where, each in acknowledged.items() if where[0] in durable}
        if missing := missing_at_source(self._source, checked):
            raise ChaosError(f"the source lacks {missing} records that it acknowledged")
        self._withdrawn = self._find_withdrawn()

    @property
    def records(self) -> int:
        return sum(map(len, self._source.values()))

    def verdict(self, subject: Subject) -> tuple[Difference, int]:
        """The difference, and the number of reports in its log."""
        remote = {subject.remote(topic.name): topic.partitions for topic in self._topics}
        direct = self._stage.target.direct
        target = read(direct, remote)
        if subject.mode is Mode.EXACTLY_ONCE and not offsets_without_record(direct, target):
            raise ChaosError(f"{subject.name}: expected transactions on the target, found none")
        reports = read_reports(subject.folder, [topic.name for topic in self._topics])
        total, details = Difference(), {}
        for (topic, p), entries in self._source.items():
            allowed = self._allowed(subject, (topic, p), reports)
            found = find(entries, target[subject.remote(topic), p], allowed)
            total += count(found)
            details[f"{topic}-{p}"] = {kind: spans(each) for kind, each in found.items() if each}
        (subject.folder / _DETAILS).write_text(json.dumps(details, indent=1) + "\n")
        return total, len(reports)

    def _find_withdrawn(self) -> dict[Where, Container[int]]:
        found: dict[Where, Container[int]] = {}
        counts = {topic.name: topic.partitions for topic in self._topics}
        if self._allowance.aborted:
            written = read(self._stage.source.direct, counts, committed=False)
            for where, entries in written.items():
                committed = {entry.identity for entry in self._source[where]}
                found[where] = {entry.identity for entry in entries} - committed
        if self._allowance.truncated:
            for number, topic in enumerate(self._topics, start=1):
                if (
                    not topic.durable
                ):  # any record of its writer may have been on the source for a while
                    found |= {(topic.name, p): all_of(number) for p in range(topic.partitions)}
        return found

    def _allowed(self, subject: Subject, where: Where, reports: Sequence[Report]) -> Allowed:
        def named(*, errors_only: bool = False, duplicates: bool | None = None) -> list[range]:
            return ranges(
                reports, where, self._end_at, errors_only=errors_only, duplicates=duplicates
            )

        topic, partition = where
        lost = self._truth.target_lost.get((subject.remote(topic), partition), ())
        may, deleted = self._allowance, self._truth.deleted.get(where, 0)
        missing = _below(named(errors_only=True, duplicates=False), deleted)
        return Allowed(
            withdrawn=self._withdrawn.get(where, ()),
            missing=missing if may.passed_over else (),
            doubled=named(duplicates=True) if may.copied_again else (),
            reported=named(errors_only=True),
            target_lost=[entry.identity for entry in lost],
        )

    def _end_at(self, where: Where, at: datetime) -> int:
        return end_at(self._stage.source, where, int(at.timestamp() * 1000) + _REPORT_MS)


def _below(ranges_: Sequence[range], end: int) -> list[range]:
    return [range(each.start, min(each.stop, end)) for each in ranges_]
