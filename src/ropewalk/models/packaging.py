"""A Python package of an exported model: data alone, to be installed by its path or as a wheel and loaded by name."""

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
IDENTIFIER = re.compile(  # of a licence, as SPDX writes those that treebanks have
    r"CC0-1\.0|CC-BY(-NC)?(-SA|-ND)?-(1\.0|2\.0|2\.5|3\.0|4\.0)|LGPLLR|A?GPL-3\.0-(only|or-later)|"
    r"GPL-2\.0-(only|or-later)|LGPL-(2\.1|3\.0)-(only|or-later)|Apache-2\.0|MIT"
)
LICENCE = "LICENSE.txt"


@dataclass(frozen=True, slots=True)
class Package:
    """A package that was written: its folder, the model in it, and the name and version it is installed by."""

    path: Path
    model: Installed
    version: str

    @property
    def distribution(self) -> str:
        """The name by which it is installed."""
        return distribution_of(self.model.name)


def package(  # noqa: PLR0913 - one keyword for each thing a package can be told
    model_folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    name: str = "",
    version: str = __version__,
    licence: str = "",
    licence_file: str | os.PathLike[str] | None = None,
) -> Package:
    """Write a package of an exported model, whole or not at all.

    The model is loaded by `name`, its own unless given. `licence` stands for the one that the model's record names; the
    text of `licence_file` is put beside it.
    """
    home = Path(model_folder)
    source = open_folder(home, EXPORTED)
    source.demand_whole()
    name = name or source.name
    licence = licence or in_folder(home).licence
    _demand(source, name, version, licence)
    if Path(out).exists():
        raise ModelError(os.fspath(out), "is there already; choose another place, or remove it first")
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
    """Refuse what would make a package that cannot be installed, found or given away."""
    config = str(source.path / CONFIG)
    for file in source.table["files"]:
        if file != Path(file).name:
            raise ModelError(config, f"names the file {file!r}; expected files of this folder alone")
    if not NAME.fullmatch(name):
        raise ConfigError(
            str(source.path),
            "name",
            f"is {name!r}; expected small letters and digits, with single hyphens between, such as en-accurate; "
            "choose another by --name",
        )
    if not VERSION.fullmatch(version):
        raise ConfigError(str(source.path), "version", f"is {version!r}; expected one such as {__version__}")
    if not licence:
        raise ModelError(
            config, "names no licence of the treebank; give the package one by --licence, such as CC-BY-SA-4.0"
        )


def _recorded(table: Mapping[str, Any], name: str, licence: str) -> dict[str, Any]:
    """Give what `config.json` shall hold: the same with this name, and with this licence in its record of training."""
    key = "config" if table["version"] == 1 else "training"
    record = training_record(table)
    data = record.get("data")
    licensed = {**(data if isinstance(data, dict) else {}), "licence": licence}
    return {**table, "name": name, key: {**record, "data": licensed}}


def _write(path: Path, content: bytes) -> None:
    with files.creating(path) as file:
        file.write(content)


def _project(model: Installed, version: str, extra: str) -> str:
    """Write `pyproject.toml`."""
    name, module = model.name, module_of(model.name)
    licence = _identifier(model.licence)
    oldest = ".".join(__version__.split(".")[:2])  # later ones read what this one wrote
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
    """Write the page of the package."""
    name = model.name
    return f"""\
# {distribution_of(name)}

{_line(_purpose(model))}, for Ropewalk. Licence: {model.licence} ({LICENCE}).

```bash
pip install {distribution_of(name)}
ropewalk parse -m {name} FILE
```

In Python it is `ropewalk.load("{name}")`.
Its card, `{module_of(name)}/{name}/{CARD}`, says what it learnt from, how, and how well it does.
"""


def _notice(model: Installed) -> str:
    """Write what the licence is about, and where it can be read."""
    link = f" (https://spdx.org/licenses/{model.licence}.html)" if IDENTIFIER.fullmatch(model.licence) else ""
    data = f"It was trained on the treebank {_line(model.treebank)}.\n" if model.treebank else ""
    authors = f"Who made that: https://github.com/UniversalDependencies/{model.treebank}\n" if model.language else ""
    return f"The model {model.name} is licensed under {model.licence}{link}.\n{data}{authors}"


def _purpose(model: Installed) -> str:
    language = f" for {model.language.replace('_', ' ')}" if model.language else ""
    data = f", trained on {model.treebank}" if model.treebank else ""
    return f"A dependency parser{language}{data}"


def _line(text: str) -> str:
    return " ".join(text.split())


def _identifier(licence: str) -> str:
    """Write a licence as packages must: one that SPDX does not know stands in the licence file."""
    return licence if IDENTIFIER.fullmatch(licence) else "LicenseRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", licence)
