"""Pictures of figures: bars and scatters, written as SVG or PNG.

matplotlib is loaded only here, and only when a picture is asked for; it comes with the extra `plot`. Equal
figures give equal files.
"""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Final, NamedTuple

from ropewalk import files
from ropewalk.errors import FormatError, MissingExtraError
from ropewalk.reporting.escaping import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType

    from matplotlib.axes import Axes

Path = str | os.PathLike[str]

SUFFIXES: Final = (".svg", ".png")
SYMBOLS: Final = "oDs^v<>P"
STYLE: Final = {
    "svg.hashsalt": "ropewalk",  # ids in the file would otherwise be drawn at random
    "svg.fonttype": "none",  # text stays text
    "text.parse_math": False,  # a dollar sign is one
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "figure.dpi": 150,
}


class Point(NamedTuple):
    """A point of a scatter; those of one group share a colour, those of one kind a symbol."""

    x: float
    y: float
    group: str = ""
    kind: str = ""


class AxisLabels(NamedTuple):
    """What is written above a picture and along its axes."""

    title: str = ""
    x: str = ""
    y: str = ""


def require(path: Path) -> None:
    """Raise what drawing to this path would raise for its name or for want of matplotlib; draw nothing."""
    if not os.fspath(path).lower().endswith(SUFFIXES):
        raise FormatError(
            os.fspath(path),
            0,
            "picture-format",
            f"no kind of picture; expected a name ending in {' or '.join(SUFFIXES)}",
        )
    _matplotlib()


def bars(
    path: Path,
    names: Sequence[str],
    series: Mapping[str, Sequence[float]],
    labels: AxisLabels = AxisLabels(),  # noqa: B008 - a value that never changes
    *,
    bounds: tuple[float | None, float | None] = (None, None),
) -> None:
    """Draw a group of bars for each name, one bar for each series; `bounds` limit the axis of values."""

    def fill(axes: Axes) -> None:
        width = 0.8 / max(len(series), 1)
        for number, (label, values) in enumerate(series.items()):
            left = (number - (len(series) - 1) / 2) * width
            axes.bar([place + left for place in range(len(names))], values, width, label=clean(label))
        turned = sum(map(len, names)) > 60
        shown = list(map(clean, names))
        axes.set_xticks(range(len(names)), shown, rotation=45 if turned else 0, ha="right" if turned else "center")
        axes.grid(axis="y", alpha=0.3)
        axes.set_ylim(*bounds)

    _draw(path, fill, labels, len(series), width=max(6.4, 0.3 * len(names) * max(len(series), 1)))


def scatter(
    path: Path,
    points: Mapping[str, Point],
    labels: AxisLabels = AxisLabels(),  # noqa: B008 - a value that never changes
    *,
    highest: tuple[bool, bool] = (True, True),
) -> None:
    """Draw named points; those that no other beats on both axes are in bold, on a dashed line.

    `highest` tells for each axis whether more is better.
    """

    def fill(axes: Axes) -> None:
        groups = list(dict.fromkeys(point.group or name for name, point in points.items()))
        kinds = list(dict.fromkeys(point.kind for point in points.values()))
        front = pareto(points, highest=highest)
        xs, ys = [point.x for point in points.values()], [point.y for point in points.values()]
        across, up = (max(values, default=0) - min(values, default=0) for values in (xs, ys))
        named: list[Point] = []
        for name, point in points.items():
            crowded = any(abs(one.x - point.x) < 0.3 * across and abs(one.y - point.y) < 0.04 * up for one in named)
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


def pareto(points: Mapping[str, Point], *, highest: tuple[bool, bool] = (True, True)) -> tuple[str, ...]:
    """Name the points that no other is as good as on both axes and better than on one."""
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
    """Fill one pair of axes and write the picture, whole or not at all."""
    require(path)
    matplotlib = _matplotlib()
    kind = os.fspath(path).lower().rpartition(".")[2]
    out = io.BytesIO()
    with matplotlib.rc_context(STYLE):
        figure = matplotlib.figure.Figure(figsize=(min(width, 24.0), 4.2), layout="constrained")
        axes = figure.subplots()
        fill(axes)
        axes.set(title=clean(labels.title), xlabel=clean(labels.x), ylabel=clean(labels.y))
        if series > 1:
            figure.legend(loc="outside right upper", fontsize=8)
        figure.savefig(out, format=kind, metadata={"Date": None} if kind == "svg" else {"Software": None})
    with files.creating(path) as file:
        file.write(out.getvalue())
