from __future__ import annotations

from pathlib import Path

from heliograph.embedded.node import Node

ERROR = "[2026-11-15 22:55:00,000] ERROR Unable to start (kafka.server.SharedServer)"
CAUSE = "org.apache.kafka.common.KafkaException: Socket server failed to bind to localhost:1"


def node_that_logged(folder: Path, *lines: str) -> Node:
    node = Node("race", 1, folder)
    node.log.write_text("\n".join(lines))
    return node


def test_the_log_tail_keeps_an_error_that_a_listing_at_info_follows(tmp_path: Path) -> None:
    listing = ["[2026-11-15 22:55:00,100] INFO GroupConfig values:"]
    listing += [f"\tgroup.setting.{number} = {number}" for number in range(100)]
    node = node_that_logged(tmp_path, ERROR, CAUSE, "\tat kafka.Some.frame(Some.java)", *listing)

    tail = node.log_tail()

    assert tail == f"  {ERROR}\n  {CAUSE}"


def test_the_log_tail_of_a_broker_without_an_error_is_its_last_lines(tmp_path: Path) -> None:
    lines = [f"[2026-11-15 22:55:00,000] INFO line {number}" for number in range(100)]
    node = node_that_logged(tmp_path, *lines)

    assert node.log_tail().splitlines()[-1] == "  [2026-11-15 22:55:00,000] INFO line 99"


def test_a_broker_that_logged_nothing_has_an_empty_tail(tmp_path: Path) -> None:
    assert Node("race", 1, tmp_path).log_tail() == "  (nothing)"
