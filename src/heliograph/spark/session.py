"""Starts a Spark session, and replaces it when its JVM is lost.

For a local Spark the JVM is started by `jvm.py`: no records pass through it, so a small one that starts fast
is enough. For any other master Spark's own launcher is used, with the user's Spark configuration.
"""

from __future__ import annotations

import logging
import os
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from heliograph.errors import EnvironmentProblem
from heliograph.plan.spark_protection import Protection, is_local, protection
from heliograph.spark.jvm import Jvm, environment

log = logging.getLogger(__name__)

_REGISTER_SECONDS = 10.0
#: How long lost executors may take to be replaced, before the copy continues without them.
_REPLACE_SECONDS = 5.0
_DRIVER = "driver"
_CORES_MAX = "spark.cores.max"

#: A second attempt of a task cannot know what the first one did, and is refused (`plan/grants.py`): the
#: driver observes the clusters, and plans a new epoch. A speculative attempt would be refused while the first
#: one runs. Stage retries need no setting, as there is no shuffle; nor does decommissioning, since the
#: attempt that follows it is refused as after the loss of a node.
_ONE_ATTEMPT = {"spark.task.maxFailures": "1", "spark.speculation": "false"}

_SETTINGS = {
    "spark.app.name": "heliograph",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.streaming.metricsEnabled": "false",
    # One row per task and epoch: generating code takes longer than interpreting.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.python.worker.reuse": "true",
    # A task may return nothing for an hour.
    "spark.python.worker.idleTimeoutSeconds": "0",
    **_ONE_ATTEMPT,
    # Start a new epoch as soon as its leases are added.
    "spark.sql.streaming.pollingDelay": "10ms",
}
_LOCAL_SETTINGS = {
    # Other users of this machine can reach its ports. Spark makes the secret, which stays in its process.
    "spark.authenticate": "true",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


class LocalSpark:
    """Spark on this machine. The number of task slots is independent of the cores: tasks mostly wait for I/O.

    Starts in the background, while the driver reads offsets and creates topics; `session` waits for it.
    """

    driver_host = "127.0.0.1"
    protection = Protection(master="local", local=True, authenticates=True)

    def __init__(self, slots: int, jvm_flags: tuple[str, ...] = ()) -> None:
        self.slots = slots
        self._jvm_flags = jvm_flags
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="spark-start")
        self._launch()

    def ready(self, seconds: float) -> bool:
        """Wait at most this long; if true, `session` returns at once."""
        return bool(wait([self._session], seconds).done)

    def session(self) -> Any:
        return self._session.result()

    def recover(self, *, lost: bool) -> None:
        """After a failure: replace the JVM if it is `lost` or has ended."""
        if not lost and self._jvm.running:
            return
        log.error("lost Spark's JVM (%s); starting another", self._jvm.fate)
        _forget_jvm()
        self._jvm.close(patience=0.0)
        self._launch()

    def close(self, patience: float = 2.0) -> None:
        """Stop Spark, then its JVM. A session that is still starting is killed with the JVM, at once."""
        started = self._session.done() and self._session.exception() is None
        if started and self._jvm.running:
            self._session.result().stop()
        self._jvm.close(patience if started else 0.0)
        self._pool.shutdown(cancel_futures=True)

    def _launch(self) -> None:
        self._jvm = Jvm(self._jvm_flags)
        self._session: Future[Any] = self._pool.submit(self._start)

    def _start(self) -> Any:
        with self._jvm.gateway():
            return _build(f"local[{self.slots}]", {**_SETTINGS, **_LOCAL_SETTINGS})


class ClusterSpark:
    """Spark on a cluster, started by Spark's own launcher with the user's Spark configuration.

    The leases of a task that waits for a core are not copied, so there are never more tasks than cores.
    """

    def __init__(self, master: str, slots: int) -> None:
        local = is_local(master)
        self.driver_host = "127.0.0.1" if local else os.uname().nodename
        self._settings = {**_SETTINGS, **_LOCAL_SETTINGS} if local else _SETTINGS
        self._master = master
        self._wanted = slots
        self._protection: Protection | None = None
        self._session: Any = self._connect()

    def ready(self, seconds: float) -> bool:
        """Always true: the constructor connects, and `session` reconnects in the caller's thread."""
        return True

    def session(self) -> Any:
        if self._session is None:
            self._session = self._connect()
        return self._session

    @property
    def protection(self) -> Protection:
        """How data sent to its executors is protected; never weaker than in its first session."""
        assert self._protection is not None  # set by the first `_connect`
        return self._protection

    def _connect(self) -> Any:
        self._session = _build(self._master, self._settings, "WARN", cores=self._wanted)
        self._hold_to_protection()
        self.slots = self._cores(_REGISTER_SECONDS)
        return self._session

    def _hold_to_protection(self) -> None:
        """Each JVM reads Spark's configuration again, but flows were permitted by what the first one read."""
        conf = self._session.sparkContext.getConf()
        now = protection(self._master, conf.get)
        if self._protection is not None and now.weaker_than(self._protection):
            self.close()
            self._session = None
            raise EnvironmentProblem(
                f"Spark at {self._master}: expected {now.missing}, as it was when this service started, "
                f"found {now.found}; restore it in Spark's configuration, or restart the service"
            )
        self._protection = now

    def recover(self, *, lost: bool) -> None:
        """After a failure: count the executors' slots again; a `lost` JVM is replaced by the next call of
        `session`."""
        if lost:
            log.error("lost Spark's driver JVM; starting another")
            _forget_jvm()
            self._session = None
        else:
            self.slots = self._cores(_REPLACE_SECONDS)

    def close(self) -> None:
        if self._session is not None:
            self._session.stop()

    def _cores(self, patience: float) -> int:
        """The cores of the executors that register within `patience` seconds."""
        deadline = time.monotonic() + patience
        while (cores := self._registered()) < self._wanted and time.monotonic() < deadline:
            time.sleep(0.2)
        slots = max(min(self._wanted, cores), 1)
        log.info("Spark at %s: %d task slots", self._master, slots)
        return slots

    def _registered(self) -> int:
        # Not defaultParallelism: it is 2 also for a single core, and the second task would wait for ever.
        executors = self._session.sparkContext._jsc.sc().statusStore().executorList(True)
        found = [executors.apply(number) for number in range(executors.size())]
        own = [each for each in found if each.id() != _DRIVER] or found
        return sum(int(each.totalCores()) for each in own)


def _build(
    master: str, settings: dict[str, str], log_level: str = "ERROR", cores: int | None = None
) -> Any:
    """`cores` limits what a standalone master assigns, which by default is all it has. Raises
    EnvironmentProblem."""
    os.environ.update(environment())
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master)
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        if cores is not None:
            SparkContext._ensure_initialized()  # the JVM reads the user's configuration
            users = SparkConf()
            _name_overridden(users)
            if not users.contains(_CORES_MAX):
                builder = builder.config(_CORES_MAX, cores)
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel(log_level)
    except (Py4JError, PySparkException, OSError) as e:
        reason = " ".join(str(e).splitlines()[:2])
        raise EnvironmentProblem(f"Spark at {master} did not start: {reason}") from e
    # The loss of the JVM is handled elsewhere; this server would print a traceback.
    spark.sparkContext._accumulatorServer.handle_error = _on_accumulators_lost
    return spark


def _name_overridden(users: Any) -> None:
    """Warn if the user's Spark configuration allows more than one attempt of a task."""
    for name, ours in _ONE_ATTEMPT.items():
        if (theirs := users.get(name, ours)) != ours:
            log.warning(
                "Spark setting %s=%s is overridden with %s: a task is never run twice with the same leases",
                name,
                theirs,
                ours,
            )


def _on_accumulators_lost(*_: Any) -> None:
    log.debug("Spark's accumulators: connection lost", exc_info=True)


def _forget_jvm() -> None:
    """pyspark keeps its JVM in class attributes, and would use the lost one for ever."""
    from py4j.protocol import Py4JError
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    context, gateway = SparkContext._active_spark_context, SparkContext._gateway
    if context is not None and context._accumulatorServer is not None:
        context._accumulatorServer.shutdown()
    if gateway is not None:
        try:
            gateway.shutdown()
        except (Py4JError, OSError) as e:
            log.debug("Spark's gateway: %s", e)
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None
