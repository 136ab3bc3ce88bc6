"""Batches that Java wrote, by name: `magic<n>-<codec>` and others (java_batches.txt says what is in them)."""

from __future__ import annotations

from pathlib import Path

_LINES = Path(__file__).with_name("java_batches.txt").read_text().splitlines()
BATCHES = {
    name: bytes.fromhex(wire) for name, wire in (line.split() for line in _LINES if line[0] != "#")
}
