"""A model by its name or folder, whatever computes it."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ropewalk.errors import MissingExtraError
from ropewalk.models.catalogue import locate
from ropewalk.models.description import TRAINED
from ropewalk.models.storage import open_folder

if TYPE_CHECKING:
    from ropewalk.models.model import Model

HUB = "hub:"  # before the name of a model on the Hugging Face hub
NEEDED = ("torch", "safetensors", "transformers")  # by models as training writes them


def load_model(name: str | os.PathLike[str], *, threads: int = 0) -> Model:
    """Load a model by its name, from its folder, or from the hub by `hub:USER/MODEL`.

    Exported models need no torch; those that training writes do.
    """
    text = os.fspath(name)
    path = None if text.startswith(HUB) else locate(name)
    if path is not None and open_folder(path).format != TRAINED:
        from ropewalk.models.onnx.model import load as load_exported

        return load_exported(path, threads)
    for package in NEEDED:
        if find_spec(package) is None:
            raise MissingExtraError(f"{text} and other models that were trained and not exported", package, "train")
    from ropewalk.training.trainable import load as load_trained

    if path is None:
        from ropewalk.training.hub import download

        path = download(text.removeprefix(HUB))
    return load_trained(path, threads)
