from __future__ import annotations

from pathlib import Path

import pytest

from heliograph.config.connectors.worker import load_worker
from heliograph.config.formats.load import load
from heliograph.config.metrics_config import (
    LABELS_VARIABLE,
    LISTENER_VARIABLE,
    Detail,
    MetricsConfig,
    Names,
)
from heliograph.errors import ConfigError

_FLOW = "clusters = a, b\na.bootstrap.servers = a:9092\nb.bootstrap.servers = b:9092\na->b.enabled = true\n"
_WORKER = "group.id=w\n" + "".join(
    f"{each}.storage.topic=w-{each}\n" for each in ("config", "offset", "status")
)


def _read(folder: Path, text: str) -> MetricsConfig:
    path = folder / "mm2.properties"
    path.write_text(_FLOW + text)
    return load(path).metrics


def test_without_settings_the_names_of_strimzis_exporter_are_served(tmp_path: Path) -> None:
    assert _read(tmp_path, "") == MetricsConfig(
        listener=None,
        names=frozenset({Names.STRIMZI_JMX}),
        detail=Detail.PARTITION,
        labels=(),
    )


def test_all_settings_are_read(tmp_path: Path) -> None:
    found = _read(
        tmp_path,
        "metrics.listener = http://0.0.0.0:9404\nmetrics.names = msk, strimzi-reporter\n"
        "metrics.detail = flow\nmetrics.labels = strimzi_io_cluster=mm2, team=a=b\n",
    )

    assert found.listener == ("0.0.0.0", 9404)
    assert found.names == {Names.MSK, Names.STRIMZI_REPORTER}
    assert found.detail is Detail.FLOW
    assert found.labels == (("strimzi_io_cluster", "mm2"), ("team", "a=b"))


@pytest.mark.parametrize(
    ("text", "address"),
    [("http://:9404", ("", 9404)), ("http://[::1]:0", ("::1", 0)), ("", None)],
)
def test_addresses(tmp_path: Path, text: str, address: tuple[str, int] | None) -> None:
    assert _read(tmp_path, f"metrics.listener = {text}\n").listener == address


def test_no_names_leaves_ours(tmp_path: Path) -> None:
    assert _read(tmp_path, "metrics.names =\n").names == frozenset()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "metrics.names = strimzi-jmxx",
            r"metrics.names: expected any of strimzi-jmx, strimzi-reporter, msk, or nothing, found "
            r"'strimzi-jmxx'; did you mean strimzi-jmx\? \(mm2.properties:5\)",
        ),
        ("metrics.detail = topics", r"metrics.detail: expected partition or topic or flow"),
        ("metrics.listener = 9404", r"metrics.listener: expected http://host:port"),
        ("metrics.listener = http://a:70000", r"metrics.listener: expected http://host:port"),
        ("metrics.labels = a-b=c", r"metrics.labels: expected name=value"),
        ("metrics.labels = cluster", r"metrics.labels: expected name=value"),
        ("metrics.labels = topic=x", r"metrics.labels: expected name=value.*no metric"),
    ],
)
def test_a_wrong_value_is_an_error_with_its_line(tmp_path: Path, line: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        _read(tmp_path, f"{line}\n")


def test_labels_of_the_environment_take_precedence() -> None:
    config = MetricsConfig(labels=(("a", "1"), ("b", "2")))

    assert config.with_environment({LABELS_VARIABLE: "b=3,c=4"}).labels == (
        ("a", "1"),
        ("b", "3"),
        ("c", "4"),
    )
    assert config.with_environment({}) == config
    with pytest.raises(ConfigError, match=f"{LABELS_VARIABLE}: expected name=value"):
        config.with_environment({LABELS_VARIABLE: "b"})


def test_a_worker_has_the_same_settings_and_reads_them_from_its_environment(tmp_path: Path) -> None:
    path = tmp_path / "worker.properties"
    path.write_text(_WORKER + "metrics.detail=topic\n")
    worker = load_worker(path, {"CONNECT_METRICS_NAMES": "msk"})

    assert worker.metrics.detail is Detail.TOPIC
    assert worker.metrics.names == {Names.MSK}
    assert [each for each in worker.warnings if "metrics" in each] == []


def test_the_listener_of_the_environment_stands_in_for_one_that_the_file_does_not_set(
    tmp_path: Path,
) -> None:
    environment = {LISTENER_VARIABLE: "http://0.0.0.0:9404"}
    own = "metrics.listener = http://127.0.0.1:9999\n"

    assert _read(tmp_path, "").with_environment(environment).listener == ("0.0.0.0", 9404)
    assert _read(tmp_path, own).with_environment(environment).listener == ("127.0.0.1", 9999)


def test_a_listener_of_the_environment_that_is_no_address_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="HELIOGRAPH_METRICS_LISTENER: expected http://HOST:PORT"):
        _read(tmp_path, "").with_environment({LISTENER_VARIABLE: "9404"})
