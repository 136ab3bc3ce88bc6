"""Metrics of a real mirror, scraped over HTTP, and compared with what an independent client counts. From the
start to the stop of a service they answer; what keeps them from being served stops nothing."""

from __future__ import annotations

import socket
import urllib.error
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from heliograph.config.metrics_config import MetricsConfig, Names
from heliograph.connect.dedicated_herder import DedicatedHerder
from heliograph.embedded import Cluster
from heliograph.embedded.ports import free_port
from heliograph.metrics.snapshot import ConnectorFigures
from heliograph.runtime.driver import Mirror
from heliograph.runtime.metering.collect import SnapshotCollector
from heliograph.runtime.metering.scrape import Scrape
from heliograph.runtime.progress import Progress
from heliograph.spark.jvm_figures import JvmWatch
from heliograph.web.endpoints.health import ServiceHealth
from heliograph.web.listener.metrics_server import MetricsServer
from support.clusters.writing import delete_topic, numbered, write
from support.commands import heliograph_here
from support.flows.mirroring import Flow, Running
from support.flows.services import service
from support.rest.workers import connector, worker
from support.scraping import OPENMETRICS, Scraped, scrape
from support.waiting import eventually

pytestmark = pytest.mark.real


@contextmanager
def served(
    mirror: Mirror, progress: Progress, connectors: Callable[[], Sequence[ConnectorFigures]]
) -> Iterator[str]:
    """The address of the service's metrics."""
    watch = JvmWatch(lambda: mirror.spark.started)
    collector = SnapshotCollector(mirror, progress, connectors, lambda: watch.figures)
    config = MetricsConfig(names=frozenset(Names), labels=(("strimzi_io_cluster", "mm2"),))
    text = Scrape(config, collector.collect)
    healthy = ServiceHealth(waits_for=None)
    server = MetricsServer(("127.0.0.1", 0), text, health=lambda: healthy)
    watch.start()
    server.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.stop()
        watch.stop()


@contextmanager
def metrics_of(running: Running) -> Iterator[tuple[str, DedicatedHerder]]:
    """The address of the service's metrics, and its herder."""
    given = (running.mirror, running.progress)
    herder = DedicatedHerder(*given, {}, worker_id="here:8083", writable=True)
    with served(*given, herder.measured_connectors) as url:
        yield url, herder


def end_offset(cluster: Cluster, topic: str) -> int:
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "counts"})
    try:
        return int(consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=60)[1])
    finally:
        consumer.close()


def test_a_scrape_counts_what_an_independent_client_counts(flow: Flow) -> None:
    topic = flow.create("orders")
    write(flow.source, topic, numbered(range(500)))
    with (
        flow.running(refresh_topics_interval_seconds="1") as running,
        metrics_of(running) as (url, herder),
    ):
        labels = {"flow": flow.name, "topic": topic, "partition": "0"}

        def mirrored(found: Scraped) -> bool:
            return found.value("heliograph_partition_records_total", **labels) == 500

        found = eventually(lambda: scrape(url), mirrored)
        target_end = end_offset(flow.target, flow.remote(topic))
        assert target_end == 500
        assert found.value("heliograph_partition_position", **labels) == end_offset(
            flow.source, topic
        )
        quiet = eventually(
            lambda: scrape(url, OPENMETRICS),
            lambda s: s.state("heliograph_flow_state", flow=flow.name) == {"quiet"},
        )
        assert quiet.value("heliograph_partition_lag_records", **labels) == 0
        assert quiet.value("heliograph_partition_lag_seconds", **labels) == 0
        assert quiet.value("heliograph_replication_latency_seconds_count", topic=topic) == 500
        assert (quiet.value("heliograph_batches_total", topic=topic, result="passed") or 0) > 0
        assert (quiet.value("heliograph_fetch_request_seconds_count", flow=flow.name) or 0) > 0
        assert (quiet.value("heliograph_produce_request_seconds_count", flow=flow.name) or 0) > 0
        assert all(s.labels["strimzi_io_cluster"] == "mm2" for s in quiet.samples)

        of_mm2 = {"topic": flow.remote(topic), "partition": "0"}
        prefix = "kafka_connect_mirror_mirrorsourceconnector"
        assert quiet.value(f"{prefix}_record_count", **of_mm2) == target_end
        assert quiet.value("kafka_connect_mirror_source_connector_record_count", **of_mm2) == 500
        assert (quiet.value(f"{prefix}_replication_latency_ms_max", **of_mm2) or 0) > 0
        (lag,) = quiet.all("kafka_consumer_fetch_manager_records_lag", topic=topic)
        assert lag.value == 0
        assert lag.labels["clientid"].endswith('SourceConnector-0|replication-consumer"')
        eventually(
            lambda: scrape(url).value("jvm_memory_used_bytes", area="heap"), lambda used: bool(used)
        )

        source = f"{flow.name}.MirrorSourceConnector"
        herder.pause(source)
        paused = eventually(
            lambda: scrape(url),
            lambda s: s.state("heliograph_flow_state", flow=flow.name) == {"paused"},
        )
        assert paused.state("heliograph_connector_state", connector=source) == {"PAUSED"}
        write(flow.source, topic, numbered(range(500, 700)))
        herder.resume(source)
        end = end_offset(flow.source, topic)
        eventually(
            lambda: scrape(url).value("heliograph_partition_position", **labels),
            lambda position: position == end == 700,
        )

        delete_topic(flow.source, topic)
        eventually(lambda: scrape(url).all("heliograph_partition_position", topic=topic), _is_empty)
        gone = scrape(url)
        assert gone.all("kafka_consumer_fetch_manager_records_lag", topic=topic) == []
        assert gone.value("heliograph_gaps_total", flow=flow.name, kind="SOURCE_DELETED") == 1


def _is_empty(found: list[object]) -> bool:
    return found == []


def test_a_service_answers_from_its_start_on_and_a_taken_port_stops_nothing(
    flow: Flow, tmp_path: Path
) -> None:
    topic = flow.create("orders")
    write(flow.source, topic, numbered(range(50)))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        properties = flow.properties() | {
            "metrics.listener": f"http://127.0.0.1:{port}",
            "metrics.names": "",
            "b.offset.flush.interval.ms": "500",
        }
        with service(tmp_path, "run", properties) as run:
            url = f"http://127.0.0.1:{run.rest.port}"
            first = eventually(lambda: _scrape_if_up(url), lambda found: found is not None)
            assert first is not None
            assert first.value("heliograph_build_info") == 1
            assert len(first.state("heliograph_service_state")) == 1
            done = eventually(
                lambda: scrape(url),
                lambda s: s.value("heliograph_partition_records_total", topic=topic) == 50,
            )
            assert done.value("heliograph_problems", cause="metrics listener") == 1
            assert [s for s in done.samples if s.name.startswith("kafka_")] == []
            eventually(
                lambda: heliograph_here("status", run.config, "-o", "json").stdout,
                lambda text: f"metrics.listener: http://127.0.0.1:{port} cannot be opened" in text,
            )
            assert run.stop() == 0


def _scrape_if_up(url: str) -> Scraped | None:
    try:
        return scrape(url)
    except (urllib.error.URLError, ConnectionError):
        return None


def test_an_unreachable_cluster_is_not_a_quiet_topic(flow: Flow) -> None:
    nowhere = {f"{flow.alias}.bootstrap.servers": f"127.0.0.1:{free_port()}"}
    with flow.running(nowhere) as running, metrics_of(running) as (url, _):
        found = eventually(
            lambda: scrape(url),
            lambda s: s.state("heliograph_flow_state", flow=flow.name) == {"unreachable"},
        )
        assert found.value("heliograph_cluster_reachable", cluster=flow.alias) == 0
        assert found.all("heliograph_partition_lag_records") == []


def test_a_worker_shows_its_connectors_and_what_they_copy(flow: Flow) -> None:
    topic = flow.create("orders")
    write(flow.source, topic, numbered(range(20)))
    name = f"{flow.alias}-source"
    with (
        worker(flow) as running,
        served(running.mirror, running.progress, running.herder.measured_connectors) as url,
    ):
        running.create(name, connector(flow, "Source"))
        eventually(
            lambda: scrape(url),
            lambda s: s.value("heliograph_partition_records_total", topic=topic) == 20,
        )
        found = eventually(
            lambda: scrape(url),
            lambda s: s.state("heliograph_connector_state", connector=name) == {"RUNNING"},
        )
        assert found.value("heliograph_leader") == 1
        assert found.value("kafka_connect_worker_connector_count") == 1
        running.herder.stop(name)
        eventually(
            lambda: scrape(url),
            lambda s: s.state("heliograph_flow_state", flow=name) == {"stopped"},
        )
        assert scrape(url).all("heliograph_partition_position", topic=topic) == []
