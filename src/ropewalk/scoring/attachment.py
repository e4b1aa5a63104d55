"""Attachment scores of treebanks over the same words, each named after what it averages over.

UAS counts words with the right head, LAS words with the right head and relation. Over words, every word has the same
weight; over sentences, every sentence, as in the paper. UM and LM are the fractions of sentences in which all heads, or
all heads and relations, are right. CLAS is the F1 of LAS over words with a content relation (Nivre & Fang 2017).
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Self, get_args, overload

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import frozen_ints
from ropewalk.errors import FormatError, MismatchError, OptionError, UnknownNameError, demand_type
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ropewalk.core.arrays import Bools, Ints
    from ropewalk.core.columns import Column

Floats = npt.NDArray[np.float64]
PunctuationBy = Literal["relation", "upos", "xpos", "form"]
Measure = Literal["uas", "las", "clas", "uas_sentences", "las_sentences", "um", "lm"]

MEASURES: Final[tuple[Measure, ...]] = get_args(Measure)
NAMES: Final[Mapping[Measure, str]] = MappingProxyType(
    {
        "uas": "UAS over words",
        "las": "LAS over words",
        "clas": "CLAS",
        "uas_sentences": "UAS over sentences",
        "las_sentences": "LAS over sentences",
        "um": "UM",
        "lm": "LM",
    }
)
CONTENT: Final = frozenset({
    "nsubj", "obj", "iobj", "csubj", "ccomp", "xcomp", "obl", "vocative", "expl", "dislocated", "advcl",
    "advmod", "discourse", "nmod", "appos", "nummod", "acl", "amod", "conj", "fixed", "flat", "compound",
    "list", "parataxis", "orphan", "goeswith", "reparandum", "root", "dep",
})  # fmt: skip


PENN_PUNCTUATION: Final = frozenset({"``", "''", ":", ",", "."})


def is_punctuation(form: str) -> bool:
    """Return whether a word consists of punctuation alone, by Unicode's categories."""
    return all(unicodedata.category(sign).startswith("P") for sign in form)


PUNCTUATION: Final[Mapping[PunctuationBy, Callable[[str], bool]]] = MappingProxyType(
    {
        "relation": "punct".__eq__,
        "upos": "PUNCT".__eq__,
        "xpos": PENN_PUNCTUATION.__contains__,
        "form": is_punctuation,
    }
)


@dataclass(frozen=True, slots=True)
class ScoringRules:
    """Rules of scoring: whether subtypes of relations and punctuation count.

    Without `subtypes`, `nsubj:pass` counts as `nsubj`. Without `punctuation`, words that are punctuation in gold are
    not scored. `punctuation_by` names the gold column that decides: the relation, the tag `upos` or `xpos`, or the
    `form`. `punctuation_list` has the values of that column that are punctuation. If it is empty, they are the relation
    `punct`, the tag `PUNCT`, the punctuation tags of the Penn Treebank, or forms of punctuation characters alone.
    """

    subtypes: bool = True
    punctuation: bool = True
    punctuation_by: PunctuationBy = "relation"
    punctuation_list: Sequence[str] = ()


class Parts(NamedTuple):
    """A score as a ratio of two sums over sentences: the numerator and denominator of each sentence."""

    numerators: Floats
    denominators: Floats

    @property
    def value(self) -> float:
        """The score: the sum of the numerators divided by that of the denominators, or NaN if the latter is 0."""
        below = float(self.denominators.sum())
        return float(self.numerators.sum()) / below if below else float("nan")


class _Score:
    """A property of `AttachmentScores`: the value of one measure."""

    def __init__(self, measure: Measure, doc: str) -> None:
        self._measure: Measure = measure
        self.__doc__ = doc

    @overload
    def __get__(self, scores: None, owner: type) -> Self: ...
    @overload
    def __get__(self, scores: AttachmentScores, owner: type) -> float: ...
    def __get__(self, scores: AttachmentScores | None, owner: type) -> Self | float:
        return self if scores is None else scores.parts(self._measure).value


@dataclass(frozen=True, slots=True, eq=False)
class AttachmentScores:
    """Counts of correct words in each sentence, and the scores computed from them, each from 0 to 1.

    Each array has one count for each sentence: counted `words`, right `heads`, right heads and relations in `labelled`;
    words with a content relation in gold (`content`), in the prediction (`content_predicted`), and those of gold that
    are right (`content_labelled`). Means over sentences leave out sentences without a counted word.
    """

    words: Ints
    heads: Ints
    labelled: Ints
    content: Ints
    content_predicted: Ints
    content_labelled: Ints

    def parts(self, measure: Measure) -> Parts:
        """Return the score `measure` as a numerator and a denominator for each sentence.

        Raise `UnknownNameError` if `measure` is unknown.
        """
        words = self.words.astype(np.float64)
        some = (self.words > 0).astype(np.float64)
        ratio: dict[Measure, Callable[[], tuple[npt.NDArray[Any], npt.NDArray[Any]]]] = {
            "uas": lambda: (self.heads, words),
            "las": lambda: (self.labelled, words),
            "clas": lambda: (2.0 * self.content_labelled, self.content + self.content_predicted),
            "uas_sentences": lambda: (self.heads / np.maximum(words, 1), some),
            "las_sentences": lambda: (self.labelled / np.maximum(words, 1), some),
            "um": lambda: (some * (self.heads == self.words), some),
            "lm": lambda: (some * (self.labelled == self.words), some),
        }
        if measure not in ratio:
            raise UnknownNameError("measure", measure, MEASURES)
        above, below = ratio[measure]()
        return Parts(above.astype(np.float64), below.astype(np.float64))

    uas = _Score("uas", "UAS over words.")
    las = _Score("las", "LAS over words.")
    uas_sentences = _Score("uas_sentences", "UAS over sentences.")
    las_sentences = _Score("las_sentences", "LAS over sentences.")
    um = _Score("um", "The fraction of sentences with all heads right.")
    lm = _Score("lm", "The fraction of sentences with all heads and relations right.")
    clas = _Score("clas", "F1 of LAS over words with a content relation.")


def score(  # noqa: PLR0913 - one keyword for each rule of scoring
    gold: Treebank,
    predicted: Treebank,
    *,
    subtypes: bool = True,
    punctuation: bool = True,
    punctuation_by: PunctuationBy = "relation",
    punctuation_list: Sequence[str] = (),
) -> AttachmentScores:
    """Return the attachment scores of predicted trees; `ScoringRules` explains the keywords.

    Both treebanks must have the same words. Otherwise, `MismatchError` names the first word that differs.
    """
    return scores_of(judge(gold, predicted, ScoringRules(subtypes, punctuation, punctuation_by, punctuation_list)))


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Judgements of each word: whether it is `counted`, its head is right (`heads`), its relation too (`labelled`).

    Words that are not counted are never right. `relations` are the gold relations and `guesses` the predicted ones,
    both as indices in `names`.
    """

    gold: Treebank
    predicted: Treebank
    rules: ScoringRules
    counted: Bools
    heads: Bools
    labelled: Bools
    relations: Ints
    guesses: Ints
    names: tuple[str, ...]


def judge(gold: Treebank, predicted: Treebank, rules: ScoringRules = ScoringRules()) -> Judged:  # noqa: B008 - a frozen value
    """Return for each word whether it is counted, and whether its predicted head and relation are right.

    Raise `MismatchError` if the words differ, and `FormatError` if a gold word has no head.
    """
    require_same_words(gold, predicted)
    missing = np.flatnonzero(gold.heads < 0)
    if len(missing):
        word = int(missing[0])
        sentence = gold.offsets.owner(word)
        raise FormatError(
            _name(gold, "gold"),
            0 if gold.source is None else gold.line(sentence, word),
            "missing-head",
            "HEAD is _; expected a head for every word of the gold trees",
            word=str(word - gold.offsets[sentence].start + 1),
        )
    if rules.punctuation_by not in PUNCTUATION:
        raise OptionError(f"punctuation_by is {rules.punctuation_by!r}; expected one of: {', '.join(PUNCTUATION)}")
    keep = np.ones(gold.words, dtype=np.bool_) if rules.punctuation else ~_punctuation(gold, rules)
    (ours, theirs), names = numbered([gold.relations, predicted.relations], str if rules.subtypes else without_subtype)
    heads = keep & (gold.heads == predicted.heads)
    labelled = heads & (ours == theirs)
    return Judged(gold, predicted, rules, keep, heads, labelled, ours, theirs, names)


def scores_of(judged: Judged) -> AttachmentScores:
    """Return the number of counted words and of right words in each sentence."""
    content = np.array([without_subtype(name) in CONTENT for name in judged.names], dtype=np.bool_)
    ours = judged.counted & content[judged.relations]
    theirs = judged.counted & content[judged.guesses]
    masks = (judged.counted, judged.heads, judged.labelled, ours, theirs, ours & judged.labelled)
    return AttachmentScores(*(frozen_ints(judged.gold.offsets.sums(mask)) for mask in masks))


def without_subtype(relation: str) -> str:
    """Return a relation without its subtype: `nsubj` for `nsubj:pass`."""
    return relation.partition(":")[0]


def _punctuation(gold: Treebank, rules: ScoringRules) -> Bools:
    """Return for each word of `gold` whether it is punctuation according to `rules`."""
    by, listed = rules.punctuation_by, rules.punctuation_list
    test = frozenset(listed).__contains__ if listed else PUNCTUATION[by]
    if by == "relation":
        return holds(gold.relations, lambda name: test(name) or test(without_subtype(name)))
    return holds(gold.column(by), test)


def holds(column: Column, test: Callable[[str], bool]) -> Bools:
    """Return for every word whether its text in `column` passes `test`; each distinct text is tested once."""
    results: Bools = np.array([test(name) for name in column.names], dtype=np.bool_)[column.ids]
    return results


def numbered(columns: Sequence[Column], key: Callable[[str], str] = str) -> tuple[list[Ints], tuple[str, ...]]:
    """Return each column's texts as indices in one list of keys, and that list.

    Texts for which `key` returns the same text have the same index.
    """
    numbers: dict[str, int] = {}
    ids = [
        np.array([numbers.setdefault(key(name), len(numbers)) for name in column.names], dtype=np.int32)[column.ids]
        for column in columns
    ]
    return ids, tuple(numbers)


def require_same_words(gold: Treebank, predicted: Treebank) -> None:
    """Raise `MismatchError` unless two treebanks have the same words in the same sentences."""
    difference = first_difference(gold, predicted)
    if difference:
        raise MismatchError(difference)


def first_difference(gold: Treebank, predicted: Treebank) -> str | None:
    """Return a message about the first word where two treebanks differ, or None if they have the same words."""
    for bank in (gold, predicted):
        demand_type("treebanks to compare", bank, Treebank)
    alike = len(gold) == len(predicted) and gold.offsets == predicted.offsets
    if alike and gold.source is predicted.source and gold.columns.get("form") is predicted.columns.get("form"):
        return None
    most = min(len(gold), len(predicted))
    uneven = np.flatnonzero(gold.lengths[:most] != predicted.lengths[:most])
    even = int(uneven[0]) if len(uneven) else most
    words = int(gold.offsets.array[even])
    if gold.source is not None and predicted.source is not None:
        (ours, theirs), names = numbered([gold.column("form"), predicted.column("form")])
        differ = np.flatnonzero(ours[:words] != theirs[:words])
        if len(differ):
            word = int(differ[0])
            sentence = gold.offsets.owner(word)
            inner = word - gold.offsets[sentence].start
            return _parting(gold, predicted, sentence, inner, (names[ours[word]], names[theirs[word]]))
    if even < most:
        ours_here, theirs_here = gold[even].forms, predicted[even].forms
        both = min(len(ours_here), len(theirs_here))
        inner = next((i for i in range(both) if ours_here[i] != theirs_here[i]), both)
        return _parting(gold, predicted, even, inner, (*ours_here[inner : inner + 1], *theirs_here[inner : inner + 1]))
    if len(gold) != len(predicted):
        longer, role = (gold, "gold") if len(gold) > len(predicted) else (predicted, "predicted")
        return (
            f"{_name(gold, 'gold')} has {len(gold):,} sentences and {_name(predicted, 'predicted')} "
            f"{len(predicted):,}; sentence {most + 1}, at {_place(longer, role, most, 0)}, has no partner; "
            "expected the same sentences in both"
        )
    return None


def _parting(gold: Treebank, predicted: Treebank, sentence: int, inner: int, forms: tuple[str, ...]) -> str:
    """Return a message about the difference of two sentences at the word with index `inner`.

    `forms` has both forms of that word. If it has fewer, the message says that the lengths of the sentences differ.
    """
    where = (
        f"{_place(gold, 'gold', sentence, inner)} and {_place(predicted, 'predicted', sentence, inner)}: "
        f"sentence {sentence + 1}, word {inner + 1}: "
    )
    if len(forms) == 2:
        return where + f"{forms[0]!r} in the first is {forms[1]!r} in the second; expected the same words in both"
    first, second = int(gold.lengths[sentence]), int(predicted.lengths[sentence])
    return where + f"the sentence has {first} words in the first and {second} in the second; expected the same words"


def _name(bank: Treebank, role: str) -> str:
    return f"<{role}>" if bank.source is None else bank.source.file


def _place(bank: Treebank, role: str, sentence: int, inner: int) -> str:
    """Return the file and line of the word with index `inner`, or of the last word if the sentence is shorter."""
    if bank.source is None:
        return _name(bank, role)
    word = bank.offsets[sentence].start + min(inner, int(bank.lengths[sentence]) - 1)
    return f"{bank.file}:{bank.line(sentence, word)}"
