"""Puts a world in place of sockets, threads and clocks, for as long as a run lasts."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from random import Random
from typing import Any

import pytest

from heliograph.client.admin import topics as admin
from heliograph.client.fetch import fetcher, log_reader
from heliograph.client.net import backoff
from heliograph.client.produce import producer, send_queues
from heliograph.copy import (
    at_least_once,
    cluster_retry,
    log_gaps,
    loop,
    partition,
    producer_recovery,
    producers,
    quarantine,
    subscription,
    target_events,
    target_loss,
)
from heliograph.copy.bookkeeping import offset_store, offset_syncs
from heliograph.runtime import log_gaps as service_gaps
from simulation.state_topic import SimulatedBackgroundWriter, SimulatedLogTail
from simulation.world import World

_CLOCKED = (admin, at_least_once, cluster_retry, fetcher, log_gaps, log_reader, loop, offset_store,
            offset_syncs, producer, producer_recovery, producers, quarantine, send_queues,
            service_gaps, subscription, target_events)  # fmt: skip
_WAITING = (log_reader, loop, producers)
_LONGEST_WAIT = 0.1


@contextmanager
def in_place(world: World) -> Iterator[None]:
    """Everything is as it was afterwards; log lines of the run are kept in its history."""
    logger = logging.getLogger("heliograph")
    listener = _Listener(world)
    with pytest.MonkeyPatch.context() as patch:
        for module in _CLOCKED:
            patch.setattr(module, "time", world.clock)
        for module in _WAITING:
            patch.setattr(module, "wait", partial(_wait, world))
        patch.setattr(backoff, "random", Random(world.rng.random()))
        for module in (loop, offset_syncs):
            patch.setattr(module, "BackgroundWriter", partial(SimulatedBackgroundWriter, world))
        patch.setattr(target_loss, "LogTail", partial(SimulatedLogTail, world))
        patch.setattr(
            producer_recovery.ProducerRecovery,
            "fall_back_to_at_least_once",
            _heard(world, producer_recovery.ProducerRecovery.fall_back_to_at_least_once),
        )
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


def _heard(world: World, doubt: Any) -> Any:
    """A doubt as a user hears of it: from which source offset on records may stand twice."""

    def heard(
        self: producer_recovery.ProducerRecovery,
        copy: partition.Partition,
        *args: Any,
        **named: Any,
    ) -> None:
        doubt(self, copy, *args, **named)
        world.fallbacks.append(copy.acked)

    return heard
