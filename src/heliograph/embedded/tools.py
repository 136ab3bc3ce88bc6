"""Command lines of Kafka's own Java programs, run from the fetched jars.

The console tools and MirrorMaker 2 each have a folder of jars, fetched at first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from heliograph.embedded.jars import KAFKA_VERSION, MIRROR_MAKER, TOOLS, kafka_jars
from heliograph.embedded.properties import log_configuration
from heliograph.machine.java import java_command

#: For a JVM that runs for seconds: the second compiler and parallel collection would not pay.
SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_CLASSES = {
    "kafka-acls": "org.apache.kafka.tools.AclCommand",
    "kafka-console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "kafka-console-producer": "org.apache.kafka.tools.ConsoleProducer",
    "kafka-consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-features": "org.apache.kafka.tools.FeatureCommand",
    "kafka-get-offsets": "org.apache.kafka.tools.GetOffsetShell",
    "kafka-reassign-partitions": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
}
TOOL_NAMES = tuple(_CLASSES)


def tool_command(
    name: str, *arguments: str, jvm_args: Sequence[str] = (), version: str = KAFKA_VERSION
) -> list[str]:
    """The command that `bin/<name>.sh` of a Kafka release would run; KeyError for unknown names."""
    main = _CLASSES[name]
    return [
        *java_command(),
        *jvm_args,
        *("-cp", f"{kafka_jars(version, TOOLS)}/*", main, *arguments),
    ]


def mirror_maker_command(
    properties: Path,
    *,
    clusters: Sequence[str] = (),
    log: Path | None = None,
    heap: str = "2g",
    jvm_args: Sequence[str] = (),
    version: str = KAFKA_VERSION,
) -> list[str]:
    """The real MirrorMaker 2 in dedicated mode, as `connect-mirror-maker.sh` starts it. 2 GB is the heap of
    Kafka's own script."""
    main = ("org.apache.kafka.connect.mirror.MirrorMaker", str(properties))
    command = _mirror_jvm(main, log, heap, jvm_args, version)
    return [*command, "--clusters", *clusters] if clusters else command


def connect_worker_command(
    properties: Path, *, log: Path | None = None, heap: str = "512m", version: str = KAFKA_VERSION
) -> list[str]:
    """A real Connect worker that has MirrorMaker 2's connectors, as `connect-distributed.sh` starts it."""
    main = ("org.apache.kafka.connect.cli.ConnectDistributed", str(properties))
    return _mirror_jvm(main, log, heap, SHORT_LIVED, version)


def _mirror_jvm(
    main: Sequence[str], log: Path | None, heap: str, jvm_args: Sequence[str], version: str
) -> list[str]:
    """With `log`, the JVM logs to that file, configured by a file beside it; without, Log4j's default prints
    errors on the console only."""
    command = [*java_command(), f"-Xms{heap}", f"-Xmx{heap}", *jvm_args]
    if log is not None:
        name, contents, argument = log_configuration(version, log)
        config = log.with_name(f"{log.stem}-{name}")
        config.write_text(contents)
        command.append(f"{argument}{config}")
    return [*command, "-cp", f"{kafka_jars(version, MIRROR_MAKER)}/*", *main]
