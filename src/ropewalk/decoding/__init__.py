"""The best tree that label scores allow, how sure it is, and other trees beside it.

A tagger scores each word's labels alone, and the best ones often do not fit together. Here the best sequence that does
fit is found: for encodings of projective trees exactly, by the best path through the automaton of their stack; for
others by a search over open brackets that mostly can prove what it finds. Where arcs are scored too, the tree is found
that is best by both together; `decode_arcs` finds the best tree by arcs alone.
docs/decoding.md explains it, and what is exact and what is not.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ropewalk.decoding.arcs import ARC_DECODERS, decode_arcs
from ropewalk.decoding.automaton import Automaton, build
from ropewalk.decoding.best import DECODERS, Best, assign_relations, decode
from ropewalk.decoding.expected import TreeSums, arc_sums, expected_trees, mbr_encodings, tree_sums
from ropewalk.decoding.inputs import DEPTH, exact_encodings, joint_encodings, machine_of, root_ties, stacks_of
from ropewalk.decoding.matrix_tree import spanning_tree_sums
from ropewalk.decoding.paths import ArcScores, Sums
from ropewalk.encodings import Machine

if TYPE_CHECKING:
    from ropewalk.decoding.probability import Candidate as Candidate
    from ropewalk.decoding.probability import Scored as Scored
    from ropewalk.decoding.probability import arc_probabilities as arc_probabilities
    from ropewalk.decoding.probability import confidences as confidences
    from ropewalk.decoding.probability import fit_temperature as fit_temperature
    from ropewalk.decoding.probability import k_best as k_best
    from ropewalk.decoding.probability import marginals as marginals
    from ropewalk.decoding.probability import sample as sample
    from ropewalk.decoding.probability import scored as scored
    from ropewalk.decoding.probability import tree_scores as tree_scores

__all__ = [
    "ARC_DECODERS",
    "DECODERS",
    "DEPTH",
    "ArcScores",
    "Automaton",
    "Best",
    "Candidate",
    "Machine",
    "Scored",
    "Sums",
    "TreeSums",
    "arc_probabilities",
    "arc_sums",
    "assign_relations",
    "build",
    "confidences",
    "decode",
    "decode_arcs",
    "exact_encodings",
    "expected_trees",
    "fit_temperature",
    "joint_encodings",
    "k_best",
    "machine_of",
    "marginals",
    "mbr_encodings",
    "root_ties",
    "sample",
    "scored",
    "spanning_tree_sums",
    "stacks_of",
    "tree_scores",
    "tree_sums",
]


def __getattr__(name: str) -> object:  # of probabilities, which a program that parses one sentence may not need
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module("ropewalk.decoding.probability"), name)
    globals()[name] = value
    return value
