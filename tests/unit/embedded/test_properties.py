from __future__ import annotations

from pathlib import Path

import javaproperties
import pytest

from heliograph.embedded import Cluster
from heliograph.embedded.listener import Listener, SecurityProtocol, Tls
from heliograph.embedded.properties import (
    Ports,
    broker_properties,
    log_configuration,
    render_properties,
)
from heliograph.errors import ConfigError

DATA = Path("/data")


def ports(count: int) -> list[Ports]:
    return [Ports(controller=100 + i, internal=200 + i, clients=(300 + i,)) for i in range(count)]


def test_each_node_listens_on_its_own_ports_and_knows_all_voters() -> None:
    found = broker_properties(2, ports(3), [Listener()], {}, DATA)

    assert found["node.id"] == "2"
    assert found["controller.quorum.voters"] == "1@127.0.0.1:100,2@127.0.0.1:101,3@127.0.0.1:102"
    assert found["listeners"] == (
        "INTERNAL://127.0.0.1:201,CLIENT://127.0.0.1:301,CONTROLLER://127.0.0.1:101"
    )
    assert "CONTROLLER" not in found["advertised.listeners"]


def test_a_listener_for_containers_is_advertised_at_its_address_and_no_other_listener_is() -> None:
    found = broker_properties(1, ports(1), [Listener(host="192.0.2.2")], {}, DATA)

    assert found["listeners"] == (
        "INTERNAL://127.0.0.1:200,CLIENT://192.0.2.2:300,CONTROLLER://127.0.0.1:100"
    )
    assert found["advertised.listeners"] == "INTERNAL://127.0.0.1:200,CLIENT://192.0.2.2:300"


@pytest.mark.parametrize(("nodes", "replicas", "in_sync"), [(1, "1", "1"), (3, "3", "2")])
def test_internal_topics_fit_the_number_of_nodes(nodes: int, replicas: str, in_sync: str) -> None:
    found = broker_properties(1, ports(nodes), [Listener()], {}, DATA)

    assert found["offsets.topic.replication.factor"] == replicas
    assert found["transaction.state.log.min.isr"] == in_sync


def test_settings_win_over_defaults() -> None:
    settings = {"auto.create.topics.enable": "true"}

    found = broker_properties(1, ports(1), [Listener()], settings, DATA)

    assert found["auto.create.topics.enable"] == "true"


def test_brokers_may_do_everything_where_an_authorizer_is_set() -> None:
    settings = {"authorizer.class.name": "Some", "super.users": "User:admin"}

    found = broker_properties(1, ports(1), [Listener()], settings, DATA)

    assert found["super.users"] == "User:admin;User:ANONYMOUS"
    assert "super.users" not in broker_properties(1, ports(1), [Listener()], {}, DATA)


def test_rendered_properties_read_back_the_same_in_any_charset() -> None:
    properties = {"a": ' leading, \\back\\slash\n"two" lines', "path": "/home/zoë/日本"}

    text = render_properties(properties)

    assert text.isascii()
    assert javaproperties.loads(text) == properties


def test_a_sasl_tls_listener_has_its_settings_under_its_own_prefix() -> None:
    listener = Listener(
        name="Outside",
        protocol=SecurityProtocol.SASL_SSL,
        mechanisms=("PLAIN", "SCRAM-SHA-512"),
        users={"alice": 'a"b'},
        tls=Tls(keystore=Path("/k.pem"), truststore=Path("/t.pem"), client_auth="required"),
    )

    found = listener.properties()

    prefix = "listener.name.outside."
    assert all(key.startswith(prefix) for key in found)
    assert found[prefix + "plain.sasl.jaas.config"].endswith('required user_alice="a\\"b";')
    assert found[prefix + "ssl.truststore.location"] == "/t.pem"
    assert listener.scram_credentials() == ['SCRAM-SHA-512=[name=alice,password=a"b]']


def test_passwords_are_not_in_the_repr() -> None:
    listener = Listener(
        protocol=SecurityProtocol.SASL_PLAINTEXT, mechanisms=("PLAIN",), users={"a": "hidden"}
    )

    assert "hidden" not in repr(listener)


def test_every_problem_of_a_listener_is_reported() -> None:
    with pytest.raises(ConfigError) as found:
        Listener(name="INTERNAL", protocol=SecurityProtocol.SSL, mechanisms=("KERBEROS",))

    assert len(found.value.problems) == 4


def test_kafka_3_logs_through_log4j_1() -> None:
    assert log_configuration("3.9.1", Path("/x.log"))[0] == "log4j.properties"
    assert log_configuration("4.3.1", Path("/x.log"))[0] == "log4j2.properties"


@pytest.mark.parametrize("ports", [{"ports": (9093,)}, {"advertised_ports": (9093, 9094)}])
def test_ports_of_a_listener_are_given_for_every_node_or_none(
    ports: dict[str, tuple[int, ...]],
) -> None:
    with pytest.raises(ConfigError, match="a listener needs its ports for every node, or none"):
        Cluster("three", nodes=3, listeners=[Listener(**ports)])  # type: ignore[arg-type]
