from __future__ import annotations

import pytest

from heliograph.config.options import OPTIONS, Option, Scope, Support
from heliograph.config.options.values import INT, InvalidValue, parse_boolean, parse_list


@pytest.mark.parametrize("option", OPTIONS.values(), ids=lambda option: option.name)
def test_every_default_is_a_value_of_its_option(option: Option) -> None:
    if option.default is not None:
        option.parse(option.default)

    assert option.doc
    assert option.support in Support


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("a, b ,c", ("a", "b", "c")),
        ("  a ", ("a",)),
        ("a,", ("a", "")),
        ("   ", ()),
        ("", ()),
    ],
)
def test_lists_are_split_as_kafka_does(text: str, items: tuple[str, ...]) -> None:
    assert parse_list(text) == items


def test_booleans_ignore_case_and_blanks_and_nothing_else() -> None:
    assert parse_boolean(" TRUE ") is True
    assert parse_boolean("False") is False
    with pytest.raises(InvalidValue):
        parse_boolean("1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((text, "a whole number") for text in ("", "1_000", "1.0", "0x10", "٣")),
        ("2147483648", "a whole number of at most 2147483647"),
        ("-2147483649", "a whole number of at least -2147483648"),
        ("9" * 5000, "a whole number of at most 2147483647"),
    ],
)
def test_what_java_does_not_take_for_an_int_is_refused(text: str, expected: str) -> None:
    with pytest.raises(InvalidValue) as raised:
        INT.parse(text)

    assert raised.value.expected == expected


_REPLICAS = "a whole number from 1 to 32767, or -1 for the broker's default"


@pytest.mark.parametrize(
    ("scope", "name", "text", "expected"),
    [
        (Scope.CONNECTOR, "tasks.max", "x", "a whole number of at least 1"),
        (
            Scope.CONNECTOR,
            "tasks.max",
            "9999999999",
            "a whole number of at least 1, and at most 2147483647",
        ),
        (Scope.CONNECTOR, "tasks.max", "-9999999999", "a whole number of at least 1"),
        (Scope.CONNECTOR, "replication.factor", "40000", _REPLICAS),
        (Scope.CONNECTOR, "offset-syncs.topic.replication.factor", "40000", _REPLICAS),
        (Scope.TOP, "driver.channel.port", "x", "a whole number from 0 to 65535"),
    ],
)
def test_a_refusal_names_the_range_of_the_option_not_of_its_type(
    scope: Scope, name: str, text: str, expected: str
) -> None:
    with pytest.raises(InvalidValue) as raised:
        OPTIONS[scope, name].parse(text)

    assert raised.value.expected == expected


def test_ints_may_have_a_sign_and_blanks_around() -> None:
    assert (INT.parse(" +5 "), INT.parse("-1")) == (5, -1)


#: Kafka 4.3's ConfigDefs of the three connectors: name, type, default.
KAFKA_4_3 = """
enabled BOOLEAN false
admin.timeout.ms LONG 60000
replication.policy.class CLASS org.apache.kafka.connect.mirror.DefaultReplicationPolicy
replication.policy.separator STRING .
replication.policy.internal.topic.separator.enabled BOOLEAN true
forwarding.admin.class CLASS org.apache.kafka.clients.admin.ForwardingAdmin
metric.reporters LIST org.apache.kafka.common.metrics.JmxReporter
topics LIST .*
topic.filter.class CLASS org.apache.kafka.connect.mirror.DefaultTopicFilter
config.property.filter.class CLASS org.apache.kafka.connect.mirror.DefaultConfigPropertyFilter
consumer.poll.timeout.ms LONG 1000
refresh.topics.enabled BOOLEAN true
refresh.topics.interval.seconds LONG 600
sync.topic.configs.enabled BOOLEAN true
sync.topic.configs.interval.seconds LONG 600
sync.topic.acls.enabled BOOLEAN true
sync.topic.acls.interval.seconds LONG 600
replication.factor INT 2
offset-syncs.topic.replication.factor SHORT 3
offset.lag.max LONG 100
offset-syncs.topic.location STRING source
emit.offset-syncs.enabled BOOLEAN true
heartbeats.replication.enabled BOOLEAN true
metric.names.formats LIST legacy
use.defaults.from STRING target
groups LIST .*
group.filter.class CLASS org.apache.kafka.connect.mirror.DefaultGroupFilter
refresh.groups.enabled BOOLEAN true
refresh.groups.interval.seconds LONG 600
emit.checkpoints.enabled BOOLEAN true
emit.checkpoints.interval.seconds LONG 60
sync.group.offsets.enabled BOOLEAN false
sync.group.offsets.interval.seconds LONG 60
checkpoints.topic.replication.factor SHORT 3
emit.heartbeats.enabled BOOLEAN true
emit.heartbeats.interval.seconds LONG 1
heartbeats.topic.replication.factor SHORT 3
tasks.max INT 1
exactly.once.support STRING requested
transaction.boundary STRING poll
errors.tolerance STRING none
"""


@pytest.mark.parametrize("line", KAFKA_4_3.split("\n")[1:-1], ids=lambda line: line.split()[0])
def test_options_have_mm2s_types_and_defaults(line: str) -> None:
    """MirrorMakerConfigTest.testAllConfigNames"""
    name, type_, default = line.split()

    option = OPTIONS[Scope.CONNECTOR, name]

    assert (option.type.name, option.default) == (type_, default)


def test_lists_of_exclusions_have_the_defaults_of_kafka_4_3() -> None:
    def items(name: str) -> tuple[str, ...]:
        return parse_list(OPTIONS[Scope.CONNECTOR, name].default or "")

    assert items("topics.exclude") == (r"mm2.*\.internal", r".*\.replica", "__.*")
    assert items("groups.exclude") == ("console-consumer-.*", "connect-.*", "__.*")
    assert items("config.properties.exclude") == (
        "follower.replication.throttled.replicas",
        "leader.replication.throttled.replicas",
        "message.timestamp.difference.max.ms",
        "log.message.timestamp.before.max.ms",
        "log.message.timestamp.after.max.ms",
        "message.timestamp.type",
        "unclean.leader.election.enable",
        "min.insync.replicas",
    )


def test_settings_of_single_tasks_are_none_of_a_users() -> None:
    """MirrorSourceConfigTest.testNonMutationOfConfigDef, MirrorCheckpointConfigTest's"""
    names = {name for _, name in OPTIONS}

    assert not names & {"task.index", "task.assigned.partitions", "task.assigned.groups"}


def test_an_old_name_is_that_of_an_option_of_today() -> None:
    renamed = [option.renamed_to for option in OPTIONS.values() if option.renamed_to]

    assert len(renamed) == 3
    assert all((Scope.CONNECTOR, name) in OPTIONS for name in renamed)
