from __future__ import annotations

from heliograph.plan.replication_factors import (
    TooHighFactor,
    connect_block,
    factor_problems,
    properties_block,
    strimzi_block,
    too_high,
)


def of(option: str, factor: int = 3, brokers: int = 1, cluster: str = "eu") -> TooHighFactor:
    return TooHighFactor(cluster=cluster, option=option, factor=factor, brokers=brokers)


SMALL = [
    of("offset.storage.replication.factor"),
    of("replication.factor", 2),
    of("checkpoints.topic.replication.factor"),
    of("offset-syncs.topic.replication.factor", cluster="us", brokers=2),
    of("offset-syncs.topic.replication.factor"),
    of("heartbeats.topic.replication.factor"),
]


def test_a_factor_is_too_high_if_there_are_fewer_brokers() -> None:
    assert too_high("eu", "replication.factor", 2, 1) == (of("replication.factor", 2),)
    assert too_high("eu", "replication.factor", 2, 2) == ()
    assert too_high("eu", "replication.factor", -1, 1) == ()  # the brokers' default


def test_each_small_cluster_has_one_sentence() -> None:
    found = factor_problems([*SMALL, *SMALL])

    assert found.keys() == {"replication factors on eu", "replication factors on us"}
    assert found["replication factors on us"] == (
        "us has 2 brokers, so no topic can be created with offset-syncs.topic.replication.factor = 3; set it "
        "to 2 or less, or to -1 for the brokers' default"
    )
    eu = found["replication factors on eu"]
    assert eu.startswith("eu has 1 broker, so no topic can be created with checkpoints.topic.")
    assert eu.endswith("replication.factor = 2; set each to 1, or to -1 for the brokers' default")


def test_all_lines_are_given_in_the_syntax_of_a_properties_file() -> None:
    assert properties_block(SMALL) == [
        "replication.factor = 1",
        "checkpoints.topic.replication.factor = 1",
        "heartbeats.topic.replication.factor = 1",
        "offset-syncs.topic.replication.factor = 1",
        "offset.storage.replication.factor = 1",
    ]


def test_connectors_and_their_worker_have_lines_of_their_own() -> None:
    assert connect_block(SMALL) == [
        "in config of the connectors:",
        '"replication.factor": "1",',
        '"checkpoints.topic.replication.factor": "1",',
        '"heartbeats.topic.replication.factor": "1",',
        '"offset-syncs.topic.replication.factor": "1",',
        "in worker.properties:",
        "offset.storage.replication.factor=1",
    ]


def test_strimzi_has_them_in_each_connector_and_in_the_target() -> None:
    assert strimzi_block(SMALL) == [
        "spec.mirrors[].sourceConnector.config:",
        "  replication.factor: 1",
        "  offset-syncs.topic.replication.factor: 1",
        "spec.mirrors[].checkpointConnector.config:",
        "  checkpoints.topic.replication.factor: 1",
        "spec.mirrors[].heartbeatConnector.config:",
        "  heartbeats.topic.replication.factor: 1",
        "spec.target.config:",
        "  offset.storage.replication.factor: 1",
    ]
