"""Decoding: the best tree for the scores of a model, its probability, and alternative trees.

A tagger scores the labels of each word on their own, so the best labels often do not fit together. A decoder finds the
best sequence that does fit. For encodings of projective trees the result is exact: the best path through an automaton
that reads their labels. For other encodings it is a beam search over open brackets, which can prove most of its
results. If arcs have scores, a decoder finds the best tree for labels and arcs together, or for arcs alone.
docs/decoding.md explains the decoders and which of them are exact.

`OWN` lists the names of our decoders. The module of that name holds the class as `DECODER`. Another package adds a
decoder through the entry point group `ropewalk.decoders`: the entry's name is the decoder's name, and its object is a
subclass of `Decoder`. docs/own-decoder.md is a worked example.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING, Final

from ropewalk.errors import OptionError, demand_known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ropewalk.decoding.automaton import Automaton as Automaton
    from ropewalk.decoding.automaton import build as build
    from ropewalk.decoding.expected import TreeSums as TreeSums
    from ropewalk.decoding.expected import arc_sums as arc_sums
    from ropewalk.decoding.expected import tree_sums as tree_sums
    from ropewalk.decoding.matrix_tree import spanning_tree_sums as spanning_tree_sums
    from ropewalk.decoding.paths import ArcScores as ArcScores
    from ropewalk.decoding.paths import Sums as Sums
    from ropewalk.decoding.probability import Candidate as Candidate
    from ropewalk.decoding.probability import Scored as Scored
    from ropewalk.decoding.probability import arc_probabilities as arc_probabilities
    from ropewalk.decoding.probability import confidences as confidences
    from ropewalk.decoding.probability import fit_temperature as fit_temperature
    from ropewalk.decoding.probability import head_probabilities as head_probabilities
    from ropewalk.decoding.probability import k_best as k_best
    from ropewalk.decoding.probability import marginals as marginals
    from ropewalk.decoding.probability import sample as sample
    from ropewalk.decoding.probability import scored as scored
    from ropewalk.decoding.probability import tree_scores as tree_scores
    from ropewalk.decoding.problem import DEPTH as DEPTH
    from ropewalk.decoding.problem import Best as Best
    from ropewalk.decoding.problem import Decoder as Decoder
    from ropewalk.decoding.problem import LabelTables as LabelTables
    from ropewalk.decoding.problem import Problem as Problem
    from ropewalk.decoding.problem import decode as decode
    from ropewalk.decoding.problem import decode_arcs as decode_arcs
    from ropewalk.decoding.problem import exact_encodings as exact_encodings
    from ropewalk.decoding.problem import machine_of as machine_of
    from ropewalk.decoding.problem import root_score_table as root_score_table
    from ropewalk.decoding.problem import stacks_of as stacks_of
    from ropewalk.decoding.relations import assign_relations as assign_relations
    from ropewalk.decoding.spanning import expected_trees as expected_trees

OWN: Final = ("exact", "joint", "mbr", "mbr-nonprojective", "greedy")
GROUP: Final = "ropewalk.decoders"

_HOMES = {  # the modules of names that are imported when first used: `load` needs few of them
    "automaton": ("Automaton", "build"),
    "expected": ("TreeSums", "arc_sums", "tree_sums"),
    "matrix_tree": ("spanning_tree_sums",),
    "paths": ("ArcScores", "Sums"),
    "probability": (
        *("Candidate", "Scored", "arc_probabilities", "confidences", "fit_temperature"),
        *("head_probabilities", "k_best", "marginals", "sample", "scored", "tree_scores"),
    ),
    "problem": (
        *("DEPTH", "Best", "Decoder", "LabelTables", "Problem", "decode", "decode_arcs", "exact_encodings"),
        *("machine_of", "root_score_table", "stacks_of"),
    ),
    "relations": ("assign_relations",),
    "spanning": ("expected_trees",),
}

__all__ = [  # noqa: PLE0604 - names of other modules
    "OWN",
    "arc_decoders",
    "encodings_of",
    "get",
    "known",
    "label_decoders",
    *(name for names in _HOMES.values() for name in names),
]


def __getattr__(name: str) -> object:
    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


def _own(name: str) -> type[Decoder]:
    kind: type[Decoder] = importlib.import_module(f"{__name__}.{name.replace('-', '_')}").DECODER
    return kind


@cache
def known() -> dict[str, type[Decoder]]:
    """Return all decoder classes by name, including those of other packages."""
    from ropewalk.core.plugins import plugins
    from ropewalk.decoding.problem import Decoder

    decoders = {name: _own(name) for name in OWN}
    for name, kind in plugins(GROUP, type).items():
        if not issubclass(kind, Decoder):
            raise OptionError(
                f"the entry point {name} of {GROUP} is {kind.__name__}; "
                "expected a subclass of ropewalk.decoding.Decoder"
            )
        decoders.setdefault(name, kind)
    return decoders


def get(name: str) -> type[Decoder]:
    """Return the decoder class called `name`. Other packages are searched only if the name is not in `OWN`."""
    if isinstance(name, str) and name in OWN:
        return _own(name)
    demand_known("decoder", name, known())
    return known()[name]


class Names:
    """The names of all decoders, as a lazy collection: other packages are searched only if `OWN` does not suffice."""

    def __contains__(self, name: object) -> bool:
        return name in OWN or name in known()

    def __iter__(self) -> Iterator[str]:
        return iter(known())


def label_decoders() -> tuple[str, ...]:
    """Return the names of the decoders for models that score labels."""
    return tuple(name for name, kind in known().items() if kind.by_labels)


def arc_decoders() -> tuple[str, ...]:
    """Return the names of the decoders for models that score only arcs."""
    return tuple(name for name, kind in known().items() if kind.trees_by_arcs)


def encodings_of(decoder: str) -> tuple[str, ...]:
    """Return the names of the encodings that a decoder supports."""
    from ropewalk.encodings import names_where

    kind = get(decoder)
    return names_where(lambda encoding: kind.supports(encoding, encoding.alphabet or ()))
