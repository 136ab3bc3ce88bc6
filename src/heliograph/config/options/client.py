"""Options of clients: how to reach a cluster (`MirrorClientConfig`), and how to consume and produce."""

from __future__ import annotations

from functools import partial

from heliograph.config.options.checks import at_least, one_of, one_of_ignoring_case
from heliograph.config.options.client_security import CLIENT_SECURITY
from heliograph.config.options.option import Importance, Option, Scope
from heliograph.config.options.values import INT, LIST, LONG, STRING

_client = partial(Option, scope=Scope.CLIENT)

CLIENT = (
    _client(
        name="bootstrap.servers",
        type=LIST,
        importance=Importance.HIGH,
        doc="Brokers to connect to first, as host:port, separated by commas",
    ),
    _client(
        name="security.protocol",
        type=STRING,
        default="PLAINTEXT",
        valid=one_of_ignoring_case(
            *("SASL_SSL", "PLAINTEXT", "SSL", "SASL_PLAINTEXT"),
            expected="PLAINTEXT or SSL or SASL_PLAINTEXT or SASL_SSL",
        ),
        importance=Importance.MEDIUM,
        doc="Whether connections to brokers are encrypted (SSL) and log in (SASL): PLAINTEXT, SSL, "
        "SASL_PLAINTEXT or SASL_SSL",
    ),
    *CLIENT_SECURITY,
)

CONSUMER = (
    Option(
        name="isolation.level",
        type=STRING,
        scope=Scope.CONSUMER,
        default="read_uncommitted",
        valid=one_of("read_uncommitted", "read_committed"),
        importance=Importance.MEDIUM,
        doc="Whether records of aborted transactions are mirrored",
    ),
    Option(
        name="auto.offset.reset",
        type=STRING,
        scope=Scope.CONSUMER,
        default="earliest",  # MM2's own default; a plain consumer has latest
        valid=one_of("earliest", "latest", "none"),
        importance=Importance.MEDIUM,
        doc="Where a partition without a stored offset starts",
    ),
    *(
        Option(
            name=name,
            type=INT,
            scope=Scope.CONSUMER,
            default=default,
            valid=at_least(low),
            importance=importance,
            doc=doc,
        )
        for name, default, low, importance, doc in (
            # Measured: a larger limit is no faster, and takes more memory per broker in proportion.
            (
                "fetch.max.bytes",
                "8388608",
                1,
                Importance.MEDIUM,
                "Most bytes in one fetch response of a broker; a larger batch is still fetched. Kafka's "
                "default is 52428800",
            ),
            (
                "max.partition.fetch.bytes",
                "1048576",
                1,
                Importance.HIGH,
                "Most bytes of one partition in a fetch response; a larger batch is still fetched",
            ),
            (
                "fetch.min.bytes",
                "1",
                0,
                Importance.HIGH,
                "A broker responds once it has this many bytes, or after fetch.max.wait.ms",
            ),
            (
                "fetch.max.wait.ms",
                "500",
                0,
                Importance.LOW,
                "How long a broker waits for fetch.min.bytes, in milliseconds",
            ),
        )
    ),
)

PRODUCER = (
    Option(
        name="buffer.memory",
        type=LONG,
        scope=Scope.PRODUCER,
        default="33554432",
        valid=at_least(1),
        importance=Importance.HIGH,
        doc="Bytes of fetched records that a task of a flow holds until the target has acknowledged them; "
        "when they are used up, fetching pauses",
    ),
    Option(
        name="max.request.size",
        type=INT,
        scope=Scope.PRODUCER,
        default="1048576",
        valid=at_least(1),
        importance=Importance.MEDIUM,
        doc="Size up to which batches of several partitions are put into one produce request; a larger "
        "batch or record is still sent",
    ),
    Option(
        name="transaction.timeout.ms",
        type=INT,
        scope=Scope.PRODUCER,
        default="60000",
        valid=at_least(1000),
        doc="Time after which the target aborts an open transaction, in milliseconds. Heliograph commits "
        "within a third of it",
    ),
)
