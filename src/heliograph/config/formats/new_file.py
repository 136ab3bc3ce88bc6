"""Writes a commented mm2.properties for two clusters, for `heliograph init`. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import javaproperties

from heliograph.config.formats.new_mirror import Mechanism, NewCluster, NewMirror, Protocol

_PROVIDER = "org.apache.kafka.common.config.provider.EnvVarConfigProvider"
_SECURITY = "org.apache.kafka.common.security"


def new_file(mirror: NewMirror) -> str:
    return "\n".join(_lines(mirror)) + "\n"


def _lines(mirror: NewMirror) -> Iterator[str]:
    source, target = mirror.source, mirror.target
    yield "# MirrorMaker 2's own file, as connect-mirror-maker.sh reads it. Written by `heliograph init`."
    yield "#   heliograph check mm2.properties    connections, TLS, logins and rights; changes nothing"
    yield "#   heliograph plan mm2.properties     what a run would do; changes nothing"
    yield "#   heliograph run mm2.properties"
    yield f"clusters = {source.alias}, {target.alias}"
    yield f"{source.alias}.bootstrap.servers = {_escaped(source.servers)}"
    yield f"{target.alias}.bootstrap.servers = {_escaped(target.servers)}"
    yield from _security(source)
    yield from _security(target)
    if mirror.variables:
        yield ""
        yield "# ${env:NAME} is replaced by the variable NAME of the environment."
        yield "config.providers = env"
        yield f"config.providers.env.class = {_PROVIDER}"
    yield ""
    yield from _flow(source, target, mirror)
    if mirror.both_ways:
        yield from _flow(target, source, mirror)
    yield from _settings(mirror)


def _flow(source: NewCluster, target: NewCluster, mirror: NewMirror) -> Iterator[str]:
    name = f"{source.alias}->{target.alias}"
    yield f"# Topics of {source.alias} appear on {target.alias} as {source.alias}.<topic>."
    yield f"{name}.enabled = true"
    yield "# Names or Java regular expressions, separated by commas."
    yield f"{name}.topics = {_escaped(mirror.topics)}"
    yield f"# Consumer groups whose offsets are translated for {target.alias}."
    yield f"{name}.groups = {_escaped(mirror.groups)}"


def _settings(mirror: NewMirror) -> Iterator[str]:
    factor = mirror.replication_factor
    yield ""
    yield "# Replicas of new topics; -1: the default of the target's brokers."
    yield f"replication.factor = {factor}"
    for topic in (
        *("offset.storage", "config.storage", "status.storage"),
        *("offset-syncs.topic", "checkpoints.topic", "heartbeats.topic"),
    ):
        yield f"{topic}.replication.factor = {factor}"
    yield "# Commit translated group offsets on the target, so that consumers resume there."
    yield "sync.group.offsets.enabled = true"
    yield "# Copying ACLs needs rights on both clusters; without them: false."
    yield "sync.topic.acls.enabled = false"
    yield "# Keep topic names as they are instead of source.<topic>:"
    yield "# replication.policy.class = org.apache.kafka.connect.mirror.IdentityReplicationPolicy"
    yield "# The maximum number of tasks that copy a flow."
    yield "tasks.max = 4"


def _security(cluster: NewCluster) -> Iterator[str]:
    if cluster.protocol is Protocol.PLAINTEXT:
        return
    alias = cluster.alias
    yield ""
    yield f"{alias}.security.protocol = {cluster.protocol}"
    if cluster.protocol.has_login:
        yield f"{alias}.sasl.mechanism = {cluster.mechanism}"
        yield f"{alias}.sasl.jaas.config = {_jaas(cluster)}"
    if cluster.protocol.has_tls:
        yield from _truststore(cluster)


def _truststore(cluster: NewCluster) -> Iterator[str]:
    alias = cluster.alias
    if not cluster.truststore:
        yield "# Without a truststore, the certificates of this machine are trusted."
        yield f"# {alias}.ssl.truststore.location = /path/to/truststore.jks"
        return
    yield f"{alias}.ssl.truststore.location = {_escaped(cluster.truststore)}"
    if cluster.trusts_pem:
        yield f"{alias}.ssl.truststore.type = PEM"
    else:
        variable = cluster.variable("TRUSTSTORE_PASSWORD")
        yield f"{alias}.ssl.truststore.password = ${{env:{variable}}}"


def _jaas(cluster: NewCluster) -> str:
    kind = "plain.Plain" if cluster.mechanism is Mechanism.PLAIN else "scram.Scram"
    password = cluster.password or f"${{env:{cluster.variable('PASSWORD')}}}"
    quoted = (value.replace("\\", "\\\\").replace('"', '\\"') for value in (cluster.user, password))
    user, secret = quoted
    line = f'{_SECURITY}.{kind}LoginModule required username="{user}" password="{secret}";'
    return _escaped(line)


def _escaped(value: str) -> str:
    """As Java reads it again: backslashes of regular expressions are doubled."""
    written = str(javaproperties.join_key_value("", value, separator="="))
    return written.removeprefix("=").replace("\\=", "=").replace("\\:", ":")
