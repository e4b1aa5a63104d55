"""Ropewalk in spaCy: `nlp.add_pipe("ropewalk")` puts our trees over spaCy's tokens."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, cast, final

import numpy as np
from spacy.attrs import DEP, HEAD, POS
from spacy.parts_of_speech import IDS
from spacy.tokens import Token

from ropewalk.treebank import Column, Treebank, starts_of

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    import numpy.typing as npt
    from spacy.tokens import Doc
    from thinc.types import Ints2d

    from ropewalk.pipeline import Parser

    Numbers = npt.NDArray[np.int64]

PROBABILITY = "probability"  # token._.probability


@final
class Component:
    """Gives each token its head, relation and part of speech, and each document its sentences.

    Sentences that a document has already are kept; otherwise our segmenter finds them. A token of space hangs on the
    word before it, or on the first of the document, with the relation `dep`, as it does in spaCy's own parser: without
    a relation it would count as a root.
    """

    def __init__(self, parser: Parser, *, set_pos: bool = True) -> None:
        self.parser = parser
        self.set_pos = set_pos
        if not Token.has_extension(PROBABILITY):
            Token.set_extension(PROBABILITY, default=None)

    def __call__(self, doc: Doc) -> Doc:
        """Parse one document."""
        return self._parsed([doc])[0]

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Parse many documents, so many at a time."""
        waiting = iter(stream)
        while docs := list(itertools.islice(waiting, batch_size)):
            yield from self._parsed(docs)

    def to_bytes(self, **_: object) -> bytes:
        """Nothing to keep: the configuration names the model."""
        return b""

    def from_bytes(self, _data: bytes, **_: object) -> Component:
        """Nothing to read: the configuration names the model."""
        return self

    def to_disk(self, _path: str | os.PathLike[str], **_: object) -> None:
        """Nothing to keep: the configuration names the model."""

    def from_disk(self, _path: str | os.PathLike[str], **_: object) -> Component:
        """Nothing to read: the configuration names the model."""
        return self

    def _parsed(self, docs: list[Doc]) -> list[Doc]:
        found = [np.array([token.i for token in doc if not token.is_space], dtype=np.int64) for doc in docs]
        lengths = [self._lengths(doc, words) for doc, words in zip(docs, found, strict=True)]
        forms = [doc[i].text for doc, words in zip(docs, found, strict=True) for i in words.tolist()]
        bank = self.parser.treebank(
            Treebank.of_words(Column.of(forms), starts_of([length for some in lengths for length in some]))
        )
        sentence = word = 0
        for doc, words, some in zip(docs, found, lengths, strict=True):
            if some:
                offsets = bank.offsets[sentence : sentence + len(some) + 1].astype(np.int64) - word
                self._write(doc, words, offsets, bank, slice(word, word + len(words)))
            sentence, word = sentence + len(some), word + len(words)
        return docs

    def _lengths(self, doc: Doc, words: Numbers) -> list[int]:
        """Count the words of each sentence."""
        if not len(words):
            return []
        if doc.has_annotation("SENT_START"):
            starts = [sentence.start for sentence in doc.sents]
            first = np.searchsorted(words, starts)
        elif self.parser.segmenter is None:
            first = np.zeros(1, dtype=np.int64)
        else:
            found, _ = self.parser.segmenter.segment_many([doc.text])
            begun = found.surface.starts[found.surface.offsets(found.offsets[:-1])]
            first = np.searchsorted([doc[i].idx for i in words.tolist()], begun)
        bounds = np.unique(np.concatenate([[0], first, [len(words)]]))
        return [int(length) for length in np.diff(bounds)]

    def _write(self, doc: Doc, words: Numbers, offsets: Numbers, bank: Treebank, where: slice) -> None:
        """Put the trees of a document's words over its tokens."""
        heads = bank.heads[where].astype(np.int64)
        before = np.repeat(offsets[:-1], np.diff(offsets))
        above = np.where(heads > 0, heads - 1 + before, np.arange(len(words)))
        # A token of space hangs on the last word before it, or on the first there is.
        target = words[np.maximum(np.searchsorted(words, np.arange(len(doc)), side="right") - 1, 0)]
        target[words] = words[above]
        table = np.zeros((len(doc), 3), dtype=np.uint64)
        table[:, 0] = (target - np.arange(len(doc))).view(np.uint64)
        strings = doc.vocab.strings
        table[:, 1] = strings.add("dep")
        names = ["ROOT" if name == "root" else name for name in bank.relations.names]  # as spaCy names it
        table[words, 1] = np.array([strings.add(name) for name in names], dtype=np.uint64)[bank.relations.ids[where]]
        table[:, 2] = IDS["SPACE"]
        tags = bank.column("upos")[where]
        table[words, 2] = np.array([IDS.get(name, 0) for name in tags.names], dtype=np.uint64)[tags.ids]
        columns = [HEAD, DEP, POS] if self.set_pos else [HEAD, DEP]
        doc.from_array(columns, cast("Ints2d", np.ascontiguousarray(table[:, : len(columns)])))
        found = bank.probabilities
        if found is not None and found.arcs is not None:
            for i, share in zip(words.tolist(), found.arcs[where].tolist(), strict=True):
                doc[i]._.set(PROBABILITY, share)
