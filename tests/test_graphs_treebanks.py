"""Every enhanced graph of the treebanks at hand: read, written, and back from its labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ropewalk import conllu, deps
from ropewalk.core.graphs import same_graphs
from ropewalk.encodings.graphs import get, known

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.treebanks


def test_every_graph_is_read_checked_and_written_byte_for_byte(treebanks: Path) -> None:
    arcs = empties = 0
    for file in sorted(treebanks.rglob("*.conllu")):
        for bank in conllu.stream(file):
            graphs = deps.read(bank)
            assert not list(deps.problems(bank))
            assert deps.write(bank, graphs) == conllu.dumps(bank)
            arcs += len(graphs.heads)
            empties += int(graphs.empty.sum())
    assert arcs
    assert empties


@pytest.mark.parametrize("spec", sorted(known()))
def test_every_graph_comes_back_from_its_labels_exactly_if_it_is_covered(treebanks: Path, spec: str) -> None:
    encoding = get(spec)
    seen = 0
    for file in sorted(treebanks.rglob("*.conllu")):
        for bank in conllu.stream(file):
            graphs = deps.read(bank)
            decoded = encoding.decode(encoding.encode(graphs))
            covered = encoding.covers(graphs)
            assert np.array_equal(same_graphs(decoded.graphs, graphs), covered), file
            assert decoded.well_formed
            if spec in {"optimal-nonprojective", "absolute", "relative"}:
                assert covered.all()
                assert decoded.graphs == graphs
            seen += len(graphs.heads)
    assert seen
