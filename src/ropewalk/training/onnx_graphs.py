"""Networks as ONNX graphs: written down node by node from a model's own modules, transformers by torch's exporter."""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from ropewalk import files
from ropewalk.errors import MissingExtraError, ModelError
from ropewalk.models.onnx import folder
from ropewalk.models.subwords import STEP
from ropewalk.training.heads import BiaffineRelations, FeedForward, PairRelations

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.training.encoders import BiLSTM, Transformer
    from ropewalk.training.heads import Arcs
    from ropewalk.training.network import Network

OPSET = 17
FORM = 9  # version of the file format
BLANK = -1e4  # in place of what must not be chosen
LEAST = 1024  # numbers in a table that is worth rounding
SMALL = 1 << 17  # and in one that is worth unpacking as a whole when the model is loaded
STEPS = 127  # of 8 bits to either side
LARGEST = 1_900_000_000  # bytes of weights in one file


class Graph:
    """A graph under construction; values go by their names."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []

    def input(self, name: str, kind: int, *shape: str | int) -> str:
        """Take an input."""
        self._inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def constant(self, given: Tensor | npt.ArrayLike) -> str:
        """Hold numbers."""
        array = given.detach().cpu().numpy() if isinstance(given, Tensor) else np.asarray(given)
        name = f"constant{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.array(array, order="C"), name))
        return name

    def op(self, kind: str, *given: str, **attributes: Any) -> str:  # noqa: ANN401 - as ONNX has them
        """Compute something."""
        name = f"{kind.lower()}{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, given, [name], **attributes))
        return name

    def output(self, name: str, value: str, *shape: str | int) -> None:
        """Give a value out under a name."""
        self._nodes.append(helper.make_node("Identity", [value], [name]))
        self._outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def model(self) -> onnx.ModelProto:
        """Finish."""
        graph = helper.make_graph(self._nodes, "ropewalk", self._inputs, self._outputs, self._constants)
        made = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=FORM, producer_name="ropewalk"
        )
        onnx.checker.check_model(made)
        return made


def words(encoder: BiLSTM) -> onnx.ModelProto:
    """Write the part of a `bilstm` that sees one word: features to the vector that its first LSTM reads."""
    graph = Graph()
    parts = []

    def looked_up(table: nn.Embedding, numbers: str) -> str:
        return graph.op("Gather", graph.constant(table.weight), numbers)

    if encoder.words is not None:
        parts.append(looked_up(encoder.words, graph.input("words", TensorProto.INT64, "n")))
    if encoder.affixes is not None:
        numbers = graph.input("affixes", TensorProto.INT64, "n", "affixes")
        found = looked_up(encoder.affixes, numbers)
        parts.append(graph.op("ReduceSum", found, graph.constant([1]), keepdims=0))
    if encoder.shapes is not None:
        parts.append(looked_up(encoder.shapes, graph.input("shapes", TensorProto.INT64, "n")))
    if encoder.characters is not None and encoder.convolution is not None:
        parts.append(_spelled(graph, encoder.characters, encoder.convolution))
    if encoder.vectors is not None:
        parts.append(looked_up(encoder.vectors, graph.input("vectors", TensorProto.INT64, "n")))
    value = graph.op("Concat", *parts, axis=-1)
    if encoder.narrow is not None:
        value = graph.op(
            "Gemm", value, graph.constant(encoder.narrow.weight), graph.constant(encoder.narrow.bias), transB=1
        )
    graph.output("inputs", value, "n", encoder.lstm.input_size)
    return graph.model()


def _spelled(graph: Graph, characters: nn.Embedding, convolution: nn.Conv1d) -> str:
    """Write the convolution over characters as sums of looked-up rows: what each character adds at each distance."""
    numbers = graph.input("characters", TensorProto.INT64, "n", "m")
    width = convolution.kernel_size[0]
    with torch.no_grad():
        rows = torch.cat([characters.weight, torch.zeros_like(characters.weight[:1])])  # the last is beyond the edges
        tables = [rows @ convolution.weight[:, :, place].T for place in range(width)]
        if convolution.bias is not None:
            tables[width // 2] = tables[width // 2] + convolution.bias
    sides = [width // 2, width - 1 - width // 2]
    beyond = graph.constant(np.int64(len(rows) - 1))
    shifted = graph.op("Add", numbers, graph.constant([1]))
    padded = graph.op("Pad", shifted, graph.constant([0, sides[0], 0, sides[1]]), beyond)
    length = graph.op("Gather", graph.op("Shape", numbers), graph.constant([1]))
    found = []
    for place, table in enumerate(tables):
        start = graph.constant([place])
        window = graph.op("Slice", padded, start, graph.op("Add", length, start), graph.constant([1]))
        found.append(graph.op("Gather", graph.constant(table), window))
    spelled = graph.op("Sum", *found)
    blank = graph.op("Less", graph.op("Unsqueeze", numbers, graph.constant([2])), graph.constant([0]))
    kept = graph.op("Where", blank, graph.constant(np.float32(BLANK)), spelled)
    return graph.op("ReduceMax", kept, axes=[1], keepdims=0)


def lstm(module: nn.LSTM) -> onnx.ModelProto:
    """Write LSTMs over sentences side by side: [steps, sentences, size] to [steps, sentences, 2 * hidden]."""
    graph = Graph()
    value = graph.input("inputs", TensorProto.FLOAT, "steps", "sentences", module.input_size)
    lengths = graph.input("lengths", TensorProto.INT32, "sentences")
    sides = ("", "_reverse") if module.bidirectional else ("",)
    size = len(sides) * module.hidden_size
    for layer in range(module.num_layers):

        def of(name: str, layer: int = layer) -> list[Tensor]:
            return [_gates(getattr(module, f"{name}_l{layer}{side}")) for side in sides]

        biases = [torch.cat(pair) for pair in zip(of("bias_ih"), of("bias_hh"), strict=True)]
        read = graph.op(
            "LSTM",
            value,
            graph.constant(torch.stack(of("weight_ih"))),
            graph.constant(torch.stack(of("weight_hh"))),
            graph.constant(torch.stack(biases)),
            lengths,
            hidden_size=module.hidden_size,
            direction="bidirectional" if module.bidirectional else "forward",
        )
        turned = graph.op("Transpose", read, perm=[0, 2, 1, 3])
        value = graph.op("Reshape", turned, graph.constant([0, 0, size]))
    graph.output("vectors", value, "steps", "sentences", size)
    return graph.model()


def _gates(weights: Tensor) -> Tensor:
    """Put gates from torch's order (input, forget, cell, output) into that of ONNX (input, output, forget, cell)."""
    into, forget, cell, out = weights.chunk(4)
    return torch.cat([into, out, forget, cell])


def heads(network: Network) -> dict[str, onnx.ModelProto]:
    """Write all that stands on top of an encoder, by file."""
    out = {}
    graph = Graph()
    vectors = graph.input("vectors", TensorProto.FLOAT, "n", network.encoder.size)
    for number, head in enumerate(network.columns[: network.own]):
        _scores(graph, f"labels.{number}", head, vectors)
    for number, head in enumerate(network.tags):
        _scores(graph, f"tags.{number}", head, vectors)
    relations = network.relations
    if isinstance(relations, FeedForward):
        _scores(graph, "relations", relations, vectors)
    else:
        above = relations.head if isinstance(relations, PairRelations) else relations.heads
        word = relations.word if isinstance(relations, PairRelations) else relations.words
        graph.output("pair_words", _layers(graph, word, vectors), "n", _out(word))
        graph.output("pair_heads", _layers(graph, above, vectors), "n", _out(above))
        out[folder.PAIRS] = _pairs(relations) if isinstance(relations, PairRelations) else _products(relations)
    if network.arcs is not None:
        module = network.arcs
        narrow = _layers(graph, module.words, vectors)
        last = len(module.products) - 1
        product = graph.op(
            "Gemm", narrow, graph.constant(module.products[:last]), graph.constant(module.products[last])
        )
        graph.output("arc_words", product, "n", module.products.shape[1])
        graph.output("arc_heads", _layers(graph, module.heads, vectors), "n", _out(module.heads))
        out[folder.ARCS] = _arcs(module)
    return {folder.HEADS: graph.model(), **out}


def _scores(graph: Graph, name: str, head: nn.Module, vectors: str) -> None:
    if not isinstance(head, FeedForward):
        raise ModelError(type(head).__name__, "is no head that can be exported")
    graph.output(name, graph.op("LogSoftmax", _layers(graph, head.layers, vectors), axis=-1), "n", _out(head.layers))


def _layers(graph: Graph, module: nn.Module, value: str) -> str:
    """Write layers that follow one another."""
    if isinstance(module, nn.Sequential):
        for layer in module:
            value = _layers(graph, layer, value)
        return value
    if isinstance(module, nn.Linear):
        bias = [] if module.bias is None else [graph.constant(module.bias)]
        return graph.op("Gemm", value, graph.constant(module.weight), *bias, transB=1)
    if isinstance(module, nn.LeakyReLU):
        return graph.op("LeakyRelu", value, alpha=float(module.negative_slope))
    if isinstance(module, nn.Dropout):
        return value
    raise ModelError(type(module).__name__, "is no layer that can be exported")


def _out(module: nn.Module) -> int:
    return next(layer.out_features for layer in reversed(list(module.modules())) if isinstance(layer, nn.Linear))


def _classified(graph: Graph, size: int, classes: npt.NDArray[np.float32]) -> tuple[str, str]:
    """Take the two sides of pairs; what is known of the class of each is added to that of the head."""
    words = graph.input("words", TensorProto.FLOAT, "n", size)
    above = graph.input("above", TensorProto.FLOAT, "n", size)
    number = graph.input("classes", TensorProto.INT64, "n")
    return words, graph.op("Add", above, graph.op("Gather", graph.constant(classes), number))


def _pairs(module: PairRelations) -> onnx.ModelProto:
    """Write relations from words and heads; the class of a head is its distance, the last one that of the root."""
    graph = Graph()
    with torch.no_grad():
        nothing = torch.bucketize(torch.tensor(0), module.bounds.cpu())
        root = module.distance.weight[nothing] + module.head(module.root)
        classes = torch.cat([module.distance.weight, root[None]]).cpu().numpy()
    words, above = _classified(graph, module.word.out_features, classes)
    hidden = _layers(graph, module.activation, graph.op("Add", words, above))
    scores = graph.op("LogSoftmax", _layers(graph, module.out, hidden), axis=-1)
    graph.output("relations", scores, "n", module.out.out_features)
    return graph.model()


def _products(module: BiaffineRelations) -> onnx.ModelProto:
    """Write relations by biaffine products; a head has two classes, the last one is that of the root."""
    graph = Graph()
    relations, size, _ = module.products.shape
    with torch.no_grad():
        root = module.heads(module.root)
        classes = torch.stack([torch.zeros_like(root), root]).cpu().numpy()
        tables = module.products.permute(1, 0, 2).reshape(size, -1)
    words, above = _classified(graph, size - 1, classes)
    products = graph.op("Gemm", words, graph.constant(tables[:-1]), graph.constant(tables[-1]))
    shaped = graph.op("Reshape", products, graph.constant([-1, relations, size]))
    inner = graph.op("Slice", shaped, graph.constant([0]), graph.constant([size - 1]), graph.constant([2]))
    alone = graph.op("Slice", shaped, graph.constant([size - 1]), graph.constant([size]), graph.constant([2]))
    column = graph.op("Unsqueeze", above, graph.constant([2]))
    scores = graph.op("Squeeze", graph.op("Add", graph.op("MatMul", inner, column), alone), graph.constant([2]))
    graph.output("relations", graph.op("LogSoftmax", scores, axis=-1), "n", relations)
    return graph.model()


def _arcs(module: Arcs) -> onnx.ModelProto:
    """Write scores of heads for sentences of one length: [sentences, words, words + 1], place 0 is the root."""
    graph = Graph()
    size = module.products.shape[1]
    words = graph.input("words", TensorProto.FLOAT, "sentences", "words", size)
    above = graph.input("above", TensorProto.FLOAT, "sentences", "words", size)
    with torch.no_grad():
        root = module.heads(module.root).cpu().numpy()
    rooted = graph.op("MatMul", words, graph.constant(root[:, None]))
    among = graph.op("MatMul", words, graph.op("Transpose", above, perm=[0, 2, 1]))
    count = graph.op("Gather", graph.op("Shape", words), graph.constant([1]))
    square = graph.op("ConstantOfShape", graph.op("Concat", count, count, axis=0), value=_zero())
    own = graph.op("Cast", graph.op("EyeLike", square), to=TensorProto.BOOL)
    masked = graph.op("Where", own, graph.constant(np.float32(BLANK)), among)
    scores = graph.op("LogSoftmax", graph.op("Concat", rooted, masked, axis=-1), axis=-1)
    graph.output("arcs", scores, "sentences", "words", "heads")
    return graph.model()


def _zero() -> onnx.TensorProto:
    return helper.make_tensor("zero", TensorProto.FLOAT, [1], [0.0])


def transformer(encoder: Transformer) -> onnx.ModelProto:
    """Let torch write a transformer down: subwords, mask, and types and casings if it reads them, to vectors."""
    ids = torch.full((2, 2 * STEP), encoder.tokens.unknown)
    given = {"ids": ids, "mask": torch.ones_like(ids)}
    if encoder.tokens.takes_types:
        given["types"] = torch.zeros_like(ids)
    if encoder.casing is not None:
        given["casings"] = torch.zeros_like(ids)
    dynamic = torch.export.Dim.DYNAMIC
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    try:
        logger.setLevel(logging.ERROR)  # it tells of packages that are not needed
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.onnx.export(
                _Subwords(encoder).eval(),
                (),
                kwargs=given,
                dynamo=True,
                dynamic_shapes={name: {0: dynamic, 1: dynamic} for name in given},
                output_names=["hidden"],
                verbose=False,
            )
        assert program is not None  # noqa: S101 - it is where `dynamo` is asked for
        model = program.model_proto
    except ImportError as failure:
        raise MissingExtraError("exports of transformers", "onnxscript", "train") from failure
    except Exception as failure:
        kind = encoder.model.config.model_type
        raise ModelError(
            kind, f"is a kind of encoder that torch cannot write as ONNX: {str(failure).splitlines()[0]}"
        ) from failure
    finally:
        logger.setLevel(level)
    _strip(model)
    model.graph.output[0].type.tensor_type.shape.dim[-1].dim_value = encoder.size
    return model


def _strip(model: onnx.ModelProto) -> None:
    """Leave out what only tells how and where a graph was made."""
    for part in (model, model.graph, *model.graph.node, *model.graph.input, *model.graph.output):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
    model.graph.ClearField("value_info")


@final
class _Subwords(nn.Module):
    """A transformer up to the vectors of its subwords."""

    def __init__(self, encoder: Transformer) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor | None = None, casings: Tensor | None = None) -> Tensor:
        """Give the vectors of all subwords: [windows, width, size]."""
        tensors = {"ids": ids, "mask": mask, "types": types, "casings": casings}
        return self.encoder.hidden({name: tensor for name, tensor in tensors.items() if tensor is not None})


def rounded(model: onnx.ModelProto) -> onnx.ModelProto:
    """Store weights in 8 bits, with a scale for each row; they are computed with as numbers of 32 bits."""
    out = onnx.ModelProto()
    out.CopyFrom(model)
    graph = out.graph
    tables = {one.name: one for one in graph.initializer if one.data_type == TensorProto.FLOAT and len(one.dims) > 1}
    nodes = []
    done: set[str] = set()
    for node in graph.node:
        for place, name in enumerate(node.input):
            table = tables.get(name)
            if table is None or int(np.prod(table.dims)) < LEAST:
                continue
            if node.op_type == "Gather" and place == 0 and int(np.prod(table.dims)) > SMALL:
                nodes += _rounded_rows(graph, node, table, done)
                break
            if name not in done:
                nodes += _rounded_table(graph, node, table)
                done.add(name)
        else:
            nodes.append(node)
    del graph.node[:]
    graph.node.extend(nodes)
    kept = [one for one in graph.initializer if one.name not in done]
    del graph.initializer[:]
    graph.initializer.extend(kept)
    onnx.checker.check_model(out)
    return out


def _eight_bits(table: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Round each row: [rows, size] to numbers from -127 to 127, and what one of them is worth."""
    scales = np.abs(table).max(axis=1, initial=0.0) / STEPS
    scales = np.where(scales > 0, scales, 1).astype(np.float32)
    return np.rint(table / scales[:, None]).astype(np.int8), scales


def _rounded_rows(
    graph: onnx.GraphProto, node: onnx.NodeProto, table: onnx.TensorProto, done: set[str]
) -> list[onnx.NodeProto]:
    """Look up rounded rows and their scales; the table is never unpacked as a whole."""
    name = table.name
    if name not in done:
        numbers, scales = _eight_bits(numpy_helper.to_array(table).reshape(table.dims[0], -1))
        numbers = numbers.reshape(tuple(table.dims))
        scales = scales.reshape(-1, *[1] * (len(table.dims) - 1))
        graph.initializer.extend(
            [numpy_helper.from_array(numbers, f"{name}.8"), numpy_helper.from_array(scales, f"{name}.scale")]
        )
        done.add(name)
    target = node.output[0]
    where = node.input[1]
    return [
        helper.make_node("Gather", [f"{name}.8", where], [f"{target}.8"]),
        helper.make_node("Gather", [f"{name}.scale", where], [f"{target}.scale"]),
        helper.make_node("Cast", [f"{target}.8"], [f"{target}.32"], to=TensorProto.FLOAT),
        helper.make_node("Mul", [f"{target}.32", f"{target}.scale"], [target]),
    ]


def _rounded_table(graph: onnx.GraphProto, node: onnx.NodeProto, table: onnx.TensorProto) -> list[onnx.NodeProto]:
    """Unpack a whole table when the model is loaded. Its rows are what one output is computed from."""
    name = table.name
    array = numpy_helper.to_array(table)
    across = node.op_type == "MatMul" or (
        node.op_type == "Gemm" and not any(one.name == "transB" and one.i for one in node.attribute)
    )
    rows = 2 if node.op_type == "LSTM" else 1
    flat = array if across else array.reshape(int(np.prod(array.shape[:rows])), -1)
    numbers, scales = _eight_bits(np.moveaxis(flat, -1, 0).reshape(flat.shape[-1], -1) if across else flat)
    if across:
        numbers = np.moveaxis(numbers.reshape(flat.shape[-1], *flat.shape[:-1]), 0, -1)
    parts: dict[str, npt.NDArray[Any]] = {
        "8": np.ascontiguousarray(numbers),
        "scale": scales,
        "shape": np.array(array.shape, dtype=np.int64),
    }
    graph.initializer.extend(numpy_helper.from_array(part, f"{name}.{key}") for key, part in parts.items())
    axis = flat.ndim - 1 if across else 0
    return [
        helper.make_node("DequantizeLinear", [f"{name}.8", f"{name}.scale"], [f"{name}.flat"], axis=axis),
        helper.make_node("Reshape", [f"{name}.flat", f"{name}.shape"], [name]),
    ]


def save(model: onnx.ModelProto, path: Path) -> None:
    """Write a network; weights beyond what one file of this format holds lie in another beside it."""
    size = sum(len(one.raw_data) for one in model.graph.initializer)
    if size > LARGEST:
        onnx.save_model(model, path, save_as_external_data=True, location=f"{path.name}.data", size_threshold=LEAST)
        return
    with files.creating(path) as file:
        file.write(model.SerializeToString())
