"""What the training of a segmenter is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ropewalk import files, options
from ropewalk.options import Sources, changed, checked, option, read

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

WIDEST = 1024  # characters or chunks between those that a convolution reads


@dataclass(frozen=True, slots=True)
class NetworkOptions:
    """The network: convolutions over characters, and over the stretches between spaces."""

    character_size: int = option(24, low=1, high=options.LARGEST)
    character_hidden: int = option(40, low=1, high=options.LARGEST)
    character_dilations: tuple[int, ...] = option((1, 1), low=1, high=WIDEST, items=(1, 16))
    word_size: int = option(24, low=1, high=options.LARGEST)
    # of the numbers that stand for words and pairs, before they are learnt
    word_spread: float = option(1.0, low=0, high=options.WEIGHT)
    # numbers that stand for a word and the next together; 0: pairs are not read
    pair_size: int = option(0, low=0, high=options.LARGEST)
    chunk_hidden: int = option(80, low=1, high=options.LARGEST)
    chunk_dilations: tuple[int, ...] = option((1, 2, 4, 8), low=1, high=WIDEST, items=(0, 16))
    hidden: int = option(32, low=1, high=options.LARGEST)
    dropout: float = option(0.2, low=0, high=0.9)
    least_characters: int = option(5, low=1, high=options.MANY)
    least_words: int = option(3, low=1, high=options.MANY)
    least_pairs: int = option(1, low=1, high=options.MANY)


@dataclass(frozen=True, slots=True)
class SegmenterTraining:
    """The loop, and how the text varies from epoch to epoch."""

    epochs: int = option(24, low=1, high=options.EPOCHS)
    # after which the run ends, its learning rate having fallen in time; 0: never
    minutes: float = option(0.0, low=0, high=options.MINUTES)
    batch: int = option(400, low=1, high=10_000_000)  # stretches between spaces
    rate: float = option(4e-3, low=0, high=options.RATE)
    weight_decay: float = option(0.01, low=0, high=10)
    warmup: float = option(0.05, low=0, high=1)
    clip: float = option(1.0, low=0, high=1e6)
    forget_words: float = option(0.1, low=0, high=0.9)  # share of words read as unknown
    forget_pairs: float = option(0.6, low=0, high=0.9)
    forget_characters: float = option(0.01, low=0, high=0.9)  # share of characters read as their category
    wrapped: float = option(0.5, low=0, high=1)  # share of the text with lines of some 80 characters
    lines: float = option(0.2, low=0, high=1)  # share of the text with paragraphs or sentences on lines of their own
    altered: float = option(0.08, low=0, high=1)  # share of sentences without final punctuation, in one case, …
    threads: int = option(0, low=0, high=options.MOST_THREADS)


@dataclass(frozen=True, slots=True)
class SegmenterConfig:
    """All that the training of a segmenter is told."""

    seed: int = option(1, low=0, high=2**31 - 1)
    data: Sources = field(default_factory=Sources)
    model: NetworkOptions = field(default_factory=NetworkOptions)
    training: SegmenterTraining = field(default_factory=SegmenterTraining)


def load(path: str | os.PathLike[str], changes: Iterable[str] = ()) -> SegmenterConfig:
    """Read a TOML file, apply changes such as `training.epochs=5`, and check everything."""
    return checked(SegmenterConfig, changed(read(path), changes), files.shown(path))
