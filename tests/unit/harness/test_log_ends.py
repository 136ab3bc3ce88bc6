"""Log ends of a topic whose leader is changing, or not elected yet."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any, cast

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from harness import cluster_side
from harness.cluster_side import ClusterSide, LogEnds
from harness.errors import HarnessError


class ScriptedSide:
    """Two partitions that end at 10 each, once the errors are used up."""

    def __init__(self, *errors: int) -> None:
        self._errors = list(errors)
        self.clients = 0
        self.admin = self

    def forget_admin(self) -> None:
        self.clients += 1

    def partitions(self, topic: str) -> int:
        return 2

    def list_offsets(
        self, wanted: Mapping[TopicPartition, object], **_: object
    ) -> dict[TopicPartition, Future[Any]]:
        answers = {partition: Future[Any]() for partition in wanted}
        error = self._errors.pop(0) if self._errors else None
        for answer in answers.values():
            if error is None:
                answer.set_result(SimpleNamespace(offset=10))
            else:
                answer.set_exception(KafkaException(KafkaError(error)))
        return answers


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_side, "_RETRY_SECONDS", 0.0)


def total(side: ScriptedSide) -> int:
    return LogEnds(cast(ClusterSide, side), "orders").total()


@pytest.mark.parametrize("error", [KafkaError.UNKNOWN_LEADER_EPOCH, KafkaError.FENCED_LEADER_EPOCH])
def test_an_outdated_leader_is_asked_for_anew_by_a_client_that_remembers_nothing(
    error: int,
) -> None:
    side = ScriptedSide(error, error)

    assert total(side) == 20
    assert side.clients == 2


def test_a_topic_without_leaders_has_no_records_yet() -> None:
    assert total(ScriptedSide(KafkaError.LEADER_NOT_AVAILABLE)) == 0


def test_any_other_error_ends_the_measurement() -> None:
    with pytest.raises(HarnessError, match="orders: offsets cannot be listed"):
        total(ScriptedSide(KafkaError.TOPIC_AUTHORIZATION_FAILED))
