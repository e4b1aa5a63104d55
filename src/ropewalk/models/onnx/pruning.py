"""Networks as ONNX stores them, without what some outputs do not need: ONNX Runtime would compute it all the same.

A network is a message of protocol buffers: fields, each a number, a kind, and for messages and texts a length before
what they hold. Nothing is read but names of what goes into nodes and comes out, and sizes of outputs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

# Numbers of fields, as `onnx.proto` gives them.
GRAPH = 7  # of a model
NODES, TABLES, OUTPUTS = 1, 5, 12  # of a graph
INTO, OUT_OF = 1, 2  # of a node
TABLE_NAME = 8
OUTPUT_NAME, OUTPUT_TYPE = 1, 2
SHAPE_PATH = (1, 2)  # from the type of an output: that of a tensor, and its shape
SIZES, SIZE = 1, 1  # of a shape, and of one of its sizes

NUMBER, EIGHT_BYTES, MESSAGE, FOUR_BYTES = 0, 1, 2, 5  # kinds of fields


class Field(NamedTuple):
    """A field of a message: its number, all of it, and what it holds, if that is a message or a text."""

    number: int
    whole: memoryview
    held: memoryview
    value: int = 0  # of a number


def fields(message: memoryview) -> Iterator[Field]:
    """Go through the fields of a message."""
    at = 0
    while at < len(message):
        begin = at
        tag, at = _number(message, at)
        value, held = 0, message[:0]
        if tag & 7 == NUMBER:
            value, at = _number(message, at)
        elif tag & 7 == MESSAGE:
            length, at = _number(message, at)
            held = message[at : at + length]
            at += length
        elif tag & 7 in {EIGHT_BYTES, FOUR_BYTES}:
            at += 8 if tag & 7 == EIGHT_BYTES else 4
        else:
            raise ValueError(f"a field of kind {tag & 7}")
        if at > len(message):
            raise ValueError("a field that does not end")
        yield Field(tag >> 3, message[begin:at], held, value)


def output_widths(network: bytes) -> dict[str, int]:
    """Tell the last size of each output of a network; 0 where it may vary."""
    out = {}
    for one in fields(memoryview(network)):
        for field in fields(one.held) if one.number == GRAPH else ():
            if field.number == OUTPUTS:
                (name,) = _texts(field.held, OUTPUT_NAME)
                out[name] = _width(field.held)
    return out


def without_others(network: bytes, outputs: Collection[str]) -> bytes:
    """Leave out of a network what none of some outputs is computed from."""
    return b"".join(
        _written(GRAPH, _lean(one.held, outputs)) if one.number == GRAPH else bytes(one.whole)
        for one in fields(memoryview(network))
    )


def _lean(graph: memoryview, outputs: Collection[str]) -> bytes:
    needed = {*outputs}
    parts = list(fields(graph))
    kept = []
    for field in reversed(parts):  # nodes stand after those that they need, and tables after all nodes
        if field.number == NODES:
            if needed.isdisjoint(_texts(field.held, OUT_OF)):
                continue
            needed.update(_texts(field.held, INTO))
        kept.append(field)
    return b"".join(
        bytes(field.whole)
        for field in reversed(kept)
        if not (
            (field.number == TABLES and needed.isdisjoint(_texts(field.held, TABLE_NAME)))
            or (field.number == OUTPUTS and needed.isdisjoint(_texts(field.held, OUTPUT_NAME)))
        )
    )


def _texts(message: memoryview, number: int) -> list[str]:
    return [bytes(field.held).decode() for field in fields(message) if field.number == number]


def _width(output: memoryview) -> int:
    """Tell the last size of an output."""
    shape = next((field.held for field in fields(output) if field.number == OUTPUT_TYPE), output[:0])
    for step in SHAPE_PATH:
        shape = next((field.held for field in fields(shape) if field.number == step), output[:0])
    sizes = [field.held for field in fields(shape) if field.number == SIZES]
    return next((field.value for field in fields(sizes[-1]) if field.number == SIZE), 0) if sizes else 0


def _number(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def _written(number: int, held: bytes) -> bytes:
    return _as_number(number << 3 | MESSAGE) + _as_number(len(held)) + held


def _as_number(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])
