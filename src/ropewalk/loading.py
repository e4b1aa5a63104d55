"""A model by its name or folder, whatever computes it."""

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

HUB = "hub:"  # before the name of a model on the Hugging Face hub
NEEDED = ("torch", "safetensors", "transformers")  # by models as training writes them


def open_model(name: str | os.PathLike[str]) -> ModelFolder:
    """Open the folder of a model by its name, by its path, or from the hub by `hub:USER/MODEL`."""
    text = os.fspath(name)
    if not text.startswith(HUB):
        return open_folder(locate(name))
    if find_spec("huggingface_hub") is None:
        raise MissingExtraError(f"{text} and other models on the hub", "huggingface_hub", "train")
    from ropewalk.training.hub import download

    return open_folder(download(text.removeprefix(HUB)))


def load_model(name: str | os.PathLike[str], *, threads: int = 0) -> Model:
    """Load a model by its name, by its path, or from the hub; or from a folder that `open_model` returned.

    Exported models need no torch; those that training writes do.
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
