"""The sentences and tables of docs/metrics.md that are not generated from the table of metrics."""

from __future__ import annotations

INTRODUCTION = """\
# Metrics

Prometheus scrapes `/metrics`: on the REST listener, with its authentication (`http://localhost:8083/metrics`), and
on a port of its own with `metrics.listener` (`http://0.0.0.0:9404`), without authentication and without anything
else. Both answer as text or as OpenMetrics, by the `Accept` header. A port that is taken is a warning and a problem
that `heliograph status` shows; the mirror runs. The text is made at most once a second, however many scrapers ask.
`heliograph run --once` serves none.

```properties
metrics.listener = http://0.0.0.0:9404
metrics.names = strimzi-jmx
metrics.detail = partition
metrics.labels = strimzi_io_kind=KafkaMirrorMaker2,strimzi_io_cluster=my-mm2
```

```yaml
scrape_configs:
  - job_name: heliograph
    static_configs: [{targets: ["mirror.example:9404"]}]
```

`metrics.labels`, or the variable `HELIOGRAPH_METRICS_LABELS` with the same notation, adds constant labels to every
series: Strimzi's dashboards ask for `strimzi_io_kind`, `strimzi_io_cluster` and `namespace`, which its operator's
PodMonitor adds in Kubernetes. Values are counted by the service that runs a flow, since it started; tasks on other
machines report every second. Series vanish with their partition, topic, group or task.

This page is generated; do not edit it: `python -m heliograph.metrics.page > docs/metrics.md`.

## Silence is not health
"""

SILENCE = """\
A dashboard that shows no lag may be one without data. `heliograph_flow_state` always has one state that is 1; of
several that apply, the first of this list:

| flow_state | |
|---|---|
{flows}

| partition_state | |
|---|---|
{partitions}

```promql
heliograph_flow_state{{state=~"unreachable|failed|no_data"}} == 1
sum by (flow) (heliograph_partition_state{{state="failed"}}) > 0
```

"""

VOCABULARIES = """\
## MirrorMaker 2's names

`metrics.names` chooses which of MirrorMaker 2's vocabularies are served as well; an empty list serves none. Names,
labels, quotes and units are those of the exporter, so that dashboards work unchanged.

| name | as exported by | for | labels |
|---|---|---|---|
| `strimzi-jmx` | the JMX exporter with Strimzi's rules | Strimzi's dashboard `strimzi-kafka-mirror-maker-2` | `clientid`, `connector` and `group` in quotes where JMX quotes them: `clientid="\\"us->eu\\|us->eu.MirrorSourceConnector-0\\|replication-consumer\\""` |
| `strimzi-reporter` | Strimzi's metrics reporter | the dashboard of that flavour | `client_id`, never in quotes |
| `msk` | the JMX exporter with the rules of the MSK workshop | its dashboard `MM2-dashboard-1` | `clientId`, `destination`; MirrorMaker 2 of Kafka 4.x itself gives nothing for these rules |

| strimzi-jmx | strimzi-reporter | msk |
|---|---|---|
| `kafka_connect_mirror_mirrorsourceconnector_X` | the same | `kafka_connect_mirror_source_connector_X` |
| `kafka_connect_mirror_mirrorcheckpointconnector_X` | the same | `kafka_connect_mirror_checkpoint_connector_X` |
| `kafka_consumer_fetch_manager_records_lag` | `kafka_consumer_consumer_fetch_manager_metrics_records_lag` | as strimzi-jmx |
| `kafka_consumer_fetch_manager_fetch_latency_avg` | `kafka_consumer_consumer_fetch_manager_metrics_fetch_latency_avg` | as strimzi-jmx |
| `kafka_consumer_incoming_byte_total` | `kafka_consumer_consumer_metrics_incoming_byte` | as strimzi-jmx |
| `kafka_producer_outgoing_byte_total` | `kafka_producer_producer_metrics_outgoing_byte` | |
| `kafka_producer_buffer_available_bytes` | `kafka_producer_producer_metrics_buffer_available_bytes` | |
| `kafka_connect_source_task_source_record_active_count` | `kafka_connect_source_task_metrics_source_record_active_count` | as strimzi-jmx |
| `kafka_connect_connector_task_offset_commit_avg_time_ms` | `kafka_connect_connector_task_metrics_offset_commit_avg_time_ms` | |
| `kafka_connect_worker_connector_count` | `kafka_connect_connect_worker_metrics_connector_count` | |
| `kafka_connect_worker_task_count` | `kafka_connect_connect_worker_metrics_task_count` | |
| `kafka_connect_worker_connector_failed_task_count` | `kafka_connect_connect_worker_metrics_connector_failed_task_count` | |
| `kafka_connect_worker_rebalance_rebalancing` | `kafka_connect_connect_worker_rebalance_metrics_rebalancing` | |
| `kafka_connect_coordinator_assigned_connectors` | `kafka_connect_connect_coordinator_metrics_assigned_connectors` | |
| `kafka_connect_coordinator_assigned_tasks` | `kafka_connect_connect_coordinator_metrics_assigned_tasks` | |
| `kafka_connect_connector_status` | `kafka_connect_connector_task_metrics_status` | |
| `jvm_memory_used_bytes`, `jvm_threads_current`, `jvm_gc_collection_seconds` | the same | the same |

`X` of MirrorSourceConnector: `record_count`, `record_rate`, `byte_count`, `byte_rate`, `record_age_ms`,
`replication_latency_ms`, the last two also with `_avg`, `_min`, `_max`; `topic` is the remote topic. `X` of
MirrorCheckpointConnector: `checkpoint_latency_ms`, `_avg`, `_min`, `_max`. Rates, means and extremes are those of
Kafka's two samples of 30 s. The JVM is Spark's; records do not pass through it. `process_cpu_seconds_total` and the
other `process_…` are those of the driver.

Where two vocabularies have a series of the same name, it is given once, with the labels of both.

### What differs from MirrorMaker 2
| | MirrorMaker 2 | here |
|---|---|---|
| lag | Strimzi's rules have no end, so that `records-lag-max` is added to `records_lag`, and averages and maxima to `source_record_active_count` | one series each, with the value of its name |
| checkpoint latency | one sensor for all groups of a task: every group and partition shows the same values | each group and partition has its own |
| topics with dots | the consumer's series appear twice, with dots and with underscores | once |
| `byte_count`, `byte_rate` | bytes of values alone, uncompressed | bytes of batches as they are sent, with keys and headers: they are not decompressed |
| `record_age_ms`, `replication_latency_ms` | for each record | for each batch, by its newest timestamp, weighted with its records |
| connector names of `run` | `MirrorSourceConnector`, without quotes, so that three of Strimzi's panels are empty | `us->eu.MirrorSourceConnector`, as in Strimzi |
| tasks | Connect's | Spark's tasks, which copy; `kafka_connect_worker_task_count` and `…_status` count Connect's |
| `offset_commit_avg_time_ms`, `fetch_latency_avg` | over 60 s | since the epoch began |

CPU of containers (`container_cpu_usage_seconds_total`) comes from cAdvisor, not from here.
"""

COST = """\
## Cost

A scrape of 10,000 partitions in 1,000 topics, from what the driver knows to the text. Command:
`python -m benchmarks.scrape` (`--partitions`, `--names`, `--detail`); least and median of five runs, on two cores that
other work kept busy (load 14: elapsed is mostly waiting).

| | series | size | CPU seconds | elapsed |
|---|---|---|---|---|
{measured}

Tasks measure by batch, never by record: about 3 µs for each batch on the same machine. Throughput with and without metrics is
not compared yet.
"""

#: Of `python -m benchmarks.scrape`.
MEASURED = (
    "| `strimzi-jmx`, `metrics.detail=partition` | 227,000 | 30 MB | 0.44, 0.46 | 0.9, 1.2 |",
    "| the same as OpenMetrics | 227,000 | 30 MB | 0.45, 0.48 | 1.1, 1.5 |",
    "| `strimzi-jmx`, `metrics.detail=topic` | 46,000 | 5 MB | 0.21, 0.21 | 0.6, 1.1 |",
    "| all three vocabularies, `metrics.detail=partition` | 357,000 | 49 MB | 0.56, 0.60 | 0.9, 1.1 |",
    "| the same as OpenMetrics | 357,000 | 49 MB | 0.56, 0.60 | 0.9, 1.2 |",
)
