"""Ropewalk in spaCy: `nlp.add_pipe("ropewalk")` puts our trees over spaCy's tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast, final

import numpy as np
from spacy.attrs import DEP, HEAD, LEMMA, MORPH, POS, TAG
from spacy.parts_of_speech import IDS
from spacy.tokens import Token

from ropewalk.batches import grouped, together
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets
from ropewalk.core.trees import is_root_relation
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy.typing as npt
    from spacy.tokens import Doc, Span
    from thinc.types import Ints2d

    from ropewalk.pipeline import Parser

    Numbers = npt.NDArray[np.int64]

PROBABILITY = "probability"  # token._.probability
TAG_PROBABILITIES = "tag_probabilities"  # token._.tag_probabilities, by the name of the column
NOMINAL = {  # relations of what is a noun phrase of its own
    "nsubj", "obj", "iobj", "obl", "nmod", "appos", "vocative", "dislocated", "expl", "list", "parataxis", "ROOT",
}  # fmt: skip
INNER = {
    "det",
    "amod",
    "nummod",
    "compound",
    "nmod",
    "flat",
    "clf",
    "goeswith",
    "punct",
    "advmod",
}  # of one, on its left


class _Words(NamedTuple):
    """The places of a document's words among its tokens, and the lengths of its sentences."""

    doc: Doc
    places: Numbers
    lengths: list[int]


@final
class Component:
    """Gives each token its head, relation and whatever tags the model has, and each document its sentences.

    With `set_pos` these are `pos_`, `tag_`, `morph` and `lemma_`, else none, for pipelines that have their own.
    Sentences that a document has already are kept; otherwise our segmenter finds them. A token of space hangs on the
    word before it, or on the first of the document, with the relation `dep`, as it does in spaCy's own parser: without
    a relation it would count as a root. The documents' `noun_chunks` go by our relations, which are UD's.
    """

    def __init__(self, parser: Parser, *, set_pos: bool = True) -> None:
        self.parser = parser
        self.set_pos = set_pos
        for name in (PROBABILITY, TAG_PROBABILITIES):
            if not Token.has_extension(name):
                Token.set_extension(name, default=None)

    def __call__(self, doc: Doc) -> Doc:
        """Parse one document."""
        return next(self._parsed([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Parse many documents, so many at a time."""
        for docs in grouped(stream, lambda _: 1, batch_size):
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

    def _parsed(self, docs: list[Doc]) -> Iterator[Doc]:
        words = [np.array([token.i for token in doc if not token.is_space], dtype=np.int64) for doc in docs]
        given = [_Words(doc, some, self._lengths(doc, some)) for doc, some in zip(docs, words, strict=True)]
        for one, outcome in zip(given, together(given, self._trees), strict=True):
            if isinstance(outcome, Exception):
                raise outcome
            if one.lengths:
                first, last = outcome.sentences.start, outcome.sentences.stop
                where = slice(*outcome.bank.offsets.array[[first, last]].tolist())
                self._write(one.doc, one.places, outcome.bank.offsets.between(first, last), outcome.bank, where)
            yield one.doc

    def _trees(self, given: Sequence[_Words]) -> tuple[Treebank, list[int]]:
        """Parse the words of documents."""
        forms = [one.doc[i].text for one in given for i in one.places.tolist()]
        offsets = Offsets.of_lengths([length for one in given for length in one.lengths])
        bank = self.parser.treebank(Treebank.of_words(Column.of(forms), offsets))
        return bank, [len(one.lengths) for one in given]

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
            begun = found.surface.starts[found.surface.offsets(found.offsets).starts]
            first = np.searchsorted([doc[i].idx for i in words.tolist()], begun)
        bounds = np.unique(np.concatenate([[0], first, [len(words)]]))
        return [int(length) for length in np.diff(bounds)]

    def _write(self, doc: Doc, words: Numbers, offsets: Offsets, bank: Treebank, where: slice) -> None:
        """Put the trees of a document's words over its tokens."""
        heads = bank.heads[where].astype(np.int64)
        before = np.repeat(offsets.starts, offsets.lengths)
        above = np.where(heads > 0, heads - 1 + before, np.arange(len(words)))
        # A token of space hangs on the last word before it, or on the first there is.
        target = words[np.maximum(np.searchsorted(words, np.arange(len(doc)), side="right") - 1, 0)]
        target[words] = words[above]
        add = doc.vocab.strings.add
        columns = {HEAD: (target - np.arange(len(doc))).view(np.uint64), DEP: np.full(len(doc), add("dep"), np.uint64)}
        columns[DEP][words] = _numbers(
            bank.relations[where], lambda name: add("ROOT" if is_root_relation(name) else name)
        )
        if self.set_pos:
            columns |= self._tags(doc, words, bank, where)
        doc.noun_chunks_iterator = noun_chunks  # type: ignore[attr-defined] # spaCy's types leave it out
        doc.from_array(list(columns), cast("Ints2d", np.stack(list(columns.values()), axis=1)))
        found = bank.probabilities
        if found is not None and found.arcs is not None:
            for i, share in zip(words.tolist(), found.arcs[where].tolist(), strict=True):
                doc[i]._.set(PROBABILITY, share)
        if found is not None and found.tags:
            rows = np.stack([column[where] for column in found.tags.values()], axis=1).tolist()
            for i, shares in zip(words.tolist(), rows, strict=True):
                doc[i]._.set(TAG_PROBABILITIES, dict(zip(found.tags, shares, strict=True)))

    @staticmethod
    def _tags(doc: Doc, words: Numbers, bank: Treebank, where: slice) -> dict[int, npt.NDArray[np.uint64]]:
        """Number the tags that the model gave; tokens of space have what spaCy gives them."""
        add = doc.vocab.strings.add
        kinds: dict[str, tuple[int, Callable[[str], int], Sequence[int]]] = {
            "upos": (POS, lambda name: IDS.get(name, 0), [IDS["SPACE"]] * len(doc)),
            "xpos": (TAG, add, [add("_SP")] * len(doc)),
            "feats": (MORPH, doc.vocab.morphology.add, [0] * len(doc)),
            "lemma": (LEMMA, add, [token.orth for token in doc]),
        }
        out = {}
        for name in kinds.keys() & bank.columns.keys():
            attribute, number, spaces = kinds[name]
            out[attribute] = np.array(spaces, dtype=np.uint64)
            out[attribute][words] = _numbers(bank.column(name)[where], number)
        return out


def _numbers(column: Column, number: Callable[[str], int]) -> npt.NDArray[np.uint64]:
    """Give the numbers that spaCy has for the texts of a column."""
    numbers: npt.NDArray[np.uint64] = np.array([number(name) for name in column.names], dtype=np.uint64)[column.ids]
    return numbers


def noun_chunks(doclike: Doc | Span) -> Iterator[tuple[int, int, int]]:
    """Find noun phrases without those inside of them, by the relations of UD: first token, end, and the label NP.

    `doc.noun_chunks` does so in all documents that we parse. Set `doc.noun_chunks_iterator` to this where one was
    stored and read again.
    """
    label = doclike.doc.vocab.strings.add("NP")
    end = 0  # of the last one
    for word in doclike:
        if word.pos_ in {"NOUN", "PROPN", "PRON"} and _is_nominal(word):
            start = _first(word)
            if start >= end:
                end = word.i + 1
                yield start, end, label


def _is_nominal(word: Token) -> bool:
    """Tell whether a noun begins a phrase: what stands before the noun that it modifies is part of that one's."""
    while word.dep_ == "conj" and word.head.i < word.i:
        word = word.head
    relation, _, subtype = word.dep_.partition(":")
    return relation in NOMINAL and subtype != "poss" and (relation != "nmod" or word.head.i < word.i)


def _first(word: Token) -> int:
    """Find the first token of a noun's phrase: articles, adjectives and the like, no prepositions."""
    start = word.i
    for child in reversed([*word.lefts]):
        if child.dep_.partition(":")[0] not in INNER or child.right_edge.i != start - 1:
            break
        start = child.left_edge.i
    while start < word.i and word.doc[start].dep_.partition(":")[0] in {"punct", "advmod", "case", "cc"}:
        start += 1
    return start
