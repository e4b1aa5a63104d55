"""What a training run is told: values from a TOML file, changed by `a.b=c` on the command line, checked at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ropewalk import files
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
    changed,
    checked,
    option,
    read,
)
from ropewalk.scoring.attachment import MEASURES
from ropewalk.scoring.graph_scores import MEASURES as GRAPH_MEASURES

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

MEAN = "mean"  # a measure: that of LAS and of all columns of tags
PARSERS = ("labels", "biaffine")  # the latter may also stand in a grid's list of encodings


@dataclass(frozen=True, slots=True)
class DataOptions(Sources):
    """Which treebanks to read, and what to do with sentences that have no good tree."""

    bad_trees: str = option("stop", choices=("stop", "skip", "repair"))


@dataclass(frozen=True, slots=True)
class EncoderOptions:
    """What reads the words: a pretrained `transformer`, a `bilstm` trained from scratch, or another package's kind."""

    kind: str = "transformer"
    settings: tuple[str, ...] = ()  # name=value, for kinds of other packages
    # transformer
    name: str = ""
    revision: str = ""
    local_files_only: bool = False
    pooling: str = option("first", choices=("first", "last", "mean"))
    window: int = option(512, low=16, high=WIDEST)
    casing: str = option("auto", choices=("auto", "yes", "no"))
    freeze_embeddings: bool = False
    layers: tuple[int, ...] = option((), low=1, high=1000, items=(0, 1000))
    dropout: float = option(0.1, low=0, high=0.9)
    # bilstm
    word_size: int = option(64, low=0, high=LARGEST)
    affix_size: int = option(32, low=0, high=LARGEST)
    shape_size: int = option(16, low=0, high=LARGEST)
    character_size: int = option(32, low=0, high=LARGEST)
    # features are brought to this size before they are read; 0: as they are
    input_size: int = option(0, low=0, high=LARGEST)
    hidden: int = option(256, low=1, high=LARGEST)
    depth: int = option(2, low=1, high=64)
    least_count: int = option(2, low=1, high=MANY)
    forget: float = option(0.1, low=0, high=0.9)  # share of words read as unknown in training
    vectors: str = ""
    most_vectors: int = option(100_000, low=1, high=10_000_000)


RELATIONS = {"word": "words", "word+head": "pairs", "word*head": "products"}  # and what heads they are of


@dataclass(frozen=True, slots=True)
class RelationOptions:
    """How relations are found: from the word alone as in the paper, or from the word and its decoded head.

    From both by two layers over their sum, or by their products, as the biaffine parser does.
    """

    from_: str = option("word+head", choices=tuple(RELATIONS))
    # 0: a single layer, from the word alone; see `ModelOptions.hidden`
    hidden: int = option(256, low=0, high=LARGEST)


@dataclass(frozen=True, slots=True)
class BiaffineOptions:
    """Sizes of the biaffine parser of Dozat & Manning 2017, and of arcs that are scored beside labels."""

    arc_size: int = option(256, low=1, high=LARGEST)
    relation_size: int = option(100, low=1, high=LARGEST)


@dataclass(frozen=True, slots=True)
class GraphOptions:
    """Enhanced graphs, learnt from DEPS beside the basic trees: by labels of an encoding, by arcs, or by both."""

    encoding: str = ""  # one of graphs, or biaffine for arcs alone; without a name there are no graphs
    arcs: bool = True  # whether arcs are scored beside labels
    weight: float = option(1.0, low=0, high=WEIGHT)  # of the loss of graphs beside that of trees


# Each word's label and arc alone; whole label sequences; whole projective trees; all trees, by arcs alone.
LOSSES = ("words", "sequences", "trees", "trees-nonprojective")
INITS = ("torch", "orthogonal")


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The network: encoder and heads."""

    parser: str = option("labels", choices=PARSERS)
    encoding: str = "optimal+head"
    loss: str = option("words", choices=LOSSES)
    auxiliary: tuple[str, ...] = ()
    auxiliary_weight: float = option(0.3, low=0, high=WEIGHT)
    # of the loss of arcs beside that of labels; the joint decoder needs arcs. Trees have both
    arc_weight: float = option(0.0, low=0, high=WEIGHT)
    tags: tuple[str, ...] = ()  # some of lemma, upos, xpos, feats
    # how often a rule that makes lemmas must occur in the treebank to be learnt
    least_rules: int = option(2, low=1, high=MANY)
    known_lemmas: bool = True  # whether words of the treebank are looked up, by form and part of speech
    lexicon: bool = True  # whether the tags that words and endings have in the treebank count beside scores
    combinations: bool = True  # whether tags are chosen together, by what goes together in the treebank
    feats: str = option("auto", choices=FEATS)  # whole values of FEATS or each feature apart; auto: apart if many
    tag_weight: float = option(0.3, low=0, high=WEIGHT)
    # 0: a single linear layer with LeakyReLU on its scores, as in the authors' program
    hidden: int = option(256, low=0, high=LARGEST)
    # a layer with LeakyReLU brings words to this size before all else; 0: none
    projection: int = option(0, low=0, high=LARGEST)
    init: str = option("torch", choices=INITS)  # `orthogonal`: layers on top are, with biases and products 0
    dropout: float = option(0.2, low=0, high=0.9)
    encoder: EncoderOptions = field(default_factory=EncoderOptions)
    relations: RelationOptions = field(default_factory=RelationOptions)
    biaffine: BiaffineOptions = field(default_factory=BiaffineOptions)
    graph: GraphOptions = field(default_factory=GraphOptions)


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """The loop: how long, how fast, in which pieces, and when to stop."""

    epochs: int = option(10, low=1, high=EPOCHS)
    # after which the run ends, its learning rates having fallen in time; 0: never
    minutes: float = option(0.0, low=0, high=MINUTES)
    batch: int = option(512, low=1, high=10_000_000)
    accumulate: int = option(1, low=1, high=100_000)
    encoder_rate: float = option(3e-4, low=0, high=RATE)
    head_rate: float = option(1e-3, low=0, high=RATE)
    betas: tuple[float, ...] = option((0.9, 0.98), low=0, high=0.999_999, items=(2, 2))
    weight_decay: float = option(0.01, low=0, high=10)
    warmup: float = option(0.06, low=0, high=1)
    schedule: str = option("linear", choices=("linear", "constant"))
    clip: float = option(1.0, low=0, high=1e6)
    patience: int = option(0, low=0, high=EPOCHS)
    metric: str = option("las", choices=(*MEASURES, MEAN, *GRAPH_MEASURES))
    precision: str = option("no", choices=("no", "bf16", "fp16"))
    device: str = option("auto", choices=("auto", "cpu"))
    sharded: bool = False  # whether processes on CPUs hold a share of the weights each (FSDP); GPUs: as accelerate says
    threads: int = option(0, low=0, high=MOST_THREADS)
    tensorboard: bool = False
    energy: bool = False
    country: str = "ESP"


@dataclass(frozen=True, slots=True)
class TeacherOptions:
    """Trained models whose mean probabilities are learnt beside the treebank, also on sentences that it lacks."""

    model: tuple[str, ...] = ()
    weight: float = option(0.5, low=0, high=1)  # share of the loss that is the teacher's
    # how often the treebank is learnt once more with other words in its sentences
    copies: int = option(0, low=0, high=1000)
    replaced: float = option(0.3, low=0, high=1)  # share of their open-class words that are others
    texts: tuple[str, ...] = ()  # files of sentences without trees: what the teacher says of them is learnt
    segmenter: str = ""  # a model or a folder whose segmenter cuts plain text
    sources: str = ""  # a file of Markdown that says what the texts are, under which licences, for the card
    treebank_tags: tuple[str, ...] = ()  # columns of tags that are learnt from the treebank alone
    precision: str = option("no", choices=("no", "bf16"))  # in which it is asked
    cache: str = ""  # a folder where its answers are kept, so that no run asks the same again


@dataclass(frozen=True, slots=True)
class Config:
    """All that a training run is told."""

    seed: int = option(1, low=0, high=2**31 - 1)
    data: DataOptions = field(default_factory=DataOptions)
    model: ModelOptions = field(default_factory=ModelOptions)
    training: TrainingOptions = field(default_factory=TrainingOptions)
    teacher: TeacherOptions = field(default_factory=TeacherOptions)
    decoding: DecodingOptions = field(default_factory=DecodingOptions)


def load(path: str | os.PathLike[str], changes: Iterable[str] = ()) -> Config:
    """Read a TOML file, apply changes such as `model.encoder.name=xlm-roberta-large`, and check everything."""
    name = files.shown(path)
    return from_mapping(changed(read(path), changes), name)


def from_mapping(table: Mapping[str, Any], source: str = "configuration") -> Config:
    """Make a configuration from nested tables, refusing unknown names and values out of range."""
    return checked(Config, table, source)
