"""Real Kafka brokers as child processes, for the demo, the tests and the benchmark."""

from __future__ import annotations

from heliograph.embedded.cluster import PRODUCTION_JVM, QUICK_JVM, Cluster, start_all, stop_all
from heliograph.embedded.jars import KAFKA_VERSION, kafka_jars
from heliograph.embedded.listener import Listener, SecurityProtocol, Tls
from heliograph.machine.java import require_java

__all__ = [
    "KAFKA_VERSION",
    "PRODUCTION_JVM",
    "QUICK_JVM",
    "Cluster",
    "Listener",
    "SecurityProtocol",
    "Tls",
    "kafka_jars",
    "require_java",
    "start_all",
    "stop_all",
]
