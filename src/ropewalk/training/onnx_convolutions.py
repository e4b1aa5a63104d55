"""Convolutions over characters in whole numbers, about three times as fast as with numbers of 32 bits.

Rows of a table are looked up, and stretches of neighbours are multiplied, once or twice, with negative numbers made
zero between. Table and weights are known, so what can come out of the first at most is known too, and numbers of 7 bits
are laid over just that range: no text can leave it, and no answer depends on what else is in a text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

from ropewalk.training.onnx_graphs import MICROSOFT, UNITS, eight_bits

if TYPE_CHECKING:
    from onnx import NodeProto

Floats = npt.NDArray[np.float32]
Array = npt.NDArray[Any]

HIGHEST = 127  # of 7 bits: two products with 8 bits fit in 16, in which some CPUs sum them
LEAST = 1e-6  # that the range of an output is wide
MOST = 2  # convolutions one after another
END = np.iinfo(np.int32).max


class Convolution(NamedTuple):
    """A convolution: weights [outputs, inputs, places], biases, and how far apart its places are."""

    weights: Floats
    biases: Floats
    dilation: int


class Chain(NamedTuple):
    """Convolutions over rows of a table, one after another: their nodes, and the value [rows, outputs] at the end."""

    table: Floats
    layers: list[Convolution]
    nodes: list[NodeProto]
    value: str


def whole_convolutions(model: onnx.ModelProto, given: str) -> onnx.ModelProto:
    """Compute one or two convolutions over rows that are looked up by the input `given` in whole numbers.

    A network without them, or with more, of which what can come out is far above what does, stays as it is.
    """
    chain = _chain(model.graph, given)
    if chain is None or len(chain.layers) > MOST:
        return model
    out = onnx.ModelProto()
    out.CopyFrom(model)
    graph = out.graph
    places = [place for place, node in enumerate(model.graph.node) if node in chain.nodes]
    whole, tables = _nodes(chain, given)
    kept = [node for place, node in enumerate(graph.node) if place not in places]
    before = sum(place not in places for place in range(places[0]))
    del graph.node[:]
    graph.node.extend([*kept[:before], *whole, *kept[before:]])
    used = {name for node in graph.node for name in node.input}
    left = [one for one in graph.initializer if one.name in used]
    del graph.initializer[:]
    graph.initializer.extend([*left, *(numpy_helper.from_array(array, name) for name, array in tables.items())])
    if all(one.domain != MICROSOFT for one in out.opset_import):
        out.opset_import.append(helper.make_opsetid(MICROSOFT, 1))
    onnx.checker.check_model(out)
    return out


def _chain(graph: onnx.GraphProto, given: str) -> Chain | None:
    """Follow what is looked up by an input as far as convolutions go."""
    tables = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    users: dict[str, list[NodeProto]] = {}
    for node in graph.node:
        for name in node.input:
            users.setdefault(name, []).append(node)
    looked_up = [node for node in users.get(given, []) if node.op_type == "Gather" and node.input[0] in tables]
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
        options = {one.name: helper.get_attribute_value(one) for one in nodes[-1].attribute}
        weights, biases = (tables[name] for name in nodes[-1].input[1:])
        layers.append(Convolution(weights, biases, options.get("dilations", [1])[0]))
        if not follow("Relu"):
            return None
    if not layers or not (follow("Squeeze") or follow("Gather") or follow("Reshape")) or not follow("Transpose"):
        return None
    return Chain(tables[nodes[0].input[0]], layers, nodes, nodes[-1].output[0])


def _nodes(chain: Chain, given: str) -> tuple[list[NodeProto], dict[str, Array]]:
    """Write the nodes and tables that make a chain's value in whole numbers."""
    zero = UNITS + 1
    unit = np.abs(chain.table).max(axis=0) / UNITS  # of each column
    unit = np.where(unit > 0, unit, 1).astype(np.float32)
    rows = np.rint(chain.table / unit).astype(np.int64)
    tables: dict[str, Array] = {f"{given}.rows": (rows + zero).astype(np.uint8), "one": np.array(1, dtype=np.float32)}
    tables |= {"zero.0": np.array(zero, dtype=np.uint8), "zero.1": np.array(0, dtype=np.uint8)}
    tables["first_axis"] = np.array([0])
    nodes = [helper.make_node("Gather", [f"{given}.rows", given], [f"{given}.0"])]
    for number, layer in enumerate(chain.layers):
        outputs, inputs, places = layer.weights.shape
        flat = (layer.weights * unit[:, None]).transpose(0, 2, 1).reshape(outputs, places * inputs)
        numbers, scales = eight_bits(np.ascontiguousarray(flat))
        biases = layer.biases
        last = number == len(chain.layers) - 1
        if not last:
            each = numbers.reshape(outputs, places, inputs).astype(np.int64) @ rows.T
            at_most = np.maximum(each.max(axis=2), 0).sum(axis=1)  # beyond the edges stands nothing
            unit = np.maximum(at_most * scales + biases, LEAST).astype(np.float32) / HIGHEST
            scales, biases = scales / unit, biases / unit
        name, zeros = f"{given}.{number}", f"zero.{number}"
        tables |= {f"{name}.weights": np.ascontiguousarray(numbers.T)}
        tables |= {f"{name}.scales": scales, f"{name}.biases": biases}
        stretches, edges = _stretches(name, zeros, places, layer.dilation)
        tables |= edges
        product = [f"{name}.stretches", f"{name}.weights", "one", f"{name}.scales", zeros, "", f"{name}.biases"]
        nodes += stretches
        nodes.append(helper.make_node("MatMulIntegerToFloat", product, [f"{name}.products"], domain=MICROSOFT))
        if last:
            nodes.append(helper.make_node("Relu", [f"{name}.products"], [chain.value]))
        else:  # which makes zero of what is below
            rounding = [f"{name}.products", "one", "zero.1"]
            nodes.append(helper.make_node("QuantizeLinear", rounding, [f"{given}.{number + 1}"]))
    return nodes, tables


def _stretches(name: str, zero: str, places: int, dilation: int) -> tuple[list[NodeProto], dict[str, Array]]:
    """Lay what stands at each place of a convolution side by side: [rows, inputs] to [rows, places * inputs]."""
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
