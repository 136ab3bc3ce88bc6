"""Puts a world in place of sockets, threads and clocks, for as long as a run lasts."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from random import Random
from types import ModuleType
from typing import Any

import pytest

from heliograph.client.fetch import log_reader
from heliograph.client.net import backoff
from heliograph.copy import (
    loop,
    partition,
    producer_recovery,
    producers,
    target_loss,
)
from heliograph.copy.bookkeeping import offset_pace, offset_syncs
from heliograph.model import Gap
from heliograph.plan.resume import Resumption, resumption
from heliograph.runtime.flow import observed_flow, partition_gaps, resume_points
from heliograph.sync import offsets, producer_snapshots, statuses
from simulation.driver import TOPICS
from simulation.state_topic import (
    SimulatedBackgroundWriter,
    SimulatedLogTail,
    read_offsets_topic,
    read_state_topic,
)
from simulation.transactional_target import TransactionalWorld
from simulation.world import Fallback, LoggedGap, World

_WAITING = (log_reader, loop, producers, offset_pace)
_LONGEST_WAIT = 0.1


def clocked() -> list[ModuleType]:
    """All loaded modules of Heliograph that read the time. A list by hand once left out one, and what a seed
    did depended on how long the machine had been running."""
    return [
        module
        for name, module in sorted(sys.modules.items())
        if name.startswith("heliograph.") and getattr(module, "time", None) is time
    ]


@contextmanager
def in_place(world: World) -> Iterator[None]:
    """Everything is as it was afterwards; log lines of the run are kept in its history."""
    logger = logging.getLogger("heliograph")
    listener = _Listener(world)
    with pytest.MonkeyPatch.context() as patch:
        for module in clocked():
            patch.setattr(module, "time", world.clock)
        for module in _WAITING:
            patch.setattr(module, "wait", partial(_wait, world))
        patch.setattr(backoff, "random", Random(world.rng.random()))
        for module in (loop, offset_syncs):
            patch.setattr(module, "BackgroundWriter", partial(SimulatedBackgroundWriter, world))
        patch.setattr(target_loss, "LogTail", partial(SimulatedLogTail, world))
        _simulate_driver(world, patch)
        _listen(world, patch)
        patch.setattr(logger, "propagate", False)
        logger.addHandler(listener)
        try:
            yield
        finally:
            logger.removeHandler(listener)


class _Listener(logging.Handler):
    def __init__(self, world: World) -> None:
        super().__init__(logging.WARNING)
        self._world = world

    def emit(self, record: logging.LogRecord) -> None:
        self._world.note(f"{record.levelname} {record.getMessage()}")


def _wait(world: World, connections: Iterable[object], seconds: float) -> None:
    world.clock.now += world.rng.choice((0.0, 0.01, 0.02, min(seconds, _LONGEST_WAIT)))


def _simulate_driver(world: World, patch: pytest.MonkeyPatch) -> None:
    """Topics are there; what the driver reads is the world's."""
    patch.setattr(observed_flow, "ensure_internal_topic", lambda *_: None)
    patch.setattr(observed_flow, "sync_topics", lambda *_: TOPICS)
    patch.setattr(offsets, "read_newest", partial(read_offsets_topic, world))
    for module in (producer_snapshots, statuses):
        patch.setattr(module, "read_compacted", partial(read_state_topic, world))


def _listen(world: World, patch: pytest.MonkeyPatch) -> None:
    """What the mirror logs: gaps, and from which source offset on it copies at least once."""
    recovery = producer_recovery.ProducerRecovery
    fall_back, report = recovery.fall_back_to_at_least_once, partition.Partition.report_gap
    count = partition_gaps.PartitionGaps.count

    def fell_back(self: Any, copy: partition.Partition, *args: Any, **named: Any) -> None:
        fall_back(self, copy, *args, **named)
        world.fallbacks.append(Fallback(copy.acked, world.moment()))

    def reported(self: partition.Partition, gap: Gap) -> None:
        report(self, gap)
        world.gaps.append(LoggedGap(gap, world.moment()))

    def counted(self: partition_gaps.PartitionGaps, gap: Gap) -> None:
        count(self, gap)
        world.gaps.append(LoggedGap(gap, world.moment()))

    def resumed(*args: Any) -> Resumption:
        found = resumption(*args)
        if found.by_stored and not isinstance(world, TransactionalWorld):
            world.happened["stored offset obeyed"] += 1
            world.fallbacks.append(Fallback(found.start or 0, world.moment()))
        return found

    patch.setattr(recovery, "fall_back_to_at_least_once", fell_back)
    patch.setattr(partition.Partition, "report_gap", reported)
    patch.setattr(partition_gaps.PartitionGaps, "count", counted)
    patch.setattr(resume_points, "resumption", resumed)
