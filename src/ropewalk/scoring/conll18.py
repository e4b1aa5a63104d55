"""The scores of the CoNLL 2018 shared task, which need neither the same tokens nor the same sentences.

The texts of both files must be the same once spaces are gone. A token is a stretch of that text, and two
tokens are the same if their stretches are. Words that are tokens are aligned as such. Around multiword
tokens, words are aligned by the longest common subsequence of their forms within a stretch that no multiword
token of either file sticks out of. All other scores are over aligned words, with precision, recall and F1
(https://universaldependencies.org/conll18/evaluation.html). Relations count without subtypes, and of the
features only those that are universal.
"""

from __future__ import annotations

import itertools
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ropewalk.core.trees import check_heads, tree_error
from ropewalk.errors import FormatError, MismatchError, RootError, demand_type
from ropewalk.scoring.attachment import CONTENT, holds, numbered, without_subtype
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    import numpy.typing as npt

    from ropewalk.core.arrays import Bools
    from ropewalk.core.columns import Column
    from ropewalk.core.ragged import Offsets, Places

FUNCTION: Final = frozenset({"aux", "cop", "mark", "det", "clf", "case", "cc"})
FEATURES: Final = frozenset({
    "PronType", "NumType", "Poss", "Reflex", "Foreign", "Abbr", "Gender", "Animacy", "Number", "Case",
    "Definite", "Degree", "VerbForm", "Mood", "Tense", "Aspect", "Voice", "Evident", "Polarity", "Person",
    "Polite",
})  # fmt: skip
SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Score:
    """One line of the table: how many there are in gold and in the system's file, and how many are right.

    `aligned` is the number of aligned words that the score looks at, where it looks at aligned words.
    """

    gold: int
    system: int
    correct: int
    aligned: int | None = None

    @property
    def precision(self) -> float:
        """The share of the system's that is right."""
        return self.correct / self.system if self.system else 0.0

    @property
    def recall(self) -> float:
        """The share of gold that the system got right."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.correct / (self.gold + self.system) if self.gold + self.system else 0.0

    @property
    def aligned_accuracy(self) -> float | None:
        """The share of the aligned words that is right."""
        if self.aligned is None:
            return None
        return self.correct / self.aligned if self.aligned else 0.0


def evaluate(gold: Treebank, system: Treebank) -> dict[str, Score]:
    """Compute the whole table, in its order; what the task calls invalid output raises an error."""
    for bank in (gold, system):
        demand_type("what is compared", bank, Treebank)
    ours, theirs = _Side.of(gold), _Side.of(system)
    pairs = _align(ours, theirs)
    return {
        "Tokens": _spans(ours.tokens, theirs.tokens),
        "Sentences": _spans(ours.sentences, theirs.sentences),
        "Words": Score(gold.words, system.words, len(pairs)),
        **_word_scores(gold, system, pairs),
    }


def align(gold: Treebank, system: Treebank) -> Places:
    """Pair the words of two treebanks over the same text: rows of (gold word, system word), rising in both."""
    return _align(_Side.of(gold), _Side.of(system))


def _word_scores(gold: Treebank, system: Treebank, pairs: Places) -> dict[str, Score]:
    g, s = pairs[:, 0], pairs[:, 1]

    def same(name: str) -> Bools:
        keys = {"feats": _universal, "deprel": without_subtype}
        ids, _ = numbered([gold.column(name), system.column(name)], keys.get(name, str))
        return np.asarray(ids[0][g] == ids[1][s])

    above, above_system = _parents(gold), _parents(system)
    partner = np.full(system.words + 1, -2, dtype=np.int64)  # the last place is the root's
    partner[s] = g
    partner[-1] = -1
    upos, xpos, feats, relation = same("upos"), same("xpos"), same("feats"), same("deprel")
    lemma = same("lemma") | holds(gold.column("lemma"), lambda name: name == "_")[g]
    head = above[g] == partner[above_system[s]]

    def functional(bank: Treebank) -> Bools:
        return (bank.heads > 0) & holds(bank.relations, lambda name: without_subtype(name) in FUNCTION)

    # Two words have the same function words if they have as many, and as many of these are aligned and alike.
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

    inner = (_content(gold.relations), _content(system.relations))
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


def _content(relations: Column) -> Bools:
    return holds(relations, lambda name: without_subtype(name) in CONTENT)


def _universal(features: str) -> str:
    return "|".join(sorted(one for one in features.split("|") if one.partition("=")[0] in FEATURES))


def _parents(bank: Treebank) -> Places:
    """Number the head of each word over the whole treebank; -1 is the root."""
    starts = np.repeat(bank.offsets.starts, bank.lengths)
    return np.where(bank.heads > 0, starts + bank.heads - 1, -1).astype(np.int64)


def _without_spaces(form: str) -> str:
    """Drop what Unicode calls a space separator."""
    return "".join(character for character in form if unicodedata.category(character) != "Zs")


class _Word(NamedTuple):
    """A word's place in the text, whether a multiword token holds it, and the form it is compared by."""

    start: int
    stop: int
    inside: bool
    form: str

    def within(self, stop: int) -> bool:
        """Tell whether the word belongs to a stretch that ends there."""
        return self.start < stop if self.inside else self.stop <= stop


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One file: its text without spaces, and where in it sentences, tokens and words lie, as (start, stop) rows.

    A word of a multiword token has the place of the whole token.
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
        """Lay out a treebank; words without a text count as `_`."""
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
        ends = np.cumsum([len(token) for token in tokens], dtype=np.int64)
        spans = np.stack([np.concatenate([np.zeros(min(1, len(ends)), dtype=np.int64), ends[:-1]]), ends], axis=1)
        side = cls(
            bank,
            "".join(tokens),
            _sentence_spans(spans, first, bank.offsets),
            spans,
            np.repeat(spans, sizes, axis=0),
            np.repeat(several, sizes),
            first,
        )
        empty = np.flatnonzero(spans[:, 0] == spans[:, 1])
        if len(empty):
            raise FormatError(
                bank.file,
                side.line(int(empty[0])),
                "empty-form",
                "FORM holds nothing but spaces; expected at least one other character",
            )
        return side

    def line(self, token: int) -> int:
        """Give the number of a token's line, that of its first word if it has several."""
        word = int(self.first[token])
        sentence = self.bank.offsets.owner(word)
        return self.bank.line(sentence, word)

    def laid_out(self) -> list[_Word]:
        """List the words with all that the alignment looks at, and one beyond the end that is never within."""
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


def _sentence_spans(tokens: Places, first: npt.NDArray[np.int64], offsets: Offsets) -> Places:
    bounds = np.searchsorted(first, offsets.array)
    return np.stack([tokens[bounds[:-1], 0], tokens[bounds[1:] - 1, 1]], axis=1)


def _require_trees(bank: Treebank) -> None:
    """Refuse what the task calls invalid: missing heads, cycles, several roots."""
    found = check_heads(bank.heads, bank.offsets)
    bad = np.flatnonzero((found.codes != 0) | (found.roots != 1))
    if len(bad):
        sentence = int(bad[0])
        start, stop = bank.offsets.bounds(sentence)
        heads = bank.heads[start:stop]
        error = (
            tree_error(heads, int(found.codes[sentence]), int(found.words[sentence]))
            if found.codes[sentence]
            else RootError((np.flatnonzero(heads == 0) + 1).tolist())
        )
        raise FormatError(
            bank.file,
            bank.line(sentence, start + error.word - 1),
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
        f"{place(gold)} and {place(system)}: the texts part after {at:,} characters that are not spaces: "
        f"{ours[at : at + SHOWN]!r} in the first, {theirs[at : at + SHOWN]!r} in the second; "
        "expected the same text, whatever its tokens"
    )


def _spans(gold: Places, system: Places) -> Score:
    """Count equal stretches; no stretch is empty, so each has a start of its own."""
    _, a, b = np.intersect1d(gold[:, 0], system[:, 0], assume_unique=True, return_indices=True)
    return Score(len(gold), len(system), int((gold[a, 1] == system[b, 1]).sum()))


def _align(gold: _Side, system: _Side) -> Places:
    """Pair the words of both sides; texts that differ raise a `MismatchError`."""
    _require_same_text(gold, system)
    same = np.array_equal(gold.words, system.words) and np.array_equal(gold.multiword, system.multiword)
    if same and not gold.multiword.any():
        return np.repeat(np.arange(len(gold.words))[:, None], 2, axis=1)
    ours, theirs = gold.laid_out(), system.laid_out()
    pairs: list[tuple[int, int]] = []
    g = s = 0
    while g < len(gold.words) and s < len(system.words):
        if ours[g].inside or theirs[s].inside:
            (low, g), (low_system, s) = _stretch(ours, theirs, g, s)
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


def _stretch(gold: list[_Word], system: list[_Word], g: int, s: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Find the words of both sides that are aligned by form around the multiword token at `g` or `s`.

    One word of the other side may stick in from before the token; it has no partner. The stretch then takes
    words of both sides by their starts, and grows with each multiword token that it takes.
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
    """Give the places of a longest common subsequence, the earliest places of the second where there is a choice."""
    rest = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]  # how long it is from each pair of places on
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
