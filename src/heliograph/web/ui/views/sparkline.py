"""Sparklines: the points of a small chart, for an SVG of the server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from heliograph.web.ui.history import SAMPLE_SECONDS, SAMPLES


@dataclass(frozen=True, slots=True, kw_only=True)
class Sparkline:
    """`line` and `area` are paths of SVG, "" without values; a gap is where a value was not known. `words`
    describe it to those who cannot see it."""

    width: int
    height: int
    line: str
    area: str
    words: str

    @property
    def flat(self) -> bool:
        return not self.line


def sparkline(
    values: Sequence[float | None],
    *,
    slots: int = SAMPLES,
    width: int = 80,
    height: int = 20,
    what: str = "",
) -> Sparkline:
    """`slots`: how many values fill the width; newer ones are at the right."""
    known = [value for value in values if value is not None]
    most = max(known, default=0)
    if not known:
        return Sparkline(width=width, height=height, line="", area="", words=f"{what}: no data")
    step = width / max(slots - 1, 1)
    first = width - step * (len(values) - 1)
    scale = (height - 3) / most if most else 0.0
    line, area = [], []
    for run in _runs(values):
        points = [
            (round(first + step * at, 1), round(height - 1.5 - value * scale, 1))
            for at, value in run
        ]
        path = " ".join(f"{x:g} {y:g}" for x, y in points)
        line.append(f"M{path}" if len(points) > 1 else f"M{path}h.1")
        area.append(f"M{points[0][0]:g} {height} L{path} L{points[-1][0]:g} {height}Z")
    words = (
        f"{what}: now {known[-1]:,.0f}, at most {most:,.0f} within {len(values) * SAMPLE_SECONDS} s"
    )
    return Sparkline(
        width=width, height=height, line=" ".join(line), area=" ".join(area), words=words
    )


@lru_cache(maxsize=8_192)
def outline(values: tuple[float | None, ...], *, width: int, height: int, step: int) -> str:
    """The path of a chart in one of very many rows: a point for every `step` values, their largest, in whole
    pixels. Kept, since a row is made every second, for each page that shows it, and its values change every
    five."""
    coarse = _largest(values, step)
    most = max((value for value in coarse if value is not None), default=0) or 1
    apart = width * step / SAMPLES
    first = width - apart * (len(coarse) - 1)
    scale = (height - 2) / most
    return "".join(
        _path([(round(first + apart * at), round(height - 1 - value * scale)) for at, value in run])
        for run in _runs(coarse)
    )


def _largest(values: tuple[float | None, ...], step: int) -> list[float | None]:
    parts = (values[at : at + step] for at in range(0, len(values), step))
    return [
        max((each for each in part if each is not None), default=None)
        if None in part
        else max(part)  # type: ignore[type-var]
        for part in parts
    ]


def _path(points: list[tuple[int, int]]) -> str:
    """A point in the middle of a level line is left out."""
    if len(points) == 1:
        return "M{} {}h1".format(*points[0])
    kept = [
        points[at]
        for at in range(len(points))
        if not 0 < at < len(points) - 1
        or not points[at - 1][1] == points[at][1] == points[at + 1][1]
    ]
    return "M" + " ".join(f"{x} {y}" for x, y in kept)


def _runs(values: Sequence[float | None]) -> list[list[tuple[int, float]]]:
    """Parts without a gap."""
    runs: list[list[tuple[int, float]]] = []
    after_gap = True
    for at, value in enumerate(values):
        if value is None:
            after_gap = True
            continue
        if after_gap:
            runs.append([])
            after_gap = False
        runs[-1].append((at, value))
    return runs
