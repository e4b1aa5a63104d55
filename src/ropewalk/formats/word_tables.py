"""Word tables: one row for each word, for Arrow, pandas, Polars and files; docs/tables.md explains the columns.

The columns are computed as NumPy arrays first and converted for a library last, so that CSV and pandas do not need
PyArrow. A column of texts is stored as indices into a list of distinct texts, as in an Arrow dictionary or a pandas
categorical.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ropewalk.core.columns import Column
from ropewalk.errors import MismatchError, MissingExtraError, OptionError, demand_sequence, demand_type
from ropewalk.formats import Before
from ropewalk.treebank.features import features_of
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd
    import polars as pl
    import pyarrow as pa

DIGITS: Final = 4  # of probabilities
TEXT, NUMBER, COUNT, FLAG, SHARE = "text", "number or null", "number", "true or false", "probability or null"
SCHEMA: Final = {  # the columns in their order
    "document": TEXT,
    "sentence": COUNT,
    "sentence_id": TEXT,
    "index": COUNT,
    "form": TEXT,
    "lemma": TEXT,
    "upos": TEXT,
    "xpos": TEXT,
    "feats": TEXT,
    "head": NUMBER,
    "relation": TEXT,
    "deps": TEXT,
    "misc": TEXT,
    "head_form": TEXT,
    "head_lemma": TEXT,
    "head_upos": TEXT,
    "token_index": COUNT,
    "token": TEXT,
    "token_words": COUNT,
    "start": NUMBER,
    "end": NUMBER,
    "space_after": FLAG,
    "probability": SHARE,
    "sentence_probability": SHARE,
}
PLAIN: Final = ("lemma", "upos", "xpos", "feats", "deps", "misc")  # columns of CoNLL-U with `_` for nothing


class Texts(NamedTuple):
    """A column of texts: the text of row i is `names[ids[i]]`, or null if `ids[i]` is -1. The names are distinct."""

    ids: npt.NDArray[np.int32]
    names: tuple[str, ...]


Values = Texts | npt.NDArray[Any]  # integers are null if negative, floats if NaN


def columns(bank: Treebank, features: Sequence[str] = (), before: Before = Before()) -> dict[str, Values]:
    """Return the columns of a word table by name; each name in `features` is an additional column.

    `before` describes the output before this treebank: sentences are numbered after those, and its last document may go
    on.
    """
    demand_type("a treebank", bank, Treebank)
    demand_sequence("features", features, str)
    if wrong := [name for name in features if name in SCHEMA]:
        raise OptionError(f"features has {wrong[0]!r}, a column of every table; name features such as Number")
    owners = bank.offsets.owners()
    heads = bank.heads
    known = (heads > 0) & (heads <= np.repeat(bank.lengths, bank.lengths))
    head_rows = np.where(known, bank.offsets.head_rows(np.arange(bank.words), heads), -1)
    texts = {name: _texts(bank.column(name), name) for name in PLAIN}
    texts["form"] = _texts(bank.column("form"), "form", unknown=None)
    texts["relation"] = _texts(bank.relations, "relation")
    texts |= {f"head_{name}": _taken(texts[name], head_rows) for name in ("form", "lemma", "upos")}
    texts |= {name: _taken(values, owners) for name, values in _of_sentences(bank, before.document).items()}
    probabilities = bank.probabilities
    out: dict[str, Values] = {
        **texts,
        **_of_tokens(bank, owners),
        "sentence": (owners + before.sentences).astype(np.int32),
        "index": bank.offsets.positions(),
        "head": heads,
        "probability": rounded_probabilities(None if probabilities is None else probabilities.arcs, bank.words),
        "sentence_probability": rounded_probabilities(
            None if probabilities is None else probabilities.trees, len(bank)
        )[owners],
    }
    more = {name: _feature(bank.column("feats"), name) for name in dict.fromkeys(features)}
    return {name: out[name] for name in SCHEMA} | more


def arrow(bank: Treebank, features: Sequence[str] = (), before: Before = Before(), generator: str = "") -> pa.Table:
    """Return a word table as a PyArrow table; its metadata names `generator`, the program that made the trees."""
    pyarrow = library("pyarrow")
    values_by_name = columns(bank, features, before)
    arrays = {name: arrow_array(pyarrow, values) for name, values in values_by_name.items()}
    return pyarrow.table(arrays).replace_schema_metadata({"generator": generator} if generator else None)


def pandas(bank: Treebank, features: Sequence[str] = (), before: Before = Before()) -> pd.DataFrame:
    """Return a word table as a pandas DataFrame; texts are categoricals, and integers with nulls are `Int32`."""
    frames = library("pandas")
    values_by_name = columns(bank, features, before)
    arrays = {name: _pandas_array(frames, values, SCHEMA.get(name, TEXT)) for name, values in values_by_name.items()}
    table: pd.DataFrame = frames.DataFrame(arrays)
    return table


def polars(bank: Treebank, features: Sequence[str] = (), before: Before = Before()) -> pl.DataFrame:
    """Return a word table as a Polars DataFrame; texts are categoricals."""
    frames = library("polars")
    series = [_polars_series(frames, name, values) for name, values in columns(bank, features, before).items()]
    table: pl.DataFrame = frames.DataFrame(series)
    return table


def rows(bank: Treebank, before: Before = Before()) -> Iterable[tuple[str, ...]]:
    """Return the rows of a word table with all values as text: "" for null, `true` and `false` for truth values."""
    return zip(*map(_written, columns(bank, (), before).values()), strict=True)


def library(name: str) -> Any:  # noqa: ANN401 - a module without types
    """Import and return the module `name` of a table library; raise a `MissingExtraError` if it is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as failure:
        raise MissingExtraError("word tables", name.partition(".")[0], "tables") from failure


def arrow_array(module: Any, values: Values) -> Any:  # noqa: ANN401 - an array of PyArrow
    """Return a column as a PyArrow array; `module` is the imported module `pyarrow`."""
    if isinstance(values, Texts):
        ids = module.array(values.ids, mask=values.ids < 0)
        return module.DictionaryArray.from_arrays(ids, module.array(values.names, module.string()))
    if values.dtype == np.float64:
        return module.array(values, mask=np.isnan(values))
    return module.array(values, mask=None if values.dtype == np.bool_ else values < 0)


def rounded_probabilities(values: npt.NDArray[Any] | None, count: int) -> npt.NDArray[np.float64]:
    """Return `values` rounded, or `count` times NaN if `values` is None."""
    if values is None:
        return np.full(count, np.nan)
    numbers: npt.NDArray[np.float64] = values.astype(np.float64)
    return numbers.round(DIGITS)


def _texts(column: Column, name: str, unknown: str | None = "_") -> Texts:
    """Return a column with the texts that occur in it; the text `unknown` becomes null.

    `name` is the name of the column in errors.
    """
    used = np.zeros(len(column.names), dtype=np.bool_)
    used[column.ids] = True
    numbers: dict[str, int] = {}
    places = np.full(len(column.names), -1, dtype=np.int32)  # of names in the new list
    for number in np.flatnonzero(used).tolist():
        if (text := column.names[number]) != unknown:
            places[number] = numbers.setdefault(text, len(numbers))
    try:
        "".join(numbers).encode()
    except UnicodeEncodeError as failure:
        raise MismatchError(f"the column {name} has a lone surrogate, which is no text; replace it") from failure
    return Texts(places[column.ids], tuple(numbers))


def _taken(texts: Texts, places: npt.NDArray[Any]) -> Texts:
    """Return a column with the texts of the rows `places`; the row -1 is null."""
    if not len(texts.ids):
        return texts._replace(ids=np.full(len(places), -1, dtype=np.int32))
    return texts._replace(ids=np.where(places < 0, np.int32(-1), texts.ids[places]))


def _of_sentences(bank: Treebank, document: str | None) -> dict[str, Texts]:
    """Return the columns `sentence_id` and `document`, with one row for each sentence.

    `document` is the name of the document to which the first sentences belong, if they begin none.
    """
    headings = bank.all_headings()
    documents = []
    for heading in headings:
        document = document if heading.document is None else heading.document
        documents.append(document or "")
    return {
        "sentence_id": _texts(Column.of(metadata.id or "" for metadata in headings), "sentence_id", unknown=""),
        "document": _texts(Column.of(documents), "document", unknown=""),
    }


def _of_tokens(bank: Treebank, owners: npt.NDArray[Any]) -> dict[str, Values]:
    """Return the columns about the token of each word: its index, text, number of words, position and space after it.

    `owners` has the sentence index of each word.
    """
    surface = bank.surface
    sizes = np.diff(surface.first)
    token = np.repeat(np.arange(len(surface)), sizes)
    last = np.arange(bank.words) + 1 == surface.first[token + 1]
    spaced = np.array([bool(spaces) for spaces in surface.after.names], dtype=np.bool_)
    form = bank.column("form")
    inside = [
        (word, text) for number, text in surface.texts.items() for word in range(*surface.first[number : number + 2])
    ]
    text = form.replaced(np.array([word for word, _ in inside], dtype=np.int64), [text for _, text in inside])
    return {
        "token_index": (token - surface.offsets(bank.offsets).starts[owners] + 1).astype(np.int32),
        "token": _texts(text, "token", unknown=None),
        "token_words": sizes[token].astype(np.int32),
        "start": surface.starts[token],
        "end": surface.stops[token],
        "space_after": last & spaced[surface.after.ids[token]],
    }


def _feature(feats: Column, name: str) -> Texts:
    """Return the column of the feature `name`; it is null for words without the feature."""
    values = Column.of(features_of(text).get(name, "") for text in feats.names)
    return _texts(values.take(feats.ids), name, unknown="")


def _written(values: Values) -> list[str]:
    """Return the values of one column as text; null is ""."""
    if isinstance(values, Texts):
        names = (*values.names, "")  # the last is that of -1
        return [names[number] for number in values.ids.tolist()]
    if values.dtype == np.bool_:
        return ["true" if value else "false" for value in values.tolist()]
    if values.dtype == np.float64:
        return ["" if value != value else repr(value) for value in values.tolist()]  # noqa: PLR0124 - NaN alone
    return ["" if value < 0 else str(value) for value in values.tolist()]


def _pandas_array(module: Any, values: Values, kind: str) -> Any:  # noqa: ANN401 - an array of pandas
    if isinstance(values, Texts):
        return module.Categorical.from_codes(values.ids, categories=module.Index(values.names, dtype="str"))
    if kind == NUMBER:
        return module.arrays.IntegerArray(values.copy(), values < 0)
    return values


def _polars_series(module: Any, name: str, values: Values) -> Any:  # noqa: ANN401 - a series of Polars
    if isinstance(values, Texts):
        names = module.Series(name, [*values.names, None], dtype=module.String).cast(module.Categorical)
        return names.gather(np.where(values.ids < 0, len(values.names), values.ids).astype(np.uint32))
    series = module.Series(name, values)
    if values.dtype == np.float64:
        return series.fill_nan(None)
    return series if values.dtype == np.bool_ else series.set(series < 0, None)
