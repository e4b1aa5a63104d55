"""Loading of models by name or folder: exported models for ONNX Runtime, and trained models for torch."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ropewalk.errors import MissingExtraError
from ropewalk.models.catalogue import locate
from ropewalk.models.description import TRAINED
from ropewalk.models.storage import ModelFolder, open_folder

if TYPE_CHECKING:
    from ropewalk.models.model import Model

AUTOMATIC = "auto"  # the name that chooses among the installed models by the language of each text
HUB = "hub:"  # before the name of a model on the Hugging Face hub
NEEDED = ("torch", "safetensors", "transformers")  # packages that trained models need


def open_model(name: str | os.PathLike[str]) -> ModelFolder:
    """Open the folder of a model. `name` is an installed model, a path, or `hub:USER/MODEL` on the Hugging Face hub."""
    text = os.fspath(name)
    if not text.startswith(HUB):
        return open_folder(locate(name))
    if find_spec("huggingface_hub") is None:
        raise MissingExtraError(f"{text} and other models on the hub", "huggingface_hub", "train")
    from ropewalk.training.hub import download

    return open_folder(download(text.removeprefix(HUB)))


def load_model(name: str | os.PathLike[str], *, threads: int = 0) -> Model:
    """Load a model. `name` is what `open_model` accepts, or the folder that it returned.

    Models that were trained and not exported need torch; raise `MissingExtraError` if one of their packages is missing.
    """
    folder = name if isinstance(name, ModelFolder) else open_model(name)
    if folder.format != TRAINED:
        from ropewalk.models.onnx.model import load as load_exported

        return load_exported(folder, threads)
    for package in NEEDED:
        if find_spec(package) is None:
            what = f"{os.fspath(name)} and other models that were trained and not exported"
            raise MissingExtraError(what, package, "train")
    from ropewalk.training.trainable import load as load_trained

    return load_trained(folder, threads)
