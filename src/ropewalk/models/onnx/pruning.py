"""Networks reduced to the nodes that some outputs need; ONNX Runtime would compute the other nodes too.

This module decodes only the names of the arrays that nodes read and make, and the sizes of outputs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ropewalk.models.onnx.protobuf import fields, written
from ropewalk.models.onnx.structure import (
    GRAPH,
    INPUT,
    NODE,
    NODE_INPUT,
    NODE_OUTPUT,
    OUTPUT,
    SHAPE,
    SIDE,
    SIZE,
    TABLE,
    TENSOR_NAME,
    TENSOR_TYPE,
    VALUE_NAME,
    VALUE_TYPE,
)

if TYPE_CHECKING:
    from collections.abc import Collection

Span = tuple[int, int]  # where a message starts and stops


def input_widths(network: bytes) -> dict[str, int]:
    """Return the size of the last dimension of each input of a network, by name; 0 where it may vary.

    `network` is the content of an ONNX file.
    """
    return _widths(network, INPUT)


def output_widths(network: bytes) -> dict[str, int]:
    """Return the size of the last dimension of each output of a network, as `input_widths` does for inputs."""
    return _widths(network, OUTPUT)


def without_others(network: bytes, outputs: Collection[str]) -> bytes:
    """Return a network with only the nodes and constant tensors that `outputs` need, as the content of an ONNX file."""
    return b"".join(
        written(GRAPH, _lean(network, (start, stop), outputs)) if number == GRAPH else network[begin:stop]
        for number, _, begin, start, stop, _ in fields(network)
    )


def _lean(network: bytes, graph: Span, outputs: Collection[str]) -> bytes:
    needed = {*outputs}
    kept = []
    for field in reversed([*fields(network, *graph)]):  # nodes come after those that they need, and tables after all
        number, _, begin, start, stop, _ = field
        if number == NODE:
            if needed.isdisjoint(_texts(network, (start, stop), NODE_OUTPUT)):
                continue
            needed.update(_texts(network, (start, stop), NODE_INPUT))
        kept.append((number, begin, (start, stop)))
    names = {TABLE: TENSOR_NAME, OUTPUT: VALUE_NAME}
    return b"".join(
        network[begin : span[1]]
        for number, begin, span in reversed(kept)
        if number not in names or not needed.isdisjoint(_texts(network, span, names[number]))
    )


def _spans(network: bytes, message: Span, field: int) -> list[Span]:
    return [(start, stop) for number, _, _, start, stop, _ in fields(network, *message) if number == field]


def _texts(network: bytes, message: Span, number: int) -> list[str]:
    return [network[start:stop].decode() for start, stop in _spans(network, message, number)]


def _widths(network: bytes, field: int) -> dict[str, int]:
    """Return the widths of the inputs or outputs in a graph's field with the number `field`, by name."""
    graphs = [(start, stop) for number, _, _, start, stop, _ in fields(network) if number == GRAPH]
    values = [span for graph in graphs for span in _spans(network, graph, field)]
    return {_texts(network, span, VALUE_NAME)[0]: _width(network, span) for span in values}


def _width(network: bytes, value: Span) -> int:
    """Return the last dimension's size of an input or output, at the span `value` in the file; 0 if it may vary."""
    spans = [value]
    for step in (VALUE_TYPE, TENSOR_TYPE, SHAPE, SIDE):
        spans = _spans(network, spans[-1], step)
        if not spans:
            return 0
    return next((value for number, _, _, _, _, value in fields(network, *spans[-1]) if number == SIZE), 0)
