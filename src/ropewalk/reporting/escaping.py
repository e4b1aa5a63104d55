"""Escaping of text of any origin, so that terminals, spreadsheets, Markdown and LaTeX only show it."""

from __future__ import annotations

import re

UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)  # controls, line breaks, characters that change the direction of text, and those that XML forbids
FORMULA = "=+-@\t\r"  # first characters of cells that a spreadsheet computes
MARKUP = re.compile(r"[\\`*_\[\]<>|~$]|:(?=//)|(?<=\bwww)\.|&(?=#?\w+;)", re.IGNORECASE)  # including bare links
BLOCK = re.compile(r"^\s*(?=[#+=-])")  # a heading, a list or a rule
LATEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\ufffd": "?",  # LuaTeX would report broken UTF-8
}


def clean(text: str) -> str:
    """Return a text with U+FFFD instead of characters that would break a line, a terminal or XML."""
    return UNSAFE.sub("\ufffd", text)


def spreadsheet_escape(text: str) -> str:
    """Return a text that no spreadsheet reads as a formula; a possible formula gets an apostrophe before it.

    A text that begins with an apostrophe gets one more, so that removing the first restores the text. Unsafe characters
    are replaced as in `clean`.
    """
    return f"'{clean(text)}" if text.startswith((*FORMULA, "'")) else clean(text)


def markdown_escape(text: str) -> str:
    """Escape a text for Markdown, so that it is shown literally; links and HTML in it have no effect."""
    return MARKUP.sub(r"\\\g<0>", clean(text))


def markdown_paragraph(text: str) -> str:
    """Escape a text for Markdown, so that it is a paragraph, even if it begins like a heading or a list."""
    return BLOCK.sub(r"\\", markdown_escape(text))


def latex_escape(text: str) -> str:
    """Escape a text for LaTeX, so that it is printed literally."""
    return "".join(LATEX.get(character, character) for character in clean(text))
