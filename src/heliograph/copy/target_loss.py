"""Finds the source offset to resume from when the target has lost acknowledged records.

    upstream      … 480 481 482 483 484 485 …        acknowledged up to 485
    downstream    … 400 401 402 │                    the log ends at 403 now: go back to source offset 483

An unclean leader election or a restored backup shortens a log. The offset map has the source offset of its
new end: this task's part of the map, and the part of earlier tasks in the state topic.
"""

from __future__ import annotations

from heliograph.client.fetch.log_tail import LogTail
from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import FlowConfig
from heliograph.copy.bookkeeping.background_writer import BackgroundWriter
from heliograph.copy.bookkeeping.offset_syncs import Syncs
from heliograph.copy.partition import Partition
from heliograph.mm2.offset_map_segments import load_offset_maps
from heliograph.mm2.state_records import state_topic
from heliograph.model import AckedOffsets, Gap, GapKind, OffsetRange
from heliograph.plan.gap_verdict import Verdict

_SIDE_SECONDS = 1.5


class TargetLoss:
    """Of one copy loop. `probe_client` is a client that nothing else uses."""

    def __init__(
        self, flow: FlowConfig, probe_client: ClusterClient, syncs: Syncs, state: BackgroundWriter
    ) -> None:
        self._flow = flow
        self._probe_client = probe_client
        self._syncs = syncs
        self._state = state

    def judge(self, copy: Partition, end: int) -> tuple[Verdict, bool]:
        """The target's log ends at `end`, or did once. Returns the verdict, and whether its position is
        exact: if not, records after it may already be on the target. Raises ClientError if the map cannot be
        read."""
        upstream, exact = self._upstream_at(copy, end)
        if upstream is None or upstream > copy.acked:
            # How many offsets the target has lost says nothing of theirs: records of other writers, gaps of
            # the source and records that were copied twice lie between. Any of ours may be among them.
            # Aborted records from there on may be, too: a marker that was under way when the target lost the
            # one behind them has committed them (simulation: exactly once, everything 9668).
            gap = Gap(GapKind.TARGET_LOST, 0, copy.acked, copy.acked)
            return Verdict(copy.acked, (gap,)), not copy.transactional
        gap = Gap(GapKind.TARGET_LOST, upstream, copy.acked, upstream)
        return Verdict(upstream, (gap,)), exact

    def write_map(self) -> None:
        """Before records are copied again: a task that dies after that must not leave their old offsets."""
        self._syncs.flush()
        self._state.wait_idle(_SIDE_SECONDS)

    def _upstream_at(self, copy: Partition, end: int) -> tuple[int | None, bool]:
        if not self._flow.keeps_offset_map:
            return None, False
        self.write_map()
        records = LogTail(self._probe_client, state_topic(self._flow.source)).read_new()
        loaded = load_offset_maps((record.key, record.value) for record in records)
        known = loaded.offset_maps.get(copy.source)
        last = known.last if known is not None else None
        if known is None or last is None:
            return None, False
        if end > last.downstream + last.count and last.downstream >= 0:
            landing = _known_landing(copy)
            # Markers of our transactions lie between ranges, so under exactly once none of them grows on.
            one_run = not copy.transactional and landing is not None and _is_one_run(last, landing)
            if one_run:
                return last.upstream + end - last.downstream, True
            return last.end, False
        upstream = known.upstream_at(end)
        exact = upstream is None or (known.is_placed(end) and not known.has_lost_from(upstream))
        return upstream, exact


def _is_one_run(last: OffsetRange, known: AckedOffsets) -> bool:
    """Whether the last range has only grown since it was written."""
    return known.downstream - last.downstream == known.upstream - last.upstream


def _known_landing(copy: Partition) -> AckedOffsets | None:
    """The end of the offset map's last range, unless another range has begun since it was written."""
    base = copy.numbers.base
    if base is not None:
        return AckedOffsets(base.upstream, base.downstream)
    return copy.lease.lineage.acked_offsets
