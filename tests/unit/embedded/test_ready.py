from __future__ import annotations

import struct

import pytest

from heliograph.embedded.ready import ask, parse_metadata


def string(text: str | None) -> bytes:
    if text is None:
        return struct.pack(">h", -1)
    return struct.pack(">h", len(text)) + text.encode()


def test_brokers_cluster_and_controller_are_read() -> None:
    brokers = b"".join(
        struct.pack(">i", node) + string("127.0.0.1") + struct.pack(">i", 9092) + string(rack)
        for node, rack in ((1, None), (2, "b"))
    )
    frame = struct.pack(">iii", 1, 0, 2) + brokers + string("abc") + struct.pack(">ii", 2, 0)

    view = parse_metadata(frame)

    assert (view.cluster_id, view.controller, view.brokers) == ("abc", 2, {1, 2})


def test_a_short_frame_is_an_error_and_not_a_view() -> None:
    with pytest.raises(struct.error):
        parse_metadata(struct.pack(">iii", 1, 0, 5))


def test_nobody_there_is_no_view() -> None:
    assert ask("127.0.0.1", 9, timeout_seconds=1) is None
