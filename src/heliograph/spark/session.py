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

from heliograph.counted import counted
from heliograph.errors import EnvironmentProblem
from heliograph.plan.spark.master import Kind, parse_master
from heliograph.plan.spark.protection import Protection, is_local, protection
from heliograph.plan.spark.settings import SparkSettings, effective, overruled, without_effect
from heliograph.spark.failures import root_cause, with_remedy
from heliograph.spark.jvm import Jvm, environment
from heliograph.spark.launcher import Launcher
from heliograph.spark.preflight import check_master

log = logging.getLogger(__name__)

_REGISTER_SECONDS = 10.0
#: Executors of one application start together: after this long without another, no more are expected.
_LAST_EXECUTOR_SECONDS = 3.0
#: How long lost executors may take to be replaced, before the copy continues without them.
_REPLACE_SECONDS = 5.0
_DRIVER = "driver"
_CORES_MAX = "spark.cores.max"
_NO_SETTINGS = SparkSettings()


class LocalSpark:
    """Spark on this machine. The number of task slots is independent of the cores: tasks mostly wait for I/O.

    Starts in the background, while the driver reads offsets and creates topics; `session` waits for it.
    """

    driver_host = "127.0.0.1"
    protection = Protection(master="local", local=True, authenticates=True)

    def __init__(
        self,
        slots: int,
        jvm_flags: tuple[str, ...] = (),
        users: SparkSettings = _NO_SETTINGS,
    ) -> None:
        self.slots = slots
        self._jvm_flags = jvm_flags
        self._users = users
        for line in without_effect(users):
            log.warning("%s", line)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="spark-start")
        self._launch()

    def ready(self, seconds: float) -> bool:
        """Wait at most this long; if true, `session` returns at once."""
        return bool(wait([self._session], seconds).done)

    def session(self) -> Any:
        return self._session.result()

    @property
    def started(self) -> Any | None:
        """The session, if there is one at the moment."""
        done = self._session.done() and self._session.exception() is None
        return self._session.result() if done and self._jvm.running else None

    @property
    def lost_slots(self) -> int:
        return 0

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
        self._jvm = Jvm(self._jvm_flags, self._users)
        self._session: Future[Any] = self._pool.submit(self._start)

    def _start(self) -> Any:
        with self._jvm.gateway():
            return _build(f"local[{self.slots}]", self._users)


class ClusterSpark:
    """Spark on a cluster, started by Spark's own launcher with the user's Spark configuration.

    The leases of a task that waits for a core are not copied, so there are never more tasks than cores.
    """

    def __init__(self, master: str, slots: int, users: SparkSettings = _NO_SETTINGS) -> None:
        """Raises ConfigError for a master that Spark cannot use, EnvironmentProblem if it does not answer."""
        self.driver_host = "127.0.0.1" if is_local(master) else os.uname().nodename
        self._users = users
        self._launcher: Launcher | None = None
        self._master = master
        self._wanted = slots
        self._protection: Protection | None = None
        self._session: Any = self._connect()

    def ready(self, seconds: float) -> bool:
        """Always true: the constructor connects, and `session` reconnects in the caller's thread."""
        return True

    @property
    def started(self) -> Any | None:
        """The session, if there is one at the moment."""
        return self._session

    @property
    def lost_slots(self) -> int:
        """Slots that were asked for and that no executor has."""
        return max(self._wanted - self.slots, 0)

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
        check_master(self._master, os.environ)
        master = parse_master(self._master)
        standalone = len(master.addresses) if master.kind is Kind.STANDALONE else 0
        self._launcher = Launcher(self._users, standalone)
        self._session = _build(self._master, self._users, self._launcher, cores=self._wanted)
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
            if self._launcher is not None:
                self._launcher.close()
            self._session = None
        else:
            self.slots = self._cores(_REPLACE_SECONDS)

    def close(self) -> None:
        if self._session is not None:
            self._session.stop()
        if self._launcher is not None:
            self._launcher.close()
        _forget_jvm()

    def _cores(self, patience: float) -> int:
        """The cores of the executors that register within `patience` seconds: those that are needed, or those
        that a smaller cluster has."""
        now = last = time.monotonic()
        deadline, cores = now + patience, 0
        while now < deadline and (found := self._registered()) < self._wanted:
            if found > cores:
                cores, last = found, now
            if cores and now > last + _LAST_EXECUTOR_SECONDS:
                break
            time.sleep(0.2)
            now = time.monotonic()
        cores = self._registered()
        if not cores:
            log.warning(
                "Spark at %s: no executor has registered within %.0f s; the copy waits for one: check "
                "that its workers run, with free cores and memory enough (spark.executor.memory)",
                self._master,
                patience,
            )
        slots = max(min(self._wanted, cores), 1)
        log.info("Spark at %s: %s", self._master, counted(slots, "task slot"))
        return slots

    def _registered(self) -> int:
        # Not defaultParallelism: it is 2 also for a single core, and the second task would wait for ever.
        executors = self._session.sparkContext._jsc.sc().statusStore().executorList(True)
        found = [executors.apply(number) for number in range(executors.size())]
        own = [each for each in found if each.id() != _DRIVER] or found
        return sum(int(each.totalCores()) for each in own)


def _build(
    master: str, users: SparkSettings, launcher: Launcher | None = None, cores: int | None = None
) -> Any:
    """Without a `launcher` the JVM runs already. `cores` limits what a standalone master assigns, which by
    default is all it has. Raises EnvironmentProblem."""
    os.environ.update(environment())
    if is_local(master):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # its UI would listen on all addresses
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        if launcher is not None:
            launcher.launch()
        spark = _session(master, users, cores)
        spark.sparkContext.setLogLevel("ERROR" if launcher is None else "WARN")
    except (Py4JError, PySparkException, OSError) as e:
        log.debug("Spark at %s did not start", master, exc_info=True)
        reason = (launcher and launcher.reason) or root_cause(e)
        if launcher is not None:
            launcher.close()
        _forget_jvm()
        raise EnvironmentProblem(
            f"Spark at {master} did not start: {with_remedy(reason)}"
        ) from None
    if launcher is not None:
        launcher.started()
    if spark.sparkContext.uiWebUrl is not None:
        log.info("Spark's UI: %s", spark.sparkContext.uiWebUrl)
    # The loss of the JVM is handled elsewhere; this server would print a traceback.
    spark.sparkContext._accumulatorServer.handle_error = _on_accumulators_lost
    return spark


def _session(master: str, users: SparkSettings, cores: int | None) -> Any:
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    SparkContext._ensure_initialized()  # the JVM reads Spark's own configuration
    found, local = dict(SparkConf().getAll()), is_local(master)
    for line in overruled({**found, **users.settings}, local=local):
        log.warning("%s", line)
    builder = SparkSession.builder.master(master)
    for key, value in effective(users, local=local).items():
        builder = builder.config(key, value)
    if cores is not None and _CORES_MAX not in {**found, **users.settings}:
        builder = builder.config(_CORES_MAX, cores)
    return builder.getOrCreate()


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
