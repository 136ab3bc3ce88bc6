"""Refusals that the test brokers never give, since tests run as super user."""

from __future__ import annotations

from typing import Any, cast

import pytest

from heliograph.client.net.cluster import ClusterClient
from heliograph.config.mirror_config import FlowConfig
from heliograph.sync.configs import ConfigChanges, sync_configs
from heliograph.wire.topic_configs import ConfigChange, ConfigSource
from support.brokers.scripted import ScriptedCluster, reply

TOPICS = {"orders": "a.orders", "refunds": "a.refunds"}
NOT_AUTHORIZED, INVALID_CONFIG, POLICY_VIOLATION = 29, 40, 44


class Topics(ScriptedCluster):
    """Topics that all have `retention.bytes`; `refused` maps some of them to an error code."""

    def __init__(
        self, retention: str | None, *, describe: dict[str, int], alter: dict[str, int]
    ) -> None:
        super().__init__(
            {
                "DescribeConfigsRequest": lambda request: reply(
                    results=[self._described(each.resource_name) for each in request.resources]
                ),
                "IncrementalAlterConfigsRequest": lambda request: reply(
                    responses=[
                        self._answer_about(each.resource_name, alter) for each in request.resources
                    ]
                ),
            }
        )
        self._retention = retention
        self._describe = describe

    def _described(self, topic: str) -> Any:
        entry = reply(
            name="retention.bytes",
            value=self._retention or "-1",
            config_source=ConfigSource.TOPIC if self._retention else ConfigSource.DEFAULT,
            read_only=False,
            is_sensitive=False,
        )
        answer = self._answer_about(topic, self._describe)
        answer.configs = [] if answer.error_code else [entry]
        return answer

    @staticmethod
    def _answer_about(topic: str, refused: dict[str, int]) -> Any:
        return reply(
            resource_name=topic, error_code=refused.get(topic, 0), error_message="not for you"
        )


def sync(
    flow: FlowConfig,
    *,
    source: dict[str, int] | None = None,
    target: dict[str, int] | None = None,
    alter: dict[str, int] | None = None,
) -> ConfigChanges:
    clients = (
        Topics("1000", describe=source or {}, alter={}),
        Topics(None, describe=target or {}, alter=alter or {}),
    )
    return sync_configs(flow, TOPICS, *(cast(ClusterClient, client) for client in clients))


@pytest.mark.parametrize("where", [{"source": "orders"}, {"target": "a.orders"}])
def test_who_may_not_describe_settings_is_told_which_right_is_missing(
    flow: FlowConfig, where: dict[str, str]
) -> None:
    """MirrorSourceConnectorTest.testMissingDescribeConfigsAcl"""
    changes = sync(flow, **{side: {topic: NOT_AUTHORIZED} for side, topic in where.items()})

    assert changes.problems.keys() == {"orders"}
    assert "TOPIC_AUTHORIZATION_FAILED" in changes.problems["orders"]
    assert "grant DESCRIBE_CONFIGS on source topics" in changes.problems["orders"]
    assert changes.applied == {"a.refunds": [ConfigChange("retention.bytes", "1000")]}


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        (NOT_AUTHORIZED, "ALTER_CONFIGS on remote ones"),
        (INVALID_CONFIG, "keep the setting out with config.properties.exclude"),
        (POLICY_VIOLATION, "keep the setting out with config.properties.exclude"),
    ],
)
def test_a_setting_that_the_target_refuses_is_a_problem_of_its_topic(
    flow: FlowConfig, code: int, remedy: str
) -> None:
    changes = sync(flow, alter={"a.orders": code})

    assert changes.problems.keys() == {"orders"}
    assert remedy in changes.problems["orders"]
    assert changes.applied.keys() == {"a.refunds"}
