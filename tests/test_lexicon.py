"""The lexicon: what a treebank's words and endings say of tags, beside a network's scores."""

from __future__ import annotations

import json
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.core.columns import Column
from ropewalk.models.label_sets import LabelSet
from ropewalk.models.lexicon import LONGEST, NOTHING, WEIGHTS, Lexicon
from ropewalk.models.tags import TagWeights, best_tags, fitted_weights, tag_sets
from ropewalk.training.examples import lexicon_of
from test_tags import bank_of_words

words = st.text("abäß", min_size=1, max_size=LONGEST + 3)
CLASSES = 3


def likely(seen: list[tuple[str, int]], word: str) -> list[float]:
    """Guess classes from endings by going through all words."""
    out, left = [0.0] * CLASSES, 1.0
    for size in range(min(len(word), LONGEST), 0, -1):
        found = Counter(number for known, number in set(seen) if known.endswith(word[-size:]))
        if found and left > 0.001:
            left /= found.total() + 1
            for number, count in found.items():
                out[number] += left * count
    return out


@given(st.lists(st.tuples(words, st.integers(-1, CLASSES - 1)), min_size=1, max_size=12), st.lists(words, max_size=6))
def test_known_words_count_and_others_go_by_their_endings(seen: list[tuple[str, int]], asked: list[str]) -> None:
    forms = Column.of([word for word, _ in seen])
    lexicon = Lexicon.of(forms, {"upos": np.array([number for _, number in seen])})
    names = {"upos": ["A", "B", "C"]}
    assert Lexicon.from_json(json.loads(json.dumps(lexicon.to_json())), names).to_json() == lexicon.to_json()
    counts = Counter((word, number) for word, number in seen if number >= 0)
    texts = [word for word, _ in seen] + asked
    scores = np.zeros((len(texts), CLASSES), dtype=np.float32)
    column = Column.of(texts)
    lexicon.add("upos", scores, lexicon.find(column), (0.5, 2.0))
    known = {word for word, _ in seen}
    for word, row in zip(texts, scores.tolist(), strict=True):
        if word in known:
            total = sum(counts[word, number] for number in range(CLASSES))
            shares = [counts[word, number] / (total + 1) for number in range(CLASSES)]
            weight = 0.5
        else:
            shares, weight = likely([pair for pair in seen if pair[1] >= 0], word), 2.0
        assert row == pytest.approx([weight * math.log1p(share / NOTHING) for share in shares], rel=1e-4, abs=1e-4)


def test_nothing_is_added_without_a_weight() -> None:
    lexicon = Lexicon.of(Column.of(["a"]), {"upos": np.array([1])})
    scores = np.zeros((2, 2), dtype=np.float32)
    forms = Column.of(["a", "ba"])
    lexicon.add("upos", scores, lexicon.find(forms), (0.0, 0.0))
    assert not scores.any()
    lexicon.add("upos", scores, lexicon.find(forms), (0.0, 1.0))
    assert scores[:, 1].tolist() == [0.0, pytest.approx(math.log1p(0.5 / NOTHING), rel=1e-5)]


def test_weights_are_those_by_which_most_is_right() -> None:
    """A network that always says the same is put right by the lexicon, for lemmas too; one that is right needs none."""
    rows = [
        (f"{stem}{end}", stem, upos, "_") for stem in ("rope", "sail", "mast") for end, upos in (("", "X"), ("s", "Y"))
    ]
    train = bank_of_words(rows)
    sets = tag_sets(train, ("upos", "lemma"), least_rules=1, feats="whole")
    labels = LabelSet((), (), (), sets, lexicon=lexicon_of(train, sets))
    dev = bank_of_words([("ropes", "rope", "Y", "_"), ("decks", "deck", "Y", "_"), ("mast", "mast", "X", "_")])

    def same() -> dict[int, np.ndarray]:
        return {number: np.full((dev.words, len(names)), -1.0, np.float32) for number, (_, names) in enumerate(sets)}

    weights = fitted_weights(labels, same(), dev)
    assert len(weights) == 4
    assert min(weights) > 0
    found, shares = best_tags(labels, same(), dev.column("form"), TagWeights(weights), probabilities=True)
    assert found["upos"].texts() == ["Y", "Y", "X"]
    assert found["lemma"].texts() == ["rope", "deck", "mast"]
    assert all(0 < share <= 1 for column in shares.values() for share in column.tolist())
    right = same()
    for number, (name, names) in enumerate(sets):
        texts = dev.column("upos").texts() if name == "upos" else ["lower|-0+|-1+", "lower|-0+|-1+", "lower|-0+|-0+"]
        for word, text in enumerate(texts):
            right[number][word, names.index(text)] = 50.0
    assert fitted_weights(labels, right, dev) == [WEIGHTS[0]] * 4


@pytest.mark.parametrize(
    "change",
    [
        {"words": ["b", "a"]},
        {"words": ["a", 1]},
        {"seen": {}},
        {"seen": {"upos": {"sizes": [1, 1], "classes": [0, 2], "counts": [1, 1]}}},
        {"seen": {"upos": {"sizes": [1, 1], "classes": [0, -1], "counts": [1, 1]}}},
        {"seen": {"upos": {"sizes": [1, 1], "classes": [0, 1], "counts": [1, 0]}}},
        {"seen": {"upos": {"sizes": [3, -1], "classes": [0, 1], "counts": [1, 1]}}},
        {"seen": {"upos": {"sizes": [1, 1], "classes": [0, "x"], "counts": [1, 1]}}},
        {"seen": {"upos": {"sizes": [1, 1], "classes": [0, 1], "counts": [1, 10**12]}}},
        {"seen": {"upos": {"sizes": [2], "classes": [0, 1], "counts": [1, 1]}}},
        {"seen": {"upos": {"sizes": [1, 1], "classes": [0], "counts": [1, 1]}}},
    ],
)
def test_a_lexicon_that_does_not_fit_is_refused(change: dict[str, object]) -> None:
    table = Lexicon.of(Column.of(["a", "b"]), {"upos": np.array([0, 1])}).to_json()
    assert Lexicon.from_json(table, {"upos": ["X", "Y"]}).words == ("a", "b")
    with pytest.raises(TypeError):
        Lexicon.from_json({**table, **change}, {"upos": ["X", "Y"]})
