"""Models on the Hugging Face hub."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk.errors import ModelError

if TYPE_CHECKING:
    import os


def download(name: str, revision: str | None = None) -> Path:
    """Download a model once by its name, such as `user/model`; with HF_HUB_OFFLINE=1 the one that was downloaded."""
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, revision=revision))
    except Exception as failure:
        raise ModelError(name, f"cannot be had from the hub: {failure}") from failure


def push(name: str, path: str | os.PathLike[str], *, private: bool = False) -> None:
    """Upload a model's folder."""
    from huggingface_hub import HfApi

    api = HfApi()
    api.create_repo(name, private=private, exist_ok=True)
    api.upload_folder(repo_id=name, folder_path=Path(path), ignore_patterns=["checkpoint/*"])
