"""Text of any origin, written such that terminals, spreadsheets, Markdown and LaTeX show it and do nothing else."""

from __future__ import annotations

import re

UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)  # controls, line breaks, characters that turn the direction of what follows, and what XML forbids
FORMULA = "=+-@\t\r"  # what a cell begins with that a spreadsheet computes
MARKUP = re.compile(r"[\\`*_\[\]<>|~$]|:(?=//)|(?<=\bwww)\.|&(?=#?\w+;)", re.IGNORECASE)  # links by name alone included
BLOCK = re.compile(r"^\s*(?=[#+=-])")  # a heading, a list or a rule
LATEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\ufffd": "?",  # which LuaTeX takes for broken UTF-8
}


def clean(text: str) -> str:
    """Replace what would break a line, a terminal or XML by U+FFFD."""
    return UNSAFE.sub("\ufffd", text)


def spreadsheet_escape(text: str) -> str:
    """Write a text such that no spreadsheet takes it for a formula: with an apostrophe before it.

    A text that begins with an apostrophe gets one more: without the first, if there is any, it is the text as it was.
    """
    return f"'{clean(text)}" if text.startswith((*FORMULA, "'")) else clean(text)


def markdown_escape(text: str) -> str:
    """Write a text such that Markdown shows it as it is, links and HTML included."""
    return MARKUP.sub(r"\\\g<0>", clean(text))


def markdown_paragraph(text: str) -> str:
    """Write a text such that Markdown shows it as a paragraph, whatever it begins with."""
    return BLOCK.sub(r"\\", markdown_escape(text))


def latex_escape(text: str) -> str:
    """Write a text such that LaTeX prints it as it is."""
    return "".join(LATEX.get(character, character) for character in clean(text))
