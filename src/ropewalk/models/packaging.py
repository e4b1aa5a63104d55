"""Python packages of exported models: data without code, installed from a path or a wheel, loaded by name."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ropewalk import __version__, files
from ropewalk.errors import ConfigError, ModelError
from ropewalk.models.catalogue import in_folder
from ropewalk.models.description import EXPORTED, training_record
from ropewalk.models.packages import NAME, distribution_of, module_of
from ropewalk.models.storage import CARD, CONFIG, TOKENIZER, open_folder, read_content, seal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ropewalk.models.catalogue import Installed
    from ropewalk.models.storage import ModelFolder

VERSION = re.compile(r"\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?")
IDENTIFIER = re.compile(  # SPDX identifiers of licences that treebanks have
    r"CC0-1\.0|CC-BY(-NC)?(-SA|-ND)?-(1\.0|2\.0|2\.5|3\.0|4\.0)|LGPLLR|A?GPL-3\.0-(only|or-later)|"
    r"GPL-2\.0-(only|or-later)|LGPL-(2\.1|3\.0)-(only|or-later)|Apache-2\.0|MIT"
)
LICENCE = "LICENSE.txt"
AND = " AND "  # between the licences of several treebanks, as in SPDX expressions


@dataclass(frozen=True, slots=True)
class Package:
    """A Python package of a model, written to the folder `path`: the model in it, and the package's version."""

    path: Path
    model: Installed
    version: str

    @property
    def distribution(self) -> str:
        """The name with which pip installs the package."""
        return distribution_of(self.model.name)


def package(  # noqa: PLR0913 - one keyword for each option of a package
    model_folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    name: str = "",
    version: str = __version__,
    licence: str = "",
    licence_file: str | os.PathLike[str] | None = None,
) -> Package:
    """Write a Python package of an exported model to the folder `out`, completely or not at all; return it.

    `name` and `licence`, unless empty, replace those in the model's `config.json`. The text of `licence_file` is
    appended to the package's licence file. Raise `ModelError` or `ConfigError` if the package could not be installed,
    found or distributed, or if `out` exists.
    """
    home = Path(model_folder)
    source = open_folder(home, EXPORTED)
    source.demand_whole()
    name = name or source.name
    licence = licence or in_folder(home).licence
    _demand(source, name, version, licence)
    if Path(out).exists():
        raise ModelError(os.fspath(out), "already exists; choose another folder, or remove it first")
    text = read_content(Path(licence_file)) if licence_file is not None else b""
    with files.creating_folder(out) as part:
        target = files.make_folder(part / module_of(name) / name)
        for file in source.table["files"]:
            _write(target / file, source.listed(file))
        if (home / CARD).is_file():
            _write(target / CARD, read_content(home / CARD))
        seal(target, _recorded(source.table, name, licence))
        model_inside = in_folder(target)
        extra = "[subwords]" if source.has(TOKENIZER) else ""
        for file, content in (
            ("pyproject.toml", _project(model_inside, version, extra)),
            (CARD, _readme(model_inside)),
            (f"{module_of(name)}/__init__.py", f'"""The model {name} of Ropewalk: data alone."""\n'),
        ):
            _write(part / file, content.encode("utf-8"))
        _write(part / LICENCE, _notice(model_inside).encode("utf-8") + (b"\n" + text if text else b""))
    return Package(Path(out), in_folder(Path(out) / module_of(name) / name), version)


def _demand(source: ModelFolder, name: str, version: str, licence: str) -> None:
    """Raise `ModelError` or `ConfigError` unless a package of the model can be installed, found and distributed."""
    config = str(source.path / CONFIG)
    for file in source.table["files"]:
        if file != Path(file).name:
            raise ModelError(config, f"names the file {file!r}; expected only files of this folder")
    if not NAME.fullmatch(name):
        problem = f"is {name!r}; expected small letters and digits, with single hyphens between, such as en-accurate"
        raise ConfigError(str(source.path), "name", f"{problem}; choose another with --name")
    if not VERSION.fullmatch(version):
        raise ConfigError(str(source.path), "version", f"is {version!r}; expected one such as {__version__}")
    if not licence:
        raise ModelError(config, "names no licence of the treebank; pass one with --licence, such as CC-BY-SA-4.0")


def _recorded(table: Mapping[str, Any], name: str, licence: str) -> dict[str, Any]:
    """Return a copy of `table`, the content of `config.json`, with `name` and, in its training record, `licence`."""
    key = "config" if table["version"] == 1 else "training"
    record = training_record(table)
    data = record.get("data")
    licensed = {**(data if isinstance(data, dict) else {}), "licence": licence}
    return {**table, "name": name, key: {**record, "data": licensed}}


def _write(path: Path, content: bytes) -> None:
    with files.creating(path) as file:
        file.write(content)


def _project(model: Installed, version: str, extra: str) -> str:
    """Return the content of `pyproject.toml`; `extra` is the extra of Ropewalk that the model needs, or empty."""
    name, module = model.name, module_of(model.name)
    licence = model.licence  # SPDX; the licence file explains unknown ones
    licence = AND.join(
        name if IDENTIFIER.fullmatch(name) else "LicenseRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", name)
        for name in licence.split(AND)
    )
    oldest = ".".join(__version__.split(".")[:2])  # later versions read what this one wrote
    return f"""\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{distribution_of(name)}"
version = "{version}"
description = {json.dumps(_line(f"{_purpose(model)}: the model {name} of Ropewalk"), ensure_ascii=False)}
readme = "{CARD}"
requires-python = ">=3.11"
license = "{licence}"
license-files = ["{LICENCE}"]
dependencies = ["ropewalk{extra}>={oldest}"]

[tool.setuptools]
packages = ["{module}"]
package-dir = {{ "" = "." }}

[tool.setuptools.package-data]
{module} = ["{name}/*"]
"""


def _readme(model: Installed) -> str:
    """Return the content of the package's README."""
    name = model.name
    return f"""\
# {distribution_of(name)}

{_line(_purpose(model))}, for Ropewalk. Licence: {model.licence} ({LICENCE}).

```bash
pip install .    # in this folder
ropewalk parse -m {name} FILE
```

In Python it is `ropewalk.load("{name}")`.
Its card, `{module_of(name)}/{name}/{CARD}`, describes its training data, its options and its accuracy.
"""


def _notice(model: Installed) -> str:
    """Return the text of the licence file: the licence, its address, and the treebank."""
    named = model.licence.split(AND)
    links = ", ".join(f"https://spdx.org/licenses/{name}.html" for name in named if IDENTIFIER.fullmatch(name))
    treebanks = _line(model.treebank).split(", ") if model.treebank else []
    several = "s" if len(treebanks) > 1 else ""
    data = f"It was trained on the treebank{several} {', '.join(treebanks)}.\n" if treebanks else ""
    pages = ", ".join(f"https://github.com/UniversalDependencies/{name}" for name in treebanks)
    authors = f"Who made {'those' if several else 'that'}: {pages}\n" if model.language else ""
    return f"The model {model.name} is licensed under {model.licence}{f' ({links})' if links else ''}.\n{data}{authors}"


def _purpose(model: Installed) -> str:
    language = f" for {model.language.replace('_', ' ')}" if model.language else ""
    data = f", trained on {model.treebank}" if model.treebank else ""
    return f"A dependency parser{language}{data}"


def _line(text: str) -> str:
    return " ".join(text.split())
