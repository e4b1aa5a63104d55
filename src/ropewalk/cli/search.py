"""The command `ropewalk search`: find words by their form, tags and relations."""

import itertools
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ropewalk.cli import shell
from ropewalk.reporting.escaping import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ropewalk.search import Match, Matches, Pattern
    from ropewalk.treebank.documents import Sentence, Word

MARK, PLAIN = "\033[1;31m", "\033[0m"
CONTEXT = 40  # terminal cells on either side of a keyword
ISOLATE, POP = "\u2068", "\u2069"
ATTRIBUTES = ("form", "lemma", "upos", "xpos", "relation", "position")  # of a word in JSON
MOST_VALUES = 500  # of an attribute, among which a similar one is looked for


class Shown(StrEnum):
    """The formats of matches."""

    SENTENCES = "sentences"
    KWIC = "kwic"
    CONLLU = "conllu"
    CSV = "csv"
    JSONL = "jsonl"


ENDINGS = {".conllu": Shown.CONLLU, ".csv": Shown.CSV, ".jsonl": Shown.JSONL, ".txt": Shown.SENTENCES}


def search(
    pattern: Annotated[str, typer.Argument(metavar="PATTERN", help="What to find, such as '{upos:VERB} >obj {}=o'.")],
    files: shell.Files,
    form: Annotated[
        Shown | None,
        typer.Option(
            "--format",
            show_default=False,
            help="sentences: each with its hits marked. kwic: keyword in context. conllu: the sentences with hits. "
            "csv, jsonl: a row or a JSON object for each match. By default the format that the ending of -o stands for "
            "(.conllu, .csv, .jsonl, .txt), else sentences.",
        ),
    ] = None,
    where: Annotated[
        bool, typer.Option("--where", help="Begin each line of sentences and kwic with file, line and sentence name.")
    ] = False,
    count: Annotated[bool, typer.Option("--count", help="Print only the number of matches of each file.")] = False,
    count_by: Annotated[
        str | None,
        typer.Option(
            metavar="NAME.ATTRIBUTE,…",
            show_default=False,
            help="Count matches by attributes of named words, such as verb.lemma,obj.lemma; as a table, or with "
            "--format csv or jsonl.",
        ),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(min=0.0, metavar="S", help="Stop with an error if a piece of about a megabyte takes longer."),
    ] = 1.2,
    max_matches: Annotated[
        int, typer.Option(min=1, metavar="N", help="Stop with an error if a piece has more matches.")
    ] = 1_000_000,
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
    if count and (form is not None or count_by is not None):
        raise typer.BadParameter("--count prints numbers alone; leave out --format and --count-by, or --count")
    form = Shown.SENTENCES if count else form or shell.format_of_ending(output, ENDINGS, Shown.SENTENCES)
    if count_by is not None and form in {Shown.KWIC, Shown.CONLLU}:
        raise typer.BadParameter(f"--count-by makes a table, and {form.value} has none; use --format csv or jsonl")
    if where and (form not in {Shown.SENTENCES, Shown.KWIC} or count or count_by is not None):
        raise typer.BadParameter("--where is for --format sentences and kwic; csv and jsonl name file and sentence")
    try:
        compiled = read_pattern(pattern)
    except PatternError as error:
        for line in str(error).split("\n"):
            shell.say(line)
        raise typer.Exit(2) from None
    columns = _columns(count_by, compiled) if count_by is not None else None
    shell.warn_if_uncompiled()
    query = _Search(files, compiled, on_error, seconds, max_matches)
    if columns is not None:
        shell.put(output, [_table(_totals(query, columns), columns, form)])
    elif count:
        shell.put(output, query.counts())
    else:
        header = [_row(["file", "sentence", *_fields(compiled)])] if form is Shown.CSV else []
        marked = shell.colourful(output)
        shell.put(output, _chain(header, _written(query, form, marked=marked, where=where)))
    if not query.total and not count:
        shell.say(query.nothing())


def _chain(header: list[bytes], blocks: "Iterable[bytes]") -> "Iterator[bytes]":
    yield from header
    yield from blocks


def _columns(text: str, pattern: "Pattern") -> list[tuple[str, str]]:
    """Read what to count by; a name alone means the word's lemma."""
    from ropewalk.errors import UnknownNameError
    from ropewalk.search.attributes import demand_attribute

    out = []
    for item in text.split(","):
        name, _, attribute = item.strip().partition(".")
        attribute = attribute or "lemma"
        if name not in pattern.names:
            known = ", ".join(pattern.names) or "none; name a word with =name"
            raise typer.BadParameter(clean(f"the pattern names no word {name!r}; it names {known}"))
        try:
            demand_attribute(attribute)
        except UnknownNameError as error:
            raise typer.BadParameter(clean(f"{error}, and features such as Number")) from None
        out.append((name, attribute))
    return out


class _Search:
    """The search of a pattern in files, piece by piece, and what it found so far."""

    def __init__(
        self, files: list[str], pattern: "Pattern", on_error: shell.OnError, seconds: float, max_matches: int
    ) -> None:
        self.files = files
        self.pattern = pattern
        self.total = self._words = 0
        self.before = 0  # sentences of the file before the piece
        self._on_error = on_error
        self._seconds = seconds
        self._max_matches = max_matches
        self._unmet: dict[str, set[str]] | None = None  # conditions that no word fulfils, and the values instead

    def matches(self, file: str) -> "Iterator[Matches]":
        """Yield the matches of each piece of a file."""
        from ropewalk import conllu

        stream = conllu.stream(file, on_error=self._on_error.value)
        self.before = 0
        for bank in stream:
            matches = self.pattern.search(bank, seconds=self._seconds, max_matches=self._max_matches)
            self.total += len(matches)
            self._words += bank.words
            if not self.total:
                self._remember(self.pattern.unmet(bank))
            yield matches
            self.before += len(bank)
        for problem in stream.problems:
            shell.say(f"skipped: {problem}")

    def counts(self) -> "Iterator[bytes]":
        """Yield the number of matches of each file, as text."""
        for file in self.files:
            total = sum(len(matches) for matches in self.matches(file))
            prefix = f"{clean(file)}: " if len(self.files) > 1 else ""
            yield f"{prefix}{total}\n".encode()

    def _remember(self, unmet: dict[str, tuple[str, ...]]) -> None:
        before = self._unmet
        self._unmet = {
            condition: {*values[:MOST_VALUES], *(before or {}).get(condition, ())}
            for condition, values in unmet.items()
            if before is None or condition in before
        }

    def nothing(self) -> str:
        """Return a message that nothing was found, and which conditions no word fulfils."""
        import difflib

        parts = [f"no matches in {shell.plural(self._words, 'word')}"]
        for condition, values in (self._unmet or {}).items():
            near = difflib.get_close_matches(condition.partition(":")[2], sorted(values), n=1)
            parts.append(f"no word has {condition}" + (f", did you mean {near[0]}?" if near else ""))
        return "; ".join(parts)


def _totals(query: _Search, columns: list[tuple[str, str]]) -> "Counter[tuple[str, ...]]":
    totals: Counter[tuple[str, ...]] = Counter()
    for file in query.files:
        for matches in query.matches(file):
            totals.update(matches.count_by(*(f"{name}.{attribute}" for name, attribute in columns)))
    return totals


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


def _written(query: _Search, form: Shown, *, marked: bool, where: bool) -> "Iterator[bytes]":
    from ropewalk import conllu

    for file in query.files:
        for matches in query.matches(file):
            place = _Place(file, query.before)
            if form is Shown.CONLLU:
                numbers = sorted(set(matches.sentence_numbers))
                if numbers:
                    yield conllu.dumps(matches.treebank.select(numbers))
            elif form is Shown.SENTENCES:
                yield from _sentences(place, matches, marked=marked, where=where)
            else:
                for match in matches:
                    yield _line(place, match, query.pattern, form, marked=marked, where=where)


@dataclass(frozen=True, slots=True)
class _Place:
    """The piece of a file that is searched; `before` is the number of sentences before it."""

    file: str
    before: int

    def name(self, sentence: "Sentence") -> str:
        """Return the name of a sentence, or its number in the file."""
        return sentence.id or str(self.before + sentence.number + 1)

    def prefix(self, sentence: "Sentence") -> str:
        """Return file, line and name of a sentence, as the beginning of a line."""
        return f"{clean(self.file)}:{sentence.treebank.line(sentence.number)}: {clean(self.name(sentence))}: "


def _sentences(place: _Place, matches: "Matches", *, marked: bool, where: bool) -> "Iterator[bytes]":
    """Write each sentence with hits once, its hits marked: in colour, or between brackets."""
    hits: dict[int, set[int]] = {}
    for number, row in zip(matches.sentence_numbers, matches.rows.tolist(), strict=True):
        hits.setdefault(number, set()).update(at for at in row if at >= 0)
    for number, places in hits.items():
        start = matches.treebank.offsets[number].start
        sentence = matches.treebank[number]
        text = _running(list(sentence), {at - start for at in places}, marked=marked)
        yield f"{place.prefix(sentence) if where else ''}{text}\n".encode("utf-8", "replace")


def _running(words: "list[Word]", places: set[int], *, marked: bool) -> str:
    """Return the text of words of a sentence, with a mark on those whose index in `words` is in `places`.

    A word of a multiword token that is not spelled like a part of it is marked with the whole token.
    """
    parts = []
    numbered = enumerate(words)
    for token, group in itertools.groupby(numbered, key=lambda pair: pair[1].token):
        here = list(group)
        text = "".join(word.text for _, word in here)
        if text == token.text or len(here) <= token.last - token.first:
            parts += [_mark(word.text, marked=marked) if at in places else clean(word.text) for at, word in here]
        else:
            hit = any(at in places for at, _ in here)
            parts.append(_mark(token.text, marked=marked) if hit else clean(token.text))
        parts.append(" " if here[-1][1].space_after else "")
    return "".join(parts).rstrip()


def _keyword_line(before: str, inside: str, after: str, *, right_to_left: bool) -> str:
    """Return a keyword between its contexts, which have the same width in a terminal.

    In right-to-left text, each of the three is isolated, so that they stay in this order.
    """
    from ropewalk.drawing.measure import cells, clusters

    def cut(parts: list[tuple[str, int]]) -> list[str]:
        widths = itertools.accumulate(size for _, size in parts)
        return [part for (part, _), width in zip(parts, widths, strict=True) if width <= CONTEXT]

    left, right = "".join(cut(clusters(before)[::-1])[::-1]), "".join(cut(clusters(after)))
    shown = [f"{ISOLATE}{part}{POP}" if right_to_left else part for part in (left, inside, right)]
    return f"{' ' * (CONTEXT - cells(left))}{'  '.join(shown)}"


def _mark(text: str, *, marked: bool) -> str:
    return f"{MARK}{clean(text)}{PLAIN}" if marked else f"[{clean(text)}]"


def _fields(pattern: "Pattern") -> list[str]:
    names = ["hit", *pattern.names]
    return [field for name in names for field in (f"{name}.position", f"{name}.form", f"{name}.lemma")]


def _line(place: "_Place", match: "Match", pattern: "Pattern", form: Shown, *, marked: bool, where: bool) -> bytes:
    import json

    from ropewalk.drawing.measure import is_right_to_left

    sentence = match.sentence
    if form is Shown.KWIC:
        words, hits = list(sentence), match.hits
        low, high = hits[0].index - 1, hits[-1].index
        before, after = _running(words[:low], set(), marked=False), _running(words[high:], set(), marked=False)
        places = {hit.index - 1 - low for hit in hits}
        inside = _running(words[low:high], places, marked=marked)
        prefix = place.prefix(sentence) if where else ""
        line = _keyword_line(before, inside, after, right_to_left=is_right_to_left((sentence.text,)))
        return f"{prefix}{line}\n".encode("utf-8", "replace")
    words_by_name = match.words
    if form is Shown.CSV:
        cells = [place.file, place.name(sentence)]
        for word in (match.word, *(words_by_name.get(name) for name in pattern.names)):
            cells += ["", "", ""] if word is None else [str(word.index), word.text, word.lemma]
        return _row(cells)
    named = {name: _word_table(word) for name, word in words_by_name.items()}
    table: dict[str, object] = {"file": place.file, "sentence": place.name(sentence), "text": sentence.text}
    table |= {"hit": _word_table(match.word), "words": named}
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
