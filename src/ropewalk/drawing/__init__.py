"""Pictures of trees, graphs and labels: pure functions from a tree to text, SVG, TikZ and HTML.

`draw` makes a `Picture`, a value that notebooks show by themselves. Trees and sentences know nothing of drawing; after
`%load_ext ropewalk.drawing` a notebook shows them as pictures too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ropewalk.core.graphs import Graph
from ropewalk.core.trees import Tree
from ropewalk.drawing.enhanced import enhanced_scene, with_graph
from ropewalk.drawing.html import figure, to_html
from ropewalk.drawing.scene import PictureOptions, Scene, Structure, graph_of, scene
from ropewalk.drawing.steps import to_steps
from ropewalk.drawing.svg import to_svg
from ropewalk.drawing.terminal import to_text
from ropewalk.drawing.tikz import to_tikz, to_tikz_document
from ropewalk.drawing.trace import Trace, trace
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
    "load_ipython_extension",
    "scene",
    "to_html",
    "to_steps",
    "to_svg",
    "to_text",
    "to_tikz",
    "to_tikz_document",
    "trace",
]


@dataclass(frozen=True, slots=True)
class Picture:
    """A scene that can be drawn in every form; printed it is text, in a notebook SVG."""

    scene: Scene

    def __str__(self) -> str:
        return to_text(self.scene)

    def text(self, *, width: int | None = None, colour: bool = False) -> str:
        """Draw with box-drawing characters."""
        return to_text(self.scene, width=width, colour=colour)

    def svg(self, *, theme: Theme = "auto") -> str:
        """Draw as SVG."""
        return to_svg(self.scene, theme=theme)

    def tikz(self) -> str:
        """Draw as a `dependency` environment of tikz-dependency."""
        return to_tikz(self.scene)

    def html(self, *, theme: Theme = "auto") -> str:
        """Draw as a page of its own."""
        return to_html([self.scene], theme=theme, title=self.scene.title or "Tree")

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        return figure(self.scene)


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

    `options` holds all that a picture can show; the keywords stand for its fields that are most used, and replace them.
    What a parser's enhanced graph adds to the tree of a sentence is drawn below the words, unless something else is
    asked for.
    """
    demand_type("options", options, PictureOptions)
    options = overridden(options, words=words, tags=tags, labels=labels, cover=cover, bracketing=bracketing)
    shown = scene(structure, options)
    other = options.bracketing or not options.relations
    other = other or any(one is not None for one in (options.cover, options.against, options.probabilities))
    if isinstance(structure, Sentence) and structure.treebank.graphs is not None and not other:
        shown = with_graph(shown, graph_of(structure), structure.graph)
    return Picture(shown)


def load_ipython_extension(shell: Any) -> None:  # noqa: ANN401 - IPython's shell, which is not a dependency
    """Show trees, graphs and sentences as pictures in a notebook: `%load_ext ropewalk.drawing`."""
    formatters = shell.display_formatter.formatters
    for kind in (Tree, Graph, Sentence):
        formatters["image/svg+xml"].for_type(kind, lambda value: draw(value).svg())
