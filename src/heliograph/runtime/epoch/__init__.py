"""Epochs: planned, begun, followed and ended by the driver's thread."""
