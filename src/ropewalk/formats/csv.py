"""Word tables with commas between the columns: one row for each word, after a header."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from ropewalk.formats import Look, OutputFormat
from ropewalk.formats.word_tables import SCHEMA, rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ropewalk.treebank.documents import Document


def separated(separator: str, extension: str, media_type: str) -> OutputFormat:
    """Return the output format of word tables whose columns are separated by `separator`."""

    def lines(table: Iterable[Iterable[str]]) -> bytes:
        out = io.StringIO()
        csv.writer(out, delimiter=separator, lineterminator="\n").writerows(table)
        return out.getvalue().encode()

    def sentences(document: Document, look: Look) -> Iterator[bytes]:
        yield lines(rows(document.treebank, look.before))

    def headed(blocks: Iterable[bytes]) -> Iterator[bytes]:
        yield lines([SCHEMA])
        yield from blocks

    return OutputFormat(sentences, {extension: headed}, f"{media_type}; charset=utf-8", join=headed)


FORMAT = separated(",", ".csv", "text/csv")
