from __future__ import annotations

from heliograph.config.client_ids import ClientRole, client_id


def test_a_client_of_a_connector_has_flow_connector_and_role_in_its_id() -> None:
    """MirrorConnectorConfigTest.testSourceConsumerConfig, client.id"""
    assert (
        client_id("source1", "target2", "ConnectorName", role="test")
        == "source1->target2|ConnectorName|test"
    )


def test_a_client_of_a_task_has_the_tasks_index_too() -> None:
    found = client_id(
        "A", "B", "MirrorSourceConnector", task=3, role=ClientRole.REPLICATION_CONSUMER
    )

    assert found == "A->B|MirrorSourceConnector-3|replication-consumer"
    assert client_id("A", "B", "MirrorSourceConnector", task="?") == "A->B|MirrorSourceConnector-?"
    assert client_id("A", "B", "MirrorSourceConnector", task=0) == "A->B|MirrorSourceConnector-0"


def test_the_users_own_client_id_comes_first() -> None:
    found = client_id("A", "B", "C", role=ClientRole.HEARTBEATS_TARGET_ADMIN, user="mine")

    assert found == "mine|A->B|C|heartbeats-target-admin"


def test_without_role_the_label_stands_alone() -> None:
    assert client_id("A", "B", "C") == "A->B|C"


def test_offset_syncs_clients_are_named_by_the_side_of_the_topic() -> None:
    """MirrorSourceConfigTest.testProducerConfigsForOffsetSyncsTopic, client.id"""
    assert (
        client_id(
            "source1",
            "target2",
            "ConnectorName",
            role=ClientRole.OFFSET_SYNCS_SOURCE_PRODUCER,
        )
        == "source1->target2|ConnectorName|offset-syncs-source-producer"
    )
