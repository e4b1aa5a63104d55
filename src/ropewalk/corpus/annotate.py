"""Tables of documents in, tables with their annotation out: for Ray Data, Spark, or anything that passes Arrow on."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ropewalk import batches, conllu
from ropewalk.batches import grouped, together
from ropewalk.corpus.options import LONGEST, demand_columns_for
from ropewalk.corpus.sources import is_text, refusal
from ropewalk.errors import FormatError, OptionError
from ropewalk.formats import arrow
from ropewalk.options import ParserOptions
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from ropewalk.corpus.options import Rows
    from ropewalk.corpus.sources import Content
    from ropewalk.pipeline import Parser

GROUP = 1 << 16  # characters that are parsed together


@dataclass(frozen=True, slots=True)
class Parsed:
    """The sentences of some documents, how many each has, and for a document without any the reason."""

    bank: Treebank
    counts: tuple[int, ...]
    reasons: tuple[str | None, ...]


def parsed(parser: Parser, contents: Sequence[Content], longest: int = LONGEST) -> Parsed:
    """Parse documents together, texts or CoNLL-U; one that cannot be parsed has a reason and no sentence."""
    reasons = [refusal(content, longest) for content in contents]
    good = [place for place, reason in enumerate(reasons) if reason is None]
    outcomes = together([contents[place] for place in good], functools.partial(_parsed_together, parser))
    counts = [0] * len(contents)
    for place, outcome in zip(good, outcomes, strict=True):
        if isinstance(outcome, Exception):
            reasons[place] = f"{type(outcome).__name__}: {outcome}"
        else:
            counts[place] = len(outcome.sentences)
            reasons[place] = None if counts[place] else "it has no words"
    bank = batches.joined(outcome for outcome in outcomes if not isinstance(outcome, Exception))
    return Parsed(bank, tuple(counts), tuple(reasons))


def _parsed_together(parser: Parser, contents: Sequence[Content]) -> tuple[Treebank, list[int]]:
    if contents and isinstance(contents[0], bytes):
        banks = [conllu.loads(one) for one in contents if isinstance(one, bytes)]
        return parser.treebank(Treebank.concat(banks)), [len(bank) for bank in banks]
    return parser.parse_together([one for one in contents if isinstance(one, str)])


@final
class Annotate:
    """Annotates tables of documents: call it with an Arrow table, or a record batch, that has a column of text.

    With `rows="document"` the table comes back with a column `sentences`; with `rows="sentence"` each sentence has a
    row, with `number` from 1 and `sentence`. The column `error` has the reason where a document could not be parsed,
    which then has one row without sentences. The model is loaded with the first table, so that it can be made anywhere
    and sent elsewhere; each process should use one thread.
    """

    def __init__(  # noqa: PLR0913 - options, by name
        self,
        model: str | os.PathLike[str] = "en",
        options: ParserOptions = ParserOptions(),
        *,
        text: str = "text",
        rows: Rows = "document",
        longest: int = LONGEST,
        threads: int = 1,
    ) -> None:
        if rows not in {"document", "sentence"}:
            raise OptionError(f"found rows={rows!r}; expected 'document' or 'sentence'")
        self._model = model
        self._text = text
        self._rows = rows
        self._longest = longest
        self._options = options
        self._threads = threads
        demand_columns_for(options)
        self._parser: Parser | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_parser": None}

    def schema(self, given: pa.Schema) -> pa.Schema:
        """Give the columns that come out for those that go in."""
        return pa.schema([*given, *added(self._rows)])

    def __call__(self, table: pa.Table | pa.RecordBatch) -> pa.Table:
        """Annotate a table."""
        if self._text not in table.schema.names:
            found = ", ".join(table.schema.names) or "none"
            raise FormatError("<table>", 0, "column", f"it has no column {self._text!r}; found {found}")
        kind = table.schema.field(self._text).type
        if not (is_text(kind) or pa.types.is_null(kind)):  # a few rows that are all null have no other type
            raise FormatError("<table>", 0, "column", f"column {self._text!r} is of type {kind}; expected text")
        if taken := {one.name for one in added(self._rows)} & set(table.schema.names):
            raise FormatError(
                "<table>", 0, "column", f"it has a column {min(taken)!r}, which is ours to add; rename it"
            )
        if self._parser is None:
            from ropewalk.pipeline import load

            self._parser = load(self._model, self._options, threads=self._threads)
        whole = pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table
        texts = [_text_of(value) for value in whole.column(self._text)]
        schema = self.schema(whole.schema)
        out = []
        for where in grouped(range(len(texts)), lambda place: len(texts[place] or ""), GROUP):
            annotation = parsed(self._parser, texts[where[0] : where[-1] + 1], self._longest)
            out.append(joined(whole.slice(where[0], len(where)), annotation, self._rows).cast(schema))
        return pa.concat_tables(out) if out else schema.empty_table()


def _text_of(value: pa.Scalar) -> str | None:
    try:
        found = value.as_py()
    except UnicodeDecodeError:  # Arrow does not check what it is given
        return "\udc00"
    return found.decode("utf-8", "surrogateescape") if isinstance(found, bytes) else found


def added(rows: Rows) -> list[pa.Field]:
    """Give the columns of the annotation; the last has the reason where there is none."""
    error = pa.field("error", pa.string())
    if rows == "sentence":
        return [pa.field("number", pa.int32()), pa.field("sentence", arrow.SENTENCE), error]
    return [pa.field("sentences", arrow.SENTENCES), error]


def joined(table: pa.Table, found: Parsed, rows: Rows) -> pa.Table:
    """Put the annotation of documents beside their other columns."""
    counts = np.array(found.counts, dtype=np.int64)
    errors = pa.array(found.reasons, pa.string())
    if rows == "document":
        sentences = arrow.documents(found.bank, found.counts)
        values = [pc.if_else(pc.is_null(errors), sentences, pa.scalar(None, arrow.SENTENCES)), errors]
    else:
        many = np.maximum(counts, 1)
        of_document = np.repeat(np.arange(len(counts)), many)
        inside = np.arange(len(of_document)) - np.repeat(np.cumsum(many) - many, many)
        empty = counts[of_document] == 0
        place = np.repeat(np.cumsum(counts) - counts, many) + inside
        sentences = arrow.sentences(found.bank).take(pa.array(place, pa.int64(), mask=empty))
        table, errors = table.take(pa.array(of_document)), errors.take(pa.array(of_document))
        values = [pa.array(inside + 1, pa.int32(), mask=empty), sentences, errors]
    for field, column in zip(added(rows), values, strict=True):
        table = table.append_column(field, column)
    return table
