"""A mirror of an earlier version was killed while it copied; this version resumes it.

`mirror_of_d137458.json`, recorded by `scripts/record_mirror.py`, holds what that mirror left in Kafka. Its
remote partition has more records than its snapshot and its stored offset say, and fewer than its source.
What d137458 reads of today's records is in `tests/unit/mm2/test_stored_bytes.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from heliograph.embedded import Cluster
from heliograph.spark.session import LocalSpark
from support.flows.mirroring import Flow
from support.flows.recorded import Recorded


def test_a_killed_mirror_of_d137458_is_resumed_without_loss_or_duplicates(
    source_cluster: Cluster,
    target_cluster: Cluster,
    spark: LocalSpark,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    recorded = Recorded(Path(__file__).with_name("mirror_of_d137458.json"))
    flow = Flow(recorded.alias, source_cluster, target_cluster, spark, tmp_path)
    recorded.replay(flow)

    outcome = flow.mirror_once()

    missing = sum(recorded.source_records.values()) - sum(recorded.remote_records.values())
    assert (outcome.records, missing) == (40, 40)
    assert flow.assert_mirrored(recorded.topic) == sum(recorded.source_records.values())
    assert "duplicates possible" not in caplog.text
    assert flow.mirror_once().records == 0
