"""Text, tokens or CoNLL-U in, trees out: `load` a model and call it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ropewalk.errors import ConfigError
from ropewalk.loading import load_model
from ropewalk.models.installed import SEGMENTER, Installed, installed, locate
from ropewalk.pipeline.document import Document, Sentence, Token, Word
from ropewalk.pipeline.parser import Parser, Pipeline, Segmenter
from ropewalk.pipeline.sources import text_pieces, token_banks

if TYPE_CHECKING:
    import os

__all__ = [
    "Document",
    "Installed",
    "Parser",
    "Pipeline",
    "Segmenter",
    "Sentence",
    "Token",
    "Word",
    "installed",
    "load",
    "locate",
    "text_pieces",
    "token_banks",
]


def load(  # noqa: PLR0913 - one keyword for each choice that a model makes otherwise
    name: str | os.PathLike[str] = "en",
    *,
    threads: int = 0,
    confidence: bool = True,
    batch: int | None = None,
    decoder: str | None = None,
    repair: str | None = None,
) -> Pipeline:
    """Load a model by its name, from a folder that `ropewalk train` or `ropewalk export` wrote, or `hub:USER/MODEL`.

    `threads` is how many to compute with, 0 for a sensible number. With `confidence` words and sentences know their
    probabilities, if the model can tell. `batch` is how many words pass the network together, `decoder` how their
    scores become trees, `repair` where the decoder greedy hangs words without a head (`nearest`, `root`); all are the
    model's own choice unless given.
    """
    if threads < 0:
        raise ConfigError("load", "threads", f"is {threads}; expected at least 0")
    model = load_model(name, threads=threads)
    changes = {"batch": batch, "decoder": decoder, "repair": repair}
    model = model.with_decoding(
        confidence=confidence and model.has_probabilities,
        **{key: value for key, value in changes.items() if value is not None},
    )
    segmenter = None
    if model.path is not None and (model.path / SEGMENTER).is_file():
        from ropewalk.segmentation.segmenter import Segmenter as TextSegmenter

        segmenter = TextSegmenter.load(model.path, threads=threads)
    return Pipeline(model, segmenter, f"{model.name} {model.hash}")
