"""A remote topic that somebody else also writes to: noticed with the next batch, told, and gone on with."""

from __future__ import annotations

import pytest

from support.clusters.reading import read_all
from support.clusters.writing import numbered, write
from support.flows.mirroring import Flow
from support.waiting import eventually


def test_a_second_writer_is_noticed_and_the_mirror_goes_on(
    flow: Flow, caplog: pytest.LogCaptureFixture
) -> None:
    topic = flow.create()
    remote = flow.remote(topic)
    write(flow.source, topic, numbered(range(10)))
    with flow.running() as mirror:
        mirror.wait_for_records(10)
        write(flow.target, remote, numbered(range(100, 103)))
        write(flow.source, topic, numbered(range(10, 20)))
        mirror.wait_for_records(20)
        receipt = eventually(lambda: mirror.receipt(topic), lambda r: r is not None and r.foreign)
        problems = eventually(lambda: mirror.problems(), lambda found: bool(found))

    assert receipt is not None
    assert receipt.foreign == 3
    assert (
        f"{remote}-0: another program also writes to this topic: 3 records before offset 13"
        in caplog.text
    )
    assert problems == [
        f"flow {flow.name}: state: {remote}-0: another program also writes to it, so it is no longer a copy "
        "of its source; let only this mirror write to remote topics"
    ]
    numbers = [*range(10), *range(100, 103), *range(10, 20)]
    assert [r.value for r in read_all(flow.target, remote)[0]] == [b"value %d" % n for n in numbers]
