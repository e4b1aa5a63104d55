"""Models in Python packages of their own, found by name.

The model `en-accurate` is the folder `en-accurate` in the package `ropewalk_en_accurate`, which the distribution
`ropewalk-en-accurate` installs. Finding it runs no code of the package and reads no metadata of packages, which would
delay the first tree.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ropewalk.models.storage import CONFIG

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")  # of a model that can have a package


def distribution_of(name: str) -> str:
    """Return the name of the distribution, as for `pip install`, that contains the model `name`."""
    return f"ropewalk-{name}"


def module_of(name: str) -> str:
    """Return the name of the Python package that contains the folder of the model `name`."""
    return distribution_of(name).replace("-", "_")


def packaged(name: str) -> Path | None:
    """Return the folder of the model `name` in the package that is installed for it, or None if there is none."""
    spec = find_spec(module_of(name)) if NAME.fullmatch(name) else None
    homes = [Path(home) / name for home in (spec and spec.submodule_search_locations) or ()]
    return next((home for home in homes if (home / CONFIG).is_file()), None)


def all_packaged() -> Iterator[Path]:
    """Yield the folders of all models that are installed as packages of their own."""
    import pkgutil

    prefix = module_of("")
    for module in pkgutil.iter_modules():
        if module.name.startswith(prefix):
            folder = packaged(module.name.removeprefix(prefix).replace("_", "-"))
            if folder is not None:
                yield folder
