"""`heliograph demo`: starts two real clusters, writes sample records, and mirrors them."""

from __future__ import annotations

import itertools
import json
import logging
import shlex
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console

from heliograph.cli.commands.run import report, stopping_on_signals
from heliograph.cli.compare import Difference, compare
from heliograph.cli.output.logs import LogOptions, start_logging
from heliograph.cli.output.progress_display import show_progress
from heliograph.cli.rest import rest_api
from heliograph.config.formats.mm2_properties import load
from heliograph.config.mirror_config import MirrorConfig
from heliograph.counted import counted
from heliograph.embedded import Cluster, start_all, stop_all
from heliograph.embedded.tools import tool_command
from heliograph.errors import EnvironmentProblem
from heliograph.runtime.driver import Mirror
from heliograph.runtime.progress import Progress
from heliograph.runtime.slots import slots_for
from heliograph.spark.session import LocalSpark

log = logging.getLogger(__name__)

_PROPERTIES = """\
# This is an ordinary mm2.properties: connect-mirror-maker.sh reads it as well.
clusters = source, target
source.bootstrap.servers = {source}
target.bootstrap.servers = {target}
source->target.enabled = true
source->target.topics = products, orders
tasks.max = 2
refresh.topics.interval.seconds = 5
refresh.groups.interval.seconds = 5
emit.checkpoints.interval.seconds = 5
sync.group.offsets.enabled = true
sync.group.offsets.interval.seconds = 5
# Each of the two clusters is one broker, without ACLs.
sync.topic.acls.enabled = false
replication.factor = 1
offset.storage.replication.factor = 1
config.storage.replication.factor = 1
status.storage.replication.factor = 1
offset-syncs.topic.replication.factor = 1
checkpoints.topic.replication.factor = 1
heartbeats.topic.replication.factor = 1
"""

_PRODUCTS = [
    ("P01", "Carrots", 4, 0.4, 1),
    ("P02", "Banana", 6, 0.6, 2),
    ("P03", "Salad", 4, 0.4, 1),
    ("P04", "Avocado", 6, 0.4, 1),
    ("P05", "Tomato", 4, 0.4, 2),
]
_PRODUCT_FIELDS = (
    "product_id",
    "description",
    "target_temperature",
    "target_humidity_level",
    "content_type",
)
_ORDER_PARTITIONS = 4
_ORDERS_ONCE = 20_000
_ORDERS_PER_SECOND = 500


def demo(logs: LogOptions, *, once: bool) -> int:
    start_logging(logs)
    _require_client()
    console = Console(stderr=True)
    began = time.monotonic()
    console.print("Starting two Kafka clusters, [b]source[/b] and [b]target[/b] …")
    with _clusters() as (source, target), tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mm2.properties"
        path.write_text(
            _PROPERTIES.format(source=source.bootstrap_servers, target=target.bootstrap_servers)
        )
        config = load(path)
        # Spark starts while the sample data is written.
        with closing(LocalSpark(slots_for(config))) as spark:
            _write_samples(source.bootstrap_servers, _ORDERS_ONCE if once else 0)
            if once:
                return _mirror_once(config, spark, source, target)
            _explain(console, source, target, path)
            return _mirror_on(path, config, spark, source, began)


def _mirror_once(config: MirrorConfig, spark: LocalSpark, source: Cluster, target: Cluster) -> int:
    stop, progress = threading.Event(), Progress()
    with stopping_on_signals(stop), show_progress(progress, stop) as display:
        mirror = Mirror(config, spark, once=True, stop=stop, progress=progress)
        display.follow(mirror)
        outcome = mirror.run()
    code = report(outcome, once=True)
    total = Difference()
    for topic in ("products", "orders"):
        total += compare(
            source.bootstrap_servers, topic, target.bootstrap_servers, f"source.{topic}"
        )
    Console().print(
        f"mirrored {counted(total.equal, 'record')}, {total.missing} missing, {total.different} different",
        highlight=False,
    )
    return 1 if code or total.missing or total.different else 0


def _mirror_on(
    path: Path, config: MirrorConfig, spark: LocalSpark, source: Cluster, began: float
) -> int:
    stop, progress = threading.Event(), Progress()
    traffic = threading.Thread(
        target=_write_orders, args=(source.bootstrap_servers, stop), name="traffic", daemon=True
    )
    first = threading.Thread(
        target=_announce_first, args=(progress, stop, began), name="first", daemon=True
    )
    with stopping_on_signals(stop), show_progress(progress, stop) as display:
        traffic.start()
        first.start()
        mirror = Mirror(config, spark, stop=stop, progress=progress)
        display.follow(mirror)
        with rest_api(path, None, config, mirror, progress):
            outcome = mirror.run()
    traffic.join()
    return report(outcome, once=False)


def _announce_first(progress: Progress, stop: threading.Event, began: float) -> None:
    while not stop.wait(0.1):
        if progress.records:
            log.info("first mirrored record %.1f s after the start", time.monotonic() - began)
            return


def _explain(console: Console, source: Cluster, target: Cluster, path: Path) -> None:
    consumer = tool_command(
        "kafka-console-consumer",
        "--bootstrap-server",
        target.bootstrap_servers,
        "--topic",
        "source.products",
        "--from-beginning",
    )
    console.print(
        f"\nsource  {source.bootstrap_servers}    target  {target.bootstrap_servers}\n"
        f"configuration  {path}\n\n"
        "In another terminal, read the mirrored records with any Kafka tool:\n"
        f"  kcat -b {target.bootstrap_servers} -t source.products -C -o beginning -f '%k %s %h\\n'\n"
        f"  kafka-console-consumer.sh --bootstrap-server {target.bootstrap_servers} "
        "--topic source.products --from-beginning\n"
        "or, without an installed tool:\n"
        f"  {shlex.join(consumer)}\n\n"
        "Show the status of the mirror, or what it would do if started again:\n"
        f"  heliograph status {path}\n"
        f"  heliograph plan {path}\n"
        "or watch it in a browser (if port 8083 was free): http://localhost:8083/ui\n\n"
        "Ctrl-C stops everything.\n",
        highlight=False,
        soft_wrap=True,
    )


@contextmanager
def _clusters() -> Iterator[tuple[Cluster, Cluster]]:
    source, target = Cluster("source"), Cluster("target")
    try:
        start_all([source, target])
        yield source, target
    finally:
        stop_all([source, target])


# ── sample data ──────────────────────────────────────────────────────────────────────────────


def _require_client() -> None:
    """Before brokers are started."""
    if find_spec("confluent_kafka") is None:
        raise EnvironmentProblem(
            "the demo needs confluent-kafka to write and compare records, and it is not installed; "
            "install it: pip install 'heliograph[demo]'"
        )


def _producer(bootstrap: str) -> Any:
    from confluent_kafka import Producer

    return Producer({"bootstrap.servers": bootstrap, "linger.ms": 20, "compression.type": "lz4"})


def _write_samples(bootstrap: str, orders: int) -> None:
    from confluent_kafka.admin import AdminClient, NewTopic

    topics = [NewTopic("products", 1, 1), NewTopic("orders", _ORDER_PARTITIONS, 1)]
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for future in admin.create_topics(topics).values():
        future.result()
    producer = _producer(bootstrap)
    for product in _PRODUCTS:
        value = json.dumps(dict(zip(_PRODUCT_FIELDS, product, strict=True)))
        headers = [("content-type", b"application/json"), ("origin", b"heliograph-demo")]
        producer.produce("products", value, key=product[0], headers=headers)
    for number in range(orders):
        _write_order(producer, number)
    producer.flush()


def _write_orders(bootstrap: str, stop: threading.Event) -> None:
    producer = _producer(bootstrap)
    for number in itertools.count():
        _write_order(producer, number)
        if number % (_ORDERS_PER_SECOND // 10) == 0 and stop.wait(0.1):
            break
    producer.flush(5)


def _write_order(producer: Any, number: int) -> None:
    product = _PRODUCTS[number % len(_PRODUCTS)][0]
    value = json.dumps({"order": number, "product_id": product, "quantity": number % 7 + 1})
    producer.produce(
        "orders",
        value,
        key=str(number),
        partition=number % _ORDER_PARTITIONS,
        headers=[("number", str(number).encode())],
    )
    producer.poll(0)
