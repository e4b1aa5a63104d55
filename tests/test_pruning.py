"""Networks without what some outputs do not need, against ONNX Runtime and the file format's own library."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from ropewalk.models.catalogue import locate
from ropewalk.models.onnx.files import HEADS
from ropewalk.models.onnx.limits import InputSizes, varying
from ropewalk.models.onnx.pruning import output_widths, without_others
from ropewalk.models.onnx.session import Session

NETWORK = (Path(locate("en")) / HEADS).read_bytes()
SIZES: list[InputSizes] = [{"vectors": (varying(1024),)}]


def test_outputs_and_their_widths_are_those_of_the_runtime() -> None:
    session = Session(NETWORK, HEADS, 1, SIZES)
    found = output_widths(NETWORK)
    assert tuple(found) == session.outputs
    assert found == session.widths()
    assert sum(width > 0 for width in found.values()) == len(found)


def test_what_is_left_computes_the_same() -> None:
    whole = Session(NETWORK, HEADS, 1, SIZES)
    vectors = np.random.default_rng(3).uniform(-1, 1, (8, 288)).astype(np.float32)
    expected = dict(zip(whole.outputs, whole.run({"vectors": vectors}), strict=True))
    for some in (*((name,) for name in whole.outputs), *combinations(whole.outputs, len(whole.outputs) - 1)):
        session = Session(without_others(NETWORK, some), HEADS, 1, SIZES)
        assert session.outputs == some
        for name, found in zip(some, session.run({"vectors": vectors}), strict=True):
            assert (found == expected[name]).all()


def test_nothing_is_left_that_is_not_needed() -> None:
    onnx = pytest.importorskip("onnx")
    for name in output_widths(NETWORK):
        graph = onnx.load_from_string(without_others(NETWORK, [name])).graph
        used = {given for node in graph.node for given in node.input}
        made = {given for node in graph.node for given in node.output}
        assert {table.name for table in graph.initializer} == used - made - {"vectors"} - {""}
        assert made <= {*used, name}
    assert without_others(NETWORK, tuple(output_widths(NETWORK))) == NETWORK


def test_what_is_no_network_is_told_or_has_no_outputs() -> None:
    for end in range(0, len(NETWORK), 9973):
        with pytest.raises((IndexError, ValueError)):
            without_others(NETWORK[:end] + b"\xff", ["labels.0"])
    assert output_widths(b"") == {}
