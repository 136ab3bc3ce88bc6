"""Connector configurations as an attacker writes them: files, URLs, classes, placeholders in all spellings.

A seed gives the same configurations on every machine. Half of a value is often right, since what no parser
takes proves nothing.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

PREFIXES = (
    "source.cluster.",
    "source.consumer.",
    "source.admin.",
    "source.producer.",
    "target.cluster.",
    "target.admin.",
    "producer.override.",
    "consumer.",
    "admin.",
    "producer.",
    "",
)
CLASSES = (
    "replication.policy.class",
    "topic.filter.class",
    "group.filter.class",
    "config.property.filter.class",
)
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "OAUTHBEARER", "AWS_MSK_IAM", "GSSAPI")
HANDLERS = (
    "",
    "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler",
    "io.strimzi.kafka.oauth.client.JaasClientOauthLoginCallbackHandler",
    "software.amazon.msk.auth.iam.IAMOAuthBearerLoginCallbackHandler",
)
OPTIONS = (
    "keyTab",
    "useKeyTab",
    "principal",
    "serviceName",
    "username",
    "password",
    "clientId",
    "clientSecret",
    "oauth.access.token.location",
    "oauth.token.endpoint.uri",
    "oauth.client.id",
    "oauth.client.secret",
    "oauth.ssl.truststore.location",
    "oauth.ssl.truststore.type",
    "ssl.truststore.location",
    "ssl.truststore.type",
    "ticketCache",
)
_CHARACTERS = "\t\n\r\x00\x01\x1f \"'\\/%:;=.,#?@[]{}$<>|~-_aZ09é\u2028\ufeff\U0001f4a9"


@dataclass(frozen=True)
class World:
    """What there is on the worker's machine. REST may name `allowed` with all in it, `url` with all below it,
    and the module `module`; a provider `limited` may read below `allowed`, `free` everywhere."""

    allowed: Path
    private: Path
    url: str
    module: str
    forbidden_modules: tuple[str, ...]


def build_world(root: Path) -> World:
    allowed, private = root / "allowed", root / "private"
    for folder in (allowed, private):
        (folder / "sub").mkdir(parents=True)
        (folder / "token").write_text("a-token")
        (folder / "ca.pem").write_text(
            "-----BEGIN CERTIFICATE-----\nAA\n-----END CERTIFICATE-----\n"
        )
        (folder / "sub/a.keytab").write_bytes(b"\x05\x02")
        (folder / "values.properties").write_text(
            f"path = {private}/token\nurl = file:{private}/token\nclass = hostile_mod:Policy\n"
            f'quote = " useKeyTab="true" keyTab="{private}/token\ngood = {allowed}/token\n'
        )
    (allowed / "out").symlink_to(private / "token")
    (allowed / "folder").symlink_to(private)
    (allowed / "in").symlink_to(allowed / "token")
    modules = root / "modules"
    (modules / "allowed_mod").mkdir(parents=True)
    (modules / "allowed_mod/__init__.py").write_text("class Policy: ...\n")
    for name in ("hostile_mod", "allowed_mod2", "allowed_mo"):
        (modules / f"{name}.py").write_text("raise SystemExit(name)\n")
    return World(
        allowed=allowed,
        private=private,
        url="https://idp.example.com/realms/",
        module="allowed_mod",
        forbidden_modules=(
            "hostile_mod",
            "allowed_mod2",
            "allowed_mo",
            "unittest.__main__",
            "this",
        ),
    )


class Hostile:
    """`config()` is another configuration each time."""

    def __init__(self, seed: int, world: World) -> None:
        self._random = random.Random(seed)
        self._world = world

    def config(self) -> dict[str, str]:
        pick = self._random
        found = {}
        side = pick.choice(PREFIXES[:7])
        if pick.random() < 0.8:
            found[f"{side}security.protocol"] = pick.choice(
                ("SASL_SSL", "SASL_PLAINTEXT", "SSL", "ssl")
            )
            found[f"{side}sasl.mechanism"] = pick.choice(MECHANISMS)
            found[f"{side}sasl.jaas.config"] = self._mutated(self._jaas(), 0.2)
            found[f"{side}sasl.kerberos.service.name"] = "kafka"
            found[f"{side}sasl.login.callback.handler.class"] = pick.choice(HANDLERS)
        if pick.random() < 0.2:  # a login that works, but for its address
            found[f"{side}security.protocol"] = "SASL_PLAINTEXT"
            found[f"{side}sasl.mechanism"] = "OAUTHBEARER"
            found[f"{side}sasl.login.callback.handler.class"] = ""
            found[f"{side}sasl.jaas.config"] = 'M required clientId="a" clientSecret="b";'
            found[f"{side}sasl.oauthbearer.token.endpoint.url"] = self._mutated(self._url(), 0.2)
        for _ in range(pick.randrange(4)):
            prefix = side if pick.random() < 0.6 else pick.choice(PREFIXES)
            name, make = pick.choice(self._settings())
            found[f"{prefix}{name}"] = self._mutated(make(), 0.3)
        if pick.random() < 0.3:
            found[pick.choice(CLASSES)] = self._mutated(self._class(), 0.2)
        if pick.random() < 0.1:
            found["topics"] = self._reference()
        return found

    def _settings(self) -> tuple[tuple[str, Callable[[], str]], ...]:
        return (
            ("ssl.truststore.location", self._path),
            ("ssl.keystore.location", self._path),
            ("ssl.truststore.type", lambda: "PEM"),
            ("ssl.keystore.type", lambda: self._random.choice(("PEM", "PKCS12"))),
            ("sasl.oauthbearer.token.endpoint.url", self._url),
            ("sasl.jaas.config", self._jaas),
            ("sasl.oauthbearer.jwks.endpoint.url", self._url),
            ("bootstrap.servers", lambda: "evil:9092"),
        )

    # ── files ────────────────────────────────────────────────────────────────────────────────

    def _path(self) -> str:
        pick, world = self._random, self._world
        good = pick.choice(("token", "ca.pem", "in", "sub/a.keytab", "out", "folder/token"))
        text = pick.choice(
            (
                f"{world.allowed}/{good}",
                f"{world.private}/{good}",
                f"{world.allowed}/../private/{good}",
                f"{world.allowed}/./sub/../../private/token",
                f"{world.allowed}//{good}",
                f"/{world.allowed}/{good}",
                f"{world.allowed}2/../private/token",
                f" {world.private}/token\t",
                f"{world.allowed}/sub/%2e%2e/{good}",
                self._reference(),
                f"{world.allowed}/{self._reference()}",
                "/etc/hostname",
            )
        )
        return text

    def _url(self) -> str:
        pick, world = self._random, self._world
        if pick.random() < 0.5:
            path = self._path()
            if pick.random() < 0.4:
                path = "".join(
                    f"%{ord(c):02x}" if pick.random() < 0.3 and c < "\x7f" else c for c in path
                )
            elif pick.random() < 0.5:
                path = quote(path, safe="%")
            scheme = pick.choice(
                ("file:", "file://", "FILE:", "fi\tle:", "file://localhost", "\x01file:")
            )
            return f"{scheme}{path}"
        return pick.choice(
            (
                f"{world.url}token",
                f"{world.url}../token",
                f"{world.url}%2e%2e/token",
                "https://idp.example.com@evil.example.org/realms/token",
                "https://evil.example.org\\@idp.example.com/realms/token",
                "https://evil.example.org#@idp.example.com/realms/",
                "http://idp.example.com/realms/token",
                "https://IDP.EXAMPLE.COM:443/realms/a",
                "https://idp.example.com:444/realms/a",
                "ht\ttps://evil.example.org/",
                "ftp://idp.example.com/realms/",
                "//idp.example.com/realms/",
                self._reference(),
            )
        )

    # ── JAAS ─────────────────────────────────────────────────────────────────────────────────

    def _jaas(self) -> str:
        pick = self._random
        options = " ".join(self._option() for _ in range(pick.randrange(6)))
        module = pick.choice(("M", "com.sun.security.auth.module.Krb5LoginModule", '"M"'))
        return f"{module}{self._gap()}required {options}{self._gap()};"

    def _option(self) -> str:
        name = self._random.choice(OPTIONS)
        value = self._value_of(name)
        return f"{self._word(name)}{self._gap()}={self._gap()}{self._word(value, quoted=True)}"

    def _value_of(self, name: str) -> str:
        if name == "useKeyTab":
            return self._random.choice(("true", "TRUE", "false"))
        if name.endswith("type"):
            return "PEM"
        if name.endswith("uri"):
            return self._url()
        return self._path() if self._random.random() < 0.8 else self._reference()

    def _word(self, text: str, *, quoted: bool = False) -> str:
        pick = self._random
        if not quoted and pick.random() < 0.5:
            return text
        mark = pick.choice("\"'")
        inside = []
        for c in text:
            chance = pick.random()
            if chance < 0.05 and c < "\x7f":
                inside.append(f"\\{ord(c):03o}" if pick.random() < 0.5 else f"\\{ord(c):o}")
            elif chance < 0.08:
                inside.append(f"\\{c}")
            else:
                inside.append(c)
        return f"{mark}{''.join(inside)}{mark}"

    def _gap(self) -> str:
        return self._random.choice(("", "", " ", "\t", "/* x */", "// x\n", "\n", "/**/"))

    # ── classes and placeholders ─────────────────────────────────────────────────────────────

    def _class(self) -> str:
        pick, world = self._random, self._world
        if pick.random() < 0.2:
            return f"{world.module}:Policy"
        module = pick.choice((world.module, f"{world.module}.below", *world.forbidden_modules))
        name = pick.choice(("Policy", "x-", "", "a:b", "Policy.x", " Policy", "__class__"))
        return pick.choice(
            (f"{module}:{name}", f" {module} :{name}", f".{module}:{name}", self._reference())
        )

    def _reference(self) -> str:
        pick, world = self._random, self._world
        provider = pick.choice(("limited", "free", "folder", "env", "none"))
        place = pick.choice((world.allowed, world.private, world.allowed / "folder"))
        spelled = pick.choice((f"{place}", f"{world.allowed}/../{place.name}", f"/{place}"))
        if provider == "folder":
            return (
                f"${{folder:{spelled}:{pick.choice(('token', 'out', '../private/token', 'in'))}}}"
            )
        if provider == "env":
            return f"${{env:{pick.choice(('PRIVATE', 'MIRROR_A', 'PATH'))}}}"
        key = pick.choice(("path", "url", "class", "quote", "good", "absent"))
        return f"${{{provider}:{spelled}/values.properties:{key}}}"

    def _mutated(self, text: str, chance: float) -> str:
        pick = self._random
        while text and pick.random() < chance:
            at = pick.randrange(len(text) + 1)
            text = (
                text[:at]
                + pick.choice((pick.choice(_CHARACTERS), ""))
                + text[at + pick.randrange(2) :]
            )
        return text
