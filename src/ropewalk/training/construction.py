"""Construction of models: from the options of a configuration, or from a folder, to encoders and shapes.

Only this module branches on the kind of a parser or an encoder.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import torch
from safetensors import SafetensorError

from ropewalk.errors import ConfigError, ModelError, OptionError
from ropewalk.models.description import NO_GROUP, EncoderShape, GroupShape
from ropewalk.models.storage import CONFIG, LABELS, TOKENIZER, read_json
from ropewalk.models.subwords import Tokens
from ropewalk.models.word_readers import OWN, SETTINGS, WordReader, announced
from ropewalk.training import hub
from ropewalk.training.classifiers import DISTANCES
from ropewalk.training.config import RELATIONS
from ropewalk.training.encoders import SRU, BiLSTM, OwnEncoder, ReaderEncoder, Transformer
from ropewalk.training.encoders.transformer import HOME, keep_layers, tokens_of
from ropewalk.training.network import LossOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt
    from transformers import PretrainedConfig

    from ropewalk.models.label_sets import LabelSet
    from ropewalk.models.storage import ModelFolder
    from ropewalk.training.config import EncoderOptions, ModelOptions
    from ropewalk.training.encoders import WordEncoder

WITH_VOCABULARY: dict[str, type[BiLSTM | SRU]] = {"bilstm": BiLSTM, "sru": SRU}  # encoders that read features of words
DROPOUTS = ("hidden_dropout_prob", "attention_probs_dropout_prob", "dropout", "attention_dropout")


def head_shape(options: ModelOptions) -> GroupShape:
    """Return the shape of the classifiers of trees in a configuration; raise `ConfigError` if options contradict."""
    biaffine = options.parser == "biaffine"
    relations = "products" if biaffine else RELATIONS[options.relations.from_]
    if relations == "pairs" and not options.relations.hidden:
        raise ConfigError(
            "configuration",
            "model.relations.hidden",
            f"is 0, and model.relations.from is {options.relations.from_!r}; expected at least 1, or from word",
        )
    return GroupShape(
        labels=not biaffine,
        arcs=biaffine or options.arc_weight > 0 or options.loss == "trees",
        relations=relations,
        hidden=options.hidden,
        relation_size=options.biaffine.relation_size if relations == "products" else options.relations.hidden,
        arc_size=options.biaffine.arc_size,
        projection=options.projection,
        distances=DISTANCES if relations == "pairs" else (),
    )


def graph_shape(options: ModelOptions) -> GroupShape:
    """Return the shape of the classifiers of enhanced graphs in a configuration, or `NO_GROUP` if it has no graphs.

    Raise `ConfigError` if options contradict.
    """
    graph = options.graph
    if not graph.encoding:
        return NO_GROUP
    biaffine = graph.encoding == "biaffine"
    if not options.relations.hidden:
        raise ConfigError(
            "configuration",
            "model.relations.hidden",
            "is 0, and relations of graphs depend on the word and its head; expected at least 1",
        )
    return GroupShape(
        labels=not biaffine,
        arcs=biaffine or graph.arcs,
        hidden=options.hidden,
        relation_size=options.relations.hidden,
        arc_size=options.biaffine.arc_size,
        distances=DISTANCES,
    )


def loss_options(options: ModelOptions) -> LossOptions:
    """Return the dropout, the kind of loss, and the weights of its parts in a configuration."""
    return LossOptions(
        options.dropout,
        options.loss,
        options.auxiliary_weight,
        1.0 if options.parser == "biaffine" else options.arc_weight,
        options.tag_weight,
        options.graph.weight,
    )


def reader_name(options: EncoderOptions) -> str:
    """Return the encoder's name for a model card: a transformer's name without its folder, or the kind of encoder."""
    return Path(options.name).name if options.kind == "transformer" else options.kind


def needs_vocabulary(options: EncoderOptions) -> bool:
    """Return whether the encoder needs a vocabulary of the treebank's words: true for a `bilstm` and an `sru`."""
    return options.kind in WITH_VOCABULARY


def new_encoder(
    options: EncoderOptions,
    labels: LabelSet,
    vectors: npt.NDArray[np.float32] | None,
    styles: Sequence[str] = (),
) -> WordEncoder:
    """Build the encoder that a configuration describes; a transformer is pretrained, others have random weights.

    A `bilstm` or an `sru` reads its vocabulary from `labels` and its static word vectors from `vectors`; it keeps the
    conventions of the treebanks in `styles` apart. Raise `ConfigError` or `ModelError` if the encoder cannot be built
    or loaded.
    """
    if options.kind in WITH_VOCABULARY:
        return _new_word_encoder(options, labels, vectors, tuple(dict.fromkeys(styles)))
    if options.kind != "transformer":
        return own_encoder(options.kind, dict(_setting(text) for text in options.settings))
    if not options.name:
        raise ConfigError("configuration", "model.encoder.name", "is empty; expected a hub name or a local folder")
    if options.name.startswith((".", "/", "~")) and not Path(options.name).is_dir():
        raise ModelError(options.name, "is no folder; pass that of a pretrained encoder, or a hub name")
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    source = {"revision": options.revision or None, "local_files_only": options.local_files_only}
    if Path(options.name).is_dir():
        source = {"local_files_only": True}
    elif not options.local_files_only:
        hub.demand(options.name, options.revision or None)
    try:
        with _quiet():
            config = AutoConfig.from_pretrained(options.name, **source)
            _set_dropout(config, options.dropout)
            model = AutoModel.from_pretrained(options.name, config=config, dtype=torch.float32, **source)
            tokenizer = AutoTokenizer.from_pretrained(options.name, add_prefix_space=True, **source)
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
    """Build the encoder that another package registers under the name `kind`.

    Raise `ConfigError` if the package builds something that is no encoder.
    """
    factory = announced(kind)
    if isinstance(factory, type) and issubclass(factory, WordReader):
        return ReaderEncoder(kind, factory(settings))
    encoder = factory(kind, settings)
    if not isinstance(encoder, OwnEncoder):
        problem = f"{kind} makes a {type(encoder).__name__}; expected a WordReader or an OwnEncoder"
        raise ConfigError("configuration", "model.encoder.kind", problem)
    return encoder


def demand_transformer(encoder: WordEncoder, name: str) -> Transformer:
    """Return `encoder` if it is a transformer, otherwise raise `OptionError` with its `name`."""
    if not isinstance(encoder, Transformer):
        raise OptionError(f"{name}: static vectors come from a transformer; expected one, or a model trained on one")
    return encoder


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ConfigError("configuration", "model.encoder.settings", f"holds {text!r}; expected name=value")
    return name, value


def _new_word_encoder(
    options: EncoderOptions, labels: LabelSet, vectors: npt.NDArray[np.float32] | None, styles: tuple[str, ...]
) -> BiLSTM | SRU:
    assert labels.vocabulary is not None  # noqa: S101 - made with the labels
    sizes = ("word_size", "affix_size", "shape_size", "character_size")
    if vectors is None and not any(getattr(options, name) for name in sizes):
        problem = f"has no features of words; expected one of {', '.join(sizes)} above 0"
        raise ConfigError("configuration", "model.encoder", problem)
    shape = EncoderShape(
        kind=options.kind,
        styles=styles,
        vector_size=0 if vectors is None else vectors.shape[1],
        **{name: getattr(options, name) for name in (*sizes, "input_size", "hidden", "depth")},
    )
    encoder = WITH_VOCABULARY[options.kind](shape, labels.vocabulary, dropout=options.dropout, forget=options.forget)
    if encoder.vectors is not None and vectors is not None:
        encoder.vectors.weight.data[0] = 0
        encoder.vectors.weight.data[1:] = torch.from_numpy(vectors)
    return encoder


def stored_encoder(folder: ModelFolder, labels: LabelSet, options: EncoderOptions | None) -> WordEncoder:
    """Build the encoder that a model's folder describes, without its trained weights.

    With `options`, it gets their dropout, and can be trained further.
    """
    shape = folder.description.encoder
    dropout = 0.0 if options is None else options.dropout
    if shape.kind in WITH_VOCABULARY:
        if labels.vocabulary is None:
            raise ModelError(str(folder.path / LABELS), f"has no vocabulary, which the encoder {shape.kind!r} needs")
        forget = 0.0 if options is None else options.forget
        return WITH_VOCABULARY[shape.kind](shape, labels.vocabulary, dropout=dropout, forget=forget)
    if shape.kind != "transformer":
        return own_encoder(shape.kind, folder.table.get(SETTINGS, {}))
    home = folder.path / HOME
    for name in (CONFIG, TOKENIZER):
        read_json(home / name)  # the errors of transformers do not name a missing or damaged file
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    try:
        with _quiet():
            config = AutoConfig.from_pretrained(home, local_files_only=True)
            _set_dropout(config, dropout)
            model = AutoModel.from_config(config, dtype=torch.float32)
            tokenizer = AutoTokenizer.from_pretrained(home, local_files_only=True)
            tokens = Tokens.from_json(folder.table["tokens"])
    except Exception as failure:
        raise ModelError(str(home), f"contains no encoder that can be loaded: {failure}") from failure
    if options is not None and options.freeze_embeddings:
        model.get_input_embeddings().requires_grad_(False)  # noqa: FBT003 - torch's signature
    return Transformer(model, tokenizer, tokens, pooling=shape.pooling, cased=shape.casing)


def is_own(shape: EncoderShape) -> bool:
    """Return whether an encoder belongs to Ropewalk, not to another package."""
    return shape.kind in OWN


def _set_dropout(config: PretrainedConfig, dropout: float) -> None:
    for name in DROPOUTS:
        if isinstance(getattr(config, name, None), float | int):
            setattr(config, name, dropout)


class _quiet:  # noqa: N801 - used as a statement
    """Context in which transformers draws no progress bars and does not report unused weights."""

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
