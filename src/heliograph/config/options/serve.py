"""What only the file of a Connect worker has (`worker.properties`, `heliograph serve`): `x`.

The rest of that file are the options of workers, without an alias before them, and those of the REST server.
"""

from __future__ import annotations

from functools import partial

from heliograph.config.options.option import Importance, Option, Scope
from heliograph.config.options.values import BOOLEAN, CLASS, INT, LIST, STRING, at_least, subset_of

_serve = partial(Option, scope=Scope.SERVE)

SERVE = (
    _serve(
        name="bootstrap.servers",
        type=LIST,
        default="localhost:9092",
        importance=Importance.HIGH,
        doc="Brokers of the cluster that holds the worker's topics, and that records are written to "
        "unless a connector says otherwise",
    ),
    _serve(
        name="admin.listeners",
        type=LIST,
        doc="Where /admin is served: where everything is, if not set; nowhere, if empty",
        since="2.4",
    ),
    _serve(
        name="rest.extension.classes",
        type=LIST,
        default="",
        doc="BasicAuthSecurityRestExtension, or nothing: basic authentication, with users that a JAAS file "
        "in KAFKA_OPTS names",
    ),
    _serve(
        name="rest.users.file",
        type=STRING,
        doc="Users who may use the REST API, with hashed passwords and roles: lines that "
        "heliograph password prints",
        since="heliograph",
    ),
    _serve(
        name="rest.certificate.roles",
        type=STRING,
        default="",
        doc="Roles (read, write) of client certificates, by subject or common name, separated by semicolons: "
        "CN=alice,O=Example:write;monitor:read; * is any other trusted certificate",
        since="heliograph",
    ),
    _serve(
        name="rest.allowed.hosts",
        type=LIST,
        default="",
        doc="Host names, besides localhost, IP addresses and the worker's own names, that a request may "
        "be addressed to. Listeners on localhost always check it, others if it is set; * is any",
        since="heliograph",
    ),
    _serve(
        name="rest.access.log",
        type=BOOLEAN,
        default="true",
        doc="Whether each request is a line at INFO in the logger heliograph.web.access",
        since="heliograph",
    ),
    _serve(
        name="rest.max.connections",
        type=INT,
        default="1000",
        valid=at_least(1),
        doc="Connections to the REST API at a time; one more closes the one that has waited longest "
        "without a request",
        since="heliograph",
    ),
    _serve(
        name="rest.max.connections.per.ip",
        type=INT,
        default="100",
        valid=at_least(1),
        doc="Connections to the REST API at a time from one address, or one /64 network of IPv6",
        since="heliograph",
    ),
    _serve(
        name="rest.mask.secrets",
        type=BOOLEAN,
        default="true",
        doc="Whether secrets of connectors are hidden; one that is sent back hidden stays what it is",
        since="heliograph",
    ),
    _serve(
        name="rest.request.max.bytes",
        type=INT,
        default="8388608",
        valid=at_least(1),
        doc="How large the body of a request may be",
        since="heliograph",
    ),
    _serve(
        name="rest.connector.allowed.paths",
        type=LIST,
        default="",
        doc="Files and folders of this machine that connectors made through REST may name; those that this "
        "file names itself may be, too",
        since="heliograph",
    ),
    _serve(
        name="rest.connector.allowed.modules",
        type=LIST,
        default="",
        doc="Python modules, with all below them, whose classes connectors made through REST may name",
        since="heliograph",
    ),
    _serve(
        name="rest.connector.allowed.urls",
        type=LIST,
        default="",
        doc="Token endpoints that connectors made through REST may name; one that ends with a slash stands "
        "for all below it. Those that this file names itself may be, too",
        since="heliograph",
    ),
    _serve(
        name="rest.connector.allowed.identities",
        type=LIST,
        default="",
        valid=subset_of("aws", "kerberos"),
        doc="Which of the worker's own identities connectors made through REST may log in with: aws (its "
        "environment, profiles and instance), kerberos (its ticket cache)",
        since="heliograph",
    ),
    _serve(
        name="rest.port",
        type=INT,
        valid=at_least(0),
        doc="Old name of the port in listeners, which Kafka 3.0 dropped",
    ),
    _serve(
        name="rest.host.name",
        type=STRING,
        doc="Old name of the host in listeners, which Kafka 3.0 dropped",
    ),
    *(
        _serve(
            name=name,
            type=CLASS,
            default=default,
            importance=Importance.HIGH,
            doc="Read, so that a converter other than ByteArrayConverter is noticed; records are copied as "
            "they are, whatever it is",
        )
        for name, default in (
            ("key.converter", None),
            ("value.converter", None),
            ("header.converter", "org.apache.kafka.connect.storage.SimpleHeaderConverter"),
        )
    ),
)
