"""Checks that the options of a configuration fit together: options that a model cannot use are errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ropewalk import decoding
from ropewalk.errors import ConfigError, TrainingError
from ropewalk.models.word_readers import OWN
from ropewalk.options import flat_options, to_mapping
from ropewalk.training.config import PARSERS, Config, from_mapping
from ropewalk.training.construction import graph_shape, head_shape, needs_vocabulary

if TYPE_CHECKING:
    from collections.abc import Collection

LABELS_ONLY = (
    "model.encoding", "model.arc_weight", "model.relations.from", "decoding.depth", "decoding.repair",
    "decoding.arc_scale", "decoding.longest_with_arcs",
)  # fmt: skip
TAGS_ONLY = (
    "model.least_rules", "model.known_lemmas", "model.lexicon", "model.combinations", "model.feats", "model.tag_weight",
)  # fmt: skip
GRAPHS_ONLY = ("model.graph.arcs", "model.graph.weight")
TRANSFORMER_ONLY = (
    "name", "revision", "local_files_only", "pooling", "window", "casing", "freeze_embeddings", "layers",
)  # fmt: skip
FEATURES_ONLY = (
    "word_size", "affix_size", "shape_size", "character_size", "input_size", "hidden", "depth", "least_count",
    "forget", "vectors", "most_vectors",
)  # fmt: skip
UNUSED = {  # options that a kind of encoder does not use; one of another package uses neither group
    "transformer": FEATURES_ONLY,
    "bilstm": TRANSFORMER_ONLY,
    "sru": (*TRANSFORMER_ONLY, "input_size"),  # it reads features at the size of its vectors
}

ARC_TREES = {"trees": "projective", "trees-nonprojective": "all"}  # the trees that losses of arcs alone sum over


def unused_options(config: Config) -> dict[str, str]:
    """Return the options that differ from their defaults although this model does not use them, with the reasons."""
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
    if not needs_vocabulary(model.encoder):
        reasons["data.styles"] = f"is for the encoders bilstm and sru, and model.encoder.kind is {model.encoder.kind!r}"
    reasons |= _unused_by_encoder(model.encoder.kind)
    defaults, values = map(flat_options, (Config(), config))
    return {option: why for option, why in reasons.items() if values[option] != defaults[option]}


def _unused_by_encoder(kind: str) -> dict[str, str]:
    others = UNUSED.get(kind, (*TRANSFORMER_ONLY, *FEATURES_ONLY))
    others = (*others, *(("settings",) if kind in OWN else ("dropout",)))
    return {f"model.encoder.{name}": f"is not an option of the encoder {kind!r}" for name in others}


def demand_used(config: Config) -> None:
    """Raise `ConfigError` if an option that this model does not use differs from its default."""
    only_used(config, unused_options(config))


def parser_decoders(parser: str) -> tuple[str, ...]:
    """Return the names of the decoders for the kind `parser`, labels or biaffine; the default is first."""
    return decoding.arc_decoders() if parser == PARSERS[1] else decoding.label_decoders()


def _loss_decoders(parser: str, loss: str) -> tuple[str, ...]:
    """Return the decoders of a parser that fit its loss.

    If the loss sums over trees, they are those that search the same trees with the same scores; otherwise all.
    """
    names = parser_decoders(parser)
    if loss not in ARC_TREES:
        return names
    if parser == PARSERS[1]:
        return tuple(name for name in names if decoding.get(name).trees_by_arcs == ARC_TREES[loss])
    return tuple(name for name in names if decoding.get(name).needs_arcs)


def demand_decoder(config: Config) -> None:
    """Raise `TrainingError` if the decoder uses other trees or scores than the loss."""
    parser, loss, decoder = config.model.parser, config.model.loss, config.decoding.decoder
    decoders = _loss_decoders(parser, loss)
    if decoder not in decoders:
        raise TrainingError(
            f"decoding.decoder = {decoder!r} does not use the trees and scores that model.parser = {parser!r} learns "
            f"with model.loss = {loss!r}; expected decoding.decoder = {' or '.join(map(repr, decoders))}"
        )


def demand_teachable(config: Config) -> None:
    """Raise `TrainingError` if the configuration has a teacher that this model cannot learn from.

    Also raise it if there are texts to annotate without a teacher, or together with graphs.
    """
    if config.teacher.texts and not config.teacher.model:
        raise TrainingError("teacher.texts need a teacher that annotates them; set teacher.model to a trained model")
    if config.teacher.model and (not head_shape(config.model).labels or config.model.loss not in {"words", "trees"}):
        raise TrainingError(
            "teacher.model is for models that learn labels word by word or as whole trees; set model.parser=labels, "
            "and model.loss to words or trees"
        )
    if config.teacher.texts and config.model.graph.encoding:
        raise TrainingError("teacher.texts have no graphs; leave them out, or leave model.graph.encoding empty")


def only_used(config: Config, named: Collection[str]) -> Config:
    """Return the configuration with options that this model does not use set back to their defaults.

    Raise `ConfigError` if one of them is in `named`, the options that the user set.
    """
    table = to_mapping(config)
    for option, why in unused_options(config).items():
        if option in named:
            raise ConfigError("configuration", option, f"{why}; leave it out")
        *above, last = option.split(".")
        inner: Any = table
        for part in above:
            inner = inner[part]
        del inner[last]
    return from_mapping(table)
