"""Draws the live view for a terminal of any size: columns that do not fit are left out. Pure.

heliograph · up 3 min · epoch 4                       who and how long
home ok · cloud no answer for 4 s                     both clusters
home->cloud  copying, 2 groups                        every flow
topic      records/s   lag   behind  state            topics, troubled ones first
PROBLEM home->cloud: …                                what is wrong, and why
q quit  p hold  s sort (lag)  / filter  ? help        keys
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.console import Group, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from heliograph.cli.live.screen import FlowRow, Shown, TopicRow, View
from heliograph.cli.output.escaping import visible
from heliograph.counted import counted
from heliograph.inspection.status_rules import in_words

#: From these widths on, in columns, a terminal has room for more columns of the table.
_MEDIUM, _WIDE = 90, 130
_LEAST_ROWS = 3
_OK = "ok"
_BYTES = "MB/s"
#: Lines of the table's head, of its end, and of the line below the view.
_FRAME = 4
_MOST_PROBLEMS = 5
#: Up to so many lines, one problem is shown; the others are counted.
_SMALL = 18
_STOPS = "q   stop the mirror in order, and quit"
_QUITS = "q   quit; the mirror runs on"
_HELP = (
    "p   hold the screen, and let it go again; the mirror runs on",
    "s   sort by records/s, lag or name; troubled topics come first",
    "/   show topics whose names contain a text; Enter keeps it, Esc ends it",
    "?   close this help",
    "",
    "lag: records of the source that are not on the target yet",
    "behind: for how long the oldest of them has waited",
)


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    text: Callable[[TopicRow], str]
    least_width: int = 0  # of the terminal


_COLUMNS = (
    _Column("partitions", lambda t: f"{t.partitions:,}", least_width=_MEDIUM),
    _Column("records", lambda t: f"{t.records:,}", least_width=_MEDIUM),
    _Column("records/s", lambda t: _rate(t.records_per_second)),
    _Column(_BYTES, lambda t: f"{(t.bytes_per_second or 0) / 1e6:,.2f}", least_width=_WIDE),
    _Column("lag", lambda t: "?" if t.lag is None else f"{t.lag:,}"),
    _Column("behind", lambda t: _behind(t)),
)


def draw(shown: Shown, view: View, width: int, height: int) -> RenderableType:
    """Fits `width` columns and `height` lines, if there are at least a dozen lines."""
    head = _head(shown, view)
    keys = _keys(view)
    if view.help:
        return Group(
            *_cut(
                [
                    head[0],
                    Text(),
                    Text(_QUITS if view.watches else _STOPS),
                    *map(Text, _HELP),
                    keys,
                ],
                width,
            )
        )
    problems = _problems(shown.problems, most=max(1, min(_MOST_PROBLEMS, height - _SMALL)))
    room = height - len(head) - len(problems) - len(keys.plain.splitlines()) - _FRAME
    table = _table(shown, view, width, max(room, _LEAST_ROWS))
    parts: list[RenderableType] = _cut(head, width)
    if table is not None:
        parts.append(table)
    elif view.filter and shown.topics:
        parts += _cut([Text(visible(f"no topic has {view.filter} in its name"))], width)
    return Group(*parts, *_cut([*problems, keys], width))


def _cut(lines: Sequence[Text], width: int) -> list[RenderableType]:
    for line in lines:
        line.truncate(width, overflow="ellipsis")
        line.no_wrap = True
    return list(lines)


def _head(shown: Shown, view: View) -> list[Text]:
    first = Text(shown.title, style="bold")
    if shown.uptime is not None:
        first.append(f" · up {in_words(shown.uptime)}", style="not bold")
    if shown.epoch > 0:
        first.append(f" · epoch {shown.epoch:,}", style="not bold")
    if shown.restarts:
        first.append(f" · {counted(shown.restarts, 'restart')} of the copy", style="yellow")
    if shown.stopping:
        first.append(" · stopping", style="yellow")
    if view.held:
        first.append(" · HELD (p)", style="reverse")
    lines = [first]
    if shown.clusters:
        health = Text()
        for cluster in shown.clusters:
            style = "green" if cluster.words == "ok" else "red" if cluster.silent else "yellow"
            health.append(" · " if health else "")
            health.append(visible(f"{cluster.alias} "))
            health.append(visible(cluster.words), style=style)
        lines.append(health)
    return lines + [_flow(flow) for flow in shown.flows]


def _flow(flow: FlowRow) -> Text:
    groups = "" if flow.groups is None else f", {counted(flow.groups, 'group')}"
    return Text(visible(f"{flow.name}  {flow.state}{groups}"))


def _table(shown: Shown, view: View, width: int, room: int) -> Table | None:
    chosen = view.chosen(shown.topics)
    if not chosen:
        return None
    several = len({each.flow for each in shown.topics}) > 1
    weighed = any(each.bytes_per_second is not None for each in shown.topics)
    columns = [
        each for each in _COLUMNS if width >= each.least_width and (weighed or each.name != _BYTES)
    ]
    rows = [_cells(topic, columns, several) for topic in chosen[:room]]
    head = ["topic", *(column.name for column in columns), "state"]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for name, wide in zip(head, _widths([head, *rows], width), strict=True):
        justify: JustifyMethod = "left" if name in ("topic", "state") else "right"
        table.add_column(name, justify=justify, no_wrap=True, overflow="ellipsis", width=wide)
    for *cells, state in rows:
        style = "green" if state == _OK else "red"
        table.add_row(*map(Text, cells), Text(state, style=style))
    if len(chosen) > room:
        table.caption = Text(f"… {counted(len(chosen) - room, 'more topic')}")
        table.caption_justify = "left"
    return table


def _cells(topic: TopicRow, columns: Sequence[_Column], several: bool) -> list[str]:
    name = f"{topic.flow} {topic.topic}" if several else topic.topic
    state = _OK if topic.trouble is None else topic.trouble
    return [visible(name), *(column.text(topic) for column in columns), visible(state)]


def _widths(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Numbers are never cut. Topic and state share what is left, and each may have what the other leaves."""
    topic, *numbers, state = (max(map(cell_len, cells)) for cells in zip(*rows, strict=True))
    left = max(width - sum(numbers) - 2 * (len(numbers) + 1), 2)
    state = min(state, max(left - topic, left // 2))
    return [min(topic, left - state), *numbers, state]


def _rate(value: float | None) -> str:
    return "?" if value is None else f"{value:,.0f}"


def _behind(topic: TopicRow) -> str:
    if topic.behind is None:
        return "?"
    if topic.behind == 0:
        return "0"
    return f"{'>' if topic.behind_at_least else ''}{in_words(topic.behind)}"


def _problems(problems: Sequence[str], most: int) -> list[Text]:
    lines = [Text(visible(f"PROBLEM {each}"), style="red") for each in problems[:most]]
    if len(problems) > most:
        left = len(problems) - most
        lines.append(Text(f"… {counted(left, 'more problem')}: heliograph status"))
    return lines


def _keys(view: View) -> Text:
    if view.typing:
        return Text(f"/{visible(view.filter)}▏ Enter keeps it, Esc ends it")
    text = Text(f"q quit  p hold  s sort ({view.sort})  / filter", style="dim")
    if view.filter:
        text.append(f" ({visible(view.filter)})")
    return text.append("  ? help")
