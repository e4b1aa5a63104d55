"""Plots: bars, scatters and small diagrams, written as SVG or PNG.

matplotlib, from the extra `plot`, is imported only here and only to draw. The same data give the same file, byte by
byte.
"""

from __future__ import annotations

import io
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from ropewalk import files
from ropewalk.errors import FormatError, MissingExtraError
from ropewalk.reporting.escaping import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import ModuleType

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Path = str | os.PathLike[str]

SUFFIXES: Final = (".svg", ".png")
SYMBOLS: Final = "oDs^v<>P"
COLUMNS: Final = 8  # of small diagrams
STYLE: Final = {
    "svg.hashsalt": "ropewalk",  # ids in the file would otherwise be random
    "svg.fonttype": "none",  # text stays text
    "text.parse_math": False,  # dollar signs are literal
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "figure.dpi": 150,
}


class Point(NamedTuple):
    """A point of a scatter plot; points of one `group` have the same colour, points of one `kind` the same symbol."""

    x: float
    y: float
    group: str = ""
    kind: str = ""


class AxisLabels(NamedTuple):
    """The title of a plot and the labels of its axes."""

    title: str = ""
    x: str = ""
    y: str = ""


def require(path: Path) -> None:
    """Raise `FormatError` if `path` is not named .svg or .png, and `MissingExtraError` if matplotlib is missing."""
    if not os.fspath(path).lower().endswith(SUFFIXES):
        problem = f"is no kind of picture; expected a name ending in {' or '.join(SUFFIXES)}"
        raise FormatError(os.fspath(path), 0, "picture-format", problem)
    _matplotlib()


def bars(
    path: Path,
    names: Sequence[str],
    series: Mapping[str, Sequence[float]],
    labels: AxisLabels = AxisLabels(),  # noqa: B008 - a frozen value
    *,
    bounds: tuple[float | None, float | None] = (None, None),
) -> None:
    """Draw a bar chart into the file `path`: a group of bars for each name, with one bar for each series.

    `series` has a value for each name. `bounds` are the lowest and highest value of the vertical axis; None means that
    the data decide.
    """

    def fill(axes: Axes) -> None:
        width = 0.8 / max(len(series), 1)
        for number, (label, values) in enumerate(series.items()):
            left = (number - (len(series) - 1) / 2) * width
            axes.bar([index + left for index in range(len(names))], values, width, label=clean(label))
        turned = sum(map(len, names)) > 60
        shown = list(map(clean, names))
        axes.set_xticks(range(len(names)), shown, rotation=45 if turned else 0, ha="right" if turned else "center")
        axes.grid(axis="y", alpha=0.3)
        axes.set_ylim(*bounds)

    _draw(path, fill, labels, len(series), width=max(6.4, 0.3 * len(names) * max(len(series), 1)))


def scatter(
    path: Path,
    points: Mapping[str, Point],
    labels: AxisLabels = AxisLabels(),  # noqa: B008 - a frozen value
    *,
    highest: tuple[bool, bool] = (True, True),
) -> None:
    """Draw a scatter plot of named points into the file `path`.

    Points of the Pareto front have bold names and are connected with a dashed line. `highest` says for each axis
    whether larger values are better.
    """

    def fill(axes: Axes) -> None:
        groups = list(dict.fromkeys(point.group or name for name, point in points.items()))
        kinds = list(dict.fromkeys(point.kind for point in points.values()))
        front = pareto(points, highest=highest)
        xs, ys = [point.x for point in points.values()], [point.y for point in points.values()]
        across, up = (max(values, default=0) - min(values, default=0) for values in (xs, ys))
        named: list[Point] = []
        for name, point in points.items():
            crowded = any(
                abs(other.x - point.x) < 0.3 * across and abs(other.y - point.y) < 0.04 * up for other in named
            )
            named.append(point)
            colour = f"C{groups.index(point.group or name) % 10}"
            symbol = SYMBOLS[kinds.index(point.kind) % len(SYMBOLS)]
            axes.plot(point.x, point.y, marker=symbol, color=colour, markeredgecolor="0.2", linestyle="")
            axes.annotate(
                clean(name),
                (point.x, point.y),
                xytext=(4, -11 if crowded else 4),
                textcoords="offset points",
                fontsize=8,
                fontweight="bold" if name in front else "normal",
            )
        best = sorted((points[name].x, points[name].y) for name in front)
        axes.plot([x for x, _ in best], [y for _, y in best], color="0.6", linestyle="--", zorder=0)
        axes.grid(alpha=0.3)

    _draw(path, fill, labels, 1)


def diagrams(
    path: Path,
    panels: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]],
    labels: AxisLabels = AxisLabels(),  # noqa: B008 - a frozen value
) -> None:
    """Draw small diagrams of shares from 0 to 1, one for each name in `panels`, into the file `path`.

    A panel has lines by name, each a sequence of points. A grey diagonal shows where both axes have the same value.
    """
    columns = min(max(len(panels), 1), COLUMNS)
    rows = -(-len(panels) // columns)
    names = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    with _figure(path, (1.2 * columns + 0.6, 1.25 * rows + 0.8)) as figure:
        grid = figure.subplots(max(rows, 1), columns, sharex=True, sharey=True, squeeze=False).flatten()
        for axes, (title, lines) in zip(grid, panels.items(), strict=False):
            axes.plot([0, 1], [0, 1], color="0.7", linewidth=0.8)
            for name, points in lines.items():
                axes.plot(
                    [x for x, _ in points],
                    [y for _, y in points],
                    color=f"C{names.index(name) % 10}",
                    marker=".",
                    markersize=3,
                    linewidth=1,
                    label=name,
                )
            axes.set_title(clean(title), fontsize=8, pad=2)
            axes.set(xlim=(0, 1), ylim=(0, 1), xticks=(0, 1), yticks=(0, 1), aspect="equal")
            axes.tick_params(labelsize=7)
        for axes in grid[len(panels) :]:
            axes.set_axis_off()
        drawn = {str(line.get_label()): line for axes in grid for line in axes.lines if line.get_label() in names}
        figure.legend(drawn.values(), map(clean, drawn), loc="outside right upper", fontsize=8)
        figure.suptitle(clean(labels.title), fontsize=10)
        figure.supxlabel(clean(labels.x), fontsize=8)
        figure.supylabel(clean(labels.y), fontsize=8)


def pareto(points: Mapping[str, Point], *, highest: tuple[bool, bool] = (True, True)) -> tuple[str, ...]:
    """Return the names of the points of the Pareto front: no other point is as good on both axes and better on one.

    `highest` says for each axis whether larger values are better.
    """
    signs = [1 if more else -1 for more in highest]
    values = {
        name: tuple(sign * part for sign, part in zip(signs, point[:2], strict=True)) for name, point in points.items()
    }
    return tuple(
        name
        for name, (across, up) in values.items()
        if not any(other != (across, up) and other[0] >= across and other[1] >= up for other in values.values())
    )


def _matplotlib() -> ModuleType:
    try:
        import matplotlib.figure
    except ImportError as failure:
        raise MissingExtraError("pictures", "matplotlib", "plot") from failure
    return matplotlib


def _draw(path: Path, fill: Callable[[Axes], None], labels: AxisLabels, series: int, *, width: float = 6.4) -> None:
    """Draw a plot whose axes `fill` draws on, and write it to `path`.

    With several `series`, the plot has a legend.
    """
    with _figure(path, (min(width, 24.0), 4.2)) as figure:
        axes = figure.subplots()
        fill(axes)
        axes.set(title=clean(labels.title), xlabel=clean(labels.x), ylabel=clean(labels.y))
        if series > 1:
            figure.legend(loc="outside right upper", fontsize=8)


@contextmanager
def _figure(path: Path, size: tuple[float, float]) -> Iterator[Figure]:
    """Yield a figure of a size in inches, and write it to `path`; if an error occurs, no file is written."""
    require(path)
    matplotlib = _matplotlib()
    kind = os.fspath(path).lower().rpartition(".")[2]
    out = io.BytesIO()
    with matplotlib.rc_context(STYLE):
        figure = matplotlib.figure.Figure(figsize=size, layout="constrained")
        yield figure
        figure.savefig(out, format=kind, metadata={"Date": None} if kind == "svg" else {"Software": None})
    with files.creating(path) as file:
        file.write(out.getvalue())
