"""Member metadata and assignments in the group of a flow: one service runs it, the others stand by.

    metadata    {"host":"mirror-1","pid":4711,"url":"http://mirror-1:8083/"}
                                                    of a member, in JoinGroup; a URL if it serves REST
    assignment  {"state":"RUNNING"}                 for a member, in SyncGroup; or STANDBY

Group name (`<source>-mm2`) and protocol type are those of Connect's workers. The protocol's name is our own,
so that coordinators refuse to have Java's workers and ours in one group at the same time.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

PROTOCOL_TYPE = "connect"
PROTOCOL = "heliograph"
RUNS = b'{"state":"RUNNING"}'
STANDS_BY = b'{"state":"STANDBY"}'


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceProcess:
    host: str
    pid: int
    url: str | None = None

    def __str__(self) -> str:
        return f"{self.host}, pid {self.pid}"

    def metadata(self) -> bytes:
        document = {name: value for name, value in asdict(self).items() if value is not None}
        return json.dumps(document, separators=(",", ":")).encode()


def process_name(metadata: bytes, otherwise: str) -> str:
    """The process of a group member; `otherwise` if its metadata are not ours."""
    return str(read_process(metadata) or otherwise)


def read_process(metadata: bytes) -> ServiceProcess | None:
    """None: the metadata are not ours."""
    try:
        document = json.loads(metadata)
        url = document.get("url")
        return ServiceProcess(
            host=str(document["host"]), pid=int(document["pid"]), url=url and str(url)
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
