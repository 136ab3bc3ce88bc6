"""Flows whose clusters ask for logins, on both sides; Spark's workers log in, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from guarded import SHARED, Files, cluster_properties, logins, password, trust
from mirroring import load_properties, mirror_once, running
from reading import assert_mirrored
from waiting import eventually
from writing import create_topics, numbered, write

from heliograph.embedded import Cluster
from heliograph.pipeline.session import LocalSpark


@pytest.mark.timeout(180)
def test_every_way_in_on_both_sides_of_a_flow(
    guarded: tuple[Cluster, Cluster], files: Files, spark: LocalSpark, tmp_path: Path
) -> None:
    source, target = guarded
    ways = logins(files)
    topics = {way: f"of-{way}" for way in ways}
    create_topics(source, dict.fromkeys(topics.values(), 1))
    properties = SHARED | {"clusters": ", ".join(f"s-{way}, t-{way}" for way in ways)}
    for way, (listener, settings) in ways.items():
        write(source, topics[way], numbered(range(20)))
        properties |= cluster_properties(f"s-{way}", source, listener, settings)
        properties |= cluster_properties(f"t-{way}", target, listener, settings)
        properties |= {
            f"s-{way}->t-{way}.enabled": "true",
            f"s-{way}->t-{way}.topics": topics[way],
        }

    outcome = mirror_once(spark, load_properties(tmp_path, properties))

    assert outcome.good, outcome
    remote = {topic: f"s-{way}.{topic}" for way, topic in topics.items()}
    assert assert_mirrored(source, target, remote) == 20 * len(ways)


@pytest.mark.timeout(120)
def test_a_flow_that_may_not_log_in_says_so_and_others_go_on(
    guarded: tuple[Cluster, Cluster], files: Files, spark: LocalSpark, tmp_path: Path
) -> None:
    source, target = guarded
    create_topics(source, {"of-welcome": 1, "of-unwelcome": 1})
    write(source, "of-welcome", numbered(range(5)))
    write(source, "of-unwelcome", numbered(range(5)))
    truststore = tmp_path / "later.pem"
    properties = SHARED | {
        "clusters": "welcome, stranger, late, here",
        **cluster_properties("welcome", source, "SASL", password("PLAIN")),
        **cluster_properties("stranger", source, "SASL", password("PLAIN", "guess")),
        **cluster_properties("late", source, "TLS", trust(files, "PEM")),
        **cluster_properties("here", target, "CLIENT", {}),
        "late.ssl.truststore.location": str(truststore),
        "welcome->here.enabled": "true",
        "welcome->here.topics": "of-welcome",
        "stranger->here.enabled": "true",
        "stranger->here.topics": "of-.*",
        "late->here.enabled": "true",
        "late->here.topics": "of-unwelcome",
    }
    with running(spark, load_properties(tmp_path, properties)) as mirror:
        mirror.wait_for_records(5, within=60)
        problems = eventually(mirror.problems, lambda found: len(found) >= 2)
        truststore.write_text(files.authority.identity.pem)
        mirror.wait_for_records(10, within=60)  # it came late, and was looked for again

    told = "\n".join(problems)
    assert "flow stranger->here: cluster 'stranger': 127.0.0.1:" in told
    assert (
        "stranger.sasl.jaas.config: the broker refuses the login by PLAIN: Authentication failed: "
        "Invalid username or password; trying again" in told
    )
    assert (
        f"flow late->here: cluster 'late': late.ssl.truststore.location: {truststore}: no such file"
        in told
    )
    assert "guess" not in told
