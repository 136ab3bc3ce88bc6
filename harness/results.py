"""Result files: written whole, with the machine and the commit that the results depend on."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from heliograph.embedded import KAFKA_VERSION

_ROOT = Path(__file__).parents[1]
#: What the proofs themselves write.
_OF_RESULTS = (
    *(f":!{room}/results" for room in ("chaos", "containers", "dashboards", "kubernetes_lab")),
    *(":!docs/images", ":!docs/dashboards.md"),
)


def write_json(file: Path, content: object) -> None:
    """Replaces the file in one step: an interruption leaves the old results or the new ones."""
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_suffix(".tmp")
    temporary.write_text(json.dumps(content, indent=1) + "\n")
    temporary.replace(file)


def machine() -> dict[str, Any]:
    """What the figures depend on, without the machine's name."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 1e9),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "kafka": KAFKA_VERSION,
    }


def _cpu_model() -> str:
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.is_file() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor()


def commit() -> str:
    """The commit under test, with "-dirty" if files other than results differ from it; empty without a
    repository or git."""
    try:
        head = _git("rev-parse", "--short", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no", ".", *_OF_RESULTS)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f"{head}-dirty" if changed else head


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=_ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
