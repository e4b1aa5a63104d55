"""Where models are built: from the options of a configuration, or from a folder, to encoders and the shape of heads.

Here alone is it asked of which kind a parser or an encoder is.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import torch
from safetensors import SafetensorError

from ropewalk.errors import ConfigError, ModelError, OptionError
from ropewalk.models.description import EncoderShape, GraphShape, HeadShape
from ropewalk.models.storage import CONFIG, LABELS, TOKENIZER, read_json
from ropewalk.models.subwords import Tokens
from ropewalk.models.word_readers import OWN, SETTINGS, WordReader, announced
from ropewalk.training import hub
from ropewalk.training.classifiers import DISTANCES
from ropewalk.training.config import RELATIONS
from ropewalk.training.encoders import BiLSTM, OwnEncoder, ReaderEncoder, Transformer
from ropewalk.training.encoders.transformer import HOME, keep_layers, tokens_of
from ropewalk.training.network import LossOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt
    from transformers import PretrainedConfig

    from ropewalk.models.labels import LabelSet
    from ropewalk.models.storage import ModelFolder
    from ropewalk.training.config import EncoderOptions, ModelOptions
    from ropewalk.training.encoders import WordEncoder

DROPOUTS = ("hidden_dropout_prob", "attention_probs_dropout_prob", "dropout", "attention_dropout")


def head_shape(options: ModelOptions) -> HeadShape:
    """Say which heads a configuration asks for."""
    biaffine = options.parser == "biaffine"
    relations = "products" if biaffine else RELATIONS[options.relations.from_]
    if relations == "pairs" and not options.relations.hidden:
        raise ConfigError(
            "configuration",
            "model.relations.hidden",
            f"is 0, and model.relations.from is {options.relations.from_!r}; expected at least 1, or from word",
        )
    return HeadShape(
        labels=not biaffine,
        arcs=biaffine or options.arc_weight > 0 or options.loss == "trees",
        relations=relations,
        hidden=options.hidden,
        relation_size=options.biaffine.relation_size if relations == "products" else options.relations.hidden,
        arc_size=options.biaffine.arc_size,
        projection=options.projection,
    )


def graph_shape(options: ModelOptions) -> GraphShape:
    """Say which heads for enhanced graphs a configuration asks for."""
    graph = options.graph
    if not graph.encoding:
        return GraphShape()
    biaffine = graph.encoding == "biaffine"
    if not options.relations.hidden:
        raise ConfigError(
            "configuration",
            "model.relations.hidden",
            "is 0, and relations of graphs are from the word and its head; expected at least 1",
        )
    return GraphShape(
        labels=not biaffine,
        arcs=biaffine or graph.arcs,
        hidden=options.hidden,
        relation_size=options.relations.hidden,
        arc_size=options.biaffine.arc_size,
        distances=DISTANCES,
    )


def loss_options(options: ModelOptions) -> LossOptions:
    """Say how a configuration weighs the parts of the loss."""
    return LossOptions(
        options.dropout,
        options.loss,
        options.auxiliary_weight,
        1.0 if options.parser == "biaffine" else options.arc_weight,
        options.tag_weight,
        options.graph.weight,
    )


def reader_name(options: EncoderOptions) -> str:
    """Name the encoder for people."""
    return Path(options.name).name if options.kind == "transformer" else options.kind


def needs_vocabulary(options: EncoderOptions) -> bool:
    """Tell whether an encoder knows words by a vocabulary of its own."""
    return options.kind == "bilstm"


def new_encoder(options: EncoderOptions, labels: LabelSet, vectors: npt.NDArray[np.float32] | None) -> WordEncoder:
    """Make the encoder that a configuration asks for, pretrained if it is a transformer."""
    if options.kind == "bilstm":
        return _new_bilstm(options, labels, vectors)
    if options.kind != "transformer":
        return own_encoder(options.kind, dict(_setting(text) for text in options.settings))
    if not options.name:
        raise ConfigError("configuration", "model.encoder.name", "is empty; expected a hub name or a local folder")
    if options.name.startswith((".", "/", "~")) and not Path(options.name).is_dir():
        raise ModelError(options.name, "is no folder; expected that of a pretrained encoder, or a hub name")
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    place = {"revision": options.revision or None, "local_files_only": options.local_files_only}
    if Path(options.name).is_dir():
        place = {"local_files_only": True}
    elif not options.local_files_only:
        hub.demand(options.name, options.revision or None)
    try:
        with _quiet():
            config = AutoConfig.from_pretrained(options.name, **place)
            _set_dropout(config, options.dropout)
            model = AutoModel.from_pretrained(options.name, config=config, dtype=torch.float32, **place)
            tokenizer = AutoTokenizer.from_pretrained(options.name, add_prefix_space=True, **place)
    except (OSError, ValueError, SafetensorError) as failure:
        raise ModelError(options.name, f"cannot be loaded as an encoder: {failure}") from failure
    if options.layers:
        keep_layers(model, options.layers, options.name)
    if options.freeze_embeddings:
        model.get_input_embeddings().requires_grad_(False)  # noqa: FBT003 - torch's signature
    tokens = tokens_of(tokenizer, model.config, options.window)
    cased = tokens.lowercases if options.casing == "auto" else options.casing == "yes"
    return Transformer(model, tokenizer, tokens, pooling=options.pooling, cased=cased)


def own_encoder(kind: str, settings: Mapping[str, str]) -> OwnEncoder:
    """Make the encoder that another package announces by this name."""
    found = announced(kind)
    if isinstance(found, type) and issubclass(found, WordReader):
        return ReaderEncoder(kind, found(settings))
    encoder = found(kind, settings)
    if not isinstance(encoder, OwnEncoder):
        problem = f"{kind} makes a {type(encoder).__name__}; expected a WordReader or an OwnEncoder"
        raise ConfigError("configuration", "model.encoder.kind", problem)
    return encoder


def demand_transformer(encoder: WordEncoder, name: str) -> Transformer:
    """Give an encoder that reads subwords, for what no other kind has, or stop."""
    if not isinstance(encoder, Transformer):
        raise OptionError(f"{name}: static vectors come from a transformer; expected one, or a model trained on one")
    return encoder


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ConfigError("configuration", "model.encoder.settings", f"holds {text!r}; expected name=value")
    return name, value


def _new_bilstm(options: EncoderOptions, labels: LabelSet, vectors: npt.NDArray[np.float32] | None) -> BiLSTM:
    assert labels.vocabulary is not None  # noqa: S101 - made with the labels
    sizes = ("word_size", "affix_size", "shape_size", "character_size")
    if vectors is None and not any(getattr(options, name) for name in sizes):
        raise ConfigError(
            "configuration", "model.encoder", f"reads nothing of a word; expected one of {', '.join(sizes)} above 0"
        )
    shape = EncoderShape(
        kind=options.kind,
        word_size=options.word_size,
        affix_size=options.affix_size,
        shape_size=options.shape_size,
        character_size=options.character_size,
        vector_size=0 if vectors is None else vectors.shape[1],
        input_size=options.input_size,
        hidden=options.hidden,
        depth=options.depth,
    )
    encoder = BiLSTM(shape, labels.vocabulary, dropout=options.dropout, forget=options.forget)
    if encoder.vectors is not None and vectors is not None:
        encoder.vectors.weight.data[0] = 0
        encoder.vectors.weight.data[1:] = torch.from_numpy(vectors)
    return encoder


def stored_encoder(folder: ModelFolder, labels: LabelSet, options: EncoderOptions | None) -> WordEncoder:
    """Make the encoder of a model's folder, still without its weights; with `options` to be trained further."""
    shape = folder.description.encoder
    dropout = 0.0 if options is None else options.dropout
    if shape.kind == "bilstm":
        if labels.vocabulary is None:
            raise ModelError(str(folder.path / LABELS), "has no vocabulary, which a bilstm encoder needs")
        return BiLSTM(shape, labels.vocabulary, dropout=dropout, forget=0.0 if options is None else options.forget)
    if shape.kind != "transformer":
        return own_encoder(shape.kind, folder.table.get(SETTINGS, {}))
    home = folder.path / HOME
    for name in (CONFIG, TOKENIZER):
        read_json(home / name)  # what transformers says of a missing or damaged file does not name it
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    try:
        with _quiet():
            config = AutoConfig.from_pretrained(home, local_files_only=True)
            _set_dropout(config, dropout)
            model = AutoModel.from_config(config, dtype=torch.float32)
            tokenizer = AutoTokenizer.from_pretrained(home, local_files_only=True)
            tokens = Tokens.from_json(folder.table["tokens"])
    except Exception as failure:
        raise ModelError(str(home), f"is no encoder that can be loaded: {failure}") from failure
    if options is not None and options.freeze_embeddings:
        model.get_input_embeddings().requires_grad_(False)  # noqa: FBT003 - torch's signature
    return Transformer(model, tokenizer, tokens, pooling=shape.pooling, cased=shape.casing)


def is_own(shape: EncoderShape) -> bool:
    """Return whether an encoder is one of Ropewalk's own."""
    return shape.kind in OWN


def _set_dropout(config: PretrainedConfig, dropout: float) -> None:
    for name in DROPOUTS:
        if isinstance(getattr(config, name, None), float | int):
            setattr(config, name, dropout)


class _quiet:  # noqa: N801 - used as a statement
    """Keep transformers from drawing bars and telling of weights that are not meant to be used."""

    def __enter__(self) -> None:
        from transformers.utils import logging

        self._level = logging.get_verbosity()
        self._bars = logging.is_progress_bar_enabled()
        logging.set_verbosity_error()
        logging.disable_progress_bar()

    def __exit__(self, *_: object) -> None:
        from transformers.utils import logging

        logging.set_verbosity(self._level)
        if self._bars:
            logging.enable_progress_bar()
