"""Models on the Hugging Face hub."""

from __future__ import annotations

import socket
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies

from ropewalk.errors import ModelError

SECONDS = 5  # timeout of the hub


def demand(name: str, revision: str | None = None) -> None:
    """Raise `ModelError` if the model `name` was not downloaded before and the hub cannot be reached."""
    from huggingface_hub import constants, try_to_load_from_cache

    try:
        cached = try_to_load_from_cache(name, "config.json", revision=revision)
    except ValueError:  # it is no valid name; transformers raises a better error
        return
    if constants.HF_HUB_OFFLINE or getproxies() or isinstance(cached, str):
        return
    address = urlsplit(constants.ENDPOINT)
    try:
        socket.create_connection((address.hostname or "", address.port or 443), timeout=SECONDS).close()
    except OSError as failure:
        problem = f"is no folder and was not downloaded before, and {address.hostname} cannot be reached: {failure}"
        raise ModelError(name, f"{problem}; pass a folder, or connect to the network") from failure


def download(name: str, revision: str | None = None) -> Path:
    """Download a model such as `user/model` from the hub, unless it was downloaded before, and return its folder.

    With HF_HUB_OFFLINE=1, return the folder of the earlier download. Raise `ModelError` if there is none.
    """
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, revision=revision))
    except Exception as failure:
        raise ModelError(name, f"cannot be downloaded from the hub: {failure}") from failure
