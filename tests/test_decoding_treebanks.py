"""Exact decoding on real treebanks: gold labels as scores give every tree back, whatever its depth."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from decoding_tools import decode
from ropewalk import conllu, decoding
from ropewalk.core.trees import check_heads, projective, same_heads
from ropewalk.encodings import get

pytestmark = pytest.mark.treebanks

FOLDER = os.environ.get("ROPEWALK_UD", "")
FILES = sorted(Path(FOLDER).rglob("*-ud-*.conllu")) if FOLDER else []
needs_files = pytest.mark.skipif(not FOLDER, reason="ROPEWALK_UD is not set")
SAMPLE = 400  # sentences for confidences, which are slow


@needs_files
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_gold_labels_give_every_projective_tree_back(file: Path) -> None:
    bank = conllu.read(file)
    bank = bank.select(projective(bank.trees()))
    assert len(bank)
    for spec in ("optimal", "four-bit", "hexatags"):
        labels = get(spec).encode(bank)
        scores = np.full((bank.words, len(labels.columns[0].names)), -np.inf)
        scores[np.arange(bank.words), labels.columns[0].ids] = 0.0
        best = decode(get(spec), [scores], bank.offsets.array, [column.names for column in labels.columns])
        assert same_heads(best.heads, bank.heads, bank.offsets).all()
        assert best.found.all()
        assert best.exact.all()
        assert not best.scores.any()


@needs_files
@pytest.mark.parametrize("file", [file for file in FILES if "-dev" in file.name], ids=lambda file: file.stem)
@pytest.mark.parametrize("spec", ["optimal-nonprojective", "seven-bit"])
def test_gold_labels_give_trees_back_by_brackets_on_stacks(file: Path, spec: str) -> None:
    bank = conllu.read(file)
    encoding = get(spec)
    bank = bank.select(encoding.covers(bank))
    labels = encoding.encode(bank)
    scores = np.full((bank.words, len(labels.columns[0].names)), -np.inf)
    scores[np.arange(bank.words), labels.columns[0].ids] = 0.0
    best = decode(encoding, [scores], bank.offsets.array, [column.names for column in labels.columns])
    assert same_heads(best.heads, bank.heads, bank.offsets).all()
    assert best.found.all()
    assert best.exact.all()


@needs_files
def test_the_best_fitting_labels_are_nearer_to_gold_than_each_words_best() -> None:
    """Noise around gold labels: the reason to decode exactly."""
    bank = conllu.read(next(file for file in FILES if file.name == "en_ewt-ud-dev.conllu"))
    dice = np.random.default_rng(0)
    for spec in ("optimal", "four-bit", "hexatags"):
        labels = get(spec).encode(bank)
        scores = dice.normal(size=(bank.words, len(labels.columns[0].names))) * 2
        scores[np.arange(bank.words), labels.columns[0].ids] += 6
        found = {
            decoder: decode(
                get(spec), [scores], bank.offsets.array, [column.names for column in labels.columns], decoder=decoder
            )
            for decoder in ("exact", "greedy")
        }
        right = {decoder: (best.heads == bank.heads).mean() for decoder, best in found.items()}
        assert right["exact"] > right["greedy"] + 0.02
        assert found["exact"].exact.all()
        assert (check_heads(found["exact"].heads, bank.offsets).codes == 0).all()
        if spec == "optimal":
            part = slice(0, int(bank.offsets.array[SAMPLE]))
            asked = decoding.scored(
                get(spec), scores[part], labels.columns[0].names, offsets=bank.offsets.array[: SAMPLE + 1]
            )
            sure, _ = decoding.confidences(asked, found["exact"].ids[0][part], found["exact"].heads[part])
            arcs_right = found["exact"].heads[part] == bank.heads[part]
            assert sure[arcs_right].mean() > sure[~arcs_right].mean() + 0.1
