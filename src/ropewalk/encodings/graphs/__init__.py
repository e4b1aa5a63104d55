"""Every encoding of graphs by its name, which is that of the encoding of trees with the same labels.

An encoding is named as text: `optimal-nonprojective`, `brackets(planes=3)`, `six-bit(planes=2,policy=refuse)`.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Final

from ropewalk.encodings import check_options, parse_spec
from ropewalk.encodings.graphs.base import FAULTS, DecodedGraphs, GraphEncoding, GraphLabels
from ropewalk.encodings.graphs.bits import FourBitGraphs, SixBitGraphs
from ropewalk.encodings.graphs.brackets import HierarchicalGraphs, PlanarGraphs
from ropewalk.encodings.graphs.offsets import AbsoluteGraphs, RelativeGraphs
from ropewalk.errors import EncodingOptionError, demand_known

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["DEFAULT", "FAULTS", "KNOWN", "DecodedGraphs", "GraphEncoding", "GraphLabels", "get", "options_of"]

DEFAULT: Final = HierarchicalGraphs.name
KNOWN: Final[Mapping[str, Callable[..., GraphEncoding]]] = {
    encoding.name: encoding
    for encoding in (HierarchicalGraphs, PlanarGraphs, FourBitGraphs, SixBitGraphs, AbsoluteGraphs, RelativeGraphs)
}


def options_of(name: str) -> dict[str, str | int]:
    """Give the options that an encoding takes, with their defaults."""
    demand_known("encoding of graphs", name, KNOWN)
    parameters = inspect.signature(KNOWN[name]).parameters.values()
    return {one.name: one.default for one in parameters if one.default is not one.empty}


def get(spec: str, **overriding: str | int) -> GraphEncoding:
    """Make the encoding that a text names; options given by keyword replace those in the text."""
    name, options, scheme = parse_spec(spec)
    takes = options_of(name)
    if scheme:
        raise EncodingOptionError(
            f"{spec!r} has a pseudo-projective scheme, which is for trees; expected none after {name}"
        )
    options |= overriding
    check_options(name, options, takes)
    return KNOWN[name](**options)
