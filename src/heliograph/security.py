"""TLS and SASL settings of a client, as values; `config/security/connection.py` parses them.

Secrets are hidden in the repr of these values, and are shipped with them to the executors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from heliograph.permitted import AWS, KERBEROS, Kind, Location, Permitted

JAAS = "sasl.jaas.config"
TOKEN_URL = "sasl.oauthbearer.token.endpoint.url"


class Secret(str):
    """A string that is hidden in any repr; Java prints `[hidden]`, too."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "[hidden]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """A truststore or keystore: a file, or PEM inside the configuration.

    `name` is "truststore" or "keystore". `certificates` and `key` are inline PEM; a store that was read from
    its file has these and the `location`, which is then used in messages only.
    """

    name: str
    type: str = "JKS"
    location: str | None = None
    password: Secret | None = None
    key_password: Secret | None = None
    certificates: Secret | None = None
    key: Secret | None = None

    @property
    def is_read(self) -> bool:
        return self.certificates is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """Without a truststore, the machine's own authorities are trusted."""

    truststore: Store | None = None
    keystore: Store | None = None
    verify_host: bool = True
    protocols: tuple[str, ...] = ("TLSv1.2", "TLSv1.3")
    cipher_suites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Password:
    """PLAIN and SCRAM; `is_token` for a delegation token's id and HMAC, with SCRAM."""

    username: str
    password: Secret
    is_token: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsecuredToken:
    """An unsigned token, for tests: `OAuthBearerUnsecuredLoginCallbackHandler`.

    `claims` are (name, value as JSON), without the times, which the client adds.
    """

    claims: tuple[tuple[str, str], ...]
    lifetime_seconds: int = 3600
    extensions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenEndpoint:
    """Tokens for a client's id and secret (OAuth's client credentials grant).

    `window` is the part of a token's lifetime after which a new one is requested; `tls` is for the endpoint.
    """

    url: str
    client_id: str
    client_secret: Secret
    scope: str | None = None
    urlencode: bool = False
    extensions: tuple[tuple[str, str], ...] = ()
    tls: Tls = field(default_factory=Tls)
    timeout_seconds: float = 10.0
    window: float = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenToken:
    """A token from the configuration: its text, or a file that another program renews."""

    token: Secret | None = None
    location: str | None = None
    extensions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsIam:
    """Options in the JAAS line of MSK's login module; without any, AWS's default chain is used."""

    profile: str | None = None
    role_arn: str | None = None
    role_session_name: str | None = None
    role_external_id: str | None = None
    sts_region: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kerberos:
    """Options in the JAAS line of `Krb5LoginModule`; without a keytab, the user's ticket cache is used.

    `keytab_content` (base64) is set once the file was read.
    """

    service: str
    principal: str | None = None
    keytab: str | None = None
    keytab_content: Secret | None = None


Credentials = Password | UnsecuredToken | TokenEndpoint | GivenToken | AwsIam | Kerberos


@dataclass(frozen=True, slots=True, kw_only=True)
class Sasl:
    mechanism: str
    credentials: Credentials


@dataclass(frozen=True, slots=True, kw_only=True)
class Security:
    """`keys` maps setting names to the names that the user wrote, if those have a prefix. `permitted` is
    what may be opened for it; None: anything, since the operator wrote the configuration."""

    tls: Tls | None = None
    sasl: Sasl | None = None
    permitted: Permitted | None = None
    keys: tuple[tuple[str, str], ...] = field(default=(), repr=False, compare=False)

    def key(self, name: str) -> str:
        """A setting such as `ssl.truststore.location` under its name in the user's file."""
        return dict(self.keys).get(name, name)


PLAINTEXT = Security()


def locations(security: Security) -> Iterator[Location]:
    """Every file that a client with this security opens, every URL that it calls, and every identity of the
    worker that it uses. Code that opens anything else for a login must add it here."""
    if security.tls is not None:
        yield from _stores(security.tls)
    match security.sasl.credentials if security.sasl is not None else None:
        case TokenEndpoint() as endpoint:
            yield Location(Kind.URL, endpoint.url, TOKEN_URL)
            yield from (each._replace(setting=JAAS) for each in _stores(endpoint.tls))
        case GivenToken(location=str() as location):
            yield Location(Kind.FILE, location, TOKEN_URL)
        case AwsIam():
            yield Location(Kind.IDENTITY, AWS, "sasl.mechanism")
        case Kerberos(keytab=str() as keytab):
            yield Location(Kind.FILE, keytab, JAAS)
        case Kerberos():
            yield Location(Kind.IDENTITY, KERBEROS, JAAS)


def _stores(tls: Tls) -> Iterator[Location]:
    for store in (tls.truststore, tls.keystore):
        if store is not None and store.location is not None:
            yield Location(Kind.FILE, store.location, f"ssl.{store.name}.location")
