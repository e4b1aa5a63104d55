"""Encodings on real treebanks: what they cover comes back, and the paper's figures come out."""

from __future__ import annotations

import io
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ropewalk import conllu
from ropewalk.core.projectivity import SCHEMES
from ropewalk.core.trees import Trees, projective, same_heads
from ropewalk.encodings import PseudoProjective, get
from ropewalk.encodings.optimal import largest_index
from ropewalk.formats import label_files
from test_encodings import SPECS

if TYPE_CHECKING:
    from ropewalk.treebank.treebank import Treebank

pytestmark = pytest.mark.treebanks

FOLDER = os.environ.get("ROPEWALK_UD", "")
FILES = sorted(Path(FOLDER).rglob("*-ud-*.conllu")) if FOLDER else []
needs_files = pytest.mark.skipif(not FOLDER, reason="ROPEWALK_UD is not set")

# Distinct labels and relations in train, as in Table 1 of the paper, for the treebanks whose release is the paper's.
TRAIN_LABELS = {
    "en_ewt": {"seven-bit": 60, "optimal-nonprojective": 55, "relations": 53},
    "ta_ttb": {"seven-bit": 24, "optimal-nonprojective": 17, "relations": 29},
    "ug_udt": {"seven-bit": 40, "optimal-nonprojective": 35, "relations": 40},
    "wo_wtb": {"seven-bit": 40, "optimal-nonprojective": 27, "relations": 38},
}
EVERYWHERE = {"four-bit": 16, "optimal": 12, "hexatags": 8}

# Trees of all splits by their largest index: 0, 1, 2.
INDICES = {
    "en_ewt": [16286, 336, 0],
    "ta_ttb": [590, 10, 0],
    "ug_udt": [3228, 228, 0],
    "wo_wtb": [2047, 60, 0],
}

# Theoretical coverage as in the paper's tables: UAS and UM, both over sentences, of dev and of test.
COVERAGE_OF = (
    ("four-bit(policy=published)",),
    ("optimal(policy=published)",),
    ("seven-bit(policy=published)",),
    ("four-bit+head-chained", "optimal+head-chained"),
)
COVERAGE = {
    "en_ewt": (
        "99.77/98.35 99.82/98.75", "99.80/98.05 99.84/98.60", "100.00/100.00 100.00/100.00",
        "100.00/99.95 100.00/99.95",
    ),
    "fi_tdt": (
        "99.23/95.01 99.18/95.56", "98.76/93.18 98.81/94.08", "99.99/99.93 100.00/99.94",
        "100.00/99.93 100.00/99.94",
    ),
    "fr_gsd": (
        "99.45/96.21 99.35/95.91", "99.69/96.34 99.67/96.15", "100.00/100.00 100.00/100.00",
        "99.98/99.59 99.99/99.76",
    ),
    "he_htb": (
        "99.98/99.79 100.00/100.00", "99.95/99.38 99.90/99.59", "100.00/100.00 100.00/100.00",
        "100.00/100.00 100.00/100.00",
    ),
    "ta_ttb": (
        "100.00/100.00 99.87/98.33", "100.00/100.00 99.82/97.50", "100.00/100.00 100.00/100.00",
        "100.00/100.00 100.00/100.00",
    ),
    "ug_udt": (
        "98.83/93.11 98.50/93.44", "98.73/90.78 98.53/90.78", "100.00/100.00 100.00/100.00",
        "99.97/99.22 99.95/99.22",
    ),
    "wo_wtb": (
        "99.71/96.88 99.58/96.81", "99.75/96.44 99.74/97.02", "100.00/100.00 100.00/100.00",
        "100.00/100.00 100.00/100.00",
    ),
}  # fmt: skip


@cache
def read(name: str, split: str) -> Treebank:
    (path,) = Path(FOLDER).rglob(f"{name}-ud-{split}.conllu")
    return conllu.read(path, trees="required")


@needs_files
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_tree_comes_back_if_and_only_if_it_is_covered(path: Path) -> None:
    bank = conllu.read(path, trees="required")
    for spec in SPECS:
        encoding = get(spec)
        labels = encoding.encode(bank)
        decoded = encoding.decode(labels)
        back = same_heads(bank.heads, decoded.heads, bank.offsets)
        assert np.array_equal(back, encoding.covers(bank)), spec
        assert encoding.policy.startswith("published") or decoded.well_formed, spec
        if isinstance(encoding, PseudoProjective):
            recovered = encoding.recover(labels).trees
            assert np.array_equal(
                same_heads(bank.heads, recovered.heads, bank.offsets), encoding.restores(bank.trees())
            )
            assert recovered.relations.texts() == bank.relations.texts()
            assert projective(Trees(decoded.heads, bank.offsets)).all()
        if encoding.alphabet is None:  # the texts are enough to read them again
            parts = list(zip(*(labels.texts(column) for column in range(len(labels.columns))), strict=True))
            rows = [parts[where] for where in bank.offsets]
            tags = None if bank.upos is None else [bank.upos.texts()]
            assert np.array_equal(encoding.decode(encoding.labels(rows, upos=tags)).heads, decoded.heads)


@needs_files
@pytest.mark.parametrize("name", sorted(path.name.split("-")[0] for path in FILES if "-train" in path.name))
def test_train_has_as_many_labels_as_the_paper_says(name: str) -> None:
    bank = read(name, "train")
    expected = EVERYWHERE | TRAIN_LABELS.get(name, {})
    found = {spec: len(set(get(spec).encode(bank).texts())) for spec in expected if spec != "relations"}
    if "relations" in expected:
        found["relations"] = len(set(bank.relations.texts()))
    assert found == expected


@needs_files
@pytest.mark.parametrize("name", INDICES)
def test_so_many_trees_need_an_index(name: str) -> None:
    counts = np.zeros(3, dtype=np.int64)
    for split in ("train", "dev", "test"):
        bank = read(name, split)
        counts += np.bincount(largest_index(bank.trees()), minlength=3)
    assert counts.tolist() == INDICES[name]


@needs_files
@pytest.mark.parametrize("name", COVERAGE)
def test_the_coverage_of_the_papers_tables_comes_out(name: str) -> None:
    for specs, expected in zip(COVERAGE_OF, COVERAGE[name], strict=True):
        for spec in specs:
            found = []
            for split in ("dev", "test"):
                bank = read(name, split)
                encoding = get(spec)
                heads = encoding.recover(encoding.encode(bank)).trees.heads
                right = np.add.reduceat(heads == bank.heads, bank.offsets.starts) / bank.lengths
                found.append(f"{100 * right.mean():.2f}/{100 * (right == 1).mean():.2f}")
            assert " ".join(found) == expected, spec


@needs_files
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_label_file_filled_into_its_treebank_gives_the_file_again(path: Path, tmp_path: Path) -> None:
    raw = path.read_bytes()
    bank = conllu.read(path, trees="required")
    for spec in ("optimal-nonprojective", *(f"optimal+{scheme}" for scheme in SCHEMES)):
        encoding = get(spec)
        whole = bool(encoding.restores(bank.trees()).all()) if isinstance(encoding, PseudoProjective) else True
        file = tmp_path / "labels.gz"
        banks = conllu.stream(path, chunk_bytes=1 << 18)
        label_files.write(file, encoding, (label_files.text_of(encoding, one) for one in banks))
        out = io.BytesIO()
        decoding = label_files.LabelTrees(label_files.LabelReader(file, chunk_bytes=100_003))
        for piece in label_files.fill(conllu.stream(path), decoding):
            out.write(conllu.dumps(piece))
        assert (out.getvalue() == raw) == whole, spec
        assert not decoding.faults
        assert not decoding.repairs
