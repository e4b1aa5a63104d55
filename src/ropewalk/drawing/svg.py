"""Pictures as SVG without external files: text can be selected, and colours follow the reader's light or dark theme."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Literal, get_args

from ropewalk.drawing.levels import arc_levels
from ropewalk.drawing.measure import is_right_to_left, units
from ropewalk.drawing.scene import Kind
from ropewalk.encodings.bracket_text import BRACKET

if TYPE_CHECKING:
    from ropewalk.drawing.scene import Arc, Row, Scene

Theme = Literal["auto", "light", "dark", "notebook"]
# What marks dark pages: JupyterLab, Visual Studio Code, Colab, Sphinx.
DARK_PAGES = ("[data-jp-theme-light=false]", ".vscode-dark", "html[theme=dark]", "[data-theme=dark]")

WORD = 17.0  # font sizes, in pixels
SMALL = 12.0
LABEL = 14.0
MONO = 0.62  # width of a character of a typewriter font
GAP = 16.0  # between columns
EDGE = 14.0  # around the picture
STEP = 26.0  # from one level to the next
FIRST = 30.0  # height of the first level
SPREAD = 6.0  # between two arcs that leave a word to one side
ARROW = 7.0
ROUND = 12.0

LIGHT = (
    "--paper:#fff;--ink:#1f2328;--faint:#59636e;--plain:#57606a;--structural:#d1121f;--auxiliary:#1f2328;"
    "--missed:#1a7f37;--wrong:#cf222e;--renamed:#9a6700;--refused:#cf222e;--repaired:#0969da;"
    "--super:#d1121f;--semi:#0000ff;--naive:#018e42"
)
DARK = (
    "--paper:#0d1117;--ink:#e6edf3;--faint:#9198a1;--plain:#9ea7b3;--structural:#ff6b6b;--auxiliary:#e6edf3;"
    "--missed:#3fb950;--wrong:#ff7b72;--renamed:#d29922;--refused:#ff7b72;--repaired:#58a6ff;"
    "--super:#ff6b6b;--semi:#79b8ff;--naive:#3fb950"
)
STYLE = (
    "svg.ropewalk text{font-family:system-ui,'Segoe UI','Noto Sans',Helvetica,Arial,sans-serif;fill:var(--ink);"
    "text-anchor:middle;direction:ltr}"
    "svg.ropewalk .rtl{direction:rtl}"
    "svg.ropewalk .paper{fill:var(--paper)}"
    f"svg.ropewalk .word{{font-size:{WORD:g}px}}"
    f"svg.ropewalk .node{{font-size:{WORD:g}px;fill:var(--faint)}}"
    f"svg.ropewalk .tag{{font-size:{SMALL:g}px;fill:var(--faint)}}"
    f"svg.ropewalk .label{{font-size:{LABEL:g}px;font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace}}"
    f"svg.ropewalk .note{{font-size:{SMALL:g}px;fill:var(--faint);text-anchor:start}}"
    "svg.ropewalk .super{fill:var(--super);font-weight:bold}"
    "svg.ropewalk .semi{fill:var(--semi)}"
    "svg.ropewalk .naive{fill:var(--naive)}"
    "svg.ropewalk .index{font-size:75%}"
    "svg.ropewalk .line{fill:none;stroke-width:1.5px}"
    f"svg.ropewalk .relation{{font-size:{SMALL:g}px;paint-order:stroke;stroke:var(--paper);stroke-width:5px;"
    "stroke-linejoin:round}"
    + "".join(
        f"svg.ropewalk .{kind} .line{{stroke:var(--{kind})}}"
        f"svg.ropewalk .{kind} .tip,svg.ropewalk .{kind} .relation{{fill:var(--{kind})}}"
        for kind in get_args(Kind)
    )
    + "svg.ropewalk .auxiliary .line,svg.ropewalk .missed .line{stroke-dasharray:5 4}"
    "svg.ropewalk .refused .line{stroke-dasharray:2 4}"
    "svg.ropewalk .structural .line,svg.ropewalk .wrong .line{stroke-width:2px}"
)


def style(theme: Theme = "auto") -> str:
    """Return the style sheet of a picture in `theme`."""
    if theme == "dark":
        return f"svg.ropewalk.dark{{{DARK}}}{STYLE}"
    if theme == "light":
        return f"svg.ropewalk.light{{{LIGHT}}}{STYLE}"
    if theme == "notebook":  # as the page around it, whatever the reader's system has
        dark = ",".join(f"{page} svg.ropewalk.notebook" for page in DARK_PAGES)
        return f"svg.ropewalk.notebook{{{LIGHT}}}{dark}{{{DARK}}}{STYLE}"
    return f"svg.ropewalk.auto{{{LIGHT}}}@media (prefers-color-scheme:dark){{svg.ropewalk.auto{{{DARK}}}}}{STYLE}"


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a picture, one for each node: `place` maps a node to the index of its column.

    `middles` and `widths` have the middle and the width of each column, and `width` is that of the picture, in pixels.
    """

    place: dict[int, int]
    middles: list[float]
    widths: list[float]
    width: float


def to_svg(scene: Scene, *, theme: Theme = "auto") -> str:
    """Return the picture of a scene as SVG that needs no other files.

    `theme` is `auto` (like the reader's system), `light`, `dark` or `notebook` (like the page around it).
    """
    columns = _columns(scene)
    above, under = (arc_levels(scene.arcs_on(below=below), columns.place) for below in (False, True))
    ground = EDGE + _height(scene, above, below=False) + 4
    baseline = ground + WORD
    body = _arcs(scene, columns, above, ground, below=False)
    body += [
        f'<text class="{_word_class(scene, node)}" data-node="{node}" x="{_n(columns.middles[place])}" '
        f'y="{_n(baseline)}">{escape(scene.word(node))}</text>'
        for node, place in columns.place.items()
    ]
    bottom = baseline + 6
    for row in scene.rows:
        bottom += LABEL + 8
        body += _row(scene, columns, row, bottom - 4)
    if under or scene.roots(below=True):
        body += _arcs(scene, columns, under, bottom + 4, below=True)
        bottom += 4 + _height(scene, under, below=True)
    if scene.notes():
        bottom += 8
        for kind, note in scene.notes():
            bottom += SMALL + 6
            body.append(
                f'<g class="{kind}"><path class="line" d="M{_n(EDGE)} {_n(bottom - 4)}h26"/>'
                f'<text class="note" x="{_n(EDGE + 34)}" y="{_n(bottom)}">{escape(note)}</text></g>'
            )
    height = bottom + EDGE
    sentence = escape(" ".join(scene.words), quote=True)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="ropewalk {theme}" role="img" aria-label="{sentence}" '
        f'width="{_n(columns.width)}" height="{_n(height)}" viewBox="0 0 {_n(columns.width)} {_n(height)}">'
    )
    title = f"<title>{escape(scene.title)}</title>" if scene.title else ""
    paper = f'<rect class="paper" width="{_n(columns.width)}" height="{_n(height)}"/>'
    return "\n".join([head, f"{title}<style>{style(theme)}</style>", paper, *body, "</svg>"]) + "\n"


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def _word_class(scene: Scene, node: int) -> str:
    return ("word rtl" if is_right_to_left((scene.word(node),)) else "word") if node else "node"


def _text_width(text: str, kind: str) -> float:
    if kind == "tag":
        return units(text) * SMALL
    return len(text) * MONO * LABEL


def _columns(scene: Scene) -> Columns:
    nodes = scene.nodes
    place = {node: number for number, node in enumerate(nodes)}
    widths = [
        max(
            14.0,
            units(scene.word(node)) * WORD,
            *(_text_width(row.cells[node], row.kind) for row in scene.rows),
            *(
                units(arc.text) * SMALL
                for arc in scene.arcs
                if not arc.head and not scene.root and arc.dependent == node
            ),
        )
        for node in nodes
    ]
    wanted: dict[int, list[tuple[int, float]]] = {}
    for arc in scene.arcs:
        if arc.text and (arc.head or scene.root):
            low, high = sorted((place[arc.head], place[arc.dependent]))
            wanted.setdefault(high, []).append((low, units(arc.text) * SMALL + 2 * ROUND + SPREAD))
    names = [units(row.name) * SMALL for row in scene.rows if row.kind != "tag"] if scene.named_rows else []
    left = EDGE + (max(names) + GAP if names else 0)
    middles: list[float] = []
    for number, width in enumerate(widths):
        at = middles[-1] + widths[number - 1] / 2 + GAP + width / 2 if middles else left + width / 2
        middles.append(max([at, *(middles[low] + gap for low, gap in wanted.get(number, []))]))
    right = middles[-1] + widths[-1] / 2 if middles else left
    if scene.notes():
        right = max(right, EDGE + 34 + max(units(note) for _, note in scene.notes()) * SMALL)
    return Columns(place, middles, widths, right + EDGE)


def _height(scene: Scene, heights: list[int], *, below: bool) -> float:
    top = max(heights, default=0)
    roots = scene.roots(below=below)
    if roots:
        return FIRST + STEP * top + (SMALL + 2 if any(arc.text for arc in roots) else 0)
    return FIRST + STEP * (top - 1) + SMALL if top else 4.0


def _ports(arcs: tuple[Arc, ...], columns: Columns) -> dict[tuple[int, int], float]:
    """Return for each (head, dependent) pair the distance of the arc's start from the middle of its head.

    The distance is in pixels, and negative to the left. On each side of a head, the longest arc starts nearest to the
    middle.
    """
    sides: dict[tuple[int, bool], list[int]] = {}
    for arc in arcs:
        head, dependent = columns.place[arc.head], columns.place[arc.dependent]
        sides.setdefault((arc.head, dependent > head), []).append(arc.dependent)
    out = {}
    for (head, to_right), dependents in sides.items():
        far = sorted(dependents, key=lambda node: -abs(columns.place[node] - columns.place[head]))
        reach = max(columns.widths[columns.place[head]] / 2, 10.0) + GAP / 4
        step = min(SPREAD, reach / len(far))
        for number, dependent in enumerate(far, start=1):
            out[head, dependent] = step * number if to_right else -step * number
    return out


def _arcs(scene: Scene, columns: Columns, heights: list[int], ground: float, *, below: bool) -> list[str]:
    arcs = scene.arcs_on(below=below)
    ports = _ports(arcs, columns)
    sign = 1 if below else -1
    lines, texts = [], []
    for arc, height in sorted(zip(arcs, heights, strict=True), key=lambda pair: -pair[1]):
        start = columns.middles[columns.place[arc.head]] + ports[arc.head, arc.dependent]
        end = columns.middles[columns.place[arc.dependent]]
        rise = FIRST + STEP * (height - 1)
        lines.append(_line(arc, _bow(start, end, rise, ground, below=below), end, ground))
        texts.append(_text(arc, (start + end) / 2, ground + sign * rise))
    top = max(heights, default=0)
    for arc in scene.roots(below=below):
        end = columns.middles[columns.place[arc.dependent]]
        rise = FIRST + STEP * top
        path = f"M{_n(end)} {_n(ground + sign * rise)}V{_n(ground + sign * ARROW)}"
        lines.append(_line(arc, path, end, ground))
        texts.append(_text(arc, end, ground + sign * (rise + 6)))
    return [*lines, *filter(None, texts)]  # texts last, so that no line runs through them


def _bow(start: float, end: float, rise: float, ground: float, *, below: bool) -> str:
    """Return the SVG path of an arc from `start` to `end`: up from the head by `rise`, across, down to the dependent.

    `ground` is the height of both ends. With `below`, up and down are exchanged.
    """
    sign = 1 if below else -1
    turn = min(ROUND, abs(end - start) / 2)
    across = turn if end > start else -turn
    crest = ground + sign * rise
    return (
        f"M{_n(start)} {_n(ground)}V{_n(crest - sign * turn)}Q{_n(start)} {_n(crest)} {_n(start + across)} {_n(crest)}"
        f"H{_n(end - across)}Q{_n(end)} {_n(crest)} {_n(end)} {_n(crest - sign * turn)}V{_n(ground + sign * ARROW)}"
    )


def _open(arc: Arc) -> str:
    return f'<g class="arc {arc.kind}" data-head="{arc.head}" data-dependent="{arc.dependent}">'


def _line(arc: Arc, path: str, end: float, ground: float) -> str:
    tip = f"M{_n(end)} {_n(ground)}l-3.5 {_n(ARROW if arc.below else -ARROW)}h7z"
    return f'{_open(arc)}<path class="line" d="{path}"/><path class="tip" d="{tip}"/></g>'


def _text(arc: Arc, x: float, y: float) -> str:
    if not arc.text:
        return ""
    return f'{_open(arc)}<text class="relation" x="{_n(x)}" y="{_n(y + SMALL / 3)}">{escape(arc.text)}</text></g>'


def _row(scene: Scene, columns: Columns, row: Row, y: float) -> list[str]:
    name = row.kind if row.kind in {"tag", "label"} else f"label {row.kind}"
    out = [
        f'<text class="{name}" x="{_n(columns.middles[place])}" y="{_n(y)}" data-word="{node}">'
        f"{_cell(row, row.cells[node])}</text>"
        for node, place in columns.place.items()
        if row.cells[node]
    ]
    if scene.named_rows and row.kind != "tag":
        out.append(f'<text class="note" x="{_n(EDGE)}" y="{_n(y)}">{escape(row.name)}</text>')
    return out


def _cell(row: Row, text: str) -> str:
    """Return the SVG text of a cell.

    In rows of kind `brackets`, superbrackets are red and bold, semibrackets blue and indices lowered, as in the paper.
    """
    if row.kind == "steps":
        return "".join(f'<tspan class="bracket">{escape("".join(parts))}</tspan>' for parts in BRACKET.findall(text))
    if row.kind != "brackets":
        return escape(text)
    hierarchical = any("^" in cell for cell in row.cells)
    out = []
    for sign, hat, stars in BRACKET.findall(text):
        name = "super" if hat else "semi" if hierarchical else "naive"
        index = f'<tspan class="index" dy="3">{len(stars)}</tspan><tspan dy="-3">\u200b</tspan>' if stars else ""
        out.append(f'<tspan class="{name}">{escape(sign)}{index}</tspan>')
    return "".join(out)
