"""Prometheus metrics: a snapshot of values in, families of metrics out. No clock, no I/O."""
