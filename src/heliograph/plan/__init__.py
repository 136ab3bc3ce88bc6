"""Decisions: pure functions from observed and configured state to actions."""
