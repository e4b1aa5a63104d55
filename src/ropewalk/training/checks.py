"""Checks that the options of a configuration go together: what a model cannot use is refused, not ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ropewalk.decoding import ARC_DECODERS, DECODERS
from ropewalk.errors import ConfigError, TrainingError
from ropewalk.models.word_readers import OWN
from ropewalk.options import flat_options, to_mapping
from ropewalk.training.config import PARSERS, Config, from_mapping
from ropewalk.training.construction import graph_shape, head_shape

if TYPE_CHECKING:
    from collections.abc import Collection

LABELS_ONLY = (
    "model.encoding",
    "model.arc_weight",
    "model.relations.from",
    "decoding.depth",
    "decoding.repair",
    "decoding.arc_scale",
    "decoding.longest_with_arcs",
)
TAGS_ONLY = (
    "model.least_rules",
    "model.known_lemmas",
    "model.lexicon",
    "model.combinations",
    "model.feats",
    "model.tag_weight",
)
GRAPHS_ONLY = ("model.graph.arcs", "model.graph.weight")
TRANSFORMER_ONLY = (
    "name",
    "revision",
    "local_files_only",
    "pooling",
    "window",
    "casing",
    "freeze_embeddings",
    "layers",
)
BILSTM_ONLY = (
    "word_size",
    "affix_size",
    "shape_size",
    "character_size",
    "input_size",
    "hidden",
    "depth",
    "least_count",
    "forget",
    "vectors",
    "most_vectors",
)

TREE_DECODERS = {  # by parser and loss; any other loss goes with every decoder of its parser
    ("labels", "trees"): ("mbr", "joint"),
    ("biaffine", "trees"): ("mbr",),
    ("biaffine", "trees-nonprojective"): ("mbr-nonprojective", "exact"),
}


def unused_options(config: Config) -> dict[str, str]:
    """Return the options that are set and not used, and why: `model.relations.hidden` and the reason, for example."""
    model = config.model
    shape, graphs = head_shape(model), graph_shape(model)
    reasons: dict[str, str] = {}
    if not shape.labels:
        reasons |= dict.fromkeys(LABELS_ONLY, f"is for labels, and model.parser is {model.parser!r}")
    elif model.loss == "trees":
        reasons["model.arc_weight"] = "is for arcs that are learnt beside labels, and model.loss is 'trees'"
    if not model.auxiliary:
        reasons["model.auxiliary_weight"] = "is for model.auxiliary, which is empty"
    if not model.tags:
        reasons |= dict.fromkeys(TAGS_ONLY, "is for tags, and model.tags is empty")
    if graphs.is_empty:
        reasons |= dict.fromkeys(GRAPHS_ONLY, "is for graphs, and model.graph.encoding is empty")
    if shape.relations != "products":
        reasons["model.biaffine.relation_size"] = (
            "is for model.relations.from = 'word*head' and for the biaffine parser"
        )
    elif graphs.is_empty:
        reasons["model.relations.hidden"] = "is for relations without products; set model.biaffine.relation_size"
    if not shape.arcs and not graphs.arcs:
        reasons["model.biaffine.arc_size"] = "is for arcs, which this model does not score"
    reasons |= _unused_by_encoder(model.encoder.kind)
    defaults, values = (flat_options(one) for one in (Config(), config))
    return {option: why for option, why in reasons.items() if values[option] != defaults[option]}


def _unused_by_encoder(kind: str) -> dict[str, str]:
    others = {"transformer": BILSTM_ONLY, "bilstm": TRANSFORMER_ONLY}.get(kind, (*TRANSFORMER_ONLY, *BILSTM_ONLY))
    others = (*others, *(("settings",) if kind in OWN else ("dropout",)))
    return {f"model.encoder.{name}": f"is not an option of the encoder {kind!r}" for name in others}


def demand_used(config: Config) -> None:
    """Raise a `ConfigError` if an option is set that nothing uses."""
    only_used(config, unused_options(config))


def parser_decoders(parser: str) -> tuple[str, ...]:
    """Return the decoders of a parser, the usual one first."""
    return ARC_DECODERS if parser == PARSERS[1] else DECODERS


def demand_decoder(config: Config) -> None:
    """Raise a `TrainingError` if the decoder looks at other trees than the loss sums over."""
    parser, loss, decoder = config.model.parser, config.model.loss, config.decoding.decoder
    decoders = TREE_DECODERS.get((parser, loss), parser_decoders(parser))
    if decoder not in decoders:
        raise TrainingError(
            f"decoding.decoder = {decoder!r} does not use the trees and scores that model.parser = {parser!r} learns "
            f"with model.loss = {loss!r}; expected decoding.decoder = {' or '.join(map(repr, decoders))}"
        )


def demand_teachable(config: Config) -> None:
    """Raise a `TrainingError` for a teacher of models that cannot learn from one, and for texts without a teacher."""
    if config.teacher.texts and not config.teacher.model:
        raise TrainingError("teacher.texts are learnt from a teacher; expected teacher.model, a trained model")
    if config.teacher.model and (not head_shape(config.model).labels or config.model.loss != "words"):
        raise TrainingError(
            "teacher.model is for models that learn labels word by word: model.parser labels, loss words"
        )
    if config.teacher.texts and config.model.graph.encoding:
        raise TrainingError("teacher.texts have no graphs; leave them out, or leave model.graph.encoding empty")


def only_used(config: Config, asked: Collection[str]) -> Config:
    """Return the configuration with the options that nothing uses at their defaults.

    Raise a `ConfigError` if one of them was `asked` for by its name.
    """
    table = to_mapping(config)
    for option, why in unused_options(config).items():
        if option in asked:
            raise ConfigError("configuration", option, f"{why}; leave it out")
        *above, last = option.split(".")
        at: Any = table
        for part in above:
            at = at[part]
        del at[last]
    return from_mapping(table)
