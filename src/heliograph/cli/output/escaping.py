"""Makes text from clusters and files safe to print on a terminal: names, messages and errors.

A terminal executes control characters: they move the cursor, overwrite earlier lines, set the clipboard.
Characters that change the direction of text hide what it says. Both are written as escapes.
"""

from __future__ import annotations

import json
import logging


def visible(text: str, keep: str = "") -> str:
    """Writes unprintable characters as `\\x1b` or `\\u202e`; characters of `keep` stay."""
    if text.isprintable():
        return text
    return "".join(
        c if c in keep or c.isprintable() else c.encode("unicode_escape").decode() for c in text
    )


def visible_json(document: str) -> str:
    """Escapes unprintable characters that json leaves as they are; they occur in strings only."""
    return "".join(
        c if c == "\n" or c.isprintable() else json.dumps(c)[1:-1] if c != "\x7f" else "\\u007f"
        for c in document
    )


class VisibleFormatter(logging.Formatter):
    """Indents further lines of a message, so that none looks like a log record of its own."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return visible(super().formatMessage(record), keep="\n\t").replace("\n", "\n    ")
