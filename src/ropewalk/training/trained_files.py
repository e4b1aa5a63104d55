"""The folder of a trained model: `config.json`, `labels.json`, `model.safetensors`, `encoder/` and the model card.

`encoder/` has the tokenizer and the configuration of a transformer. Nothing in a folder is executable.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

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

Options = TypeVar("Options")
WEIGHTS = "model.safetensors"


def demand_fit(network: nn.Module, weights: Mapping[str, Tensor], path: Path) -> None:
    """Raise `ModelError` unless `weights` has exactly the weights of the network, in the same shapes."""
    expected = network.state_dict()
    file = str(path / WEIGHTS)
    missing, foreign = sorted(expected.keys() - weights.keys()), sorted(weights.keys() - expected.keys())
    if missing or foreign:
        lacks = f"lacks {missing[0]}" if missing else f"has {foreign[0]}, which the model does not"
        raise ModelError(file, f"{lacks} ({len(missing)} missing, {len(foreign)} foreign); it is of another model")
    for name, tensor in expected.items():
        if tensor.shape != weights[name].shape:
            shapes = f"shape {list(weights[name].shape)}, expected {list(tensor.shape)}"
            raise ModelError(file, f"{name} has {shapes}; it is of another model")


def save(path: str | os.PathLike[str], trainable: Trainable, config: Config | None = None) -> None:
    """Write a model's folder without its card; `config` is the record of how it was trained."""
    save_description(path, trainable, config)
    write_tensors(Path(path) / WEIGHTS, trainable.network.state_dict())


def save_description(path: str | os.PathLike[str], trainable: Trainable, config: Config | None = None) -> None:
    """Write a model's folder without its weights and card."""
    home = files.make_folder(path)
    table = trainable.description.to_json(TRAINED) | trainable.network.encoder.save(home)
    write_json(home / LABELS, trainable.labels.to_json(), compact=True)
    write_json(home / CONFIG, table | ({} if config is None else {"training": to_mapping(portable(config))}))


def portable(config: Config) -> Config:
    """Return a configuration in which paths are reduced to file names: folders mean nothing on other machines."""
    encoder = config.model.encoder
    local = Path(encoder.name).is_dir()
    return replace(
        config,
        data=without_folders(config.data, "train", "dev", "test"),
        model=replace(config.model, encoder=without_folders(encoder, "vectors", *(["name"] if local else []))),
        teacher=without_folders(config.teacher, "model", "texts", "segmenter", "sources", "cache"),
    )


def without_folders(options: Options, *names: str) -> Options:
    """Return a copy of `options` in which the paths in the fields `names` are reduced to file names.

    A field has one path or a tuple of paths.
    """

    def file_name(value: Any) -> Any:  # noqa: ANN401 - a path, or a tuple of them
        return tuple(map(file_name, value)) if isinstance(value, tuple) else Path(value).name

    changes = {name: file_name(getattr(options, name)) for name in names}
    return cast("Options", replace(cast("Any", options), **changes))


def save_card(path: str | os.PathLike[str], card: str) -> None:
    """Write a model's card."""
    write_content(Path(path) / CARD, card.encode("utf-8"))


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file, by name; raise `ModelError` if it is damaged."""
    return unpacked(read_content(path), path)


def unpacked(raw: bytes, path: Path) -> dict[str, Tensor]:
    """Return the tensors in `raw`, the content of a safetensors file; raise `ModelError` if it is damaged."""
    try:
        return load_tensors(raw)
    except (SafetensorError, ValueError, KeyError) as failure:
        raise ModelError(str(path), f"is damaged or cut short: {failure}; copy or train it again") from failure


def packed(tensors: Mapping[str, Tensor]) -> bytes:
    """Return tensors as the content of a safetensors file; equal tensors give equal bytes."""
    return save_tensors({name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()})


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> str:
    """Write tensors to a safetensors file, and return its SHA-256; after a failure there is no partial file."""
    raw = packed(tensors)
    write_content(path, raw)
    return hashlib.sha256(raw).hexdigest()


def write_content(path: Path, raw: bytes) -> None:
    """Write a file; after a failure there is no partial file."""
    with files.creating(path) as file:
        file.write(raw)
