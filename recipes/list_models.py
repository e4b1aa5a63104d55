"""Print the list of models under `models/`, which are packages of their own; `make models` puts it into Ropewalk."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from ropewalk.models.catalogue import in_folder
from ropewalk.models.packages import module_of

MODELS = Path(__file__).resolve().parent.parent / "models"


def folders() -> list[Path]:
    """Return the folders of the models, each in its package."""
    return [
        file.parent / module_of(file.parent.name) / file.parent.name for file in sorted(MODELS.glob("*/pyproject.toml"))
    ]


def listing() -> str:
    """Write what Ropewalk tells of models before they are installed."""
    return json.dumps([asdict(in_folder(folder).summary) for folder in folders()], ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    sys.stdout.write(listing())
