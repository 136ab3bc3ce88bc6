"""Options of the whole file (`MirrorMakerConfig`), of its REST API, and of config providers."""

from __future__ import annotations

import re
from functools import partial

from heliograph.config.options.checks import (
    at_least,
    between,
    constant_labels,
    http_address,
    no_duplicates,
    one_of,
    subset_of,
    telemetry_headers,
    telemetry_url,
)
from heliograph.config.options.option import Importance, Option, Scope, Support
from heliograph.config.options.values import BOOLEAN, CLASS, INT, LIST, PASSWORD, STRING

_top = partial(Option, scope=Scope.TOP)

_OF_REST = re.compile(
    r"(admin\.)?listeners(\.https\..*)?|rest\..*|access\.control\..*|response\.http\..*|ssl\..*"
)


#: Before the TLS settings of the REST API's listeners.
HTTPS_PREFIXES = ("listeners.https.", "admin.listeners.https.")


def is_of_rest(name: str) -> bool:
    """Whether a top-level setting configures the REST API."""
    return _OF_REST.fullmatch(name) is not None


TOP = (
    _top(
        name="clusters",
        type=LIST,
        importance=Importance.HIGH,
        doc="Aliases of the clusters, separated by commas",
    ),
    _top(
        name="config.providers",
        type=LIST,
        default="",
        valid=no_duplicates,
        doc="Names of config providers, which fill in placeholders ${name:path:key}",
    ),
    _top(
        name="epoch.seconds",
        type=INT,
        default="3600",
        valid=at_least(1),
        doc="Longest duration of an epoch (one Spark batch of all flows), in seconds",
        since="heliograph",
    ),
    _top(
        name="once.timeout.seconds",
        type=INT,
        default="60",
        valid=at_least(1),
        doc="How long --once waits for a cluster that does not respond, in seconds",
        since="heliograph",
    ),
    _top(
        name="driver.channel.host",
        type=STRING,
        default="",
        doc="Address on which the driver listens for its tasks and at which executors reach it; if not set, "
        "localhost with a local master, otherwise spark.driver.host or this machine's host name",
        since="heliograph",
    ),
    _top(
        name="driver.channel.port",
        type=INT,
        default="0",
        valid=between(0, 65535),
        doc="Port on which the driver listens for its tasks, for firewalls and network policies; 0 for any",
        since="heliograph",
    ),
    _top(
        name="spark.unencrypted.secrets.policy",
        type=STRING,
        default="refuse",
        valid=one_of("refuse", "accept"),
        importance=Importance.MEDIUM,
        doc="What to do when passwords or keys of a flow would be sent to executors of a Spark cluster that "
        "does not authenticate (spark.authenticate) and encrypt (spark.network.crypto.enabled or "
        "spark.ssl.rpc.enabled). refuse: the flow does not run. accept: they are sent, with a warning",
        since="heliograph",
    ),
    _top(
        name="dedicated.mode.enable.internal.rest",
        type=BOOLEAN,
        default="false",
        importance=Importance.HIGH,
        doc="Whether workers talk to each other by REST (KIP-710)",
        support=Support.LATER,
        since="3.5",
    ),
    _top(
        name="listeners",
        type=LIST,
        default="http://localhost:8083",
        doc="Addresses of the REST API. http://:8083, MM2's own default, listens on every address of this "
        "machine; an empty list switches the REST API off",
    ),
    _top(
        name="rest.writable",
        type=BOOLEAN,
        default="false",
        doc="Whether REST may pause, stop and restart the connectors of a file and alter their offsets; the "
        "changes last until the service is restarted",
        since="heliograph",
    ),
    _top(
        name="metrics.listener",
        type=STRING,
        default="",
        valid=http_address,
        doc="Address of a port of its own for Prometheus, such as http://0.0.0.0:9404, without "
        "authentication; the REST API serves the same at /metrics. If it cannot be opened, the mirror runs "
        "without it",
        since="heliograph",
    ),
    _top(
        name="metrics.names",
        type=LIST,
        default="strimzi-jmx",
        valid=subset_of("strimzi-jmx", "strimzi-reporter", "msk"),
        doc="Names of MirrorMaker 2's metrics to serve besides Heliograph's own ([metrics](metrics.md)): "
        "those of Strimzi's dashboard with the JMX exporter, of Strimzi's with its metrics reporter, of the "
        "MSK workshop",
        since="heliograph",
    ),
    _top(
        name="metrics.detail",
        type=STRING,
        default="partition",
        valid=one_of("partition", "topic", "flow"),
        doc="The finest metrics: for each partition, each topic or each flow. One series of a topic or flow "
        "sums up its partitions",
        since="heliograph",
    ),
    _top(
        name="metrics.labels",
        type=LIST,
        default="",
        valid=constant_labels,
        doc="Constant labels of every metric: name=value, separated by commas. Those in the variable "
        "HELIOGRAPH_METRICS_LABELS take precedence",
        since="heliograph",
    ),
    _top(
        name="otel.exporter.otlp.endpoint",
        type=STRING,
        default="",
        valid=telemetry_url,
        doc="Address of an OpenTelemetry collector, such as http://localhost:4318: Heliograph's own metrics "
        "are sent there by OTLP over HTTP, to /v1/metrics. Needs the extra `otel`. The exporter's variables "
        "OTEL_EXPORTER_OTLP_… (certificates, timeout), OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES apply",
        since="heliograph",
    ),
    _top(
        name="otel.exporter.otlp.headers",
        type=PASSWORD,
        default="",
        valid=telemetry_headers,
        doc="Headers for the collector, such as a login: name=value, separated by commas",
        since="heliograph",
    ),
    _top(
        name="otel.metric.export.interval",
        type=INT,
        default="60000",
        valid=between(1000, 3_600_000),
        doc="Time between two exports to the collector, in milliseconds",
        since="heliograph",
    ),
    _top(
        name="rest.advertised.host.name",
        type=STRING,
        doc="Host name at which other workers reach the REST server",
    ),
    _top(
        name="rest.advertised.port",
        type=INT,
        doc="Port at which other workers reach the REST server",
    ),
    _top(
        name="rest.advertised.listener",
        type=STRING,
        valid=one_of("http", "https"),
        doc="Scheme of the listener at which other workers reach the REST server",
    ),
    _top(
        name="access.control.allow.origin",
        type=STRING,
        default="",
        doc="Value of the header Access-Control-Allow-Origin of the REST server",
    ),
    _top(
        name="access.control.allow.methods",
        type=STRING,
        default="",
        doc="Value of the header Access-Control-Allow-Methods of the REST server",
    ),
    _top(
        name="response.http.headers.config",
        type=STRING,
        default="",
        doc="HTTP headers that the REST server adds to its responses",
    ),
    _top(
        name="ssl.client.auth",
        type=STRING,
        default="none",
        valid=one_of("required", "requested", "none"),
        doc="Whether the REST server asks clients for certificates",
    ),
)

PROVIDERS = (
    _top(
        name="config.providers.<name>.class",
        type=CLASS,
        doc="FileConfigProvider for ${name:/path:key} of a properties file, "
        "DirectoryConfigProvider for ${name:/path:file} of a directory, "
        "EnvVarConfigProvider for ${name:VARIABLE}; with or without Kafka's package",
    ),
    _top(
        name="config.providers.<name>.param.allowed.paths",
        type=LIST,
        doc="Absolute paths below which a file or directory provider may read; any path if not set",
        since="3.6",
    ),
    _top(
        name="config.providers.<name>.param.allowlist.pattern",
        type=STRING,
        default=".*",
        doc="Java regular expression of the variables that an environment provider may read",
        since="3.5",
    ),
)
