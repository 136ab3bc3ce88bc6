"""The simulated broker is a model: a real one gives the same answers. `make differential` runs more of it,
with restarts of the broker, transactions that time out and producers that expire."""

from __future__ import annotations

import time
from contextlib import closing

from heliograph.embedded import Cluster
from simulation.differential.generate import generate
from simulation.differential.real import RealBroker

_SEQUENCES = 60


def test_model_and_broker_agree_on_random_operations(target_cluster: Cluster) -> None:
    now_ms = int(time.time() * 1000)
    sequences = [generate(seed, now_ms, timed=False) for seed in range(_SEQUENCES)]
    with closing(RealBroker(target_cluster, may_restart=False)) as broker:
        result = broker.run(sequences, now_ms, "model-agrees")
    assert result.disagreements == []
    assert sum(result.operations.values()) == sum(len(each.steps) for each in sequences)
