"""Handler of /events: the time line, as JSON or as server-sent events."""

from __future__ import annotations

import dataclasses
import json
import re

from heliograph.runtime.events import Event, EventLog
from heliograph.web.exchange import Refused, RestRequest, RestResponse, ok
from heliograph.web.streams import Next, Streams, sent_event, wants_stream

_NUMBER = re.compile(r"[0-9]{1,18}")


class Events:
    def __init__(self, log: EventLog, streams: Streams) -> None:
        self._log = log
        self._streams = streams

    def list(self, call: RestRequest) -> RestResponse:
        since = _since(call)
        if wants_stream(call):
            return self._streams.respond(_following(self._log, since))
        found = self._log.since(since)
        newest = found[-1].number if found else self._log.newest
        return ok({"events": [dataclasses.asdict(event) for event in found], "newest": newest})


def _since(call: RestRequest) -> int:
    """A browser that connects again sends the number of the last event that it has."""
    text = call.headers.get("last-event-id") or call.first("since") or "0"
    if not _NUMBER.fullmatch(text):
        raise Refused(400, f"since: expected the number of an event, found {text[:40]!r}")
    return int(text)


def _following(log: EventLog, since: int) -> Next:
    seen = since

    def following() -> bytes | None:
        nonlocal seen
        found = log.since(seen)
        if not found:
            return None
        seen = found[-1].number
        return b"".join(map(_sent, found))

    return following


def _sent(event: Event) -> bytes:
    content = json.dumps(dataclasses.asdict(event), ensure_ascii=False)
    return sent_event(event.kind, content, event.number)
