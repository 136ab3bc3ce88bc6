"""Every exception of ours, in one tree.

HeliographError
├── ConfigError              the user's file or arguments; exit code 2
│   └── InvalidPattern       a regular expression that Java would refuse, or that we cannot run
├── EnvironmentProblem       Java, disk or network of this machine
├── BrokerNotRunning         an embedded broker did not start, or exited by itself
├── NotFound                 what was asked for is not on the cluster
├── CorruptRecords           bytes from a broker that are not what they claim to be
├── ClientError
│   ├── Unreachable          no broker answers                                 retriable
│   ├── ConnectionLost       a connection broke or timed out                   retriable
│   │   ├── Interrupted      we were told to stop while we waited
│   │   └── NoAnswer         nothing came in time, and nothing says why
│   ├── MalformedResponse    an answer's bytes are not what its API promises   retriable
│   ├── NotKafka             something else listens on that port
│   ├── UnsupportedBroker    the broker does not speak a version we need
│   ├── SecurityFailed       tried again, but no matter of waiting
│   │   ├── BadKeyMaterial   a store, a key or a token that cannot be read
│   │   ├── TlsFailed        the other end could not prove who it is, or no TLS could be agreed on
│   │   └── LoginFailed      the broker, or a token endpoint, does not take our credentials
│   └── BrokerError          an error code in a response; knows if retriable
├── Fenced                   another has taken over our transactional.id
├── LeaseRefused             the driver does not let this attempt of a task copy
├── LeaseLapsed              the driver has not confirmed a task's leases in time
└── RecordTooLarge           one record is larger than the target takes
"""

from __future__ import annotations

from collections.abc import Sequence


class HeliographError(Exception):
    """Base of all errors that Heliograph raises on purpose; the message is meant for the user."""

    retriable = False


class ConfigError(HeliographError):
    """The configuration cannot be used; carries all problems found, not only the first."""

    def __init__(self, problems: str | Sequence[str]) -> None:
        self.problems = [problems] if isinstance(problems, str) else list(problems)
        super().__init__("\n".join(self.problems))


class InvalidPattern(ConfigError):
    """A regular expression cannot be used; `position` counts characters from 0."""

    def __init__(self, pattern: str, position: int, reason: str) -> None:
        self.pattern = pattern
        self.position = position
        self.reason = reason
        super().__init__(f"{pattern!r}: {reason}, at character {position + 1}")

    def __reduce__(self) -> tuple[type[InvalidPattern], tuple[str, int, str]]:
        return (InvalidPattern, (self.pattern, self.position, self.reason))


class EnvironmentProblem(HeliographError):
    """This machine lacks something that no configuration can give: Java, disk space, a network."""


class BrokerNotRunning(HeliographError):
    """An embedded broker exited early or was not ready in time; the message ends with its log."""


class NotFound(HeliographError):
    """A topic or the like that was asked for by name does not exist, or is hidden from this user."""


class CorruptRecords(HeliographError):
    """A record batch violates its format or its checksum."""


class ClientError(HeliographError):
    """Talking to a broker failed."""

    @property
    def tried_again(self) -> bool:
        """Whether a service that runs on goes on trying, since it may come right."""
        return self.retriable


class Unreachable(ClientError):
    """None of the bootstrap servers or known brokers answers."""

    retriable = True


class ConnectionLost(ClientError):
    """A connection broke, or an answer did not come in time; the request may have been carried out."""

    retriable = True


class Interrupted(ConnectionLost):
    """We were told to stop while we waited: nothing is known of the broker. Its connection is of no use."""


class NoAnswer(ConnectionLost):
    """Nothing came in time, and nothing says why: a broker at a loss, or a connection that is half-open."""


class MalformedResponse(ClientError):
    """An answer is not what its API and version promise. Its connection is of no use any more."""

    retriable = True


class NotKafka(ClientError):
    """What listens on the port does not speak Kafka's protocol."""


class UnsupportedBroker(ClientError):
    """The broker does not offer a version of an API that this client needs."""


class SecurityFailed(ClientError):
    """Who is who could not be proven. Not retriable, but not final: people mend certificates and
    passwords while a service runs."""

    tried_again = True


class BadKeyMaterial(SecurityFailed):
    """A truststore, a keystore, a key or a token cannot be read."""


class TlsFailed(SecurityFailed):
    """The other end could not prove who it is, refused our certificate, or no TLS could be agreed on."""


class LoginFailed(SecurityFailed):
    """Credentials were refused, or cannot be had."""


class BrokerError(ClientError):
    """The broker answered with an error code."""

    def __init__(self, subject: str, code: int, name: str, detail: str, *, retriable: bool) -> None:
        self.code = code
        self.name = name
        self.retriable = retriable
        super().__init__(f"{subject}: {name} ({code}){': ' + detail if detail else ''}")


class Fenced(HeliographError):
    """The brokers take nothing more under our producer epoch: whoever took it over goes on in our place."""


class LeaseRefused(HeliographError):
    """The driver has granted a task's leases to an earlier attempt, or their epoch is over."""


class LeaseLapsed(HeliographError):
    """The driver has not confirmed a task's leases in time: others may copy its partitions by now."""


class RecordTooLarge(HeliographError):
    """One record alone is larger than the target's max.message.bytes; no splitting can help."""

    def __init__(self, subject: str, offset: int, size: int) -> None:
        self.offset = offset
        self.size = size
        super().__init__(
            f"{subject}: the record at source offset {offset} needs a batch of {size} bytes, which is "
            "more than the target topic takes; raise its max.message.bytes to go on"
        )
