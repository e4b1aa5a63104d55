"""Networks of strangers: other field orders, weights in other files, other operators, odd sizes and damaged bytes.

A network must be refused with an error of ours, or be the same to ONNX Runtime as to the reader, and make no array
that is larger than was found before it ran. As a program: `python tests/fuzz_networks.py --minutes 10`.
"""

from __future__ import annotations

import os
import random
import resource
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, defs, helper, numpy_helper

from fuzz_tools import arguments, run
from network_tools import make_external, network, rewritten
from ropewalk.errors import ModelError
from ropewalk.models.catalogue import embedded_folder
from ropewalk.models.onnx import limits, structure
from ropewalk.models.onnx.limits import demand_limits, varying
from ropewalk.models.onnx.operators import OPERATORS, Known, evaluate
from ropewalk.models.onnx.session import Session
from ropewalk.models.onnx.sizes import constant
from ropewalk.models.onnx.structure import OnnxGraph, read_network

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from ropewalk.models.onnx.limits import InputSizes

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
SOURCES = [(embedded_folder() / "en" / f"{name}.onnx").read_bytes() for name in ("arcs", "pairs", "words", "heads")]
ROWS, COLUMNS = 12, 6  # the largest input
SIZES: list[InputSizes] = [{"x": (rows := varying(ROWS), 4), "i": (rows, varying(COLUMNS))}]
SMALL_LIMITS = {"MOST_LIVE": 1 << 22, "MOST_FIXED": 1 << 20, "MOST_WORK": 1 << 31}  # so that a round is short
MEMORY = 3 << 30  # bytes that the program may take: what is accepted needs far less
NO_MEMORY = ("bad_alloc", "bad alloc", "failed to allocate")
NUMBERS = (-(1 << 63), -(1 << 31), -7, -2, -1, 0, 0, 1, 1, 2, 3, 4, 5, 12, 1 << 20, 1 << 31, 1 << 40, (1 << 63) - 1)
LOCATIONS = ("secret.bin", "./secret.bin", "../secret.bin", "/etc/hostname", "x.onnx.data", "", "\udce9".encode(
    "utf-8", "surrogateescape").decode("latin-1"))  # fmt: skip
OTHERS = sorted(
    {
        (one.domain, one.name)
        for one in defs.get_all_schemas()
        if (one.domain.encode(), one.name.encode()) not in OPERATORS
    }
)


def base() -> onnx.ModelProto:
    """Return a small network that is accepted."""
    return network(
        [helper.make_node("Add", ["x", "table"], ["s"]), helper.make_node("Relu", ["s"], ["y"])],
        {"x": (FLOAT, ["rows", 4])},
        {"y": ["rows", 4]},
        {"table": np.arange(4, dtype=np.float32)},
    )


def accepted(raw: bytes) -> bool:
    """Return whether a network can be opened; an error of ours is the only other answer."""
    try:
        Session(raw, "x.onnx", 1, SIZES)
    except ModelError:
        return False
    return True


def same(first: OnnxGraph, second: OnnxGraph) -> bool:
    """Return whether two files say the same, wherever their weights are in the files."""
    tables = [[one._replace(start=0, stop=0) for one in graph.tables] for graph in (first, second)]
    return first[0] == second[0] and tables[0] == tables[1] and first[2:] == second[2:]


def orders(chance: random.Random) -> bool:
    """Write one of our networks otherwise: it is the same, unless a field is there twice."""
    raw = chance.choice(SOURCES)
    other = rewritten(raw, chance, shuffled=chance.random() < 0.8, overlong=chance.random() < 0.8)
    if chance.random() < 0.2:
        spoilt = other + chance.choice(
            (b"\x3a\x00", b"\xba\x01\x00", b"\xa2\x01\x00", b"\x0b\x0c", b"\x12\x01\xff" * 2)
        )
        try:
            read_network(spoilt)
        except ValueError:
            return False
        raise AssertionError("a field that is there twice, unknown or refused was accepted")
    assert same(read_network(raw), read_network(other))
    assert onnx.load_from_string(other) == onnx.load_from_string(raw)
    return True


def external(chance: random.Random) -> bool:
    """Name another file somewhere: ONNX Runtime must not even see the network."""
    model = base()
    tensor = numpy_helper.from_array(np.arange(4, dtype=np.float32), "w")
    place = chance.randrange(8)
    if place:
        keys = ["location", *chance.sample(["offset", "length"], chance.randint(0, 2))]
        chance.shuffle(keys)
        make_external(tensor, chance.choice(LOCATIONS), keys)
        if chance.random() < 0.3:  # either says it
            tensor.ClearField(chance.choice(("data_location", "external_data")))
    output = helper.make_tensor_value_info("w", FLOAT, [4])
    if place <= 2:
        model.graph.initializer.insert(chance.randint(0, 1), tensor)
    elif place == 3:
        model.graph.node.append(helper.make_node("ConstantOfShape", ["table"], ["z"], value=tensor))
    elif place == 4:
        graph = helper.make_graph([], "g", [], [output], [tensor])
        model.graph.node.append(helper.make_node("If", ["c"], ["z"], then_branch=graph, else_branch=graph))
    elif place == 5:
        node = helper.make_node("Constant", [], ["z"], value=tensor)
        model.functions.append(helper.make_function("own", "f", [], ["z"], [node], [helper.make_opsetid("", 20)]))
    elif place == 6:
        sparse = model.graph.sparse_initializer.add()
        sparse.values.CopyFrom(tensor)
        sparse.indices.CopyFrom(numpy_helper.from_array(np.arange(4), "places"))
    else:
        model.training_info.add().algorithm.initializer.append(tensor)
    raw = model.SerializeToString()
    raw = rewritten(raw, chance) if chance.random() < 0.8 else raw
    with mock.patch.object(onnxruntime, "InferenceSession", wraps=onnxruntime.InferenceSession) as seen:
        found = accepted(raw)
    assert found == (not place)
    assert bool(seen.call_count) == (not place)
    return found


def other_operators(chance: random.Random) -> bool:
    """Use an operator that no export uses, or one of ours from another domain: it is refused by its name."""
    model = base()
    domain, name = chance.choice(OTHERS)
    if chance.random() < 0.2:
        domain, name = chance.choice(("own", "ai.onnx", "com.microsoft ", "ai.onnx.ml")), chance.choice(("Add", "Relu"))
    given = chance.choices(["x", "table", "s", ""], k=chance.randint(0, 4))
    node = helper.make_node(name, given, ["z"], domain=domain)
    if chance.random() < 0.1:
        node = helper.make_node("Relu", ["s"], ["z"])
        name = ""
    model.graph.node.insert(chance.randint(1, 2), node)
    refusal = ""
    try:
        Session(model.SerializeToString(), "x.onnx", 1, SIZES)
    except ModelError as error:
        refusal = str(error)
    assert (f"{domain}.{name}".removeprefix(".") in refusal) if name else not refusal
    return not refusal


def damaged_bytes(chance: random.Random) -> bool:
    """Change some bytes: what is still read is what the format's own library reads."""
    raw = bytearray(
        rewritten(base().SerializeToString(), chance) if chance.random() < 0.5 else base().SerializeToString()
    )
    for _ in range(chance.randint(0, 3)):
        at = chance.randrange(len(raw))
        how = chance.randrange(4)
        if how == 0:
            raw[at] ^= 1 << chance.randrange(8)
        elif how == 1:
            raw[at] = chance.choice((0, 1, 8, 10, 0x7F, 0x80, 0xFF))
        elif how == 2:
            raw[at:at] = chance.randbytes(chance.randint(1, 4))
        else:
            del raw[at : at + chance.randint(1, 4)]
    try:
        ours = read_network(bytes(raw))
    except ValueError:
        return False
    try:
        theirs = onnx.load_from_string(bytes(raw)).graph
    except Exception:  # noqa: BLE001 - its error is of another package; so will ONNX Runtime refuse it
        return False
    assert [one.operator for one in ours.nodes] == [_as_bytes(one.op_type) for one in theirs.node]
    assert [one.inputs for one in ours.nodes] == [[*map(_as_bytes, one.input)] for one in theirs.node]
    assert [one.shape for one in ours.tables] == [tuple(one.dims) for one in theirs.initializer]
    assert all(one.data_location != TensorProto.EXTERNAL for one in theirs.initializer)
    return accepted(bytes(raw))


def _as_bytes(text: str | bytes) -> bytes:
    """Return a text as it is stored; the library leaves it as bytes where it is not UTF-8."""
    return text if isinstance(text, bytes) else text.encode()


class Growing:
    """A network that grows node by node; most nodes are ones that are accepted."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.nodes: list[onnx.NodeProto] = []
        self.tables: dict[str, npt.NDArray[Any]] = {}
        self.known: dict[str, Known] = {}
        self.types: dict[str, int] = {"x": FLOAT, "i": INT64}
        rows = SIZES[0]["x"][0]
        assert not isinstance(rows, int)
        columns = SIZES[0]["i"][1]
        assert not isinstance(columns, int)
        self.known["x"] = Known((rows, constant(4)), real=True)
        self.known["i"] = Known((rows, columns))

    def array(self, *types: int) -> str:
        """Choose an array of some types, or make a table."""
        found = [name for name, kind in self.types.items() if kind in types]
        if found and self.chance.random() < 0.8:
            return self.chance.choice(found[-8:])
        shape = [self.chance.choice((1, 1, 2, 3, 4, 6)) for _ in range(self.chance.randint(0, 3))]
        kind = self.chance.choice(types)
        numbers = np.array([self.chance.randint(-3, 5) for _ in range(int(np.prod(shape)))]).reshape(shape)
        return self.table(numbers.astype(helper.tensor_dtype_to_np_dtype(kind)), kind)

    def table(self, numbers: npt.NDArray[Any], kind: int) -> str:
        """Add a table."""
        name = f"t{len(self.tables)}"
        self.tables[name] = numbers
        self.types[name] = kind
        few = numbers.dtype == np.int64 and numbers.size <= structure.SMALL
        content = tuple(map(constant, numbers.ravel().tolist())) if few else None
        self.known[name] = Known(tuple(map(constant, numbers.shape)), content, kind == FLOAT)
        return name

    def integers(self, *, count: int | None = None, odd: float = 0.15) -> str:
        """Choose sizes or axes: a table of them, or integers that were computed."""
        chance = self.chance
        computed = [name for name, known in self.known.items() if known.content is not None and len(known.shape) == 1]
        if computed and count is None and chance.random() < 0.5:
            return chance.choice(computed[-6:])
        many = chance.randint(0, 4) if count is None else count
        wide = chance.random() < odd
        return self.table(
            np.array([chance.choice(NUMBERS) if wide else chance.randint(-1, 6) for _ in range(many)], dtype=np.int64),
            INT64,
        )

    def scalar(self) -> str:
        """Choose one integer."""
        return self.table(
            np.array(self.chance.choice(NUMBERS) if self.chance.random() < 0.2 else self.chance.randint(-3, 9)), INT64
        )

    def grow(self) -> None:
        """Add a node; nodes that are refused are mostly left out."""
        name, given, kind, attributes = self.draw()
        node = helper.make_node(name, given, [f"a{len(self.nodes)}"], **attributes)
        raw = node.SerializeToString()
        try:
            (array, *_), _ = evaluate(structure._node(raw, (0, len(raw), 0)), [self.known[one] for one in given])
        except ValueError:
            if self.chance.random() < 0.02:
                self.nodes.append(node)
            return
        self.nodes.append(node)
        self.known[node.output[0]] = array
        self.types[node.output[0]] = kind

    def draw(self) -> tuple[str, list[str], int, dict[str, Any]]:  # noqa: C901, PLR0911, PLR0912 - one of many
        """Draw an operator, its inputs, the type of its output and its attributes."""
        chance = self.chance
        axis = {"axis": chance.choice((-2, -1, 0, 0, 1, 2))}
        either = self.array(FLOAT, INT64)
        kind = self.types[either]
        match chance.randrange(24):
            case 0:
                return (
                    "Shape",
                    [either],
                    INT64,
                    {} if chance.random() < 0.5 else {"start": chance.randint(-2, 2), "end": chance.randint(-1, 3)},
                )
            case 1:
                return chance.choice(("Add", "Sub", "Mul", "Max", "Min", "Div")), [either, self.array(kind)], kind, {}
            case 2:
                return "Reshape", [either, self.integers()], kind, {"allowzero": chance.randint(0, 1)}
            case 3:
                return "Expand", [either, self.integers()], kind, {}
            case 4:
                return "Concat", [either, *(self.array(kind) for _ in range(chance.randint(0, 2)))], kind, axis
            case 5:
                return (
                    "Slice",
                    [either, *(self.integers(count=1, odd=0.3) for _ in range(chance.randint(2, 4)))],
                    kind,
                    {},
                )
            case 6:
                return "Gather", [either, self.array(INT64)], kind, axis
            case 7:
                return "Squeeze", [either, *([self.integers(count=1)] if chance.random() < 0.7 else [])], kind, {}
            case 8:
                return "Unsqueeze", [either, self.integers(count=chance.randint(1, 2))], kind, {}
            case 9:
                return "Transpose", [either], kind, {}
            case 10:
                return "MatMul", [self.array(FLOAT), self.array(FLOAT)], FLOAT, {}
            case 11:
                return "Range", [self.scalar(), chance.choice([self.scalar(), either]), self.scalar()], INT64, {}
            case 12:
                return "ConstantOfShape", [self.integers()], FLOAT, {}
            case 13:
                return "Tile", [either, self.integers()], kind, {}
            case 14:
                rank = len(self.known[either].shape)
                return "Pad", [either, self.integers(count=2 * rank)], kind, {}
            case 15:
                return (
                    chance.choice(("ReduceMax", "ReduceSum", "ReduceMean")),
                    [either],
                    kind,
                    {"keepdims": chance.randint(0, 1)},
                )
            case 16:
                return "Where", [self.array(BOOL), either, self.array(kind)], kind, {}
            case 17:
                return chance.choice(("Equal", "Less", "Greater")), [either, self.array(kind)], BOOL, {}
            case 18:
                target = chance.choice((FLOAT, INT64))
                return "Cast", [either], target, {"to": target}
            case 19:
                return "GatherND", [either, self.array(INT64)], kind, {"batch_dims": chance.choice((0, 0, 1))}
            case 20:
                return "GatherElements", [either, self.array(INT64)], kind, axis
            case 21:
                equation = chance.choice(("ab,bc->ac", "ab,ab->ab", "ab,cb->abc", "ab->ba", "ab,cd->abcd", "aa,ab->b"))
                count = equation.count(",") + 1
                return "Einsum", [self.array(FLOAT) for _ in range(count)], FLOAT, {"equation": equation}
            case 22:
                return "CumSum", [either, self.scalar()], kind, {}
            case _:
                return chance.choice(("Relu", "Neg", "Abs", "Identity")), [either], kind, {}


def odd_sizes(chance: random.Random) -> bool:
    """Grow a network, run it, and compare every array with what was found before."""
    growing = Growing(chance)
    for _ in range(chance.randint(2, 14)):
        growing.grow()
    if not growing.nodes:
        return False
    inputs = {"x": (FLOAT, ["rows", 4]), "i": (INT64, ["rows", "columns"])}
    outputs = [onnx.ValueInfoProto(name=node.output[0]) for node in growing.nodes]
    typed = [
        helper.make_tensor_value_info(node.output[0], growing.types.get(node.output[0], FLOAT), [0])
        for node in growing.nodes
    ]
    model = network(growing.nodes, inputs, {}, growing.tables)  # type: ignore[arg-type] # lists of both
    model.graph.output.extend(typed)
    known: dict[bytes, Known] = {}

    def spy(node: Any, arrays: Any) -> Any:  # noqa: ANN401 - what `evaluate` takes and returns
        found = evaluate(node, arrays)
        known.update(zip(node.outputs, found[0], strict=False))
        return found

    raw = model.SerializeToString()
    patches: dict[str, Any] = {"evaluate": spy, **SMALL_LIMITS}
    with mock.patch.multiple(limits, **patches):
        try:
            demand_limits(read_network(raw), SIZES[0], 0)
        except ValueError:
            return False
    del model.graph.output[:]
    model.graph.output.extend(outputs)
    rows, columns = chance.randint(1, ROWS), chance.randint(1, COLUMNS)
    try:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = chance.choice(
            (onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL)
        )
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        wanted = {one.name for one in session.get_inputs()}
        given = {"x": np.ones((rows, 4), dtype=np.float32), "i": np.zeros((rows, columns), dtype=np.int64)}
        names = [one.name for one in session.get_outputs()]
        arrays = session.run(names, {name: array for name, array in given.items() if name in wanted})
    except Exception as failure:  # the runtime refuses what does not fit
        if any(text in str(failure).lower() for text in NO_MEMORY):
            raise
        return False
    for name, array in zip(names, arrays, strict=True):
        if array is None:  # old runtimes make none where an empty array does not fit
            continue
        found = known[name.encode()]
        told = f"{name} of {onnx.printer.to_text(model)}: {found}, {array.shape}, {array.ravel()[:9]}"
        assert len(found.shape) == array.ndim, told
        pairs = [*zip(found.shape, array.shape, strict=True)]
        if found.content is not None:
            assert len(found.content) == array.size, told
            numbers = zip(found.content, array.ravel().tolist(), strict=True)
            pairs += [(size, number) for size, number in numbers if size is not None]
        assert all(size.least <= number <= size.most for size, number in pairs), told
    return True


TARGETS: dict[str, Callable[[random.Random], bool]] = {
    one.__name__: one for one in (orders, external, other_operators, odd_sizes, damaged_bytes)
}
SHARES = {"orders": 1, "external": 3, "other_operators": 3, "odd_sizes": 12, "damaged_bytes": 4}


def main() -> int:
    """Run rounds, in a folder that has a file which nobody may open."""
    options = arguments("Networks of strangers.")
    given = options.parse_args()
    given.trace = given.trace.absolute()
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory() as home:
        os.chdir(home)
        Path("secret.bin").write_bytes(np.full(4, 7, dtype=np.float32).tobytes())

        def one_round(seed: tuple[int, int]) -> tuple[str, bool]:
            chance = random.Random("{} {}".format(*seed))  # noqa: S311 - the same for the same number
            name = chance.choices(list(SHARES), list(SHARES.values()))[0]
            return name, TARGETS[name](chance)

        return run(given, TARGETS, one_round)


if __name__ == "__main__":
    sys.exit(main())
