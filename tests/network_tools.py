"""Tools for the tests of ONNX files: small networks, and other ways to write the same file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import onnx
from onnx import TensorProto, helper, numpy_helper

from ropewalk.models.onnx import structure
from ropewalk.models.onnx.protobuf import BYTES, INTEGER, fields

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    import numpy.typing as npt

    from ropewalk.models.onnx.protobuf import Rule

TypedShape = tuple[int, Sequence[int | str]]
ENTRIES = structure.ENTRIES
SPARSE = {1: structure.TENSORS, 2: structure.TENSORS}  # the messages in a sparse tensor,
FUNCTION = {7: structure.NODES}  # in a function,
TRAINING = {1: structure.GRAPHS, 2: structure.GRAPHS}  # and in training information
INNER: dict[int, dict[int, Any]] = {  # the messages in each message
    id(structure.MODEL): {7: structure.GRAPHS, 8: structure.OPERATOR_SET, 20: TRAINING, 25: FUNCTION},
    id(structure.GRAPHS): {
        1: structure.NODES,
        5: structure.TENSORS,
        11: structure.VALUES,
        12: structure.VALUES,
        15: SPARSE,
    },
    id(structure.NODES): {5: structure.ATTRIBUTES},
    id(structure.ATTRIBUTES): {5: structure.TENSORS, 6: structure.GRAPHS, 22: SPARSE},
    id(structure.TENSORS): {13: ENTRIES},
    id(structure.VALUES): {2: structure.VALUE_TYPES},
    id(structure.VALUE_TYPES): {1: structure.TENSOR_TYPES},
    id(structure.TENSOR_TYPES): {2: structure.SHAPES},
    id(structure.SHAPES): {1: structure.SIDES},
    id(SPARSE): SPARSE,
    id(FUNCTION): FUNCTION,
    id(TRAINING): TRAINING,
}


def network(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, TypedShape],
    outputs: Mapping[str, Sequence[int | str]],
    tables: Mapping[str, npt.NDArray[Any]] | None = None,
    opset: int = 20,
) -> onnx.ModelProto:
    """Return a network; inputs have a type and a shape, outputs a shape."""
    graph = helper.make_graph(
        nodes,
        "tested",
        [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()],
        [numpy_helper.from_array(table, name) for name, table in (tables or {}).items()],
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, ir_version=10, opset_imports=opsets)


def make_external(tensor: onnx.TensorProto, location: str, keys: Sequence[str] = ("location",)) -> None:
    """Keep the numbers of a tensor in another file, named by entries in this order."""
    length = len(numpy_helper.to_array(tensor).tobytes())
    values = {"location": location, "offset": "0", "length": str(length)}
    for field in ("raw_data", "float_data", "int64_data", "int32_data"):
        tensor.ClearField(field)
    tensor.data_location = TensorProto.EXTERNAL
    for key in keys:
        entry = tensor.external_data.add()
        entry.key, entry.value = key, values[key]


def rewritten(
    raw: bytes,
    chance: random.Random,
    *,
    shuffled: bool = True,
    overlong: bool = True,
    rules: Mapping[int, Rule] = structure.MODEL,
) -> bytes:
    """Write the same message otherwise: fields in another order, and integers in more bytes than they need."""

    def integer(value: int, longest: int) -> bytes:
        out = bytearray()
        while value > 127:
            out.append(value & 127 | 128)
            value >>= 7
        out.append(value)
        more = chance.randint(0, longest - len(out)) if overlong else 0
        if more:
            out[-1] |= 128
            out += bytes([128] * (more - 1) + [0])
        return bytes(out)

    inner = INNER.get(id(rules), {})
    parts: dict[int, list[bytes]] = {}
    order = []
    for number, kind, _, start, stop, value in fields(raw):
        tag = integer(number << 3 | kind, 5)
        if kind == INTEGER:
            content = integer(value, 10)
        elif kind == BYTES:
            content = raw[start:stop]
            if number in inner:
                content = rewritten(content, chance, shuffled=shuffled, overlong=overlong, rules=inner[number])
            content = integer(len(content), 5) + content
        else:
            content = raw[start:stop]
        parts.setdefault(number, []).append(tag + content)
        order.append(number)
    if shuffled:  # fields of one number keep their order, which means something
        chance.shuffle(order)
    waiting = {number: iter(some) for number, some in parts.items()}
    return b"".join(next(waiting[number]) for number in order)
