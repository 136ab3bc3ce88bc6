"""Options that only a Connect worker's own file has (`worker.properties`, `heliograph serve`): `x`.

That file also takes the options of workers, without an alias before them, and those of the REST server.
"""

from __future__ import annotations

from functools import partial

from heliograph.config.options.checks import at_least, subset_of
from heliograph.config.options.option import Importance, Option, Scope
from heliograph.config.options.values import BOOLEAN, CLASS, INT, LIST, STRING

_serve = partial(Option, scope=Scope.SERVE)

SERVE = (
    _serve(
        name="bootstrap.servers",
        type=LIST,
        default="localhost:9092",
        importance=Importance.HIGH,
        doc="Brokers of the cluster that holds the worker's topics. Records are written there, too, unless a "
        "connector sets producer.override.bootstrap.servers",
    ),
    _serve(
        name="admin.listeners",
        type=LIST,
        doc="Addresses that serve /admin: those in listeners if not set, none if empty",
        since="2.4",
    ),
    _serve(
        name="rest.extension.classes",
        type=LIST,
        default="",
        doc="BasicAuthSecurityRestExtension switches on basic authentication, with the users that the JAAS "
        "file in KAFKA_OPTS names; no other extension can run here",
    ),
    _serve(
        name="rest.users.file",
        type=STRING,
        doc="File of the users of the REST API, with hashed passwords and roles; heliograph password prints "
        "its lines",
        since="heliograph",
    ),
    _serve(
        name="rest.certificate.roles",
        type=STRING,
        default="",
        doc="Roles (read, write) of client certificates, by subject or common name, separated by semicolons: "
        "CN=alice,O=Example:write;monitor:read. * is any other trusted certificate",
        since="heliograph",
    ),
    _serve(
        name="rest.allowed.hosts",
        type=LIST,
        default="",
        doc="Host names that a request may be addressed to, besides localhost, IP addresses and the worker's "
        "own names; * for any. Listeners on localhost always check the host, others only if this is set",
        since="heliograph",
    ),
    _serve(
        name="rest.access.log",
        type=BOOLEAN,
        default="true",
        doc="Whether the logger heliograph.web.access logs every request, at INFO",
        since="heliograph",
    ),
    _serve(
        name="rest.max.connections",
        type=INT,
        default="1000",
        valid=at_least(1),
        doc="Most connections to the REST API at a time; one more closes the connection that has been idle "
        "longest",
        since="heliograph",
    ),
    _serve(
        name="rest.max.connections.per.ip",
        type=INT,
        default="100",
        valid=at_least(1),
        doc="Most connections to the REST API at a time from one address, or from one /64 network of IPv6",
        since="heliograph",
    ),
    _serve(
        name="rest.mask.secrets",
        type=BOOLEAN,
        default="true",
        doc="Whether secrets of connectors are shown as [hidden]; a secret that a request sends back as "
        "[hidden] keeps its value",
        since="heliograph",
    ),
    _serve(
        name="rest.request.max.bytes",
        type=INT,
        default="8388608",
        valid=at_least(1),
        doc="Largest body of a request, in bytes",
        since="heliograph",
    ),
    _serve(
        name="rest.connector.allowed.paths",
        type=LIST,
        default="",
        doc="Files and folders of this machine that connectors created through REST may name, besides those "
        "that this file names",
        since="heliograph",
    ),
    _serve(
        name="rest.connector.allowed.modules",
        type=LIST,
        default="",
        doc="Python modules, with their submodules, whose classes connectors created through REST may name",
        since="heliograph",
    ),
    _serve(
        name="rest.connector.allowed.urls",
        type=LIST,
        default="",
        doc="Token endpoints that connectors created through REST may name, besides those that this file "
        "names; an address that ends with a slash includes all addresses below it",
        since="heliograph",
    ),
    _serve(
        name="rest.connector.allowed.identities",
        type=LIST,
        default="",
        valid=subset_of("aws", "kerberos"),
        doc="Identities of the worker that connectors created through REST may log in with: aws (its "
        "environment, profiles and instance), kerberos (its ticket cache)",
        since="heliograph",
    ),
    _serve(
        name="rest.port",
        type=INT,
        valid=at_least(0),
        doc="Port of the REST API, on every address of the machine, before listeners existed; Kafka 3.0 "
        "removed it",
    ),
    _serve(
        name="rest.host.name",
        type=STRING,
        doc="Host of the REST API, before listeners existed; Kafka 3.0 removed it",
    ),
    *(
        _serve(
            name=name,
            type=CLASS,
            default=default,
            importance=Importance.HIGH,
            doc="Has no effect, since records are copied as they are; a converter other than "
            "ByteArrayConverter gives a warning",
        )
        for name, default in (
            ("key.converter", None),
            ("value.converter", None),
            ("header.converter", "org.apache.kafka.connect.storage.SimpleHeaderConverter"),
        )
    ),
)
