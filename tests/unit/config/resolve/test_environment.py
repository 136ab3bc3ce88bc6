from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heliograph.config.resolve.environment import setting_of, settings_in, variable_of


@pytest.mark.parametrize(
    ("variable", "setting"),
    [
        ("CONNECT_BOOTSTRAP_SERVERS", "bootstrap.servers"),
        ("CONNECT_OFFSET_STORAGE_REPLICATION_FACTOR", "offset.storage.replication.factor"),
        ("CONNECT_PRODUCER_SASL_JAAS_CONFIG", "producer.sasl.jaas.config"),
        ("CONNECT_EMIT_OFFSET__SYNCS_ENABLED", "emit.offset-syncs.enabled"),
        ("CONNECT_A___B_C", "a_b.c"),
        ("CONNECT_A____B", "a____b"),  # no rule of the images reaches four
    ],
)
def test_a_variable_sets_a_setting(variable: str, setting: str) -> None:
    assert setting_of(variable) == setting


@pytest.mark.parametrize(
    "variable", ["CONNECT_", "BOOTSTRAP_SERVERS", "CONNECT_LOG4J_ROOT_LOGLEVEL"]
)
def test_other_variables_stand_for_none(variable: str) -> None:
    assert setting_of(variable) is None


WORDS = st.text("abcdefgz0189", min_size=1, max_size=6)


@given(st.lists(st.tuples(WORDS, st.sampled_from(".-_")), min_size=1, max_size=5), WORDS)
def test_every_setting_has_a_variable(parts: list[tuple[str, str]], last: str) -> None:
    setting = "".join(word + sign for word, sign in parts) + last
    assert setting_of(variable_of(setting)) == setting


def test_quotes_are_part_of_the_value_as_in_the_images() -> None:
    """Scenario D2-B3"""
    found = settings_in({"CONNECT_GROUP_ID": '"quickstart"', "PATH": "/bin"})
    assert {name: each.value for name, each in found.items()} == {"group.id": '"quickstart"'}
    assert found["group.id"].at("worker.properties") == "CONNECT_GROUP_ID"
