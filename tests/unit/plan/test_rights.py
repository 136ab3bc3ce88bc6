"""The rights that `heliograph check` looks for are those of docs/security.md."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from heliograph.config.mirror_config import FlowConfig
from heliograph.model import ClientKind
from heliograph.plan.rights import Names, Need, Resource, needs_of_flow, needs_of_heartbeats
from support.configurations.mm2_files import BASE, Reader
from support.repository import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text()
Rights = dict[tuple[str, str], set[str]]

EVERYTHING = """
emit.heartbeats.enabled = true
sync.group.offsets.enabled = true
eu.exactly.once.source.support = enabled
us.consumer.isolation.level = read_committed
"""


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    return Reader(tmp_path)


def flow_of(read: Reader, text: str = "") -> FlowConfig:
    return read(BASE + text).flows[0]


def table(heading: str) -> Rights:
    rows = PAGE.partition(f"\n### {heading}\n")[2].partition("\n#")[0]
    found = re.findall(r"^\| (\w+) \| `([^`]+)` \| (`[^|]+`) \|", rows, re.MULTILINE)
    assert found, heading
    return {
        (kind, name.replace("{A}", "us").replace("{B}", "eu")): set(re.findall(r"`(\w+)`", rights))
        for kind, name, rights in found
    }


def listed(needs: Iterable[Need], alias: str) -> Rights:
    """Summed up over the kinds of client, with the page's names."""
    found: Rights = {}
    names = {Names.TOPICS: "{topics}", Names.REMOTE_TOPICS: "{topics}", Names.GROUPS: "{groups}"}
    for need in needs:
        if need.alias == alias and need.resource is not Resource.CLUSTER:
            name = names.get(need.name, need.name) if isinstance(need.name, Names) else need.name
            if need.resource is Resource.TRANSACTIONAL_ID:
                name = re.sub(r"Connector-0$", "Connector-*", name)
            found.setdefault((need.resource, name), set()).update(o.name for o in need.operations)
    for rights in found.values():
        if rights & {"READ", "WRITE"}:  # which include it
            rights.discard("DESCRIBE")
    return found


def test_the_page_and_the_check_list_the_same_rights(read: Reader) -> None:
    mirror = read(BASE + EVERYTHING)
    pair = next(each for each in mirror.heartbeats if each.source == "us")
    needs = [*needs_of_flow(mirror.flows[0]), *needs_of_heartbeats(pair)]

    assert listed(needs, "us") == table("On the source")
    on_target = table("On the target") | table("On the target, for exactly once")
    assert listed(needs, "eu") == on_target


def test_acls_need_rights_on_the_clusters_unless_they_are_not_synced(read: Reader) -> None:
    def on_clusters(text: str) -> set[tuple[str, str]]:
        needs = needs_of_flow(flow_of(read, text))
        its = [need for need in needs if need.resource is Resource.CLUSTER]
        return {(need.alias, operation.name) for need in its for operation in need.operations}

    page = table("For `sync.topic.acls.enabled`, which is MM2's default")
    wanted = {
        ({"source": "us", "target": "eu"}[name], right)
        for (_, name), rights in page.items()
        for right in rights
    }
    assert on_clusters("") == wanted
    assert on_clusters("sync.topic.acls.enabled = false\n") == set()


def test_records_are_read_as_consumer_and_written_as_producer(read: Reader) -> None:
    needs = needs_of_flow(flow_of(read))
    assert [n.client for n in needs if n.name is Names.TOPICS and "READ" in str(n.operations)] == [
        ClientKind.CONSUMER
    ]
    assert {
        n.client
        for n in needs
        if n.name is Names.REMOTE_TOPICS and "WRITE" in [o.name for o in n.operations]
    } == {ClientKind.PRODUCER}


@pytest.mark.parametrize(
    ("setting", "gone"),
    [
        ("sync.topic.configs.enabled = false", ("eu", "ALTER_CONFIGS")),
        ("refresh.topics.enabled = false", ("eu", "ALTER")),
        ("emit.checkpoints.enabled = false", ("us", "DESCRIBE")),
    ],
)
def test_what_is_switched_off_needs_no_right(
    read: Reader, setting: str, gone: tuple[str, str]
) -> None:
    def rights(text: str) -> set[tuple[str, str]]:
        needs = needs_of_flow(flow_of(read, f"sync.topic.acls.enabled = false\n{text}\n"))
        return {(need.alias, operation.name) for need in needs for operation in need.operations}

    assert gone in rights("")
    assert gone not in rights(setting)
