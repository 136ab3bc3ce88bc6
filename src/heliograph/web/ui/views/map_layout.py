"""Places clusters and the arrows of their flows on a drawing.

     ┌──────┐  ── us->eu ──►  ┌──────┐
     │  us  │                 │  eu  │      arrows of both directions bow apart
     └──────┘  ◄── eu->us ──  └──────┘

Two clusters are side by side. A hub with its spokes, or sources that are no targets, are two columns.
Anything else is on an ellipse.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

BOX_WIDTH, BOX_HEIGHT = 132, 56
LABEL_WIDTH, LABEL_HEIGHT = 196, 46
_MARGIN = 14
_WIDE = 860
#: How far along an arrow of two columns its label is.
_NEAR = 0.68
_LONGEST = 16


Point = tuple[float, float]
#: How far along an arrow its label is, and the label's middle.
Label = tuple[float, Point]
_Columns = tuple[list[str], list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A cluster; `x` and `y` are its middle."""

    name: str
    shown: str
    x: float
    y: float

    @property
    def left(self) -> float:
        return self.x - BOX_WIDTH / 2

    @property
    def top(self) -> float:
        return self.y - BOX_HEIGHT / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrow:
    """`path` is a curve of SVG; the label's middle is at `x`, `y`. `number` is that of the flow."""

    number: int
    path: str
    x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    width: int
    height: int
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


def lay_out(pairs: Sequence[tuple[str, str]], *, tall: bool) -> Layout:
    """`pairs` are source and target of each flow; `tall`: for a narrow screen."""
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    across = _parallel(pairs)
    columns = _columns(pairs, names) if len(names) > 2 else None
    if columns is not None:
        width, height, places = _in_columns(columns, max(across))
    else:
        width, height = _size(len(names), max(across, default=1), tall)
        places = dict(zip(names, _places(len(names), width, height, tall), strict=True))
    boxes = {
        name: Box(name=name, shown=_shortened(name), x=places[name][0], y=places[name][1])
        for name in names
    }
    nth: dict[frozenset[str], int] = {}
    arrows = []
    for number, (source, target) in enumerate(pairs):
        key = frozenset((source, target))
        sideways = nth.get(key, 0) - (across[number] - 1) / 2
        nth[key] = nth.get(key, 0) + 1
        ends = boxes[source], boxes[target]
        if source == target:
            arrows.append(_loop(number, boxes[source]))
        elif columns is not None:
            arrows.append(_arrow(number, *ends, _label_in_columns(*ends, columns, sideways)))
        else:
            arrows.append(_arrow(number, *ends, _label_in_the_middle(*ends, sideways)))
    return Layout(width=width, height=height, boxes=tuple(boxes.values()), arrows=tuple(arrows))


def _parallel(pairs: Sequence[tuple[str, str]]) -> list[int]:
    """For each flow, how many there are between its two clusters."""
    keys = [frozenset(pair) for pair in pairs]
    return [keys.count(key) for key in keys]


# ── two columns ──────────────────────────────────────────────────────────────────────────────


def _columns(pairs: Sequence[tuple[str, str]], names: Sequence[str]) -> _Columns | None:
    hubs = [name for name in names if all(name in pair for pair in pairs)]
    sources, targets = {source for source, _ in pairs}, {target for _, target in pairs}
    if hubs:
        others = [name for name in names if name != hubs[0]]
        return ([hubs[0]], others) if hubs[0] in sources else (others, [hubs[0]])
    if sources & targets:
        return None
    return [n for n in names if n in sources], [n for n in names if n in targets]


def _in_columns(columns: _Columns, parallel: int) -> tuple[int, int, dict[str, Point]]:
    row = parallel * (LABEL_HEIGHT + 12) / _NEAR
    height = max(map(len, columns)) * row + _MARGIN
    places = {}
    for column, x in zip(
        columns, (_MARGIN + BOX_WIDTH / 2, _WIDE - _MARGIN - BOX_WIDTH / 2), strict=True
    ):
        for at, name in enumerate(column):
            places[name] = x, height * (at + 0.5) / len(column)
    return _WIDE, int(height), places


def _label_in_columns(source: Box, target: Box, columns: _Columns, sideways: float) -> Label:
    """Near the longer column, where arrows are apart."""
    along = _NEAR if target.name in max(reversed(columns), key=len) else 1 - _NEAR
    x = source.x + (target.x - source.x) * along
    y = source.y + (target.y - source.y) * along + sideways * (LABEL_HEIGHT + 12)
    return along, (x, y)


# ── a row, or an ellipse ─────────────────────────────────────────────────────────────────────


def _size(clusters: int, parallel: int, tall: bool) -> tuple[int, int]:
    if clusters <= 2:
        across = max(parallel * (LABEL_HEIGHT + 18), BOX_HEIGHT) + 2 * _MARGIN
        if tall:
            return 360, int(2 * BOX_HEIGHT + parallel * (LABEL_HEIGHT + 14) + 80)
        return 720, int(max(across, 110))
    return _WIDE, 300 + 40 * max(clusters - 3, 0)


def _places(clusters: int, width: int, height: int, tall: bool) -> list[Point]:
    middle_x, middle_y = width / 2, height / 2
    far_x, far_y = _MARGIN + BOX_WIDTH / 2, _MARGIN + BOX_HEIGHT / 2
    if clusters <= 2:
        ends = [(far_x, middle_y), (width - far_x, middle_y)]
        if tall:
            ends = [(middle_x, far_y), (middle_x, height - far_y)]
        return ends[:clusters]
    angles = [math.pi + 2 * math.pi * at / clusters for at in range(clusters)]
    xs = _spread([math.cos(angle) for angle in angles], _MARGIN + LABEL_WIDTH / 2, width)
    ys = _spread([math.sin(angle) for angle in angles], far_y, height)
    return list(zip(xs, ys, strict=True))


def _spread(values: list[float], margin: float, size: float) -> list[float]:
    """Over the whole drawing but its margins."""
    low, high = min(values), max(values)
    return [margin + (size - 2 * margin) * (value - low) / (high - low) for value in values]


def _label_in_the_middle(source: Box, target: Box, sideways: float) -> Label:
    dx, dy = target.x - source.x, target.y - source.y
    length = math.hypot(dx, dy)
    # To one side for all flows between the two, whichever way they go.
    side = 1 if source.name < target.name else -1
    across = side * -dy / length, side * dx / length
    apart = abs(across[0]) * LABEL_WIDTH + abs(across[1]) * LABEL_HEIGHT + 18
    shift = apart * sideways
    return 0.5, (source.x + dx / 2 + across[0] * shift, source.y + dy / 2 + across[1] * shift)


# ── arrows ───────────────────────────────────────────────────────────────────────────────────


def _arrow(number: int, source: Box, target: Box, label: Label) -> Arrow:
    """A quadratic curve from box to box, through its label at `t` of the way."""
    t, (x, y) = label
    weight = 2 * t * (1 - t)
    bend = (
        (x - (1 - t) ** 2 * source.x - t**2 * target.x) / weight,
        (y - (1 - t) ** 2 * source.y - t**2 * target.y) / weight,
    )
    start, end = _edge(source, bend, 2), _edge(target, bend, 9)
    path = f"M{start[0]:.1f} {start[1]:.1f} Q{bend[0]:.1f} {bend[1]:.1f} {end[0]:.1f} {end[1]:.1f}"
    return Arrow(number=number, path=path, x=round(x, 1), y=round(y, 1))


def _edge(box: Box, towards: tuple[float, float], gap: float) -> tuple[float, float]:
    """Where a line from the middle of a box leaves it."""
    dx, dy = towards[0] - box.x, towards[1] - box.y
    half_x, half_y = BOX_WIDTH / 2 + gap, BOX_HEIGHT / 2 + gap
    scale = min(half_x / abs(dx) if dx else math.inf, half_y / abs(dy) if dy else math.inf)
    return (box.x, box.y) if scale is math.inf else (box.x + dx * scale, box.y + dy * scale)


def _loop(number: int, box: Box) -> Arrow:
    right, top = box.x + BOX_WIDTH / 2, box.y - BOX_HEIGHT / 2
    path = f"M{right:.1f} {box.y:.1f} q60 -50 -{BOX_WIDTH / 2:.1f} {top - box.y - 9:.1f}"
    return Arrow(number=number, path=path, x=right + 40, y=top - 10)


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
