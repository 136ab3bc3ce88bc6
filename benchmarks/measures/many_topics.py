"""Measures a mirror of many topics and groups: time until all is copied, and duration of its cycles.

    start ─► first record ─► all copied ─► all groups, checkpoints ─► new topics ─► commits ─► idle minute
                                                                      └─ cycles whose log lines are read ─┘

A cycle is measured from the moment at which it is due, one interval after the one before: the wait for that
moment says nothing about a system. Each wait ends after `_PATIENCE_SECONDS`: that is the figure then, marked
as late, and the run continues.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from statistics import median

from benchmarks.brokers import Brokers
from benchmarks.measures.crowd import Crowd
from benchmarks.measures.job_log import JOBS, TOPICS, JobLog, mean
from benchmarks.measures.watching import (
    GroupWatch,
    Place,
    RemoteEnds,
    Seen,
    Tail,
    parse_checkpoint,
    parse_offset_sync,
)
from benchmarks.results import late
from benchmarks.running import Mark, Measures, Run, running
from benchmarks.shapes import Shape
from benchmarks.systems import Assignment
from harness.cluster_side import LogEnds

_PATIENCE_SECONDS = 300.0
_POLL_SECONDS = 0.02
_DUTY = 3  # sleep three times as long as a poll takes
#: MM2 has ten offset syncs in flight; the others wait for a flush when no more records arrive.
_FLUSH_SECONDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    refresh_seconds: int = 20
    checkpoint_seconds: int = 10
    new_topics: int = 3
    commits: int = 3
    idle_seconds: float = 60.0

    def settings(self, crowd: Crowd, assignment: Assignment) -> dict[str, str]:
        """The same for every system. `offset.lag.max` makes an offset sync due with every `write`."""
        refresh, checkpoint = str(self.refresh_seconds), str(self.checkpoint_seconds)
        return {
            "groups": f"{assignment.topic}-.*",
            "refresh.topics.interval.seconds": refresh,
            "refresh.groups.interval.seconds": refresh,
            "sync.topic.configs.interval.seconds": refresh,
            "emit.checkpoints.interval.seconds": checkpoint,
            "sync.group.offsets.enabled": "true",
            "sync.group.offsets.interval.seconds": checkpoint,
            "offset.lag.max": str(crowd.records_per_partition),
            f"{assignment.target_alias}.offset.flush.interval.ms": str(_FLUSH_SECONDS * 1000),
        }


#: For trying the harness. Heliograph does not log jobs with intervals below ten seconds.
QUICK = Pace(refresh_seconds=10, new_topics=1, commits=1, idle_seconds=15.0)


def warm_many(brokers: Brokers, shape: Shape) -> None:
    """Lets the target broker's JVM compile, so that the first system has no disadvantage."""
    crowd = Crowd(brokers.target, shape, "warm-up")
    crowd.create()
    crowd.write()
    crowd.commit(crowd.groups)
    brokers.clean([])
    brokers.target.delete_groups()


def measure_many_topics(
    assignment: Assignment, brokers: Brokers, shape: Shape, pace: Pace
) -> Measures:
    """The assignment's `topic` begins the names of all topics and groups of this run."""
    name = assignment.topic
    crowd = Crowd(brokers.source, shape, name)
    crowd.create()
    crowd.write()
    crowd.commit(crowd.groups | crowd.beacon)
    assignment = replace(assignment, topic=f"{name}-.*", settings=pace.settings(crowd, assignment))
    prefix = f"{assignment.source_alias}.{name}-t"
    ends = RemoteEnds(brokers.target, prefix, shape.topics)
    try:
        with running(assignment, brokers, ends) as run:
            measuring = _Measuring(run, brokers, crowd, ends, pace)
            with closing(measuring):
                return measuring.measures(shape)
    finally:
        brokers.source.delete_groups()
        brokers.target.delete_groups()


class _Measuring:
    def __init__(
        self,
        run: Run,
        brokers: Brokers,
        crowd: Crowd,
        ends: RemoteEnds,
        pace: Pace,
    ) -> None:
        self._run = run
        self._brokers = brokers
        self._crowd = crowd
        self._ends = ends
        self._pace = pace
        self._log = JobLog(run.assignment)
        self._late: set[str] = set()  # figures whose wait timed out
        self._alias = run.assignment.source_alias
        self._syncs = Tail(
            brokers.source,
            f"mm2-offset-syncs.{run.assignment.target_alias}.internal",
            parse_offset_sync,
        )
        self._checkpoints = Tail(
            brokers.target, f"{self._alias}.checkpoints.internal", parse_checkpoint
        )

    def close(self) -> None:
        self._syncs.close()
        self._checkpoints.close()

    def measures(self, shape: Shape) -> Measures:
        run, tree = self._run, self._run.tree
        with self._crowd.traffic():
            first = run.wait_for(1, _DUTY)
            copied = self._until_copied(shape.records)
            groups = self._until_groups_are_there("all_groups_s", beyond=0)
            checkpoints = self._until_checkpointed("all_checkpoints_s", self._crowd.groups)
            self._log.read()  # lines so far belong to the start
            settled = time.time()
            small = tree.rss_bytes
            new_topics = [self._new_topic(number) for number in range(self._pace.new_topics)]
            commits = self._commits()
        idle = self._idle()
        self._log.read()
        return {
            "first_record_s": round(first.at - run.started, 2),
            "all_copied_s": round(copied.at - run.started, 2),
            "all_groups_s": round(groups - run.started_at, 2),
            "all_checkpoints_s": round(checkpoints.at - run.started_at, 2),
            "new_topic_s": _median(new_topics),
            **{figure: _median([each[figure] for each in commits]) for figure in commits[0]},
            **{figure: self._log.median_ms(figure, settled) for figure in JOBS},
            **{mean(figure): self._log.mean_ms(figure, settled) for figure in JOBS},
            "idle_cpu_s": idle,
            "peak_rss_mb": round(tree.peak_rss_bytes / 1e6),
            "copied_rss_mb": round(small / 1e6),
            "end_rss_mb": round(tree.rss_bytes / 1e6),
            **{late(figure): 1 for figure in sorted(self._late)},
        }

    def _new_topic(self, number: int) -> float:
        """From when the next refresh is due to the topic's first record on the target."""
        due = self._until_refreshed() + self._pace.refresh_seconds
        topic = f"{self._crowd.busy}-{number}"
        self._crowd.add_topics([topic])
        self._crowd.write_to([topic])
        ends = LogEnds(self._brokers.target, f"{self._alias}.{topic}")
        return self._wait("new_topic_s", lambda: ends.total() > 0) - due

    def _until_refreshed(self) -> float:
        """Waits for the end of a refresh; returns when it began."""
        self._log.read()
        before = len(self._log.runs(TOPICS))

        def there() -> bool:
            self._log.read()
            return len(self._log.runs(TOPICS)) > before

        now = self._wait("new_topic_s", there)
        runs = self._log.runs(TOPICS)
        return runs[-1].began if runs else now

    def _commits(self) -> list[dict[str, float]]:
        """Stops after a late one: its remaining work would fall into the next."""
        commits: list[dict[str, float]] = []
        while len(commits) < self._pace.commits and (not commits or not self._late):
            commits.append(self._commit())
        return commits

    def _commit(self) -> dict[str, float]:
        """Writes more records into every partition, then commits for all groups just after a round of
        checkpoints.

        Measures from when the next checkpoints are due to all checkpoints, and to all group offsets, on the
        target. The length of the cycle is counted from the earliest timestamp of its checkpoints.
        """
        crowd, run = self._crowd, self._run
        before, records = crowd.written, run.mark().records
        self._until_copied(records + crowd.write())
        copied = time.time()
        places = list(crowd.partitions(crowd.topics))
        synced = self._wait(
            "offset_syncs_s", lambda: self._syncs.reached(places, before) is not None, duty=0
        )
        crowd.commit(crowd.beacon)
        seen = self._until_checkpointed("checkpoints_s", crowd.beacon)
        due = seen.began + self._pace.checkpoint_seconds
        crowd.commit(crowd.groups)
        checkpointed = self._until_checkpointed("checkpoints_s", crowd.groups)
        there = self._until_groups_are_there("group_offsets_s", beyond=before)
        return {
            "offset_syncs_s": synced - copied,
            "checkpoints_s": checkpointed.at - due,
            "checkpoint_cycle_s": checkpointed.at - checkpointed.began,
            "group_offsets_s": there - due,
        }

    def _until_copied(self, records: int) -> Mark:
        self._ends.records_per_partition = self._crowd.written
        return self._run.wait_for(records, _DUTY)

    def _until_checkpointed(self, figure: str, groups: Mapping[str, list[str]]) -> _Checkpointed:
        places: list[Place] = [
            (group, f"{self._alias}.{topic}", partition)
            for group, topics in groups.items()
            for topic, partition in self._crowd.partitions(topics)
        ]
        found: list[Seen] = []

        def there() -> bool:
            found[:] = self._checkpoints.reached(places, self._crowd.written) or []
            return bool(found)

        began = time.time()
        at = self._wait(figure, there, duty=0)
        return _Checkpointed(at=at, began=min((seen.timestamp for seen in found), default=began))

    def _until_groups_are_there(self, figure: str, beyond: int) -> float:
        crowd = self._crowd
        groups = {group: len(list(crowd.partitions(its))) for group, its in crowd.groups.items()}
        watch = GroupWatch(self._brokers.target, groups, beyond)
        return self._wait(figure, watch.all_there)

    def _idle(self) -> float:
        """CPU seconds of a minute without writes on the source, after the mirror has finished its work for
        the last commit."""
        self._until_quiet()
        before, began = self._run.tree.cpu_seconds(), time.monotonic()
        while (left := began + self._pace.idle_seconds - time.monotonic()) > 0:
            self._run.raise_if_exited()
            time.sleep(min(1.0, left))
        used = self._run.tree.cpu_seconds() - before
        return round(used * 60 / self._pace.idle_seconds, 2)

    def _until_quiet(self) -> None:
        """Waits until no checkpoint has arrived for 1.5 cycles or flushes. Offset syncs never end, since
        heartbeats are mirrored."""
        rest = max(self._pace.checkpoint_seconds, _FLUSH_SECONDS) * 1.5
        seen, since = -1, time.time()

        def there() -> bool:
            nonlocal seen, since
            found = self._checkpoints.count()
            if found != seen:
                seen, since = found, time.time()
            return time.time() - since > rest

        self._wait("idle_cpu_s", there, duty=0)

    def _wait(self, figure: str, there: Callable[[], bool], duty: float = _DUTY) -> float:
        """The time at which `there` was true, in seconds since 1970; after a timeout the time of that, and
        the figure is marked as late."""
        deadline = time.time() + _PATIENCE_SECONDS
        while True:
            asked = time.time()
            if there():
                return time.time()
            self._run.raise_if_exited()
            if time.time() > deadline:
                self._late.add(figure)
                return time.time()
            time.sleep(max(_POLL_SECONDS, duty * (time.time() - asked)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checkpointed:
    """`began`: the earliest timestamp of the checkpoints, which is when their cycle began; after a timeout,
    when the wait began."""

    at: float
    began: float


def _median(values: list[float]) -> float | None:
    return round(median(values), 2) if values else None
