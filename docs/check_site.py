"""Look through a built site: whatever a page links to or needs is there, and nothing is fetched from elsewhere.

python docs/check_site.py build/site

Where there is a Chromium, every page is also opened in it, as wide as a phone and as a desk, in light and dark: nothing
sticks out to the right, nothing is asked for beyond the site, no script fails, and dark pages are dark.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("use", "href")}
WIDTHS = (375, 1400)  # pixels of a phone and of a desk
SCHEMES = ("light", "dark")
SEEN = """(() => {
  const [red, green, blue] = getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g).map(Number);
  return [document.documentElement.scrollWidth, innerWidth, red + green + blue];
})()"""
TRIES = 50
MIDDLE = 3 * 128  # between dark and light, over three colours
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
    """Return for each page its missing parts, and the addresses that it would load from elsewhere."""
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
    """Return whether a style sheet loads anything from elsewhere."""
    return OUTSIDE.search(style.read_text(encoding="utf-8")) is not None


def seen(site: Path) -> list[str]:
    """Open every page in a browser, and say what is wrong with how it looks; nothing where there is no browser."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    from browser_tools import BROWSER, browsing

    if BROWSER is None:
        sys.stderr.write("no chromium is installed: no page was looked at\n")
        return []
    found = []
    home = site.resolve().as_uri()
    with tempfile.TemporaryDirectory() as profile, browsing(Path(profile)) as browser:
        for file in sorted(site.resolve().rglob("*.html")):
            browser.open(file)
            for scheme in SCHEMES:
                browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
                for width in WIDTHS:
                    browser.call(
                        "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False
                    )
                    for _ in range(TRIES):  # a busy browser takes a moment to follow
                        taken, there, light = browser.run(SEEN)
                        if taken <= there and (light > MIDDLE) == (scheme == "light"):
                            break
                        time.sleep(0.1)
                    if taken > there:
                        found.append(f"{file}: is {taken} pixels wide where there are {there}")
                    if (light > MIDDLE) != (scheme == "light"):
                        found.append(f"{file}: is not {scheme} where that is asked for")
            found += [f"{file}: asks for {one}" for one in browser.requests() if not one.startswith((home, "data:"))]
            found += [f"{file}: {failure}" for failure in browser.failures()]
    return found


if __name__ == "__main__":
    place = Path(sys.argv[1])
    wrong = problems(place) + seen(place)
    sys.exit("\n".join(wrong) if wrong else 0)
