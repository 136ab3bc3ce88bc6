"""Runs the soak: 20 MB/s for half an hour, during which no resource of the mirror may grow.

Each cluster has one broker: the mirror is under test, and three brokers would write every byte three times.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import psutil
from confluent_kafka.admin import NewTopic

from chaos.errors import ChaosError
from chaos.soak_load import Ends
from chaos.subjects import Mode, Service, Subject, System, is_daemon
from harness.cluster_side import ClusterSide, running_clusters
from harness.results import machine, write_json
from heliograph.embedded import Cluster
from heliograph.embedded.child_process import ChildProcess

_TOPIC = "soak-topic"
_PARTITIONS = 4
_RATE_BYTES = 20_000_000
_SAMPLE_SECONDS = 5.0
_WARM_UP_SECONDS = 60.0
#: Growth of a figure's mean from the second third of the time to the last.
MOST_GROWTH = 0.05
#: Allowed increase of threads, sockets and files, whose numbers are small.
_SLACK = 2
_SETTINGS = {
    "log.segment.bytes": str(64 << 20),
    "log.retention.bytes": str(512 << 20),
    "log.retention.check.interval.ms": "5000",
    "log.segment.delete.delay.ms": "1000",
}
_LAST_SECONDS = 60.0


class Role(StrEnum):
    DRIVER = "driver"
    JVM = "JVM"
    WORKERS = "workers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The sum over the processes of one role."""

    at: float
    role: Role
    rss_mb: float
    threads: int
    sockets: int
    files: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """A figure's means over the second and the last third of the time."""

    role: Role
    figure: str
    second: float
    last: float

    @property
    def growth(self) -> float:
        return self.last / self.second - 1 if self.second else 0.0

    @property
    def flat(self) -> bool:
        slack = 0.0 if self.figure == "rss_mb" else _SLACK
        return self.last <= self.second * (1 + MOST_GROWTH) or self.last <= self.second + slack

    def __str__(self) -> str:
        means = f"{self.second:.1f}, then {self.last:.1f} ({self.growth:+.1%})"
        return f"{self.role} {self.figure}: {means}{'' if self.flat else ' GREW'}"


def memory(samples: Sequence[Sample]) -> dict[str, list[float]]:
    """Memory of each role, minute by minute."""
    found: dict[str, dict[int, float]] = {}
    for sample in samples:
        minute = int((sample.at - samples[0].at) // 60)
        found.setdefault(sample.role.value, {}).setdefault(minute, sample.rss_mb)
    return {role: list(curve.values()) for role, curve in found.items()}


def trends(samples: Sequence[Sample]) -> list[Trend]:
    """The trend of every figure of every role."""
    if not samples:
        return []
    start, end = samples[0].at, samples[-1].at
    third = (end - start) / 3
    found = []
    for role in dict.fromkeys(sample.role for sample in samples):
        own = [sample for sample in samples if sample.role is role]
        second = [each for each in own if start + third <= each.at < start + 2 * third]
        last = [each for each in own if each.at >= start + 2 * third]
        for figure in ("rss_mb", "threads", "sockets", "files"):
            means = (_mean(getattr(each, figure) for each in part) for part in (second, last))
            found.append(Trend(role=role, figure=figure, second=next(means), last=next(means)))
    return found


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return statistics.fmean(found) if found else 0.0


def sample(service: Service) -> list[Sample]:
    at = time.monotonic()
    roles: dict[Role, list[psutil.Process]] = {role: [] for role in Role}
    for index, process in enumerate(service.family()):
        if index == 0:
            roles[Role.DRIVER].append(process)
        elif is_daemon(process):
            roles[Role.WORKERS].append(process)
        else:
            roles[Role.JVM].append(process)
    return [_sample(at, role, processes) for role, processes in roles.items() if processes]


def _sample(at: float, role: Role, processes: Sequence[psutil.Process]) -> Sample:
    rss = threads = sockets = files = 0
    for process in processes:
        try:
            rss += process.memory_info().rss
            threads += process.num_threads()
            links = [str(each.readlink()) for each in Path(f"/proc/{process.pid}/fd").iterdir()]
        except (psutil.NoSuchProcess, FileNotFoundError):
            continue
        sockets += sum(link.startswith("socket:") for link in links)
        files += len(links)
    return Sample(
        at=at, role=role, rss_mb=round(rss / 1e6, 1), threads=threads, sockets=sockets, files=files
    )


def soak(
    minutes: float, system: System, mode: Mode, folder: Path, out: Path, say: Callable[[str], None]
) -> bool:
    """Whether nothing grew and everything arrived. Writes the results to `out`."""
    folder.mkdir(parents=True, exist_ok=True)
    clusters = [Cluster(name, heap="1g", settings=_SETTINGS) for name in ("source", "target")]
    with running_clusters(*clusters):
        result = _soak(minutes, system, mode, folder, clusters, say)
    write_json(out, {"machine": machine(), **result})
    return bool(result["flat"]) and result["lag"] == 0


def _soak(
    minutes: float,
    system: System,
    mode: Mode,
    folder: Path,
    clusters: Sequence[Cluster],
    say: Callable[[str], None],
) -> dict[str, Any]:
    source, target = (cluster.bootstrap_servers for cluster in clusters)
    ClusterSide(lambda: source).create_topics([NewTopic(_TOPIC, _PARTITIONS, 1)])
    subject = Subject(
        system=system,
        mode=mode,
        session="soak",
        source=source,
        target=target,
        folder=folder,
        replicas=1,
    )
    load = _start_writer(source, folder)
    service = Service(subject)
    ends = Ends(source, target, _TOPIC, subject.remote(_TOPIC))
    try:
        samples = _sample_for(minutes, service, load, ends, say)
        load.terminate()
        load.wait(_LAST_SECONDS)
        lag = ends.await_equal(_LAST_SECONDS)
    finally:
        load.kill()
        service.stop()
    found = trends(samples)
    for trend in found:
        say(str(trend))
    return {
        "minutes": minutes,
        "system": system.value,
        "mode": mode.value,
        "records": ends.written,
        "lag": lag,
        "flat": all(trend.flat for trend in found),
        "trends": [asdict(trend) | {"growth": round(trend.growth, 4)} for trend in found],
        "memory_mb": memory(samples),
    }


def _start_writer(bootstrap: str, folder: Path) -> ChildProcess:
    arguments = (bootstrap, _TOPIC, str(_PARTITIONS), str(_RATE_BYTES))
    command = [sys.executable, "-m", "chaos.soak_load", *arguments]
    return ChildProcess(command, output=folder / "writer.log", scratch=None)


def _sample_for(
    minutes: float, service: Service, load: ChildProcess, ends: Ends, say: Callable[[str], None]
) -> list[Sample]:
    """Samples every 5 s; those of the first minute do not count."""
    samples: list[Sample] = []
    began = time.monotonic()
    while (left := began + minutes * 60 - time.monotonic()) > 0:
        time.sleep(min(left, _SAMPLE_SECONDS))
        if not service.running or load.exit_code is not None:
            folder = service.subject.folder
            raise ChaosError(f"soak: the mirror or the writer has exited (see {folder})")
        found = sample(service)
        if time.monotonic() - began > min(_WARM_UP_SECONDS, minutes * 20):
            samples += found
        say(f"{ends.line()}; " + ", ".join(f"{s.role} {s.rss_mb:.0f} MB" for s in found))
    return samples
