"""Convolutions over character embeddings in int8, about three times as fast as in float32.

The network looks up rows of an embedding table, and multiplies windows of neighbouring rows in one or two convolutions
with ReLU between. Table and weights are constants, so the largest possible output of the first convolution is known,
and 7 bits are scaled to exactly that range. No text can exceed it, and no result depends on the rest of a text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

from ropewalk.training.onnx_graphs import MICROSOFT, UNITS, eight_bits, with_nodes

if TYPE_CHECKING:
    from onnx import NodeProto

Floats = npt.NDArray[np.float32]
Array = npt.NDArray[Any]

HIGHEST = 127  # of 7 bits: two products with 8 bits fit into 16 bits, in which some CPUs sum them
LEAST = 1e-6  # the least range of an output
MOST = 2  # consecutive convolutions
END = np.iinfo(np.int32).max


class Convolution(NamedTuple):
    """A convolution: weights [outputs, inputs, positions], biases [outputs], and the dilation between positions."""

    weights: Floats
    biases: Floats
    dilation: int


class Chain(NamedTuple):
    """Consecutive convolutions after an embedding lookup in `table`.

    `nodes` are those of the lookup and of all layers; `value` is the name of the last output, [rows, outputs].
    """

    table: Floats
    layers: list[Convolution]
    nodes: list[NodeProto]
    value: str


def whole_convolutions(model: onnx.ModelProto, source: str) -> onnx.ModelProto:
    """Return a network in which the convolutions after the embedding lookup of the input `source` compute in int8.

    A network without such convolutions is returned unchanged. So is one with more than `MOST`: the largest possible
    output would be far above usual outputs, and int8 too coarse.
    """
    chain = _chain(model.graph, source)
    if chain is None or len(chain.layers) > MOST:
        return model
    indices = [index for index, node in enumerate(model.graph.node) if node in chain.nodes]
    whole, tables = _nodes(chain, source)
    kept = [node for index, node in enumerate(model.graph.node) if index not in indices]
    before = sum(index not in indices for index in range(indices[0]))
    nodes = [*kept[:before], *whole, *kept[before:]]
    used = {name for node in nodes for name in node.input}
    left = [table for table in model.graph.initializer if table.name in used]
    return with_nodes(model, nodes, [*left, *(numpy_helper.from_array(array, name) for name, array in tables.items())])


def _chain(graph: onnx.GraphProto, source: str) -> Chain | None:
    """Return the convolutions that follow the embedding lookup of the input `source`, or None if there are none."""
    tables = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    users: dict[str, list[NodeProto]] = {}
    for node in graph.node:
        for name in node.input:
            users.setdefault(name, []).append(node)
    looked_up = [node for node in users.get(source, []) if node.op_type == "Gather" and node.input[0] in tables]
    if len(looked_up) != 1:
        return None
    nodes = [looked_up[0]]

    def follow(kind: str) -> bool:
        following = users.get(nodes[-1].output[0], [])
        if len(following) != 1 or following[0].op_type != kind:
            return False
        nodes.append(following[0])
        return True

    layers = []
    if not (follow("Transpose") and follow("Unsqueeze")):
        return None
    while follow("Conv"):
        options = {attribute.name: helper.get_attribute_value(attribute) for attribute in nodes[-1].attribute}
        weights, biases = (tables[name] for name in nodes[-1].input[1:])
        layers.append(Convolution(weights, biases, options.get("dilations", [1])[0]))
        if not follow("Relu"):
            return None
    if not layers or not (follow("Squeeze") or follow("Gather") or follow("Reshape")) or not follow("Transpose"):
        return None
    return Chain(tables[nodes[0].input[0]], layers, nodes, nodes[-1].output[0])


def _nodes(chain: Chain, source: str) -> tuple[list[NodeProto], dict[str, Array]]:
    """Return ONNX nodes that compute a chain's output in int8, and their constant tables by name."""
    zero = UNITS + 1
    unit = np.abs(chain.table).max(axis=0) / UNITS  # of each column
    unit = np.where(unit > 0, unit, 1).astype(np.float32)
    rows = np.rint(chain.table / unit).astype(np.int64)
    tables: dict[str, Array] = {f"{source}.rows": (rows + zero).astype(np.uint8), "one": np.array(1, dtype=np.float32)}
    tables |= {"zero.0": np.array(zero, dtype=np.uint8), "zero.1": np.array(0, dtype=np.uint8)}
    tables["first_axis"] = np.array([0])
    nodes = [helper.make_node("Gather", [f"{source}.rows", source], [f"{source}.0"])]
    for number, layer in enumerate(chain.layers):
        outputs, inputs, places = layer.weights.shape
        flat = (layer.weights * unit[:, None]).transpose(0, 2, 1).reshape(outputs, places * inputs)
        numbers, scales = eight_bits(np.ascontiguousarray(flat))
        biases = layer.biases
        last = number == len(chain.layers) - 1
        if not last:
            each = numbers.reshape(outputs, places, inputs).astype(np.int64) @ rows.T
            at_most = np.maximum(each.max(axis=2), 0).sum(axis=1)  # beyond the edges there is nothing
            unit = np.maximum(at_most * scales + biases, LEAST).astype(np.float32) / HIGHEST
            scales, biases = scales / unit, biases / unit
        name, zeros = f"{source}.{number}", f"zero.{number}"
        tables |= {f"{name}.weights": np.ascontiguousarray(numbers.T)}
        tables |= {f"{name}.scales": scales, f"{name}.biases": biases}
        stretches, edges = _stretches(name, zeros, places, layer.dilation)
        tables |= edges
        product = [f"{name}.stretches", f"{name}.weights", "one", f"{name}.scales", zeros, "", f"{name}.biases"]
        nodes += stretches
        nodes.append(helper.make_node("MatMulIntegerToFloat", product, [f"{name}.products"], domain=MICROSOFT))
        if last:
            nodes.append(helper.make_node("Relu", [f"{name}.products"], [chain.value]))
        else:  # rounding sets negative numbers to zero
            rounding = [f"{name}.products", "one", "zero.1"]
            nodes.append(helper.make_node("QuantizeLinear", rounding, [f"{source}.{number + 1}"]))
    return nodes, tables


def _stretches(name: str, zero: str, places: int, dilation: int) -> tuple[list[NodeProto], dict[str, Array]]:
    """Return ONNX nodes that concatenate the rows in each window of a convolution, and their constants by name.

    They compute [rows, places * inputs] from the tensor `name`, [rows, inputs], padded with the constant `zero`.
    """
    beyond = places // 2 * dilation
    edges: dict[str, Array] = {f"{name}.edges": np.array([beyond, 0, beyond, 0])}
    nodes = [helper.make_node("Pad", [name, f"{name}.edges", zero], [f"{name}.padded"])]
    for place in range(places):
        start, stop = place * dilation, (place - places + 1) * dilation
        edges |= {f"{name}.from{place}": np.array([start]), f"{name}.to{place}": np.array([stop or END])}
        cut = [f"{name}.padded", f"{name}.from{place}", f"{name}.to{place}", "first_axis"]
        nodes.append(helper.make_node("Slice", cut, [f"{name}.at{place}"]))
    beside = [f"{name}.at{place}" for place in range(places)]
    nodes.append(helper.make_node("Concat", beside, [f"{name}.stretches"], axis=1))
    return nodes, edges
