"""The code of a Spark task: takes its leases, copies until the epoch ends, and sends receipts.

Runs in the executors' Python workers. Spark keeps workers alive between epochs, and this module keeps
their cluster clients, so that connections are reused.
"""

from __future__ import annotations

import threading
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.transactions import Coordinator, Transaction
from heliograph.config.client_ids import ClientRole, client_id
from heliograph.config.mirror_config import ExactlyOnce, FlowConfig, FlowSetup
from heliograph.copy.loop import CopyLoop
from heliograph.machine.memory import resident_bytes
from heliograph.measured import TaskReport
from heliograph.mm2.connect.transactional_ids import task_transactional_id
from heliograph.model import ClientKind, Lease, Receipt
from heliograph.plan.grants import Hello
from heliograph.security import Secret
from heliograph.spark.assignments import TaskAssignment, read_assignment, write_ended
from heliograph.spark.control_channel import TaskChannel

if TYPE_CHECKING:
    from heliograph.copy.lane.chain import Chain

_REPORT_SECONDS = 1.0
_POLL_SECONDS = 0.2
#: Receipts are requested one poll before they are taken: a copy loop normally has them by then.
_ASK_AT = round(_REPORT_SECONDS / _POLL_SECONDS) - 1
_JOIN_SECONDS = 0.05
#: Request timeout of the probe client: partitions of other brokers wait for it.
_LOOK_SECONDS = 5.0
#: How long a copy loop's thread waits for a coordinator at a time; it retries.
_COORDINATOR_SECONDS = 1.0

#: This worker's clients by flow and purpose, each with its connector's name. Only one task runs in a worker
#: at a time.
_clients: dict[tuple[str, str], tuple[ClusterClient, str]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """The function for `mapInArrow`: small, immutable, pickled into every task."""

    driver: tuple[str, int]
    channel_key: Secret
    seal_key: Secret
    patience_seconds: float

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for text in batch.column(0).to_pylist():
                assignment = read_assignment(text, self.seal_key)
                if assignment.leases:
                    self._run(assignment)
                    yield write_ended(assignment)

    def _run(self, assignment: TaskAssignment) -> None:
        """Raises LeaseRefused, before anything is copied, if this is not the task's first attempt: then the
        query fails, and the driver observes the clusters before it plans a new epoch."""
        hello = Hello(assignment.epoch, assignment.task, _attempt())
        channel = TaskChannel(self.driver, self.channel_key, hello)
        try:
            with channel.forwarding_logs():
                self._copy(assignment, channel)
        finally:
            channel.close()

    def _copy(self, assignment: TaskAssignment, channel: TaskChannel) -> None:
        setups = {setup.flow.name: setup for setup in assignment.setups}
        _forget_clients(assignment.running)
        runs = []
        for name, leases in _by_flow(assignment.leases).items():
            stop = threading.Event()
            loop = self._loop(setups[name], assignment, leases, stop, channel)
            runs.append(_Run(loop, stop))
        for run in runs:
            run.start()
        try:
            _attend(runs, channel)
        finally:
            _await_loops(runs, channel)
            # Taken only once: ranges of the offset map are in one receipt only.
            receipts = [receipt for run in runs for receipt in run.loop.receipts()]
            channel.report(receipts)
            channel.report_tasks(_reports(runs))
            for run in runs:
                _disconnect_if_troubled(run, receipts)
        for run in runs:
            if run.failure is not None:
                raise run.failure
        channel.say_done()

    def _loop(
        self,
        setup: FlowSetup,
        assignment: TaskAssignment,
        leases: list[Lease],
        stop: threading.Event,
        channel: TaskChannel,
    ) -> CopyLoop:
        flow = setup.flow
        name, task = flow.connector_name, assignment.task
        # MM2's and Connect's client ids, which brokers log and quotas name.
        role = ClientRole.REPLICATION_CONSUMER
        consumer = client_id(flow.source, flow.target, name, task=task, role=role)
        producer = f"connector-producer-{name}-{task}"
        transaction = None
        if flow.exactly_once is not None:
            client = _client(setup, "coordinator", producer, stop, _LOOK_SECONDS)
            client.stopped = lambda: False  # needed after the stop, to end the last transaction
            coordinator = _coordinator(flow, flow.exactly_once, task, client)
            transaction = Transaction(coordinator, assignment.producers[flow.name])
        return CopyLoop(
            flow,
            leases,
            source=_client(setup, "source", consumer, stop),
            target=_client(setup, "target", producer, stop),
            probe_client=_client(setup, "probe", f"{producer}-probe", stop, _LOOK_SECONDS),
            offsets=_offsets_client(setup, producer, stop),
            stopped=stop.is_set,
            lapsed=lambda: channel.lapsed,
            patience_seconds=self.patience_seconds,
            transaction=transaction,
            chain=chain_of(flow),
        )


class _Run(threading.Thread):
    """One flow's copy loop in a thread of its own, so that a flow that waits does not delay another."""

    def __init__(self, loop: CopyLoop, stop: threading.Event) -> None:
        super().__init__(name=loop.flow.name, daemon=True)
        self.loop = loop
        self.stop = stop
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            self.loop.run()
        except BaseException as e:  # noqa: BLE001 - raised again in the task's thread, for Spark
            self.failure = e


def _disconnect_if_troubled(run: _Run, receipts: Iterable[Receipt]) -> None:
    """Connections are kept for the next epoch unless there was an error: some may be half-open then, and each
    would cost a timeout."""
    name = run.loop.flow.name
    own = [receipt for receipt in receipts if receipt.flow == name]
    calm = run.failure is None and not run.loop.interrupted
    if calm and all(r.stored and r.error is None for r in own):
        return
    for key in [key for key in _clients if key[0] == name]:
        client, _ = _clients.pop(key)
        client.close()


def chain_of(flow: FlowConfig) -> Chain | None:
    """Imported for flows with a lane only: numpy takes a tenth of a second of each task's start."""
    if flow.lane is None:
        return None
    from heliograph.spark.lane_chain import load_chain

    return load_chain(flow.lane)


def _attend(runs: list[_Run], channel: TaskChannel) -> None:
    """Send receipts while the copy loops run, and end the flows that the driver ends."""
    ticks = 0
    while any(run.is_alive() for run in runs):
        if any(run.failure for run in runs):
            return
        channel.wait(_POLL_SECONDS)
        if channel.ended or channel.lapsed:
            return
        for run in runs:
            if run.loop.flow.name in channel.ended_flows:
                run.stop.set()
            if (share := channel.shares.pop(run.loop.flow.name, None)) is not None:
                run.loop.set_rate_share(share)
        ticks += 1
        phase = ticks % round(_REPORT_SECONDS / _POLL_SECONDS)
        if phase == 0:
            channel.report(receipt for run in runs for receipt in run.loop.receipts())
            channel.report_tasks(_reports(runs))
        elif phase == _ASK_AT:
            for run in runs:
                run.loop.ask_for_receipts()


def _reports(runs: Iterable[_Run]) -> list[TaskReport]:
    memory = resident_bytes()
    found = [report for run in runs if (report := run.loop.report()) is not None]
    return [replace(report, memory_bytes=memory) for report in found]


def _await_loops(runs: list[_Run], channel: TaskChannel) -> None:
    """Wait until the copy loops have finished; the channel still confirms the leases meanwhile."""
    for run in runs:
        run.stop.set()
    for run in runs:
        while run.is_alive():
            run.join(_JOIN_SECONDS)
            channel.wait(0.0)


def _attempt() -> str:
    """Spark's id of this task attempt, unique in this driver."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return str(context.taskAttemptId())


def _client(
    setup: FlowSetup,
    purpose: str,
    client_id: str,
    stop: threading.Event,
    timeout: float = 30.0,
) -> ClusterClient:
    from_source = purpose == "source"
    config = {"source": setup.source, "offsets": setup.offsets}.get(purpose, setup.target)
    config = config.for_client(ClientKind.CONSUMER if from_source else ClientKind.PRODUCER)
    key = (setup.flow.name, purpose)
    connector = setup.flow.connector_name
    client, its_connector = _clients.get(key, (None, ""))
    # The client id is not compared: it has the number of the task, which changes with each epoch.
    if client is not None and (client.config, its_connector) != (config, connector):
        client.close()
        client = None
    if client is None:
        client = ClusterClient(config, client_id=client_id, timeout=timeout)
        _clients[key] = client, connector
    client.stopped = stop.is_set
    return client


def _offsets_client(setup: FlowSetup, producer: str, stop: threading.Event) -> ClusterClient | None:
    if setup.flow.offsets_alias == setup.flow.target:
        return None
    return _client(setup, "offsets", f"{producer}-offsets", stop)


def _forget_clients(running: Container[str]) -> None:
    """Close clients of flows that no task copies."""
    for flow, purpose in [key for key in _clients if key[0] not in running]:
        client, _ = _clients.pop((flow, purpose))
        client.close()


def _by_flow(leases: Iterable[Lease]) -> dict[str, list[Lease]]:
    flows: dict[str, list[Lease]] = {}
    for lease in leases:
        flows.setdefault(lease.flow, []).append(lease)
    return flows


def _coordinator(
    flow: FlowConfig, exactly_once: ExactlyOnce, task: int, client: ClusterClient
) -> Coordinator:
    return Coordinator(
        client,
        task_transactional_id(flow.group_id, flow.connector_name, task),
        timeout_ms=exactly_once.timeout_ms,
        patience=_COORDINATOR_SECONDS,
    )
