"""The content of an ONNX file: nodes, tables (constant tensors), inputs and outputs.

The reader goes through every field of every message (`protobuf`), in any order, and refuses everything that
`ropewalk export` never writes: weights in other files, sub-graphs, functions, sparse tensors, training information,
strings, and unknown fields. It measures the bytes of tensors and does not copy them.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

from ropewalk.models.onnx.protobuf import FOUR_BYTES, INTEGER, Rule, integers, read, signed

if TYPE_CHECKING:
    from ropewalk.models.onnx.protobuf import FieldContent, FieldContents

MOST_NODES = 1 << 14  # the limit for tables, inputs and outputs too
SMALL = 64  # numbers; longer tables are no shapes, axes or the like, and are not read
MOST_WRITTEN = 8 * SMALL  # bytes of integers that are written one by one; longer tables are written as raw bytes
OPSETS = range(17, 21)  # versions of ONNX's operators in exports,
MICROSOFT, MICROSOFT_OPSETS = b"com.microsoft", range(1, 2)  # and of Microsoft's
FLOAT, UINT8, INT8, INT32, INT64, BOOL = 1, 2, 3, 6, 7, 9
WIDTHS = {FLOAT: 4, UINT8: 1, INT8: 1, INT32: 4, INT64: 8, BOOL: 1}  # bytes of a number, by its type


def _refused(name: str) -> Rule:
    return Rule(name, allowed=False)


# The fields of each message, with the numbers of `onnx.proto`.
_TEXTS = Rule("a list of names", repeated=True)
_COMMENT = Rule("a comment")
_METADATA = Rule("metadata", repeated=True)
MODEL = {
    1: Rule("a version of the format", INTEGER),
    2: Rule("a producer"),
    3: Rule("a version of the producer"),
    4: Rule("a domain"),
    5: Rule("a version", INTEGER),
    6: _COMMENT,
    (GRAPH := 7): Rule("a graph"),
    (OPSET := 8): Rule("versions of operators", repeated=True),
    14: _METADATA,
    20: _refused("training information"),
    25: _refused("a function"),
    26: _refused("devices"),
}
OPERATOR_SET = {(DOMAIN := 1): Rule("a domain"), (VERSION := 2): Rule("a version", INTEGER)}
GRAPHS = {
    (NODE := 1): Rule("nodes", repeated=True),
    2: Rule("a name"),
    (TABLE := 5): Rule("tables", repeated=True),
    10: _COMMENT,
    (INPUT := 11): Rule("inputs", repeated=True),
    (OUTPUT := 12): Rule("outputs", repeated=True),
    13: _refused("types of inner values"),
    14: _refused("a quantization"),
    15: _refused("a sparse tensor"),
    16: _METADATA,
}
NODES = {
    (NODE_INPUT := 1): _TEXTS,
    (NODE_OUTPUT := 2): _TEXTS,
    3: Rule("a name"),
    (OPERATOR := 4): Rule("an operator"),
    (ATTRIBUTE := 5): Rule("attributes", repeated=True),
    6: _COMMENT,
    (OPERATOR_DOMAIN := 7): Rule("a domain"),
    8: _refused("a function"),
    9: _METADATA,
    10: _refused("devices"),
}
ATTRIBUTES = {
    (ATTRIBUTE_NAME := 1): Rule("a name"),
    (REAL := 2): Rule("a real number", FOUR_BYTES),
    (INT := 3): Rule("an integer", INTEGER),
    (TEXT := 4): Rule("a text"),
    (TENSOR := 5): Rule("a tensor"),
    6: _refused("a sub-graph"),
    (REALS := 7): Rule("real numbers", FOUR_BYTES, repeated=True),
    (INTS := 8): Rule("integers", INTEGER, repeated=True),
    9: _refused("strings"),
    10: _refused("a list of tensors"),
    11: _refused("a sub-graph"),
    13: _COMMENT,
    14: _refused("a type"),
    15: _refused("a type"),
    (ATTRIBUTE_TYPE := 20): Rule("a type", INTEGER),
    21: _refused("a function"),
    22: _refused("a sparse tensor"),
    23: _refused("a sparse tensor"),
}
HOLDERS = {1: REAL, 2: INT, 3: TEXT, 4: TENSOR, 6: REALS, 7: INTS}  # fields of values, by the attribute's type
TENSORS = {
    (DIMENSIONS := 1): Rule("dimensions", INTEGER, repeated=True),
    (TYPE := 2): Rule("a type", INTEGER),
    3: _refused("a segment"),
    (FLOATS := 4): Rule("real numbers", FOUR_BYTES, repeated=True),
    (INTEGERS_32 := 5): Rule("integers", INTEGER, repeated=True),
    6: _refused("strings"),
    (INTEGERS_64 := 7): Rule("integers", INTEGER, repeated=True),
    (TENSOR_NAME := 8): Rule("a name"),
    (RAW := 9): Rule("bytes"),
    10: _refused("numbers of 64 bits"),
    11: _refused("numbers of 64 bits"),
    12: _COMMENT,
    (EXTERNAL := 13): Rule("another file", repeated=True),
    (LOCATION := 14): Rule("a location", INTEGER),
    16: _METADATA,
}
ENTRIES = {(KEY := 1): Rule("a key"), (VALUE := 2): Rule("a value")}
VALUES = {(VALUE_NAME := 1): Rule("a name"), (VALUE_TYPE := 2): Rule("a type"), 3: _COMMENT, 4: _METADATA}
VALUE_TYPES = {
    (TENSOR_TYPE := 1): Rule("a type of tensors"),
    4: _refused("a sequence"),
    5: _refused("a map"),
    6: _COMMENT,
    8: _refused("a sparse tensor"),
    9: _refused("an optional value"),
}
TENSOR_TYPES = {(ELEMENT := 1): Rule("a type", INTEGER), (SHAPE := 2): Rule("a shape")}
SHAPES = {(SIDE := 1): Rule("dimensions", repeated=True)}
SIDES = {(SIZE := 1): Rule("a size", INTEGER), (SIZE_NAME := 2): Rule("a name"), 3: _COMMENT}


class Tensor(NamedTuple):
    """A constant tensor of a network: its type and shape, and the position of its bytes in the file.

    `content` has its numbers if they are integers and at most about `SMALL`, otherwise None.
    """

    name: bytes
    type: int
    shape: tuple[int, ...]
    start: int
    stop: int
    content: tuple[int, ...] | None = None
    beside: bool = False  # whether the position is one in the file beside the network's


Attribute = int | bytes | tuple[int, ...] | Tensor | None  # None stands for real numbers, on which no limit depends


class Node(NamedTuple):
    """A node of an ONNX graph: its operator and that operator's domain, input and output names, and attributes."""

    domain: bytes
    operator: bytes
    inputs: list[bytes]
    outputs: list[bytes]
    attributes: dict[bytes, Attribute]


class Value(NamedTuple):
    """An input or output of a network: its name, type and shape; a dimension that may vary is None in `shape`."""

    name: bytes
    type: int
    shape: tuple[int | None, ...]


class OnnxGraph(NamedTuple):
    """The graph in an ONNX file: nodes, constant tensors, inputs and outputs, each list in the file's order."""

    nodes: list[Node]
    tables: list[Tensor]
    inputs: list[Value]
    outputs: list[Value]


def read_network(raw: bytes, beside: str = "") -> OnnxGraph:
    """Read the graph of `raw`, the content of an ONNX file; raise `ValueError` if exports never have such content.

    `beside` is the name of a second file that may contain weights; if it is empty, all weights must be in `raw`.
    """
    model = read(raw, 0, len(raw), MODEL)
    for start, stop, _ in model.get(OPSET, ()):
        _demand_version(raw, read(raw, start, stop, OPERATOR_SET))
    start, stop, _ = _one(model, GRAPH, "graph")
    graph = read(raw, start, stop, GRAPHS)
    if max(map(len, graph.values()), default=0) > MOST_NODES:
        raise ValueError(f"it has more than {MOST_NODES:,} nodes or tables")
    return OnnxGraph(
        [_node(raw, content) for content in graph.get(NODE, ())],
        [_tensor(raw, content, beside.encode()) for content in graph.get(TABLE, ())],
        [_value(raw, content) for content in graph.get(INPUT, ())],
        [_value(raw, content) for content in graph.get(OUTPUT, ())],
    )


def shown(name: bytes) -> str:
    """Return the name of an array or a node for error messages: decoded, quoted, and cut to 80 bytes."""
    return repr(name[:80].decode("utf-8", "backslashreplace"))


def _demand_version(raw: bytes, contents: FieldContents) -> None:
    """Raise `ValueError` if a network declares a version of operators that exports do not use.

    `contents` are the fields of the declaration. Domains whose operators exports do not use are ignored.
    """
    domain = _text(raw, contents, DOMAIN)
    version = _integer(contents, VERSION)
    expected = {b"": OPSETS, MICROSOFT: MICROSOFT_OPSETS}.get(domain)
    if expected is not None and version not in expected:
        raise ValueError(f"it has operators of version {version}; expected {expected[0]} to {expected[-1]}")


def _node(raw: bytes, content: FieldContent) -> Node:
    contents = read(raw, content[0], content[1], NODES)
    attributes: dict[bytes, Attribute] = {}
    for part in contents.get(ATTRIBUTE, ()):
        name, value = _attribute(raw, part)
        if name in attributes:
            raise ValueError(f"it has the attribute {shown(name)} twice")
        attributes[name] = value
    return Node(
        _text(raw, contents, OPERATOR_DOMAIN),
        _text(raw, contents, OPERATOR),
        [raw[start:stop] for start, stop, _ in contents.get(NODE_INPUT, ())],
        [raw[start:stop] for start, stop, _ in contents.get(NODE_OUTPUT, ())],
        attributes,
    )


def _attribute(raw: bytes, content: FieldContent) -> tuple[bytes, Attribute]:
    contents = read(raw, content[0], content[1], ATTRIBUTES)
    name = _text(raw, contents, ATTRIBUTE_NAME)
    holder = HOLDERS.get(_integer(contents, ATTRIBUTE_TYPE))
    if holder is None or any(number in contents for number in HOLDERS.values() if number != holder):
        raise ValueError(f"the attribute {shown(name)} has another type than its value")
    if holder == INT:
        return name, signed(_integer(contents, INT))
    if holder == TEXT:
        return name, _text(raw, contents, TEXT)
    if holder == INTS:
        return name, tuple(integers(raw, contents.get(INTS, ())))
    if holder == TENSOR:
        return name, _tensor(raw, _one(contents, TENSOR, "tensor"), b"")
    return name, None


def _tensor(raw: bytes, content: FieldContent, beside: bytes) -> Tensor:
    contents = read(raw, content[0], content[1], TENSORS)
    name, kind = _text(raw, contents, TENSOR_NAME), _integer(contents, TYPE)
    if kind not in WIDTHS:
        raise ValueError(f"{shown(name)} has numbers of type {kind}")
    shape = tuple(integers(raw, contents.get(DIMENSIONS, ())))
    held = [number for number in (RAW, FLOATS, INTEGERS_32, INTEGERS_64) if number in contents]
    if EXTERNAL in contents or _integer(contents, LOCATION):
        start, stop = _position(raw, contents, name, beside)
        tensor, size = Tensor(name, kind, shape, start, stop, beside=True), (stop - start) / WIDTHS[kind]
        held.append(EXTERNAL)
    elif held == [RAW]:
        start, stop, _ = contents[RAW][0]
        size = (stop - start) / WIDTHS[kind]
        known = kind in {INT32, INT64} and size <= SMALL
        tensor = Tensor(name, kind, shape, start, stop, _unpacked(raw[start:stop], WIDTHS[kind]) if known else None)
    else:
        some = [part for number in held for part in contents[number]]
        length = sum(stop - start for start, stop, _ in some)
        numbers = tuple(integers(raw, some)) if held != [FLOATS] and length <= MOST_WRITTEN else None
        size = length / WIDTHS[FLOAT] if held == [FLOATS] else -1 if numbers is None else len(numbers)
        tensor = Tensor(name, kind, shape, 0, 0, numbers)
    if len(held) > 1 or min(shape, default=0) < 0 or size != prod(shape):
        raise ValueError(f"{shown(name)} has another size than its numbers")
    return tensor


def _position(raw: bytes, contents: FieldContents, name: bytes, beside: bytes) -> tuple[int, int]:
    """Return the positions where the weights of the tensor `name` start and stop in the file named `beside`.

    Raise `ValueError` if the weights are in another file, or if their position is missing.
    """
    entries: dict[bytes, bytes] = {}
    for begin, end, _ in contents.get(EXTERNAL, ()):
        entry = read(raw, begin, end, ENTRIES)
        entries[_text(raw, entry, KEY)] = _text(raw, entry, VALUE)
    if not beside or entries.get(b"location") != beside:
        raise ValueError(f"it keeps the weights {shown(name)} in another file; expected all weights in part file")
    numbers = [entries.get(key, b"") for key in (b"offset", b"length")]
    if len(entries) != len(contents[EXTERNAL]) or not all(part.isdigit() and len(part) < 16 for part in numbers):
        raise ValueError(f"it does not say where the weights {shown(name)} are")
    start, length = map(int, numbers)
    return start, start + length


def _unpacked(raw: bytes, width: int) -> tuple[int, ...]:
    return tuple(int.from_bytes(raw[at : at + width], "little", signed=True) for at in range(0, len(raw), width))


def _value(raw: bytes, content: FieldContent) -> Value:
    contents = read(raw, content[0], content[1], VALUES)
    name = _text(raw, contents, VALUE_NAME)
    start, stop, _ = _one(contents, VALUE_TYPE, "type of an input or output")
    start, stop, _ = _one(read(raw, start, stop, VALUE_TYPES), TENSOR_TYPE, "type of an input or output")
    tensor = read(raw, start, stop, TENSOR_TYPES)
    kind = _integer(tensor, ELEMENT)
    if kind not in WIDTHS:
        raise ValueError(f"{shown(name)} has numbers of type {kind}")
    start, stop, _ = _one(tensor, SHAPE, "shape of an input or output")
    return Value(name, kind, tuple(_size(raw, side) for side in read(raw, start, stop, SHAPES).get(SIDE, ())))


def _size(raw: bytes, content: FieldContent) -> int | None:
    contents = read(raw, content[0], content[1], SIDES)
    if SIZE in contents and SIZE_NAME in contents:
        raise ValueError("a dimension has both a size and a name")
    return signed(_integer(contents, SIZE)) if SIZE in contents else None


def _one(contents: FieldContents, number: int, name: str) -> FieldContent:
    if number not in contents:
        raise ValueError(f"it has no {name}")
    return contents[number][0]


def _integer(contents: FieldContents, number: int) -> int:
    return contents[number][0][2] if number in contents else 0


def _text(raw: bytes, contents: FieldContents, number: int) -> bytes:
    return raw[slice(*contents[number][0][:2])] if number in contents else b""
