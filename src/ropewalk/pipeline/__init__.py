"""Text, tokens or CoNLL-U in, trees out: `load` a model and call it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ropewalk.errors import OptionError
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


def load(
    name: str | os.PathLike[str] = "en", *, threads: int = 0, confidence: bool = True, batch: int | None = None
) -> Pipeline:
    """Load a model by its name, or from the folder that `ropewalk export` wrote.

    `threads` is how many to compute with, 0 for a sensible number. With `confidence` words and sentences know their
    probabilities, if the model can tell. `batch` is how many words pass the network together.
    """
    if threads < 0 or (batch is not None and batch < 1):
        raise OptionError(f"found threads={threads} and batch={batch}; expected 0 threads or more, 1 word or more")
    path = locate(name)
    from ropewalk.models.onnx import Runtime
    from ropewalk.segmentation.segmenter import Segmenter as TextSegmenter

    runtime = Runtime.load(path, threads=threads)
    changes = {"confidence": confidence and runtime.tells_confidence} | ({} if batch is None else {"batch": batch})
    segmenter = TextSegmenter.load(path, threads=threads) if (path / SEGMENTER).is_file() else None
    return Pipeline(runtime.with_decoding(**changes), segmenter, f"{runtime.name} {runtime.hash}")
