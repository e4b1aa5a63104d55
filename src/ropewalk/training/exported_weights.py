"""Conversion of an exported `bilstm` or `sru` model into the weights of a trainable one, to train it further.

An export stores most weights as they are. Two tables are derived from weights, which are recomputed here: the terms
that characters add to a convolution, and the root's vector as a head. Weights that were rounded to 8 bits stay rounded.
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
from ropewalk.models.scorer import TREES
from ropewalk.training.classifiers import DISTANCES, SLOPE

if TYPE_CHECKING:
    from torch import Tensor

    from ropewalk.models.storage import ModelFolder
    from ropewalk.training.network import Network

Tables = dict[str, npt.NDArray[np.float32]]


def read_weights(folder: ModelFolder, network: Network) -> dict[str, Tensor]:
    """Read the weights for a network that was built for this folder; raise `ModelError` if it cannot be restored."""
    if not network.encoder.restorable or not network.relations.restorable or network.graphs:
        problem = "is an exported model with biaffine relations, graphs or an encoder other than bilstm and sru"
        advice = "which cannot be trained further; pass the folder that it was exported from"
        raise ModelError(str(folder.path), f"{problem}, {advice}")
    words, heads = (_tables(folder, file) for file in (WORDS, HEADS))
    tables = {name.removeprefix("network."): table for name, table in heads.items()}
    tables |= {name: table for name, table in words.items() if name.startswith("encoder.")}
    shape = network.encoder.shape
    if shape.character_size:
        spelling = [words[f"spelling.{number}"] for number in range(3)]
        tables |= _characters(spelling, shape.character_size)
    tables |= network.encoder.restored(_tables(folder, ENCODER) if folder.has(ENCODER) else {})
    if network.relations.pairs is not None:
        tables |= _relations(_tables(folder, PAIRS[TREES]), tables["relations.head.weight"])
    if network.arcs is not None:
        side = _tables(folder, ARCS[TREES])["root"]
        before = np.where(side < 0, side / SLOPE, side) - tables["arcs.heads.1.bias"]
        tables["arcs.root"] = _solved(tables["arcs.heads.1.weight"], before)
    arrays = {
        name: np.array(tables[name], dtype=np.float32, order="C") for name in network.state_dict() if name in tables
    }
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def _tables(folder: ModelFolder, file: str) -> Tables:
    """Return the weight tables of an exported ONNX network as float32, by name."""
    raw = folder.listed(file)
    with naming(str(folder.path / file)):
        read_network(raw)  # raises if tables are in another file
    graph = onnx.load_from_string(raw).graph
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    out = {name: array for name, array in stored.items() if array.dtype == np.float32 and not name.endswith(".scale")}
    unpacked = {node.input[0]: node for node in graph.node if node.op_type == "DequantizeLinear"}
    turned = {node.input[1] for node in graph.node if node.op_type == "MatMulIntegerToFloat"}
    for key, numbers in stored.items():
        name = key.removesuffix(".8")
        if name == key:
            continue
        scale = stored[f"{name}.scale"]
        if key in unpacked:
            axis = next(attribute.i for attribute in unpacked[key].attribute if attribute.name == "axis")
            scale = scale.reshape([-1 if dimension == axis else 1 for dimension in range(numbers.ndim)])
            out[name] = (numbers * scale).reshape(stored[f"{name}.shape"])
        else:
            out[name] = (numbers * scale).T if key in turned else numbers * scale
    return out


def _characters(spelling: list[npt.NDArray[Any]], size: int) -> Tables:
    """Return embeddings of characters and weights of a convolution whose products are the tables in `spelling`.

    See `FeatureEncoder.spelling`: the last row of a table is for positions beyond the edges of a word. `size` is that
    of an embedding.
    """
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


def _relations(tables: Tables, heads: npt.NDArray[np.float32]) -> Tables:
    """Return the weights of the relation classifier, with its embeddings of distances and of the root.

    They are computed from the table of vectors that are added to a head's side; see `PairRelations.classes`. `heads` is
    the weight matrix of head sides.
    """
    own = {name: table for name, table in tables.items() if name.startswith("relations.")}
    (classes,) = (table for name, table in tables.items() if name not in own)
    root = classes[-1] - classes[DISTANCES.index(0)]
    return {**own, "relations.distance.weight": classes[:-1], "relations.root": _solved(heads, root)}


def _solved(matrix: npt.NDArray[np.float32], product: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the shortest vector whose product with a matrix is `product`, or is closest to it."""
    solution: npt.NDArray[Any] = np.linalg.lstsq(matrix, product, rcond=None)[0]
    return solution
