"""A real Prometheus: finds or fetches Debian's package, runs it, asks it.

The package is fetched with apt-get and unpacked into the cache folder, so that neither root is needed nor a
system service started.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.processes import running_process
from heliograph.embedded.ports import free_port
from heliograph.machine.cache import build_once, cache_folder

_START_SECONDS = 60.0
_SECONDS = 30.0


def program(name: str) -> str:
    """`prometheus` or `promtool`: an installed one, or that of Debian's package. Raises HarnessError."""
    found = installed(name)
    if found is not None:
        return found
    build_once(cache_folder() / "debian" / "prometheus", _fetch)
    return str(_unpacked(name))


def installed(name: str) -> str | None:
    """Without fetching anything."""
    return shutil.which(name) or (str(_unpacked(name)) if _unpacked(name).is_file() else None)


def _unpacked(name: str) -> Path:
    return cache_folder() / "debian" / "prometheus" / "usr" / "bin" / name


def _fetch(folder: Path) -> None:
    missing = [each for each in ("apt-get", "dpkg-deb") if shutil.which(each) is None]
    if missing:
        raise HarnessError(
            f"prometheus: not installed, and cannot be fetched without {' and '.join(missing)}; install "
            "Prometheus 2.40 or later so that prometheus and promtool are in PATH"
        )
    with tempfile.TemporaryDirectory() as scratch:
        Path(scratch).chmod(0o755)  # apt-get reads it as its own user
        _run(["apt-get", "download", "prometheus"], scratch)
        (package,) = Path(scratch).glob("prometheus_*.deb")
        _run(["dpkg-deb", "-x", str(package), str(folder)], scratch)


def _run(command: Sequence[str], folder: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise HarnessError(
            f"prometheus: not installed, and {' '.join(command[:2])} failed: {done.stderr.strip()}; "
            "apt-get update, or apt-get install prometheus, may help"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    labels: Mapping[str, str]
    points: tuple[tuple[float, float], ...]

    @property
    def value(self) -> float:
        return self.points[-1][1]

    @property
    def text(self) -> str:
        """As Grafana's query_result gives it."""
        labels = ",".join(f'{k}="{v}"' for k, v in self.labels.items() if k != "__name__")
        at, value = self.points[-1]
        return f"{self.labels.get('__name__', '')}{{{labels}}} {value:g} {at * 1000:.0f}"


class Prometheus:
    def __init__(self, url: str) -> None:
        self.url = url

    def now(self, expr: str) -> list[Series]:
        return _series(self._get("query", query=expr))

    def over(self, expr: str, seconds: float, step: float = 2.0) -> list[Series]:
        end = time.time()
        return _series(
            self._get("query_range", query=expr, start=end - seconds, end=end, step=step)
        )

    def texts(self, expr: str) -> list[str]:
        return [each.text for each in self.now(expr)]

    def firing(self) -> set[str]:
        found = self.now('ALERTS{alertstate="firing"}')
        return {each.labels["alertname"] for each in found}

    def ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/-/ready", timeout=_SECONDS) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def _get(self, what: str, **parameters: object) -> Any:
        text = urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(
                f"{self.url}/api/v1/{what}?{text}", timeout=_SECONDS
            ) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as e:
            problem = e.read().decode(errors="replace")
            raise HarnessError(f"Prometheus refuses {parameters.get('query')}: {problem}") from e
        except OSError as e:
            raise HarnessError(f"Prometheus does not answer: {e}") from e


def _series(data: Any) -> list[Series]:
    if data["resultType"] == "scalar":
        at, value = data["result"]
        return [Series(labels={}, points=((float(at), float(value)),))]
    return [
        Series(
            labels=each["metric"],
            points=tuple(
                (float(at), float(value)) for at, value in each.get("values") or [each["value"]]
            ),
        )
        for each in data["result"]
    ]


@contextmanager
def running_prometheus(
    folder: Path, jobs: Sequence[Mapping[str, Any]], rules: Path | None = None, scrape: str = "1s"
) -> Iterator[Prometheus]:
    """Scrapes `jobs`, and evaluates rules every second."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "global": {
            "scrape_interval": scrape,
            "scrape_timeout": scrape,
            "evaluation_interval": "1s",
        },
        "scrape_configs": list(jobs),
        "rule_files": [] if rules is None else [str(rules.absolute())],
    }
    file, url = folder / "prometheus.yml", f"127.0.0.1:{free_port()}"
    file.write_text(json.dumps(config, indent=1))  # JSON is YAML
    command = [
        program("prometheus"),
        f"--config.file={file}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={url}",
    ]
    with running_process(command, folder / "prometheus.log", {}) as process:
        prometheus = Prometheus(f"http://{url}")
        deadline = time.monotonic() + _START_SECONDS
        while not prometheus.ready():
            if process.poll() is not None or time.monotonic() > deadline:
                log = (folder / "prometheus.log").read_text(errors="replace")[-2000:]
                raise HarnessError(f"Prometheus did not start: {log}")
            time.sleep(0.2)
        yield prometheus


if __name__ == "__main__":
    try:
        print(program("promtool"))
    except HarnessError as e:
        sys.exit(str(e))
