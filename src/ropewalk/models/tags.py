"""Conversion of tag columns to classes that a network predicts, and of predicted classes to tag columns.

A tag set is named after its column: `upos`, `xpos` or `feats`; its classes are the values of the column. If FEATS has
too many values, each feature is a tag set of its own, such as `feats.Case`. The classes of `lemma` are rules that
derive lemmas from forms.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ropewalk.core.arrays import frozen_ints
from ropewalk.core.columns import Column
from ropewalk.models.combinations import WEIGHTS as WEIGHTS_OF_RELATIONS
from ropewalk.models.known_lemmas import KnownLemmas
from ropewalk.models.label_sets import frequent, numbers
from ropewalk.models.lexicon import WEIGHTS
from ropewalk.models.tag_columns import get as tag_column
from ropewalk.morphology.lemmas import apply_rule, frequent_rules, lemma_rule
from ropewalk.treebank.features import NONE, features_of, features_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from ropewalk.core.arrays import Ints
    from ropewalk.models.label_sets import LabelSet
    from ropewalk.models.lexicon import Entries
    from ropewalk.models.scorer import Floats, Numbers
    from ropewalk.treebank.treebank import Treebank

    ScoreRules = Callable[[Numbers], Floats]  # scores of the rules of lemmas for some words

TagSet = tuple[str, tuple[str, ...]]  # its name and its classes
ProbabilityArray = npt.NDArray[np.float64]

FEATS = ("auto", "whole", "apart")  # whether each feature is a tag set of its own
NEARLY = 1.0  # log-odds by which a rule may be less likely than the best one if its lemma is known
SCORED_TOGETHER = 1 << 12  # words whose rules are scored together: there are hundreds of rules
MOST_WHOLE = 400  # distinct values of FEATS up to which `auto` keeps them whole

_ADDRESS = re.compile(r"(?:https?|ftp)://.|www\..|[#@]\w|[\w.+-]+@\w")
_apply = lru_cache(1 << 16)(apply_rule)
_rule = lru_cache(1 << 16)(lemma_rule)


def column_of(tag_set: str) -> str:
    """Return the name of the column that a tag set belongs to, such as `feats` for `feats.Case`."""
    return tag_set.partition(".")[0]


def tag_sets(bank: Treebank, columns: Sequence[str], *, least_rules: int, feats: str) -> tuple[TagSet, ...]:
    """Return the tag sets of some columns of a treebank: names and classes, the most frequent class first.

    The classes of lemmas are rules that derive a lemma from a form; those that occur less than `least_rules` times are
    dropped. If `feats` is `whole`, the classes of FEATS are its whole values. If it is `apart`, each feature is a tag
    set of its own. If it is `auto`, it is `apart` for more than `MOST_WHOLE` distinct values, otherwise `whole`.
    """
    out: list[TagSet] = []
    for column in columns:
        values = tag_column(column).values(bank)
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
    """Return the gold class of each word of a treebank in a tag set: a tag, the value of a feature, or a lemma rule."""
    column, _, feature = tag_set.partition(".")
    values = tag_column(column).values(bank)
    if feature:
        distinct = Column.of(features_of(value).get(feature, NONE) for value in values.names)
        return Column(frozen_ints(distinct.ids[values.ids]), distinct.names)
    if column == "lemma":
        return Column.of(map(_rule, bank.column("form").texts(), values.texts()))
    return values


@dataclass(frozen=True, slots=True)
class TagWeights:
    """Weights of the evidence that is added to the network's scores of tags.

    `lexicon` has two weights for each tag set, one for words in the lexicon and one for other words. `relations` is the
    weight of a word's relation.
    """

    lexicon: Sequence[float] = ()
    relations: float = 0.0


def best_tags(  # noqa: PLR0913 - scores, and evidence beside them
    labels: LabelSet,
    scores: Mapping[int, Floats],
    forms: Column,
    weights: TagWeights = TagWeights(),  # noqa: B008 - a frozen value
    *,
    relations: Column | None = None,
    rules: ScoreRules | None = None,
    probabilities: bool,
) -> tuple[dict[str, Column], dict[str, ProbabilityArray]]:
    """Return the best tag of every word by column, and by column their probabilities; none unless `probabilities`.

    `scores` has score tables [words, classes] by the index of the tag set in `labels`. The evidence of the lexicon is
    added to them. If the label sets have combinations of tags, the best combination is chosen; `relations`, if given,
    are evidence for it. Lemmas of known words are looked up by form and predicted part of speech; other lemmas are
    derived with a rule. `rules` computes the scores of lemma rules for some words, if `scores` has none.
    """
    seen = labels.lexicon.find(forms) if labels.lexicon is not None and weights.lexicon else None
    if seen is not None:
        scores = _with_evidence(labels, scores, seen, weights.lexicon)
        for rows in scores.values() if probabilities else ():
            np.subtract(rows, np.logaddexp.reduce(rows, axis=1, keepdims=True), out=rows)
    chosen = _chosen(labels, scores, relations, weights.relations)
    columns = _columns(labels.tags, chosen)
    lemma = number_of_lemmas(labels.tags)
    if lemma is not None and (lemma in scores or rules is not None):  # after the parts of speech, which it needs

        def score(words: Numbers) -> Floats:
            if rules is None:
                return scores[lemma][words]
            return _with_lexicon(labels, lemma, rules(words), None if seen is None else seen.of(words), weights.lexicon)

        names = labels.tags[lemma][1]
        texts, taken = _lemmas(score, names, forms, columns, labels.lemmas)
        columns["lemma"] = Column.of(texts)
        if probabilities:
            chosen[lemma] = _rules_of(texts, taken, names, forms, scores[lemma])
    likely: dict[str, ProbabilityArray] = {}
    for number, best in chosen.items() if probabilities else ():
        column = column_of(labels.tags[number][0])
        probability = np.exp(scores[number][np.arange(len(best)), best].astype(np.float64))
        likely[column] = likely.get(column, 1.0) * probability
    return columns, likely


def number_of_lemmas(sets: Sequence[TagSet]) -> int | None:
    """Return the index of the tag set `lemma`, whose classes are lemma rules, or None if there is none."""
    return next((number for number, (name, _) in enumerate(sets) if name == "lemma"), None)


def _with_evidence(
    labels: LabelSet, scores: Mapping[int, Floats], seen: Entries | None, weights: Sequence[float]
) -> dict[int, Floats]:
    """Return a copy of the score tables, by index of the tag set, with the evidence of the lexicon added.

    `seen` are the lexicon's entries of the words, and `weights` those of the lexicon.
    """
    return {number: _with_lexicon(labels, number, rows.copy(), seen, weights) for number, rows in scores.items()}


def _with_lexicon(
    labels: LabelSet, number: int, rows: Floats, seen: Entries | None, weights: Sequence[float]
) -> Floats:
    """Add the evidence of the lexicon to `rows`, the score table of tag set `number`, in place; return `rows`."""
    if labels.lexicon is not None and seen is not None:
        labels.lexicon.add(labels.tags[number][0], rows, seen, (weights[2 * number], weights[2 * number + 1]))
    return rows


def _chosen(
    labels: LabelSet, scores: Mapping[int, Floats], relations: Column | None, relation_weight: float
) -> dict[int, Ints]:
    """Return the index of every word's best class, by the index of the tag set; lemmas are left out.

    Tag sets that have known combinations are decided together, with `relations` as evidence.
    """
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
    """Convert the chosen classes of each tag set to columns of texts, by name.

    If each feature is a tag set of its own, their values are joined to one FEATS column.
    """
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
    """Return for each word the index of the rule that derives its lemma.

    `texts` are the lemmas. `taken` has the rules of words whose lemma was derived, by the word's index. If a lemma was
    looked up, the rule is the one that derives it from the form, or the one with the best score if no rule does.
    """
    out: Ints = scores.argmax(axis=1).astype(np.int32)
    numbers = {rule: number for number, rule in enumerate(rules)}
    for index, (form, text) in enumerate(zip(forms.texts(), texts, strict=True)):
        out[index] = taken[index] if index in taken else numbers.get(_rule(form, text), out[index])
    return out


def fitted_weights(labels: LabelSet, scores: Mapping[int, Floats], gold: Treebank) -> list[float]:
    """Return the weights of the lexicon that maximize the accuracy of tags on a gold treebank.

    There are two for each tag set, one for words in the lexicon and one for other words. `scores` are the network's
    score tables for the words of `gold`.
    """
    assert labels.lexicon is not None  # noqa: S101 - callers have checked
    forms = gold.column("form")
    known = labels.lexicon.find(forms).places >= 0
    out = [0.0] * (2 * len(labels.tags))
    for number in sorted(scores, key=lambda each: labels.tags[each][0] == "lemma"):  # after the parts of speech
        right = [_right(labels, scores, gold, out, number, weight) for weight in WEIGHTS]
        for column, words in enumerate((known, ~known)):
            counts = [np.count_nonzero(hits[words]) for hits in right]
            out[2 * number + column] = WEIGHTS[counts.index(max(counts))]
    return out


def fitted_relation_weight(
    labels: LabelSet, scores: Mapping[int, Floats], gold: Treebank, relations: Column, weights: Sequence[float]
) -> float:
    """Return the weight of relations with which most words of `gold` get the right combination of tags.

    `scores` are the network's score tables for these words, `relations` their predicted relations, and `weights` those
    of the lexicon.
    """
    assert labels.combinations is not None  # noqa: S101 - callers have checked
    known = dict(labels.tags)
    columns = {name: classes(gold, name) for name in labels.combinations.sets}
    expected = {name: numbers(column.ids, column.names, known[name]) for name, column in columns.items()}
    seen = labels.lexicon.find(gold.column("form")) if labels.lexicon is not None and weights else None
    scored = {labels.tags[number][0]: rows for number, rows in _with_evidence(labels, scores, seen, weights).items()}
    right = []
    for weight in WEIGHTS_OF_RELATIONS:
        best = labels.combinations.best(scored, relations, weight)
        right.append(np.count_nonzero(np.all([best[name] == expected[name] for name in best], axis=0)))
    return WEIGHTS_OF_RELATIONS[right.index(max(right))]


def _right(  # noqa: PLR0913, PLR0917 - a weight, and what it is tried on
    labels: LabelSet,
    scores: Mapping[int, Floats],
    gold: Treebank,
    weights: Sequence[float],
    number: int,
    weight: float,
) -> npt.NDArray[np.bool_]:
    """Return for each word whether it gets the right class in tag set `number`, or the right lemma.

    The lexicon has the weight `weight` in this tag set, and `weights` in the others.
    """
    name, names = labels.tags[number]
    tried = [*weights]
    tried[2 * number : 2 * number + 2] = weight, weight
    if name == "lemma":
        needed = {each: scores[each] for each in scores if labels.tags[each][0] in {"lemma", "upos", "xpos"}}
        tags, _ = best_tags(labels, needed, gold.column("form"), TagWeights(tried), probabilities=False)
        return np.array([*map(str.__eq__, tags["lemma"].texts(), gold.column("lemma").texts())], np.bool_)
    column = classes(gold, name)
    assert labels.lexicon is not None  # noqa: S101 - callers have checked
    rows = scores[number].copy()
    labels.lexicon.add(name, rows, labels.lexicon.find(gold.column("form")), (weight, weight))
    right: npt.NDArray[np.bool_] = rows.argmax(axis=1) == numbers(column.ids, column.names, names)
    return right


def joined(columns: Sequence[Column]) -> Column:
    """Concatenate the columns of consecutive parts of a treebank."""
    return columns[0] if len(columns) == 1 else Column.concat(columns)


def _lemmas(
    score: ScoreRules, rules: Sequence[str], forms: Column, tags: Mapping[str, Column], known: KnownLemmas | None
) -> tuple[list[str], dict[int, int]]:
    """Return the lemma of every word, and the indices of the rules that derived lemmas, by the word's index.

    The lemma of a known word is looked up in `known` by its form and its predicted `tags`. Addresses, `#tags` and
    `@names` are their own lemmas. Any other lemma is derived with one of `rules`, scored with `score`. Among rules that
    score nearly as high as the best one, one that derives a known lemma is preferred.
    """
    if known is None:
        known = KnownLemmas({})
    upos, xpos = (tags[name].texts() if name in tags else [""] * len(forms) for name in ("upos", "xpos"))
    words = list(zip(forms.texts(), upos, xpos, strict=True))
    met = {word: known.lemma(*word) or _own_lemma(word[0]) for word in dict.fromkeys(words)}  # words are repeated
    lemmas = [met[word] or "" for word in words]  # no lemma is empty
    unknown = [index for index, text in enumerate(lemmas) if not text]
    taken: dict[int, int] = {}
    for start in range(0, len(unknown), SCORED_TOGETHER):
        indices = unknown[start : start + SCORED_TOGETHER]
        rows = score(np.array(indices, dtype=np.int64))
        for index, row, best in zip(indices, rows, rows.argmax(axis=1).tolist(), strict=True):
            form, tag, _ = words[index]
            taken[index], lemmas[index] = _by_rule(row, rules, form, best, known.lemmas(tag))
    return lemmas, taken


def _own_lemma(form: str) -> str:
    """Return a form that is an address, a `#tag` or an `@name`, and an empty text for any other."""
    return "" if form.isalpha() or not _ADDRESS.match(form) else form


def _by_rule(scores: Floats, rules: Sequence[str], form: str, best: int, known: Collection[str]) -> tuple[int, str]:
    """Choose the rule that derives the lemma of `form`; return its index and the lemma.

    `best` is the index of the rule with the highest score. A rule that scores nearly as high is preferred if its lemma
    is in `known` and that of `best` is not. If no rule can be applied to the form, the lemma is the form.
    """
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
    """Build the FEATS column from one column for each feature, by the feature's name."""
    rows = np.stack([column.ids for column in features.values()], axis=1)
    distinct, ids = np.unique(rows, axis=0, return_inverse=True)
    texts = []
    for row in distinct.tolist():
        values = {name: column.names[number] for (name, column), number in zip(features.items(), row, strict=True)}
        texts.append(features_text({name: value for name, value in values.items() if value != NONE}))
    return Column(frozen_ints(ids.reshape(-1)), tuple(texts))
