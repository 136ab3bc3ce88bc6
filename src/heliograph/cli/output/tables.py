"""Prints lines and tables: drawn on a terminal, plain and aligned elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rich import box
from rich.cells import cell_len
from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from heliograph.cli.output.escaping import visible

_NUMBER = re.compile(r"[-?]|[\d.,]+( (s|min|h|d))?")


@dataclass(frozen=True, slots=True)
class Table:
    """`hidden` rows are left out; `remedy` says how to see them."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    hidden: int = 0
    remedy: str = ""
    #: Columns that a narrow terminal does without, the first one first.
    optional: tuple[str, ...] = ()

    @property
    def rest(self) -> str:
        return f"… {self.hidden:,} more ({self.remedy})" if self.hidden else ""

    def is_right(self, column: int) -> bool:
        """Whether the column is right-aligned: it contains only numbers."""
        return bool(self.rows) and all(_NUMBER.fullmatch(row[column]) for row in self.rows)


Block = str | Table


def limited(
    title: str,
    columns: tuple[str, ...],
    rows: Iterable[tuple[str, ...]],
    *,
    most: int | None,
    remedy: str,
) -> Table:
    """The first `most` rows; None for all."""
    everything = list(rows)
    shown = everything if most is None else everything[:most]
    return Table(title, columns, shown, len(everything) - len(shown), remedy)


def by_reason(reasons: Mapping[str, str], *, names: int | None) -> list[tuple[str, str, str]]:
    """Groups subjects by reason: their number, the reason, and the first `names` of them."""
    gathered: dict[str, list[str]] = {}
    for subject, reason in sorted(reasons.items()):
        gathered.setdefault(reason, []).append(subject)
    return [
        (f"{len(subjects):,}", reason, _some(subjects, names))
        for reason, subjects in sorted(gathered.items(), key=lambda each: -len(each[1]))
    ]


def _some(subjects: Sequence[str], most: int | None) -> str:
    shown = subjects if most is None else subjects[:most]
    left = len(subjects) - len(shown)
    return ", ".join(shown) + (f", … {left:,} more" if left else "")


def plain(blocks: Iterable[Block]) -> str:
    """Columns separated by spaces, as Kafka's tools print them."""
    return "\n".join(line.rstrip() for block in blocks for line in _lines(_visible(block)))


def _visible(block: Block) -> Block:
    if isinstance(block, str):
        return visible(block, keep="\n")
    rows = [tuple(map(visible, row)) for row in block.rows]
    return replace(block, title=visible(block.title), rows=rows)


def _lines(block: Block) -> list[str]:
    if isinstance(block, str):
        return [block]
    rows = [tuple(name.upper() for name in block.columns), *block.rows]
    right = [block.is_right(column) for column in range(len(block.columns))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(block.columns))]
    lines = [f"  {block.title}"] if block.title else []
    for row in rows:
        cells = zip(row, widths, right, strict=True)
        lines.append("    " + "  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in cells))
    return lines + ([f"    {block.rest}"] if block.hidden else [])


def drawn(blocks: Iterable[Block], width: int | None) -> RenderableType:
    """For a terminal of this width, None: of any; names are never interpreted as markup."""
    return Group(*(part for block in blocks for part in _draw(_visible(block), width)))


def fitted(table: Table, width: int) -> tuple[Table, list[str]]:
    """Without the optional columns that do not fit, which are listed."""
    left_out: list[str] = []
    for name in table.optional:
        if _natural_width(table) <= width:
            break
        at = table.columns.index(name)
        table = replace(
            table,
            columns=(*table.columns[:at], *table.columns[at + 1 :]),
            rows=[(*row[:at], *row[at + 1 :]) for row in table.rows],
        )
        left_out.append(name)
    return table, left_out


def _natural_width(table: Table) -> int:
    cells = zip(table.columns, *table.rows, strict=True)
    return sum(max(map(cell_len, column)) + 2 for column in cells)


def _draw(block: Block, width: int | None) -> list[RenderableType]:
    if isinstance(block, str):
        return [Text(block)]
    block, left_out = (block, []) if width is None else fitted(block, width)
    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for column, name in enumerate(block.columns):
        justify: JustifyMethod = "right" if block.is_right(column) else "left"
        table.add_column(Text(name), justify=justify, overflow="fold")
    for row in block.rows:
        table.add_row(*(Text(cell) for cell in row))
    return [
        Text(f"  {block.title}", style="bold"),
        table,
        *([Text(block.rest)] * bool(block.hidden)),
        *([Text(f"  not shown: {', '.join(left_out)} (--wide shows all)")] * bool(left_out)),
    ]


def show(blocks: Iterable[Block], console: Console, *, wide: bool = False) -> None:
    """`wide`: every column, in lines as long as they are."""
    if console.is_terminal and not wide:
        console.print(drawn(blocks, console.width))
    else:
        console.print(plain(blocks), markup=False, highlight=False, soft_wrap=True, emoji=False)
