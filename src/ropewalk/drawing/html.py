"""Pictures on an HTML page that loads nothing from elsewhere."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ropewalk.drawing.measure import is_right_to_left
from ropewalk.drawing.svg import DARK, LIGHT, to_svg

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ropewalk.drawing.scene import Scene
    from ropewalk.drawing.svg import Theme

STYLE = (
    "body{margin:0 auto;padding:1.5rem 1rem;max-width:80rem;background:var(--paper);color:var(--ink);"
    "font-family:system-ui,'Segoe UI','Noto Sans',Helvetica,Arial,sans-serif;line-height:1.5}"
    "figure{margin:0 0 2.5rem}"
    "figcaption{margin-bottom:.5rem}"
    "figcaption strong{font-weight:600;margin-inline-end:.6rem}"
    ".scroll{overflow-x:auto}"
    ".scroll svg{display:block}"
    "figure[dir=rtl] figcaption{text-align:right}"
)


def colours(theme: Theme) -> str:
    """Return the style sheet that sets the colours of a page for `theme`."""
    if theme not in {"light", "dark"}:
        return f":root{{color-scheme:light dark;{LIGHT}}}@media (prefers-color-scheme:dark){{:root{{{DARK}}}}}"
    return f":root{{color-scheme:{theme};{DARK if theme == 'dark' else LIGHT}}}"


def figure(scene: Scene, *, theme: Theme = "auto") -> str:
    """Return an HTML `figure` element with the picture and its caption; it scrolls if it is too wide."""
    direction = ' dir="rtl"' if scene.right_to_left else ""
    title = f"<strong>{escape(scene.title)}</strong>" if scene.title else ""
    words = f"<span{' dir=rtl' if is_right_to_left((scene.caption,)) else ''}>{escape(scene.caption)}</span>"
    caption = f"<figcaption>{title}{words if scene.caption else ''}</figcaption>" if title or scene.caption else ""
    scroll = ' style="overflow-x:auto;max-width:100%"' if theme == "notebook" else ""  # a page has a style sheet
    return f'<figure{direction}>{caption}<div class="scroll"{scroll}>{to_svg(scene, theme=theme)}</div></figure>\n'


def to_html(scenes: Iterable[Scene], *, theme: Theme = "auto", title: str = "Trees") -> str:
    """Return an HTML page with the pictures of `scenes`, one below the other."""
    return page(title, STYLE + colours(theme), "".join(figure(scene, theme=theme) for scene in scenes))


def page(title: str, style: str, body: str) -> str:
    """Return a complete HTML page with this title, style sheet and body."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
