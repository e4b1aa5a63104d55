"""Pictures as LaTeX, for the package tikz-dependency."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ropewalk.drawing.levels import arc_levels
from ropewalk.drawing.measure import units
from ropewalk.encodings.bracket_text import BRACKET
from ropewalk.reporting.escaping import latex_escape

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ropewalk.drawing.scene import Arc, Row, Scene

EDGES = {
    "plain": "",
    "structural": "red",
    "auxiliary": "dashed",
    "missed": "green!50!black, dashed",
    "wrong": "red, thick",
    "renamed": "orange!70!black",
    "refused": "red, dotted",
    "repaired": "blue",
}
ROUND = (
    16  # up to this number of words, arcs without texts are round, as in the paper; others have the layout's heights
)
SEPARATION = 0.6  # between columns, in em
TEXT = 0.75  # size of the texts of arcs, relative to that of words
HEAD = r"""% Compile with lualatex or xelatex; pdflatex will do if all words are of Latin script.
% Another script needs a font that has it: \setmainfont{...} after the line with fontspec.
\documentclass[multi=dependency,border=4pt]{standalone}
\usepackage{iftex}
\ifPDFTeX\usepackage[T1]{fontenc}\else\usepackage{fontspec}\fi
\usepackage{tikz-dependency}
\definecolor{semi}{HTML}{0000FF}
\definecolor{super}{HTML}{E62020}
\definecolor{naive}{HTML}{018E42}
\begin{document}
"""


def to_tikz(scene: Scene) -> str:
    """Return the picture of a scene as a `dependency` environment of tikz-dependency."""
    column = {node: number for number, node in enumerate(scene.nodes, start=1)}
    bare = not any(arc.text for arc in scene.arcs)
    round_arcs = bare and len(column) <= ROUND
    options = ["hide label"] if bare else ["text only label", "label style={above}"]
    if round_arcs:
        options.insert(0, "arc edge")
    lines = [f"% {scene.title}"] if scene.title else []
    lines += [
        rf"\begin{{dependency}}[{', '.join(options)}]",
        rf"  \begin{{deptext}}[column sep={SEPARATION}em]",
        _word_line(scene),
        *(_line(_cell(row, row.cells[node]) for node in scene.nodes) for row in scene.rows),
        r"  \end{deptext}",
        *_edges(scene, column, round_arcs=round_arcs),
        r"\end{dependency}",
    ]
    return "\n".join(lines) + "\n"


def to_tikz_document(scenes: Iterable[Scene]) -> str:
    """Return a complete LaTeX document with one picture on each page."""
    return HEAD + "\n".join(map(to_tikz, scenes)) + "\\end{document}\n"


def _escaped(text: str) -> str:
    """Return `text` escaped for a cell of tikz-dependency, where `&`, `|` and `[` have a special meaning."""
    return latex_escape(text).replace(r"\&", r"\symbol{38}").replace("|", r"\textbar{}").replace("[", "{[}")


def _word_line(scene: Scene) -> str:
    """Return the line of words, further apart where the text of an arc between neighbours needs it."""
    nodes = scene.nodes
    place = {node: number for number, node in enumerate(nodes)}
    wanted: dict[int, float] = {}
    for arc in scene.arcs:
        if arc.head in place and abs(place[arc.head] - place[arc.dependent]) == 1:
            gap = min(place[arc.head], place[arc.dependent])
            there = (units(scene.word(nodes[gap])) + units(scene.word(nodes[gap + 1]))) / 2 + SEPARATION
            wanted[gap] = max(wanted.get(gap, 0), units(arc.text) * TEXT + 1 - there)
    out = "    " + _escaped(scene.word(nodes[0])) if nodes else "    "
    for gap, node in enumerate(nodes[1:]):
        wider = f"[{wanted[gap]:.1f}em]" if wanted.get(gap, 0) > 0.05 else ""
        out += rf" \&{wider} {_escaped(scene.word(node))}"
    return out + r" \\"


def _line(cells: Iterable[str]) -> str:
    return "    " + r" \& ".join(cells) + r" \\"


def _cell(row: Row, text: str) -> str:
    if row.kind == "tag":
        return rf"\textsc{{\footnotesize {_escaped(text.lower())}}}" if text else ""
    if row.kind == "label":
        return rf"\texttt{{{_escaped(text)}}}" if text else ""
    hierarchical = any("^" in cell for cell in row.cells)
    out = []
    for sign, hat, stars in BRACKET.findall(text):
        colour = "super" if hat else "semi" if hierarchical else "naive"
        face = r"\bfseries" if hat else ""
        index = rf"\textsubscript{{{len(stars)}}}" if stars else ""
        out.append(rf"\textcolor{{{colour}}}{{{face}\texttt{{{_escaped(sign)}}}{index}}}")
    return "".join(out)


def _edges(scene: Scene, column: dict[int, int], *, round_arcs: bool) -> list[str]:
    out = []
    for below in (False, True):
        arcs = scene.arcs_on(below=below)
        heights = arc_levels(arcs, column)
        for arc, height in zip(arcs, heights, strict=True):
            options = _options(arc, None if round_arcs else height)
            out.append(rf"  \depedge{options}{{{column[arc.head]}}}{{{column[arc.dependent]}}}{{{_text(arc)}}}")
        for arc in scene.roots(below=below):
            options = _options(arc, max(heights, default=0) + 1)
            out.append(rf"  \deproot{options}{{{column[arc.dependent]}}}{{{_text(arc)}}}")
    return out


def _options(arc: Arc, height: int | None) -> str:
    options = [
        *(["edge below"] if arc.below else []),
        *([] if height is None else [f"edge height={3.2 * height:.1f}ex"]),
        *([f"edge style={{{EDGES[arc.kind]}}}"] if EDGES[arc.kind] else []),
    ]
    return f"[{', '.join(options)}]" if options else ""


def _text(arc: Arc) -> str:
    return _escaped(arc.text).replace("→", r"$\to$")
