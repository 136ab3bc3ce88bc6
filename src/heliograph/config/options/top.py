"""Options of the whole file (`MirrorMakerConfig`), of its REST API, and of config providers."""

from __future__ import annotations

import re
from functools import partial

from heliograph.config.options.checks import at_least, between, no_duplicates, one_of
from heliograph.config.options.option import Importance, Option, Scope, Support
from heliograph.config.options.values import BOOLEAN, CLASS, INT, LIST, STRING

_top = partial(Option, scope=Scope.TOP)

_OF_REST = re.compile(
    r"(admin\.)?listeners(\.https\..*)?|rest\..*|access\.control\..*|response\.http\..*|ssl\..*"
)


def is_of_rest(name: str) -> bool:
    """Whether a top-level setting configures the REST API."""
    return _OF_REST.fullmatch(name) is not None


TOP = (
    _top(
        name="clusters",
        type=LIST,
        importance=Importance.HIGH,
        doc="Aliases of the clusters, separated by commas",
    ),
    _top(
        name="config.providers",
        type=LIST,
        default="",
        valid=no_duplicates,
        doc="Names of config providers, which fill in placeholders ${name:path:key}",
    ),
    _top(
        name="epoch.seconds",
        type=INT,
        default="3600",
        valid=at_least(1),
        doc="Longest duration of an epoch (one Spark batch of all flows), in seconds",
        since="heliograph",
    ),
    _top(
        name="once.timeout.seconds",
        type=INT,
        default="60",
        valid=at_least(1),
        doc="How long --once waits for a cluster that does not respond, in seconds",
        since="heliograph",
    ),
    _top(
        name="driver.channel.host",
        type=STRING,
        default="",
        doc="Address on which the driver listens for its tasks and at which executors reach it; if not set, "
        "localhost with a local master and this machine's host name otherwise",
        since="heliograph",
    ),
    _top(
        name="driver.channel.port",
        type=INT,
        default="0",
        valid=between(0, 65535),
        doc="Port on which the driver listens for its tasks, for firewalls and network policies; 0 for any",
        since="heliograph",
    ),
    _top(
        name="spark.unencrypted.secrets.policy",
        type=STRING,
        default="refuse",
        valid=one_of("refuse", "accept"),
        importance=Importance.MEDIUM,
        doc="What to do when passwords or keys of a flow would be sent to executors of a Spark cluster that "
        "does not authenticate (spark.authenticate) and encrypt (spark.network.crypto.enabled or "
        "spark.ssl.rpc.enabled). refuse: the flow does not run. accept: they are sent, with a warning",
        since="heliograph",
    ),
    _top(
        name="dedicated.mode.enable.internal.rest",
        type=BOOLEAN,
        default="false",
        importance=Importance.HIGH,
        doc="Whether workers talk to each other by REST (KIP-710)",
        support=Support.LATER,
        since="3.5",
    ),
    _top(
        name="listeners",
        type=LIST,
        default="http://localhost:8083",
        doc="Addresses of the REST API. http://:8083, MM2's own default, listens on every address of this "
        "machine; an empty list switches the REST API off",
    ),
    _top(
        name="rest.writable",
        type=BOOLEAN,
        default="false",
        doc="Whether REST may pause, stop and restart the connectors of a file and alter their offsets; the "
        "changes last until the service is restarted",
        since="heliograph",
    ),
    _top(
        name="rest.advertised.host.name",
        type=STRING,
        doc="Host name at which other workers reach the REST server",
    ),
    _top(
        name="rest.advertised.port",
        type=INT,
        doc="Port at which other workers reach the REST server",
    ),
    _top(
        name="rest.advertised.listener",
        type=STRING,
        valid=one_of("http", "https"),
        doc="Scheme of the listener at which other workers reach the REST server",
    ),
    _top(
        name="access.control.allow.origin",
        type=STRING,
        default="",
        doc="Value of the header Access-Control-Allow-Origin of the REST server",
    ),
    _top(
        name="access.control.allow.methods",
        type=STRING,
        default="",
        doc="Value of the header Access-Control-Allow-Methods of the REST server",
    ),
    _top(
        name="response.http.headers.config",
        type=STRING,
        default="",
        doc="HTTP headers that the REST server adds to its responses",
    ),
    _top(
        name="ssl.client.auth",
        type=STRING,
        default="none",
        valid=one_of("required", "requested", "none"),
        doc="Whether the REST server asks clients for certificates",
    ),
)

PROVIDERS = (
    _top(
        name="config.providers.<name>.class",
        type=CLASS,
        doc="FileConfigProvider for ${name:/path:key} of a properties file, "
        "DirectoryConfigProvider for ${name:/path:file} of a directory, "
        "EnvVarConfigProvider for ${name:VARIABLE}; with or without Kafka's package",
    ),
    _top(
        name="config.providers.<name>.param.allowed.paths",
        type=LIST,
        doc="Absolute paths below which a file or directory provider may read; any path if not set",
        since="3.6",
    ),
    _top(
        name="config.providers.<name>.param.allowlist.pattern",
        type=STRING,
        default=".*",
        doc="Java regular expression of the variables that an environment provider may read",
        since="3.5",
    ),
)
