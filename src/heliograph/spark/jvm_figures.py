"""Reads memory, threads and garbage collections of Spark's driver JVM, every few seconds in a thread."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from heliograph.metrics.snapshot import JvmFigures

log = logging.getLogger(__name__)

_SECONDS = 10.0


class JvmWatch:
    """`session` gives the current Spark session, or None. A JVM that does not answer holds up this thread
    only; then `figures` stays as it was, and is None once the call has failed."""

    def __init__(self, session: Callable[[], Any | None]) -> None:
        self.figures: JvmFigures | None = None
        self._session = session
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="jvm-figures", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.is_set():
            session = self._session()
            self.figures = None if session is None else _read(session)
            self._stop.wait(1.0 if self.figures is None else _SECONDS)


def _read(session: Any) -> JvmFigures | None:
    from py4j.protocol import Py4JError

    try:
        management = session.sparkContext._jvm.java.lang.management.ManagementFactory
        memory = management.getMemoryMXBean()
        return JvmFigures(
            memory={
                "heap": int(memory.getHeapMemoryUsage().getUsed()),
                "nonheap": int(memory.getNonHeapMemoryUsage().getUsed()),
            },
            threads=int(management.getThreadMXBean().getThreadCount()),
            collections={
                str(each.getName()): (
                    int(each.getCollectionCount()),
                    int(each.getCollectionTime()) / 1000,
                )
                for each in management.getGarbageCollectorMXBeans()
            },
        )
    except (Py4JError, OSError, AttributeError) as e:
        # AttributeError: the session was stopped meanwhile, and has no context any more.
        log.debug("Spark's JVM: %s", e)
        return None
