"""What running a model needs to know of it: the versioned part of `config.json`.

How a model was trained lies under `training`, a record that nothing checks, and how well it did under `scores`. Names
that a version does not know are left alone. Folders of version 1 hold a whole training configuration instead; a small
reader takes from it what is needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ropewalk.decoding import ARC_DECODERS, DECODERS
from ropewalk.errors import ConfigError, ModelError
from ropewalk.models.calibration import PLAIN
from ropewalk.options import checked, option, to_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = 2
EXPORTED = "ropewalk-runtime"  # the format of folders that `ropewalk export` writes,
TRAINED = "ropewalk-tagger"  # and of those that training writes
RELATIONS = ("words", "pairs", "products")
LONGEST_BY_ARCS = 8_000  # words of a sentence, where arcs alone decide
WIDEST, DEEPEST = 1 << 16, 1 << 8  # numbers in a layer of a network, and its layers
FARTHEST = 1 << 31  # distances between words lie below
GRAPH_DECODERS = ("joint", "exact", "greedy", "arcs")


@dataclass(frozen=True, slots=True)
class DecodingOptions:
    """How scores become trees."""

    decoder: str = option("exact", choices=tuple(dict.fromkeys((*DECODERS, *ARC_DECODERS))))
    depth: int = option(6, low=1, high=14)
    repair: str = option("nearest", choices=("nearest", "root"))
    root_relation: bool = True  # whether roots alone have the relation root, and no others
    batch: int = option(4096, low=1)
    longest_with_arcs: int = option(
        2000, low=1, high=LONGEST_BY_ARCS
    )  # words; arc scores grow with the square, so beyond it labels decide
    arc_scale: float = option(
        1.0, low=0, high=1000
    )  # what an arc's score counts beside a label's; found on the dev data for joint
    temperature: float = option(1.0, low=0.01)  # likewise, for probabilities,
    calibration: tuple[float, ...] = PLAIN  # and for decoders with arcs these: see `calibration`
    confidence: bool = False  # whether arcs and trees carry their probabilities,
    tag_confidence: bool = False  # and whether tags do
    columns: tuple[str, ...] = ()  # what is predicted: `tree`, and columns of tags; all that the model can if empty
    lexicon_weights: tuple[float, ...] = ()  # two for each tag set, for words of the lexicon and others; also found so
    tag_relation_weight: float = option(
        0.0, low=0, high=1000
    )  # what a word's relation counts for its tags; also found so
    graph_decoder: str = option("joint", choices=GRAPH_DECODERS)  # what says which arcs an enhanced graph has
    graph_weights: tuple[float, ...] = (0.0, 0.5, 0.5, 0.0, 0.0)  # of the evidence for an arc, found on the dev data,
    graph_thresholds: tuple[float, ...] = (0.5, 0.5)  # as is how likely one must be, by `joint` and by `arcs`,
    graph_rules: float = option(0.0, low=0)  # and the weight of rules in relations of `joint`


@dataclass(frozen=True, slots=True)
class EncoderShape:
    """What reads the words: its kind, and what that kind is computed with; sizes are needed by torch alone."""

    kind: str = "bilstm"
    pooling: str = option("first", choices=("first", "last", "mean"))
    casing: bool = False
    word_size: int = option(0, low=0, high=WIDEST)
    affix_size: int = option(0, low=0, high=WIDEST)
    shape_size: int = option(0, low=0, high=WIDEST)
    character_size: int = option(0, low=0, high=WIDEST)
    vector_size: int = option(0, low=0, high=WIDEST)
    input_size: int = option(0, low=0, high=WIDEST)
    hidden: int = option(0, low=0, high=WIDEST)
    depth: int = option(0, low=0, high=DEEPEST)


@dataclass(frozen=True, slots=True)
class HeadShape:
    """What is scored: labels, arcs or both, and relations from `words` alone, from `pairs`, or by their `products`.

    Sizes are needed by torch alone.
    """

    labels: bool = True
    arcs: bool = False
    relations: str = option("pairs", choices=RELATIONS)
    hidden: int = option(0, low=0, high=WIDEST)
    relation_size: int = option(0, low=0, high=WIDEST)
    arc_size: int = option(0, low=0, high=WIDEST)
    # the size that vectors of words are brought to before they are scored; 0: they stay as they are
    projection: int = option(0, low=0, high=WIDEST)

    @property
    def relations_need_heads(self) -> bool:
        """Whether relations are those of a word and its head."""
        return self.relations != "words"


@dataclass(frozen=True, slots=True)
class GraphShape:
    """What of enhanced graphs is scored, if anything: labels, arcs or both, and always relations.

    `distances` are the upper bounds of the classes of head minus word; the other sizes are needed by torch alone.
    """

    labels: bool = False
    arcs: bool = False
    hidden: int = option(0, low=0, high=WIDEST)
    relation_size: int = option(0, low=0, high=WIDEST)
    arc_size: int = option(0, low=0, high=WIDEST)
    distances: tuple[int, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the model knows nothing of graphs."""
        return not (self.labels or self.arcs)


@dataclass(frozen=True, slots=True)
class Description:
    """All that running a model needs to know, but for the names behind its numbers and its weights."""

    name: str = ""
    encoder: EncoderShape = field(default_factory=EncoderShape)
    heads: HeadShape = field(default_factory=HeadShape)
    decoding: DecodingOptions = field(default_factory=DecodingOptions)
    distances: tuple[int, ...] = ()  # upper bounds of the classes of head minus word
    graphs: GraphShape = field(default_factory=GraphShape)

    def to_json(self, kind: str) -> dict[str, Any]:
        """Give what `config.json` holds for a format."""
        return {"format": kind, "version": VERSION, **to_mapping(self)}


def described(table: Mapping[str, Any], file: str) -> Description:
    """Read a description from what a `config.json` holds; `file` is its name."""
    version = table.get("version")
    if not isinstance(version, int) or version not in {1, VERSION}:
        late = isinstance(version, int) and version > VERSION
        raise ModelError(
            file,
            f"has version {version!r}; this program reads versions 1 to {VERSION}: "
            + ("install a newer ropewalk" if late else "the file is damaged"),
        )
    try:
        found = checked(Description, _of_version_1(table) if version == 1 else table, file, strict=False)
    except (ConfigError, KeyError, TypeError, AttributeError) as failure:
        raise ModelError(file, f"is damaged: {failure}") from failure
    if not found.heads.labels and found.decoding.decoder not in ARC_DECODERS:  # 0.2 ignored this option without labels
        found = replace(found, decoding=replace(found.decoding, decoder="exact"))
    weights = found.decoding.calibration
    if len(weights) != len(PLAIN) or not all(map(math.isfinite, weights)):
        raise ModelError(file, f"is damaged: decoding.calibration is {list(weights)}; expected {len(PLAIN)} numbers")
    far = next((one for one in (*found.distances, *found.graphs.distances) if not -FARTHEST < one < FARTHEST), None)
    if far is not None:
        raise ModelError(file, f"is damaged: distances has {far}; expected numbers of words below {FARTHEST:,}")
    return found


def training_record(table: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give what a `config.json` tells of how its model was trained, for people to read."""
    found = table.get("training", table.get("config"))  # the latter in version 1
    return found if isinstance(found, dict) else {}


def _of_version_1(table: Mapping[str, Any]) -> dict[str, Any]:
    """Take from a whole training configuration what running needs."""
    config = table["config"]
    model, encoder = config["model"], config["model"]["encoder"]
    biaffine = model["parser"] == "biaffine"
    alone = model["relations"]["from"] == "word"
    return {
        "name": table.get("name", ""),
        "encoder": {**encoder, "casing": bool(table.get("casing")), "vector_size": table.get("vector_size", 0)},
        "heads": {
            "labels": not biaffine,
            "arcs": biaffine or model["arc_weight"] > 0,
            "relations": "products" if biaffine else "words" if alone else "pairs",
            "hidden": model["hidden"],
            "relation_size": model["biaffine"]["relation_size"] if biaffine else model["relations"]["hidden"],
            "arc_size": model["biaffine"]["arc_size"],
        },
        "decoding": config["decoding"],
        "distances": table.get("distances", ()),
    }
