"""Convert an exported transformer of Ropewalk 0.2, whose products round numbers in blocks, to the products of 0.3.

    python recipes/products_by_rows.py FOLDER OUT --test UD_English-EWT/en_ewt-ud-test.conllu

FOLDER is the model, OUT the folder to write. Products are then computed as `ropewalk export --weights int8` writes them
now: each row of the input has one scale. The new model is scored on the words of the test file; its configuration and
card contain the scores.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper

from ropewalk.models.onnx.files import ENCODER
from ropewalk.models.onnx.model import load
from ropewalk.models.storage import CONFIG, read_json, repack, seal
from ropewalk.training import onnx_graphs
from ropewalk.training.examples import read_treebank
from ropewalk.training.export import write_scores

ZERO = 128  # the byte that stands for 0


def unpacked(node: onnx.NodeProto, tables: dict[str, onnx.TensorProto]) -> npt.NDArray[np.float32]:
    """Return the weights [size, width] of a product that rounds in blocks; `tables` are those of its network."""
    numbers, scales = (numpy_helper.to_array(tables[name]) for name in node.input[1:3])
    blocks = (numbers.astype(np.float32) - ZERO) * scales.reshape(*numbers.shape[:2], 1)
    return np.ascontiguousarray(blocks.reshape(len(numbers), -1).T)


def converted(network: onnx.ModelProto) -> onnx.ModelProto:
    """Return a network whose products round their input by rows."""
    tables = {table.name: table for table in network.graph.initializer}
    graph = onnx.GraphProto()
    graph.CopyFrom(network.graph)
    nodes: list[onnx.NodeProto] = []
    old: set[str] = set()
    done: set[str] = set()
    for node in network.graph.node:
        if node.op_type != "MatMulNBits":
            nodes.append(node)
            continue
        old |= {*node.input[1:3]}
        product = onnx.helper.make_node("MatMul", [node.input[0], node.input[1].removesuffix(".8")], node.output)
        nodes += onnx_graphs.rounded_product(graph, product, unpacked(node, tables), done)
    kept = [table for table in network.graph.initializer if table.name not in old]
    added = list(graph.initializer)[len(tables) :]
    return onnx_graphs.with_nodes(network, nodes, [*kept, *added])


def main() -> None:
    """Write the converted model and its scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the model")
    parser.add_argument("out", type=Path, help="the folder to write")
    parser.add_argument("--test", type=Path, required=True, help="the CoNLL-U file to score the new model on")
    given = parser.parse_args()
    shutil.copytree(given.folder, given.out)
    onnx_graphs.save(converted(onnx.load(given.out / ENCODER)), given.out / ENCODER)
    seal(given.out, read_json(given.out / CONFIG))
    repack(given.out)
    gold, _ = read_treebank([str(given.test)], "stop", "test")
    scores = write_scores(load(given.out), gold, [str(given.test)], given.out)
    print({name: round(100 * score, 2) for name, score in scores.items()})


if __name__ == "__main__":
    main()
