"""Annotation of Arrow tables of documents, for use from Ray Data, Spark and other programs."""

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
from ropewalk.corpus.readers import is_text, refusal
from ropewalk.errors import FormatError, OptionError
from ropewalk.formats import arrow
from ropewalk.options import ParserOptions
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from ropewalk.corpus.options import Rows
    from ropewalk.corpus.readers import Content
    from ropewalk.pipeline import Parser

GROUP = 1 << 16  # characters that are parsed together


@dataclass(frozen=True, slots=True)
class Parsed:
    """Parsed documents: the sentences of all of them in `bank`, and the number of sentences of each in `counts`.

    `reasons` says for each document why it has no sentences; it is None for documents with sentences.
    """

    bank: Treebank
    counts: tuple[int, ...]
    reasons: tuple[str | None, ...]


def parsed(parser: Parser, contents: Sequence[Content], longest: int = LONGEST) -> Parsed:
    """Parse documents together: texts, or CoNLL-U as bytes.

    A document that cannot be parsed, or has more than `longest` characters, gets a reason and no sentences.
    """
    reasons = [refusal(content, longest) for content in contents]
    good = [index for index, reason in enumerate(reasons) if reason is None]
    outcomes = together([contents[index] for index in good], functools.partial(_parsed_together, parser))
    counts = [0] * len(contents)
    for index, outcome in zip(good, outcomes, strict=True):
        if isinstance(outcome, Exception):
            reasons[index] = f"{type(outcome).__name__}: {outcome}"
        else:
            counts[index] = len(outcome.sentences)
            reasons[index] = None if counts[index] else "it has no words"
    bank = batches.joined(outcome for outcome in outcomes if not isinstance(outcome, Exception))
    return Parsed(bank, tuple(counts), tuple(reasons))


def _parsed_together(parser: Parser, contents: Sequence[Content]) -> tuple[Treebank, list[int]]:
    if contents and isinstance(contents[0], bytes):
        banks = [conllu.loads(content) for content in contents if isinstance(content, bytes)]
        return parser.treebank(Treebank.concat(banks)), [len(bank) for bank in banks]
    return parser.parse_together([content for content in contents if isinstance(content, str)])


@final
class Annotate:
    """Function that parses the texts in the column `text` of an Arrow table or record batch, and adds the result.

    With `rows="document"`, a column `sentences` is added. With `rows="sentence"`, the result has one row for each
    sentence, with its `number` in the document, from 1, and `sentence`. A document that could not be parsed has one row
    without sentences, with the reason in the column `error`.

    The model is loaded at the first call, in the process that makes the call, so this object can be pickled. If several
    processes work, each should use one thread.
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

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """Return the schema of the annotated table for an input table with `schema`."""
        return pa.schema([*schema, *added(self._rows)])

    def __call__(self, table: pa.Table | pa.RecordBatch) -> pa.Table:
        """Return `table` with the columns of the annotation; raise a `FormatError` if its columns do not fit."""
        if self._text not in table.schema.names:
            names = ", ".join(table.schema.names) or "none"
            raise FormatError("<table>", 0, "column", f"it has no column {self._text!r}; found {names}")
        kind = table.schema.field(self._text).type
        if not (is_text(kind) or pa.types.is_null(kind)):  # a few rows that are all null have no other type
            raise FormatError("<table>", 0, "column", f"column {self._text!r} is of type {kind}; expected text")
        if taken := {field.name for field in added(self._rows)} & set(table.schema.names):
            raise FormatError(
                "<table>", 0, "column", f"it has a column {min(taken)!r}, which the annotation adds; rename it"
            )
        if self._parser is None:
            from ropewalk.pipeline import load

            self._parser = load(self._model, self._options, threads=self._threads)
        whole = pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table
        texts = [_text_of(value) for value in whole.column(self._text)]
        schema = self.schema(whole.schema)
        out = []
        for where in grouped(range(len(texts)), lambda index: len(texts[index] or ""), GROUP):
            annotation = parsed(self._parser, texts[where[0] : where[-1] + 1], self._longest)
            out.append(joined(whole.slice(where[0], len(where)), annotation, self._rows).cast(schema))
        return pa.concat_tables(out) if out else schema.empty_table()


def _text_of(value: pa.Scalar) -> str | None:
    try:
        text = value.as_py()
    except UnicodeDecodeError:  # Arrow does not check its text
        return "\udc00"
    return text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text


def added(rows: Rows) -> list[pa.Field]:
    """Return the Arrow fields of the columns that annotation adds; the last is `error`."""
    error = pa.field("error", pa.string())
    if rows == "sentence":
        return [pa.field("number", pa.int32()), pa.field("sentence", arrow.SENTENCE), error]
    return [pa.field("sentences", arrow.SENTENCES), error]


def joined(table: pa.Table, annotation: Parsed, rows: Rows) -> pa.Table:
    """Return `table`, which has a row for each document, with the columns of the annotation.

    If `rows` is `sentence`, the row of a document is repeated for each of its sentences.
    """
    counts = np.array(annotation.counts, dtype=np.int64)
    errors = pa.array(annotation.reasons, pa.string())
    if rows == "document":
        sentences = arrow.documents(annotation.bank, annotation.counts)
        values = [pc.if_else(pc.is_null(errors), sentences, pa.scalar(None, arrow.SENTENCES)), errors]
    else:
        many = np.maximum(counts, 1)
        of_document = np.repeat(np.arange(len(counts)), many)
        inside = np.arange(len(of_document)) - np.repeat(np.cumsum(many) - many, many)
        empty = counts[of_document] == 0
        index = np.repeat(np.cumsum(counts) - counts, many) + inside
        sentences = arrow.sentences(annotation.bank).take(pa.array(index, pa.int64(), mask=empty))
        table, errors = table.take(pa.array(of_document)), errors.take(pa.array(of_document))
        values = [pa.array(inside + 1, pa.int32(), mask=empty), sentences, errors]
    for field, column in zip(added(rows), values, strict=True):
        table = table.append_column(field, column)
    return table
