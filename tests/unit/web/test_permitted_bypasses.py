"""The allow-list of REST checks what the parsers would open: it uses the same parsers."""

from __future__ import annotations

import pytest

from support.rest.asking import HEARTBEAT, Asking

URL = "source.cluster.sasl.oauthbearer.token.endpoint.url"
JAAS = "source.cluster.sasl.jaas.config"
ALLOWED = "/etc/kafka/trust"


def status(asking: Asking, **changes: str) -> int:
    config = {"name": "c", "config": {**HEARTBEAT, **changes}}
    return asking.ask("POST", "/connectors", config).status


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (URL, "fi\tle:///etc/shadow"),
        (URL, "\x01file:///etc/shadow"),
        (URL, "FILE:/etc/shadow"),
        (URL, "file:/etc/kafka/trust/%2e%2e/%2e%2e/shadow"),
        (URL, "file:/etc/kafka/trust/..%2fshadow"),
        (JAAS, 'M required "keyTab"="/etc/shadow" useKeyTab=true;'),
        (JAAS, "M required 'keyTab' = '/etc/shadow';"),
        (JAAS, 'M required keyTab/**/="/etc/shadow";'),
        (JAAS, 'M required keyTab= // \n"/etc/shadow";'),
        (JAAS, 'M required "key\\124ab"="/etc/shadow";'),
        (JAAS, 'M required keyTab="/etc/kafka/trust/\\56\\56/shadow";'),
        (JAAS, 'M required keyTab="\\057etc/shadow";'),
        (JAAS, 'M required keyTab="/etc/kafka/trust /../../shadow";'),
        (JAAS, 'M required "oauth.access.token.location"="/etc/shadow";'),
        (JAAS, 'M required "oauth.ssl.truststore.location"="/etc/shadow";'),
        (JAAS, 'M required "oauth.token.endpoint.uri"="file:///etc/shadow";'),
        ("replication.policy.class", "unittest.__main__:x-"),
        ("replication.policy.class", "unittest.__main__:"),
        ("replication.policy.class", "unittest.__main__:a:b"),
        ("topic.filter.class", "antigravity :x"),
        ("group.filter.class", "allowed.module/../os:system"),
        ("config.property.filter.class", ":x"),
    ],
)
def test_no_other_spelling_of_a_file_or_class_gets_past(name: str, value: str) -> None:
    asking = Asking(
        rest_connector_allowed_paths=ALLOWED, rest_connector_allowed_modules="allowed.module"
    )

    assert status(asking, **{name: value}) == 400
    assert asking.herder.connectors() == []


def test_a_file_that_java_spells_in_another_way_may_be_named_as_well() -> None:
    asking = Asking(rest_connector_allowed_paths=ALLOWED)

    assert status(asking, **{JAAS: 'M required "keyTab"="/etc/kafka/\\164rust/a.keytab";'}) == 201
