"""A secret is nowhere to be seen: not in arguments, output, logs, nor in what Spark keeps of a run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import javaproperties
import pytest

from heliograph.embedded import Cluster
from support.clusters.guarded import (
    PASSWORD,
    SHARED,
    STORE_PASSWORD,
    Files,
    client_key,
    cluster_properties,
    inline,
    password,
)
from support.clusters.reading import assert_mirrored
from support.clusters.writing import create_topics, numbered, write
from support.flows.watching import Watch
from support.waiting import PATIENCE_SECONDS


@pytest.mark.proof  # of `run`, `plan` and `status`; test_planted_secrets.py looks at more places, in `serve`
def test_no_secret_is_to_be_seen(guarded: Cluster, files: Files, tmp_path: Path) -> None:
    create_topics(guarded, {"of-secrets": 1})
    write(guarded, "of-secrets", numbered(range(10)))
    key = client_key(files.client)
    properties = SHARED | {
        "clusters": "secret-a, secret-b, secret-c",
        **cluster_properties("secret-a", guarded, "MUTUAL", inline(files) | key),
        **cluster_properties("secret-b", guarded, "SASL", password("SCRAM-SHA-512")),
        **cluster_properties("secret-c", guarded, "SASL", password("PLAIN", "the wrong canary")),
        "secret-a->secret-b.enabled": "true",
        "secret-a->secret-b.topics": "of-secrets",
    }
    config = tmp_path / "mm2.properties"
    config.write_text(javaproperties.dumps(properties, timestamp=False))
    events = tmp_path / "events"
    events.mkdir()
    (tmp_path / "spark-defaults.conf").write_text(
        f"spark.eventLog.enabled true\nspark.eventLog.dir {events.as_uri()}\n"
        "spark.eventLog.compress false\n"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYSPARK_")}
    environment["SPARK_CONF_DIR"] = str(tmp_path)

    shown = {}
    refused = _with_flow(config, "secret-c->secret-b")
    for name, *arguments in (
        ("run", config, "--once", "--master", "local[2]"),
        ("plan", refused),
        ("status", refused),
    ):
        command = [sys.executable, "-m", "heliograph", name, *map(str, arguments)]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        watch = Watch(process.pid)
        watch.start()
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
        shown |= {f"{name}: {what}": text for what, text in watch.stop().items()}
        shown |= {f"{name}: stdout": out, f"{name}: stderr": err}
        assert "Traceback" not in err, err

    assert assert_mirrored(guarded, guarded, {"of-secrets": "secret-a.of-secrets"}) == 10
    for name in ("plan", "status"):
        said = shown[f"{name}: stdout"] + shown[f"{name}: stderr"]
        assert "the broker refuses the login by PLAIN" in said
    for path in events.rglob("*"):
        if path.is_file():
            shown[str(path)] = path.read_text(errors="replace")
    assert any("pyspark" in text for where, text in shown.items() if "cmdline" in where)
    assert any("SparkListenerJobEnd" in text for text in shown.values())
    secrets = [PASSWORD, STORE_PASSWORD, "wrong canary"]
    secrets += [line for line in key["ssl.keystore.key"].splitlines() if len(line) > 40]
    for where, text in shown.items():
        for secret in secrets:
            assert secret not in text, where


def _with_flow(config: Path, flow: str) -> Path:
    path = config.with_name("refused.properties")
    path.write_text(f"{config.read_text()}\n{flow}.enabled = true\n{flow}.topics = of-secrets\n")
    return path
