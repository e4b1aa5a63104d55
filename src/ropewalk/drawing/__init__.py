"""Pictures of trees, graphs and labels: pure functions from a tree to text, SVG, TikZ, HTML, PNG and PDF.

`draw` returns a `Picture`, a value that notebooks display. They display trees, graphs and sentences as pictures too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ropewalk.drawing.enhanced import enhanced_scene, with_graph
from ropewalk.drawing.html import figure, to_html
from ropewalk.drawing.scene import PictureOptions, Scene, Structure, graph_of, scene
from ropewalk.drawing.steps import to_steps
from ropewalk.drawing.svg import to_svg
from ropewalk.drawing.terminal import to_text
from ropewalk.drawing.tikz import to_tikz, to_tikz_document
from ropewalk.drawing.trace import Trace, trace
from ropewalk.drawing.typeset import SCALE, to_pdf, to_png
from ropewalk.errors import demand_type
from ropewalk.options import overridden
from ropewalk.treebank.documents import Sentence

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from ropewalk.drawing.svg import Theme

__all__ = [
    "Picture",
    "PictureOptions",
    "Scene",
    "Trace",
    "draw",
    "enhanced_scene",
    "scene",
    "to_html",
    "to_pdf",
    "to_png",
    "to_steps",
    "to_svg",
    "to_text",
    "to_tikz",
    "to_tikz_document",
    "trace",
]


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing of a scene in any format: `print` shows it as text, and a notebook as SVG in the notebook's colours."""

    scene: Scene

    def __str__(self) -> str:
        return to_text(self.scene)

    def __repr__(self) -> str:
        return f"<Picture of {len(self.scene.words):,} words, {len(self.scene.arcs):,} arcs>"

    def text(self, *, width: int | None = None, colour: bool = False) -> str:
        """Return the picture as text of box-drawing characters, cut into pieces of at most `width` cells."""
        return to_text(self.scene, width=width, colour=colour)

    def svg(self, *, theme: Theme = "auto") -> str:
        """Return the picture as the text of an SVG file."""
        return to_svg(self.scene, theme=theme)

    def tikz(self) -> str:
        """Return the picture as LaTeX: a `dependency` environment of the package tikz-dependency."""
        return to_tikz(self.scene)

    def html(self, *, theme: Theme = "auto") -> str:
        """Return an HTML page that shows the picture."""
        return to_html([self.scene], theme=theme, title=self.scene.title or "Tree")

    def png(self, *, theme: Theme = "light", scale: float = SCALE) -> bytes:
        """Return the picture as the bytes of a PNG file; this needs the extra `draw`."""
        return to_png(self.scene, theme=theme, scale=scale)

    def pdf(self, *, theme: Theme = "light") -> bytes:
        """Return the picture as the bytes of a PDF file; this needs the extra `draw`."""
        return to_pdf([self.scene], theme=theme)

    def _repr_html_(self) -> str:
        return figure(self.scene, theme="notebook")


def draw(  # noqa: PLR0913 - the options that are most used have keywords
    structure: Structure,
    options: PictureOptions = PictureOptions(),
    *,
    words: Sequence[str] | None = None,
    tags: bool | Sequence[str] | None = None,
    labels: Iterable[str] | None = None,
    cover: str | Collection[tuple[int, int]] | None = None,
    bracketing: bool | None = None,
) -> Picture:
    """Draw a tree, a graph or a sentence.

    `options` holds all options of a picture; the keywords replace its most used fields. If a parser added an enhanced
    graph to a sentence, its arcs that are not in the tree are drawn below the words. They are left out if `options` has
    a cover, brackets, a second tree or probabilities, or hides relations.
    """
    demand_type("options", options, PictureOptions)
    options = overridden(options, words=words, tags=tags, labels=labels, cover=cover, bracketing=bracketing)
    shown = scene(structure, options)
    other = options.bracketing or not options.relations
    other = other or any(option is not None for option in (options.cover, options.against, options.probabilities))
    if isinstance(structure, Sentence) and structure.treebank.graphs is not None and not other:
        shown = with_graph(shown, graph_of(structure), structure.graph)
    return Picture(shown)
