"""Arrow: the annotation of sentences and documents as nested typed columns, for Parquet and for engines of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ropewalk.core.columns import Column
    from ropewalk.core.ragged import Offsets
    from ropewalk.treebank.treebank import Treebank

DIGITS = 4  # of probabilities

WORD = pa.struct(
    [
        ("text", pa.string()),
        ("lemma", pa.string()),
        ("upos", pa.string()),
        ("xpos", pa.string()),
        ("feats", pa.string()),
        ("head", pa.int32()),  # from 1 in the sentence; 0 for the root
        ("relation", pa.string()),
        ("deps", pa.string()),
        ("misc", pa.string()),
        ("probability", pa.float64()),
        ("start", pa.int32()),  # of its token, in characters from the beginning of the document
        ("end", pa.int32()),
        ("space_after", pa.bool_()),
    ]
)
TOKEN = pa.struct(
    [("text", pa.string()), ("first", pa.int32()), ("last", pa.int32()), ("start", pa.int32()), ("end", pa.int32())]
)
SENTENCE = pa.struct(
    [
        ("id", pa.string()),
        ("text", pa.string()),
        ("start", pa.int32()),
        ("end", pa.int32()),
        ("probability", pa.float64()),
        ("words", pa.list_(WORD)),
        ("multiword_tokens", pa.list_(TOKEN)),
    ]
)
SENTENCES = pa.list_(SENTENCE)


def documents(bank: Treebank, counts: Sequence[int]) -> pa.ListArray:
    """Give a list of sentences for each document; `counts` says how many of the treebank's sentences each has."""
    return pa.ListArray.from_arrays(_offsets(counts), sentences(bank), type=SENTENCES)


def sentences(bank: Treebank) -> pa.StructArray:
    """Give a value for each sentence of a treebank."""
    surface = bank.surface
    tokens = surface.offsets(bank.offsets)
    headings = [bank.heading(number) for number in range(len(bank))]
    texts = [bank[number].text if heading.text is None else heading.text for number, heading in enumerate(headings)]
    shares = None if bank.probabilities is None else bank.probabilities.trees
    return pa.StructArray.from_arrays(
        [
            pa.array([heading.id for heading in headings], pa.string()),
            pa.array(texts, pa.string()),
            _places(surface.starts[tokens.starts]),
            _places(surface.stops[tokens.array[1:] - 1]),
            _shares(shares, len(bank)),
            pa.ListArray.from_arrays(pa.array(bank.offsets.array, pa.int32()), _words(bank), type=pa.list_(WORD)),
            _multiword_tokens(bank, tokens),
        ],
        fields=list(SENTENCE),
    )


def _words(bank: Treebank) -> pa.StructArray:
    surface = bank.surface
    token = np.repeat(np.arange(len(surface)), np.diff(surface.first))
    is_last = np.arange(bank.words) + 1 == surface.first[token + 1]
    spaced = np.array([bool(spaces) for spaces in surface.after.names], dtype=np.bool_)
    shares = None if bank.probabilities is None else bank.probabilities.arcs
    known = {name: _texts(bank.column(name)) for name in ("lemma", "upos", "xpos", "feats", "deps", "misc")}
    columns = {
        **known,
        "text": _texts(bank.column("form"), unknown=None),
        "head": _places(bank.heads),
        "relation": _texts(bank.relations),
        "probability": _shares(shares, bank.words),
        "start": _places(surface.starts[token]),
        "end": _places(surface.stops[token]),
        "space_after": pa.array(is_last & spaced[surface.after.ids[token]], pa.bool_()),
    }
    return pa.StructArray.from_arrays([columns[one.name] for one in WORD], fields=list(WORD))


def _multiword_tokens(bank: Treebank, tokens: Offsets) -> pa.ListArray:
    surface = bank.surface
    found = np.flatnonzero(np.diff(surface.first) > 1)
    sentence = tokens.owners_of(found)
    values = pa.StructArray.from_arrays(
        [
            pa.array([surface.texts[number] for number in found.tolist()], pa.string()),
            pa.array(surface.first[found] - bank.offsets.array[sentence] + 1, pa.int32()),
            pa.array(surface.first[found + 1] - bank.offsets.array[sentence], pa.int32()),
            _places(surface.starts[found]),
            _places(surface.stops[found]),
        ],
        fields=list(TOKEN),
    )
    counts = np.bincount(sentence, minlength=len(bank))
    return pa.ListArray.from_arrays(_offsets(counts), values, type=pa.list_(TOKEN))


def _texts(column: Column, unknown: str | None = "_") -> pa.StringArray:
    """Write out a column; what is `unknown` becomes null."""
    names = pa.array([None if name == unknown else name for name in column.names], pa.string())
    return names.take(pa.array(column.ids))


def _places(numbers: npt.NDArray[np.int32]) -> pa.Int32Array:
    """Take what is negative for null."""
    return pa.array(numbers, pa.int32(), mask=numbers < 0)


def _shares(values: npt.NDArray[np.floating[Any]] | None, count: int) -> pa.DoubleArray:
    if values is None:
        return pa.nulls(count, pa.float64())
    return pa.array(np.round(values, DIGITS), pa.float64(), mask=np.isnan(values))


def _offsets(counts: Sequence[int] | npt.NDArray[np.int64]) -> pa.Int32Array:
    return pa.array(np.concatenate([[0], np.cumsum(counts)]), pa.int32())
