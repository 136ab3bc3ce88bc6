"""What the live view shows, and what its reader has chosen. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

#: A cluster whose brokers leave a request unanswered for so long is shown as silent.
SILENT_SECONDS = 1.5
_ESCAPE, _BACKSPACES = "\x1b", ("\x7f", "\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterHealth:
    """`reached`: it has answered once. `silent_seconds`: for how long it has left a request unanswered or
    refused it; 0 if it answers. `error`: why, as far as it is known."""

    alias: str
    reached: bool = False
    silent_seconds: float = 0.0
    error: str = ""

    @property
    def silent(self) -> bool:
        return self.reached and self.silent_seconds >= SILENT_SECONDS

    @property
    def words(self) -> str:
        if not self.reached:
            return f"connecting ({self.error})" if self.error else "connecting"
        return f"no answer for {self.silent_seconds:.0f} s" if self.silent else "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowRow:
    """`groups`: how many are followed; None: not known yet, or none are wanted."""

    name: str
    source: str
    target: str
    state: str
    groups: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRow:
    """Rates, `lag` and `behind`, in records and seconds, are None if they are not known. `behind_at_least`:
    records were waiting when the view began, so that they are older. `trouble` None: it is copied."""

    flow: str
    topic: str
    partitions: int
    records: int
    records_per_second: float | None
    bytes_per_second: float | None
    lag: int | None
    behind: float | None = None
    behind_at_least: bool = False
    trouble: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One moment of a mirror. `uptime` None: it runs elsewhere."""

    title: str = "heliograph"
    uptime: float | None = 0.0
    epoch: int = 0
    restarts: int = 0
    stopping: bool = False
    clusters: tuple[ClusterHealth, ...] = ()
    flows: tuple[FlowRow, ...] = ()
    topics: tuple[TopicRow, ...] = ()
    problems: tuple[str, ...] = ()


class Sort(StrEnum):
    """The order of topics, troubled ones first in any case."""

    RATE = "records/s"
    LAG = "lag"
    NAME = "name"

    @property
    def following(self) -> Sort:
        everything = list(Sort)
        return everything[(everything.index(self) + 1) % len(everything)]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The choices of the reader: keys in, another view out. `held`: the screen stands still, the mirror does
    not. `typing`: keys are letters of the filter. `watches`: the mirror runs elsewhere; q ends the view."""

    sort: Sort = Sort.RATE
    filter: str = ""
    typing: bool = False
    held: bool = False
    help: bool = False
    quit: bool = False
    watches: bool = False

    def press(self, key: str) -> View:
        if self.typing:
            return self._type(key)
        match key:
            case "q":
                return replace(self, quit=True)
            case "p":
                return replace(self, held=not self.held)
            case "s":
                return replace(self, sort=self.sort.following)
            case "/":
                return replace(self, typing=True, filter="", help=False)
            case "?":
                return replace(self, help=not self.help)
            case _ if key == _ESCAPE:
                return replace(self, filter="", help=False)
        return self

    def _type(self, key: str) -> View:
        if key in ("\r", "\n"):
            return replace(self, typing=False)
        if key == _ESCAPE:
            return replace(self, typing=False, filter="")
        if key in _BACKSPACES:
            return replace(self, filter=self.filter[:-1])
        return replace(self, filter=self.filter + key) if key.isprintable() else self

    def chosen(self, topics: tuple[TopicRow, ...]) -> list[TopicRow]:
        """The topics of the filter, in the order that is chosen."""
        found = [each for each in topics if self.filter.lower() in each.topic.lower()]
        return sorted(found, key=lambda each: (each.trouble is None, self._order(each), each.topic))

    def _order(self, topic: TopicRow) -> float:
        match self.sort:
            case Sort.RATE:
                return -(topic.records_per_second or 0.0)
            case Sort.LAG:
                return -(topic.lag or 0)
        return 0.0
