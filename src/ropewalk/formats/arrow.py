"""Arrow: the annotation of sentences and documents as nested typed columns, for Parquet files and table libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ropewalk.core.ragged import starts_of
from ropewalk.formats import word_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ropewalk.core.ragged import Offsets
    from ropewalk.treebank.treebank import Treebank

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
    """Return an Arrow list of sentences for each document.

    `counts[i]` is the number of sentences of document i; the documents follow each other in the treebank.
    """
    return pa.ListArray.from_arrays(_offsets(counts), sentences(bank), type=SENTENCES)


def sentences(bank: Treebank) -> pa.StructArray:
    """Return an Arrow struct for each sentence of a treebank; the type `SENTENCE` lists its fields."""
    surface = bank.surface
    tokens = surface.offsets(bank.offsets)
    headings = bank.all_headings()
    texts = [bank[number].text if heading.text is None else heading.text for number, heading in enumerate(headings)]
    shares = None if bank.probabilities is None else bank.probabilities.trees
    return pa.StructArray.from_arrays(
        [
            pa.array([heading.id for heading in headings], pa.string()),
            pa.array(texts, pa.string()),
            _places(surface.starts[tokens.starts]),
            _places(surface.stops[tokens.array[1:] - 1]),
            _array(word_tables.rounded_probabilities(shares, len(bank))),
            pa.ListArray.from_arrays(pa.array(bank.offsets.array, pa.int32()), _words(bank), type=pa.list_(WORD)),
            _multiword_tokens(bank, tokens),
        ],
        fields=list(SENTENCE),
    )


def _words(bank: Treebank) -> pa.StructArray:
    """Return an Arrow struct for each word; its fields are columns of the word table, where `text` is named `form`."""
    values = word_tables.columns(bank)
    arrays = [_array(values["form" if field.name == "text" else field.name]) for field in WORD]
    return pa.StructArray.from_arrays(arrays, fields=list(WORD))


def _array(values: word_tables.Values) -> pa.Array:
    """Return a column of a word table as an Arrow array; texts are stored as strings, not as a dictionary."""
    array = word_tables.arrow_array(pa, values)
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _multiword_tokens(bank: Treebank, tokens: Offsets) -> pa.ListArray:
    surface = bank.surface
    multiwords = np.flatnonzero(np.diff(surface.first) > 1)
    sentence = tokens.owners_of(multiwords)
    values = pa.StructArray.from_arrays(
        [
            pa.array([surface.texts[number] for number in multiwords.tolist()], pa.string()),
            pa.array(surface.first[multiwords] - bank.offsets.array[sentence] + 1, pa.int32()),
            pa.array(surface.first[multiwords + 1] - bank.offsets.array[sentence], pa.int32()),
            _places(surface.starts[multiwords]),
            _places(surface.stops[multiwords]),
        ],
        fields=list(TOKEN),
    )
    counts = np.bincount(sentence, minlength=len(bank))
    return pa.ListArray.from_arrays(_offsets(counts), values, type=pa.list_(TOKEN))


def _places(numbers: npt.NDArray[np.int32]) -> pa.Int32Array:
    """Return numbers with null for those that are negative."""
    return pa.array(numbers, pa.int32(), mask=numbers < 0)


def _offsets(counts: Sequence[int] | npt.NDArray[np.int64]) -> pa.Int32Array:
    return pa.array(starts_of(counts), pa.int32())
