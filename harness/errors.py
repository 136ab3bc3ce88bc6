"""The error that every proof of this repository may raise."""

from __future__ import annotations


class HarnessError(Exception):
    """A run that gives no result; the message says why. It says nothing about the system under test."""
