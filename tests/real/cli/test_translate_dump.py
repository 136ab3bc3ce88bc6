"""`heliograph translate` and `heliograph dump` as a user starts them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heliograph.embedded import Cluster
from heliograph.mm2.checkpoint import Checkpoint
from heliograph.mm2.connect.offsets import source_offset_key, source_offset_value
from support.clusters.writing import New, create_topics, write
from support.commands import heliograph, heliograph_here
from support.flows.mirroring import Flow, new_alias


class Checkpointed:
    """A source whose groups `g1` and `g2` have checkpoints, and some bytes that are none."""

    def __init__(self, cluster: Cluster) -> None:
        self.alias = new_alias("checkpointed")
        self.cluster = ("--bootstrap-server", cluster.bootstrap_servers)
        self.checkpoints = [
            Checkpoint("g1", f"{self.alias}.orders", 0, 12, 10),
            Checkpoint("g1", f"{self.alias}.orders", 1, 7, 7, "note"),
            Checkpoint("g2", f"{self.alias}.orders", 0, 3, 3),
        ]
        self.topic = f"{self.alias}.checkpoints.internal"
        create_topics(cluster, {self.topic: 1})
        records = [New(key=c.key(), value=c.value(), timestamp=77) for c in self.checkpoints]
        write(cluster, self.topic, [*records, New(key=b"none", value=b"none")])


@pytest.fixture(scope="module")
def source(target_cluster: Cluster) -> Checkpointed:
    return Checkpointed(target_cluster)


def test_translate_prints_a_row_per_partition(source: Checkpointed) -> None:
    done = heliograph("translate", *source.cluster, "--source", source.alias, "--group", "g1")

    assert done.returncode == 0, done.stderr
    header, *rows = [line.split() for line in done.stdout.splitlines()]
    assert header == ["GROUP", "TOPIC", "PARTITION", "UPSTREAM", "DOWNSTREAM", "METADATA"]
    assert rows == [
        ["g1", f"{source.alias}.orders", "0", "12", "10", "-"],
        ["g1", f"{source.alias}.orders", "1", "7", "7", "note"],
    ]
    assert "1 record of" in done.stderr


def test_translate_takes_mm2s_own_file_and_prints_json(source: Checkpointed, flow: Flow) -> None:
    flow.alias = source.alias
    path = flow.folder / "mm2.properties"
    path.write_text("".join(f"{key} = {value}\n" for key, value in flow.properties().items()))

    done = heliograph("translate", path, "--source", source.alias, "--groups", "g.", "-o", "json")

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [each._asdict() for each in source.checkpoints]


def test_translate_reports_a_group_without_checkpoints(source: Checkpointed) -> None:
    done = heliograph_here("translate", *source.cluster, "--source", source.alias, "--group", "g3")

    assert done.returncode == 1
    assert "no checkpoint of group 'g3'" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (
            ("--source", "nobody"),
            1,
            "nobody.checkpoints.internal: does not exist, or this client may not read it",
        ),
        (("--source", "nobody", "--groups", "a("), 2, "'a('"),
        (("--source", "nobody", "--group", "a", "--groups", "b"), 2, "--group, --groups"),
        (("no.properties", "--source", "nobody"), 2, "either a configuration or"),
        (("--source", "nobody", "--command-config", "no.properties"), 2, "no.properties"),
    ],
)
def test_translate_exits_with_the_reason(
    source: Checkpointed, arguments: tuple[str, ...], code: int, words: str
) -> None:
    done = heliograph_here("translate", *source.cluster, *arguments)

    assert done.returncode == code
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_dump_finds_the_topic_by_policy_and_alias(source: Checkpointed, tmp_path: Path) -> None:
    config = tmp_path / "client.properties"
    config.write_text("replication.policy.separator = .\nbootstrap.servers = 127.0.0.1:1\n")

    done = heliograph(
        *("dump", "checkpoints", *source.cluster, "--source", source.alias, "-v"),
        *("--command-config", config),
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"{source.topic}-0 offset {offset} timestamp 77: {each}"
        for offset, each in enumerate(source.checkpoints)
    ]
    assert f"{source.topic}-0 offset 3: skipped:" in done.stderr
    assert "1 record could not be decoded" in done.stderr


def test_dump_prints_connects_offsets_as_lines_and_as_json(target_cluster: Cluster) -> None:
    alias = new_alias("dumped-offsets")
    topic, key = f"mm2-offsets.{alias}.internal", source_offset_key("M", alias, "größe", 0)
    create_topics(target_cluster, {topic: 1})
    write(
        target_cluster,
        topic,
        [New(key=key, value=source_offset_value(9), timestamp=5), New(key=key, timestamp=6)],
    )
    arguments = ("offsets", "--bootstrap-server", target_cluster.bootstrap_servers)

    lines = heliograph("dump", *arguments, "--source", alias)
    objects = heliograph("dump", *arguments, "--source", alias, "-o", "json")

    assert lines.stdout.splitlines() == [f'{key.decode()} {{"offset":9}}', f"{key.decode()} null"]
    place = {"topic": topic, "partition": 0}
    assert [json.loads(line) for line in objects.stdout.splitlines()] == [
        {**place, "offset": n, "timestamp": t, "record": {"key": json.loads(key), "value": value}}
        for n, t, value in ((0, 5, {"offset": 9}), (1, 6, None))
    ]


def test_dump_needs_to_know_which_topic(target_cluster: Cluster) -> None:
    cluster = ("--bootstrap-server", target_cluster.bootstrap_servers)

    unnamed = heliograph_here("dump", "state", *cluster)
    syncs = heliograph_here("dump", "offset-syncs", *cluster)
    missing = heliograph_here("dump", "state", *cluster, "--source", "nobody")

    assert (unnamed.returncode, syncs.returncode, missing.returncode) == (2, 2, 1)
    assert "expected --source ALIAS or --topic NAME" in unnamed.stderr
    assert "mm2-offset-syncs.<target>.internal on the source" in syncs.stderr
    assert "mm2-heliograph.nobody.internal: not found on" in missing.stderr
