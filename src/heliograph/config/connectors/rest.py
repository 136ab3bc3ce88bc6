"""Reads the settings of a worker's REST API: Connect's (`RestServerConfig`) and Heliograph's own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from heliograph.config.options import OPTIONS, Scope
from heliograph.config.options.values import parse_list
from heliograph.config.security.connection import read_security
from heliograph.config.security.rest_allowlist import read_permitted
from heliograph.config.security.rest_users import (
    ROLES,
    CertificateRoles,
    User,
    plain_names,
    read_certificate_roles,
    read_users,
)
from heliograph.errors import ConfigError
from heliograph.permitted import Permitted
from heliograph.security import Security

MAX_REQUEST_BYTES = int(OPTIONS[Scope.SERVE, "rest.request.max.bytes"].default or 0)
MAX_CONNECTIONS = int(OPTIONS[Scope.SERVE, "rest.max.connections"].default or 0)
MAX_CONNECTIONS_PER_IP = int(OPTIONS[Scope.SERVE, "rest.max.connections.per.ip"].default or 0)

_LISTENER = re.compile(r"(https?)://\[?([\w.:-]*?)\]?:(\d{1,5})", re.IGNORECASE)
_EXTENSION = "org.apache.kafka.connect.rest.basic.auth.extension.BasicAuthSecurityRestExtension"
_LOGIN_FILE = re.compile(r"-Djava\.security\.auth\.login\.config=(\S+)")
_LOGIN_MODULE = re.compile(
    r"\bKafkaConnect\s*\{\s*[\w.]*PropertyFileLoginModule\s+\w+\s+file\s*=\s*\"?([^\";]+)\"?\s*;\s*\}",
)
_EVERYWHERE = ("", "0.0.0.0", "::")
#: Set to 1 in Heliograph's container image.
CONTAINER_VARIABLE = "HELIOGRAPH_CONTAINER"
_ADVERTISED = ("rest.advertised.host.name", "rest.advertised.port", "rest.advertised.listener")
_ACTIONS = ("set", "add", "setdate", "adddate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """`host` "": every address of this machine. `port` 0: any free port."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether only programs on this machine reach it."""
        return self.host == "localhost" or self.host == "::1" or self.host.startswith("127.")

    @property
    def reach(self) -> str:
        """One sentence for the log: where it listens, and who can reach it."""
        if self.is_loopback:
            return (
                f"REST listens on {self}: reachable from this machine only; set listeners={self.scheme}://"
                f":{self.port} to be reachable from other hosts"
            )
        where = f"{self.scheme}://0.0.0.0:{self.port}" if self.host in _EVERYWHERE else str(self)
        return f"REST listens on {where}: reachable from other hosts"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderRule:
    """`action` set replaces a header, add adds one; a date is in milliseconds since 1970."""

    action: str
    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerTls:
    """`client_auth`: whether clients must send a certificate: none, requested or required."""

    security: Security
    client_auth: str = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class RestConfig:
    """`admin_listeners` None: `listeners` serve /admin; empty: /admin is off.

    `users` and `certificate_roles` None: no authentication. `tls` and `admin_tls` are for https listeners.
    `warnings` are for the log.
    """

    listeners: tuple[Listener, ...]
    admin_listeners: tuple[Listener, ...] | None = None
    advertised_listener: str | None = None
    advertised_host: str | None = None
    advertised_port: int | None = None
    allow_origins: tuple[str, ...] = ()
    allow_methods: tuple[str, ...] = ()
    response_headers: tuple[HeaderRule, ...] = ()
    users: Mapping[str, User] | None = field(default=None, repr=False)
    certificate_roles: CertificateRoles | None = None
    allowed_hosts: tuple[str, ...] = ()
    access_log: bool = True
    max_connections: int = MAX_CONNECTIONS
    max_connections_per_ip: int = MAX_CONNECTIONS_PER_IP
    tls: ListenerTls | None = None
    admin_tls: ListenerTls | None = None
    mask_secrets: bool = True
    max_request_bytes: int = MAX_REQUEST_BYTES
    permitted: Permitted = field(default_factory=Permitted)
    topic_tracking: bool = True
    topic_tracking_reset: bool = True
    exactly_once: bool = False
    warnings: tuple[str, ...] = ()

    def advertised_url(self, host: str, port: int | None = None) -> str:
        """Where other workers reach this one. `host` is this machine's name, for listeners without a host;
        `port` is the port of a listener with port 0."""
        wanted = self.advertised_listener or (
            "http" if any(each.scheme == "http" for each in self.listeners) else "https"
        )
        listener = next(
            (each for each in self.listeners if each.scheme == wanted), self.listeners[0]
        )
        named = "" if listener.host in _EVERYWHERE else listener.host
        name = self.advertised_host or named or host
        bracketed = f"[{name}]" if ":" in name else name
        return f"{wanted}://{bracketed}:{self.advertised_port or port or listener.port}/"


def read_rest_config(
    settings: Mapping[str, str], environment: Mapping[str, str], *, dedicated: bool = False
) -> RestConfig:
    """`settings` are a worker's, by name. `dedicated`: of `heliograph run`, whose API is on localhost unless
    `listeners` is set. Raises ConfigError with every problem."""
    reading = _Reading(settings, environment, dedicated)
    config = reading.config()
    if reading.problems:
        raise ConfigError(reading.problems)
    return config


class _Reading:
    def __init__(
        self, settings: Mapping[str, str], environment: Mapping[str, str], dedicated: bool
    ) -> None:
        self._settings = settings
        self._environment = environment
        self._dedicated = dedicated
        self._warnings: list[str] = []
        self.problems: list[str] = []

    def config(self) -> RestConfig:
        listeners, admin_listeners = self._listeners(), self._admin_listeners()
        tls = self._tls("listeners", listeners)
        admin_tls = self._tls("admin.listeners", admin_listeners or ())
        users, roles = self._users(), self._certificate_roles(tls)
        self._warn_if_open(listeners, tls, users is not None or roles is not None)
        return RestConfig(
            listeners=listeners,
            admin_listeners=admin_listeners,
            advertised_listener=self._advertised_listener(),
            advertised_host=self._text("rest.advertised.host.name").strip('"') or None,
            advertised_port=self._number("rest.advertised.port", 1, 65535) or None,
            allow_origins=parse_list(self._text("access.control.allow.origin")),
            allow_methods=parse_list(self._text("access.control.allow.methods")),
            response_headers=self._headers(),
            users=users,
            certificate_roles=roles,
            allowed_hosts=tuple(map(str.lower, parse_list(self._text("rest.allowed.hosts")))),
            access_log=self._flag("rest.access.log", True),
            max_connections=self._number("rest.max.connections", 1, 2**31 - 1) or MAX_CONNECTIONS,
            max_connections_per_ip=self._number("rest.max.connections.per.ip", 1, 2**31 - 1)
            or MAX_CONNECTIONS_PER_IP,
            tls=tls,
            admin_tls=admin_tls,
            mask_secrets=self._flag("rest.mask.secrets", True),
            max_request_bytes=self._number("rest.request.max.bytes", 1, 2**31 - 1)
            or MAX_REQUEST_BYTES,
            permitted=read_permitted(self._settings),
            topic_tracking=self._flag("topic.tracking.enable", True),
            topic_tracking_reset=self._flag("topic.tracking.allow.reset", True),
            exactly_once=self._text("exactly.once.source.support") == "enabled",
            warnings=tuple(self._warnings),
        )

    def _text(self, name: str) -> str:
        return self._settings.get(name, "").strip()

    def _flag(self, name: str, default: bool) -> bool:
        text = self._text(name).lower()
        if text not in ("", "true", "false"):
            self.problems.append(f"{name}: expected true or false, found {text!r}")
        return default if not text else text == "true"

    def _number(self, name: str, low: int, high: int) -> int | None:
        text = self._text(name)
        if not text:
            return None
        if not text.isdigit() or not low <= int(text) <= high:
            limits = f"from {low} to {high}" if high < 2**31 - 1 else f"of at least {low}"
            self.problems.append(f"{name}: expected a whole number {limits}, found {text!r}")
            return None
        return int(text)

    def _listeners(self) -> tuple[Listener, ...]:
        if "listeners" in self._settings:
            found = self._addresses("listeners", self._text("listeners"))
            if not found and not self.problems:
                self.problems.append(
                    "listeners: expected one or more addresses such as http://localhost:8083, found none"
                )
            return found
        port = self._text("rest.port")
        # Connect's default is http://:8083, every address.
        host = self._text("rest.host.name") or ("" if self._is_for_other_hosts() else "localhost")
        return self._addresses(
            "rest.port" if port else "rest.host.name", f"http://{host}:{port or 8083}"
        )

    def _is_for_other_hosts(self) -> bool:
        """Whether every address is meant, as in Connect: containers publish the port that they name, other
        workers use the address that is advertised."""
        named = any(self._text(name) for name in ("rest.port", *_ADVERTISED))
        in_image = self._environment.get(CONTAINER_VARIABLE, "").strip() == "1"
        return not self._dedicated and (named or in_image)

    def _warn_if_open(
        self, listeners: tuple[Listener, ...], tls: ListenerTls | None, secured: bool
    ) -> None:
        asks_for_certificates = tls is not None and tls.client_auth == "required"
        found = [
            str(each)
            for each in listeners
            if not each.is_loopback and not (each.scheme == "https" and asks_for_certificates)
        ]
        if found and not secured:
            local = replace(listeners[0], host="localhost")
            self._warnings.append(
                f"REST on {', '.join(found)} has no users: every program that reaches this port can create "
                f"and change connectors; set rest.users.file, or listeners={local}"
            )

    def _admin_listeners(self) -> tuple[Listener, ...] | None:
        if "admin.listeners" not in self._settings:
            return None
        return self._addresses("admin.listeners", self._text("admin.listeners"))

    def _addresses(self, name: str, text: str) -> tuple[Listener, ...]:
        found = []
        for address in parse_list(text):
            match = _LISTENER.fullmatch(address)
            if match is not None and int(match[3]) > 65535:
                self.problems.append(f"{name}: expected a port from 1 to 65535, found {address!r}")
            elif match is None:
                self.problems.append(
                    f"{name}: expected http://host:port or https://host:port, found {address!r}; "
                    "without a host (http://:8083), it listens on every address of this machine"
                )
            else:
                scheme, host, port = match[1].lower(), match[2], int(match[3])
                found.append(Listener(scheme=scheme, host=host, port=port))
        return tuple(found)

    def _advertised_listener(self) -> str | None:
        text = self._text("rest.advertised.listener").lower()
        if text not in ("", "http", "https"):
            self.problems.append(
                f"rest.advertised.listener: expected http or https, found {text!r}"
            )
        return text or None

    def _tls(self, name: str, listeners: tuple[Listener, ...]) -> ListenerTls | None:
        """As in Connect: settings with the prefix if there are any, or else those without."""
        if not any(each.scheme == "https" for each in listeners):
            return None
        prefix = f"{name}.https."
        if not any(key.startswith(prefix) for key in self._settings):
            prefix = ""
        found = {
            key.removeprefix(prefix): value
            for key, value in self._settings.items()
            if key.startswith(f"{prefix}ssl.")
        }
        keys = {key: f"{prefix}{key}" for key in (*found, "ssl.keystore.location")}
        security, problems = read_security({**found, "security.protocol": "SSL"}, keys)
        self.problems += [
            each.describe(f"{prefix}{each.setting}", found.get(each.setting)) for each in problems
        ]
        if security.tls is None or security.tls.keystore is None:
            self.problems.append(
                f"{prefix}ssl.keystore.location: missing; an https listener needs a key and its certificate"
            )
        client_auth = found.get("ssl.client.auth", "none").strip().lower()
        if client_auth not in ("none", "requested", "required"):
            self.problems.append(
                f"{prefix}ssl.client.auth: expected none, requested or required, found {client_auth!r}"
            )
        return ListenerTls(security=security, client_auth=client_auth)

    def _headers(self) -> tuple[HeaderRule, ...]:
        rules = []
        for text in _csv(self._text("response.http.headers.config")):
            action, _, header = text.strip().partition(" ")
            name, colon, value = header.partition(":")
            if (
                action.lower() not in _ACTIONS
                or not colon
                or not re.fullmatch(r"\S+", name.strip())
            ):
                self.problems.append(
                    f"response.http.headers.config: expected '[action] [header name]:[header value]' with "
                    f"an action of set, add, setDate or addDate, found {text!r}"
                )
                continue
            rules.append(HeaderRule(action=action.lower(), name=name.strip(), value=value.strip()))
        return tuple(rules)

    def _users(self) -> Mapping[str, User] | None:
        """The users in `rest.users.file`, or in the file that Connect's own extension would read."""
        path = self._text("rest.users.file") or None
        for extension in parse_list(self._text("rest.extension.classes")):
            if extension.rpartition(".")[2] != _EXTENSION.rpartition(".")[2]:
                self.problems.append(
                    f"rest.extension.classes: expected {_EXTENSION}, which is built in, found {extension}; "
                    "other Java classes cannot run here"
                )
            elif path is None:
                path = self._login_file()
        return None if path is None else self._users_in(path)

    def _login_file(self) -> str | None:
        """The users file in the section KafkaConnect of the JAAS file that KAFKA_OPTS names."""
        option = _LOGIN_FILE.search(self._environment.get("KAFKA_OPTS", ""))
        if option is None:
            self.problems.append(
                "rest.extension.classes: basic authentication needs a file of users; name it in "
                "rest.users.file, or a JAAS file in KAFKA_OPTS, -Djava.security.auth.login.config=…"
            )
            return None
        path = option[1].strip("\"'")
        try:
            section = _LOGIN_MODULE.search(Path(path).read_text())
        except (OSError, UnicodeDecodeError) as e:
            self.problems.append(f"{path}: the JAAS file in KAFKA_OPTS cannot be read: {e}")
            return None
        if section is None:
            self.problems.append(
                f'{path}: expected KafkaConnect {{ …PropertyFileLoginModule required file="…"; }};'
            )
            return None
        return section[1]

    def _users_in(self, path: str) -> Mapping[str, User] | None:
        try:
            users = read_users(path)
        except ConfigError as e:
            self.problems += e.problems
            return None
        if plain := plain_names(users):
            self._warnings.append(
                f"{path}: the passwords of {', '.join(plain)} are in plain text; replace them by lines that "
                "`heliograph password NAME` prints"
            )
        return users

    def _certificate_roles(self, tls: ListenerTls | None) -> CertificateRoles | None:
        try:
            roles = read_certificate_roles(self._text(ROLES))
        except ValueError as e:
            self.problems.append(f"{ROLES}: {e}")
            return None
        if roles is not None and (tls is None or tls.client_auth == "none"):
            self.problems.append(
                f"{ROLES}: has no effect without client certificates; set listeners to https:// and "
                "ssl.client.auth to required or requested"
            )
        return roles


def _csv(text: str) -> list[str]:
    """Splits at commas outside of double quotes, and removes the quotes."""
    found = re.findall(r'\s*"([^"]*)"\s*(?:,|$)|\s*([^,"]+?)\s*(?:,|$)', text)
    return [quoted or plain for quoted, plain in found if quoted or plain]
