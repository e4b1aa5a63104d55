"""Pictures as PNG and PDF: the SVG, drawn by Typst, which comes with the extra `draw` and needs no other program."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from ropewalk.drawing.svg import DARK, LIGHT, style, to_svg
from ropewalk.errors import MissingExtraError, OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

    from ropewalk.drawing.scene import Scene
    from ropewalk.drawing.svg import Theme

RESOLUTION: Final = 96  # pixels of SVG in an inch
SCALE: Final = 3.0
FONTS: Final = ("system-ui,", "system-ui,'DejaVu Sans','Liberation Sans',")  # Typst knows no system-ui
DOCUMENT: Final = b"""
#set document(date: none)
#set page(width: auto, height: auto, margin: 0pt)
#for picture in json(bytes(sys.inputs.pictures)) { page(image(bytes(picture), format: "svg")) }
"""


def to_png(scene: Scene, *, theme: Theme = "light", scale: float = SCALE) -> bytes:
    """Return the picture of a scene as PNG; each pixel of the SVG becomes `scale` by `scale` pixels."""
    if not 0 < scale <= 20:
        raise OptionError(f"the scale of a PNG is {scale}; expected a number above 0, up to 20")
    pages = _typst().compile(
        DOCUMENT, format="png", ppi=scale * RESOLUTION, sys_inputs={"pictures": json.dumps([_plain(scene, theme)])}
    )
    return bytes(pages)


def to_pdf(scenes: Iterable[Scene], *, theme: Theme = "light") -> bytes:
    """Return the pictures of `scenes` as PDF, each on a page of its size; text can be selected and searched."""
    pictures = [_plain(scene, theme) for scene in scenes]
    return bytes(_typst().compile(DOCUMENT, format="pdf", sys_inputs={"pictures": json.dumps(pictures)}))


def _plain(scene: Scene, theme: Theme) -> str:
    """Return the SVG of a scene for Typst: its style sheet has no variables and no media queries.

    Every theme but `dark` becomes `light`.
    """
    chosen: Theme = "dark" if theme == "dark" else "light"
    colours = dict(re.findall(r"--(\w+):([^;]+)", DARK if chosen == "dark" else LIGHT))
    sheet = style(chosen)
    plain = re.sub(r"var\(--(\w+)\)", lambda match: colours[match[1]], sheet.partition("}")[2])
    return to_svg(scene, theme=chosen).replace(sheet, plain.replace(*FONTS), 1)


def _typst() -> ModuleType:
    try:
        import typst
    except ImportError as failure:
        raise MissingExtraError("PNG and PDF", "typst", "draw") from failure
    module: ModuleType = typst
    return module
