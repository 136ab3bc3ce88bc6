from __future__ import annotations

import pytest

from heliograph.config.mirror_config import ExactlyOnce
from support.configurations.mm2_files import BASE, Reader

ENABLED = BASE + "eu.exactly.once.source.support = enabled\n"
COMMITTED = "us.consumer.isolation.level = read_committed\n"


def test_exactly_once_is_off_unless_the_worker_enables_it(mm2: Reader) -> None:
    assert mm2(BASE).flows[0].exactly_once is None
    assert mm2(BASE + "eu.exactly.once.source.support = disabled\n").flows[0].exactly_once is None


def test_exactly_once_has_the_names_and_times_of_connect(mm2: Reader) -> None:
    mirror = mm2(ENABLED + COMMITTED)

    assert mirror.flows[0].exactly_once == ExactlyOnce(interval_ms=None, timeout_ms=60_000)
    assert mirror.flows[0].group_id == "us-mm2"
    assert mirror.warnings == ()


def test_preparing_has_the_effect_of_disabled_with_a_warning(mm2: Reader) -> None:
    mirror = mm2(BASE + "eu.exactly.once.source.support = preparing\n")

    assert mirror.flows[0].exactly_once is None
    assert mirror.warnings == (
        "eu.exactly.once.source.support: preparing has the effect of disabled; set enabled to mirror "
        "exactly once (mm2.properties:5)",
    )


def test_exactly_once_needs_a_source_consumer_that_reads_committed_records(mm2: Reader) -> None:
    """MirrorSourceConnectorTest.testExactlyOnceSupport, .testExactlyOnceSupportValidation"""
    required = ENABLED + "us->eu.exactly.once.support = required\n"

    assert mm2.problems(required) == [
        "us->eu.exactly.once.support: required, but records of aborted transactions would be "
        "mirrored; set us.consumer.isolation.level = read_committed (mm2.properties:6)",
    ]
    for committed in (
        "us.consumer.isolation.level = read_committed\n",
        "us->eu.consumer.isolation.level = read_committed\n",
        "us->eu.source.consumer.isolation.level = read_committed\n",
    ):
        assert mm2(required + committed).flows[0].exactly_once is not None
    contrary = (
        "us->eu.consumer.isolation.level = read_committed\n"
        "us->eu.source.consumer.isolation.level = read_uncommitted\n"
    )
    assert len(mm2.problems(required + contrary)) == 1


def test_settings_of_exactly_once_ignore_case_as_in_connect(mm2: Reader) -> None:
    enabled = ENABLED + COMMITTED + "us->eu.exactly.once.support = REQUIRED\n"
    interval = "us->eu.transaction.boundary = Interval\n"

    exactly_once = mm2(enabled + interval).flows[0].exactly_once

    assert exactly_once is not None
    assert exactly_once.interval_ms == 60_000
    assert len(mm2.problems(BASE + "us->eu.exactly.once.support = REQUIRED\n")) == 2


def test_exactly_once_that_is_only_requested_is_a_warning(mm2: Reader) -> None:
    mirror = mm2(ENABLED)

    assert mirror.flows[0].exactly_once is not None
    assert mirror.warnings == (
        "eu.exactly.once.source.support: enabled, but records of aborted transactions would be mirrored; "
        "set us.consumer.isolation.level = read_committed (mm2.properties:5)",
    )


def test_exactly_once_that_is_required_must_be_enabled(mm2: Reader) -> None:
    assert mm2.problems(BASE + COMMITTED + "us->eu.exactly.once.support = required\n") == [
        "us->eu.exactly.once.support: required, but exactly once is not enabled; set "
        "eu.exactly.once.source.support = enabled (mm2.properties:6)"
    ]


@pytest.mark.parametrize(
    ("settings", "interval_ms"),
    [
        ("us->eu.transaction.boundary = poll\n", None),
        ("eu.offset.flush.interval.ms = 7000\nus->eu.transaction.boundary = interval\n", 7000),
        (
            "us->eu.transaction.boundary = interval\nus->eu.transaction.boundary.interval.ms = 500\n",
            500,
        ),
    ],
)
def test_a_boundary_decides_how_long_a_transaction_lasts(
    mm2: Reader, settings: str, interval_ms: int | None
) -> None:
    mirror = mm2(ENABLED + COMMITTED + settings)

    assert mirror.flows[0].exactly_once is not None
    assert mirror.flows[0].exactly_once.interval_ms == interval_ms
    assert mirror.warnings == ()


@pytest.mark.parametrize(
    ("settings", "warning"),
    [
        (
            "us->eu.transaction.boundary = connector\n",
            "us->eu.transaction.boundary: MM2's connectors define no boundaries; connector has the effect of "
            "poll (mm2.properties:7)",
        ),
        (
            "us->eu.transaction.boundary.interval.ms = 500\n",
            "us->eu.transaction.boundary.interval.ms: has no effect without transaction.boundary = "
            "interval (mm2.properties:7)",
        ),
        (
            "us->eu.transaction.boundary = interval\n",
            "us->eu.transaction.boundary: the interval is 60000 ms, but transactions are committed "
            "after 20 s at the latest, a third of transaction.timeout.ms (mm2.properties:7)",
        ),
    ],
)
def test_a_boundary_without_its_full_effect_is_a_warning(
    mm2: Reader, settings: str, warning: str
) -> None:
    assert mm2(ENABLED + COMMITTED + settings).warnings == (warning,)


@pytest.mark.parametrize(
    ("settings", "timeout_ms"),
    [
        ("eu.producer.transaction.timeout.ms = 30000\n", 30_000),
        ("us->eu.producer.override.transaction.timeout.ms = 20000\n", 20_000),
        (
            "us->eu.producer.override.transaction.timeout.ms = 20000\n"
            "eu.producer.transaction.timeout.ms = 30000\n",
            20_000,
        ),
    ],
)
def test_the_time_out_is_that_of_connects_producer(
    mm2: Reader, settings: str, timeout_ms: int
) -> None:
    mirror = mm2(ENABLED + COMMITTED + settings)

    assert mirror.flows[0].exactly_once is not None
    assert mirror.flows[0].exactly_once.timeout_ms == timeout_ms
    assert mirror.warnings == ()


def test_a_transactional_id_of_a_users_own_has_no_effect(mm2: Reader) -> None:
    """Connect replaces it as well: fencing needs ids that are known."""
    mirror = mm2(ENABLED + COMMITTED + "us->eu.producer.override.transactional.id = mine\n")

    (warning,) = mirror.warnings
    assert "without effect" in warning
    assert "transactional.id" in warning
