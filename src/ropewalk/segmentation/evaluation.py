"""Scores of segmenters: sentences, tokens and words, with the measures of CoNLL 2018."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ropewalk.core.columns import Column
from ropewalk.scoring import conll18

if TYPE_CHECKING:
    from ropewalk.treebank.treebank import Treebank

MEASURES = ("Tokens", "Sentences", "Words")


def scores(gold: Treebank, predicted: Treebank) -> dict[str, float]:
    """Return the F1 of predicted tokens, sentences and words; trees are not scored."""
    table = conll18.evaluate(_flat(gold), _flat(predicted))
    return {measure.lower(): table[measure].f1 for measure in MEASURES}


def _flat(bank: Treebank) -> Treebank:
    """Return the treebank with all words of a sentence attached to its first word, because the scorer needs trees."""
    heads = np.ones(bank.words, dtype=np.int32)
    heads[bank.offsets.starts] = 0
    return bank.with_trees(heads, Column.of(["dep"] * bank.words))
