"""What an option is: name, type, default, check; where it may stand and what is done with it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from heliograph.config.options.values import OptionType, Validator, Value


class Scope(StrEnum):
    """For a flow A->B. `x` alone is the top level of the file."""

    TOP = "top"  #             x
    CONNECTOR = "connector"  # A->B.x, x
    CLIENT = "client"  #       A.x, x                       how to reach a cluster
    CONSUMER = "consumer"  #   A.consumer.x, A->B.consumer.x, A->B.source.consumer.x
    PRODUCER = "producer"  #   B.producer.x
    ADMIN = "admin"  #         A.admin.x, B.admin.x
    WORKER = "worker"  #       B.x, and x for WORKER_TOP_LEVEL_PREFIXES
    SERVE = "serve"  #         x of worker.properties, beside the worker's


class Support(StrEnum):
    ACTED = "acted"
    LATER = "later"  #     known, without effect yet; a warning says so
    REFUSED = "refused"  # without it, records would go astray or a connection fail: an error


class Importance(StrEnum):
    """Kafka's own ranking, as its documentation and REST API print it."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """`default` is written as a user would write it; None means there is none.

    `flow_only`: MM2 reads it at `A->B.x` and drops it at the top level, since no connector's
    ConfigDef has it. `renamed_to`: the option's name today; this one is still read, with a warning.
    """

    name: str
    type: OptionType
    scope: Scope
    doc: str
    default: str | None = None
    valid: Validator | None = None
    since: str = "2.4"
    importance: Importance = Importance.LOW
    support: Support = Support.ACTED
    flow_only: bool = False
    renamed_to: str | None = None

    def parse(self, text: str) -> Value:
        """Raises InvalidValue."""
        value = self.type.parse(text)
        if self.valid is not None:
            self.valid(value)
        return value
