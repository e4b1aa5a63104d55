"""Options of a training run, read from a TOML file, changed with `a.b=c` on the command line, and checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from ropewalk.models.description import DecodingOptions
from ropewalk.models.subwords import WIDEST
from ropewalk.models.tags import FEATS
from ropewalk.options import (
    EPOCHS,
    LARGEST,
    MANY,
    MINUTES,
    MOST_THREADS,
    RATE,
    WEIGHT,
    Sources,
    checked,
    configuration,
    option,
)
from ropewalk.scoring.attachment import MEASURES
from ropewalk.scoring.graph_scores import MEASURES as GRAPH_MEASURES

if TYPE_CHECKING:
    from collections.abc import Mapping

MEAN = "mean"  # a measure: the mean of LAS and the accuracy of all tag columns
PARSERS = ("labels", "biaffine")  # a grid's list of encodings may also contain the latter


@dataclass(frozen=True, slots=True)
class DataOptions(Sources):
    """The treebanks, and what to do with sentences without a valid tree."""

    bad_trees: str = option(
        "stop",
        choices=("stop", "skip", "repair"),
        about="Sentences without a tree: stop, or name and skip or repair them.",
    )
    styles: tuple[str, ...] = option(
        (), about="Treebank of each train file, for bilstm and sru; the first is that of dev."
    )


@dataclass(frozen=True, slots=True)
class EncoderOptions:
    """Options of the encoder: a pretrained `transformer`, a new `bilstm` or `sru`, or a kind of another package."""

    kind: str = option("transformer", about="transformer, bilstm, sru, or an encoder of another package.")
    settings: tuple[str, ...] = option((), about="Settings name=value of an encoder of another package.")
    # transformer
    name: str = option("", about="Transformer: a name on the Hugging Face hub, or a folder.")
    revision: str = option("", about="Revision on the hub.")
    local_files_only: bool = option(default=False, about="Never download.")
    pooling: str = option(
        "first", choices=("first", "last", "mean"), about="Vector of a word: its first or last subword, or the mean."
    )
    window: int = option(
        512, low=16, high=WIDEST, about="Subwords read at once; longer sentences are read in overlapping windows."
    )
    casing: str = option(
        "auto",
        choices=("auto", "yes", "no"),
        about="Add an embedding of each word's casing; auto: if the vocabulary is uncased.",
    )
    freeze_embeddings: bool = option(default=False, about="Do not train the subword embeddings.")
    layers: tuple[int, ...] = option(
        (), low=1, high=1000, items=(0, 1000), about="Layers to keep, counted from 1; all if empty."
    )
    dropout: float = option(0.1, low=0, high=0.9, about="Dropout of the encoder.")
    # bilstm and sru
    word_size: int = option(64, low=0, high=LARGEST, about="Size of word embeddings of a bilstm or an sru.")
    affix_size: int = option(32, low=0, high=LARGEST, about="Size of prefix and suffix embeddings.")
    shape_size: int = option(16, low=0, high=LARGEST, about="Size of embeddings of word shapes.")
    character_size: int = option(32, low=0, high=LARGEST, about="Size of character embeddings.")
    input_size: int = option(0, low=0, high=LARGEST, about="Size that a bilstm projects features to; 0: no projection.")
    hidden: int = option(256, low=1, high=LARGEST, about="Units of each direction of a layer.")
    depth: int = option(2, low=1, high=64, about="Number of layers of a bilstm or an sru.")
    least_count: int = option(2, low=1, high=MANY, about="Occurrences that make a word known.")
    forget: float = option(0.1, low=0, high=0.9, about="Share of words read as unknown in training.")
    vectors: str = option("", about="A file of static word vectors, or a folder of subword vectors.")
    most_vectors: int = option(100_000, low=1, high=10_000_000, about="Words with a static vector, at most.")


RELATIONS = {"word": "words", "word+head": "pairs", "word*head": "products"}  # options to `GroupShape.relations`


@dataclass(frozen=True, slots=True)
class RelationOptions:
    """Options of the relation classifier, which reads the word alone as in the paper, or the word and its decoded head.

    `word+head` has two layers over the sum of both vectors; `word*head` has products as in the biaffine parser.
    """

    from_: str = option(
        "word+head",
        choices=tuple(RELATIONS),
        about="Input of relations: word, word+head (two layers over both) or word*head (biaffine).",
    )
    hidden: int = option(
        256, low=0, high=LARGEST, about="Hidden units of relations; 0: one linear layer, only for word."
    )


@dataclass(frozen=True, slots=True)
class BiaffineOptions:
    """Sizes of biaffine classifiers (Dozat & Manning 2017), in the biaffine parser or beside labels."""

    arc_size: int = option(256, low=1, high=LARGEST, about="Units before the arc scores.")
    relation_size: int = option(100, low=1, high=LARGEST, about="Units before the biaffine relation scores.")


@dataclass(frozen=True, slots=True)
class GraphOptions:
    """Options of enhanced graphs, which are learnt from DEPS beside basic trees: with labels, arc scores or both."""

    encoding: str = option("", about="Encoding of enhanced graphs, or biaffine for arcs alone; empty: no graphs.")
    arcs: bool = option(default=True, about="Score arcs of graphs beside labels.")
    weight: float = option(1.0, low=0, high=WEIGHT, about="Weight of graphs in the loss.")


# Losses of single labels and arcs; of label sequences; of projective trees; of all trees, with arcs alone.
LOSSES = ("words", "sequences", "trees", "trees-nonprojective")
INITS = ("torch", "orthogonal")


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Options of the network: encoder and classifiers."""

    parser: str = option("labels", choices=PARSERS, about="labels, or biaffine: arcs alone (Dozat & Manning 2017).")
    encoding: str = option("optimal+head", about="Encoding of trees; `ropewalk encodings` lists them.")
    loss: str = option("words", choices=LOSSES, about="Loss over words, label sequences, or whole trees.")
    auxiliary: tuple[str, ...] = option((), about="Encodings learnt beside the main one.")
    auxiliary_weight: float = option(0.3, low=0, high=WEIGHT, about="Weight of each of them in the loss.")
    arc_weight: float = option(
        0.0, low=0, high=WEIGHT, about="Weight of arcs in the loss; above 0, the model scores arcs beside labels."
    )
    tags: tuple[str, ...] = option((), about="Columns learnt jointly: lemma, upos, xpos, feats.")
    least_rules: int = option(2, low=1, high=MANY, about="Occurrences that make a lemma rule a class.")
    known_lemmas: bool = option(default=True, about="Look up lemmas of words in the treebank.")
    lexicon: bool = option(default=True, about="Add tag counts of words and endings to the scores.")
    combinations: bool = option(
        default=True, about="Choose UPOS, XPOS and FEATS together, from combinations in the treebank."
    )
    feats: str = option(
        "auto", choices=FEATS, about="FEATS as whole values or each feature apart; auto: apart above 400 values."
    )
    tag_weight: float = option(0.3, low=0, high=WEIGHT, about="Weight of tags in the loss.")
    hidden: int = option(
        256, low=0, high=LARGEST, about="Hidden units of classifiers; 0: one linear layer, as in the authors' program."
    )
    projection: int = option(0, low=0, high=LARGEST, about="Size of a layer between encoder and classifiers; 0: none.")
    init: str = option(
        "torch",
        choices=INITS,
        about="Initial weights of classifiers: torch's, or orthogonal as in the authors' program.",
    )
    dropout: float = option(0.2, low=0, high=0.9, about="Dropout of classifiers.")
    encoder: EncoderOptions = field(default_factory=EncoderOptions)
    relations: RelationOptions = field(default_factory=RelationOptions)
    biaffine: BiaffineOptions = field(default_factory=BiaffineOptions)
    graph: GraphOptions = field(default_factory=GraphOptions)


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """Options of the training loop: duration, learning rates, batches, and when to stop."""

    epochs: int = option(10, low=1, high=EPOCHS, about="Number of epochs.")
    minutes: float = option(
        0.0, low=0, high=MINUTES, about="Time limit in minutes, at which learning rates reach 0; 0: no limit."
    )
    batch: int = option(512, low=1, high=10_000_000, about="Subwords in a batch, with padding.")
    accumulate: int = option(1, low=1, high=100_000, about="Batches per update of the weights (gradient accumulation).")
    encoder_rate: float = option(3e-4, low=0, high=RATE, about="Highest learning rate of the encoder.")
    head_rate: float = option(1e-3, low=0, high=RATE, about="Highest learning rate of all else.")
    betas: tuple[float, ...] = option((0.9, 0.98), low=0, high=0.999_999, items=(2, 2), about="Betas of AdamW.")
    weight_decay: float = option(0.01, low=0, high=10, about="Weight decay of AdamW.")
    warmup: float = option(0.06, low=0, high=1, about="Share of the run in which rates rise.")
    schedule: str = option(
        "linear", choices=("linear", "constant"), about="Rates after the warmup: linear decay, or constant."
    )
    clip: float = option(1.0, low=0, high=1e6, about="Longest gradient; 0: any.")
    average: float = option(
        0.0,
        low=0,
        high=0.999_999,
        about="Decay of a moving average of the weights, which is scored and stored; 0: no average.",
    )
    patience: int = option(
        0, low=0, high=EPOCHS, about="Epochs without a better dev score before the run stops; 0: never."
    )
    metric: str = option(
        "las",
        choices=(*MEASURES, MEAN, *GRAPH_MEASURES),
        about="Dev score that chooses the best epoch; mean: of LAS and all tag columns.",
    )
    precision: str = option("no", choices=("no", "bf16", "fp16"), about="Number format: bf16, or fp16 on a GPU.")
    device: str = option("auto", choices=("auto", "cpu"), about="auto or cpu.")
    sharded: bool = option(default=False, about="Divide the weights among processes on CPUs (FSDP).")
    threads: int = option(0, low=0, high=MOST_THREADS, about="Threads; 0: torch's choice.")
    tensorboard: bool = option(default=False, about="Write curves for TensorBoard; needs the extra track.")
    energy: bool = option(default=False, about="Measure kWh and CO2 with codecarbon; needs the extra track.")
    country: str = option("ESP", about="Country whose electricity codecarbon assumes.")


@dataclass(frozen=True, slots=True)
class TeacherOptions:
    """Options of teachers: trained models whose mean probabilities the new model learns beside the treebank.

    Teachers can also annotate sentences that have no trees.
    """

    model: tuple[str, ...] = option(
        (), about="Trained, exported or installed models; their mean probabilities are learnt."
    )
    weight: float = option(0.5, low=0, high=1, about="Share of the teacher in the loss.")
    copies: int = option(0, low=0, high=1000, about="Copies of the treebank with some words replaced.")
    replaced: float = option(0.3, low=0, high=1, about="Share of open-class words that copies replace.")
    texts: tuple[str, ...] = option((), about="Files of sentences without trees, which the teacher annotates.")
    segmenter: str = option("", about="Model or folder whose segmenter cuts plain text.")
    sources: str = option("", about="Markdown file on the origin of the texts, for the model card.")
    treebank_tags: tuple[str, ...] = option((), about="Tag columns learnt from the treebank alone.")
    precision: str = option("no", choices=("no", "bf16"), about="Number format of the teacher.")
    cache: str = option("", about="Folder for the teacher's answers.")


@dataclass(frozen=True, slots=True)
class Config:
    """All options of a training run."""

    seed: int = option(1, low=0, high=2**31 - 1, about="Seed; equal seeds, machines and threads give equal weights.")
    data: DataOptions = field(default_factory=DataOptions)
    model: ModelOptions = field(default_factory=ModelOptions)
    training: TrainingOptions = field(default_factory=TrainingOptions)
    teacher: TeacherOptions = field(default_factory=TeacherOptions)
    decoding: DecodingOptions = field(default_factory=DecodingOptions)


load = partial(configuration, Config)


def from_mapping(table: Mapping[str, Any], source: str = "configuration") -> Config:
    """Build a configuration from nested tables; raise `ConfigError` for unknown names and values out of range."""
    return checked(Config, table, source)
