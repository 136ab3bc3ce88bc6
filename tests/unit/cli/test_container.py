"""What the image's entry point runs, by arguments, environment and mounted files."""

from __future__ import annotations

from collections.abc import Callable
from os.path import normpath
from pathlib import Path

import pytest

from heliograph.cli.container import command_of, main
from heliograph.errors import ConfigError

_COMMANDS = ("run", "serve", "status")


def _mounted(*names: str) -> Callable[[Path], bool]:
    return {Path(normpath(Path("/etc/heliograph") / name)) for name in names}.__contains__


@pytest.mark.parametrize(
    ("mounted", "expected"),
    [
        (("mm2.properties",), ["connect-mirror-maker.sh", "/etc/heliograph/mm2.properties"]),
        (
            ("mirror.yaml", "../heliograph-secrets"),
            [
                "connect-mirror-maker.sh",
                *("/etc/heliograph/mirror.yaml", "--secrets", "/etc/heliograph-secrets"),
            ],
        ),
        (
            ("worker.properties", "mm2.properties"),
            ["connect-distributed.sh", "/etc/heliograph/worker.properties"],
        ),
    ],
)
def test_without_arguments_the_mounted_file_decides(
    mounted: tuple[str, ...], expected: list[str]
) -> None:
    assert command_of((), {}, _COMMANDS, _mounted(*mounted)) == expected


def test_variables_of_connects_images_start_a_worker() -> None:
    environment = {"CONNECT_BOOTSTRAP_SERVERS": "a:9092", "CONNECT_GROUP_ID": "g"}

    assert command_of((), environment, _COMMANDS, _mounted()) == ["heliograph", "serve"]


def test_variables_of_the_image_itself_start_no_worker() -> None:
    environment = {"CONNECT_LOG4J_LOGGERS": "org=ERROR"}

    command = command_of((), environment, _COMMANDS, _mounted("mm2.properties"))

    assert command[0] == "connect-mirror-maker.sh"


def test_without_any_configuration_one_sentence_says_what_to_mount() -> None:
    with pytest.raises(
        ConfigError, match=r"expected /etc/heliograph/mm2.properties, .* Mount your file"
    ):
        command_of((), {}, _COMMANDS, _mounted())


@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        (["run", "/mm2.properties"], "heliograph"),
        (["--version"], "heliograph"),
        (["bin/connect-mirror-maker.sh", "/mm2.properties"], "bin/connect-mirror-maker.sh"),
        (["sh", "-c", "true"], "sh"),
    ],
)
def test_arguments_are_a_command_of_heliograph_or_a_program(
    arguments: list[str], first: str
) -> None:
    command = command_of(arguments, {"PATH": "/bin:/usr/bin"}, _COMMANDS, _mounted())

    assert command[0] == first
    assert command[-1] == arguments[-1]


def test_an_unknown_word_is_refused() -> None:
    with pytest.raises(ConfigError, match="rum: neither a command of heliograph nor a program"):
        command_of(["rum"], {"PATH": "/bin"}, _COMMANDS, _mounted())


def test_an_executor_without_its_driver_is_refused_with_exit_code_2(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARK_DRIVER_URL", raising=False)

    assert main(["executor"]) == 2
    assert "SPARK_DRIVER_URL" in capsys.readouterr().err
