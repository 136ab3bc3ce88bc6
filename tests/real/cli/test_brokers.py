from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from confluent_kafka.admin import AdminClient

from heliograph.cli.commands.brokers import brokers, stop_signal
from heliograph.errors import ConfigError
from support.processes import is_gone
from support.waiting import PATIENCE_SECONDS

SCRIPT = """
import sys
from pathlib import Path
from heliograph.cli.commands.brokers import brokers, stop_signal
brokers(["here", "there"], data=Path(sys.argv[1]))
"""


def test_brokers_run_until_a_signal_and_leave_only_the_data(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as command:
        assert command.stdout is not None
        shown = []
        for line in command.stdout:
            shown.append(line)
            if line.startswith("Ctrl-C"):
                break
        found = dict(re.findall(r"^(here|there)  (\S+)$", "".join(shown), re.MULTILINE))
        admin = AdminClient({"bootstrap.servers": found["there"]})
        assert len(admin.list_topics(timeout=PATIENCE_SECONDS).brokers) == 1
        family = psutil.Process(command.pid).children(recursive=True)

        command.send_signal(signal.SIGINT)

        assert command.wait(PATIENCE_SECONDS) == 0
    assert f"here.bootstrap.servers = {found['here']}" in "".join(shown)
    assert all(is_gone(process) for process in family)
    assert (tmp_path / "here" / "node-1" / "data" / "meta.properties").is_file()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_either_signal_asks_for_the_end_and_a_second_ctrl_c_interrupts(
    number: signal.Signals,
) -> None:
    with stop_signal() as stopped:
        assert not stopped.is_set()
        signal.raise_signal(number)
        assert stopped.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("names", [["twice", "twice"], ["../up"], [""]])
def test_names_that_cannot_be_folders_or_aliases_are_refused(names: list[str]) -> None:
    with pytest.raises(ConfigError, match="cluster name"):
        brokers(names)
