"""Faults at random moments, and an oracle that counts what they cost: `python -m chaos`."""
