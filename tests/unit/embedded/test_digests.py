from __future__ import annotations

import hashlib
import logging
from pathlib import Path

import pytest

from heliograph.embedded import digests
from heliograph.embedded.digests import check_jars, recorded
from heliograph.embedded.jars import KAFKA_VERSION
from heliograph.errors import EnvironmentProblem

JAR = f"kafka-clients-{KAFKA_VERSION}.jar"


def test_every_jar_of_our_kafka_is_recorded() -> None:
    known = recorded(KAFKA_VERSION)

    assert known is not None
    assert {JAR, f"kafka_2.13-{KAFKA_VERSION}.jar", f"connect-mirror-{KAFKA_VERSION}.jar"} <= set(
        known
    )
    assert all(len(digest) == 64 for digest in known.values())


def test_another_content_is_an_error_that_names_both_digests(tmp_path: Path) -> None:
    (tmp_path / JAR).write_bytes(b"another")
    known = recorded(KAFKA_VERSION)
    assert known is not None

    with pytest.raises(EnvironmentProblem) as caught:
        check_jars(KAFKA_VERSION, tmp_path)

    assert JAR in str(caught.value)
    assert f"expected SHA-256 {known[JAR]}" in str(caught.value)
    assert f"found {hashlib.sha256(b'another').hexdigest()}" in str(caught.value)


def test_a_jar_that_nobody_recorded_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "evil-1.0.jar").write_bytes(b"")

    with pytest.raises(EnvironmentProblem, match=r"evil-1\.0\.jar: not among the recorded jars"):
        check_jars(KAFKA_VERSION, tmp_path)


def test_the_recorded_content_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.jar").write_bytes(b"content")
    digest = hashlib.sha256(b"content").hexdigest()
    monkeypatch.setattr(digests, "recorded", lambda _: {"a.jar": digest, "b.jar": "other"})

    check_jars("1.0", tmp_path)


def test_a_version_without_a_record_is_used_and_told_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.jar").write_bytes(b"content")
    with caplog.at_level(logging.WARNING):
        check_jars("9.9.9", tmp_path)

    assert "Kafka 9.9.9: no recorded digests for this version" in caplog.text
