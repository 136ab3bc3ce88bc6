"""Text of others on a terminal: names, messages and errors that came from a cluster or a file.

A terminal acts upon control characters: they move the cursor, rewrite lines that stand there already, set the
clipboard. Marks that turn the direction of text hide what it says. Both are written as escapes.
"""

from __future__ import annotations

import json
import logging


def visible(text: str, keep: str = "") -> str:
    """With what cannot be printed as `\\x1b` or `\\u202e`; characters of `keep` stay."""
    if text.isprintable():
        return text
    return "".join(
        c if c in keep or c.isprintable() else c.encode("unicode_escape").decode() for c in text
    )


def visible_json(document: str) -> str:
    """What is not ASCII stands in strings only, where it may be escaped; json escapes less than that."""
    return "".join(
        c if c == "\n" or c.isprintable() else json.dumps(c)[1:-1] if c != "\x7f" else "\\u007f"
        for c in document
    )


class VisibleFormatter(logging.Formatter):
    """Further lines of a message are indented, so that none looks like a record of its own."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return visible(super().formatMessage(record), keep="\n\t").replace("\n", "\n    ")
