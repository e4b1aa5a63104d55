"""Writing a trained model's folder: `config.json`, `labels.json`, `model.safetensors`, `encoder/` and the model card.

`encoder/` holds the tokenizer and the configuration of a transformer. Nothing in a folder is executable.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors

from ropewalk import files
from ropewalk.errors import ModelError
from ropewalk.models.description import TRAINED
from ropewalk.models.storage import CARD, CONFIG, LABELS, read_content, write_json
from ropewalk.options import to_mapping

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from torch import Tensor, nn

    from ropewalk.training.config import Config
    from ropewalk.training.trainable import Trainable

WEIGHTS = "model.safetensors"


def demand_fit(network: nn.Module, weights: Mapping[str, Tensor], path: Path) -> None:
    """Raise unless weights are those of a network, all of them and no others, in the same shapes."""
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


def save(path: str | os.PathLike[str], trainable: Trainable, config: Config | None = None) -> None:
    """Write a model's folder, all but its card; `config` is kept as a record of how it was trained."""
    save_description(path, trainable, config)
    save_weights(path, trainable.network.state_dict())


def save_description(path: str | os.PathLike[str], trainable: Trainable, config: Config | None = None) -> None:
    """Write all of a model's folder but its weights and card."""
    home = files.make_folder(path)
    table = trainable.description.to_json(TRAINED) | trainable.network.encoder.save(home)
    write_json(home / LABELS, trainable.labels.to_json(), compact=True)
    write_json(home / CONFIG, table | ({} if config is None else {"training": to_mapping(portable(config))}))


def portable(config: Config) -> Config:
    """Name files without the folders they lie in, which mean nothing elsewhere."""
    data = config.data
    encoder = config.model.encoder

    def names(paths: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(Path(path).name for path in paths)

    teacher = config.teacher
    local = Path(encoder.name).is_dir()
    encoder = replace(
        encoder, name=Path(encoder.name).name if local else encoder.name, vectors=Path(encoder.vectors).name
    )
    return replace(
        config,
        data=replace(data, train=names(data.train), dev=names(data.dev), test=names(data.test)),
        model=replace(config.model, encoder=encoder),
        teacher=replace(
            teacher,
            model=names(teacher.model),
            texts=names(teacher.texts),
            segmenter=Path(teacher.segmenter).name,
            sources=Path(teacher.sources).name,
            cache=Path(teacher.cache).name,
        ),
    )


def save_weights(path: str | os.PathLike[str], weights: Mapping[str, Tensor]) -> None:
    """Write a model's weights."""
    write_tensors(Path(path) / WEIGHTS, weights)


def save_card(path: str | os.PathLike[str], card: str) -> None:
    """Write a model's card."""
    write_content(Path(path) / CARD, card.encode("utf-8"))


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Read a safetensors file."""
    return unpacked(read_content(path), path)


def unpacked(raw: bytes, path: Path) -> dict[str, Tensor]:
    """Return the tensors in the content of a safetensors file."""
    try:
        return load_tensors(raw)
    except (SafetensorError, ValueError, KeyError) as failure:
        raise ModelError(str(path), f"is damaged or cut short: {failure}; copy or train it again") from failure


def packed(tensors: Mapping[str, Tensor]) -> bytes:
    """Return the content of a safetensors file; equal tensors give equal bytes."""
    return save_tensors({name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()})


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> str:
    """Write a safetensors file, whole or not at all, and return its SHA-256."""
    raw = packed(tensors)
    write_content(path, raw)
    return hashlib.sha256(raw).hexdigest()


def write_content(path: Path, raw: bytes) -> None:
    """Write a file, whole or not at all."""
    with files.creating(path) as file:
        file.write(raw)
