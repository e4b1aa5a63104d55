"""The command `ropewalk search`: find words by their form, tags and relations."""

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ropewalk.cli import shell
from ropewalk.reporting.escaping import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ropewalk.search import Match, Matches, Pattern
    from ropewalk.treebank.documents import Word

MARK, PLAIN = "\033[1;31m", "\033[0m"
CONTEXT = 40  # characters on either side of a keyword
ATTRIBUTES = ("form", "lemma", "upos", "xpos", "relation", "position")


class Shown(StrEnum):
    """The formats of matches."""

    SENTENCES = "sentences"
    KWIC = "kwic"
    CONLLU = "conllu"
    CSV = "csv"
    JSONL = "jsonl"


def search(
    pattern: Annotated[str, typer.Argument(metavar="PATTERN", help="What to find, such as '{upos:VERB} >obj {}=o'.")],
    files: shell.Files,
    form: Annotated[
        Shown,
        typer.Option(
            "--format",
            help="sentences: each with its hits marked. kwic: keyword in context. conllu: the sentences with hits. "
            "csv, jsonl: a row or a JSON object for each match.",
        ),
    ] = Shown.SENTENCES,
    count: Annotated[bool, typer.Option("--count", help="Print only the number of matches of each file.")] = False,
    count_by: Annotated[
        str | None,
        typer.Option(
            metavar="NAME.ATTRIBUTE,…",
            show_default=False,
            help="Count matches by attributes of named words, such as verb.lemma,obj.lemma.",
        ),
    ] = None,
    output: shell.OutputOption = "-",
    on_error: shell.OnErrorOption = shell.OnError.STOP,
    overwrite: shell.OverwriteOption = False,
) -> None:
    """Find words by their form, tags and relations.

    A pattern has words in braces and relations between them; docs/search.md describes the language. Files of any size
    are read piece by piece. The exit code is 0 even if nothing is found.
    """
    from ropewalk.errors import PatternError
    from ropewalk.search import compile as read_pattern

    for file in files:
        shell.demand_conllu(file)
    shell.demand_other(output, files, overwrite=overwrite)
    try:
        compiled = read_pattern(pattern)
    except PatternError as error:
        for line in str(error).split("\n"):
            shell.say(line)
        raise typer.Exit(2) from None
    columns = _columns(count_by, compiled) if count_by is not None else None
    shell.warn_if_uncompiled()
    if columns is not None:
        shell.put(output, [_table(_totals(files, compiled, columns, on_error), columns, form)])
    elif count:
        shell.put(output, _counts(files, compiled, on_error))
    else:
        header = [_row(["file", "sentence", *_fields(compiled)])] if form is Shown.CSV else []
        marked = shell.colourful(output)
        shell.put(output, _chain(header, _written(files, compiled, form, on_error, marked=marked)))


def _chain(header: list[bytes], blocks: "Iterable[bytes]") -> "Iterator[bytes]":
    yield from header
    yield from blocks


def _columns(text: str, pattern: "Pattern") -> list[tuple[str, str]]:
    """Read what to count by; a name alone means the word's lemma."""
    out = []
    for item in text.split(","):
        name, _, attribute = item.strip().partition(".")
        attribute = attribute or "lemma"
        if name not in pattern.names:
            known = ", ".join(pattern.names) or "none; name a word with =name"
            raise typer.BadParameter(clean(f"the pattern names no word {name!r}; it names {known}"))
        if attribute not in ATTRIBUTES and not attribute[0].isupper():
            raise typer.BadParameter(
                clean(f"unknown attribute {attribute!r}; known: {', '.join(ATTRIBUTES)}, and features such as Number")
            )
        out.append((name, attribute))
    return out


def _matches(file: str, pattern: "Pattern", on_error: shell.OnError) -> "Iterator[Matches]":
    from ropewalk import conllu

    stream = conllu.stream(file, on_error=on_error.value)
    for bank in stream:
        yield pattern.search(bank)
    for problem in stream.problems:
        shell.say(f"skipped: {problem}")


def _counts(files: list[str], pattern: "Pattern", on_error: shell.OnError) -> "Iterator[bytes]":
    for file in files:
        total = sum(len(matches) for matches in _matches(file, pattern, on_error))
        prefix = f"{clean(file)}: " if len(files) > 1 else ""
        yield f"{prefix}{total}\n".encode()


def _totals(
    files: list[str], pattern: "Pattern", columns: list[tuple[str, str]], on_error: shell.OnError
) -> "Counter[tuple[str, ...]]":
    totals: Counter[tuple[str, ...]] = Counter()
    for file in files:
        for matches in _matches(file, pattern, on_error):
            for match in matches:
                words = match.words
                totals[tuple(_attribute(words.get(name), attribute) for name, attribute in columns)] += 1
    return totals


def _attribute(word: "Word | None", name: str) -> str:
    if word is None:
        return "_"
    if name[0].isupper():
        return word.feats.get(name, "_")
    return str(word.index if name == "position" else getattr(word, name))


def _table(totals: "Counter[tuple[str, ...]]", columns: list[tuple[str, str]], form: Shown) -> bytes:
    """Write counts, the highest first: as CSV or JSON lines if asked for, else for people."""
    import json

    names = [f"{name}.{attribute}" for name, attribute in columns]
    rows = sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    if form is Shown.JSONL:
        lines = (json.dumps({**dict(zip(names, key, strict=True)), "count": n}, ensure_ascii=False) for key, n in rows)
        return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
    if form is Shown.CSV:
        return b"".join([_row([*names, "count"]), *(_row([*key, str(n)]) for key, n in rows)])
    from ropewalk.reporting.tables import FORMATS, Table, TableColumn

    heads = {TableColumn(name, numeric=False): (lambda row, at=at: row[0][at]) for at, name in enumerate(names)}
    table: Table = Table.of("Counts", rows, {**heads, TableColumn("count"): lambda row: row[1]})
    return FORMATS["table"](table).encode("utf-8", "replace")


def _written(
    files: list[str], pattern: "Pattern", form: Shown, on_error: shell.OnError, *, marked: bool
) -> "Iterator[bytes]":
    from ropewalk import conllu

    for file in files:
        for matches in _matches(file, pattern, on_error):
            if form is Shown.CONLLU:
                numbers = sorted(set(matches.sentence_numbers))
                if numbers:
                    yield conllu.dumps(matches.treebank.select(numbers))
            elif form is Shown.SENTENCES:
                yield from _sentences(matches, marked=marked)
            else:
                for match in matches:
                    yield _line(file, match, pattern, form, marked=marked)


def _sentences(matches: "Matches", *, marked: bool) -> "Iterator[bytes]":
    """Write each sentence with hits once, its hits marked: in colour, or between brackets."""
    hits: dict[int, set[int]] = {}
    for number, row in zip(matches.sentence_numbers, matches.rows.tolist(), strict=True):
        hits.setdefault(number, set()).update(at for at in row if at >= 0)
    for number, places in hits.items():
        start = matches.treebank.offsets[number].start
        text = _running(list(matches.treebank[number]), {at - start for at in places}, marked=marked)
        yield f"{text}\n".encode("utf-8", "replace")


def _running(words: "list[Word]", places: set[int], *, marked: bool) -> str:
    parts = []
    for at, word in enumerate(words):
        parts.append(_mark(word.text, marked=marked) if at in places else clean(word.text))
        parts.append(" " if word.space_after or word.token.is_multiword else "")
    return "".join(parts).rstrip()


def _mark(text: str, *, marked: bool) -> str:
    return f"{MARK}{clean(text)}{PLAIN}" if marked else f"[{clean(text)}]"


def _fields(pattern: "Pattern") -> list[str]:
    names = ["hit", *pattern.names]
    return [field for name in names for field in (f"{name}.position", f"{name}.form", f"{name}.lemma")]


def _line(file: str, match: "Match", pattern: "Pattern", form: Shown, *, marked: bool) -> bytes:
    import json

    sentence = match.sentence
    name = sentence.id or str(sentence.number + 1)
    if form is Shown.KWIC:
        words, hits = list(sentence), match.hits
        low, high = hits[0].index - 1, hits[-1].index
        before, after = _running(words[:low], set(), marked=False), _running(words[high:], set(), marked=False)
        places = {hit.index - 1 - low for hit in hits}
        inside = _running(words[low:high], places, marked=marked)
        return f"{before[-CONTEXT:]:>{CONTEXT}}  {inside}  {after[:CONTEXT]}\n".encode("utf-8", "replace")
    words_by_name = match.words
    if form is Shown.CSV:
        cells = [file, name]
        for word in (match.word, *(words_by_name.get(one) for one in pattern.names)):
            cells += ["", "", ""] if word is None else [str(word.index), word.text, word.lemma]
        return _row(cells)
    named = {one: _word_table(word) for one, word in words_by_name.items()}
    table = {"file": file, "sentence": name, "text": sentence.text, "hit": _word_table(match.word), "words": named}
    return (json.dumps(table, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def _word_table(word: "Word") -> dict[str, object]:
    return {name: word.index if name == "position" else getattr(word, name) for name in ATTRIBUTES}


def _row(cells: list[str]) -> bytes:
    import csv
    import io

    from ropewalk.reporting.escaping import spreadsheet_escape

    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(map(spreadsheet_escape, cells))
    return out.getvalue().encode("utf-8", "replace")
