"""Options of the training of a segmenter."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from ropewalk import options
from ropewalk.options import Sources, configuration, option
from ropewalk.segmentation.dictionary import MOST_LENGTH

WIDEST = 1024  # the largest dilation of a convolution, in characters or chunks


@dataclass(frozen=True, slots=True)
class NetworkOptions:
    """Options of the network: convolutions over characters, and over chunks, which are spans without spaces."""

    character_size: int = option(24, low=1, high=options.LARGEST, about="Size of character embeddings.")
    character_hidden: int = option(40, low=1, high=options.LARGEST, about="Channels of convolutions over characters.")
    character_dilations: tuple[int, ...] = option(
        (1, 1), low=1, high=WIDEST, items=(1, 16), about="Dilations of convolutions of width 5 over characters."
    )
    word_size: int = option(24, low=1, high=options.LARGEST, about="Size of word embeddings.")
    word_spread: float = option(1.0, low=0, high=options.WEIGHT, about="Spread of initial word and pair embeddings.")
    pair_size: int = option(0, low=0, high=options.LARGEST, about="Size of embeddings of word pairs; 0: no pairs.")
    chunk_hidden: int = option(80, low=1, high=options.LARGEST, about="Channels of convolutions over chunks.")
    chunk_dilations: tuple[int, ...] = option(
        (1, 2, 4, 8), low=1, high=WIDEST, items=(0, 16), about="Dilations of convolutions of width 3 over chunks."
    )
    hidden: int = option(32, low=1, high=options.LARGEST, about="Hidden units before the output.")
    dropout: float = option(0.2, low=0, high=0.9, about="Dropout.")
    least_characters: int = option(5, low=1, high=options.MANY, about="Occurrences that make a character known.")
    least_words: int = option(3, low=1, high=options.MANY, about="Occurrences that make a word known.")
    dictionary_length: int = option(
        0, low=0, high=MOST_LENGTH, about="Longest words of the dictionary, in characters; 0: no dictionary."
    )
    dictionary_size: int = option(24, low=1, high=options.LARGEST, about="Size of vectors of dictionary features.")
    gram_size: int = option(
        0, low=0, high=options.LARGEST, about="Size of embeddings of two characters, with a dictionary; 0: none."
    )
    least_grams: int = option(3, low=1, high=options.MANY, about="Occurrences that make two characters known.")
    character_skips: bool = option(default=False, about="Convolutions over characters add to their input.")
    least_pairs: int = option(1, low=1, high=options.MANY, about="Occurrences that make a pair known.")


@dataclass(frozen=True, slots=True)
class SegmenterTraining:
    """Options of the training loop, and of the random changes of the training text."""

    epochs: int = option(24, low=1, high=options.EPOCHS, about="Number of epochs.")
    minutes: float = option(
        0.0,
        low=0,
        high=options.MINUTES,
        about="Time limit in minutes, at which the learning rate reaches 0; 0: no limit.",
    )
    batch: int = option(400, low=1, high=10_000_000, about="Chunks in a batch.")
    rate: float = option(4e-3, low=0, high=options.RATE, about="Highest learning rate.")
    weight_decay: float = option(0.01, low=0, high=10, about="Weight decay of AdamW.")
    warmup: float = option(0.05, low=0, high=1, about="Share of the run in which the rate rises.")
    clip: float = option(1.0, low=0, high=1e6, about="Longest gradient; 0: any.")
    forget_words: float = option(0.1, low=0, high=0.9, about="Share of words read as unknown.")
    forget_pairs: float = option(0.6, low=0, high=0.9, about="Share of pairs read as unknown.")
    forget_characters: float = option(0.01, low=0, high=0.9, about="Share of characters read as their category.")
    forget_dictionary: float = option(0.05, low=0, high=0.9, about="Share of characters without dictionary features.")
    forget_grams: float = option(0.2, low=0, high=0.9, about="Share of pairs of characters read as unknown.")
    tag_weight: float = option(0.0, low=0, high=options.WEIGHT, about="Weight of learning parts of speech beside.")
    wrapped: float = option(0.5, low=0, high=1, about="Share of text with lines of about 80 characters.")
    lines: float = option(
        0.2, low=0, high=1, about="Share of text with a sentence or paragraph on each line and no blank lines."
    )
    altered: float = option(
        0.08, low=0, high=1, about="Share of sentences with changed case, quotes or final punctuation."
    )
    renamed: float = option(
        0.0,
        low=0,
        high=1,
        about="Share of sentences in which names replace some nouns, with other verbs before them.",
    )
    threads: int = option(0, low=0, high=options.MOST_THREADS, about="Threads; 0: all.")


@dataclass(frozen=True, slots=True)
class SegmenterConfig:
    """All options of the training of a segmenter."""

    seed: int = option(1, low=0, high=2**31 - 1, about="Seed; equal seeds, machines and threads give equal files.")
    data: Sources = field(default_factory=Sources)
    model: NetworkOptions = field(default_factory=NetworkOptions)
    training: SegmenterTraining = field(default_factory=SegmenterTraining)


load = partial(configuration, SegmenterConfig)
