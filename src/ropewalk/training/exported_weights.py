"""The weights of an exported folder as training has them, so that a model can be trained further without its run.

Of a `bilstm`, which is written as it is but for what follows from its weights alone: what characters add to a
convolution, and what the root brings as a head. Weights that were rounded to 8 bits stay rounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import numpy_helper

from ropewalk.errors import ModelError
from ropewalk.models.onnx.files import ARCS, ENCODER, HEADS, PAIRS, WORDS
from ropewalk.models.onnx.session import naming
from ropewalk.models.onnx.structure import read_network
from ropewalk.training.classifiers import DISTANCES, SLOPE

if TYPE_CHECKING:
    from torch import Tensor

    from ropewalk.models.storage import ModelFolder
    from ropewalk.training.network import Network

Tables = dict[str, npt.NDArray[np.float32]]


def read_weights(folder: ModelFolder, network: Network) -> dict[str, Tensor]:
    """Read the weights for a network that was made for this folder."""
    if not network.encoder.restorable or not network.relations.restorable or network.graphs:
        raise ModelError(
            str(folder.path),
            "is an exported model with biaffine relations, graphs or an encoder other than a bilstm, which cannot be "
            "trained further; expected the folder that it was exported from",
        )
    words, heads = (_tables(folder, file) for file in (WORDS, HEADS))
    found = {name.removeprefix("network."): table for name, table in heads.items()}
    found |= {name: table for name, table in words.items() if name.startswith("encoder.")}
    shape = network.encoder.shape
    if shape.character_size:
        spelling = [words[f"spelling.{place}"] for place in range(3)]
        found |= _characters(spelling, shape.character_size)
    found |= _lstms(_tables(folder, ENCODER), shape.depth)
    if network.relations.pairs is not None:
        found |= _relations(_tables(folder, PAIRS), found["relations.head.weight"])
    if network.arcs is not None:
        side = _tables(folder, ARCS)["root"]
        before = np.where(side < 0, side / SLOPE, side) - found["arcs.heads.1.bias"]
        found["arcs.root"] = _solved(found["arcs.heads.1.weight"], before)
    wanted = network.state_dict()
    return {
        name: torch.from_numpy(np.array(table, dtype=np.float32, order="C"))
        for name, table in found.items()
        if name in wanted
    }


def _tables(folder: ModelFolder, file: str) -> Tables:
    """Read the numbers of a network by their names, as 32 bits."""
    raw = folder.listed(file)
    with naming(str(folder.path / file)):
        read_network(raw)  # or numbers could lie in any other file
    graph = onnx.load_from_string(raw).graph
    stored = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    out = {name: array for name, array in stored.items() if array.dtype == np.float32 and not name.endswith(".scale")}
    unpacked = {node.input[0]: node for node in graph.node if node.op_type == "DequantizeLinear"}
    turned = {node.input[1] for node in graph.node if node.op_type == "MatMulIntegerToFloat"}
    for key, numbers in stored.items():
        name = key.removesuffix(".8")
        if name == key:
            continue
        scale = stored[f"{name}.scale"]
        if key in unpacked:
            axis = next(one.i for one in unpacked[key].attribute if one.name == "axis")
            scale = scale.reshape([-1 if place == axis else 1 for place in range(numbers.ndim)])
            out[name] = (numbers * scale).reshape(stored[f"{name}.shape"])
        else:
            out[name] = (numbers * scale).T if key in turned else numbers * scale
    return out


def _characters(spelling: list[npt.NDArray[Any]], size: int) -> Tables:
    """Find vectors of characters and a convolution that give these tables, whose last rows are beyond the edges."""
    bias = spelling[1][-1]
    products = np.concatenate([spelling[0][:-1], spelling[1][:-1] - bias, spelling[2][:-1]], axis=1)
    left, lengths, right = np.linalg.svd(products, full_matrices=False)
    kept = min(size, len(lengths))
    characters = np.zeros((len(products), size))
    kernels = np.zeros((size, products.shape[1]))
    characters[:, :kept] = left[:, :kept] * np.sqrt(lengths[:kept])
    kernels[:kept] = np.sqrt(lengths[:kept])[:, None] * right[:kept]
    return {
        "encoder.characters.weight": characters,
        "encoder.convolution.weight": kernels.reshape(size, 3, -1).transpose(2, 0, 1),
        "encoder.convolution.bias": bias,
    }


def _lstms(tables: Tables, depth: int) -> Tables:
    """Put gates from the order of ONNX (input, output, forget, cell) into torch's (input, forget, cell, output)."""

    def gates(table: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        into, out, forget, cell = np.split(table, 4)
        return np.concatenate([into, forget, cell, out])

    arrays = [tables[name] for name in sorted(tables, key=lambda name: int(name.removeprefix("constant")))]
    found: Tables = {}
    for layer in range(depth):
        inputs, hidden, biases = arrays[3 * layer : 3 * layer + 3]
        for direction, side in enumerate(("", "_reverse")):
            halves = np.split(biases[direction], 2)
            for name, table in zip(
                ("weight_ih", "weight_hh", "bias_ih", "bias_hh"),
                (inputs[direction], hidden[direction], *halves),
                strict=True,
            ):
                found[f"encoder.lstm.{name}_l{layer}{side}"] = gates(table)
    return found


def _relations(tables: Tables, heads: npt.NDArray[np.float32]) -> Tables:
    """Find the vectors of distances and of the root in what is added to the side of a head."""
    found = {name: table for name, table in tables.items() if name.startswith("relations.")}
    (classes,) = (table for name, table in tables.items() if name not in found)
    root = classes[-1] - classes[DISTANCES.index(0)]
    return {**found, "relations.distance.weight": classes[:-1], "relations.root": _solved(heads, root)}


def _solved(matrix: npt.NDArray[np.float32], product: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Find the shortest vector that has this product with a matrix."""
    solution: npt.NDArray[Any] = np.linalg.lstsq(matrix, product, rcond=None)[0]
    return solution
