"""Draws the headline figures as bars: throughput, and CPU per GB."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.results import Row
from benchmarks.shapes import SHAPES, Shape
from benchmarks.systems import System

# Okabe and Ito's palette: distinct with any kind of colour vision, and in grey.
_COLOURS = {
    System.MM2: "#999999",
    System.MM2_TUNED: "#56B4E9",
    System.HELIOGRAPH: "#D55E00",
    System.RAW_COPY: "#F0E442",
}
_LABELS = {
    System.MM2: "MirrorMaker 2",
    System.MM2_TUNED: "MirrorMaker 2, tuned",
    System.HELIOGRAPH: "Heliograph",
    System.RAW_COPY: "copy loop without Spark",
}
_WIDTH = 0.8


def draw(rows: Sequence[Row], file: Path) -> bool:
    """Whether a picture was drawn: False if no headline shape was measured."""
    found = {(row["shape"], row["system"]): row for row in rows}
    shapes = [
        shape
        for shape in SHAPES
        if shape.headline and any((shape.name, system) in found for system in _COLOURS)
    ]
    if not shapes:
        return False
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    titles = (
        ("mb_per_s", "Throughput, MB/s (more is better)"),
        ("cpu_s_per_gb", "CPU seconds per GB (less is better)"),
    )
    with mpl.rc_context({"font.size": 11}):
        for axes, (name, title) in zip(figure.subplots(1, 2), titles, strict=True):
            for index, system in enumerate(_COLOURS):
                values = [found.get((shape.name, system), {}).get(name) for shape in shapes]
                _bars(axes, system, index, values)
            axes.set_title(title, loc="left", fontsize=12)
            axes.set_xticks(range(len(shapes)), [_label(shape) for shape in shapes])
            axes.spines[["top", "right"]].set_visible(False)
            axes.tick_params(axis="x", length=0)
            axes.margins(y=0.12)
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, dpi=150, metadata={"Software": None})
    return True


def _label(shape: Shape) -> str:
    """Values and codec, and below them the batches; the number of partitions is the same for all."""
    what, codec, batches = shape.about.split(", ")[:3]
    return f"{what}, {codec}\n{batches}"


def _bars(axes: Axes, system: System, index: int, values: Sequence[float | None]) -> None:
    width = _WIDTH / len(_COLOURS)
    shift = (index - (len(_COLOURS) - 1) / 2) * width
    bars = axes.bar(
        [place + shift for place in range(len(values))],
        [value or 0.0 for value in values],
        width * 0.92,
        color=_COLOURS[system],
        edgecolor="#444444",
        linewidth=0.6,
        label=_LABELS[system],
    )
    axes.bar_label(bars, ["" if value is None else f"{value:.3g}" for value in values], padding=2)
