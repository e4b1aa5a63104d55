"""Parse one CoNLL-U file with one system, and say how long that took, by phases.

    python bench/peers/run.py ropewalk|spacy|udpipe MODEL IN OUT [--warm FILE]

The words and sentences of IN are taken as they are; heads, relations and what else the system predicts are written to
OUT. With `--warm` another file is parsed first, and its trees thrown away. One line of JSON on standard output has
[wall, CPU] seconds for `load` (imports included), `warm` and `parse`.
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

    Parse = Callable[[str, str], None]


def ropewalk(model: str) -> Parse:
    """Load a model of ours; parse as `ropewalk parse` does."""
    from ropewalk import conllu, pipeline

    loaded = pipeline.load(model, threads=1)

    def parse(source: str, target: str) -> None:
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
    from spacy.tokens import Doc

    nlp = spacy.load(model)

    def doc_of(rows: list[list[str]]) -> Doc:
        starts: list[bool | int | None] = [True, *[False] * (len(rows) - 1)]
        return Doc(nlp.vocab, words=[row[1] for row in rows], sent_starts=starts)

    def parse(source: str, target: str) -> None:
        blocks = Path(source).read_text(encoding="utf-8").rstrip("\n").split("\n\n")
        lines = [[line.split("\t") for line in block.split("\n")] for block in blocks]
        words = [[fields for fields in rows if fields[0].isdigit()] for rows in lines]
        for rows, doc in zip(words, nlp.pipe(map(doc_of, words)), strict=True):
            for fields, token in zip(rows, doc, strict=True):
                head, relation = token.head.i, token.dep_
                fields[4] = token.tag_
                fields[6] = str(head + 1) if head != token.i else "0"
                fields[7] = relation if relation != "ROOT" else "root"
        with Path(target).open("w", encoding="utf-8", newline="\n") as file:
            for rows in lines:
                file.write("\n".join("\t".join(fields) for fields in rows) + "\n\n")

    return parse


def udpipe(model: str) -> Parse:
    """Load a UDPipe model; tag and parse by its own pipeline from CoNLL-U to CoNLL-U."""
    from ufal.udpipe import Model, Pipeline, ProcessingError

    loaded = Model.load(str(Path(model) / "model.udpipe"))

    def parse(source: str, target: str) -> None:
        # Made here, because a pipeline does not keep its model alive; it costs nothing.
        pipeline = Pipeline(loaded, "conllu", Pipeline.DEFAULT, Pipeline.DEFAULT, "conllu")
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
