"""Parsing from Python: many texts, one short text, and spaCy on the same texts.

    python bench/api.py [--spacy FOLDER] [--paragraphs 1500] [--model en]

Paragraphs come from the training file of English EWT in the folder named by ROPEWALK_UD, or are invented if there is
none. Everything runs in one process, with one thread, and counts processor time: (a) from CoNLL-U to CoNLL-U, (b) from
text to words that are looked into one by one, (c) the same by spaCy's `nlp.pipe`, (d) one call with 20 words, (e) as
(a) but for trees alone. The spaCy pipeline is one that `bench/peers/train.py` trained, or without FOLDER one of the
same architecture, for the columns that the model has, after a few steps of training: weights change what it says, and
hardly how long it takes.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import ropewalk
from ropewalk import conllu
from ropewalk.segmentation.alignment import align
from ropewalk.segmentation.tokens import tokens_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ropewalk import Parser, Treebank

LEAST_SHARE = 0.7  # of the speed from CoNLL-U to CoNLL-U
LEAST_RATIO = 5.0  # of spaCy's speed
MOST_MILLISECONDS = 2.0
MOST_FOR_TAGS = 0.15  # of the speed of trees alone that all other columns may cost
COMPONENTS = {"xpos": "tagger", "upos": "morphologizer", "feats": "morphologizer", "lemma": "trainable_lemmatizer"}
RUNS = 3
STEPS = 60  # of training spaCy
SENTENCE = "The old rope maker walked slowly backwards all day, twisting the hemp into rope for ships in the harbour."
NAMES = ("Ada", "The ropemaker", "A sailor from Whitby", "Our neighbour", "Nobody I know", "Mr. Oakum")
VERBS = ("twisted", "sold", "didn't forget", "mended and tarred", "walked past", "said that he wanted")
THINGS = ("the hemp", "two long ropes", "every strand of it", "a knot", "the old walk by the harbour", "it")
ENDS = (".", "!", " again?", ", as the clerk wrote in his book.", " because it rained all day.", ".")


def best(action: Callable[[], object]) -> float:
    """Return the least processor time of some runs, in seconds."""
    found = []
    for _ in range(RUNS):
        begin = time.process_time()
        action()
        found.append(time.process_time() - begin)
    return min(found)


def paragraphs_of(bank: Treebank, most: int) -> list[str]:
    """Return the raw text of a treebank's paragraphs."""
    groups: list[list[Any]] = []
    for sentence in tokens_of(bank):
        if sentence.paragraph or not groups:
            groups.append([])
        groups[-1].append(sentence)
    return [align(group).text.strip() for group in groups[:most]]


def invented(most: int) -> list[str]:
    """Make paragraphs of one to six sentences."""
    draw = np.random.default_rng(5)

    def sentence() -> str:
        parts = [some[int(draw.integers(len(some)))] for some in (NAMES, VERBS, THINGS)]
        return " ".join(parts) + ENDS[int(draw.integers(len(ENDS)))]

    return [" ".join(sentence() for _ in range(int(draw.integers(1, 7)))) for _ in range(most)]


def converted(parser: Parser, source: Path, target: Path) -> None:
    """Go from CoNLL-U to CoNLL-U."""
    with target.open("wb") as file:
        for bank in conllu.stream(source, chunk_bytes=1 << 19):
            file.write(conllu.dumps(parser.treebank(bank)))


def looked_into(parser: Parser, texts: list[str]) -> int:
    """Look into every word of every text."""
    seen = 0
    for document in parser.pipe(texts):
        for sentence in document:
            for word in sentence:
                seen += len((word.text, word.upos, word.head, word.relation, word.probability)) > 0
    return seen


def looked_into_by_spacy(nlp: Any, texts: list[str]) -> int:  # noqa: ANN401 - spaCy is only there with its extra
    """Look into every word of every text."""
    seen = 0
    for doc in nlp.pipe(texts):
        for sentence in doc.sents:
            for token in sentence:
                seen += len((token.text, token.tag_, token.head, token.dep_)) > 0
    return seen


def spacy_pipeline(folder: str | None, bank: Treebank, columns: list[str]) -> Any:  # noqa: ANN401 - likewise
    """Load a spaCy pipeline, or make one for these columns that has learnt a little."""
    import spacy
    from spacy.cli.init_config import init_config
    from spacy.training import Corpus
    from spacy.training.initialize import init_nlp

    if folder is not None:
        return spacy.load(folder)
    sys.path.insert(0, str(Path(__file__).parent / "peers"))
    from train import write_docs

    with tempfile.TemporaryDirectory() as work:
        write_docs(bank, Path(work) / "train.spacy")
        components = ["tagger"] if columns == ["upos"] else dict.fromkeys(COMPONENTS[name] for name in columns)
        config = init_config(lang="en", pipeline=[*components, "parser"], optimize="efficiency", gpu=False)
        config["paths"]["train"] = config["paths"]["dev"] = str(Path(work) / "train.spacy")
        nlp = init_nlp(config)
        examples = Corpus(Path(work) / "train.spacy")(nlp)
        for _ in range(STEPS):
            nlp.update(list(itertools.islice(examples, 8)))
    return nlp


def main() -> None:
    """Measure, print, and fail if a bar is missed."""
    options = argparse.ArgumentParser()
    options.add_argument("--spacy", default=None)
    options.add_argument("--paragraphs", type=int, default=1500)
    options.add_argument("--model", default="en")
    given = options.parse_args()
    parser = ropewalk.load(given.model, threads=1)
    home = os.environ.get("ROPEWALK_UD")
    found = next(Path(home).rglob("en_ewt-ud-train.conllu"), None) if home else None
    texts = invented(given.paragraphs) if found is None else paragraphs_of(conllu.read(found), given.paragraphs)
    whole = ropewalk.Treebank.concat([document.treebank for document in parser.pipe(texts)])
    words = whole.words
    columns = [name for name in COMPONENTS if set(whole.column(name).texts()) != {"_"}]
    print(f"{len(texts):,} paragraphs, {words:,} words, {'invented' if found is None else found.name}")
    print(f"columns beside trees: {', '.join(columns)}")
    with tempfile.TemporaryDirectory() as work:
        source, target = Path(work) / "in.conllu", Path(work) / "out.conllu"
        conllu.write(source, whole.with_probabilities(None))
        first = words / best(lambda: converted(parser, source, target))
        trees = ropewalk.load(given.model, threads=1, columns=["tree"])
        fifth = words / best(lambda: converted(trees, source, target))
    second = words / best(lambda: looked_into(parser, texts))
    tagged = whole if "xpos" in columns else whole.with_columns({"xpos": whole.column("upos")})
    taught = tagged if found is None else conllu.read(found).select(np.arange(4000))
    nlp = spacy_pipeline(given.spacy, taught, columns)
    third = words / best(lambda: looked_into_by_spacy(nlp, texts))
    calls = 50
    alone = min(best(lambda: [parser(SENTENCE) for _ in range(calls)]) for _ in range(3)) / calls * 1e3
    rows = (
        ("from CoNLL-U to CoNLL-U", f"{first:10,.0f} words/s", True),
        ("parser.pipe, every word looked into", f"{second:10,.0f} words/s", True),
        ("  beside CoNLL-U", f"{second / first:10.2f} (bar: {LEAST_SHARE})", second / first >= LEAST_SHARE),
        ("nlp.pipe of spaCy, likewise", f"{third:10,.0f} words/s", True),
        ("  Ropewalk beside it", f"{second / third:10.2f} (bar: {LEAST_RATIO})", second / third >= LEAST_RATIO),
        (
            f"one call, {len(parser(SENTENCE).words)} words",
            f"{alone:10.2f} ms (bar: {MOST_MILLISECONDS})",
            alone <= MOST_MILLISECONDS,
        ),
        ("from CoNLL-U to CoNLL-U, trees alone", f"{fifth:10,.0f} words/s", True),
        (
            "  what other columns cost",
            f"{1 - first / fifth:10.2f} (bar: {MOST_FOR_TAGS})",
            first >= (1 - MOST_FOR_TAGS) * fifth,
        ),
    )
    for name, figure, fine in rows:
        print(f"{name:<40}{figure}{'' if fine else '   MISSED'}")
    if not all(fine for _, _, fine in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
