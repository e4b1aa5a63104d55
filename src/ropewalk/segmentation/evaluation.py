"""How well sentences, tokens and words of raw text are found, by the measures of CoNLL 2018."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ropewalk.core.columns import Column
from ropewalk.scoring import conll18

if TYPE_CHECKING:
    from ropewalk.treebank.treebank import Treebank

MEASURES = ("Tokens", "Sentences", "Words")


def scores(gold: Treebank, found: Treebank) -> dict[str, float]:
    """Give the F1 of tokens, sentences and words; trees play no part."""
    table = conll18.evaluate(_flat(gold), _flat(found))
    return {measure.lower(): table[measure].f1 for measure in MEASURES}


def _flat(bank: Treebank) -> Treebank:
    """Hang all words of a sentence on its first, as the scorer demands trees."""
    heads = np.ones(bank.words, dtype=np.int32)
    heads[bank.offsets.starts] = 0
    return bank.with_trees(heads, Column.of(["dep"] * bank.words))
