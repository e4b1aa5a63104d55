"""A picture of box-drawing characters, fitted to the width of a terminal."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from ropewalk.drawing.layout import levels
from ropewalk.drawing.measure import cells, clusters, is_right_to_left, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.drawing.scene import Arc, Scene

# One character for each choice of weight (none, light, heavy) of the arms up, down, left and right, in that order.
BOXES = " ╶╺╴─╼╸╾━╷┌┍┐┬┮┑┭┯╻┎┏┒┰┲┓┱┳╵└┕┘┴┶┙┵┷│├┝┤┼┾┥┽┿╽┟┢┧╁╆┪╅╈╹┖┗┚┸┺┛┹┻╿┞┡┦╀╄┩╃╇┃┠┣┨╂╊┫╉╋"
ROUNDED = {"┌": "╭", "┐": "╮", "└": "╰", "┘": "╯"}
DASHED = {"─": "╌", "│": "╎", "━": "╍", "┃": "╏"}
UP, DOWN, LEFT, RIGHT = range(4)

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
LEFT_TO_RIGHT_MARK = "\u200e"
ARROWS = {False: "▼", True: "▲"}
SAMPLES = {"plain": "──", "heavy": "━━", "broken": "╌╌"}
LEAST = 3  # cells of a column: a word has one end in its middle and one to each side


@dataclass(slots=True)
class Cell:
    """One place of the grid: the weights of its four arms, what they belong to, or a piece of text."""

    arms: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    dashed: bool = True
    kind: str = ""
    text: str | None = None

    def shown(self) -> str:
        """Give the character."""
        if self.text is not None:
            return self.text
        up, down, left, right = self.arms
        box = BOXES[27 * up + 9 * down + 3 * left + right]
        box = DASHED.get(box, box) if self.dashed and any(self.arms) else box
        return ROUNDED.get(box, box)


Line = dict[int, Cell]


@dataclass(frozen=True, slots=True)
class Columns:
    """Where each node stands: the first cell and the width of its column, and the pieces a wide picture is cut into."""

    place: dict[int, int]
    starts: list[int]
    widths: list[int]
    pieces: list[tuple[int, int]]

    def middle(self, place: int) -> int:
        """Give the cell where an arc to a word ends."""
        return self.starts[place] + self.widths[place] // 2

    def ends(self, arc: Arc) -> tuple[int, int, bool]:
        """Give the cells of an arc's left and right end, and whether its dependent is on the right."""
        head, dependent = self.place[arc.head], self.place[arc.dependent]
        if head < dependent:
            return self.middle(head) + 1, self.middle(dependent), True
        return self.middle(dependent), self.middle(head) - 1, False


def to_text(scene: Scene, *, width: int | None = None, colour: bool = False) -> str:
    """Draw with box-drawing characters; a picture wider than `width` is cut between words into pieces."""
    columns = _columns(scene, width)
    above = _arc_lines(scene, columns, below=False)
    under = _arc_lines(scene, columns, below=True)
    words = [_word_line(scene, columns)]
    words += [_row_line(scene, columns, [row.cells[node] for node in scene.nodes], row.kind) for row in scene.rows]
    names = ["", *(row.name if row.kind != "tag" else "" for row in scene.rows)] if scene.named_rows else []
    gutter = _gutter(scene, width)
    out = [_painted([(scene.title, "title")], colour=colour)] if scene.title else []
    for number, (start, stop) in enumerate(columns.pieces):
        if number:
            out.append("")
        out += [" " * gutter + line for line in _piece(above, start, stop, colour=colour)]
        for place, line in enumerate(words):
            name = shorten(names[place], gutter - 2) if names else ""
            lead = _painted([(name + " " * (gutter - cells(name)), "note")], colour=colour) if gutter else ""
            out.append(lead + _shown(line, start, stop, colour=colour))
        out += [" " * gutter + line for line in _piece(under, start, stop, colour=colour)]
    for kind, note in scene.notes():
        shape = "heavy" if kind in HEAVY else "broken" if kind in BROKEN else "plain"
        out.append(_painted([(SAMPLES[shape], kind), (f" {note}", "note")], colour=colour))
    return "".join(f"{line.rstrip()}\n" for line in out)


def _gutter(scene: Scene, width: int | None) -> int:
    """Give the room for the names of rows, at most a third of the width."""
    if not scene.named_rows:
        return 0
    longest = max(cells(row.name) for row in scene.rows if row.kind != "tag") + 2
    return min(longest, max(width // 3, 6)) if width else longest


def _columns(scene: Scene, width: int | None) -> Columns:
    """Give each node a column wide enough for its texts, and far enough from others for the texts of their arcs."""
    nodes = scene.nodes
    place = {node: number for number, node in enumerate(nodes)}
    room = max(width - _gutter(scene, width), LEAST) if width else None
    widths = []
    for node in nodes:
        wanted = max([LEAST, cells(scene.word(node)), *(cells(row.cells[node]) for row in scene.rows)])
        widths.append(min(wanted, room) if room else wanted)
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
    if room:
        _close_up(starts, widths, room)
    return Columns(place, starts, widths, _pieces(starts, widths, room, backwards=scene.right_to_left))


def _close_up(starts: list[int], widths: list[int], room: int) -> None:
    """Keep gaps between neighbours within the room, so that a piece is never all gap."""
    shift = 0
    for number in range(1, len(starts)):
        starts[number] -= shift
        excess = (
            starts[number] + widths[number] - starts[number - 1] - max(room, widths[number - 1] + widths[number] + 1)
        )
        if excess > 0:
            starts[number] -= excess
            shift += excess


def _pieces(starts: list[int], widths: list[int], room: int | None, *, backwards: bool) -> list[tuple[int, int]]:
    """Cut the columns into pieces that fit, from the side where the sentence begins."""
    if not starts:
        return []
    whole = starts[-1] + widths[-1]
    if room is None or whole <= room:
        return [(0, whole)]
    bounds = [(start, start + size) for start, size in zip(starts, widths, strict=True)]
    groups: list[list[tuple[int, int]]] = []
    for bound in reversed(bounds) if backwards else bounds:
        if groups and max(bound[1], groups[-1][0][1]) - min(bound[0], groups[-1][0][0]) <= room:
            groups[-1].append(bound)
        else:
            groups.append([bound])
    pieces = [(min(low for low, _ in group), max(high for _, high in group)) for group in groups]
    for number in range(1, len(pieces)):  # the gap at a cut goes to the later piece, for the texts of its arcs
        (low, high), (before, after) = pieces[number], pieces[number - 1]
        pieces[number] = (low, min(before, low + room)) if backwards else (max(after, high - room), high)
    return pieces


def _arc_lines(scene: Scene, columns: Columns, *, below: bool) -> list[Line]:
    """Draw the arcs of one side, the line next to the words last above them and first below them."""
    arcs = scene.arcs_on(below=below)
    roots = scene.roots(below=below)
    if not arcs and not roots:
        return []
    spans = [tuple(sorted((columns.place[arc.head], columns.place[arc.dependent]))) for arc in arcs]
    heights = levels([(low, high) for low, high in spans])
    top = max(heights, default=0)
    named = any(arc.text for arc in roots)
    lines: list[Line] = [{} for _ in range(top + 1 + (bool(roots)) + named)]
    for arc, height in zip(arcs, heights, strict=True):
        _arc(lines, columns, arc, height)
    for arc in roots:
        _root(lines, columns, arc, top + 1)
    for arc, height in zip(arcs, heights, strict=True):
        _arc_text(lines[height], columns, arc)
    for line in lines:
        for cell in line.values():
            if below and cell.text is None:
                cell.arms[UP], cell.arms[DOWN] = cell.arms[DOWN], cell.arms[UP]
    return lines if below else lines[::-1]


def _mark(line: Line, at: int, arc: Arc, *arms: int) -> None:
    cell = line.setdefault(at, Cell())
    weight = 2 if arc.kind in HEAVY else 1
    for arm in arms:
        cell.arms[arm] = max(cell.arms[arm], weight)
    cell.dashed = cell.dashed and arc.kind in BROKEN
    if weight == 2 or not cell.kind:
        cell.kind = arc.kind


def _arc(lines: list[Line], columns: Columns, arc: Arc, height: int) -> None:
    left, right, to_right = columns.ends(arc)
    for at in range(left + 1, right):
        _mark(lines[height], at, arc, LEFT, RIGHT)
    _mark(lines[height], left, arc, RIGHT, DOWN)
    _mark(lines[height], right, arc, LEFT, DOWN)
    for line in lines[1:height]:
        _mark(line, left, arc, UP, DOWN)
        _mark(line, right, arc, UP, DOWN)
    _mark(lines[0], left if to_right else right, arc, UP, DOWN)
    lines[0][right if to_right else left] = Cell(kind=arc.kind, text=ARROWS[arc.below])


def _root(lines: list[Line], columns: Columns, arc: Arc, height: int) -> None:
    at = columns.middle(columns.place[arc.dependent])
    for line in lines[1 : height + 1]:
        _mark(line, at, arc, UP, DOWN)
    lines[0][at] = Cell(kind=arc.kind, text=ARROWS[arc.below])
    if arc.text:
        column = columns.place[arc.dependent]
        low, high = next(piece for piece in columns.pieces if piece[0] <= columns.starts[column] < piece[1])
        text = shorten(arc.text, high - low)
        start = max(low, min(at - cells(text) // 2, high - cells(text)))
        _write(lines[height + 1], start, text, f"{arc.kind} text")


def _arc_text(line: Line, columns: Columns, arc: Arc) -> None:
    """Put the text on the arc, in a piece where it fits and where no other arc crosses it, near the middle."""
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
    middle = (low + high - cells(text)) // 2
    choices = sorted(range(low, high - cells(text) + 1), key=lambda at: abs(at - middle))
    free = (at for at in choices if all(_is_plain(line.get(x)) for x in range(at, at + cells(text))))
    _write(line, next(free, middle), text, f"{arc.kind} text")


def _is_plain(cell: Cell | None) -> bool:
    return cell is None or (cell.text is None and not cell.arms[UP] and not cell.arms[DOWN])


def _write(line: Line, at: int, text: str, kind: str) -> None:
    for part, size in clusters(text):
        if size == 0 and at - 1 in line:
            line[at - 1].text = (line[at - 1].text or "") + part
            continue
        line[at] = Cell(kind=kind, text=part)
        if size == 2:
            line[at + 1] = Cell(kind=kind, text="")
        at += max(size, 1)


def _word_line(scene: Scene, columns: Columns) -> Line:
    return _row_line(scene, columns, [scene.word(node) for node in scene.nodes], "word")


def _row_line(scene: Scene, columns: Columns, texts: Sequence[str], kind: str) -> Line:
    """Write texts in the middle of their columns; each right-to-left word stays in its own."""
    line: Line = {}
    for place, full in enumerate(texts):
        text = shorten(full, columns.widths[place])
        at = columns.middle(place) - cells(text) // 2
        _write(line, at, text, kind)
        if text and scene.right_to_left and is_right_to_left((text,)):
            last = max(at for at in line if line[at].text)
            line[last].text = f"{line[last].text}{LEFT_TO_RIGHT_MARK}"
    return line


def _piece(lines: list[Line], start: int, stop: int, *, colour: bool) -> list[str]:
    """Cut one piece out of the arcs, without the lines in which nothing runs across it."""
    kept = []
    for line in lines:
        within = [cell for at, cell in line.items() if start <= at < stop]
        if any(cell.text is not None or cell.arms[LEFT] or cell.arms[RIGHT] for cell in within):
            kept.append(_shown(line, start, stop, colour=colour))
    return kept


def _shown(line: Line, start: int, stop: int, *, colour: bool) -> str:
    blank = Cell()
    parts = [(cell.shown(), cell.kind) for cell in (line.get(at, blank) for at in range(start, stop))]
    while parts and parts[-1][0] == " ":
        parts.pop()
    return _painted(parts, colour=colour)


def _painted(parts: Sequence[tuple[str, str]], *, colour: bool) -> str:
    out = []
    for code, run in groupby(parts, key=lambda part: COLOURS.get(part[1], COLOURS.get(part[1].removesuffix(" text")))):
        text = "".join(text for text, _ in run)
        out.append(f"\x1b[{code}m{text}\x1b[0m" if colour and code and text.strip() else text)
    return "".join(out)
