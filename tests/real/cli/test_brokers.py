from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from confluent_kafka.admin import AdminClient

from heliograph.cli.brokers import brokers
from heliograph.errors import ConfigError

SCRIPT = """
import sys
from pathlib import Path
from heliograph.cli.brokers import brokers
brokers(["here", "there"], data=Path(sys.argv[1]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_brokers_run_until_a_signal_and_leave_only_the_data(
    tmp_path: Path, number: signal.Signals
) -> None:
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
        assert len(admin.list_topics(timeout=30).brokers) == 1
        family = psutil.Process(command.pid).children(recursive=True)

        command.send_signal(number)

        assert command.wait(30) == 0
    assert f"here.bootstrap.servers = {found['here']}" in "".join(shown)
    assert not any(process.is_running() for process in family)
    assert (tmp_path / "here" / "node-1" / "data" / "meta.properties").is_file()


@pytest.mark.parametrize("names", [["twice", "twice"], ["../up"], [""]])
def test_names_that_cannot_be_folders_or_aliases_are_refused(names: list[str]) -> None:
    with pytest.raises(ConfigError, match="cluster name"):
        brokers(names)
