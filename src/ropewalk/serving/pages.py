"""The web page and its files. They are read once at the start, so that a request never opens a file."""

from __future__ import annotations

import hashlib
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import Response

from ropewalk import files
from ropewalk.drawing import html, steps, svg
from ropewalk.serving.endpoints import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import Request

    from ropewalk.serving.service import Service

KINDS = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
PAGES = {"index.html": "/", "docs.html": "/docs", "icon.svg": "/favicon.ico"}


def static_files() -> Iterator[Endpoint]:
    """Yield an endpoint for each file of the web page."""
    for path, content, kind in page_files():
        yield _page(path, content, kind)


def page_files() -> Iterator[tuple[str, bytes, str]]:
    """Yield the path, the content and the media type of each file of the web page.

    These are the files in the folder `static`, and the style sheet and the script of `ropewalk.drawing`.
    """
    folder = Path(str(resources.files("ropewalk") / "serving" / "static"))
    for file in sorted(folder.iterdir()):
        if file.suffix in KINDS:
            with files.reading(file) as stream:
                yield PAGES.get(file.name, f"/static/{file.name}"), stream.read(), KINDS[file.suffix]
    chosen = "".join(
        f":root[data-theme={name}]{{color-scheme:{name};{colours}}}"
        for name, colours in (("light", svg.LIGHT), ("dark", svg.DARK))
    )
    style = html.colours("auto") + chosen + svg.STYLE + steps.STYLE
    yield "/static/drawing.css", style.encode(), KINDS[".css"]
    yield "/static/steps.js", f"{steps.PLAYER}export {{ playSteps }};\n".encode(), KINDS[".js"]


def _page(path: str, content: bytes, kind: str) -> Endpoint:
    tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    headers = {"etag": tag, "cache-control": "no-cache"}

    async def page(request: Request, _: Service) -> Response:
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type=kind)

    return Endpoint(path, page, label="page" if kind == KINDS[".html"] else "other")
