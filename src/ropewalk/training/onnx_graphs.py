"""Conversion of networks to ONNX with torch's exporter, except for LSTMs over sentences of different lengths.

`torch.export` cannot trace packed sequences. ONNX has an operator for them, and `lstm` builds that graph by hand.
"""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data
from torch import Tensor, nn

from ropewalk import files
from ropewalk.errors import MissingExtraError, ModelError
from ropewalk.models.onnx.files import BESIDE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

OPSET = 20  # torch's default
FORM = 10  # version of the file format, likewise
LEAST = 1024  # tables with fewer numbers are not rounded
SMALL = 1 << 17  # only tables with more numbers are looked up by row, or multiplied, in 8 bits
STEPS = 127  # 8-bit values on each side of 0
BYTES = 255  # the largest number of 8 bits without sign
MICROSOFT = "com.microsoft"  # the domain of its operators
GEMM = {"transB": 0, "transA": 0, "alpha": 1, "beta": 1}  # its attributes and their defaults
GELU, GELU_ZERO = 0.17, 16  # no value of Gelu is below -0.17; the 8-bit number that stands for 0 in such values
UNITS = 63  # int8 steps from 0 to 1: two products of 7 and 8 bits fit into 16 bits, in which some CPUs sum them
LARGEST = 1_900_000_000  # bytes of weights in one file
SAMPLE = 16  # rows of the input that a network is traced with


def traced(module: nn.Module, given: dict[str, Tensor], outputs: Sequence[str], *, dynamic: int = 1) -> onnx.ModelProto:
    """Return a module as an ONNX network with these `outputs`; `given` has a sample tensor for each input.

    The first `dynamic` dimensions of inputs and outputs may have any size. Raise `ModelError` if torch cannot export
    it.
    """
    any_size = dict.fromkeys(range(dynamic), torch.export.Dim.DYNAMIC)
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    try:
        logger.setLevel(logging.ERROR)  # it reports missing packages that are not needed
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.onnx.export(
                module.eval(),
                kwargs={"given": given},
                dynamo=True,
                opset_version=OPSET,
                dynamic_shapes={"given": dict.fromkeys(given, any_size)},
                input_names=list(given),
                output_names=list(outputs),
                verbose=False,
            )
        assert program is not None  # noqa: S101 - with `dynamo` it never is
        model = program.model_proto
    except ImportError as failure:
        raise MissingExtraError("exports of models", "onnxscript", "train") from failure
    except Exception as failure:
        problem = f"is the output of a network that torch cannot export as ONNX: {str(failure).splitlines()[0]}"
        raise ModelError(", ".join(outputs), problem) from failure
    finally:
        logger.setLevel(level)
    for part in (model, model.graph, *model.graph.node, *model.graph.input, *model.graph.output):
        part.ClearField("metadata_props")  # how and where the graph was built
        part.ClearField("doc_string")
    model.graph.ClearField("value_info")
    return model


@final
class Computed(nn.Module):
    """Module that calls the function `compute` with itself and named input tensors.

    The modules and tensors in `parts` become its attributes, and their names the prefixes of its weights' names.
    """

    def __init__(self, compute: Callable[[Any, dict[str, Tensor]], Any], **parts: nn.Module | Tensor) -> None:
        super().__init__()
        self.compute = compute
        for name, part in parts.items():
            if isinstance(part, Tensor):
                self.register_buffer(name, part.detach())
            else:
                self.add_module(name, part)

    def forward(self, given: dict[str, Tensor]) -> Any:  # noqa: ANN401 - a tensor, or several
        """Return the function's value for the input tensors `given`."""
        return self.compute(self, given)


def lstm(module: nn.LSTM) -> onnx.ModelProto:
    """Return LSTM layers over padded sentences as an ONNX network.

    Its input is [steps, sentences, size]; its output is [steps, sentences, hidden], or 2 * hidden for both directions.
    """
    sides = ("", "_reverse") if module.bidirectional else ("",)
    size = len(sides) * module.hidden_size
    nodes: list[onnx.NodeProto] = []
    constants: list[onnx.TensorProto] = []

    def constant(array: npt.NDArray[Any]) -> str:
        constants.append(numpy_helper.from_array(np.array(array, order="C"), f"constant{len(constants)}"))
        return constants[-1].name

    def compute(kind: str, *inputs: str, **attributes: Any) -> str:  # noqa: ANN401 - as ONNX has them
        nodes.append(helper.make_node(kind, inputs, [f"{kind.lower()}{len(nodes)}"], **attributes))
        return str(nodes[-1].output[0])

    value = "inputs"
    for layer in range(module.num_layers):
        weights, hidden, inputs_bias, hidden_bias = (
            torch.stack([_gates(getattr(module, f"{name}_l{layer}{side}")) for side in sides]).detach().cpu()
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        tables = (weights, hidden, torch.cat([inputs_bias, hidden_bias], 1))
        read = compute(
            "LSTM",
            value,
            *(constant(table.numpy()) for table in tables),
            "lengths",
            hidden_size=module.hidden_size,
            direction="bidirectional" if module.bidirectional else "forward",
        )
        turned = compute("Transpose", read, perm=[0, 2, 1, 3])
        value = compute("Reshape", turned, constant(np.array([0, 0, size])))
    nodes.append(helper.make_node("Identity", [value], ["vectors"]))
    shapes: dict[str, list[str | int]] = {
        "inputs": ["steps", "sentences", module.input_size],
        "vectors": ["steps", "sentences", size],
    }
    real = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()}
    lengths = helper.make_tensor_value_info("lengths", TensorProto.INT32, ["sentences"])
    graph = helper.make_graph(nodes, "ropewalk", [real["inputs"], lengths], [real["vectors"]], constants)
    opset = helper.make_opsetid("", OPSET)
    network = helper.make_model(graph, opset_imports=[opset], ir_version=FORM, producer_name="ropewalk")
    onnx.checker.check_model(network)
    return network


def _gates(weights: Tensor) -> Tensor:
    """Return LSTM weights with gates reordered from torch (input, forget, cell, output) to ONNX's order.

    The order of ONNX is input, output, forget, cell.
    """
    into, forget, cell, out = weights.chunk(4)
    return torch.cat([into, out, forget, cell])


def rounded(model: onnx.ModelProto, within_one: Collection[str] = ()) -> onnx.ModelProto:
    """Return a network whose weights are stored in 8 bits, with one scale for each row.

    Most are converted to float32 before use. Large matrix products are computed in 8 bits, which is faster: each row of
    their inputs is rounded with a scale of its own, so that it does not depend on others. Products of the inputs named
    in `within_one`, whose values lie between -1 and 1, have fixed scales.
    """
    out = onnx.ModelProto()
    out.CopyFrom(model)
    graph = out.graph
    tables = {
        tensor.name: tensor
        for tensor in graph.initializer
        if tensor.data_type == TensorProto.FLOAT and len(tensor.dims) > 1
    }
    nodes = []
    done: set[str] = set()
    for node in graph.node:
        for index, name in enumerate(node.input):
            table = tables.get(name)
            if table is None or int(np.prod(table.dims)) < LEAST:
                continue
            if node.op_type == "Gather" and index == 0 and int(np.prod(table.dims)) > SMALL:
                nodes += _rounded_rows(graph, node, table, done)
                break
            if node.op_type == "MatMul" and index == 1 and _is_large(table):
                nodes += rounded_product(graph, node, numpy_helper.to_array(table), done)
                break
            if node.op_type == "Gemm" and index == 1 and node.input[0] in within_one and _is_by_rows(node):
                nodes += _whole_product(graph, node, table, done)
                break
            if name not in done:
                nodes += _rounded_table(graph, node, table)
                done.add(name)
        else:
            nodes.append(node)
    return with_nodes(out, nodes, [table for table in graph.initializer if table.name not in done])


def with_nodes(
    model: onnx.ModelProto, nodes: Sequence[onnx.NodeProto], tables: Sequence[onnx.TensorProto]
) -> onnx.ModelProto:
    """Return a copy of a network with its nodes and weight tables replaced, after a check that it is valid ONNX."""
    out = onnx.ModelProto()
    out.CopyFrom(model)
    for field, values in ((out.graph.node, nodes), (out.graph.initializer, tables)):
        del field[:]
        field.extend(values)
    if any(node.domain == MICROSOFT for node in nodes) and all(known.domain != MICROSOFT for known in out.opset_import):
        out.opset_import.append(helper.make_opsetid(MICROSOFT, 1))
    onnx.checker.check_model(out)
    return out


def _is_large(table: onnx.TensorProto) -> bool:
    """Return whether a table of weights is large enough for products in 8 bits."""
    return len(table.dims) == 2 and int(np.prod(table.dims)) > SMALL


def rounded_product(
    graph: onnx.GraphProto, node: onnx.NodeProto, table: npt.NDArray[np.float32], done: set[str]
) -> list[onnx.NodeProto]:
    """Return nodes that compute the product `node` with the weights `table` [size, width] rounded to 8 bits.

    Each row of the input, and each column of `table`, is rounded with a scale of its own. The input is rounded only
    once, also if several products read it; `done` has the names of rounded inputs and tables.
    """
    (source, name), target = node.input[:2], node.output[0]
    nodes: list[onnx.NodeProto] = []
    parts: dict[str, npt.NDArray[Any]] = {f"{target}.width": np.array([table.shape[1]], dtype=np.int64)}
    if source not in done:
        of_gelu = any(source in other.output for other in graph.node if other.op_type == "Gelu")
        nodes, constants = _rounded_input(source, len(table), of_gelu=of_gelu)
        parts |= constants
    if name not in done:
        numbers, scales = paired_eight_bits(table.T)
        parts |= {f"{name}.8": np.ascontiguousarray(numbers.T), f"{name}.scale": scales}
    done |= {source, name}
    graph.initializer.extend(numpy_helper.from_array(part, key) for key, part in parts.items())
    names = [f"{source}.8", f"{name}.8", f"{source}.one", f"{name}.scale", f"{source}.zero"]
    return [
        *nodes,
        helper.make_node("MatMulIntegerToFloat", names, [f"{target}.steps"], domain=MICROSOFT),
        helper.make_node("Mul", [f"{target}.steps", f"{source}.scales"], [f"{target}.rows"]),
        helper.make_node("Concat", [f"{source}.sides", f"{target}.width"], [f"{target}.shape"], axis=0),
        helper.make_node("Reshape", [f"{target}.rows", f"{target}.shape"], [target]),
    ]


def _rounded_input(
    source: str, size: int, *, of_gelu: bool
) -> tuple[list[onnx.NodeProto], dict[str, npt.NDArray[Any]]]:
    """Return nodes and constants that round each row of `size` numbers of the array `source` to 8 bits.

    Values of Gelu are hardly negative: if `of_gelu`, most 8-bit numbers stand for positive ones.
    """
    zero, sources = (GELU_ZERO, [f"{source}.flat"]) if of_gelu else (STEPS + 1, [f"{source}.sizes"])
    parts: dict[str, npt.NDArray[Any]] = {
        "row": np.array([-1, size], dtype=np.int64),
        "last": np.array([1], dtype=np.int64),
        "step": np.array(1 / (BYTES - zero), dtype=np.float32),
        "least": np.array(GELU / GELU_ZERO if of_gelu else np.finfo(np.float32).tiny, dtype=np.float32),
        "one": np.array(1, dtype=np.float32),
        "zero": np.array(zero, dtype=np.uint8),
    }

    def compute(kind: str, inputs: str, output: str, **attributes: Any) -> onnx.NodeProto:  # noqa: ANN401 - as ONNX has them
        names = [source if part == "." else f"{source}.{part}" for part in inputs.split()]
        return helper.make_node(kind, names, [f"{source}.{output}"], **attributes)

    nodes = [
        compute("Shape", ".", "sides", end=-1),
        compute("Reshape", ". row", "flat"),
        *([] if of_gelu else [compute("Abs", "flat", "sizes")]),
        helper.make_node("ReduceMax", [*sources, f"{source}.last"], [f"{source}.largest"], keepdims=0),
        compute("Mul", "largest step", "enough"),
        compute("Max", "enough least", "scale"),
        compute("Shape", "scale", "rows"),
        compute("Expand", "zero rows", "zeros"),
        compute("QuantizeLinear", "flat scale zeros", "8", axis=0),
        compute("Unsqueeze", "scale last", "scales"),
    ]
    return nodes, {f"{source}.{key}": part for key, part in parts.items()}


def _is_by_rows(product: onnx.NodeProto) -> bool:
    """Return whether a `Gemm` node multiplies with a transposed table and does nothing else.

    Each row of the table then computes one output.
    """
    attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in product.attribute}
    return GEMM | attributes == GEMM | {"transB": 1}


def _whole_product(
    graph: onnx.GraphProto, node: onnx.NodeProto, table: onnx.TensorProto, done: set[str]
) -> list[onnx.NodeProto]:
    """Return nodes that compute the product `node` with int8 weights, with one scale for each output.

    The input is rounded only once, also if several products use it; `done` has the names of rounded inputs and tables.
    """
    name, (source, _, *bias) = table.name, node.input
    numbers, scales = eight_bits(numpy_helper.to_array(table))
    parts: dict[str, npt.NDArray[Any]] = {f"{name}.8": np.ascontiguousarray(numbers.T), f"{name}.scale": scales}
    whole = [f"{source}.7", f"{source}.scale", f"{source}.zero"]
    nodes = []
    if source not in done:
        parts[whole[1]] = np.array(1 / UNITS, dtype=np.float32)
        parts[whole[2]] = np.array(UNITS + 1, dtype=np.uint8)
        nodes.append(helper.make_node("QuantizeLinear", [source, *whole[1:]], whole[:1]))
    done |= {source, name}
    graph.initializer.extend(numpy_helper.from_array(part, key) for key, part in parts.items())
    names = [whole[0], f"{name}.8", whole[1], f"{name}.scale", whole[2], *(["", *bias] if bias else [])]
    return [*nodes, helper.make_node("MatMulIntegerToFloat", names, list(node.output), domain=MICROSOFT)]


def eight_bits(table: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Return a table [rows, size] rounded to integers from -127 to 127, and the scale of each row."""
    scales = np.abs(table).max(axis=1, initial=0.0) / STEPS
    scales = np.where(scales > 0, scales, 1).astype(np.float32)
    return np.rint(table / scales[:, None]).astype(np.int8), scales


def paired_eight_bits(table: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Return a table [rows, size] rounded to int8, and the scale of each row, for products with numbers of 8 bits.

    CPUs without VNNI or dot products sum the first two products of a row in 16 bits, then the next two, and so on. The
    scales keep these sums within 16 bits.
    """
    sums = np.add.reduceat(table, np.arange(0, table.shape[1], 2), axis=1)
    largest = np.maximum(np.abs(table).max(axis=1), np.abs(sums).max(axis=1))
    scales = np.where(largest > 0, largest / STEPS, 1).astype(np.float32)
    return np.rint(table / scales[:, None]).astype(np.int8), scales


def _rounded_rows(
    graph: onnx.GraphProto, node: onnx.NodeProto, table: onnx.TensorProto, done: set[str]
) -> list[onnx.NodeProto]:
    """Return nodes that look up rows of a rounded table and multiply them with their scales.

    They replace the lookup `node`, and convert only the rows that are looked up. `done` has the names of rounded
    tables.
    """
    name = table.name
    if name not in done:
        numbers, scales = eight_bits(numpy_helper.to_array(table).reshape(table.dims[0], -1))
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
    """Return nodes that convert a rounded table to float32 when the model is loaded.

    The table is rounded with one scale for each output of `node`.
    """
    name = table.name
    array = numpy_helper.to_array(table)
    across = node.op_type == "MatMul" or (
        node.op_type == "Gemm" and not any(attribute.name == "transB" and attribute.i for attribute in node.attribute)
    )
    rows = 2 if node.op_type == "LSTM" else 1
    flat = array if across else array.reshape(int(np.prod(array.shape[:rows])), -1)
    numbers, scales = eight_bits(np.moveaxis(flat, -1, 0).reshape(flat.shape[-1], -1) if across else flat)
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
    """Write a network to a file; if its weights exceed `LARGEST` bytes, write them to a second file beside it."""
    tables = [tensor for tensor in model.graph.initializer if len(tensor.raw_data) >= LEAST]
    weights = [tensor.raw_data for tensor in tables]
    if sum(map(len, weights)) <= LARGEST:
        tables = []
    else:
        with files.creating(path.with_name(f"{path.name}{BESIDE}")) as file:
            for table, raw in zip(tables, weights, strict=True):
                set_external_data(table, f"{path.name}{BESIDE}", offset=file.tell(), length=len(raw))
                table.ClearField("raw_data")
                file.write(raw)
    with files.creating(path) as file:
        file.write(model.SerializeToString())
    for table, raw in zip(tables, weights, strict=False):  # restore the network
        table.raw_data = raw
        table.ClearField("external_data")
        table.ClearField("data_location")
