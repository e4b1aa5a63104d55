"""Tools for the tests of pipelines: a parser and a segmenter of a few lines each, and a real model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ropewalk.core.arrays import frozen_ints
from ropewalk.core.columns import Column
from ropewalk.pipeline import Parser
from ropewalk.segmentation.alignment import END, MULTIWORD, SENTENCE
from ropewalk.segmentation.assembly import BETWEEN, Marked, build, build_many
from ropewalk.segmentation.multiwords import Change, Splitter
from ropewalk.segmentation.reading import CharacterReader, CharacterVocabulary, codes_of
from ropewalk.treebank.surface import Probabilities

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import pytest

    from ropewalk.options import ParserOptions
    from ropewalk.treebank.treebank import Treebank

TOKEN = re.compile(r"\w+'\w+|\w+|[^\w\s]")
ENDS = re.compile(r"[.!?](?=\s)")


class EveryWordOnTheFirst:
    """Hangs every word on the first of its sentence, and holds it the likelier the nearer they are."""

    def __init__(self, *, confidence: bool = True) -> None:
        self.confidence = confidence
        self.calls: list[int] = []

    def parse(self, bank: Treebank) -> Treebank:
        self.calls.append(bank.words)
        inner = bank.offsets.positions() - 1
        heads = frozen_ints(np.minimum(inner, 1))
        relations = Column(frozen_ints(np.minimum(inner, 1)), ("root", "dep"))
        upos = Column.of("PUNCT" if not form.isalnum() else "X" for form in bank.column("form").texts())
        parsed = bank.with_columns({"upos": upos}).with_trees(heads, relations)
        found = Probabilities(1 / (1 + inner), 1 / bank.lengths) if self.confidence else None
        return parsed.with_probabilities(found)


class CutAtPunctuation:
    """Ends sentences at full stops; takes `don't` for a token of two words. Only its marks are a toy's."""

    def __init__(self) -> None:
        self._reader = CharacterReader(CharacterVocabulary("a", ("a",)))
        self._splitter = Splitter(endings={"n't": Change(3, "", ("n't",))})

    def segment_many(self, texts: Sequence[str]) -> tuple[Treebank, list[int]]:
        whole = "".join(text + BETWEEN for text in texts)
        return build_many(self._marked(whole, last=True), texts, self._splitter)

    def stream(self, pieces: Iterable[str]) -> Iterator[Treebank]:
        return build(self._parts(pieces), self._splitter)

    def _parts(self, pieces: Iterable[str]) -> Iterator[Marked]:
        rest = ""
        for piece in pieces:
            rest += piece
            cut = 1 + max((place for place, one in enumerate(rest) if one.isspace()), default=-1)
            yield self._marked(rest[:cut], last=False)
            rest = rest[cut:]
        yield self._marked(rest, last=True)

    def _marked(self, text: str, *, last: bool) -> Marked:
        marks = np.zeros(len(text), dtype=np.uint8)
        for found in TOKEN.finditer(text):
            marks[found.end() - 1] = END | (MULTIWORD if found[0].endswith("n't") else 0)
        for found in ENDS.finditer(text):
            marks[found.start()] |= SENTENCE
        return Marked(text, marks, *self._reader.spaces(codes_of(text)), last=last)


def toy_parser(*, confidence: bool = True) -> Parser:
    """Make a parser that needs no model."""
    return Parser(EveryWordOnTheFirst(confidence=confidence), CutAtPunctuation(), "toy 0123456789ab")


def salad(seed: int) -> str:
    """Return words in a random order, so that labels for them do not fit together."""
    words = "rope hemp twist walk the of and backwards had never whom all day if seen it rather which tar by"
    return " ".join(np.random.default_rng(seed).permutation(words.split())) + "."


def load(_: object, options: ParserOptions, **__: object) -> Parser:
    """Stand for `ropewalk.load`."""
    return toy_parser(confidence=options.confidence)


def exported(factory: pytest.TempPathFactory) -> Path:
    """Return a real model, hardly trained: a parser and a segmenter in one folder that needs no torch.

    It is made once in a session of tests; the trained model is `trained` beside it.
    """
    from ropewalk.segmentation.segmenter_config import load as segmenter_config
    from ropewalk.training import segmenter_training
    from ropewalk.training.export import export
    from ropewalk.training.training_run import train
    from training_tools import bank_of, config_of, once, write_bank

    def make(place: Path) -> None:
        data = write_bank(place / "data.conllu", bank_of(20))
        train(config_of(data, epochs=1, tags=("upos",)), place / "trained")
        lines = [f'{part} = "{data}"' for part in ("train", "dev")]
        (place / "segmenter.toml").write_text("\n".join(["[data]", *lines, ""]), encoding="utf-8")
        segmenter_training.train(segmenter_config(place / "segmenter.toml", ["training.epochs=1"]), place / "segmenter")
        export(place / "trained", place / "exported", name="tiny", segmenter=place / "segmenter")

    return once(factory, "pipeline", make) / "exported"
