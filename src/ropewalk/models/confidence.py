"""MERGE: this file goes. Probabilities as text; the branch `annotations` writes them in the CoNLL-U writer alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ropewalk import conllu
from ropewalk.kernels import view
from ropewalk.treebank import Column
from ropewalk.trees import frozen_ints

if TYPE_CHECKING:
    from ropewalk.treebank import Treebank

PARTS = 10_000  # probabilities are written to four digits
CONFIDENCE = "Confidence="
EARLIER = re.compile(rb"^# (?:generator|confidence) = .*\n", re.MULTILINE)


def without_earlier(bank: Treebank) -> Treebank:
    """Take out what an earlier parser said of itself and of its probabilities: its trees are replaced."""
    raw = b"" if bank.text is None else bytes(view(bank.text.raw))
    if b"# generator = " not in raw and b"onfidence" not in raw:
        return bank
    bank = conllu.loads(EARLIER.sub(b"", conllu.dumps(bank)))
    misc = bank.column("misc")
    names = ["|".join(part for part in text.split("|") if not part.startswith(CONFIDENCE)) for text in misc.names]
    return bank.with_columns({"misc": [names[number] or "_" for number in misc.ids.tolist()]})


def written(bank: Treebank) -> Treebank:
    """Write the probability of every arc into MISC, and of every tree into a comment."""
    given = bank.probabilities
    if given is None or given.arcs is None or given.trees is None:
        return bank
    misc = bank.column("misc")
    kept = ["" if text == "_" else f"{text}|" for text in misc.names]
    parts = np.rint(given.arcs * PARTS).astype(np.int64)  # few are distinct, and those are written once
    pairs, ids = np.unique(misc.ids.astype(np.int64) * (PARTS + 1) + parts, return_inverse=True)
    names = [f"{kept[pair // (PARTS + 1)]}{CONFIDENCE}{pair % (PARTS + 1) / PARTS:.4f}" for pair in pairs.tolist()]
    marked = bank.with_columns({"misc": Column(frozen_ints(ids), tuple(names))})
    return marked.with_comments([f"# confidence = {tree:.4f}" for tree in given.trees.tolist()])
