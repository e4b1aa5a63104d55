"""Pictures made of box-drawing characters, fitted to the width of a terminal."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import numpy.typing as npt

from ropewalk.core.ragged import starts_of
from ropewalk.drawing.levels import arc_levels
from ropewalk.drawing.measure import cells, clusters, shorten
from ropewalk.drawing.scene import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.drawing.scene import Arc, Scene

# One character for each choice of weight (none, light, heavy) of the arms up, down, left and right, in that order.
BOXES = " ╶╺╴─╼╸╾━╷┌┍┐┬┮┑┭┯╻┎┏┒┰┲┓┱┳╵└┕┘┴┶┙┵┷│├┝┤┼┾┥┽┿╽┟┢┧╁╆┪╅╈╹┖┗┚┸┺┛┹┻╿┞┡┦╀╄┩╃╇┃┠┣┨╂╊┫╉╋"
ROUNDED = {"┌": "╭", "┐": "╮", "└": "╰", "┘": "╯"}
DASHED = {"─": "╌", "│": "╎", "━": "╍", "┃": "╏"}
# A cell of the grid is a sum of arms, each light or twice that for heavy.
UP, DOWN, LEFT, RIGHT = 1, 4, 16, 64
LIGHT_WEIGHT, HEAVY_WEIGHT = 1, 2
UPRIGHT = 3 * UP | 3 * DOWN
SOLID = 256  # added to a cell with an arc that is not dashed

HEAVY = frozenset({"structural", "wrong"})
BROKEN = frozenset({"auxiliary", "missed", "refused"})
COLOURS = {
    "structural": "31",
    "missed": "32",
    "wrong": "31",
    "renamed": "33",
    "refused": "31",
    "repaired": "34",
    "plain text": "36",
    "tag": "2",
    "label": "35",
    "brackets": "35",
    "title": "1",
    "note": "2",
}
KINDS = ("", *get_args(Kind))
LEFT_TO_RIGHT_MARK = "\u200e"
ARROWS = {False: "▼", True: "▲"}
SAMPLES = {"plain": "──", "heavy": "━━", "broken": "╌╌"}
LEAST = 3  # cells of a column: a word has one end in its middle and one to each side


def _characters(*, flipped: bool) -> npt.NDArray[Any]:
    """Return an array that maps the code of a cell, the sum of the lines that leave it, to a box-drawing character.

    With `flipped`, up and down are exchanged.
    """
    out = []
    for code in range(512):
        up, down, left, right = (min(code >> shift & 3, 2) for shift in (0, 2, 4, 6))
        if flipped:
            up, down = down, up
        box = BOXES[27 * up + 9 * down + 3 * left + right]
        box = box if code & SOLID else DASHED.get(box, box)
        out.append(ROUNDED.get(box, box))
    return np.array(out, dtype="<U1")


CHARACTERS = {below: _characters(flipped=below) for below in (False, True)}


@dataclass(slots=True)
class TerminalLine:
    """A line of the picture: the codes and the kinds of the arcs in each cell, and texts that are written over them.

    `texts` maps the index of a cell to its text and the kind of that text. With `below`, the line is below the words.
    """

    codes: npt.NDArray[np.uint16]
    kinds: npt.NDArray[np.uint8]
    below: bool = False
    texts: dict[int, tuple[str, str]] = field(default_factory=dict)

    def write(self, at: int, text: str, kind: str) -> None:
        """Write `text` into the cells from `at` on; a combining character is added to the cell before it."""
        last = at
        for part, size in clusters(text):
            if size == 0 and last in self.texts:
                self.texts[last] = (self.texts[last][0] + part, kind)
                continue
            last = at
            self.texts[at] = (part, kind)
            if size == 2:
                self.texts[at + 1] = ("", kind)
            at += max(size, 1)

    def ends(self) -> list[int]:
        """Return the indices of the cells where an arc begins or ends or that have text, in increasing order."""
        turns = ((self.codes & 3 * LEFT) != 0) != ((self.codes & 3 * RIGHT) != 0)
        return sorted({*np.flatnonzero(turns).tolist(), *self.texts})

    def shown(self, start: int, stop: int, *, colour: bool) -> str:
        """Return the cells from `start` to before `stop` as text, with terminal colour codes if `colour` is set."""
        drawn = CHARACTERS[self.below][self.codes[start:stop]].tobytes().decode("utf-32-le")
        near = self.texts if len(self.texts) < stop - start else range(start, stop)
        within = {at - start: self.texts[at] for at in near if start <= at < stop and at in self.texts}
        if not colour:
            pieces, done = [], 0
            for at in sorted(within):
                pieces += [drawn[done:at], within[at][0]]
                done = at + 1
            return "".join([*pieces, drawn[done:]]).rstrip(" ")
        kinds = self.kinds[start:stop]
        cuts = {0, len(drawn), *within, *(at + 1 for at in within), *(np.flatnonzero(np.diff(kinds)) + 1).tolist()}
        parts = [
            within[low] if low in within else (drawn[low:high], KINDS[kinds[low]])
            for low, high in pairwise(sorted(cuts))
        ]
        while parts and not parts[-1][0].strip(" "):
            parts.pop()
        return _painted(parts, colour=True).rstrip(" ")


@dataclass(frozen=True, slots=True)
class TerminalColumns:
    """The columns of a picture, one for each node: `place` maps a node to the index of its column.

    `starts` and `widths` have the first cell and the number of cells of each column. A picture that is too wide is cut
    into `pieces`: pairs of a first cell and the cell after the last.
    """

    place: dict[int, int]
    starts: list[int]
    widths: list[int]
    pieces: list[tuple[int, int]]

    @property
    def width(self) -> int:
        """The number of cells from the first column to the end of the last."""
        return self.starts[-1] + self.widths[-1] if self.starts else 0

    def middle(self, place: int) -> int:
        """Return the middle cell of column `place`, where arcs to its word end."""
        return self.starts[place] + self.widths[place] // 2

    def ends(self, arc: Arc) -> tuple[int, int, bool]:
        """Return the cells of an arc's left and right end, and whether its dependent is on the right."""
        head, dependent = self.place[arc.head], self.place[arc.dependent]
        if head < dependent:
            return self.middle(head) + 1, self.middle(dependent), True
        return self.middle(dependent), self.middle(head) - 1, False


def to_text(scene: Scene, *, width: int | None = None, colour: bool = False) -> str:
    """Return the picture of a scene as text of box-drawing characters.

    A picture wider than `width` cells is cut between words into pieces, one below the other. With `colour`, the text
    has terminal colour codes.
    """
    columns = _columns(scene, width)
    above = [(line, line.ends()) for line in _arc_lines(scene, columns, below=False)]
    under = [(line, line.ends()) for line in _arc_lines(scene, columns, below=True)]
    words = [_row_line(scene, columns, [scene.word(node) for node in scene.nodes], "word")]
    words += [_row_line(scene, columns, [row.cells[node] for node in scene.nodes], row.kind) for row in scene.rows]
    names = ["", *(row.name if row.kind != "tag" else "" for row in scene.rows)] if scene.named_rows else []
    gutter = _gutter(scene, width)
    title = shorten(scene.title, width) if width else scene.title
    out = [_painted([(title, "title")], colour=colour)] if title else []
    for number, (start, stop) in enumerate(columns.pieces):
        if number:
            out.append("")
        out += [" " * gutter + line for line in _piece(above, start, stop, colour=colour)]
        for place, line in enumerate(words):
            name = shorten(names[place], gutter - 2) if names else ""
            lead = _painted([(name + " " * (gutter - cells(name)), "note")], colour=colour) if gutter else ""
            out.append(lead + line.shown(start, stop, colour=colour))
        out += [" " * gutter + line for line in _piece(under, start, stop, colour=colour)]
    for kind, note in scene.notes():
        shape = "heavy" if kind in HEAVY else "broken" if kind in BROKEN else "plain"
        out.append(_painted([(SAMPLES[shape], kind), (f" {note}", "note")], colour=colour))
    return "".join(f"{line.rstrip()}\n" for line in out)


def _gutter(scene: Scene, width: int | None) -> int:
    """Return the number of cells to the left of the picture for the names of rows: about a third of `width` at most."""
    if not scene.named_rows:
        return 0
    longest = max(cells(row.name) for row in scene.rows if row.kind != "tag") + 2
    return min(longest, max(width // 3, 6)) if width else longest


def _columns(scene: Scene, width: int | None) -> TerminalColumns:
    """Return the columns of all nodes: wide enough for their texts, with gaps wide enough for the texts of arcs."""
    nodes = scene.nodes
    place = {node: number for number, node in enumerate(nodes)}
    usable = max(width - _gutter(scene, width), LEAST) if width else None
    widths = [LEAST] * len(nodes)
    for node, number in place.items():
        widths[number] = max(LEAST, cells(scene.word(node)), *(cells(row.cells[node]) for row in scene.rows), 0)
    for below in (False, True):
        for arc in scene.roots(below=below):
            widths[place[arc.dependent]] = max(widths[place[arc.dependent]], cells(arc.text))
    widths = [min(size, usable) if usable else size for size in widths]
    wanted_gaps: dict[int, list[tuple[int, int]]] = {}
    for below in (False, True):
        for arc in scene.arcs_on(below=below):
            low, high = sorted((place[arc.head], place[arc.dependent]))
            if arc.text:
                wanted_gaps.setdefault(high, []).append((low, cells(arc.text) + 4))
    starts: list[int] = []
    for number, size in enumerate(widths):
        start = starts[-1] + widths[number - 1] + 1 if starts else 0
        for low, gap in wanted_gaps.get(number, []):
            start = max(start, starts[low] + widths[low] // 2 + gap - size // 2)
        starts.append(start)
    if usable:
        _close_up(starts, widths, usable)
    return TerminalColumns(place, starts, widths, _pieces(starts, widths, usable, backwards=scene.right_to_left))


def _close_up(starts: list[int], widths: list[int], usable: int) -> None:
    """Narrow the gaps between neighbouring columns, so that both fit into `usable` cells; change `starts` in place."""
    shift = 0
    for number in range(1, len(starts)):
        starts[number] -= shift
        excess = (
            starts[number] + widths[number] - starts[number - 1] - max(usable, widths[number - 1] + widths[number] + 1)
        )
        if excess > 0:
            starts[number] -= excess
            shift += excess


def _pieces(starts: list[int], widths: list[int], usable: int | None, *, backwards: bool) -> list[tuple[int, int]]:
    """Cut the columns into pieces of at most `usable` cells; return the first cell of each and the cell after its last.

    The first piece has the first words of the sentence: with `backwards`, they are on the right.
    """
    if not starts:
        return []
    whole = starts[-1] + widths[-1]
    if usable is None or whole <= usable:
        return [(0, whole)]
    bounds = [(start, start + size) for start, size in zip(starts, widths, strict=True)]
    groups: list[list[tuple[int, int]]] = []
    for bound in reversed(bounds) if backwards else bounds:
        if groups and max(bound[1], groups[-1][0][1]) - min(bound[0], groups[-1][0][0]) <= usable:
            groups[-1].append(bound)
        else:
            groups.append([bound])
    pieces = [(min(low for low, _ in group), max(high for _, high in group)) for group in groups]
    for number in range(1, len(pieces)):  # the gap at a cut belongs to the later piece, for the texts of its arcs
        (low, high), (before, after) = pieces[number], pieces[number - 1]
        pieces[number] = (low, min(before, low + usable)) if backwards else (max(after, high - usable), high)
    return pieces


def _arc_lines(scene: Scene, columns: TerminalColumns, *, below: bool) -> list[TerminalLine]:
    """Return the lines of text with all arcs above or below the words, from top to bottom."""
    arcs = scene.arcs_on(below=below)
    roots = scene.roots(below=below)
    if not arcs and not roots:
        return []
    heights = arc_levels(arcs, columns.place)
    top = max(heights, default=0)
    named = any(arc.text for arc in roots)
    height = top + 1 + bool(roots) + named
    grid = np.zeros((height, columns.width), dtype=np.uint16)
    kinds = np.zeros((height, columns.width), dtype=np.uint8)
    lines = [TerminalLine(grid[row], kinds[row], below) for row in range(height)]
    for arc, level in sorted(zip(arcs, heights, strict=True), key=lambda pair: pair[0].kind in HEAVY):
        left, right, to_right = columns.ends(arc)
        _mark(grid[level, left + 1 : right], kinds[level, left + 1 : right], arc, LEFT, RIGHT)
        for at, inward in ((left, RIGHT), (right, LEFT)):
            _mark(grid[level, at : at + 1], kinds[level, at : at + 1], arc, inward, DOWN)
            _mark(grid[1:level, at], kinds[1:level, at], arc, UP, DOWN)
        foot = left if to_right else right
        _mark(grid[0, foot : foot + 1], kinds[0, foot : foot + 1], arc, UP, DOWN)
        lines[0].write(right if to_right else left, ARROWS[below], arc.kind)
    for arc in roots:
        at = columns.middle(columns.place[arc.dependent])
        _mark(grid[1 : top + 2, at], kinds[1 : top + 2, at], arc, UP, DOWN)
        lines[0].write(at, ARROWS[below], arc.kind)
        _root_text(lines[-1], columns, arc)
    for arc, level in zip(arcs, heights, strict=True):
        _arc_text(lines[level], columns, arc)
    return lines if below else lines[::-1]


def _mark(codes: npt.NDArray[np.uint16], kinds: npt.NDArray[np.uint8], arc: Arc, *arms: int) -> None:
    """Draw a part of an arc into cells: add the line directions `arms` to `codes`.

    The cells get the kind of the arc, which decides their colour; a later arc replaces it.
    """
    weight = HEAVY_WEIGHT if arc.kind in HEAVY else LIGHT_WEIGHT
    codes |= sum(arms) * weight + (0 if arc.kind in BROKEN else SOLID)
    kinds[:] = KINDS.index(arc.kind)


def _root_text(line: TerminalLine, columns: TerminalColumns, arc: Arc) -> None:
    if arc.text:
        place = columns.place[arc.dependent]
        text = shorten(arc.text, columns.widths[place])
        line.write(columns.middle(place) - cells(text) // 2, text, f"{arc.kind} text")


def _arc_text(line: TerminalLine, columns: TerminalColumns, arc: Arc) -> None:
    """Write the text of an arc onto its line, near the middle, if possible where no other arc crosses it.

    If the picture is cut into pieces, the text is written in a piece where it fits.
    """
    if not arc.text:
        return
    left, right, to_right = columns.ends(arc)
    parts = [(max(left + 1, low), min(right, high)) for low, high in columns.pieces]
    parts = sorted(((low, high) for low, high in parts if low < high), reverse=to_right)
    if not parts:
        return
    size = cells(arc.text)
    fits = [part for part in parts if part[1] - part[0] >= size]
    low, high = fits[0] if fits else max(parts, key=lambda part: part[1] - part[0])
    text = shorten(arc.text, high - low)
    size = cells(text)
    middle = (low + high - size) // 2
    crossed = starts_of((line.codes[low:high] & UPRIGHT) != 0)
    free = low + np.flatnonzero(crossed[size:] == crossed[: len(crossed) - size])
    at = int(free[np.argmin(np.abs(free - middle))]) if len(free) else middle
    line.write(at, text, f"{arc.kind} text")


def _row_line(scene: Scene, columns: TerminalColumns, texts: Sequence[str], kind: str) -> TerminalLine:
    """Return a line with each text in the middle of its column.

    In a right-to-left sentence, left-to-right marks before the line and after each text keep texts in their columns.
    """
    line = TerminalLine(np.zeros(columns.width, dtype=np.uint16), np.zeros(columns.width, dtype=np.uint8))
    for place, full in enumerate(texts):
        text = shorten(full, columns.widths[place])
        mark = LEFT_TO_RIGHT_MARK if scene.right_to_left and text else ""
        line.write(columns.middle(place) - cells(text) // 2, text + mark, kind)
    if scene.right_to_left and line.texts:
        first = min(line.texts)
        line.texts[first] = (LEFT_TO_RIGHT_MARK + line.texts[first][0], line.texts[first][1])
    return line


def _piece(lines: list[tuple[TerminalLine, list[int]]], start: int, stop: int, *, colour: bool) -> list[str]:
    """Return the cells from `start` to before `stop` of `lines`, as texts.

    Lines in which no arc begins or ends and no text is written are left out. Each line comes with the result of its
    `ends`.
    """
    return [
        line.shown(start, stop, colour=colour)
        for line, ends in lines
        if bisect_left(ends, start) < bisect_left(ends, stop)
    ]


def _painted(parts: Sequence[tuple[str, str]], *, colour: bool) -> str:
    if not colour:
        return "".join(text for text, _ in parts)
    out = []
    for code, run in groupby(parts, key=lambda part: _colour(part[1])):
        text = "".join(text for text, _ in run)
        out.append(f"\x1b[{code}m{text}\x1b[0m" if code and text.strip() else text)
    return "".join(out)


@cache
def _colour(kind: str) -> str | None:
    return COLOURS.get(kind, COLOURS.get(kind.removesuffix(" text")))
