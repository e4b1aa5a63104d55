"""The scores of the CoNLL 2018 shared task, for files with different tokens and sentences.

The texts of both files must be the same without spaces. A token is a span of that text, and two tokens are the same if
their spans are. Words outside multiword tokens are aligned if their spans are equal. Around multiword tokens, words are
aligned with the longest common subsequence of their forms, within a span that no multiword token of either file extends
beyond. All other scores are over aligned words, with precision, recall and F1
(https://universaldependencies.org/conll18/evaluation.html). Relations count without subtypes, and only universal
features count.
"""

from __future__ import annotations

import itertools
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ropewalk.core.ragged import starts_of
from ropewalk.core.trees import check_heads
from ropewalk.errors import FormatError, MismatchError, RootError, demand_type
from ropewalk.scoring.attachment import CONTENT, holds, numbered, without_subtype
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from ropewalk.core.arrays import Bools
    from ropewalk.core.ragged import Places

FUNCTION: Final = frozenset({"aux", "cop", "mark", "det", "clf", "case", "cc"})
FEATURES: Final = frozenset({
    "PronType", "NumType", "Poss", "Reflex", "Foreign", "Abbr", "Gender", "Animacy", "Number", "Case",
    "Definite", "Degree", "VerbForm", "Mood", "Tense", "Aspect", "Voice", "Evident", "Polarity", "Person",
    "Polite",
})  # fmt: skip
SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Score:
    """One score: the number of its units (such as tokens) in `gold`, in the `system`'s file, and of `correct` ones.

    `aligned` is the number of aligned words that are scored, or None if the score is not over aligned words.
    """

    gold: int
    system: int
    correct: int
    aligned: int | None = None

    @property
    def precision(self) -> float:
        """The fraction of the system's units that are correct; 0 if it has none."""
        return self.correct / self.system if self.system else 0.0

    @property
    def recall(self) -> float:
        """The fraction of the gold units that the system found; 0 if there are none."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.correct / (self.gold + self.system) if self.gold + self.system else 0.0

    @property
    def aligned_accuracy(self) -> float | None:
        """The fraction of the aligned words that are correct; None if the score is not over aligned words."""
        if self.aligned is None:
            return None
        return self.correct / self.aligned if self.aligned else 0.0


def evaluate(gold: Treebank, system: Treebank) -> dict[str, Score]:
    """Return all scores of the shared task by name, in the order of its official table.

    Raise `FormatError` if a tree is invalid or a form is empty, and `MismatchError` if the texts differ.
    """
    for bank in (gold, system):
        demand_type("treebanks to compare", bank, Treebank)
    ours, theirs = _Side.of(gold), _Side.of(system)
    pairs = _align(ours, theirs)
    return {
        "Tokens": _spans(ours.tokens, theirs.tokens),
        "Sentences": _spans(ours.sentences, theirs.sentences),
        "Words": Score(gold.words, system.words, len(pairs)),
        **_word_scores(gold, system, pairs),
    }


def align(gold: Treebank, system: Treebank) -> Places:
    """Return the aligned words of two treebanks over the same text, as rows (gold word, system word).

    Words are indices over the whole treebank. Both columns are in ascending order.
    """
    return _align(_Side.of(gold), _Side.of(system))


def _word_scores(gold: Treebank, system: Treebank, pairs: Places) -> dict[str, Score]:
    g, s = pairs[:, 0], pairs[:, 1]

    def same(name: str) -> Bools:
        keys = {"feats": _universal, "deprel": without_subtype}
        ids, _ = numbered([gold.column(name), system.column(name)], keys.get(name, str))
        return np.asarray(ids[0][g] == ids[1][s])

    above, above_system = _parents(gold), _parents(system)
    partner = np.full(system.words + 1, -2, dtype=np.int64)  # the last index is the root's
    partner[s] = g
    partner[-1] = -1
    upos, xpos, feats, relation = same("upos"), same("xpos"), same("feats"), same("deprel")
    lemma = same("lemma") | holds(gold.column("lemma"), lambda name: name == "_")[g]
    head = above[g] == partner[above_system[s]]

    def functional(bank: Treebank) -> Bools:
        return (bank.heads > 0) & holds(bank.relations, lambda name: without_subtype(name) in FUNCTION)

    # Two words have the same function words if they have equally many, and all of these are aligned and equal.
    ours, theirs = functional(gold), functional(system)
    alike = ours[g] & theirs[s] & head & relation & upos & feats
    shared = np.bincount(above[g[alike]], minlength=gold.words)
    many = np.bincount(above[ours], minlength=gold.words)
    many_system = np.bincount(above_system[theirs], minlength=system.words)
    function_words = (many[g] == many_system[s]) & (many[g] == shared[g])

    def over(content: tuple[Bools, Bools] | None, right: Bools) -> Score:
        if content is None:
            return Score(gold.words, system.words, int(right.sum()), len(g))
        inner = content[0][g]
        return Score(int(content[0].sum()), int(content[1].sum()), int((right & inner).sum()), int(inner.sum()))

    ours, theirs = (holds(bank.relations, lambda name: without_subtype(name) in CONTENT) for bank in (gold, system))
    inner = (ours, theirs)
    labelled = head & relation
    return {
        "UPOS": over(None, upos),
        "XPOS": over(None, xpos),
        "UFeats": over(None, feats),
        "AllTags": over(None, upos & xpos & feats),
        "Lemmas": over(None, lemma),
        "UAS": over(None, head),
        "LAS": over(None, labelled),
        "CLAS": over(inner, labelled),
        "MLAS": over(inner, labelled & upos & feats & function_words),
        "BLEX": over(inner, labelled & lemma),
    }


def _universal(features: str) -> str:
    return "|".join(sorted(feature for feature in features.split("|") if feature.partition("=")[0] in FEATURES))


def _parents(bank: Treebank) -> Places:
    """Return the head of each word as an index over the whole treebank; -1 is the root."""
    starts = np.repeat(bank.offsets.starts, bank.lengths)
    return np.where(bank.heads > 0, starts + bank.heads - 1, -1).astype(np.int64)


def _without_spaces(form: str) -> str:
    """Return a form without Unicode's space separators."""
    return "".join(character for character in form if unicodedata.category(character) != "Zs")


class _Word(NamedTuple):
    """A word's span of the text, whether it is `inside` a multiword token, and its form in lower case."""

    start: int
    stop: int
    inside: bool
    form: str

    def within(self, stop: int) -> bool:
        """Return whether the word belongs to a span of text that ends at `stop`.

        A word of a multiword token must begin before `stop`. Any other word must end at `stop` or before.
        """
        return self.start < stop if self.inside else self.stop <= stop


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One file: its text without spaces, and the spans of sentences, tokens and words in it, as (start, stop) rows.

    A word of a multiword token has the span of the whole token. `multiword` says which words are in multiword tokens.
    `first` has the index of each token's first word.
    """

    bank: Treebank
    characters: str
    sentences: Places
    tokens: Places
    words: Places
    multiword: Bools
    first: Places

    @classmethod
    def of(cls, bank: Treebank) -> _Side:
        """Return a treebank's text and spans; raise `FormatError` if a tree is invalid or a form is empty."""
        _require_trees(bank)
        column = bank.column("form")
        bare = [_without_spaces(name) for name in column.names]
        texts = [bare[number] for number in column.ids.tolist()]
        surface = bank.surface
        first = surface.first[:-1].astype(np.int64)
        sizes = np.diff(surface.first)
        several = np.zeros(len(first), dtype=np.bool_)
        several[list(surface.texts)] = True
        for token, text in surface.texts.items():
            texts[first[token]] = _without_spaces(text)
        tokens = [texts[word] for word in first.tolist()]
        starts = starts_of([len(token) for token in tokens])
        spans = np.stack([starts[:-1], starts[1:]], axis=1)
        bounds = np.searchsorted(first, bank.offsets.array)  # of sentences among tokens
        side = cls(
            bank,
            "".join(tokens),
            np.stack([spans[bounds[:-1], 0], spans[bounds[1:] - 1, 1]], axis=1),
            spans,
            np.repeat(spans, sizes, axis=0),
            np.repeat(several, sizes),
            first,
        )
        empty = np.flatnonzero(spans[:, 0] == spans[:, 1])
        if len(empty):
            problem = "FORM has only spaces; expected at least one other character"
            raise FormatError(bank.file, side.line(int(empty[0])), "empty-form", problem)
        return side

    def line(self, token: int) -> int:
        """Return the line number of a token in the file; for a multiword token, that of its first word."""
        word = int(self.first[token])
        sentence = self.bank.offsets.owner(word)
        return self.bank.line(sentence, word)

    def laid_out(self) -> list[_Word]:
        """Return all words for the alignment, and a sentinel: a word beyond the end of the text."""
        column = self.bank.column("form")
        plain = [name.lower() for name in column.names]
        bare = [_without_spaces(name).lower() for name in column.names]
        words = [
            _Word(start, stop, inside, plain[number] if inside else bare[number])
            for (start, stop), inside, number in zip(
                self.words.tolist(), self.multiword.tolist(), column.ids.tolist(), strict=True
            )
        ]
        beyond = len(self.characters) + 1
        return [*words, _Word(beyond, beyond, inside=False, form="")]


def _require_trees(bank: Treebank) -> None:
    """Raise `FormatError` if a sentence is invalid in the shared task: missing heads, cycles, several roots."""
    faults = check_heads(bank.heads, bank.offsets)
    if faults.bad.any():
        sentence = int(np.argmax(faults.bad))
        where = bank.offsets[sentence]
        error = faults.error(sentence) or RootError((np.flatnonzero(bank.heads[where] == 0) + 1).tolist())
        raise FormatError(
            bank.file,
            bank.line(sentence, where.start + error.word - 1),
            "tree",
            str(error).removeprefix(f"word {error.word}: ") + "; CoNLL 2018 scores need one tree with one root",
            word=str(error.word),
        )


def _require_same_text(gold: _Side, system: _Side) -> None:
    if gold.characters == system.characters:
        return
    ours, theirs = gold.characters, system.characters
    most = min(len(ours), len(theirs))
    at = next((i for i in range(most) if ours[i] != theirs[i]), most)

    def place(side: _Side) -> str:
        token = min(int(np.searchsorted(side.tokens[:, 1], at, side="right")), len(side.tokens) - 1)
        return f"{side.bank.file}:{side.line(token)}"

    raise MismatchError(
        f"{place(gold)} and {place(system)}: the texts differ after {at:,} characters that are not spaces: "
        f"{ours[at : at + SHOWN]!r} in the first, {theirs[at : at + SHOWN]!r} in the second; "
        "expected the same text with any tokens"
    )


def _spans(gold: Places, system: Places) -> Score:
    """Return the score of spans that are in both files. No span is empty, so that no two have the same start."""
    _, a, b = np.intersect1d(gold[:, 0], system[:, 0], assume_unique=True, return_indices=True)
    return Score(len(gold), len(system), int((gold[a, 1] == system[b, 1]).sum()))


def _align(gold: _Side, system: _Side) -> Places:
    """Return the aligned words as rows (gold word, system word); raise `MismatchError` if the texts differ."""
    _require_same_text(gold, system)
    same = np.array_equal(gold.words, system.words) and np.array_equal(gold.multiword, system.multiword)
    if same and not gold.multiword.any():
        return np.repeat(np.arange(len(gold.words))[:, None], 2, axis=1)
    ours, theirs = gold.laid_out(), system.laid_out()
    pairs: list[tuple[int, int]] = []
    g = s = 0
    while g < len(gold.words) and s < len(system.words):
        if ours[g].inside or theirs[s].inside:
            (low, g), (low_system, s) = _span(ours, theirs, g, s)
            pairs += [
                (low + a, low_system + b)
                for a, b in _common([word.form for word in ours[low:g]], [word.form for word in theirs[low_system:s]])
            ]
        elif ours[g][:2] == theirs[s][:2]:
            pairs.append((g, s))
            g, s = g + 1, s + 1
        else:
            behind = ours[g].start <= theirs[s].start
            g, s = g + behind, s + (not behind)
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _span(gold: list[_Word], system: list[_Word], g: int, s: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return two ranges of words, of gold and of the system, around the multiword token at index `g` or `s`.

    The words of both ranges are then aligned by form. If the word of the other side begins before the token, it is left
    out and has no partner. The span first ends with the token. Each further multiword token that begins in the span
    extends it.
    """
    if gold[g].inside:
        stop = gold[g].stop
        s += not system[s].inside and system[s].start < gold[g].start
    else:
        stop = system[s].stop
        g += gold[g].start < system[s].start
    low, low_system = g, s
    while gold[g].within(stop) or system[s].within(stop):
        ours = gold[g].start <= system[s].start
        word = gold[g] if ours else system[s]
        stop = max(stop, word.stop) if word.inside else stop
        g, s = g + ours, s + (not ours)
    return (low, g), (low_system, s)


def _common(first: list[str], second: list[str]) -> list[tuple[int, int]]:
    """Return the pairs of indices of a longest common subsequence of `first` and `second`.

    Of several longest ones, return the one with the earliest indices in `second`.
    """
    rest = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]  # the longest length from each pair of indices on
    for a, b in itertools.product(reversed(range(len(first))), reversed(range(len(second)))):
        rest[a][b] = rest[a + 1][b + 1] + 1 if first[a] == second[b] else max(rest[a + 1][b], rest[a][b + 1])
    pairs: list[tuple[int, int]] = []
    a = b = 0
    while a < len(first) and b < len(second):
        if first[a] == second[b]:
            pairs.append((a, b))
            a, b = a + 1, b + 1
        else:
            skip = rest[a][b] == rest[a + 1][b]
            a, b = a + skip, b + (not skip)
    return pairs
