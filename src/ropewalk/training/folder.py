"""A model's folder: `config.json`, `labels.json`, `model.safetensors`, `encoder/` and the model card.

`encoder/` holds the tokenizer and the configuration of a transformer. Nothing in a folder is executable. A file
that is missing, cut short or of another kind is a `ModelError` that names it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors

from ropewalk import files
from ropewalk.errors import ConfigError, ModelError
from ropewalk.models.config import to_mapping
from ropewalk.models.stored import VERSION, read_content, read_frame, read_json, write_json
from ropewalk.models.subwords import Tokens
from ropewalk.training.encoders import BiLSTM, Transformer
from ropewalk.training.encoders.transformer import keep_layers, tokens_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt
    from torch import Tensor, nn
    from transformers import PretrainedConfig

    from ropewalk.models.config import Config
    from ropewalk.models.config import Encoder as Options
    from ropewalk.models.labels import LabelSet
    from ropewalk.training.encoders import Encoder

FORMAT = "ropewalk-tagger"
WEIGHTS = "model.safetensors"
DROPOUTS = ("hidden_dropout_prob", "attention_probs_dropout_prob", "dropout", "attention_dropout")


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What a model's folder holds, ready to be put together."""

    path: Path
    config: Config
    labels: LabelSet
    encoder: Encoder
    weights: dict[str, Tensor]


def locate(name: str | os.PathLike[str], revision: str | None, *, local_files_only: bool) -> Path:
    """Find a model's folder: a path, or a name on the Hugging Face hub, which is downloaded once."""
    path = Path(name)
    text = os.fspath(name)
    if path.is_dir():
        return path
    if path.exists() or text.startswith((".", "/", "~")) or text.count("/") != 1:
        raise ModelError(text, "is no folder; expected a model's folder, or a hub name such as user/model")
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(text, revision=revision, local_files_only=local_files_only))
    except Exception as failure:
        raise ModelError(text, f"is no folder here, and the hub does not give it: {failure}") from failure


def load(path: Path) -> Found:
    """Read a model's folder."""
    frame = read_frame(path, FORMAT)
    weights = read_tensors(path / WEIGHTS)
    encoder = _stored_encoder(path, frame.config.model.encoder, frame.labels, frame.table)
    return Found(path, frame.config, frame.labels, encoder, weights)


def fill(network: nn.Module, weights: Mapping[str, Tensor], path: Path) -> None:
    """Put weights into a network, all of them and no others."""
    wanted = network.state_dict()
    file = str(path / WEIGHTS)
    missing, foreign = sorted(wanted.keys() - weights.keys()), sorted(weights.keys() - wanted.keys())
    if missing or foreign:
        lacks = f"lacks {missing[0]}" if missing else f"has {foreign[0]}, which the model does not"
        raise ModelError(file, f"{lacks} ({len(missing)} missing, {len(foreign)} foreign); it is of another model")
    for name, tensor in wanted.items():
        if tensor.shape != weights[name].shape:
            found, expected = list(weights[name].shape), list(tensor.shape)
            raise ModelError(file, f"{name} has shape {found}, expected {expected}; it is of another model")
    network.load_state_dict(dict(weights))


def save_frame(path: str | os.PathLike[str], config: Config, labels: LabelSet, encoder: Encoder) -> None:
    """Write all of a model's folder but its weights and card."""
    home = files.make_folder(path)
    tokens = None
    vector_size = 0
    if isinstance(encoder, Transformer):
        tokens = encoder.tokens.to_json()
        encoder.model.config.save_pretrained(home / "encoder")
        encoder.tokenizer.save_pretrained(home / "encoder")
    elif isinstance(encoder, BiLSTM) and encoder.vectors is not None:
        vector_size = encoder.vectors.embedding_dim
    table = {
        "format": FORMAT,
        "version": VERSION,
        "config": to_mapping(portable(config)),
        "tokens": tokens,
        "casing": isinstance(encoder, Transformer) and encoder.casing is not None,
        "vector_size": vector_size,
    }
    write_json(home / "labels.json", labels.to_json())
    write_json(home / "config.json", table)


def portable(config: Config) -> Config:
    """Name files without the folders they lie in, which mean nothing elsewhere."""
    data = config.data
    encoder = config.model.encoder

    def names(paths: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(Path(path).name for path in paths)

    local = Path(encoder.name).is_dir()
    encoder = replace(
        encoder, name=Path(encoder.name).name if local else encoder.name, vectors=Path(encoder.vectors).name
    )
    return replace(
        config,
        data=replace(data, train=names(data.train), dev=names(data.dev), test=names(data.test)),
        model=replace(config.model, encoder=encoder),
        teacher=replace(config.teacher, model=Path(config.teacher.model).name),
    )


def save_weights(path: str | os.PathLike[str], weights: Mapping[str, Tensor]) -> None:
    """Write a model's weights."""
    write_tensors(Path(path) / WEIGHTS, weights)


def save_card(path: str | os.PathLike[str], card: str) -> None:
    """Write a model's card."""
    with files.creating(Path(path) / "README.md") as file:
        file.write(card.encode("utf-8"))


def push(name: str, path: str | os.PathLike[str], *, private: bool) -> None:
    """Upload a model's folder."""
    from huggingface_hub import HfApi

    api = HfApi()
    api.create_repo(name, private=private, exist_ok=True)
    api.upload_folder(repo_id=name, folder_path=Path(path), ignore_patterns=["checkpoint/*"])


def new_encoder(options: Options, labels: LabelSet, vectors: npt.NDArray[np.float32] | None) -> Encoder:
    """Make the encoder that a configuration asks for, pretrained if it is a transformer."""
    if options.kind == "bilstm":
        assert labels.vocabulary is not None  # noqa: S101 - made with the labels
        encoder = BiLSTM(options, labels.vocabulary, 0 if vectors is None else vectors.shape[1])
        if encoder.vectors is not None and vectors is not None:
            encoder.vectors.weight.data[0] = 0
            encoder.vectors.weight.data[1:] = torch.from_numpy(vectors)
        return encoder
    if not options.name:
        raise ConfigError("configuration", "model.encoder.name", "is empty; expected a hub name or a local folder")
    if options.name.startswith((".", "/", "~")) and not Path(options.name).is_dir():
        raise ModelError(options.name, "is no folder; expected that of a pretrained encoder, or a hub name")
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    place = {"revision": options.revision or None, "local_files_only": options.local_files_only}
    if Path(options.name).is_dir():
        place = {"local_files_only": True}
    try:
        with _quiet():
            made = AutoConfig.from_pretrained(options.name, **place)
            _set_dropout(made, options.dropout)
            model = AutoModel.from_pretrained(options.name, config=made, dtype=torch.float32, **place)
            tokenizer = AutoTokenizer.from_pretrained(options.name, add_prefix_space=True, **place)
    except (OSError, ValueError, SafetensorError) as failure:
        raise ModelError(options.name, f"cannot be loaded as an encoder: {failure}") from failure
    if options.layers:
        keep_layers(model, options.layers, options.name)
    tokens = tokens_of(tokenizer, model.config, options.window)
    cased = tokens.lowercases if options.casing == "auto" else options.casing == "yes"
    return Transformer(model, tokenizer, tokens, options, cased=cased)


def _stored_encoder(path: Path, options: Options, labels: LabelSet, table: dict[str, Any]) -> Encoder:
    if options.kind == "bilstm":
        if labels.vocabulary is None:
            raise ModelError(str(path / "labels.json"), "has no vocabulary, which a bilstm encoder needs")
        return BiLSTM(options, labels.vocabulary, int(table.get("vector_size", 0)))
    home = path / "encoder"
    for name in ("config.json", "tokenizer.json"):
        read_json(home / name)  # what transformers says of a missing or damaged file does not name it
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    try:
        with _quiet():
            made = AutoConfig.from_pretrained(home, local_files_only=True)
            _set_dropout(made, options.dropout)
            model = AutoModel.from_config(made, dtype=torch.float32)
            tokenizer = AutoTokenizer.from_pretrained(home, local_files_only=True)
            tokens = Tokens.from_json(table["tokens"])
    except Exception as failure:
        raise ModelError(str(home), f"is no encoder that can be loaded: {failure}") from failure
    return Transformer(model, tokenizer, tokens, options, cased=bool(table["casing"]))


def _set_dropout(made: PretrainedConfig, dropout: float) -> None:
    for name in DROPOUTS:
        if isinstance(getattr(made, name, None), float | int):
            setattr(made, name, dropout)


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


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Read a safetensors file."""
    raw = read_content(path)
    try:
        return load_tensors(raw)
    except (SafetensorError, ValueError, KeyError) as failure:
        raise ModelError(str(path), f"is damaged or cut short: {failure}; copy or train it again") from failure


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write a safetensors file, whole or not at all."""
    plain = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    with files.creating(path) as file:
        file.write(save_tensors(plain))
