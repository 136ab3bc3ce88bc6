"""Prints lines and tables: drawn on a terminal, plain and aligned elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from rich import box
from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from heliograph.cli.output.escaping import visible, visible_json

_NUMBER = re.compile(r"[-?]|[\d.,]+( (s|min|h|d))?")


@dataclass(frozen=True, slots=True)
class Table:
    """`hidden` rows are left out; `remedy` says how to see them."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    hidden: int = 0
    remedy: str = ""

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


def drawn(blocks: Iterable[Block]) -> RenderableType:
    """For a terminal; names are never interpreted as markup."""
    return Group(*(part for block in blocks for part in _draw(_visible(block))))


def _draw(block: Block) -> list[RenderableType]:
    if isinstance(block, str):
        return [Text(block)]
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
    ]


def show(blocks: Iterable[Block], console: Console) -> None:
    if console.is_terminal:
        console.print(drawn(blocks))
    else:
        console.print(plain(blocks), markup=False, highlight=False, soft_wrap=True, emoji=False)


def as_json(value: Any, *, indent: int | None = 2) -> str:
    """Dataclasses and named tuples become objects, with the names of their fields."""
    return visible_json(json.dumps(_document(value), indent=indent, ensure_ascii=False))


def _document(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: _document(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _document(each) for name, each in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(key): _document(each) for key, each in value.items()}
    if isinstance(value, list | tuple | frozenset | set):
        return [_document(each) for each in value]
    return value
