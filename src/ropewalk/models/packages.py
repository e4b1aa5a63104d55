"""Models in Python packages of their own, which are known by their names.

The model `en-accurate` is the folder `en-accurate` in the package `ropewalk_en_accurate`, which the distribution
`ropewalk-en-accurate` installs. Nothing of a package is run to find it, and what installers record of packages, entry
points included, is not read: that would delay the first tree.
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
    """Give the name by which a model's package is installed."""
    return f"ropewalk-{name}"


def module_of(name: str) -> str:
    """Give the name of the package that holds a model's folder."""
    return distribution_of(name).replace("-", "_")


def packaged(name: str) -> Path | None:
    """Find the folder of a model that a package holds."""
    spec = find_spec(module_of(name)) if NAME.fullmatch(name) else None
    places = [Path(place) / name for place in (spec and spec.submodule_search_locations) or ()]
    return next((place for place in places if (place / CONFIG).is_file()), None)


def all_packaged() -> Iterator[Path]:
    """Find the folders of all models that packages hold."""
    import pkgutil

    prefix = module_of("")
    for module in pkgutil.iter_modules():
        if module.name.startswith(prefix):
            found = packaged(module.name.removeprefix(prefix).replace("_", "-"))
            if found is not None:
                yield found


def how_to_install(name: str) -> str:
    """Say how a model's package is installed."""
    return f"pip install {distribution_of(name)}, or pip install ./models/{name} in a clone of Ropewalk"
