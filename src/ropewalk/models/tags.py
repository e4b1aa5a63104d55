"""Columns of tags as classes that a network tells apart, and classes as columns again.

A tag set is named after its column: `upos`, `xpos`, or `feats` with whole values as classes. `feats.Case` is one
feature of a treebank that has too many whole values; `lemma` has rules as classes, which make lemmas of forms.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import frozen_ints
from ropewalk.core.columns import Column
from ropewalk.models.combinations import WEIGHTS as WEIGHTS_OF_RELATIONS
from ropewalk.models.known_lemmas import KnownLemmas
from ropewalk.models.labels import frequent, numbers
from ropewalk.models.lexicon import WEIGHTS
from ropewalk.morphology.lemmas import apply_rule, frequent_rules, lemma_rule
from ropewalk.treebank.features import NONE, features_of, features_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from ropewalk.core.arrays import Ints
    from ropewalk.models.labels import LabelSet
    from ropewalk.models.lexicon import Entries
    from ropewalk.models.scorer import Floats, Numbers
    from ropewalk.treebank.treebank import Treebank

    ScoreRules = Callable[[Numbers], Floats]  # those of lemmas, for some words

TagSet = tuple[str, tuple[str, ...]]  # its name and its classes
Shares = npt.NDArray[np.float64]

TAGS = ("lemma", "upos", "xpos", "feats")  # the columns that can be predicted
FEATS = ("auto", "whole", "apart")  # whether features are told apart one by one
NEARLY = 1.0  # log odds by which a rule may be less likely than the best and still make the lemma, if that is known
SCORED_TOGETHER = 1 << 12  # words whose rules are scored together: rules are hundreds
MOST_WHOLE = 400  # distinct values of FEATS that are still classes by themselves

_apply = lru_cache(1 << 16)(apply_rule)
_rule = lru_cache(1 << 16)(lemma_rule)


def column_of(tag_set: str) -> str:
    """Name the column that a tag set is of."""
    return tag_set.partition(".")[0]


def tag_sets(bank: Treebank, columns: Sequence[str], *, least_rules: int, feats: str) -> tuple[TagSet, ...]:
    """List the classes of some columns of a treebank, most frequent first; rules rarer than `least_rules` are no class.

    FEATS are classes as they are (`whole`), feature by feature (`apart`), or as the treebank suggests (`auto`).
    """
    out: list[TagSet] = []
    for column in columns:
        values = bank.column(column)
        if column == "lemma":
            pairs = zip(bank.column("form").texts(), values.texts(), strict=True)
            out.append((column, frequent_rules(pairs, least_rules)))
        elif column == "feats" and (feats == "apart" or (feats == "auto" and len(frequent(values)) > MOST_WHOLE)):
            names = sorted({name for value in frequent(values) for name in features_of(value)}, key=str.lower)
            out += [(f"feats.{name}", frequent(classes(bank, f"feats.{name}"))) for name in names]
        else:
            out.append((column, frequent(values)))
    return tuple(out)


def classes(bank: Treebank, tag_set: str) -> Column:
    """Say which class each word of a treebank has in a tag set."""
    column, _, feature = tag_set.partition(".")
    values = bank.column(column)
    if feature:
        return _renamed(values, [features_of(value).get(feature, NONE) for value in values.names])
    if column == "lemma":
        return Column.of(map(_rule, bank.column("form").texts(), values.texts()))
    return values


def tag_columns(  # noqa: PLR0913 - what is known of words, and what it counts
    labels: LabelSet,
    scores: Mapping[int, Floats],
    forms: Column,
    weights: Sequence[float] = (),
    *,
    relations: Column | None = None,
    relation_weight: float = 0.0,
    rules: ScoreRules | None = None,
    shares: bool,
) -> tuple[dict[str, Column], dict[str, Shares]]:
    """Give every word the value of its best class in each tag set that was scored; with `shares` say how likely.

    Lemmas of known words are looked up, by the parts of speech that were found. What a lexicon says is added to scores,
    in place, with two weights for each tag set: for words that it has, and for others. Of tags that go together the
    best combination is taken, for which the words' relations may speak. `rules` scores those of lemmas for the words
    that need them, if they are not among the scores and nobody asks how likely they are.
    """
    seen = labels.lexicon.find(forms) if labels.lexicon is not None and weights else None
    for number, rows in scores.items():
        _with_lexicon(labels, number, rows, seen, weights)
        if shares and seen is not None:
            np.subtract(rows, np.logaddexp.reduce(rows, axis=1, keepdims=True), out=rows)
    chosen = _chosen(labels, scores, relations, relation_weight)
    columns = _columns(labels.tags, chosen)
    lemma = number_of_lemmas(labels.tags)
    if lemma is not None and (lemma in scores or rules is not None):  # which ask for parts of speech

        def score(words: Numbers) -> Floats:
            if rules is None:
                return scores[lemma][words]
            return _with_lexicon(labels, lemma, rules(words), None if seen is None else seen.of(words), weights)

        names = labels.tags[lemma][1]
        texts, taken = _lemmas(score, names, forms, columns, labels.lemmas)
        columns["lemma"] = Column.of(texts)
        if shares:
            chosen[lemma] = _rules_of(texts, taken, names, forms, scores[lemma])
    likely: dict[str, Shares] = {}
    for number, best in chosen.items() if shares else ():
        column = column_of(labels.tags[number][0])
        share = np.exp(scores[number][np.arange(len(best)), best].astype(np.float64))
        likely[column] = likely[column] * share if column in likely else share
    return columns, likely


def number_of_lemmas(sets: Sequence[TagSet]) -> int | None:
    """Find the tag set whose classes are rules of lemmas."""
    return next((number for number, (name, _) in enumerate(sets) if name == "lemma"), None)


def _with_lexicon(
    labels: LabelSet, number: int, rows: Floats, seen: Entries | None, weights: Sequence[float]
) -> Floats:
    """Add what the lexicon says to the scores of a tag set, in place."""
    if labels.lexicon is not None and seen is not None:
        labels.lexicon.add(labels.tags[number][0], rows, seen, (weights[2 * number], weights[2 * number + 1]))
    return rows


def _chosen(
    labels: LabelSet, scores: Mapping[int, Floats], relations: Column | None, relation_weight: float
) -> dict[int, Ints]:
    """Choose a class for every word in each tag set but that of lemmas."""
    names = {number: labels.tags[number][0] for number in sorted(scores)}
    together: Mapping[str, Ints] = {}
    if labels.combinations is not None:
        scored = {name: scores[number] for number, name in names.items()}
        together = labels.combinations.best(scored, relations, relation_weight)
    return {
        number: together[name] if name in together else scores[number].argmax(axis=1).astype(np.int32)
        for number, name in names.items()
        if name != "lemma"
    }


def _columns(sets: Sequence[TagSet], chosen: Mapping[int, Ints]) -> dict[str, Column]:
    """Turn classes into columns; features that were told apart are put together."""
    out: dict[str, Column] = {}
    features: dict[str, Column] = {}
    for number, best in chosen.items():
        name, names = sets[number]
        column, _, feature = name.partition(".")
        if feature:
            features[feature] = Column(frozen_ints(best), names)
        else:
            out[column] = Column(frozen_ints(best), names)
    return out | {"feats": _composed(features)} if features else out


def _rules_of(
    texts: Sequence[str], taken: Mapping[int, int], rules: Sequence[str], forms: Column, scores: Floats
) -> Ints:
    """Say by which rule each word has its lemma: the one taken, or one that makes what was looked up, if there is."""
    out: Ints = scores.argmax(axis=1).astype(np.int32)
    numbers = {rule: number for number, rule in enumerate(rules)}
    for place, (form, text) in enumerate(zip(forms.texts(), texts, strict=True)):
        out[place] = taken[place] if place in taken else numbers.get(_rule(form, text), out[place])
    return out


def fitted_weights(labels: LabelSet, scores: Mapping[int, Floats], gold: Treebank) -> list[float]:
    """Find the weights of the lexicon, two for each tag set, by which most tags of known sentences are right."""
    assert labels.lexicon is not None  # noqa: S101 - as callers have seen
    forms = gold.column("form")
    known = labels.lexicon.find(forms).places >= 0
    out = [0.0] * (2 * len(labels.tags))
    for number in sorted(scores, key=lambda one: labels.tags[one][0] == "lemma"):  # which may ask for parts of speech
        right = [_right(labels, scores, gold, out, number, weight) for weight in WEIGHTS]
        for place, words in enumerate((known, ~known)):
            counts = [np.count_nonzero(one[words]) for one in right]
            out[2 * number + place] = WEIGHTS[counts.index(max(counts))]
    return out


def fitted_relation_weight(
    labels: LabelSet, scores: Mapping[int, Floats], gold: Treebank, relations: Column, weights: Sequence[float]
) -> float:
    """Find the weight of relations by which most words have all tags right that go together."""
    assert labels.combinations is not None  # noqa: S101 - as callers have seen
    known = dict(labels.tags)
    columns = {name: classes(gold, name) for name in labels.combinations.sets}
    wanted = {name: numbers(column.ids, column.names, known[name]) for name, column in columns.items()}
    forms, copies = gold.column("form"), {number: found.copy() for number, found in scores.items()}
    tag_columns(labels, copies, forms, weights, shares=False)  # which adds what the lexicon says
    scored = {labels.tags[number][0]: found for number, found in copies.items()}
    right = []
    for weight in WEIGHTS_OF_RELATIONS:
        found = labels.combinations.best(scored, relations, weight)
        right.append(np.count_nonzero(np.all([found[name] == wanted[name] for name in found], axis=0)))
    return WEIGHTS_OF_RELATIONS[right.index(max(right))]


def _right(  # noqa: PLR0913, PLR0917 - what is tried on what
    labels: LabelSet,
    scores: Mapping[int, Floats],
    gold: Treebank,
    weights: Sequence[float],
    number: int,
    weight: float,
) -> npt.NDArray[np.bool_]:
    """Tell which words get the right class of a tag set with a weight for it, or the right lemma."""
    name, names = labels.tags[number]
    tried = [*weights]
    tried[2 * number : 2 * number + 2] = weight, weight
    if name == "lemma":
        needed = {one: scores[one].copy() for one in scores if labels.tags[one][0] in {"lemma", "upos", "xpos"}}
        found = tag_columns(labels, needed, gold.column("form"), tried, shares=False)[0]["lemma"].texts()
        return np.array(
            [one == right for one, right in zip(found, gold.column("lemma").texts(), strict=True)], np.bool_
        )
    column = classes(gold, name)
    assert labels.lexicon is not None  # noqa: S101 - as callers have seen
    rows = scores[number].copy()
    labels.lexicon.add(name, rows, labels.lexicon.find(gold.column("form")), (weight, weight))
    right: npt.NDArray[np.bool_] = rows.argmax(axis=1) == numbers(column.ids, column.names, names)
    return right


def joined(columns: Sequence[Column]) -> Column:
    """Lay columns end to end, if they are several."""
    return columns[0] if len(columns) == 1 else Column.concat(columns)


def _lemmas(
    score: ScoreRules, rules: Sequence[str], forms: Column, found: Mapping[str, Column], known: KnownLemmas | None
) -> tuple[list[str], dict[int, int]]:
    """Make the lemma of every word: by looking it up, or by the best rule, which is given too, by the word's place.

    Of rules that are nearly as good as the best, one that makes a known lemma is better.
    """
    if known is None:
        known = KnownLemmas({})
    upos, xpos = (found[name].texts() if name in found else [""] * len(forms) for name in ("upos", "xpos"))
    words = list(zip(forms.texts(), upos, xpos, strict=True))
    met = {word: known.lemma(*word) for word in dict.fromkeys(words)}  # they come again and again
    lemmas = [met[word] or "" for word in words]  # none is empty
    unknown = [place for place, text in enumerate(lemmas) if not text]
    taken: dict[int, int] = {}
    for start in range(0, len(unknown), SCORED_TOGETHER):
        places = unknown[start : start + SCORED_TOGETHER]
        rows = score(np.array(places, dtype=np.int64))
        for place, row, best in zip(places, rows, rows.argmax(axis=1).tolist(), strict=True):
            form, tag, _ = words[place]
            taken[place], lemmas[place] = _by_rule(row, rules, form, best, known.lemmas(tag))
    return lemmas, taken


def _by_rule(scores: Floats, rules: Sequence[str], form: str, best: int, known: Collection[str]) -> tuple[int, str]:
    """Find the rule that makes the lemma of a form, and the lemma; if no rule fits, the form is its own."""
    lemma = _apply(rules[best], form)
    if lemma is not None and (not known or lemma in known):
        return best, lemma
    near = (scores > scores[best] - NEARLY).nonzero()[0]
    for rule in near[np.argsort(-scores[near], kind="stable")].tolist() if len(near) > 1 else near.tolist():
        text = _apply(rules[rule], form)
        if text is not None and text in known:
            return rule, text
    if lemma is not None:
        return best, lemma
    order = np.argsort(-scores, kind="stable").tolist()
    return next(((rule, text) for rule in order if (text := _apply(rules[rule], form)) is not None), (best, form))


def _composed(features: Mapping[str, Column]) -> Column:
    """Put FEATS together of the values of single features."""
    rows = np.stack([column.ids for column in features.values()], axis=1)
    found, ids = np.unique(rows, axis=0, return_inverse=True)
    texts = []
    for row in found.tolist():
        values = {name: column.names[number] for (name, column), number in zip(features.items(), row, strict=True)}
        texts.append(features_text({name: value for name, value in values.items() if value != NONE}))
    return Column(frozen_ints(ids.reshape(-1)), tuple(texts))


def _renamed(column: Column, texts: Sequence[str]) -> Column:
    """Give the values of a column other texts, some of which may be the same."""
    distinct = Column.of(texts)
    return Column(frozen_ints(distinct.ids[column.ids]), distinct.names)
