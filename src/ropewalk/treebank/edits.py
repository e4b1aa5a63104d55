"""Edits of words: new values for rows of a treebank, which are read and checked before anything changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeGuard

import numpy as np

import ropewalk
from ropewalk.core.arrays import HIGHEST, LOWEST, as_array
from ropewalk.core.trees import check_heads
from ropewalk.errors import HeadRangeError, MismatchError, RootError, demand_known, demand_type
from ropewalk.treebank.features import features_text
from ropewalk.treebank.source import COLUMNS, UNWRITABLE

if TYPE_CHECKING:
    import numpy.typing as npt

    from ropewalk import Sentence, Treebank
    from ropewalk.core.arrays import Ints

NAMES: Final = ("head", "relation", *(name for name in COLUMNS if name not in {"id", "head"}))


class Edit(NamedTuple):
    """New values of one column, named as in CoNLL-U: row `rows[i]` gets the value `values[i]`.

    Rows are word indices over the treebank, from 0. Heads are integers, all other values text.
    """

    column: str
    rows: npt.NDArray[np.int64]
    values: list[Any]


def edits_of(bank: Treebank, columns: Mapping[str, Any], where: object) -> list[Edit]:
    """Return an `Edit` for each of `columns`, checked; `Treebank.replace` explains `columns` and `where`."""
    demand_type("columns", columns, Mapping)
    chosen = np.arange(bank.words) if where is None else _rows(bank, where)
    out: dict[str, Edit] = {}
    for name, content in columns.items():
        demand_known("column", name, NAMES)
        column = "deprel" if name == "relation" else name
        if column in out:
            raise MismatchError("relation and deprel are the same column; name one of them")
        rows, values = (_rows(bank, content), list(content.values())) if _is_by_word(content) else (chosen, [content])
        if _is_listed(content) and not isinstance(content, str | Mapping):
            values = list(content)
            if len(values) != len(rows):
                raise MismatchError(f"{len(values)} values of {name} for {len(rows)} words; expected one for each")
        values = values * len(rows) if len(values) == 1 else values
        checked = _heads(bank, rows, values) if column == "head" else [_text(name, value) for value in values]
        out[column] = Edit(column, rows, checked)
    return list(out.values())


def rows_of_sentence(sentence: Sentence, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the edits of a sentence to edits of its treebank, as `Treebank.replace` expects them.

    Words of the sentence, which count from 1, become rows of the treebank, which count from 0.
    """
    demand_type("columns", columns, Mapping)
    first = sentence.treebank.offsets[sentence.number].start
    out = dict(columns)
    for name, content in columns.items():
        if _is_by_word(content):
            out[name] = {first + _index(sentence, word) - 1: value for word, value in content.items()}
    return out


def demand_trees(bank: Treebank, heads: Ints, rows: npt.NDArray[Any]) -> None:
    """Raise a `TreeError` unless `heads` form a tree with one root in every sentence that contains one of `rows`."""
    sentences = np.unique(bank.offsets.owners_of(rows))
    offsets, words = bank.offsets.select(sentences)
    faults = check_heads(heads[words], offsets)
    for place in np.flatnonzero(faults.bad).tolist():
        number = int(sentences[place])
        roots = np.flatnonzero(heads[bank.offsets[number]] == 0) + 1
        error = faults.error(place) or RootError(roots.tolist())
        name = bank.heading(number).id
        which = f"sentence {name}" if name else "the sentence"
        advice = f"give all words of {which} that need another head one in the same call"
        if isinstance(error, HeadRangeError):
            advice = f"heads count from 1 to {int(offsets.lengths[place])}, and 0 is the root"
        error.explain(number + 1, advice)
        raise error


def _is_by_word(content: object) -> bool:
    """Return whether `content` maps words to values; a mapping with only text as keys is one of features."""
    return isinstance(content, Mapping) and not (content and all(isinstance(key, str) for key in content))


def _is_listed(value: object) -> TypeGuard[Iterable[Any]]:
    """Return whether `value` is an iterable; an array without dimensions counts as one value."""
    return isinstance(value, Iterable) and not (isinstance(value, np.ndarray) and not value.ndim)


def _index(sentence: Sentence, word: object) -> int:
    if isinstance(word, ropewalk.Word) and word.sentence == sentence:
        return word.index
    if not isinstance(word, int | np.integer) or isinstance(word, bool) or not 1 <= word <= len(sentence):
        raise MismatchError(f"found word {word!r}; expected one of the {len(sentence)} words, which count from 1")
    return int(word)


def _rows(bank: Treebank, where: object) -> npt.NDArray[np.int64]:
    """Return the rows that `where` chooses: a mask with a boolean for each word, rows, or `Word`s."""
    if _is_listed(where):
        listed = where if isinstance(where, np.ndarray) else list(where)
        if any(isinstance(item, ropewalk.Word) for item in listed):
            return np.array([_row(bank, item) for item in listed], dtype=np.int64)
        where = listed
    array = as_array(where, "words to edit")
    if array.dtype == np.bool_ and array.shape == (bank.words,):
        return np.flatnonzero(array)
    if array.ndim != 1 or (len(array) and array.dtype.kind not in "iu"):
        raise MismatchError(
            f"words to edit: found {array.dtype} of shape {array.shape}; expected {bank.words} truth values, or rows, "
            "or words"
        )
    if len(array) and not 0 <= array.min() <= array.max() < bank.words:
        raise MismatchError(f"rows {array.min()} to {array.max()} of {bank.words} words; rows count from 0")
    return array.astype(np.int64)


def _row(bank: Treebank, word: object) -> int:
    if not isinstance(word, ropewalk.Word):
        raise MismatchError(f"words to edit: found {type(word).__name__} beside words; expected words alone")
    if word.sentence.treebank.offsets is not bank.offsets:
        raise MismatchError(f"{word!r} is of another treebank; expected words of the one that is edited")
    start: int = bank.offsets[word.sentence.number].start
    return start + word.index - 1


def _heads(bank: Treebank, rows: npt.NDArray[np.int64], values: list[Any]) -> list[int]:
    """Return the new heads of `rows` as integers; `values` are words of the same sentence or their indices."""
    out = []
    for row, value in zip(rows.tolist(), values, strict=True):
        index = value
        if isinstance(value, ropewalk.Word):
            index = value.index
            if bank.offsets.owner(_row(bank, value)) != bank.offsets.owner(row):
                raise MismatchError(f"head is {value!r} of another sentence; expected a word of the same sentence")
        if isinstance(index, bool) or not isinstance(index, int | np.integer) or not LOWEST <= index <= HIGHEST:
            raise MismatchError(f"head is {value!r}; expected the index of a word, or 0 for the root")
        out.append(int(index))
    return out


def _text(name: str, value: object) -> str:
    """Return `value` as text; raise a `MismatchError` if CoNLL-U cannot contain it. Features may be a mapping."""
    text = value
    if name == "feats" and isinstance(value, Mapping):
        text = features_text(value)
    if not isinstance(text, str) or not text or UNWRITABLE.search(text):
        raise MismatchError(
            f"{name} is {value!r}; expected text of at least one character without tabs, line breaks and lone "
            "surrogates, and _ for nothing"
        )
    return str(text)
