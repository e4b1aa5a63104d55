"""The spaCy component: `nlp.add_pipe("ropewalk")` adds Ropewalk's trees to spaCy's tokens."""

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
from ropewalk.treebank.phrases import phrase_spans
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


class _Words(NamedTuple):
    """A document, the token indices of its words (tokens that are not spaces), and its sentence lengths in words."""

    doc: Doc
    places: Numbers
    lengths: list[int]


@final
class Component:
    """spaCy component that sets heads, relations and predicted tags of tokens, and the sentences of documents.

    With `set_pos`, predicted tags are written to `pos_`, `tag_`, `morph` and `lemma_` of tokens; without it, tags are
    left to other components. If a document has sentence boundaries already, they are kept; otherwise the segmenter of
    the model finds them. `doc.noun_chunks` follows the relations of UD.

    A token that consists of spaces is attached to the word before it, or else to the first word of the document. Its
    relation is `dep`, as in spaCy's own parser; without a relation, spaCy would count it as a root.
    """

    def __init__(self, parser: Parser, *, set_pos: bool = True) -> None:
        self.parser = parser
        self.set_pos = set_pos
        for name in (PROBABILITY, TAG_PROBABILITIES):
            if not Token.has_extension(name):
                Token.set_extension(name, default=None)

    def __call__(self, doc: Doc) -> Doc:
        """Parse a document; write the result to its tokens and return it."""
        return next(self._parsed([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Yield the documents of `stream` in order, parsed in batches of `batch_size` documents."""
        for docs in grouped(stream, lambda _: 1, batch_size):
            yield from self._parsed(docs)

    def to_bytes(self, **_: object) -> bytes:
        """Return empty bytes: there is nothing to store, because the pipeline's configuration names the model."""
        return b""

    def from_bytes(self, _data: bytes, **_: object) -> Component:
        """Return the component as it is: the configuration names the model."""
        return self

    def to_disk(self, _path: str | os.PathLike[str], **_: object) -> None:
        """Write nothing: the pipeline's configuration names the model."""

    def from_disk(self, _path: str | os.PathLike[str], **_: object) -> Component:
        """Return the component as it is: the configuration names the model."""
        return self

    def _parsed(self, docs: list[Doc]) -> Iterator[Doc]:
        words = [np.array([token.i for token in doc if not token.is_space], dtype=np.int64) for doc in docs]
        documents = [_Words(doc, some, self._lengths(doc, some)) for doc, some in zip(docs, words, strict=True)]
        for document, outcome in zip(documents, together(documents, self._trees), strict=True):
            if isinstance(outcome, Exception):
                raise outcome
            if document.lengths:
                first, last = outcome.sentences.start, outcome.sentences.stop
                where = slice(*outcome.bank.offsets.array[[first, last]].tolist())
                offsets = outcome.bank.offsets.between(first, last)
                self._write(document.doc, document.places, offsets, outcome.bank, where)
            yield document.doc

    def _trees(self, documents: Sequence[_Words]) -> tuple[Treebank, list[int]]:
        """Parse the words of all documents together; return the treebank, and the sentence count of each document."""
        forms = [document.doc[i].text for document in documents for i in document.places.tolist()]
        offsets = Offsets.of_lengths([length for document in documents for length in document.lengths])
        bank = self.parser.treebank(Treebank.of_words(Column.of(forms), offsets))
        return bank, [len(document.lengths) for document in documents]

    def _lengths(self, doc: Doc, words: Numbers) -> list[int]:
        """Return the number of words of each sentence of `doc`; `words` holds the token indices of its words.

        Sentence boundaries come from the document, else from the segmenter; without both, there is one sentence.
        """
        if not len(words):
            return []
        if doc.has_annotation("SENT_START"):
            starts = [sentence.start for sentence in doc.sents]
            first = np.searchsorted(words, starts)
        elif self.parser.segmenter is None:
            first = np.zeros(1, dtype=np.int64)
        else:
            bank, _ = self.parser.segmenter.segment_many([doc.text])
            begun = bank.surface.starts[bank.surface.offsets(bank.offsets).starts]
            first = np.searchsorted([doc[i].idx for i in words.tolist()], begun)
        bounds = np.unique(np.concatenate([[0], first, [len(words)]]))
        return [int(length) for length in np.diff(bounds)]

    def _write(self, doc: Doc, words: Numbers, offsets: Offsets, bank: Treebank, where: slice) -> None:
        """Write trees, tags and probabilities to the tokens of `doc`.

        `words` holds the token indices of the words, `where` selects these words in the parsed treebank `bank`, and
        `offsets` are the offsets of sentences, counted from the first of these words.
        """
        heads = bank.heads[where].astype(np.int64)
        before = np.repeat(offsets.starts, offsets.lengths)
        above = np.where(heads > 0, heads - 1 + before, np.arange(len(words)))
        # A token of space is attached to the last word before it, or to the first word.
        target = words[np.maximum(np.searchsorted(words, np.arange(len(doc)), side="right") - 1, 0)]
        target[words] = words[above]
        add = doc.vocab.strings.add
        columns = {HEAD: (target - np.arange(len(doc))).view(np.uint64), DEP: np.full(len(doc), add("dep"), np.uint64)}
        columns[DEP][words] = _numbers(
            bank.relations[where], lambda name: add("ROOT" if is_root_relation(name) else name)
        )
        if self.set_pos:
            columns |= self._tags(doc, words, bank, where)
        doc.noun_chunks_iterator = noun_chunks  # type: ignore[attr-defined] # missing in spaCy's types
        doc.from_array(list(columns), cast("Ints2d", np.stack(list(columns.values()), axis=1)))
        probabilities = bank.probabilities
        if probabilities is not None and probabilities.arcs is not None:
            for i, probability in zip(words.tolist(), probabilities.arcs[where].tolist(), strict=True):
                doc[i]._.set(PROBABILITY, probability)
        if probabilities is not None and probabilities.tags:
            rows = np.stack([column[where] for column in probabilities.tags.values()], axis=1).tolist()
            for i, row in zip(words.tolist(), rows, strict=True):
                doc[i]._.set(TAG_PROBABILITIES, dict(zip(probabilities.tags, row, strict=True)))

    @staticmethod
    def _tags(doc: Doc, words: Numbers, bank: Treebank, where: slice) -> dict[int, npt.NDArray[np.uint64]]:
        """Return for each spaCy attribute the ids of its values for all tokens of `doc`.

        Words get the ids of predicted tags. Tokens that consist of spaces get the tags that spaCy uses for them.
        """
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
    """Return spaCy's id for the text of each word in a column; `number` returns the id of a text."""
    numbers: npt.NDArray[np.uint64] = np.array([number(name) for name in column.names], dtype=np.uint64)[column.ids]
    return numbers


def noun_chunks(doclike: Doc | Span) -> Iterator[tuple[int, int, int]]:
    """Yield (start, end, label) for each noun phrase that is not inside another.

    `start` is the index of its first token, and `end` the index after its last token. `label` is spaCy's id of the text
    `NP`. Noun phrases are found from the relations of UD. `doc.noun_chunks` uses this function in all documents that
    Ropewalk parses. For documents that were stored and read again, set `doc.noun_chunks_iterator` to this function.
    """
    tokens = [*doclike]
    if not tokens:
        return
    doc, label = doclike.doc, doclike.doc.vocab.strings.add("NP")
    first = tokens[0].sent.start
    words = doc[first : tokens[-1].sent.end]
    heads = [0 if word.head == word else word.head.i - first + 1 for word in words]
    for span in phrase_spans(heads, [word.dep_ for word in words], [word.pos_ for word in words]):
        if tokens[0].i <= first + span.head <= tokens[-1].i:
            yield first + span.first, first + span.end, label
