"""Sentences made of others: the same trees with other words of the same kind in them.

A word of an open class gives way to one that the treebank has under the same part of speech, language-specific tag and
features, and brings its lemma. The tree stays right, and a model sees more words in more places.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ropewalk.treebank.treebank import Treebank

OPEN = frozenset({"ADJ", "ADV", "INTJ", "NOUN", "NUM", "PROPN", "VERB"})
RARE = 0.75  # frequencies are raised to this power, so that rare words come more often than they do


def substituted(bank: Treebank, share: float, seed: int) -> Treebank:
    """Replace a share of the words of open classes by others of the same kind."""
    random = np.random.default_rng([seed, bank.words])
    forms, lemmas, *others = (bank.column(name).texts() for name in ("form", "lemma", "upos", "xpos", "feats"))
    kinds = list(zip(*others, strict=True))
    members: dict[tuple[str, ...], Counter[tuple[str, str]]] = {}
    for form, lemma, kind in zip(forms, lemmas, kinds, strict=True):
        if kind[0] in OPEN:
            members.setdefault(kind, Counter())[form, lemma] += 1
    chosen = [place for place in np.flatnonzero(random.random(len(forms)) < share).tolist() if kinds[place] in members]
    for kind in dict.fromkeys(kinds[place] for place in chosen):
        places = [place for place in chosen if kinds[place] == kind]
        words = list(members[kind])
        odds = np.array([members[kind][word] for word in words], dtype=np.float64) ** RARE
        for place, number in zip(places, random.choice(len(words), len(places), p=odds / odds.sum()), strict=True):
            form, lemmas[place] = words[number]
            forms[place] = _cased(form, forms[place])
    return bank.with_columns({"form": forms, "lemma": lemmas})


def _cased(word: str, like: str) -> str:
    """Begin a word with a capital if another does, as at the beginning of a sentence."""
    return word[:1].upper() + word[1:] if like[:1].isupper() and not like.isupper() else word
