"""Defines what an option is: name, type, default, check, documentation, its places and its support."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from heliograph.config.options.checks import Check
from heliograph.config.options.values import InvalidValue, OptionType, Value


class Scope(StrEnum):
    """Where an option may stand, for a flow A->B. `x` alone is the top level of the file."""

    TOP = "top"  #             x
    CONNECTOR = "connector"  # A->B.x, x
    CLIENT = "client"  #       A.x, x                       how to reach a cluster
    CONSUMER = "consumer"  #   A.consumer.x, A->B.consumer.x, A->B.source.consumer.x
    PRODUCER = "producer"  #   B.producer.x
    ADMIN = "admin"  #         A.admin.x, B.admin.x
    WORKER = "worker"  #       B.x, and x for WORKER_TOP_LEVEL_PREFIXES
    SERVE = "serve"  #         x in worker.properties, together with the worker's options


class Support(StrEnum):
    """What this version does with an option."""

    ACTED = "acted"
    LATER = "later"  #     known, but without effect: a warning
    REFUSED = "refused"  # ignoring it would mirror records wrongly or break a connection: an error


class Importance(StrEnum):
    """Kafka's own ranking, as its documentation and REST API print it."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True, kw_only=True)
class InConnector:
    """What a connector's ConfigDef says of an option where it differs from a file of flows."""

    default: str | None = None
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """`default` is written as a user would write it; None: the option has none.

    `flow_only`: MM2 reads it at `A->B.x` and drops it at the top level, since no connector's
    ConfigDef has it. `renamed_to`: the option's name today; the old name is still read, with a warning.
    """

    name: str
    type: OptionType
    scope: Scope
    doc: str
    default: str | None = None
    valid: Check | None = None
    since: str = "2.4"
    importance: Importance = Importance.LOW
    support: Support = Support.ACTED
    flow_only: bool = False
    renamed_to: str | None = None
    in_connector: InConnector | None = None

    def parse(self, text: str) -> Value:
        """Raises InvalidValue."""
        try:
            value = self.type.parse(text)
        except InvalidValue as invalid:
            raise self._in_its_range(invalid) from None
        if self.valid is not None:
            self.valid.require(value)
        return value

    def _in_its_range(self, invalid: InvalidValue) -> InvalidValue:
        """With the option's range, which is narrower than that of its type."""
        if self.valid is None or not self.valid.expected:
            return invalid
        expected = self.valid.expected
        unlimited = "at least" in expected and invalid.limit.startswith("at most")
        return InvalidValue(f"{expected}, and {invalid.limit}" if unlimited else expected)
