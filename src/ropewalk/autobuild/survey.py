"""What a treebank holds, as far as the choices of a build depend on it."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ropewalk import encodings
from ropewalk.laboratory.coverage import restricted
from ropewalk.models.tags import TAGS
from ropewalk.scoring.attachment import score
from ropewalk.segmentation.alignment import joins
from ropewalk.segmentation.tokens import tokens_of
from ropewalk.training.examples import bad_sentences
from ropewalk.treebank.features import NONE
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ropewalk.autobuild.treebank_files import TreebankData

ENOUGH = 1000  # words of development data that coverage can be measured on
_RIGHT_TO_LEFT = frozenset({"R", "AL"})


@dataclass(frozen=True, slots=True)
class TextCounts:
    """What raw text depends on."""

    multiwords: int = 0  # multiword tokens,
    multiword_kinds: int = 0  # and how many different ones
    spaced: int = 0  # tokens with spaces inside
    unspaced: float = 0.0  # share of places between two words, not punctuation, without a space
    closed: int = 0  # tokens without a space after them
    texts: int = 0  # sentences whose running text is given,
    other_texts: int = 0  # and those of them where tokens and spaces say something else


@dataclass(frozen=True, slots=True)
class Survey:
    """Counts over a treebank's train part; shares are from 0 to 1, and `coverage` is LAS by encoding."""

    sentences: int
    words: int
    dev_sentences: int
    dev_words: int
    longest: int
    text: TextCounts
    held_out: bool = False
    has_test: bool = True
    bad_trees: int = 0
    columns: Mapping[str, float] = field(default_factory=dict)  # share of words that have a value, by tag column
    features: int = 0  # distinct values of FEATS
    script: str = ""
    right_to_left: bool = False
    graphs: bool = False
    coverage: Mapping[str, float] = field(default_factory=dict)
    covered_part: str = "dev"  # what coverage was measured on

    @property
    def spaced(self) -> float:
        """The share of words that have spaces inside."""
        return self.text.spaced / max(self.words, 1)


def survey(data: TreebankData, candidates: Sequence[str]) -> Survey:
    """Look at a treebank, and measure how much of its trees comes back from the labels of some encodings."""
    bank = data.train
    bad = bad_sentences(bank)
    good = bank.select([number for number in range(len(bank)) if number not in bad]) if bad else bank
    measured = data.dev if data.dev.words >= ENOUGH and not bad_sentences(data.dev) else good
    script, right_to_left = _script(bank)
    return Survey(
        sentences=len(bank),
        words=bank.words,
        dev_sentences=len(data.dev),
        dev_words=data.dev.words,
        longest=int(bank.lengths.max(initial=0)),
        text=_text(bank),
        held_out=data.held_out,
        has_test=data.test is not None,
        bad_trees=len(bad),
        columns={name: _filled(bank, name) for name in TAGS},
        features=len(set(bank.column("feats").names) - {NONE}),
        script=script,
        right_to_left=right_to_left,
        graphs=_filled(bank, "deps") > 0,
        coverage={name: coverage(name, good, measured) for name in candidates} if len(good) else {},
        covered_part="dev" if measured is data.dev else "train",
    )


def coverage(name: str, train: Treebank, bank: Treebank) -> float:
    """Give the LAS that is left of trees that were written as labels and relations that train has, and read again."""
    encoding = encodings.get(name)
    labels, *_ = restricted(encoding.encode(bank), encoding.encode(train))
    back = encoding.recover(labels, repair_policy="nearest")
    return score(bank, Treebank.of(back.trees)).las


def _filled(bank: Treebank, name: str) -> float:
    column = bank.column(name)
    empty = np.array([text == NONE for text in column.names], dtype=np.bool_)
    return float(1.0 - empty[column.ids].mean()) if len(column) else 0.0


def _text(bank: Treebank) -> TextCounts:
    kinds = set()
    multiwords = spaced = closed = texts = other = apart = together = 0
    for number, sentence in enumerate(tokens_of(bank)):
        for token in sentence.tokens:
            multiwords += len(token.words) > 1
            if len(token.words) > 1:
                kinds.add(token.text.lower())
            spaced += bool(joins(token.text))
            closed += not token.after
        for first, second in pairwise(sentence.tokens):
            if _is_of_words(first.text[-1]) and _is_of_words(second.text[0]):
                apart += bool(first.after)
                together += not first.after
        given = bank.heading(number).text
        if given is not None:
            texts += 1
            written = "".join(token.text + token.after for token in sentence.tokens)
            other += given.split() != written.split()
    return TextCounts(multiwords, len(kinds), spaced, together / max(apart + together, 1), closed, texts, other)


def _is_of_words(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMN"  # letters, marks on them, digits


def _script(bank: Treebank) -> tuple[str, bool]:
    """Name the script of most letters, and tell whether it runs from right to left."""
    column = bank.column("form")
    counts = np.bincount(column.ids, minlength=len(column.names)).tolist()
    letters: Counter[str] = Counter()
    for text, count in zip(column.names, counts, strict=True):
        for one in text:
            if one.isalpha():
                letters[one] += count
    scripts: Counter[str] = Counter()
    backwards = 0
    for one, count in letters.items():
        scripts[unicodedata.name(one, "unknown").split()[0].capitalize()] += count
        backwards += count * (unicodedata.bidirectional(one) in _RIGHT_TO_LEFT)
    most = scripts.most_common(1)
    return (most[0][0] if most else "", 2 * backwards > letters.total())
