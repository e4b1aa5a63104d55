"""Augmented sentences: the same trees with other words of the same kind.

A word of an open class is replaced with one that has the same part of speech, language-specific tag and features in the
treebank, and with its lemma. The tree stays right, and a model sees more words in more contexts.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ropewalk.treebank.treebank import Treebank

OPEN = frozenset({"ADJ", "ADV", "INTJ", "NOUN", "NUM", "PROPN", "VERB"})
RARE = 0.75  # frequencies are raised to this power, so that rare words are more frequent


def substituted(bank: Treebank, fraction: float, seed: int) -> Treebank:
    """Return a treebank in which a `fraction` of the open-class words is replaced at random.

    A word's replacement has the same UPOS, XPOS and FEATS in the treebank. Trees do not change.
    """
    random = np.random.default_rng([seed, bank.words])
    forms, lemmas, *others = (bank.column(name).texts() for name in ("form", "lemma", "upos", "xpos", "feats"))
    kinds = list(zip(*others, strict=True))
    members: dict[tuple[str, ...], Counter[tuple[str, str]]] = {}
    for form, lemma, kind in zip(forms, lemmas, kinds, strict=True):
        if kind[0] in OPEN:
            members.setdefault(kind, Counter())[form, lemma] += 1
    chosen = [word for word in np.flatnonzero(random.random(len(forms)) < fraction).tolist() if kinds[word] in members]
    for kind in dict.fromkeys(kinds[word] for word in chosen):
        replaced = [word for word in chosen if kinds[word] == kind]
        words = list(members[kind])
        odds = np.array([members[kind][word] for word in words], dtype=np.float64) ** RARE
        for word, number in zip(replaced, random.choice(len(words), len(replaced), p=odds / odds.sum()), strict=True):
            form, lemmas[word] = words[number]
            if forms[word][:1].isupper() and not forms[word].isupper():  # for example at the beginning of a sentence
                form = form[:1].upper() + form[1:]
            forms[word] = form
    return bank.with_columns({"form": forms, "lemma": lemmas})
