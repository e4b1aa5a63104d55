"""Where the treebank and the trained peers are."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HOME = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ropewalk" / "peers"
PARTS = ("train", "dev", "test")


def english() -> Path:
    """Find the folder of English EWT."""
    return Path(os.environ.get("ROPEWALK_UD", "")) / "UD_English-EWT"


def files_of(treebank: Path) -> dict[str, Path]:
    """Find the files of a treebank in UD's layout, or end."""
    found = {part: sorted(treebank.glob(f"*-{part}.conllu")) for part in PARTS}
    if lacking := [part for part, files in found.items() if len(files) != 1]:
        sys.exit(
            f"{treebank} has no {' and no '.join(lacking)} file; ROPEWALK_UD names the folder with UD_English-EWT in it"
        )
    return {part: files[0] for part, files in found.items()}


def home_of(treebank: Path, home: Path) -> Path:
    """Return the folder of models trained on a treebank: HOME itself for English EWT, a folder in it for others."""
    return home if treebank == english() else home / treebank.resolve().name
