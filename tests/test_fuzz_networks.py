"""Networks of strangers are refused, or read as ONNX Runtime reads them; `make fuzz` goes on for longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzz_tools import fuzzed

if TYPE_CHECKING:
    from pathlib import Path

ROUNDS = 600  # a few seconds


def test_networks_of_strangers_are_refused_or_bounded(tmp_path: Path) -> None:
    fuzzed(ROUNDS, tmp_path / "round", "fuzz_networks.py")
