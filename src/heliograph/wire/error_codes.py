"""Error codes of the protocol that more than one module decides by (Kafka's `Errors`)."""

from __future__ import annotations

UNKNOWN_TOPIC_OR_PARTITION = 3
TOPIC_AUTHORIZATION_FAILED = 29
CLUSTER_AUTHORIZATION_FAILED = 31
INVALID_REPLICATION_FACTOR = 38
INVALID_CONFIG = 40
POLICY_VIOLATION = 44
