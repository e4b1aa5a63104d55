"""What the tests of pipelines share: a parser and a segmenter of a few lines each, and the program that runs them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ropewalk import conllu
from ropewalk.pipeline import Pipeline
from ropewalk.treebank import Column, Treebank
from ropewalk.trees import frozen_ints

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pytest

TOKEN = re.compile(r"(?P<token>\w+'\w+|\w+|[^\w\s])(?P<after>\s*)")
ENDS = re.compile(r"[.!?]\s+(?=\S)")


class EveryWordOnTheFirst:
    """Hangs every word on the first of its sentence, and is the surer of it the nearer they are."""

    def __init__(self, *, confidence: bool = True) -> None:
        self.confidence = confidence
        self.calls: list[int] = []

    def parse(self, bank: Treebank) -> Treebank:
        self.calls.append(bank.words)
        inner = np.arange(bank.words) - np.repeat(bank.offsets[:-1], bank.lengths)
        heads = frozen_ints(np.minimum(inner, 1))
        relations = Column(frozen_ints(np.minimum(inner, 1)), ("root", "dep"))
        upos = Column.of("PUNCT" if not form.isalnum() else "X" for form in bank.column("form").texts())
        parsed = bank.with_columns({"upos": upos}).with_trees(heads, relations)
        if not self.confidence:
            return parsed
        told = [
            "|".join([*([text] if text != "_" else []), f"Confidence={1 / (1 + place):.4f}"])
            for text, place in zip(bank.column("misc").texts(), inner.tolist(), strict=True)
        ]
        comments = [f"# confidence = {1 / length:.4f}" for length in bank.lengths.tolist()]
        return parsed.with_columns({"misc": told}).with_comments(comments)


class CutAtPunctuation:
    """Ends sentences at full stops; takes `don't` for a token of two words."""

    def segment(self, text: str) -> Treebank:
        return Treebank.concat(self.stream([text]))

    def stream(self, pieces: Iterable[str]) -> Iterator[Treebank]:
        rest, at, number = "", 0, 0
        for piece in [*pieces, None] if isinstance(pieces, list) else self._ended(pieces):
            rest += piece or ""
            ends = [found.end() for found in ENDS.finditer(rest)]
            cuts = [*ends, *([len(rest)] if piece is None and rest[ends[-1] if ends else 0 :].strip() else [])]
            blocks, start = [], 0
            for cut in cuts:
                number += 1
                blocks.append(self._block(rest[start:cut], at + start, number))
                start = cut
            rest, at = rest[start:], at + start
            if blocks:
                yield conllu.loads("".join(blocks))

    @staticmethod
    def _ended(pieces: Iterable[str]) -> Iterator[str | None]:
        yield from pieces
        yield None

    @staticmethod
    def _block(text: str, at: int, number: int) -> str:
        begun = ["# newdoc"] if number == 1 else []
        lines, word = [*begun, f"# sent_id = {number}", f"# text = {' '.join(text.split())}"], 1
        for found in TOKEN.finditer(text):
            misc = f"TokenRange={at + found.start('token')}:{at + found.end('token')}"
            misc = misc if found["after"] else f"SpaceAfter=No|{misc}"
            form = found["token"]
            parts = [form[:-3], form[-3:]] if form.endswith("n't") else [form]
            if len(parts) > 1:
                lines.append(f"{word}-{word + 1}\t{form}\t_\t_\t_\t_\t_\t_\t_\t{misc}")
            for part in parts:
                lines.append(f"{word}\t{part}\t_\t_\t_\t_\t_\t_\t_\t{misc if len(parts) == 1 else '_'}")
                word += 1
        return "\n".join([*lines, "", ""])


def pipeline(*, confidence: bool = True) -> Pipeline:
    """Make a pipeline that needs no model."""
    return Pipeline(EveryWordOnTheFirst(confidence=confidence), CutAtPunctuation(), "toy 0123456789ab")


def load(*_: object, confidence: bool = True, **__: object) -> Pipeline:
    """Stand for `ropewalk.load`."""
    return pipeline(confidence=confidence)


BEGIN = (
    f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import ropewalk.pipeline, pipeline_tools; "
    "ropewalk.pipeline.load = pipeline_tools.load; from ropewalk.cli import main; main()"
)
PROGRAM = [sys.executable, "-c", BEGIN]  # the program with the toy model instead of a real one


def exported(factory: pytest.TempPathFactory) -> Path:
    """Give a real model, hardly trained: a parser and a segmenter in one folder that needs no torch.

    It is made once in a session of tests; the trained model is `trained` beside it.
    """
    from ropewalk.segmentation.config import load as segmenter_config
    from ropewalk.training import segmenter
    from ropewalk.training.export import export
    from ropewalk.training.run import train
    from training_tools import bank_of, config_of, once, write_bank

    def make(place: Path) -> None:
        data = write_bank(place / "data.conllu", bank_of(20))
        train(config_of(data, epochs=1, tags=("upos",)), place / "trained")
        lines = [f'{part} = "{data}"' for part in ("train", "dev")]
        (place / "segmenter.toml").write_text("\n".join(["[data]", *lines, ""]), encoding="utf-8")
        segmenter.train(segmenter_config(place / "segmenter.toml", ["training.epochs=1"]), place / "segmenter")
        export(place / "trained", place / "exported", name="tiny", segmenter=place / "segmenter")

    return once(factory, "pipeline", make) / "exported"
