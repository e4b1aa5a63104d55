"""Tools for the tests of decoding: build a problem from its parts and decode it in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ropewalk import decoding

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ropewalk.core.columns import Column
    from ropewalk.encodings import Encoding


def decode(  # noqa: PLR0913 - the parts of a problem and of a decoder
    encoding: Encoding,
    scores: Sequence[npt.ArrayLike],
    offsets: Any,  # noqa: ANN401 - also what is refused
    alphabets: Sequence[Sequence[str]],
    *,
    decoder: str = "exact",
    root: Any = None,  # noqa: ANN401 - likewise
    upos: Column | None = None,
    depth: int = decoding.DEPTH,
    repair_policy: str = "nearest",
    arcs: Any = None,  # noqa: ANN401 - likewise
    relations: Any = None,  # noqa: ANN401 - a function
) -> decoding.Best:
    """Decode the scores of labels, and of arcs if there are any."""
    labels = decoding.LabelTables(encoding, alphabets, scores, root, upos)
    problem = decoding.Problem(offsets, labels, arcs, relations)
    return decoding.decode(problem, decoder, depth=depth, repair=repair_policy)
