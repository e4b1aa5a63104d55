"""Where the treebank and the trained peers are."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HOME = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ropewalk" / "peers"
PARTS = ("train", "dev", "test")


def english() -> dict[str, Path]:
    """Find the files of English EWT, or end."""
    ewt = Path(os.environ.get("ROPEWALK_UD", "")) / "UD_English-EWT"
    if not ewt.is_dir():
        sys.exit("there is no UD_English-EWT; set ROPEWALK_UD to the folder with it")
    return {part: ewt / f"en_ewt-ud-{part}.conllu" for part in PARTS}
