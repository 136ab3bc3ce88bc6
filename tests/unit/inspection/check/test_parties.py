from __future__ import annotations

from pathlib import Path

from heliograph.config.connectors.worker import load_worker
from heliograph.config.formats.load import LoadOptions, load
from heliograph.inspection.check.parties import Party, logins_of, parties_of, party_of_worker
from heliograph.model import ClientKind
from support.configurations.mm2_files import BASE, Reader
from support.repository import ROOT

EXAMPLES = ROOT / "examples"
MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule required"
LOGINS = f"""
us.security.protocol = SASL_SSL
us.sasl.mechanism = PLAIN
us.sasl.jaas.config = {MODULE} username="u" password="p";
us.consumer.sasl.jaas.config = {MODULE} username="c" password="p";
"""
STRIMZI = """
apiVersion: kafka.strimzi.io/v1
kind: KafkaMirrorMaker2
metadata: {name: main-to-standby}
spec:
  target:
    alias: standby
    bootstrapServers: standby1:9092
    groupId: main-to-standby
    configStorageTopic: main-to-standby-configs
    offsetStorageTopic: main-to-standby-offsets
    statusStorageTopic: main-to-standby-status
  mirrors:
    - source: {alias: main, bootstrapServers: "main1:9092"}
      sourceConnector: {tasksMax: 4}
      checkpointConnector: {}
"""


def ways(parties: list[Party]) -> list[tuple[str, tuple[ClientKind, ...]]]:
    return [(login.config.alias, login.clients) for login in logins_of(parties).values()]


def test_clients_with_one_login_are_checked_once(tmp_path: Path) -> None:
    found = ways(parties_of(Reader(tmp_path)(BASE)))
    assert [alias for alias, _ in found] == ["us", "eu"]
    assert set(found[0][1]) == set(ClientKind)


def test_a_client_with_a_login_of_its_own_is_checked_apart(tmp_path: Path) -> None:
    found = ways(parties_of(Reader(tmp_path)(BASE + LOGINS)))
    assert ("us", (ClientKind.CONSUMER,)) in found
    assert {alias for alias, _ in found} == {"us", "eu"}
    assert len(found) == 3


def test_connectors_and_strimzis_resources_have_parties_too(tmp_path: Path) -> None:
    options = LoadOptions(worker=EXAMPLES / "worker.properties")
    connectors = parties_of(load(EXAMPLES / "connectors", options, {}))
    assert connectors
    assert all(logins_of([party]) for party in connectors)

    resource = tmp_path / "mirror.yaml"
    resource.write_text(STRIMZI)
    parties = parties_of(load(resource, LoadOptions(), {}))
    assert {alias for alias, _ in ways(parties)} == {"main", "standby"}


def test_a_worker_needs_its_topics_and_its_group() -> None:
    party = party_of_worker(load_worker(EXAMPLES / "worker.properties", {}))
    assert [need.resource for need in party.needs] == ["Topic"] * 3 + ["Group"]
    assert len(logins_of([party])) == 1
