"""Looks for known vulnerabilities of the packages in requirements.lock, with pip-audit: audit.py [--strict]

Exit code 1 if there is one. If the advisory service cannot be reached, it prints SKIPPED and the exit code is
0, so that a build without a network continues; with --strict it is 2.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


def main(arguments: list[str]) -> int:
    skipped = 2 if "--strict" in arguments else 0
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        command = [
            *(sys.executable, "-m", "pip_audit"),
            *("--requirement", str(ROOT / "requirements.lock")),
            *("--requirement", str(ROOT / "requirements-java.lock")),
            *("--require-hashes", "--no-deps", "--disable-pip", "--progress-spinner", "off"),
            *("--format", "json", "--output", str(report)),
        ]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if not report.is_file() or not report.stat().st_size:
            return _unasked(done.stderr, skipped)
        found = json.loads(report.read_text())["dependencies"]
    return verdict(found, skipped)


def verdict(dependencies: list[dict[str, Any]], skipped: int) -> int:
    audited = [each for each in dependencies if "vulns" in each]
    holes = [each for each in audited if each["vulns"]]
    for each in holes:
        for hole in each["vulns"]:
            names = ", ".join([hole["id"], *hole.get("aliases", ())])
            fixed = ", ".join(hole.get("fix_versions", ())) or "no version yet"
            _say(f"VULNERABLE: {each['name']} {each['version']}: {names}; fixed in {fixed}")
    unknown = [each["name"] for each in dependencies if "vulns" not in each]
    if unknown and audited:
        _say(f"not audited, unknown to the advisory service: {', '.join(unknown)}")
    if holes:
        return 1
    if not audited:
        _say(
            f"SKIPPED: the advisory service has none of {len(dependencies)} packages (a mirror of the "
            "package index without advisories?); NOTHING was audited"
        )
        return skipped
    _say(f"{len(audited)} packages audited, no known vulnerability")
    return 0


def _unasked(output: str, skipped: int) -> int:
    last = next(
        (line for line in reversed(output.splitlines()) if line.strip()), "it printed nothing"
    )
    network = any(
        word in output
        for word in (
            "ConnectionError",
            "Max retries",
            "Timeout",
            "timed out",
            "ProxyError",
            "resolve",
        )
    )
    if network:
        _say(f"SKIPPED: the advisory service cannot be reached; NOTHING was audited: {last}")
        return skipped
    _say(f"error: pip-audit failed: {last}")
    return 3


def _say(text: str) -> None:
    sys.stdout.write(f"audit: {text}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
