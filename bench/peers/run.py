"""Annotate one file with one system, and say how long that took, by phases.

    python bench/peers/run.py ropewalk|spacy|udpipe MODEL IN OUT [--warm FILE]

IN is CoNLL-U, whose words and sentences are taken as they are, or raw text if its name ends in `.txt`, with blank lines
between paragraphs. All that the system predicts is written to OUT as CoNLL-U. With `--warm` another file of the same
kind is annotated first, and thrown away. One line of JSON on standard output has [wall, CPU] seconds for `load`, with
imports, for `warm` and for `parse`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from importlib.metadata import EntryPoints
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from spacy.language import Language
    from spacy.tokens import Token

    Parse = Callable[[str, str], None]
    Rows = list[list[str]]  # the lines of a sentence


def is_text(file: str) -> bool:
    """Return whether a file is raw text."""
    return file.endswith(".txt")


def paragraphs(file: str) -> list[str]:
    """Read the paragraphs of a raw text."""
    return Path(file).read_text(encoding="utf-8").split("\n\n")


def ropewalk(model: str) -> Parse:
    """Load a model of ours; parse CoNLL-U as `ropewalk parse` does, and text by `pipe`, as a program would."""
    from ropewalk import conllu, pipeline

    loaded = pipeline.load(model, threads=1)

    def parse(source: str, target: str) -> None:
        if is_text(source):
            conllu.write(target, (document.treebank for document in loaded.pipe(paragraphs(source))))
        else:
            conllu.write(target, map(loaded.treebank, conllu.stream(source, chunk_bytes=1 << 19)))

    return parse


def spacy(model: str) -> Parse:
    """Load a spaCy pipeline; every sentence is a Doc of its own that may not be cut.

    Words are read and written by the least Python that does it. The models take no notice of spaces, so none are told.
    What spaCy loads only because it is installed beside it is kept away: torch, and the component that we offer it.
    """
    import catalogue

    sys.modules["torch"] = None  # type: ignore[assignment] # Python's way to say that there is none
    points = catalogue.AVAILABLE_ENTRY_POINTS
    catalogue.AVAILABLE_ENTRY_POINTS = EntryPoints(
        one for group in points.groups for one in points.select(group=group) if one.name != "ropewalk"
    )
    import spacy

    nlp = spacy.load(model)

    def parse(source: str, target: str) -> None:
        lines = spacy_text(nlp, source) if is_text(source) else spacy_words(nlp, source)
        with Path(target).open("w", encoding="utf-8", newline="\n") as file:
            file.writelines("\n".join("\t".join(fields) for fields in rows) + "\n\n" for rows in lines)

    return parse


def spacy_words(nlp: Language, source: str) -> list[Rows]:
    """Annotate the words of CoNLL-U with spaCy."""
    from spacy.tokens import Doc

    def doc_of(rows: Rows) -> Doc:
        starts: list[bool | int | None] = [True, *[False] * (len(rows) - 1)]
        return Doc(nlp.vocab, words=[row[1] for row in rows], sent_starts=starts)

    blocks = Path(source).read_text(encoding="utf-8").rstrip("\n").split("\n\n")
    lines = [[line.split("\t") for line in block.split("\n")] for block in blocks]
    words = [[fields for fields in rows if fields[0].isdigit()] for rows in lines]
    for rows, doc in zip(words, nlp.pipe(map(doc_of, words)), strict=True):
        for fields, token in zip(rows, doc, strict=True):
            fill(fields, token, token.head.i + 1 if token.head.i != token.i else 0)
    return lines


def spacy_text(nlp: Language, source: str) -> list[Rows]:
    """Annotate raw text with spaCy; blanks, which are tokens there, are left out."""
    found = []
    for doc in nlp.pipe(paragraphs(source)):
        for sentence in doc.sents:
            tokens = [token for token in sentence if not token.is_space]
            places = {token.i: place for place, token in enumerate(tokens, start=1)}
            rows = []
            for place, token in enumerate(tokens, start=1):
                head = token.head
                while head.is_space and head.head.i != head.i:
                    head = head.head
                misc = "_" if token.whitespace_ else "SpaceAfter=No"
                rows.append([str(place), token.text, *["_"] * 7, misc])
                fill(rows[-1], token, places.get(head.i, 0) if head.i != token.i else 0)
            if rows:
                found.append(one_root(rows))
    return found


def fill(fields: list[str], token: Token, head: int) -> None:
    """Write spaCy's annotation of a word into its line."""
    fields[2:6] = token.lemma_ or "_", token.pos_ or "_", token.tag_ or "_", str(token.morph) or "_"
    fields[6] = str(head)
    fields[7] = token.dep_ if head else "root"


def one_root(rows: Rows) -> Rows:
    """Attach further roots to the first: those whose root was a blank."""
    first, *others = (fields for fields in rows if fields[6] == "0")
    for fields in others:
        fields[6:8] = first[0], "parataxis"
    return rows


def udpipe(model: str) -> Parse:
    """Load a UDPipe model; annotate by its own pipeline from CoNLL-U or text to CoNLL-U."""
    from ufal.udpipe import Model, Pipeline, ProcessingError

    loaded = Model.load(str(Path(model) / "model.udpipe"))

    def parse(source: str, target: str) -> None:
        # Made here, because a pipeline does not keep its model alive; it costs nothing.
        pipeline = Pipeline(
            loaded, "tokenize" if is_text(source) else "conllu", Pipeline.DEFAULT, Pipeline.DEFAULT, "conllu"
        )
        error = ProcessingError()
        parsed = pipeline.process(Path(source).read_text(encoding="utf-8"), error)
        if error.occurred():
            raise SystemExit(f"{source}: {error.message}")
        Path(target).write_text(parsed, encoding="utf-8", newline="\n")

    return parse


SYSTEMS: dict[str, Callable[[str], Parse]] = {"ropewalk": ropewalk, "spacy": spacy, "udpipe": udpipe}


def main() -> None:
    """Load, warm up, parse, and print the times."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("system", choices=tuple(SYSTEMS))
    options.add_argument("model")
    options.add_argument("source", metavar="IN")
    options.add_argument("target", metavar="OUT")
    options.add_argument("--warm", metavar="FILE")
    given = options.parse_args()
    times: dict[str, tuple[float, float]] = {}

    def note(phase: str, before: tuple[float, float]) -> None:
        times[phase] = (time.perf_counter() - before[0], time.process_time() - before[1])

    def now() -> tuple[float, float]:
        return time.perf_counter(), time.process_time()

    begun = now()
    parse = SYSTEMS[given.system](given.model)
    note("load", begun)
    if given.warm:
        begun = now()
        parse(given.warm, os.devnull)
        note("warm", begun)
    begun = now()
    parse(given.source, given.target)
    note("parse", begun)
    print(json.dumps(times))


if __name__ == "__main__":
    main()
