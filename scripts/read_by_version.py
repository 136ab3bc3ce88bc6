"""Records what another version reads of the records that this version stores in Kafka.

    git worktree add ../other d137458
    PYTHONPATH=tests .venv/bin/python scripts/read_by_version.py ../other/src FILE

The file has, for each kind of `tests/support/records/stored_kinds.py`, key and value in hex, and the repr of
what the other version's reader returned. tests/unit/mm2/test_stored_bytes.py compares the bytes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from support.records.stored_kinds import stored_kinds

#: Runs with the sources of the other version. Module names are those of d137458.
_READER = """
import json, sys
from heliograph.mm2.checkpoint import read_checkpoint
from heliograph.mm2.connect_offsets import read_source_offset
from heliograph.mm2.heartbeat import read_heartbeat
from heliograph.mm2.offset_sync import read_offset_sync
from heliograph.mm2.state_reading import read_state

readers = {"offset sync": read_offset_sync, "checkpoint": read_checkpoint,
           "heartbeat": read_heartbeat, "source offset": read_source_offset}
for kind, key, value in json.load(sys.stdin):
    read = readers.get(kind, read_state)
    print(repr(read(bytes.fromhex(key), None if value is None else bytes.fromhex(value))))
"""


def main(sources: str, path: Path) -> None:
    kinds = {
        kind: (key.hex(), value and value.hex()) for kind, (key, value) in stored_kinds().items()
    }
    done = subprocess.run(
        [sys.executable, "-c", _READER],
        input=json.dumps([(kind, *record) for kind, record in kinds.items()]),
        env={**os.environ, "PYTHONPATH": sources},
        capture_output=True,
        text=True,
        check=True,
    )
    answers = done.stdout.splitlines()
    found = {
        kind: {"key": key, "value": value, "read": answer}
        for (kind, (key, value)), answer in zip(kinds.items(), answers, strict=True)
    }
    path.write_text(f"{json.dumps(found, indent=1)}\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
