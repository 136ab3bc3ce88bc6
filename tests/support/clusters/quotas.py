"""Client quotas of real brokers: readers and writers that are slowed down."""

from __future__ import annotations

from kafka.protocol.admin import AlterClientQuotasRequest

from heliograph.embedded import Cluster
from support.clusters.grouping import client


def set_client_quota(cluster: Cluster, client_id: str, key: str, bytes_per_second: float) -> None:
    """`key` is consumer_byte_rate or producer_byte_rate."""
    entry = AlterClientQuotasRequest.EntryData
    request = AlterClientQuotasRequest(
        entries=[
            entry(
                entity=[entry.EntityData(entity_type="client-id", entity_name=client_id)],
                ops=[entry.OpData(key=key, value=bytes_per_second, remove=False)],
            )
        ],
        validate_only=False,
    )
    with client(cluster) as asking:
        (answer,) = asking.call_any(request).entries
        assert answer.error_code == 0, answer
