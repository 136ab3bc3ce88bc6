"""The streaming query that runs the copy of all flows on Spark: an epoch is a micro-batch."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from heliograph.config.mirror_config import FlowSetup
from heliograph.counted import counted
from heliograph.errors import HeliographError
from heliograph.model import Lease
from heliograph.spark.assignments import ENDED_DDL, LeaseStream, Producers
from heliograph.spark.failures import broken_classes, cause_in_full, cause_of
from heliograph.spark.task import Copy

log = logging.getLogger(__name__)

#: Spark's checkpoint: each micro-batch writes two small files, whose content is not needed. A folder in
#: memory makes the change of epoch faster.
_FAST_FOLDER = Path("/dev/shm")

#: How long to wait for the error of a query that has ended.
_MOMENT_SECONDS = 0.1


_QUERIES = count(1)
_JOB_DESCRIPTION = "spark.job.description"
#: Spark's UI shows the whole description of a job in its list.
_MOST_NAMED = 5


class QueryFailed(HeliographError):
    """The streaming query failed: a task, its worker or its executor was lost."""

    retriable = True


class SparkLost(QueryFailed):
    """Spark's driver, the JVM, does not answer."""


class TasksCannotRun(QueryFailed):
    """No attempt of a task can succeed: a class of Spark cannot be set up with this Java or these jars."""

    retriable = False


@contextmanager
def _in_our_words() -> Iterator[None]:
    from py4j.protocol import Py4JError, Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JJavaError) as e:
        if (reason := broken_classes(e)) is not None:
            raise TasksCannotRun(reason) from e
        raise QueryFailed(f"Spark query failed: {cause_in_full(e)}") from e
    except (Py4JError, OSError) as e:
        raise SparkLost(f"Spark's JVM does not answer: {cause_of(e)}") from e


class CopyQuery:
    """`returned(epoch)` is called in Spark's callback thread when all tasks of an epoch have ended. It must
    not block."""

    def __init__(self, spark: Any, slots: int, copy: Copy, returned: Callable[[int], None]) -> None:
        """Like all methods, raises QueryFailed."""
        self._returned = returned
        self._query: Any = None
        self._context = spark.sparkContext
        self._description = ""
        with _in_our_words():
            self._leases = LeaseStream(spark, slots, copy.seal_key)
            self._result = _map_in_arrow(self._leases.to_df(spark), copy, ENDED_DDL)
        fast = _FAST_FOLDER if os.access(_FAST_FOLDER, os.W_OK) else None
        self._checkpoint = tempfile.mkdtemp(prefix="heliograph-", dir=fast)

    def start(self, *, once: bool) -> None:
        """Run epochs as their leases are added; with `once`, only those added so far (availableNow)."""
        writer = (
            # Two queries of one name may not run in one session; a lost one may not have ended yet.
            self._result.writeStream.queryName(f"heliograph copy {next(_QUERIES)}")
            .foreachBatch(self._on_batch)
            .option("checkpointLocation", self._checkpoint)
        )
        with _in_our_words():
            self._query = (writer.trigger(availableNow=True) if once else writer).start()

    def add(
        self,
        epoch: int,
        tasks: Sequence[Sequence[Lease]],
        setups: Sequence[FlowSetup] = (),
        producers: Sequence[Producers] = (),
    ) -> None:
        """`setups` are those of the flows; `producers`, by task, those of exactly-once flows. Without leases
        the tasks return at once, which starts their workers."""
        with _in_our_words():
            # Before the leases, whose micro-batch may begin at once.
            self._description = described(epoch, tasks)
            self._leases.add(epoch, tasks, setups, producers)

    def has_ended(self) -> bool:
        """Raises QueryFailed if it failed."""
        with _in_our_words():
            if self._query.isActive:
                return False
            return bool(self._query.awaitTermination(_MOMENT_SECONDS))

    def settle_all(self) -> None:
        """Wait until every epoch added so far is settled."""
        self._query.processAllAvailable()

    def stop(self) -> None:
        try:
            with _in_our_words():
                if self._query is not None:
                    self._query.stop()
        except SparkLost as e:
            log.debug("%s", e)  # the query ended with the JVM
        shutil.rmtree(self._checkpoint, ignore_errors=True)

    def _on_batch(self, result: Any, _batch_id: int) -> None:
        # A call from this thread runs in the query's own thread in the JVM, which starts the job.
        self._context.setLocalProperty(_JOB_DESCRIPTION, self._description)
        for epoch in {row.epoch for row in result.collect()}:  # none if it only started the workers
            self._returned(epoch)


def described(epoch: int, tasks: Sequence[Sequence[Lease]]) -> str:
    """What Spark's UI shows for the job of an epoch."""
    leases = [lease for its in tasks for lease in its]
    if not leases:
        return "heliograph: starting the tasks' workers"
    flows = sorted({lease.flow for lease in leases})
    named = ", ".join(flows[:_MOST_NAMED])
    more = (
        f" and {counted(len(flows) - _MOST_NAMED, 'more flow')}" if len(flows) > _MOST_NAMED else ""
    )
    return f"heliograph epoch {epoch:,}: {named}{more}; {counted(len(leases), 'partition')}"


def _map_in_arrow(rows: Any, function: Copy, schema: str) -> Any:
    """`DataFrame.mapInArrow` without its import of pandas, which is not needed for Arrow rows.

    Without pandas a worker starts 0.4 s earlier and needs 40 MB less.
    """
    from pyspark.sql import DataFrame
    from pyspark.sql.pandas.functions import vectorized_udf  # type: ignore[attr-defined]
    from pyspark.util import PythonEvalType

    udf = vectorized_udf(function.__call__, schema, PythonEvalType.SQL_MAP_ARROW_ITER_UDF)
    column = udf(*(rows[name] for name in rows.columns))
    return DataFrame(rows._jdf.mapInArrow(column._jc, False, None), rows.sparkSession)
