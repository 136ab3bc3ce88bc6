"""Heliograph against the real MirrorMaker 2, on the same brokers: `python -m benchmarks`."""
