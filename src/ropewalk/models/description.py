"""Description of a model: the versioned part of `config.json`, which is all that running the model needs.

`training` records how the model was trained and `scores` how accurate it is; neither is checked. Unknown names are
ignored. Folders of version 1 contain a whole training configuration instead; `_of_version_1` converts it.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ropewalk import decoding
from ropewalk.errors import ConfigError, ModelError
from ropewalk.models.calibration import PLAIN
from ropewalk.options import checked, option, to_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = 2
EXPORTED = "ropewalk-runtime"  # the format of folders that `ropewalk export` writes,
TRAINED = "ropewalk-tagger"  # and of those that training writes
RELATIONS = ("words", "pairs", "products")
LONGEST_BY_ARCS = 8_000  # words of a sentence for models without labels
WIDEST, DEEPEST = 1 << 16, 1 << 8  # the largest width of a layer, and the largest number of layers
FARTHEST = 1 << 31  # distances between words are smaller
GRAPH_DECODERS = ("joint", "exact", "greedy", "arcs")


@dataclass(frozen=True, slots=True)
class DecodingOptions:
    """Options of decoding, which turns scores into trees, tags and graphs.

    Training fits the temperature, the scale, the weights and the thresholds to the development data.
    """

    decoder: str = option("exact", choices=decoding.Names(), about="Decoder; the guide on choosing compares them.")
    depth: int = option(6, low=1, high=14, about="Open brackets that the automaton remembers.")
    repair: str = option(
        "nearest",
        choices=("nearest", "root"),
        about="Head of a word without one: the nearest word that fits, or the root.",
    )
    root_relation: bool = option(default=True, about="Give the relation root to roots and to no other word.")
    batch: int = option(4096, low=1, about="Subwords computed together.")
    longest_with_arcs: int = option(
        2000, low=1, high=LONGEST_BY_ARCS, about="Longest sentence, in words, whose arcs are scored."
    )
    arc_scale: float = option(
        1.0, low=0, high=1000, about="Weight of arcs beside labels; fitted on dev for joint and mbr."
    )
    temperature: float = option(
        1.0, low=0.01, about="Divisor of all scores before they become probabilities; fitted on dev."
    )
    calibration: tuple[float, ...] = option(
        PLAIN, about="Weights of the probabilities of joint and mbr; fitted on dev."
    )
    confidence: bool = option(default=False, about="Write probabilities of arcs and trees.")
    tag_confidence: bool = option(default=False, about="Write probabilities of tags.")
    columns: tuple[str, ...] = option((), about="Columns to predict; all if empty.")
    lexicon_weights: tuple[float, ...] = option(
        (), about="Weights of the lexicon, two for each tag set; fitted on dev."
    )
    tag_relation_weight: float = option(
        0.0, low=0, high=1000, about="Weight of a word's relation for its tags; fitted on dev."
    )
    enhance: bool = option(default=False, about="Add enhanced graphs with rules, unless the model predicts graphs.")
    graph_decoder: str = option("joint", choices=GRAPH_DECODERS, about="Decoder of enhanced graphs.")
    graph_weights: tuple[float, ...] = option(
        (0.0, 0.5, 0.5, 0.0, 0.0), about="Weights of the evidence for an arc of a graph; fitted on dev."
    )
    graph_thresholds: tuple[float, ...] = option(
        (0.5, 0.5), about="Least probability of an arc, for joint and for arcs; fitted on dev."
    )
    graph_rules: float = option(0.0, low=0, about="Weight of rules in relations of graphs; fitted on dev.")
    style: str = option("", about="Treebank whose conventions the output follows; the main one if empty.")

    def changed(self, **changes: Any) -> DecodingOptions:  # noqa: ANN401 - the fields of this class
        """Return a copy with some fields replaced; raise `ConfigError` if a name or a value is not allowed.

        The field `calibration` was fitted to the trees of one decoder. If `changes` replaces the decoder and not
        `calibration`, that field gets its default.
        """
        plain = {} if changes.get("decoder", self.decoder) == self.decoder else {"calibration": PLAIN}
        return checked(DecodingOptions, {**asdict(self), **plain, **changes}, "decoding")


@dataclass(frozen=True, slots=True)
class EncoderShape:
    """The kind of an encoder, its options, and the sizes of its layers; the sizes are read only if torch runs it."""

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
    styles: tuple[str, ...] = ()  # treebanks whose conventions the encoder keeps apart, the main one first


@dataclass(frozen=True, slots=True)
class GroupShape:
    """The classifiers that score trees, or those that score graphs.

    `labels` and `arcs` are true if labels and arcs are scored. `relations` names the input of the classifier of
    relations: the dependent's vector alone (`words`), the vectors of dependent and head (`pairs`), or products of both
    (`products`). Distances from a word to its head are put into classes; `distances` holds their upper bounds. The
    sizes of layers are read only if torch runs the model.
    """

    labels: bool = True
    arcs: bool = False
    relations: str = option("pairs", choices=RELATIONS)
    hidden: int = option(0, low=0, high=WIDEST)
    relation_size: int = option(0, low=0, high=WIDEST)
    arc_size: int = option(0, low=0, high=WIDEST)
    projection: int = option(0, low=0, high=WIDEST)  # word vectors are projected to this size first; 0: they are not
    distances: tuple[int, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether neither labels nor arcs are scored; true for the graphs of a model that predicts no graphs."""
        return not (self.labels or self.arcs)

    @property
    def relations_need_heads(self) -> bool:
        """Whether the scores of a word's relations depend on its head."""
        return self.relations != "words"


NO_GROUP = GroupShape(labels=False)


@dataclass(frozen=True, slots=True)
class Description:
    """Description of a model: all that is needed to run it, except label sets and weights.

    `heads` describes the classifiers of trees, `graphs` those of enhanced graphs.
    """

    name: str = ""
    encoder: EncoderShape = field(default_factory=EncoderShape)
    heads: GroupShape = field(default_factory=GroupShape)  # of trees
    decoding: DecodingOptions = field(default_factory=DecodingOptions)
    graphs: GroupShape = NO_GROUP

    @property
    def style(self) -> int:
        """The index of the chosen style among those of the encoder; 0 is the main one.

        Raise `ConfigError` if the model does not have the style that `decoding` names.
        """
        name, known = self.decoding.style, self.encoder.styles
        if not name:
            return 0
        if name not in known:
            expected = f"expected one of: {', '.join(known)}" if known else "it has one style: leave it out"
            raise ConfigError("decoding", "style", f"is {name!r}, which this model does not have; {expected}")
        return known.index(name)

    def to_json(self, kind: str) -> dict[str, Any]:
        """Return the content of a `config.json`; `kind` is its `format`, `EXPORTED` or `TRAINED`.

        In the file, the `distances` of `heads` are stored at the top level.
        """
        table = to_mapping(self)
        return {"format": kind, "version": VERSION, **table, "distances": table["heads"].pop("distances")}


def described(table: Mapping[str, Any], file: str) -> Description:
    """Build the description of a model from `table`, the content of its `config.json`; errors name that `file`.

    Raise `ModelError` if the version is unknown or the content is damaged.
    """
    version = table.get("version")
    if not isinstance(version, int) or version not in {1, VERSION}:
        late = isinstance(version, int) and version > VERSION
        advice = "install a newer ropewalk" if late else "the file is damaged"
        raise ModelError(file, f"has version {version!r}; this program reads versions 1 to {VERSION}: {advice}")
    try:
        current = _of_version_1(table) if version == 1 else table
        heads = {**current.get("heads", {}), "distances": current.get("distances", ())}
        description = checked(Description, {**current, "heads": heads}, file, strict=False)
    except (ConfigError, KeyError, TypeError, AttributeError) as failure:
        raise ModelError(file, f"is damaged: {failure}") from failure
    options = description.decoding
    if not (description.heads.labels or decoding.get(options.decoder).trees_by_arcs):  # 0.2 ignored it without labels
        description = replace(description, decoding=replace(options, decoder="exact"))
    weights = options.calibration
    if len(weights) != len(PLAIN) or not all(map(math.isfinite, weights)):
        raise ModelError(file, f"is damaged: decoding.calibration is {list(weights)}; expected {len(PLAIN)} numbers")
    for distance in (*description.heads.distances, *description.graphs.distances):
        if not -FARTHEST < distance < FARTHEST:
            raise ModelError(file, f"is damaged: distances has {distance}; expected numbers below {FARTHEST:,}")
    return description


def training_record(table: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the record of training in `table`, the content of a `config.json`; empty if there is none."""
    record = table.get("training", table.get("config"))  # the latter in version 1
    return record if isinstance(record, dict) else {}


def _of_version_1(table: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the content of a `config.json` from version 1, which is a whole training configuration, to version 2."""
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
