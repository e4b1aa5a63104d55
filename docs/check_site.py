"""Look through a built site: whatever a page links to or needs is there, and nothing is fetched from elsewhere.

python docs/check_site.py build/site
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("use", "href")}
OUTSIDE = re.compile(r"url\(\s*['\"]?(?:https?:)?//|@import\s+['\"]?(?:https?:)?//")


class Page(HTMLParser):
    """The addresses that a page links to and fetches, and the names of places in it."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.names: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what one tag names and points to."""
        for name, value in attrs:
            if name in {"id", "name"} and value:
                self.names.add(value)
            elif (tag, name) in FETCHED and value:
                self.fetched.append(value)
            elif (tag, name) == ("a", "href") and value:
                self.links.append(value)


def problems(site: Path) -> list[str]:
    """Say for each page what it lacks, and what it would fetch from elsewhere."""
    pages = {file.resolve(): Page(file) for file in sorted(site.rglob("*.html"))}
    found = [f"{file}: fetches from elsewhere" for file in sorted(site.rglob("*.css")) if outside(file)]
    for file, page in pages.items():
        for address in page.fetched + page.links:
            parts = urlsplit(address)
            if parts.scheme == "data" or (parts.scheme and address in page.links):
                continue
            if parts.scheme or parts.netloc:
                found.append(f"{file}: fetches {address}")
                continue
            aim = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if not aim.is_file():
                found.append(f"{file}: {address} is not there")
            elif parts.fragment and aim in pages and unquote(parts.fragment) not in pages[aim].names:
                found.append(f"{file}: {address} names no place there")
    if not pages:
        found.append(f"{site}: no pages")
    return found


def outside(style: Path) -> bool:
    """Tell whether a style sheet fetches anything from elsewhere."""
    return OUTSIDE.search(style.read_text(encoding="utf-8")) is not None


if __name__ == "__main__":
    wrong = problems(Path(sys.argv[1]))
    sys.exit("\n".join(wrong) if wrong else 0)
