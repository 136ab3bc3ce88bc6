"""What a container of our image runs: `python -m heliograph.cli.container ARGUMENT…`, its entry point.

ARGUMENTS                        runs
executor                         an executor of Spark on Kubernetes, which starts it with this one argument
health                           exits with 0 if the service in this container is ready
a command of heliograph          heliograph …
a program (bin/connect-…, sh)    that program
none                             connect-distributed.sh, if there are CONNECT_ variables of a worker;
                                 else connect-mirror-maker.sh with the mounted file
"""

from __future__ import annotations

import os
import shutil
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from heliograph.config.metrics_config import LISTENER_VARIABLE
from heliograph.config.resolve.environment import setting_of
from heliograph.errors import ConfigError, HeliographError
from heliograph.spark.executor import executor_command

#: Where the image expects the user's file, in the order in which they are looked for.
FOLDER = Path("/etc/heliograph")
_FILES = ("mm2.properties", "mirror.yaml", "connectors.json", "connectors")
#: Not below FOLDER, which is a read-only volume in Kubernetes: nothing can be mounted inside of it.
_SECRETS = Path("/etc/heliograph-secrets")
_WORKER_FILE = FOLDER / "worker.properties"
_HEALTH_SECONDS = 5.0
_HEALTH_URL = "http://127.0.0.1:9404/health"
EXECUTOR, HEALTH = "executor", "health"


def command_of(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    commands: Sequence[str],
    exists: Callable[[Path], bool] = Path.exists,
) -> list[str]:
    """The program to run, with its arguments; `commands` are those of heliograph. Raises ConfigError."""
    if not arguments:
        return _by_what_is_mounted(environment, exists)
    first = arguments[0]
    if first.startswith("-") or first in commands:
        return ["heliograph", *arguments]
    if "/" in first or shutil.which(first, path=environment.get("PATH")) is not None:
        return list(arguments)
    raise ConfigError(
        f"{first}: neither a command of heliograph nor a program of this image; heliograph --help lists the "
        "commands"
    )


def _by_what_is_mounted(
    environment: Mapping[str, str], exists: Callable[[Path], bool]
) -> list[str]:
    secrets = ["--secrets", str(_SECRETS)] if exists(_SECRETS) else []
    if exists(_WORKER_FILE):
        return ["connect-distributed.sh", str(_WORKER_FILE), *secrets]
    if any(setting_of(name) == "bootstrap.servers" for name in environment):
        return ["heliograph", "serve"]
    found = next((FOLDER / name for name in _FILES if exists(FOLDER / name)), None)
    if found is None:
        raise ConfigError(
            f"configuration: expected {FOLDER}/mm2.properties, {', '.join(_FILES[1:])} or worker.properties, "
            "or CONNECT_BOOTSTRAP_SERVERS and the other CONNECT_ variables of a worker; found neither. Mount "
            f"your file: -v ./mm2.properties:{FOLDER}/mm2.properties:ro"
        )
    return ["connect-mirror-maker.sh", str(found), *secrets]


def unreadable(command: Sequence[str]) -> str | None:
    """Why a file that the command names cannot be read: containers run without the rights of root."""
    for word in command[1:]:
        path = Path(word)
        if path.is_absolute() and path.exists() and not os.access(path, os.R_OK):
            return (
                f"{path}: cannot be read by the user of this container (uid {os.getuid()}); allow it to read "
                "the file: chmod o+r, or in Kubernetes fsGroup and defaultMode 0440"
            )
    return None


def health(url: str = _HEALTH_URL) -> int:
    try:
        with urllib.request.urlopen(url, timeout=_HEALTH_SECONDS) as answer:
            print(answer.read().decode())
            return 0
    except urllib.error.HTTPError as e:
        print(e.read().decode(errors="replace"), file=sys.stderr)
    except OSError as e:
        print(f"{url}: does not answer: {e}; {LISTENER_VARIABLE} sets its address", file=sys.stderr)
    return 1


def main(arguments: Sequence[str]) -> int:
    """Does not return if it starts a program, which takes the place of this process."""
    try:
        if list(arguments) == [HEALTH]:
            return health()
        command = _command(arguments)
    except ConfigError as e:
        for problem in e.problems:
            print(f"error: {problem}", file=sys.stderr)
        return 2
    except HeliographError as e:
        print(f"error: {e}", file=sys.stderr)
        return 1
    try:
        os.execvp(command[0], command)
    except OSError as e:
        print(f"error: {command[0]}: cannot be run: {e.strerror}", file=sys.stderr)
        return 1


def _command(arguments: Sequence[str]) -> list[str]:
    if list(arguments) == [EXECUTOR]:
        return executor_command(os.environ)
    from heliograph.cli.reference import commands

    command = command_of(arguments, os.environ, [each.name for each in commands()])
    if (why := unreadable(command)) is not None:
        raise ConfigError(why)
    return command


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
