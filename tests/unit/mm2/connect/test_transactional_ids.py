from __future__ import annotations

from heliograph.mm2.connect.transactional_ids import (
    leader_transactional_id,
    task_transactional_id,
    task_transactional_ids,
)


def test_names_are_connects() -> None:
    """WorkerTest, DistributedConfigTest"""
    assert (
        task_transactional_id("A-mm2", "MirrorSourceConnector", 0)
        == "A-mm2-MirrorSourceConnector-0"
    )
    assert leader_transactional_id("A-mm2") == "connect-cluster-A-mm2"


def test_the_ids_of_all_tasks_are_found_and_no_others() -> None:
    pattern = task_transactional_ids("a.b-mm2", "MirrorSourceConnector")

    assert pattern.fullmatch("a.b-mm2-MirrorSourceConnector-12")
    for other in (
        "a.b-mm2-MirrorSourceConnector-",
        "a.b-mm2-MirrorSourceConnector-1x",
        "aXb-mm2-MirrorSourceConnector-1",
        "a.b-mm2-MirrorHeartbeatConnector-1",
        "z-a.b-mm2-MirrorSourceConnector-1",
    ):
        assert not pattern.fullmatch(other)
