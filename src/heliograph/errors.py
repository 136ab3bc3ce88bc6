"""All exceptions of Heliograph, in one tree.

HeliographError
├── ConfigError              the user's file or arguments; exit code 2
│   └── InvalidPattern       a regular expression that Java would refuse, or that we cannot run
├── EnvironmentProblem       Java, disk or network of this machine
├── BrokerNotRunning         an embedded broker did not start, or exited
├── NotFound                 a topic or the like does not exist on the cluster
├── CorruptRecords           a record batch that violates its format or checksum
├── ClientError
│   ├── Unreachable          no broker answers                                 retriable
│   ├── ConnectionLost       a connection broke or timed out                   retriable
│   │   ├── Interrupted      a stop interrupted the wait for a response
│   │   └── NoAnswer         a response timed out without a known cause
│   ├── MalformedResponse    a response does not follow its schema             retriable
│   ├── NotKafka             the port is not that of a Kafka broker
│   ├── UnsupportedBroker    the broker does not support a required version of an API
│   ├── SecurityFailed       repeated by a service, since an operator can correct it
│   │   ├── BadKeyMaterial   a store, a key or a token that cannot be read
│   │   ├── TlsFailed        the TLS handshake failed
│   │   └── LoginFailed      the broker or a token endpoint rejects the credentials
│   └── BrokerError          an error code in a response; `retriable` depends on the code
├── Fenced                   another process has taken over the transactional.id
├── LeaseRefused             the driver refuses this attempt of a task
├── LeaseLapsed              the driver did not confirm a task's leases in time
├── RecordRejected           one record failed in a chain of transformations
└── RecordTooLarge           one record is larger than the target allows
"""

from __future__ import annotations

from collections.abc import Sequence


class HeliographError(Exception):
    """Base of all errors that Heliograph raises; the message is written for the user."""

    retriable = False


class ConfigError(HeliographError):
    """The configuration cannot be used; has all problems found, not only the first."""

    def __init__(self, problems: str | Sequence[str]) -> None:
        self.problems = [problems] if isinstance(problems, str) else list(problems)
        super().__init__("\n".join(self.problems))


class InvalidPattern(ConfigError):
    """A regular expression cannot be used; `position` is a character index from 0."""

    def __init__(self, pattern: str, position: int, reason: str) -> None:
        self.pattern = pattern
        self.position = position
        self.reason = reason
        super().__init__(f"{pattern!r}: {reason}, at character {position + 1}")

    def __reduce__(self) -> tuple[type[InvalidPattern], tuple[str, int, str]]:
        return (InvalidPattern, (self.pattern, self.position, self.reason))


class EnvironmentProblem(HeliographError):
    """This machine lacks something: Java, disk space, a network."""


class BrokerNotRunning(HeliographError):
    """An embedded broker exited early or was not ready in time; the message ends with its log."""


class NotFound(HeliographError):
    """A topic or the like does not exist, or this user has no permission to see it."""


class CorruptRecords(HeliographError):
    """A record batch violates its format or its checksum."""


class ClientError(HeliographError):
    """A request to a broker failed."""

    @property
    def tried_again(self) -> bool:
        """Whether a running service repeats the request, since the cause may pass or be corrected."""
        return self.retriable


class Unreachable(ClientError):
    """None of the bootstrap servers or known brokers answers."""

    retriable = True


class ConnectionLost(ClientError):
    """A connection broke, or a response timed out; the request may have been carried out."""

    retriable = True


class Interrupted(ConnectionLost):
    """A stop interrupted the wait for a response, so this says nothing about the broker. The connection
    cannot be used further."""


class NoAnswer(ConnectionLost):
    """A response timed out without a known cause: the broker hangs, or the connection is half-open."""


class MalformedResponse(ClientError):
    """A response does not follow the schema of its API and version. The connection cannot be used further."""

    retriable = True


class NotKafka(ClientError):
    """The process that listens on the port does not use Kafka's protocol."""


class UnsupportedBroker(ClientError):
    """The broker does not support a version of an API that this client needs."""


class SecurityFailed(ClientError):
    """Authentication failed. Not retriable, but not final: operators correct certificates and passwords while
    a service runs."""

    tried_again = True


class BadKeyMaterial(SecurityFailed):
    """A truststore, a keystore, a key or a token cannot be read."""


class TlsFailed(SecurityFailed):
    """The TLS handshake failed: the peer's certificate is not trusted, the peer rejects ours, or they have no
    protocol in common. `verify_code` is OpenSSL's X509_V_ERR_… if we do not trust the certificate."""

    verify_code: int | None = None


class LoginFailed(SecurityFailed):
    """Credentials were rejected, or could not be obtained."""


class BrokerError(ClientError):
    """The broker answered with an error code."""

    def __init__(self, subject: str, code: int, name: str, detail: str, *, retriable: bool) -> None:
        self.code = code
        self.name = name
        self.retriable = retriable
        super().__init__(f"{subject}: {name} ({code}){': ' + detail if detail else ''}")


class Fenced(HeliographError):
    """Brokers reject our producer epoch, because another process has taken over the transactional.id."""


class LeaseRefused(HeliographError):
    """The driver has granted a task's leases to an earlier attempt, or their epoch is over."""


class LeaseLapsed(HeliographError):
    """The driver did not confirm a task's leases in time: another task may copy its partitions by now."""


class RecordRejected(HeliographError):
    """Under the policy `fail`: a record failed in a chain of transformations, or is too large after it."""


class RecordTooLarge(HeliographError):
    """A single record is larger than the target's max.message.bytes, so splitting its batch does not help."""

    def __init__(self, subject: str, offset: int, size: int) -> None:
        self.offset = offset
        self.size = size
        super().__init__(
            f"{subject}: the record at source offset {offset} needs a batch of {size} bytes, which is "
            "more than the target topic allows; raise its max.message.bytes to continue"
        )
