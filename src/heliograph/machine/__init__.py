"""This machine: its Java and the per-user cache."""
