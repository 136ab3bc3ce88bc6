"""What a Spark task does: take its leases, copy until the epoch ends, give receipts.

Runs in the executors' Python workers. Spark keeps workers alive between epochs, and this module keeps
their cluster clients: connections survive from one epoch to the next.
"""

from __future__ import annotations

import threading
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from heliograph.client.net.cluster import ClusterClient
from heliograph.client.produce.transactions import Coordinator, Transaction
from heliograph.config.client_ids import ClientRole, client_id
from heliograph.config.mirror_config import ExactlyOnce, FlowConfig, FlowSetup
from heliograph.copy.loop import CopyLoop
from heliograph.mm2.connect.transactional_ids import task_transactional_id
from heliograph.model import ClientKind, Lease, Receipt
from heliograph.plan.grants import Hello
from heliograph.security import Secret
from heliograph.spark.assignments import TaskAssignment, read_bundle, write_ended
from heliograph.spark.control_channel import TaskChannel

_REPORT_SECONDS = 1.0
_POLL_SECONDS = 0.2
#: Receipts are asked for one poll before they are taken: a copy loop that is not held up has them by then.
_ASK_AT = round(_REPORT_SECONDS / _POLL_SECONDS) - 1
_JOIN_SECONDS = 0.05
#: A broker that does not answer for so long is looked at later; meanwhile the others' partitions go on.
_LOOK_SECONDS = 5.0
#: How long a copy loop's thread waits for a coordinator in one go; it comes back to it.
_COORDINATOR_SECONDS = 1.0

#: This worker's clients, by flow and purpose, each with the connector that it was made for. Only one task
#: runs in a worker at a time.
_clients: dict[tuple[str, str], tuple[ClusterClient, str]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """The function of `mapInArrow`: small, immutable, pickled into every task."""

    driver: tuple[str, int]
    channel_key: Secret
    seal_key: Secret
    patience_seconds: float

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for text in batch.column(0).to_pylist():
                bundle = read_bundle(text, self.seal_key)
                if bundle.leases:
                    self._run(bundle)
                    yield write_ended(bundle)

    def _run(self, bundle: TaskAssignment) -> None:
        """Raises LeaseRefused, before anything is done, if this is not the task's first attempt: Spark gives
        up on the epoch then, and the mirror looks at the clusters before it leases anew."""
        hello = Hello(bundle.epoch, bundle.task, _attempt())
        channel = TaskChannel(self.driver, self.channel_key, hello)
        try:
            with channel.forwarding_logs():
                self._copy(bundle, channel)
        finally:
            channel.close()

    def _copy(self, bundle: TaskAssignment, channel: TaskChannel) -> None:
        setups = {setup.flow.name: setup for setup in bundle.setups}
        _forget_clients(bundle.running)
        runs = []
        for name, leases in _by_flow(bundle.leases).items():
            stop = threading.Event()
            link = self._link(setups[name], bundle, leases, stop, channel)
            runs.append(_Run(link, stop))
        for run in runs:
            run.start()
        try:
            _attend(runs, channel)
        finally:
            _see_out(runs, channel)
            # Once: what a receipt tells of the offset map, the next one does not.
            receipts = [receipt for run in runs for receipt in run.link.receipts()]
            channel.report(receipts)
            for run in runs:
                _hang_up_if_troubled(run, receipts)
        for run in runs:
            if run.failure is not None:
                raise run.failure
        channel.say_done()

    def _link(
        self,
        setup: FlowSetup,
        bundle: TaskAssignment,
        leases: list[Lease],
        stop: threading.Event,
        channel: TaskChannel,
    ) -> CopyLoop:
        flow = setup.flow
        name, task = flow.connector_name, bundle.task
        # As brokers log them, and as quotas name them.
        role = ClientRole.REPLICATION_CONSUMER
        consumer = client_id(flow.source, flow.target, name, task=task, role=role)
        producer = f"connector-producer-{name}-{task}"
        transaction = None
        if flow.exactly_once is not None:
            client = _client(setup, "coordinator", producer, stop, _LOOK_SECONDS)
            client.stopped = lambda: False  # the last transaction is ended after the stop
            coordinator = _coordinator(flow, flow.exactly_once, task, client)
            transaction = Transaction(coordinator, bundle.producers[flow.name])
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
        )


class _Run(threading.Thread):
    """One flow's copy loop in a thread of its own, so that a flow that waits does not hold up another."""

    def __init__(self, link: CopyLoop, stop: threading.Event) -> None:
        super().__init__(name=link.flow.name, daemon=True)
        self.link = link
        self.stop = stop
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            self.link.run()
        except BaseException as e:  # noqa: BLE001 - raised again in the task's thread, for Spark to see
            self.failure = e


def _hang_up_if_troubled(run: _Run, receipts: Iterable[Receipt]) -> None:
    """Connections outlive an epoch, but not one that ended in trouble: some may be half-open, and would be
    found out one after the other."""
    name = run.link.flow.name
    own = [receipt for receipt in receipts if receipt.flow == name]
    calm = run.failure is None and not run.link.interrupted
    if calm and all(r.stored and r.error is None for r in own):
        return
    for key in [key for key in _clients if key[0] == name]:
        client, _ = _clients.pop(key)
        client.close()


def _attend(runs: list[_Run], channel: TaskChannel) -> None:
    """Report to the driver while the copy loops run, and pass its word on to them."""
    ticks = 0
    while any(run.is_alive() for run in runs):
        if any(run.failure for run in runs):
            return
        channel.wait(_POLL_SECONDS)
        if channel.ended or channel.lapsed:
            return
        for run in runs:
            if run.link.flow.name in channel.ended_flows:
                run.stop.set()
        ticks += 1
        phase = ticks % round(_REPORT_SECONDS / _POLL_SECONDS)
        if phase == 0:
            channel.report(receipt for run in runs for receipt in run.link.receipts())
        elif phase == _ASK_AT:
            for run in runs:
                run.link.ask_for_receipts()


def _see_out(runs: list[_Run], channel: TaskChannel) -> None:
    """Wait for the copy loops to finish; the driver is still asked, since their leases may lapse."""
    for run in runs:
        run.stop.set()
    for run in runs:
        while run.is_alive():
            run.join(_JOIN_SECONDS)
            channel.wait(0.0)


def _attempt() -> str:
    """Spark's id of this attempt of a task: no other in this driver has it."""
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
    # Not by its id, which has the number of the task: that is another in each epoch.
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
    """Of flows that nobody copies any more."""
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
