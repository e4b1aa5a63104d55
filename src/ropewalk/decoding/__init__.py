"""The best tree that label scores allow, how sure it is, and other trees beside it.

A tagger scores each word's labels alone, and the best ones often do not fit together. Here the best sequence that does
fit is found: for encodings of projective trees exactly, by the best path through the automaton of their stack; for the
others by a beam over stack contents. Where arcs are scored too, the tree is found that is best by both together.
docs/decoding.md explains it, and what is exact and what is not.
"""

from __future__ import annotations

from ropewalk.decoding.automaton import Automaton, build
from ropewalk.decoding.best import DECODERS, Best, assign_relations, decode
from ropewalk.decoding.inputs import DEPTH, exact_encodings, joint_encodings, machine_of, root_ties
from ropewalk.decoding.paths import Arcs, Sums
from ropewalk.decoding.probability import (
    Candidate,
    Scored,
    arc_probabilities,
    confidences,
    fit_temperature,
    k_best,
    marginals,
    sample,
    scored,
    tree_scores,
)
from ropewalk.encodings import Machine

__all__ = [
    "DECODERS",
    "DEPTH",
    "Arcs",
    "Automaton",
    "Best",
    "Candidate",
    "Machine",
    "Scored",
    "Sums",
    "arc_probabilities",
    "assign_relations",
    "build",
    "confidences",
    "decode",
    "exact_encodings",
    "fit_temperature",
    "joint_encodings",
    "k_best",
    "machine_of",
    "marginals",
    "root_ties",
    "sample",
    "scored",
    "tree_scores",
]
