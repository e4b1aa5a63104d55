"""The command `ropewalk review`: list words whose annotation a model doubts."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ropewalk.cli import shell
from ropewalk.reporting.escaping import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ropewalk.reporting.tables import Cell, Table
    from ropewalk.review import Suspect, SuspectSentence
    from ropewalk.treebank.documents import Sentence, Word


class ReviewFormat(StrEnum):
    """The formats of suspicious words."""

    TABLE = "table"
    CSV = "csv"
    JSONL = "jsonl"
    HTML = "html"


ENDINGS = {
    ".csv": ReviewFormat.CSV,
    ".jsonl": ReviewFormat.JSONL,
    ".html": ReviewFormat.HTML,
    ".txt": ReviewFormat.TABLE,
}


def review(
    file: shell.File,
    model: shell.ModelOption = "en",
    sentences: Annotated[
        bool, typer.Option("--sentences", help="List sentences instead of words, by their most suspicious word.")
    ] = False,
    top: Annotated[
        str,
        typer.Option(metavar="N|N%", help="List at most N words, or N% of all words, at least one; 100% lists all."),
    ] = "5%",
    form: Annotated[
        ReviewFormat | None,
        typer.Option(
            "--format",
            show_default=False,
            help="table, csv, jsonl, or html: a page to keep, replace and edit annotations; by default the format that "
            "the ending of -o stands for (.csv, .jsonl, .html, .txt), else table.",
        ),
    ] = None,
    output: shell.OutputOption = "-",
    overwrite: shell.OverwriteOption = False,
) -> None:
    """List words whose annotation a model doubts.

    Lists the words to which the model gives another head or relation, with the model's probabilities of the annotated
    ones, the most suspicious first. The file needs trees; a model that was trained on the same sentences finds less.
    docs/review.md has more.
    """
    from ropewalk import conllu
    from ropewalk.loading import load_model
    from ropewalk.review import review as judge

    shell.demand_conllu(file)
    shell.demand_other(output, [file, *shell.files_of_model(model)], overwrite=overwrite)
    form = form or shell.format_of_ending(output, ENDINGS, ReviewFormat.TABLE)
    if form is ReviewFormat.HTML and sentences:
        raise typer.BadParameter("--sentences is for lists; the page shows every word in its sentence")
    _count(top, 0)
    shell.warn_if_uncompiled()
    treebank = conllu.read(file, trees="required")
    loaded = load_model(model)
    reviewed = judge(treebank, loaded.with_decoding(columns=("tree",)))
    count = _count(top, treebank.words)
    contradicted, doubted = int(reviewed.disagrees.sum()), int(reviewed.doubts.sum())
    more = "; --top 100% lists all" if count < contradicted + doubted else ""
    shell.say(
        f"the model gives {shell.plural(contradicted, 'word')} of {treebank.words:,} another head or relation, and is "
        f"not sure of {shell.plural(doubted, 'other')}; listed: {min(count, contradicted + doubted):,}{more}"
    )
    if form is ReviewFormat.HTML:
        from ropewalk.review.page import to_page

        shell.put(output, [to_page(reviewed, count).encode("utf-8")])
        return
    table = _sentence_table(reviewed.sentences(count)) if sentences else _word_table(reviewed.suspects(count))
    if form is ReviewFormat.JSONL:
        shell.put(output, _json_lines(table))
    else:
        shell.show(table, shell.Format(form.value), output)


def _count(top: str, words: int) -> int:
    """Read a number of words, or a share of `words` in percent, which is at least one word unless it is 0%."""
    number = top.removesuffix("%")
    try:
        value = float(number) if top.endswith("%") else int(number)
    except ValueError:
        value = -1
    if not 0 <= value < float("inf"):
        raise typer.BadParameter(clean(f"--top is {top!r}; expected a number such as 100, or a share such as 5%"))
    return max(int(value * words / 100), int(value > 0)) if top.endswith("%") else int(value)


def _word_table(suspects: "list[Suspect]") -> "Table":
    from ropewalk.reporting.tables import Table, TableColumn

    def line(suspect: "Suspect") -> int:
        sentence = suspect.word.sentence
        start = sentence.treebank.offsets[sentence.number].start
        return sentence.treebank.line(sentence.number, start + suspect.word.index - 1)

    columns: dict[TableColumn, Callable[[Suspect], Cell]] = {
        TableColumn("sentence", numeric=False): lambda suspect: _name(suspect.word.sentence),
        TableColumn("line"): line,
        TableColumn("word"): lambda suspect: suspect.word.index,
        TableColumn("form", numeric=False): lambda suspect: suspect.word.text,
        TableColumn("head"): lambda suspect: _index(suspect.word),
        TableColumn("relation", numeric=False): lambda suspect: suspect.word.relation,
        TableColumn("model's head", key="model_head"): lambda suspect: _index(suspect.predicted),
        TableColumn("model's relation", key="model_relation", numeric=False): lambda suspect: (
            suspect.predicted.relation
        ),
        TableColumn("P(head)", key="head_probability", decimals=4): lambda suspect: suspect.head,
        TableColumn("P(relation)", key="relation_probability", decimals=4): lambda suspect: suspect.relation,
        TableColumn("surprise", unit="bits", decimals=1): lambda suspect: suspect.surprise,
    }
    return Table.of("Suspicious words", suspects, columns)


def _sentence_table(sentences: "list[SuspectSentence]") -> "Table":
    from ropewalk.reporting.tables import Table, TableColumn

    columns: dict[TableColumn, Callable[[SuspectSentence], Cell]] = {
        TableColumn("sentence", numeric=False): lambda entry: _name(entry.sentence),
        TableColumn("line"): lambda entry: entry.sentence.treebank.line(entry.sentence.number),
        TableColumn("words", numeric=False): lambda entry: " ".join(str(item.word.index) for item in entry.suspects),
        TableColumn("surprise", unit="bits", decimals=1): lambda entry: entry.surprise,
        TableColumn("text", numeric=False): lambda entry: entry.sentence.text,
    }
    return Table.of("Suspicious sentences", sentences, columns)


def _name(sentence: "Sentence") -> str:
    return sentence.id or str(sentence.number + 1)


def _index(word: "Word") -> int:
    return 0 if word.head is None else word.head.index


def _json_lines(table: "Table") -> "Iterator[bytes]":
    """Write a row of a table as a line of JSON; null is a probability that is unknown."""
    import json
    import math

    for row in table.rows:
        cells = (None if isinstance(cell, float) and math.isnan(cell) else cell for cell in row)
        record = dict(zip((column.id for column in table.columns), cells, strict=True))
        yield (json.dumps(record, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
