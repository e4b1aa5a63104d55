"""A survey of a treebank: the counts that the choices of a build depend on."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ropewalk import encodings
from ropewalk.core.letters import lower
from ropewalk.decoding.expected import LONGEST
from ropewalk.laboratory.coverage import restricted
from ropewalk.models import tag_columns
from ropewalk.models.tags import classes, tag_sets
from ropewalk.models.vocabulary import own_affixes
from ropewalk.scoring.attachment import score
from ropewalk.segmentation.alignment import joins
from ropewalk.segmentation.tokens import tokens_of
from ropewalk.training.examples import bad_sentences
from ropewalk.training.mixing import PRESENT, filled
from ropewalk.treebank.features import NONE
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ropewalk.autobuild.treebank_files import TreebankData

UNSPACED = 0.5  # share of gaps between words without a space from which on a script counts as unspaced
LARGE = 2_650_000  # bytes of a model; rare words and affixes are left out to stay below
FIXED, UNSPACED_MORE = 1_450_000, 500_000  # bytes of every model, and of the larger segmenter of text without spaces
A_WORD, A_CHARACTER = 75, 200  # the vectors of a word or affix, and of a character
A_TAG_SET, A_CLASS = 16_000, 132  # classifiers of tags
OF_TEXT = 0.8  # each byte of distinct forms and their lemmas
FEWEST = 2_000  # words and affixes
MOST_RULES = 1_000  # that derive lemmas
ENOUGH = 1000  # words of development data that suffice to measure coverage
_RIGHT_TO_LEFT = frozenset({"R", "AL"})


@dataclass(frozen=True, slots=True)
class TextCounts:
    """Counts of tokens and spaces in the train data, for the choices of a segmenter."""

    multiwords: int = 0  # multiword tokens,
    multiword_kinds: int = 0  # and distinct ones
    spaced: int = 0  # tokens with spaces inside
    unspaced: float = 0.0  # fraction of gaps between two words, not punctuation, without a space
    closed: int = 0  # tokens without a space after them
    texts: int = 0  # sentences with a running text,
    other_texts: int = 0  # and those of them whose tokens and spaces differ from it


@dataclass(frozen=True, slots=True)
class TreebankCounts:
    """Counts of the train data of one of several treebanks.

    `dropped` is the number of sentences that are also in dev or test data. `lacking` are the tag columns that it lacks
    and the main one has. `apart` is the reason why the segmenter does not learn from it, or empty.
    """

    name: str
    sentences: int
    words: int
    dropped: int
    lacking: tuple[str, ...] = ()
    apart: str = ""


@dataclass(frozen=True, slots=True)
class Survey:
    """Counts over a treebank's train data, on which the plan of a build depends; fractions are from 0 to 1.

    `coverage` is the LAS of trees that were encoded and decoded again, by encoding. With several treebanks, the counts
    are over all of them, except those of text, script and columns, which are over the main one. `treebanks` has the
    counts of each, the main one first; it is empty if there is one.
    """

    sentences: int
    words: int
    dev_sentences: int
    dev_words: int
    longest: int
    text: TextCounts
    unsummed: float = 0.0  # share of words in sentences that are too long for sums over trees
    held_out: bool = False
    has_test: bool = True
    bad_trees: int = 0
    columns: Mapping[str, float] = field(default_factory=dict)  # fraction of words with a value, by tag column
    features: int = 0  # distinct values of FEATS
    least_count: int = 2  # occurrences of a known word or affix,
    least_rules: int = 2  # and of a lemma rule, so that models stay small
    crowded: bool = False  # whether forms, lemmas and tags leave little space for words and affixes
    script: str = ""
    right_to_left: bool = False
    graphs: bool = False
    coverage: Mapping[str, float] = field(default_factory=dict)
    covered_part: str = "dev"  # the part that coverage was measured on
    treebanks: tuple[TreebankCounts, ...] = ()

    @property
    def spaced(self) -> float:
        """The number of tokens with spaces inside, as a fraction of the main treebank's words."""
        return self.text.spaced / max(self.main_words, 1)

    @property
    def main_words(self) -> int:
        """The number of words of train in the main treebank."""
        return self.treebanks[0].words if self.treebanks else self.words

    @property
    def segmenter_words(self) -> int:
        """The number of words that the segmenter learns from."""
        return (
            sum(treebank.words for treebank in self.treebanks if not treebank.apart) if self.treebanks else self.words
        )


def survey(data: TreebankData, candidates: Sequence[str]) -> Survey:
    """Return the counts over a treebank, and the empirical coverage of the encodings in `candidates`.

    Coverage is measured on dev data, or on train data if dev data are too few or have invalid trees.
    """
    main, bank = data.train, data.learnt
    bad = bad_sentences(bank)
    good = bank.select([number for number in range(len(bank)) if number not in bad]) if bad else bank
    measured = data.dev if data.dev.words >= ENOUGH and not bad_sentences(data.dev) else good
    script, right_to_left = _script(main)
    text = _text(main)
    most = _most_known(bank, text)
    return Survey(
        sentences=len(bank),
        words=bank.words,
        dev_sentences=len(data.dev),
        dev_words=data.dev.words,
        longest=int(bank.lengths.max(initial=0)),
        text=text,
        unsummed=float(bank.lengths[bank.lengths > LONGEST].sum() / max(bank.words, 1)),
        held_out=data.held_out,
        has_test=data.test is not None,
        bad_trees=len(bad),
        columns={name: filled(main, name) for name in tag_columns.OWN},
        features=len(set(bank.column("feats").names) - {NONE}),
        least_count=_least_known(bank, max(most, FEWEST)),
        crowded=most < FEWEST,
        least_rules=_least_rules(bank),
        script=script,
        right_to_left=right_to_left,
        graphs=_has_graphs(main),
        coverage={name: coverage(name, good, measured) for name in candidates} if len(good) else {},
        covered_part="dev" if measured is data.dev else "train",
        treebanks=_treebanks(data) if data.others else (),
    )


def _least_rules(bank: Treebank) -> int:
    """Return the least count of at least 2 which at most `MOST_RULES` of a treebank's lemma rules reach."""
    return _least_count(np.bincount(classes(bank, "lemma").ids).tolist(), MOST_RULES)


def _most_known(bank: Treebank, text: TextCounts) -> int:
    """Return the number of words and affixes with which a model has about `LARGE` bytes."""
    forms = bank.column("form")
    pairs = {*zip(forms.texts(), bank.column("lemma").texts(), strict=True)}
    present = [name for name in tag_columns.OWN if filled(bank, name) >= PRESENT]
    sets = tag_sets(bank, present, least_rules=_least_rules(bank), feats="auto")
    left = LARGE - FIXED - (UNSPACED_MORE if text.unspaced >= UNSPACED else 0)
    left -= A_CHARACTER * len(set("".join(forms.names)))
    left -= sum(A_TAG_SET + A_CLASS * len(names) for _, names in sets)
    left -= round(OF_TEXT * sum(len(form.encode()) + len(lemma.encode()) for form, lemma in pairs))
    return left // A_WORD


def _least_known(bank: Treebank, most: int) -> int:
    """Return the least count of at least 2 which at most `most` words and affixes reach."""
    forms = bank.column("form")
    counts: Counter[str] = Counter()
    for form, count in zip(forms.names, np.bincount(forms.ids, minlength=len(forms.names)).tolist(), strict=True):
        counts[lower(form)] += count
        for part in own_affixes(form):
            counts[part] += count
    return _least_count(counts.values(), most)


def _least_count(counts: Iterable[int], most: int) -> int:
    """Return the least number of at least 2 which at most `most` of the counts reach."""
    reached = sorted(counts, reverse=True)
    return max(2, reached[most] + 1) if len(reached) > most else 2


def _treebanks(data: TreebankData) -> tuple[TreebankCounts, ...]:
    """Return the counts of each of several treebanks, the main one first."""
    columns = [name for name in tag_columns.OWN if filled(data.train, name) >= PRESENT]
    rows = [TreebankCounts(data.name, len(data.train), data.train.words, data.dropped)]
    for other in data.others:
        if not data.code or other.code != data.code:
            apart = "another language"
        else:
            text = _text(other.train)
            apart = "" if text.closed or text.texts else "no spaces told"
        lacking = tuple(name for name in columns if filled(other.train, name) < PRESENT)
        rows.append(TreebankCounts(other.name, len(other.train), other.train.words, other.dropped, lacking, apart))
    return tuple(rows)


def coverage(name: str, train: Treebank, bank: Treebank) -> float:
    """Return the empirical coverage of the encoding `name` on `bank`: the LAS of its trees, encoded and decoded again.

    Only labels and relations that occur in `train` are used.
    """
    encoding = encodings.get(name)
    labels, *_ = restricted(encoding.encode(bank), encoding.encode(train))
    back = encoding.recover(labels, repair_policy="nearest")
    return score(bank, Treebank.of(back.trees)).las


def _has_graphs(bank: Treebank) -> bool:
    column = bank.column("deps")
    return any(column.names[number] != NONE for number in np.unique(column.ids).tolist())


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
        text = bank.heading(number).text
        if text is not None:
            texts += 1
            written = "".join(token.text + token.after for token in sentence.tokens)
            other += text.split() != written.split()
    return TextCounts(multiwords, len(kinds), spaced, together / max(apart + together, 1), closed, texts, other)


def _is_of_words(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMN"  # letters, marks on them, digits


def _script(bank: Treebank) -> tuple[str, bool]:
    """Return the name of the most frequent script of a treebank's letters, and whether most run right to left."""
    column = bank.column("form")
    counts = np.bincount(column.ids, minlength=len(column.names)).tolist()
    letters: Counter[str] = Counter()
    for text, count in zip(column.names, counts, strict=True):
        for character in filter(str.isalpha, text):
            letters[character] += count
    scripts: Counter[str] = Counter()
    backwards = 0
    for character, count in letters.items():
        scripts[unicodedata.name(character, "unknown").split()[0].capitalize()] += count
        backwards += count * (unicodedata.bidirectional(character) in _RIGHT_TO_LEFT)
    most = scripts.most_common(1)
    return (most[0][0] if most else "", 2 * backwards > letters.total())
