"""Measure how many wrong heads a review finds: the share of random ones among the words that it lists first.

python bench/review.py en_ewt-ud-test.conllu

The exit code is 1 if less than 60 % of them are among the first 5 % of words.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

import numpy as np

from ropewalk import conllu
from ropewalk.core.arrays import frozen_ints
from ropewalk.loading import load_model
from ropewalk.review import review

if TYPE_CHECKING:
    from ropewalk.treebank.treebank import Treebank

LISTED, FOUND = 5, 60  # the bar: percent of the words, and of the wrong heads among them


def descendants(heads: list[int], word: int) -> set[int]:
    """Return a word and all below it; words count from 1."""
    found = {word}
    while True:
        more = {child for child, head in enumerate(heads, 1) if head in found} - found
        if not more:
            return found
        found |= more


def near(heads: list[int], word: int) -> set[int]:
    """Return the words that are mistaken for a word's head most often: its grandparent and its siblings."""
    head = heads[word - 1]
    siblings = {other for other, above in enumerate(heads, 1) if above == head}
    return siblings | ({heads[head - 1]} - {0})


def damaged(bank: Treebank, count: int, seed: int, *, subtle: bool) -> tuple[Treebank, set[int]]:
    """Return a treebank with other heads for `count` random words, all still trees, and those words.

    With `subtle` the new head is a grandparent or a sibling.
    """
    chance = np.random.default_rng(seed)
    heads = bank.heads.copy()
    wrong: set[int] = set()
    for word in chance.permutation(bank.words).tolist():
        where = bank.offsets[bank.offsets.owner(word)]
        own, place = heads[where].tolist(), word - where.start + 1
        below = descendants(own, place)
        others = [head for head in range(1, len(own) + 1) if head not in below and head != own[place - 1]]
        if subtle and own[place - 1]:
            others = [head for head in others if head in near(own, place)]
        if own[place - 1] and others:
            heads[word] = chance.choice(others)
            wrong.add(word)
        if len(wrong) == count:
            break
    return bank.with_trees(frozen_ints(heads), bank.relations), wrong


def main() -> None:
    """Print the share of wrong heads among the words that are listed first."""
    options = argparse.ArgumentParser(description=main.__doc__)
    options.add_argument("file", help="CoNLL-U with trees")
    options.add_argument("--model", default="en")
    options.add_argument("--wrong", type=int, default=500)
    options.add_argument("--seed", type=int, nargs="*", default=[1, 2, 3])
    options.add_argument("--subtle", action="store_true", help="attach words to a grandparent or a sibling")
    chosen = options.parse_args()
    bank = conllu.read(chosen.file, trees="required")
    model = load_model(chosen.model)
    model = model.with_decoding(columns=("tree",))
    missed = False
    for seed in chosen.seed:
        spoilt, wrong = damaged(bank, chosen.wrong, seed, subtle=chosen.subtle)
        spoilt.trees()
        start = time.perf_counter()
        ranked = review(spoilt, model).ranked()
        took = time.perf_counter() - start
        shares = []
        for percent in (1, 2, 5, 10):
            listed = ranked[: bank.words * percent // 100]
            share = 100 * len(wrong.intersection(listed)) / len(wrong)
            shares.append(f"{percent} %: {share:.1f} %")
            missed = missed or (percent == LISTED and share < FOUND)
        print(f"seed {seed}: of {len(wrong)} wrong heads in {bank.words:,} words, among the first {', '.join(shares)}")
        print(f"  {len(ranked):,} words listed, {took:.1f} s")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
