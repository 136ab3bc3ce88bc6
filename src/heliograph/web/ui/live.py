"""What has changed on a page since its browser was last sent something, as server-sent events.

`view`: the live part anew, but for the rows of a long table. `rows`: those rows that have changed, and the
names of all if their order has changed. A table of thousands of rows would take a browser seconds to compare.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from heliograph.web.streams import sent_event
from heliograph.web.ui.rendering import rendered
from heliograph.web.ui.views.flow import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A template of a live part, and the values that it shows as `page`. `rows`: those of them that are sent
    one by one; None if there is no such table."""

    template: str
    title: str
    page: object
    status: int = 200
    rows: tuple[Row, ...] | None = None


class LivePart:
    """For one browser."""

    def __init__(self, view: Callable[[], View]) -> None:
        self._view = view
        self._template = ""
        self._text = ""
        self._rows: dict[str, Row] = {}

    def following(self) -> bytes | None:
        """None if nothing has changed. The first answer has everything."""
        found = self._view()
        text = rendered(found.template, page=found.page, live=True)
        sent = sent_event("view", text) if text != self._text else b""
        if found.template != self._template:
            self._rows = {}  # the browser has an empty table
        self._template, self._text = found.template, text
        if found.rows is not None:
            sent += self._changed(found.rows)
        return sent or None

    def _changed(self, rows: tuple[Row, ...]) -> bytes:
        before, self._rows = self._rows, {row.name: row for row in rows}
        changed = [row for row in rows if before.get(row.name) != row]
        moved = list(before) != list(self._rows)
        if not changed and not moved:
            return b""
        news: dict[str, object] = {"html": rendered("rows.html", page=changed)}
        if moved:
            news["names"] = list(self._rows)
        return sent_event("rows", json.dumps(news))
