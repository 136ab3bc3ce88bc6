"""One mirror, whose flows log in by every way there is, and by some that there are not. Tasks do, too."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from heliograph.embedded import Cluster
from heliograph.model import PartitionState
from heliograph.spark.session import LocalSpark
from support.clusters.guarded import (
    PASSWORD,
    SESSION_MS,
    SHARED,
    STORE_PASSWORD,
    Files,
    client_key,
    cluster_properties,
    inline,
    logins,
    password,
    token_file,
    trust,
    unsecured_token,
)
from support.clusters.reading import assert_mirrored, read_all
from support.clusters.writing import Writer, create_topics, numbered
from support.flows.mirroring import Running, load_properties, running
from support.waiting import eventually

RECORDS = 20
TOKEN_SECONDS = 4


class Trouble(NamedTuple):
    """What is wrong with a flow's source, and the sentence that says so. `{me}` is its alias, `{at}` its
    address."""

    listener: str
    settings: Callable[[Files], dict[str, str]]
    sentence: str


TROUBLES = {
    "wrong-password": Trouble(
        "SASL",
        lambda files: password("PLAIN", "guess"),
        "{at}: {me}.sasl.jaas.config: the broker refuses the login by PLAIN: Authentication failed: "
        "Invalid username or password",
    ),
    "no-such-mechanism": Trouble(
        "SASLTLS",
        lambda files: inline(files) | password("SCRAM-SHA-256") | {"security.protocol": "SASL_SSL"},
        "{at}: {me}.sasl.mechanism: expected one of PLAIN, SCRAM-SHA-512, which the broker offers, found "
        "SCRAM-SHA-256",
    ),
    "expired": Trouble(
        "EXPIRED",
        lambda files: trust(files, "PEM"),
        "{at}: the broker's certificate, or one above it, has expired; renew it on the broker",
    ),
    "self-signed": Trouble(
        "SELFSIGNED",
        lambda files: trust(files, "PEM"),
        "{at}: the broker's certificate is self-signed and not in {me}.ssl.truststore.location: {ca}",
    ),
    "wrong-host": Trouble(
        "ELSEWHERE",
        lambda files: trust(files, "PEM"),
        "{at}: the broker's certificate is not for '127.0.0.1' "
        "(ssl.endpoint.identification.algorithm=https)",
    ),
    "store-password": Trouble(
        "TLS",
        lambda files: trust(files, "JKS") | {"ssl.truststore.password": "guess"},
        "{me}.ssl.truststore.location: {folder}/trust.jks: cannot be opened: "
        "{me}.ssl.truststore.password is not its password",
    ),
    "store-format": Trouble(
        "TLS",
        lambda files: trust(files, "PKCS12") | {"ssl.truststore.location": files.path("ca.pem")},
        "{me}.ssl.truststore.location: {ca}: expected JKS or PKCS12, as {me}.ssl.truststore.type is "
        "PKCS12, found PEM",
    ),
    "unreadable-key": Trouble(
        "MUTUAL",
        lambda files: (
            inline(files) | {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(files.folder)}
        ),
        "{me}.ssl.keystore.location: {folder}: cannot be read: Is a directory",
    ),
    "key-password": Trouble(
        "MUTUAL",
        lambda files: inline(files) | client_key(files.client) | {"ssl.key.password": "guess"},
        "{me}.ssl.keystore.certificate.chain: the key cannot be read; check {me}.ssl.key.password",
    ),
}


class TokenKeeper(threading.Thread):
    """Keeps a token fresh in a file, until it stops."""

    def __init__(self, path: Path) -> None:
        super().__init__(daemon=True)
        self.path = path
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.wait(0.5):
            token_file(self.path, TOKEN_SECONDS)

    def stop(self) -> None:
        self._over.set()
        self.join()


class Everyone(NamedTuple):
    mirror: Running
    truststore: Path
    token: TokenKeeper


@pytest.fixture(scope="module")
def everyone(
    guarded: Cluster, files: Files, spark: LocalSpark, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Everyone]:
    folder = tmp_path_factory.mktemp("everyone")
    truststore, token = folder / "later.pem", TokenKeeper(folder / "token")
    token.start()
    both = {
        **logins(files),
        "short-token": ("SASL", unsecured_token(5)),
        "token-file": ("SASL", token_file(token.path, TOKEN_SECONDS)),
    }
    from_source = {name: (each.listener, each.settings(files)) for name, each in TROUBLES.items()}
    from_source["late"] = (
        "TLS",
        trust(files, "PEM") | {"ssl.truststore.location": str(truststore)},
    )
    # Its admin may, its consumer, which is in the tasks, may not.
    from_source["consumer"] = ("SASL", password("PLAIN"))
    properties = SHARED | {
        "clusters": ", ".join(
            ["here", "stranger", *from_source, *(f"{s}-{w}" for w in both for s in "st")]
        ),
        "consumer.consumer.sasl.jaas.config": password("PLAIN", "guess")["sasl.jaas.config"],
        **cluster_properties("here", guarded, "CLIENT", {}),
        **cluster_properties("stranger", guarded, "SASL", password("SCRAM-SHA-512", "guess")),
        "here->stranger.enabled": "true",
        "here->stranger.topics": "of-.*",
    }
    for way, (listener, settings) in both.items():
        properties |= cluster_properties(f"s-{way}", guarded, listener, settings)
        properties |= cluster_properties(f"t-{way}", guarded, listener, settings)
        properties |= flow(f"s-{way}", f"t-{way}", f"of-{way}")
    for name, (listener, settings) in from_source.items():
        properties |= cluster_properties(name, guarded, listener, settings)
        properties |= flow(name, "here", f"of-{name}")
    topics = [f"of-{name}" for name in (*both, *from_source)]
    create_topics(guarded, dict.fromkeys(topics, 1))
    writer = Writer(guarded, topics[0])
    for topic in topics:
        writer.queue(topic, numbered(range(RECORDS)))
    writer.flush()
    with running(spark, load_properties(folder, properties)) as mirror:
        yield Everyone(mirror, truststore, token)
    token.stop()


def flow(source: str, target: str, topics: str) -> dict[str, str]:
    return {f"{source}->{target}.enabled": "true", f"{source}->{target}.topics": topics}


def records_of(guarded: Cluster, remote: str) -> int:
    return sum(map(len, read_all(guarded, remote).values()))


def test_every_way_in_on_both_sides_of_a_flow(
    guarded: Cluster, files: Files, everyone: Everyone
) -> None:
    ways = [*logins(files), "short-token", "token-file"]
    everyone.mirror.wait_for_records(RECORDS * len(ways))

    remote = {f"of-{way}": f"s-{way}.of-{way}" for way in ways}
    assert assert_mirrored(guarded, guarded, remote) == RECORDS * len(ways)


@pytest.mark.parametrize("name", TROUBLES)
def test_what_is_wrong_is_the_state_of_its_flow_and_of_no_other(
    guarded: Cluster, files: Files, everyone: Everyone, name: str
) -> None:
    trouble = TROUBLES[name]
    at = guarded.bootstrap(trouble.listener)
    sentence = trouble.sentence.format(me=name, at=at, ca=files.path("ca.pem"), folder=files.folder)

    subject = f"flow {name}->here: cluster"  # other jobs of the flow may be in trouble before
    problems = eventually(
        everyone.mirror.problems, lambda found: any(each.startswith(subject) for each in found)
    )

    (told,) = [each for each in problems if each.startswith(subject)]
    assert told.startswith(f"flow {name}->here: cluster {name!r}: {sentence}")
    assert told.endswith("; retrying")
    for secret in (PASSWORD, STORE_PASSWORD, "guess"):
        assert secret not in "\n".join(problems)


def test_a_target_that_refuses_is_the_state_of_its_flow(
    guarded: Cluster, everyone: Everyone
) -> None:
    problems = eventually(
        everyone.mirror.problems, lambda found: any("here->stranger" in each for each in found)
    )

    (told,) = [each for each in problems if each.startswith("flow here->stranger")]
    at = guarded.bootstrap("SASL")
    assert told.startswith(
        f"flow here->stranger: group here-mm2: cluster 'stranger': {at}: stranger.sasl.jaas.config: the "
        "broker refuses the login by SCRAM-SHA-512: "
    )


def test_a_task_that_may_not_log_in_says_so_of_its_partitions(everyone: Everyone) -> None:
    receipt = eventually(
        lambda: everyone.mirror.receipt("of-consumer"),
        lambda found: found is not None and found.error is not None,
    )

    assert receipt is not None
    assert receipt.state is PartitionState.RETRYING
    assert "consumer.consumer.sasl.jaas.config: the broker refuses the login" in str(receipt.error)


def test_a_file_that_comes_late_is_found_by_everybody(
    guarded: Cluster, files: Files, everyone: Everyone
) -> None:
    """By the driver, and by tasks that run already."""
    setting = f"late.ssl.truststore.location: {everyone.truststore}"
    problem = f"flow late->here: cluster 'late': {setting}: no such file"
    eventually(
        everyone.mirror.problems, lambda found: any(each.startswith(problem) for each in found)
    )

    everyone.truststore.write_text(files.authority.identity.pem)

    remote = {"of-late": "late.of-late"}
    eventually(
        lambda: everyone.mirror.receipt("of-late"),
        lambda found: found is not None and found.position == RECORDS,
    )
    assert assert_mirrored(guarded, guarded, remote) == RECORDS


def test_sessions_end_and_flows_do_not(guarded: Cluster, everyone: Everyone) -> None:
    """Of 2.5 to 4 seconds: every connection logs in again while it copies."""
    restarts = everyone.mirror.progress.restarts
    ways = ("scram256", "short-token", "token-file")
    writer = Writer(guarded, "")
    end, number = time.monotonic() + SESSION_MS / 1000 + 1, RECORDS
    while time.monotonic() < end:
        for way in ways:
            writer.queue(f"of-{way}", numbered([number]))
        writer.flush()
        time.sleep(0.05)
        number += 1

    for way in ways:
        eventually(lambda way=way: records_of(guarded, f"s-{way}.of-{way}"), lambda n: n >= number)  # type: ignore[misc]
        assert_mirrored(guarded, guarded, {f"of-{way}": f"s-{way}.of-{way}"})
        eventually(
            lambda way=way: [p for p in everyone.mirror.problems() if f"s-{way}->" in p],  # type: ignore[misc]
            lambda found: not found,
        )
    assert everyone.mirror.progress.restarts == restarts


def test_a_token_that_expired_is_missed_until_there_is_a_new_one(
    guarded: Cluster, everyone: Everyone
) -> None:
    everyone.token.stop()
    problems = eventually(
        everyone.mirror.problems,
        lambda found: any("t-token-file.sasl.oauthbearer" in each for each in found),
    )
    before = records_of(guarded, "of-token-file")
    Writer(guarded, "of-token-file").batch(numbered(range(RECORDS)))
    token_file(everyone.token.path, 3600)

    remote = "s-token-file.of-token-file"
    eventually(lambda: records_of(guarded, remote), lambda n: n == before + RECORDS)
    assert_mirrored(guarded, guarded, {"of-token-file": remote})
    expired = f"{everyone.token.path}: the token in it has expired; retrying"
    assert any(each.endswith(expired) for each in problems)
