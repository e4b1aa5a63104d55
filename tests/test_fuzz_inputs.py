"""Damaged CoNLL-U, labels, texts and JSON end in a consistent result or an error of ours.

All of it runs in processes of its own, so that a crash is a failure like any other; `make fuzz` goes on for longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fuzz_tools import fuzzed

if TYPE_CHECKING:
    from pathlib import Path

ROUNDS = {"conllu": 300, "labels": 300, "texts": 120, "json": 300}  # about a second of each


@pytest.mark.parametrize("kind", ROUNDS)
def test_damaged_inputs_give_an_answer_or_a_documented_error(kind: str, tmp_path: Path) -> None:
    fuzzed(ROUNDS[kind], tmp_path / "round", "fuzz_inputs.py", kind)
