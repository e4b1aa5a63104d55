"""Pictures of trees for terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ropewalk.formats import Look, OutputFormat
from ropewalk.reporting.escaping import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ropewalk.treebank.documents import Document


def sentences(document: Document, look: Look) -> Iterator[bytes]:
    """Yield each sentence as a picture of box-drawing characters; a comment at the beginning names the generator."""
    begin = f"# generator = {clean(document.generator)}\n" if look.begins else ""
    for sentence in document:
        yield f"{begin}\n{sentence.draw().text(width=look.width, colour=look.colour)}".encode()
        begin = ""


FORMAT = OutputFormat(sentences, media_type=None)
