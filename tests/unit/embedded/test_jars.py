from __future__ import annotations

import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from heliograph.embedded.jars import ivy_module, kafka_jars, proxy_arguments, summarise_ivy
from heliograph.errors import EnvironmentProblem
from heliograph.machine.cache import build_once, cache_folder


def test_the_cache_is_ours_then_xdg_then_home() -> None:
    assert cache_folder({"HELIOGRAPH_CACHE": "/a", "XDG_CACHE_HOME": "/b"}) == Path("/a")
    assert cache_folder({"XDG_CACHE_HOME": "/b"}) == Path("/b/heliograph")
    assert cache_folder({}) == Path.home() / ".cache" / "heliograph"


def test_a_folder_is_built_once_and_whole(tmp_path: Path) -> None:
    built = []

    def build(folder: Path) -> None:
        built.append(folder)
        (folder / "file").write_text("whole")

    threads = [
        threading.Thread(target=build_once, args=(tmp_path / "made", build)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(built) == 1
    assert (tmp_path / "made" / "file").read_text() == "whole"


def test_a_failed_build_leaves_nothing_and_may_be_tried_again(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise ValueError("broken off")

    with pytest.raises(ValueError, match="broken off"):
        build_once(tmp_path / "made", fail)
    assert [path.name for path in tmp_path.iterdir()] == [".made.lock"]

    build_once(tmp_path / "made", lambda folder: (folder / "file").touch())
    assert (tmp_path / "made" / "file").exists()


def test_a_version_that_is_none_is_refused_before_anything_is_fetched() -> None:
    with pytest.raises(EnvironmentProblem, match=r"found '\.\./etc'"):
        kafka_jars("../etc")


def test_no_network_is_one_sentence_that_names_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELIOGRAPH_CACHE", str(tmp_path))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # the discard port: no process listens

    with pytest.raises(EnvironmentProblem) as found:
        kafka_jars()

    message = str(found.value)
    assert message.startswith(
        "Kafka 4.3.1: fetching kafka_2.13+kafka-tools from Maven Central failed: Conn"
    )
    assert "\n" not in message
    assert Path(message.split("full log: ")[1].rstrip(")")).read_text()
    assert not (tmp_path / "kafka" / "4.3.1" / "kafka_2.13").exists()


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("WARN: Host repo1.maven.org not found. url=https://…", "host repo1.maven.org cannot be"),
        ("java.net.ConnectException: Connection refused", "Connection refused"),
        ("\t\t:: org.apache.kafka#k;9.9: not found\n", "k;9.9 does not exist there; check"),
        ("something\nlast words\n\n", "last words"),
        ("", "Ivy printed nothing"),
    ],
)
def test_ivys_output_is_summarised(log: str, reason: str) -> None:
    assert reason in summarise_ivy(log)


def test_the_log_backend_fits_the_kafka_version() -> None:
    assert "log4j-slf4j-impl" in ivy_module("4.3.1", ["kafka_2.13"])
    assert "slf4j-reload4j" in ivy_module("3.9.1", ["kafka_2.13"])


def test_a_proxy_of_the_environment_is_passed_to_java() -> None:
    assert proxy_arguments({"https_proxy": "http://proxy:3128"}) == [
        "-Dhttps.proxyHost=proxy",
        "-Dhttps.proxyPort=3128",
    ]
    assert proxy_arguments({"https_proxy": "http://me:secret@proxy:3128"}) == []
    assert (
        proxy_arguments(
            {"https_proxy": "http://proxy", "JAVA_TOOL_OPTIONS": "-Dhttps.proxyHost=other"}
        )
        == []
    )
    assert proxy_arguments({}) == []


def test_a_jar_that_is_not_the_recorded_one_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With Java and Ivy as they are, but a command that writes another jar in place of the fetched one."""
    real = subprocess.run

    def fetch(command: list[str], **rest: Any) -> Any:
        if "org.apache.ivy.Main" not in command:
            return real(command, **rest)
        folder = Path(command[-1]).parent
        (folder / "kafka-clients-4.3.1.jar").write_bytes(b"another")
        (tmp_path / "ivy").mkdir()
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setenv("HELIOGRAPH_CACHE", str(tmp_path))
    monkeypatch.setattr(subprocess, "run", fetch)

    with pytest.raises(EnvironmentProblem, match=r"kafka-clients-4\.3\.1\.jar: expected SHA-256"):
        kafka_jars()

    assert not (tmp_path / "ivy").exists()
    assert not list(tmp_path.glob("kafka/4.3.1/*.jar"))
    assert [path.name for path in (tmp_path / "kafka" / "4.3.1").iterdir()] == [
        ".kafka-tools+kafka_2.13.lock"
    ]
