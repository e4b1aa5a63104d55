"""Segmenter networks that read several texts at once.

A convolution reads the rows beside each row, with zeros beyond the ends of a text. If several texts are rows of one
array, each row's neighbours must be chosen instead: the network gets their indices as an input. An index is 0 beyond
the ends of a text, otherwise the neighbour's row counted from 1. The input `characters.near2`, for example, has the
neighbours of characters for convolutions with dilation 2. What remains of a convolution is one matrix product over all
rows, whose results do not depend on the number of rows. It is computed in int8 if its inputs are never negative, that
is, after a ReLU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from ropewalk.models.onnx.session import Session
from ropewalk.segmentation.neighbours import input_name, neighbours_of, with_neighbours
from ropewalk.segmentation.segmenter import network_sizes
from ropewalk.training.onnx_convolutions import HIGHEST, LEAST
from ropewalk.training.onnx_graphs import MICROSOFT, eight_bits, with_nodes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx import NodeProto

Array = npt.NDArray[Any]

LAYOUT = frozenset({"Transpose", "Unsqueeze", "Squeeze", "Reshape"})  # operators that keep all numbers


def several_texts(model: onnx.ModelProto, samples: Sequence[Mapping[str, Array]], context: int) -> onnx.ModelProto:
    """Return a segmenter's network in which the convolutions read neighbours that are inputs of the network.

    `model` is a network that `segmenter_training` exported, and `context` the number of chunks that it reads on each
    side. It is returned unchanged if it has such inputs already. `samples` are its inputs for some windows of text: for
    products in int8 they show the range of each of their inputs. Larger values are cut off.
    """
    if any("." in value.name for value in model.graph.input):
        return model
    plain = _rewritten(model, {})
    sources = plain.sources
    network = plain.network
    del network.graph.output[:]
    network.graph.output.extend(
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["m", "size"]) for name in sources.values()
    )
    session = Session(network.SerializeToString(), "segmenter", 1, network_sizes(context))
    near = neighbours_of(plain.inputs)
    largest = [
        [values.max(axis=0) for values in session.run(with_neighbours(sample, near), [*sources.values()])]
        for sample in samples
    ]
    ranges = (np.max(np.stack(values), axis=0) for values in zip(*largest, strict=True))
    return _rewritten(model, dict(zip(sources, ranges, strict=True))).network


def _rewritten(model: onnx.ModelProto, ranges: Mapping[str, Array]) -> _Rewriter:
    """Rewrite all nodes of a network; convolutions whose outputs are in `ranges` are computed in int8."""
    rewriter = _Rewriter(model, ranges)
    for node in model.graph.node:
        rewriter.add(node)
    return rewriter


def _size_name(model: onnx.ModelProto, name: str) -> str:
    """Return the name of the size of the rows whose neighbours are the input called `name`."""
    rows = {value.name: value.type.tensor_type.shape.dim[0].dim_param for value in model.graph.input}
    return str(rows["characters" if name.startswith("characters") else "words"])


class _Rewriter:
    """The nodes, constant tables and additional inputs of the new network.

    Arrays [1, size, rows] between convolutions become arrays [rows, size]; `rows_of` has their names.
    """

    def __init__(self, model: onnx.ModelProto, ranges: Mapping[str, Array]) -> None:
        self.inputs: dict[str, int] = {}
        self.sources: dict[str, str] = {}  # rows that convolutions after a ReLU read, by their outputs
        self._model = model
        self._ranges = ranges
        self._tables = {table.name: table for table in model.graph.initializer}
        self._nodes: list[NodeProto] = []
        self._makers = {name: node for node in model.graph.node for name in node.output}
        self._rows_of: dict[str, str] = {}
        self._padded: dict[str, str] = {}  # by the slice of an int8 convolution, the array that is cut

    @property
    def network(self) -> onnx.ModelProto:
        """The new network."""
        out = onnx.ModelProto()
        out.CopyFrom(self._model)
        needed = {value.name for value in out.graph.output} | {*self.sources.values()}
        nodes = []
        for node in reversed(self._nodes):
            if not needed.isdisjoint(node.output):
                nodes.append(node)
                needed.update(node.input)
        out.graph.input.extend(
            helper.make_tensor_value_info(name, TensorProto.INT32, [_size_name(out, name), places])
            for name, places in sorted(self.inputs.items())
        )
        return with_nodes(out, nodes[::-1], [table for name, table in self._tables.items() if name in needed])

    def add(self, node: NodeProto) -> None:
        """Add a node of the old network, or what replaces it."""
        first = node.input[0] if node.input else ""
        maker = self._makers.get(first)
        if node.op_type == "Unsqueeze" and maker is not None and maker.op_type == "Transpose":
            self._rows_of[node.output[0]] = maker.input[0]
        elif node.op_type == "Conv":
            self._convolution(node)
        elif node.op_type in {"Relu", "Add"} and all(name in self._rows_of for name in node.input):
            self._rows_of[node.output[0]] = f"{node.output[0]}.rows"
            names = [self._rows_of[name] for name in node.input]
            self._nodes.append(helper.make_node(node.op_type, names, [f"{node.output[0]}.rows"]))
        elif node.op_type in {"Squeeze", "Gather", "Reshape"} and first in self._rows_of:
            self._rows_of[node.output[0]] = self._rows_of[first]
        elif node.op_type == "Transpose" and first in self._rows_of:
            self._nodes.append(helper.make_node("Identity", [self._rows_of[first]], [node.output[0]]))
        elif node.op_type == "Pad":
            self._padded[node.output[0]] = first
        elif node.op_type == "Slice" and first in self._padded:
            self._padded[node.output[0]] = self._padded[first]
        elif node.op_type == "Concat" and all(name in self._padded for name in node.input):
            self._whole_windows(node)
        else:
            self._nodes.append(node)

    def _constant(self, name: str, array: Array) -> str:
        self._tables[name] = numpy_helper.from_array(array, name)
        return name

    def _windows(self, rows: str, outside: str, near: str, places: int, target: str) -> None:
        """Add nodes that put the `places` neighbours of each row beside each other; `outside` is a row of zeros."""
        self.inputs[near] = places
        shape = self._constant(f"{target}.shape", np.array([0, -1]))
        self._nodes += [
            helper.make_node("Concat", [outside, rows], [f"{target}.all"], axis=0),
            helper.make_node("Gather", [f"{target}.all", near], [f"{target}.near"]),
            helper.make_node("Reshape", [f"{target}.near", shape], [target]),
        ]

    def _whole_windows(self, node: NodeProto) -> None:
        """Replace the slices of an int8 convolution over characters, which `onnx_convolutions` wrote."""
        rows = self._padded[node.input[0]]
        zero = numpy_helper.to_array(self._tables[f"zero.{rows.rsplit('.', 1)[1]}"])
        second, places = numpy_helper.to_array(self._tables[f"{rows}.from1"]), len(node.input)
        weights = self._tables[f"{rows}.weights"].dims[0]
        outside = self._constant(f"{rows}.outside", np.full((1, weights // places), zero, dtype=np.uint8))
        self._windows(rows, outside, input_name("characters", int(second[0])), places, node.output[0])

    def _convolution(self, node: NodeProto) -> None:
        """Replace a convolution by a product of each row's neighbours with its weights."""
        options = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        source, name, bias = node.input
        target = node.output[0]
        rows = self._rows_of[source]
        kind = self._kind(source)
        weights = self._weights(name)  # [outputs, inputs, places]
        _, inputs, places = weights.shape
        if self._never_negative(source):
            self.sources[target] = rows
        near = input_name(kind, options.get("dilations", [1])[0])
        self._rows_of[target] = f"{target}.rows"
        if target not in self._ranges:
            outside = self._constant(f"{target}.outside", np.zeros((1, inputs), dtype=np.float32))
            self._windows(rows, outside, near, places, f"{target}.windows")
            numbers, scales = eight_bits(_by_places(weights))
            stored = [self._constant(f"{target}.8", numbers), self._constant(f"{target}.scale", scales)]
            self._nodes += [
                helper.make_node("DequantizeLinear", stored, [f"{target}.weights"], axis=0),
                helper.make_node(
                    "Gemm", [f"{target}.windows", f"{target}.weights", bias], [f"{target}.rows"], transB=1
                ),
            ]
            return
        unit = (np.maximum(self._ranges[target], LEAST) / HIGHEST).astype(np.float32)
        numbers, scales = eight_bits(_by_places(weights * unit[:, None]))
        tables: dict[str, Array] = {
            "inverse": (1 / unit).astype(np.float32),
            "least": np.array(0, dtype=np.float32),
            "highest": np.array(HIGHEST, dtype=np.float32),
            "one": np.array(1, dtype=np.float32),
            "zero": np.array(0, dtype=np.uint8),
            "outside": np.zeros((1, inputs), dtype=np.uint8),
            "weights": np.ascontiguousarray(numbers.T),
            "scales": scales,
        }
        names = {key: self._constant(f"{target}.{key}", array) for key, array in tables.items()}
        scaled, within, whole = (f"{target}.{key}" for key in ("scaled", "within", "whole"))
        self._nodes += [
            helper.make_node("Mul", [rows, names["inverse"]], [scaled]),
            helper.make_node("Clip", [scaled, names["least"], names["highest"]], [within]),
            helper.make_node("QuantizeLinear", [within, names["one"], names["zero"]], [whole]),
        ]
        self._windows(whole, names["outside"], near, places, f"{target}.windows")
        product = [f"{target}.windows", names["weights"], names["one"], names["scales"], names["zero"], "", bias]
        self._nodes.append(helper.make_node("MatMulIntegerToFloat", product, [f"{target}.rows"], domain=MICROSOFT))

    def _never_negative(self, name: str) -> bool:
        """Return whether an array has no negative numbers, because it is a sum of outputs of ReLU."""
        node = self._makers.get(name)
        if node is None or node.op_type == "Relu":
            return node is not None
        following = node.input if node.op_type == "Add" else node.input[:1] if node.op_type in LAYOUT else ()
        return bool(following) and all(map(self._never_negative, following))

    def _kind(self, source: str) -> str:
        """Return whether the rows of an array are characters or chunks: only chunks have the product of a Gemm."""
        node = self._makers.get(source)
        while node is not None:
            if node.op_type == "Gemm":
                return "chunks"
            node = self._makers.get(node.input[-1] if node.op_type == "Gather" else node.input[0])
        return "characters"

    def _weights(self, name: str) -> Array:
        """Return the weights `name` of a convolution; they may be stored in 8 bits."""
        if name in self._tables:
            return numpy_helper.to_array(self._tables[name])
        sizes, numbers, scales = (
            numpy_helper.to_array(self._tables[f"{name}.{key}"]) for key in ("shape", "8", "scale")
        )
        weights: Array = (numbers * scales[:, None]).reshape(sizes)
        return weights


def _by_places(weights: Array) -> Array:
    return np.ascontiguousarray(weights.transpose(0, 2, 1).reshape(len(weights), -1))
