"""Models on the Hugging Face hub."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies

from ropewalk.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS = 5  # to wait for the hub


def demand(name: str, revision: str | None = None) -> None:
    """Stop at once if something was not downloaded before and the hub cannot be reached, rather than try for long."""
    from huggingface_hub import constants, try_to_load_from_cache

    if constants.HF_HUB_OFFLINE or getproxies() or isinstance(_cached(try_to_load_from_cache, name, revision), str):
        return
    place = urlsplit(constants.ENDPOINT)
    try:
        socket.create_connection((place.hostname or "", place.port or 443), timeout=SECONDS).close()
    except OSError as failure:
        raise ModelError(
            name, f"is no folder here and was not downloaded before, and {place.hostname} cannot be reached: {failure}"
        ) from failure


def _cached(find: Callable[..., object], name: str, revision: str | None) -> object:
    try:
        return find(name, "config.json", revision=revision)
    except ValueError:  # it can be no name on the hub, as transformers will say
        return ""


def download(name: str, revision: str | None = None) -> Path:
    """Download a model once by its name, such as `user/model`; with HF_HUB_OFFLINE=1 the one that was downloaded."""
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, revision=revision))
    except Exception as failure:
        raise ModelError(name, f"cannot be had from the hub: {failure}") from failure
