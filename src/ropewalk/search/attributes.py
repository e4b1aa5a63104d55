"""Attributes of words that patterns compare: columns of a treebank, features, parts of MISC, and numbers of trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk.core.trees import check_heads
from ropewalk.errors import demand_known
from ropewalk.kernels import search as kernel
from ropewalk.kernels import view
from ropewalk.search.syntax import ATTRIBUTE, NUMBER_ATTRIBUTES, TEXT_ATTRIBUTES
from ropewalk.treebank.features import features_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.treebank.treebank import Treebank

    Ids = npt.NDArray[np.integer[Any]]


def search_index(treebank: Treebank) -> Any:  # noqa: ANN401 - a workspace of the kernel
    """Return the trees of a treebank in the buffers of the search kernel, computed once for each treebank.

    Words may lack a head. Raise a `TreeError` if a tree has a cycle.
    """
    return treebank.kept("search index", lambda: _index(treebank))


def _index(treebank: Treebank) -> Any:  # noqa: ANN401 - a workspace of the kernel
    heads = treebank.heads
    faults = check_heads(np.maximum(heads, 0), treebank.offsets)
    for sentence in np.flatnonzero(faults.codes)[:1].tolist():
        error = faults.error(sentence)
        assert error is not None  # noqa: S101 - it has a code
        error.sentence = sentence + 1
        raise error
    starts = np.repeat(treebank.offsets.starts, treebank.lengths).astype(np.int32)
    stops = np.repeat(treebank.offsets.array[1:], treebank.lengths).astype(np.int32)
    absolute = np.where(heads > 0, starts + heads - 1, -1).astype(np.int32)
    trees = kernel.SearchedTrees(view(absolute), view(starts), view(stops))
    kernel.index(trees)
    return trees


def demand_attribute(name: str) -> None:
    """Raise an `UnknownNameError` unless `name` is an attribute of words, a feature or a part of MISC."""
    column, dot, part = name.partition(".")
    is_part = bool(part) and column in {"feats", "misc"} if dot else name[:1].isupper()
    if not (is_part and ATTRIBUTE.fullmatch(name)):
        demand_known("attribute", name, (*TEXT_ATTRIBUTES, *NUMBER_ATTRIBUTES))


def text_column(treebank: Treebank, name: str) -> tuple[Ids, Sequence[str | None]]:
    """Return a text attribute of all words: word i has the text `texts[ids[i]]`, or none if that is None."""
    if name in TEXT_ATTRIBUTES:
        column = treebank.column(TEXT_ATTRIBUTES[name])
        return column.ids, column.names
    source, _, feature = name.partition(".") if name.startswith(("feats.", "misc.")) else ("feats", "", name)
    column = treebank.column(source)
    return column.ids, [features_of(text).get(feature) for text in column.names]


def number_column(treebank: Treebank, name: str) -> npt.NDArray[Any]:
    """Return a numeric attribute of all words; probabilities that are unknown are NaN."""
    if name == "position":
        return treebank.offsets.positions()
    if name == "length":
        return np.repeat(treebank.lengths, treebank.lengths)
    if name == "probability":
        probabilities = treebank.probabilities
        return (
            np.full(treebank.words, np.nan)
            if probabilities is None or probabilities.arcs is None
            else np.asarray(probabilities.arcs)
        )
    return np.asarray(getattr(search_index(treebank), name))[: treebank.words]


def written_column(treebank: Treebank, name: str, rows: Ids) -> list[str]:
    """Return an attribute of the words with the indices `rows` as text, `_` for nothing."""
    demand_attribute(name)
    if name in NUMBER_ATTRIBUTES:
        numbers = number_column(treebank, name)[rows].tolist()
        return ["_" if number != number else f"{number:g}" for number in numbers]  # noqa: PLR0124 - NaN alone
    ids, texts = text_column(treebank, name)
    return ["_" if (text := texts[at]) is None else text for at in ids[rows].tolist()]
