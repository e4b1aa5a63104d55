"""Encodings of trees by name; `encodings.graphs` has the encodings of graphs.

An encoding is named by a text with its options: `optimal`, `brackets(planes=2)`, `optimal(policy=published)`. A scheme
after `+` makes it pseudo-projective: `optimal+head`, `hexatags+path`, `four-bit+head-chained`.

Another package can add encodings through the entry point group `ropewalk.encodings` (`ropewalk.graph_encodings` for
graphs). The entry's name is the name of the encoding. Its object is a subclass of `Encoding`, or a function that
returns an encoding when called with the options as keywords. `register` adds an encoding at run time.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final

from ropewalk.core.projectivity import SCHEMES
from ropewalk.encodings.base import POLICIES, ClosedEncoding, Encoding
from ropewalk.encodings.labels import FAULTS, Decoded, Fault, Faults, Labels, Recovered
from ropewalk.encodings.machines import BracketMachine, BracketStacks, Machine, Marks
from ropewalk.encodings.pseudo import PseudoProjective
from ropewalk.encodings.registry import Registry, parse_spec
from ropewalk.errors import demand_known

if TYPE_CHECKING:
    from ropewalk.encodings.optimal import bracketing as bracketing

__all__ = [
    "FAULTS",
    "POLICIES",
    "BracketMachine",
    "BracketStacks",
    "ClosedEncoding",
    "Decoded",
    "Encoding",
    "Fault",
    "Faults",
    "Labels",
    "Machine",
    "Marks",
    "PseudoProjective",
    "Recovered",
    "bracketing",
    "get",
    "known",
    "names_where",
    "options_of",
    "parse_spec",
    "register",
]


def __getattr__(name: str) -> object:
    if name == "bracketing":
        return importlib.import_module("ropewalk.encodings.optimal").bracketing
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _apply_scheme(encoding: Encoding, scheme: str) -> Encoding:
    demand_known("pseudo-projective scheme", scheme, SCHEMES)
    return PseudoProjective(encoding, scheme)


REGISTRY: Final[Registry[Encoding]] = Registry(
    "encoding",
    "ropewalk.encodings",
    {
        "optimal": ("optimal", "Optimal"),
        "optimal-nonprojective": ("optimal", "OptimalNonprojective"),
        "four-bit": ("four_bit", "FourBit"),
        "seven-bit": ("seven_bit", "SevenBit"),
        "brackets": ("brackets", "Brackets"),
        "hexatags": ("hexatags", "Hexatags"),
        "absolute": ("positions", "Absolute"),
        "relative": ("positions", "Relative"),
        "pos-offset": ("positions", "PosOffset"),
        "arc-standard": ("transitions", "ArcStandard"),
        "arc-eager": ("transitions", "ArcEager"),
        "arc-hybrid": ("transitions", "ArcHybrid"),
        "covington": ("transitions", "Covington"),
    },
    _apply_scheme,
)
known = REGISTRY.known
names_where = REGISTRY.names_where
options_of = REGISTRY.options_of
register = REGISTRY.register
get = REGISTRY.get
