"""Print the list of Ropewalk's models: `en`, and the packages under `models/`; `make models` puts it into Ropewalk."""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

from ropewalk.models.catalogue import embedded_folder, in_folder
from ropewalk.models.packages import module_of

TABLE = Path(__file__).resolve().parent / "languages.tsv"
MODELS = Path(__file__).resolve().parent.parent / "models"


def folders(packages: Path = MODELS) -> list[Path]:
    """Return the folders of the models, each in its package under `packages`."""
    homes = (file.parent for file in sorted(packages.glob("*/pyproject.toml")))
    return [home / module_of(home.name) / home.name for home in homes]


def listing() -> str:
    """Return the list as JSON; names of languages are those of the table of languages."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        names = {row["code"]: row["language"] for row in csv.DictReader(file, delimiter="\t")}
    rows = []
    for folder in sorted([embedded_folder() / "en", *folders()], key=lambda folder: folder.name):
        summary = in_folder(folder).summary
        name = names.get(summary.code, summary.language)
        rows.append(asdict(replace(summary, language_name=name if name != summary.language else "")))
    return json.dumps(rows, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    sys.stdout.write(listing())
