"""Networks of strangers: no other file is opened, no other operator run, and memory and time have limits."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import ropewalk
from conftest import REPOSITORY
from fuzz_models import SOURCE, trees
from network_tools import TypedShape, make_external, network, rewritten
from ropewalk.errors import ModelError
from ropewalk.models.onnx import limits, operators, sizes
from ropewalk.models.onnx.limits import demand_limits, varying
from ropewalk.models.onnx.protobuf import fields, written
from ropewalk.models.onnx.session import Session
from ropewalk.models.onnx.structure import MOST_NODES, read_network
from ropewalk.models.storage import seal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ropewalk.models.onnx.limits import InputSizes
    from ropewalk.models.onnx.sizes import Size

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
NETWORKS = sorted(
    [
        *(REPOSITORY / "src" / "ropewalk" / "data" / "models").rglob("*.onnx"),
        *(REPOSITORY / "models").rglob("*.onnx"),
        *(REPOSITORY / "tests" / "fixtures").rglob("*.onnx"),
    ]
)
ACCURATE = REPOSITORY / "models" / "en-accurate" / "ropewalk_en_accurate" / "en-accurate"
OLD = REPOSITORY / "tests" / "fixtures" / "version-1" / "exported"
SIZES: list[InputSizes] = [{"x": (varying(512), varying(64))}]
X: dict[str, TypedShape] = {"x": (FLOAT, ["rows", 4])}


def opened(model: onnx.ModelProto) -> Session:
    return Session(model.SerializeToString(), "x.onnx", 1, SIZES)


def added(*tables: str) -> onnx.ModelProto:
    """Return a network that adds a table of four numbers to its input."""
    return network(
        [helper.make_node("Add", ["x", "table"], ["y"])],
        X,
        {"y": ["rows", 4]},
        {name: np.arange(4, dtype=np.float32) for name in ("table", *tables)},
    )


def stranger(home: Path, change: Callable[[onnx.ModelProto], bytes], file: str = "pairs.onnx") -> Path:
    """Copy the English model, change one of its networks, and seal the folder as if it had been exported so."""
    shutil.copytree(SOURCE, home)
    (home / file).write_bytes(change(onnx.load(home / file)))
    seal(home, json.loads((home / "config.json").read_text(encoding="utf-8")))
    return home


# Weights in other files.


def location_first(model: onnx.ModelProto) -> bytes:
    make_external(_largest(model), "secret.bin", ("location", "offset", "length"))
    return bytes(model.SerializeToString())


def location_last(model: onnx.ModelProto) -> bytes:
    make_external(_largest(model), "secret.bin", ("offset", "length", "location"))
    return bytes(model.SerializeToString())


def other_order(model: onnx.ModelProto) -> bytes:
    make_external(_largest(model), "secret.bin")
    return rewritten(model.SerializeToString(), random.Random(4), overlong=False)  # noqa: S311 - the same each time


def overlong(model: onnx.ModelProto) -> bytes:
    make_external(_largest(model), "secret.bin")
    return rewritten(model.SerializeToString(), random.Random(4), shuffled=False)  # noqa: S311 - the same each time


def _largest(model: onnx.ModelProto) -> onnx.TensorProto:
    tables: list[onnx.TensorProto] = list(model.graph.initializer)
    return max(tables, key=lambda one: len(one.raw_data))


@pytest.mark.parametrize("variant", [location_first, location_last, other_order, overlong])
def test_no_file_of_the_current_folder_is_opened(variant: Callable[[onnx.ModelProto], bytes], tmp_path: Path) -> None:
    home = stranger(tmp_path / "model", variant)
    (tmp_path / "secret.bin").write_bytes(_largest(onnx.load(SOURCE / "pairs.onnx")).raw_data)  # so it would fit
    done = subprocess.run(
        [sys.executable, "-m", "ropewalk", "parse", "-m", "model", "She walks."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("ropewalk: error: model/pairs.onnx: is no network that Ropewalk computes: it keeps")
    assert "in another file" in done.stderr
    assert done.stderr.count("\n") == 1
    with pytest.raises(ModelError, match="in another file"):
        ropewalk.load(home)


def test_the_same_network_written_otherwise_is_the_same(tmp_path: Path) -> None:
    chance = random.Random(1)  # noqa: S311 - the same each time
    home = stranger(tmp_path / "model", lambda model: rewritten(model.SerializeToString(), chance))
    assert (home / "pairs.onnx").read_bytes() != (SOURCE / "pairs.onnx").read_bytes()
    assert trees(home) == trees(SOURCE)


def in_a_constant(model: onnx.ModelProto, tensor: onnx.TensorProto) -> None:
    model.graph.node.append(helper.make_node("Constant", [], ["z"], value=tensor))


def in_a_sub_graph(model: onnx.ModelProto, tensor: onnx.TensorProto) -> None:
    output = helper.make_tensor_value_info("w", FLOAT, [4])
    branch = helper.make_graph([], "branch", [], [output], [tensor])
    node = helper.make_node("If", ["c"], ["z"], then_branch=branch, else_branch=branch)
    model.graph.node.append(node)


def in_a_function(model: onnx.ModelProto, tensor: onnx.TensorProto) -> None:
    node = helper.make_node("Constant", [], ["z"], value=tensor)
    model.functions.append(helper.make_function("own", "f", [], ["z"], [node], [helper.make_opsetid("", 20)]))


def in_a_sparse_tensor(model: onnx.ModelProto, tensor: onnx.TensorProto) -> None:
    places = numpy_helper.from_array(np.arange(4), "places")
    sparse = model.graph.sparse_initializer.add()
    sparse.values.CopyFrom(tensor)
    sparse.indices.CopyFrom(places)
    sparse.dims.append(4)


def in_training_information(model: onnx.ModelProto, tensor: onnx.TensorProto) -> None:
    model.training_info.add().algorithm.initializer.append(tensor)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (in_a_constant, "in another file"),
        (in_a_sub_graph, "a sub-graph"),
        (in_a_function, "a function"),
        (in_a_sparse_tensor, "a sparse tensor"),
        (in_training_information, "training information"),
    ],
)
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_no_file_is_opened_wherever_it_is_named(
    place: Callable[[onnx.ModelProto, onnx.TensorProto], None], said: str, seed: int | None
) -> None:
    model = added("w")
    (tensor,) = (one for one in model.graph.initializer if one.name == "w")
    model.graph.initializer.remove(tensor)
    make_external(tensor, "secret.bin")
    place(model, tensor)
    raw = model.SerializeToString()
    raw = raw if seed is None else rewritten(raw, random.Random(seed))  # noqa: S311 - the same each time
    with pytest.raises(ModelError, match=said):
        Session(raw, "x.onnx", 1, SIZES)


def test_a_location_that_counts_as_external_in_32_bits_is_refused() -> None:
    """Readers keep 32 bits of an enumeration, so 2^32 + 1 is 1."""
    model = added()
    raw = model.graph.initializer[0].SerializeToString() + bytes([14 << 3, 0x81, 0x80, 0x80, 0x80, 0x10])
    assert onnx.TensorProto.FromString(raw).data_location == TensorProto.EXTERNAL
    graph = model.graph
    del graph.initializer[:]
    whole = written(7, graph.SerializeToString() + written(5, raw))
    model.ClearField("graph")
    with pytest.raises(ModelError, match="in another file"):
        Session(model.SerializeToString() + whole, "x.onnx", 1, SIZES)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"\x3b", "has kind 3"),  # a group, which other readers skip
        (b"\x00\x01", "number of a field is 0"),
        (b"\xba\x80\x80\x80\x70\x00", "number of a field is"),  # 7 in the 32 bits that other readers keep
        (b"\x08" + b"\x80" * 10 + b"\x00", "does not end"),
        (b"\x3a\x7f", "longer than its message"),
        (b"\x3a\x80", "does not end"),
        (b"\x08", "does not end"),
        (b"\x38\x01", "has the wire type 0; expected 2"),
        (b"\x3a\x00\x3a\x00", "twice"),
        (b"\xfa\x7f\x00", "an unknown field"),
        (b"", "no graph"),
    ],
)
def test_what_readers_could_take_in_two_ways_is_refused(raw: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_network(raw)


def test_the_reader_copies_no_weights() -> None:
    raw = network([], {}, {}, {"w": np.zeros(1 << 20, dtype=np.float32)}).SerializeToString()
    (table,) = read_network(raw).tables
    assert (table.shape, table.stop - table.start, table.content) == ((1 << 20,), 4 << 20, None)


def test_weights_of_another_size_than_their_shape_are_refused() -> None:
    for shape in ([5], [2, 3], [-1, -4], [1 << 40], [0]):
        model = added()
        model.graph.initializer[0].dims[:] = shape
        with pytest.raises(ModelError, match="another size than its numbers"):
            opened(model)
    model = added()
    model.graph.initializer[0].float_data.extend([1.0] * 4)  # beside raw bytes
    with pytest.raises(ModelError, match="another size than its numbers"):
        opened(model)


# Operators.


def test_every_model_of_ours_is_within_the_limits() -> None:
    """Each network passes by itself; that models load and parse is tested elsewhere."""
    assert len(NETWORKS) > 40
    used = {(node.domain, node.op_type) for file in NETWORKS for node in onnx.load(file).graph.node}
    assert used <= {(domain.decode(), name.decode()) for domain, name in operators.OPERATORS}
    for file in NETWORKS:
        read_network(file.read_bytes())


@pytest.mark.parametrize(
    ("domain", "name"),
    [
        ("", "Loop"),
        ("", "NonZero"),
        ("", "Resize"),
        ("", "RandomNormal"),
        ("ai.onnx.ml", "TreeEnsemble"),
        ("own", "Add"),
    ],
)
def test_other_operators_are_refused_by_name(domain: str, name: str) -> None:
    model = network([helper.make_node(name, ["x"], ["y"], domain=domain)], X, {"y": ["rows", 4]})
    shown = f"{domain}.{name}" if domain else name
    with pytest.raises(ModelError, match=f"uses the operator {shown}, .*export the model again"):
        opened(model)


def test_a_loop_ends_before_it_begins(tmp_path: Path) -> None:
    """The network of the attack: 2^62 steps, from which not even a signal frees the program."""

    def looping(model: onnx.ModelProto) -> bytes:
        body = helper.make_graph(
            [helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Identity", ["v"], ["w"])],
            "body",
            [
                helper.make_tensor_value_info(name, kind, shape)
                for name, kind, shape in (("i", INT64, []), ("c", TensorProto.BOOL, []), ("v", FLOAT, None))
            ],
            [
                helper.make_tensor_value_info(name, kind, shape)
                for name, kind, shape in (("d", TensorProto.BOOL, []), ("w", FLOAT, None))
            ],
        )
        model.graph.initializer.append(numpy_helper.from_array(np.array(1 << 62), "many"))
        model.graph.initializer.append(numpy_helper.from_array(np.ones((), dtype=np.bool_), "on"))
        node = model.graph.node[-1]
        last = node.output[0]
        node.output[0] = "before"
        model.graph.node.append(helper.make_node("Loop", ["many", "on", "before"], [last], body=body))
        return bytes(model.SerializeToString())

    home = stranger(tmp_path / "model", looping)
    with pytest.raises(ModelError, match="it has a sub-graph"):
        ropewalk.load(home)


def test_operators_of_other_versions_are_refused() -> None:
    for version in (16, 21):
        with pytest.raises(ModelError, match=f"version {version}; expected 17 to 20"):
            opened(network([helper.make_node("Relu", ["x"], ["y"])], X, {"y": ["rows", 4]}, opset=version))


def test_attributes_that_no_export_has_are_refused() -> None:
    model = network([helper.make_node("EyeLike", ["x"], ["y"], k=-(1 << 63))], X, {"y": ["rows", 4]})
    with pytest.raises(ModelError, match="EyeLike has the attribute 'k', which no export uses"):
        opened(model)


def test_integers_are_divided_by_positive_ones_alone() -> None:
    """The lowest integer by -1 ends the whole program with a signal; real numbers may be divided by anything."""
    as_integers = helper.make_node("Cast", ["x"], ["i"], to=INT64)
    as_reals = helper.make_node("Cast", ["q"], ["y"], to=FLOAT)

    def quotient(*divisor: int) -> onnx.ModelProto:
        nodes = [as_integers, helper.make_node("Div", ["i", "d"], ["q"]), as_reals]
        return network(nodes, X, {"y": ["rows", 4]}, {"d": np.array(divisor)})

    x = np.array([[-9.0, -7.0, 7.0, 9.0]], dtype=np.float32)
    assert opened(quotient(2)).run({"x": x})[0].tolist() == [[-4, -3, 3, 4]]
    for divisor in ((-1,), (0,), (1, 2, 3, -1)):
        with pytest.raises(ModelError, match="Div: integers are divided by a value that may be 0 or negative"):
            opened(quotient(*divisor))
    itself = network([as_integers, helper.make_node("Div", ["i", "i"], ["q"]), as_reals], X, {"y": ["rows", 4]})
    with pytest.raises(ModelError, match="Div: integers are divided by a value that may be 0 or negative"):
        opened(itself)
    opened(network([helper.make_node("Div", ["x", "x"], ["y"])], X, {"y": ["rows", 4]}))


@pytest.mark.parametrize(
    ("nodes", "tables", "said"),
    [
        (
            [("GatherND", ["t", "i"], {"batch_dims": 1})],
            {"t": np.zeros((6, 3)), "i": [[0]]},
            "other inputs or attributes",
        ),
        ([("GatherND", ["e", "i"], {})], {"e": np.zeros(0), "i": [0]}, "may be empty"),
        ([("Gather", ["e", "i"], {})], {"e": np.zeros(0), "i": [0]}, "may be empty"),
        ([("Einsum", ["e", "e"], {"equation": "a,b->ab"})], {"e": np.zeros(0)}, "may be empty"),
        ([("Pad", ["x", "s"], {})], {"s": [-7, 0, 9, 0]}, "may be negative"),
        ([("Pad", ["x", "s"], {"mode": "reflect"})], {"s": [7, 0, 0, 0]}, "other inputs or attributes"),
        ([("Shape", ["x"], {"start": 1, "end": 1})], {}, "other inputs or attributes"),
    ],
)
def test_what_ends_an_old_runtime_with_a_signal_is_refused(
    nodes: list[tuple[str, list[str], dict[str, Any]]], tables: dict[str, Any], said: str
) -> None:
    """Each ended ONNX Runtime 1.20, the oldest that Ropewalk takes, or made it read beyond an array."""
    made = [helper.make_node(name, given, ["y"], **attributes) for name, given, attributes in nodes]
    arrays = {name: np.array(table) for name, table in tables.items()}
    arrays = {name: table.astype("f4") if table.dtype == float else table for name, table in arrays.items()}
    with pytest.raises(ModelError, match=said):
        opened(network(made, X, {"y": ["rows", 4]}, arrays))


# Sizes.


def too_large(*nodes: onnx.NodeProto, **tables: Any) -> onnx.ModelProto:  # noqa: ANN401 - arrays, or numbers for them
    arrays = {name: np.asarray(table) for name, table in tables.items()}
    return network(nodes, X, {"y": ["rows", 4]}, arrays)


def of_shape(*shape: int) -> onnx.ModelProto:
    return too_large(helper.make_node("ConstantOfShape", ["s"], ["y"]), s=np.array(shape))


def node(name: str, *given: str, made: str = "y", **attributes: Any) -> onnx.NodeProto:  # noqa: ANN401 - any attribute
    return helper.make_node(name, given, [made], **attributes)


THIN = np.zeros((1, 70_000), dtype=np.float32)
HUGE = {
    "constant": of_shape(1 << 31),
    "constant in two dimensions": of_shape(1 << 16, 1 << 16),
    "expand": too_large(node("Expand", "x", "s"), s=[1 << 20, 512, 4]),
    "tile": too_large(node("Tile", "x", "s"), s=[1 << 30, 1]),
    "range": too_large(node("Range", "a", "b", "c"), a=0, b=1 << 40, c=1),
    "range downwards": too_large(node("Range", "a", "b", "c"), a=0, b=-(1 << 40), c=-3),
    "pad": too_large(node("Pad", "x", "s"), s=[0, 0, 1 << 30, 0]),
    "sum of a row and a column": too_large(node("Transpose", "t", made="u"), node("Add", "t", "u"), t=THIN),
    "product of a column and a row": too_large(node("Transpose", "t", made="u"), node("MatMul", "u", "t"), t=THIN),
    "rows again and again": too_large(node("Gather", "t", "i"), t=THIN, i=np.zeros(70_000, dtype=np.int64)),
    "rows by many indices": too_large(node("GatherND", "t", "i"), t=THIN, i=np.zeros((70_000, 1), dtype=np.int64)),
    "einsum": too_large(node("Einsum", "t", "t", equation="ab,cd->abcd"), t=THIN),
    "convolution": too_large(
        node("Conv", "t", "w", pads=[1 << 40, 0]), t=np.zeros((1, 1, 4), "f4"), w=np.zeros((1, 1, 1), "f4")
    ),
    "words by words by words": too_large(
        node("Shape", "x", end=1, made="n"),
        node("Concat", "n", "n", "n", "n", made="s", axis=0),
        node("ConstantOfShape", "s"),
    ),
    "more than 64 bits": too_large(
        node("Shape", "x", end=1, made="n"), node("Mul", "n", "h", made="s"), node("ConstantOfShape", "s"), h=[1 << 62]
    ),
    "many in all": too_large(
        *(node("ConstantOfShape", "s", made=f"y{place or ''}") for place in range(100)), s=[1 << 22]
    ),
}


@pytest.mark.parametrize("name", HUGE)
def test_arrays_that_are_too_large_are_refused_before_they_are_made(name: str) -> None:
    with pytest.raises(ModelError, match="too large"):
        opened(HUGE[name])


def test_a_constant_of_8_gb_is_refused_within_little_memory(tmp_path: Path) -> None:
    """The network of the attack."""

    def large(model: onnx.ModelProto) -> bytes:
        model.graph.initializer.append(numpy_helper.from_array(np.array([1 << 31]), "many"))
        model.graph.node.insert(0, helper.make_node("ConstantOfShape", ["many"], ["unused"]))
        return bytes(model.SerializeToString())

    home = stranger(tmp_path / "model", large)
    with pytest.raises(ModelError, match="ConstantOfShape would make an array too large"):
        ropewalk.load(home)


def test_what_takes_too_long_is_refused() -> None:
    """Products with a table of which nothing is stored: each takes a tenth of a second or more."""
    table = node("ConstantOfShape", "s", made="t"), node("Slice", "t", "zero", "four", made="u")
    products = [node("MatMul", "x", "u", made="x0")]
    products += [node("MatMul", f"x{place}", "t", made=f"x{place + 1}") for place in range(40)]
    with pytest.raises(ModelError, match="MatMul would take too long"):
        opened(too_large(*table, *products, s=[2048, 2048], zero=[0], four=[4]))


AS_INTEGERS = node("Cast", "x", made="i", to=INT64), node("Reshape", "i", "f", made="s")
LARGEST = node("ReduceMax", "x", made="m", keepdims=0), node("Cast", "m", made="n", to=INT64)


@pytest.mark.parametrize(
    ("nodes", "tables"),
    [
        ([*AS_INTEGERS, node("Expand", "x", "s")], {"f": [-1]}),
        ([*AS_INTEGERS, node("ConstantOfShape", "s")], {"f": [-1]}),
        ([*LARGEST, node("Range", "a", "n", "b")], {"a": 0, "b": 1}),
    ],
)
def test_sizes_that_depend_on_numbers_are_refused(nodes: list[onnx.NodeProto], tables: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="depends on the input"):
        opened(too_large(*nodes, **tables))


def test_sizes_that_depend_on_a_condition_count_as_the_larger() -> None:
    """Seven rows make it huge, and all other numbers of rows small."""
    nodes = [
        node("Shape", "x", end=1, made="n"),
        node("Equal", "n", "seven", made="c"),
        node("Where", "c", "huge", "n", made="s"),
        node("ConstantOfShape", "s"),
    ]
    with pytest.raises(ModelError, match="too large"):
        opened(too_large(*nodes, seven=[7], huge=[1 << 33]))
    opened(too_large(*nodes, seven=[7], huge=[1 << 10]))


def test_sizes_that_grow_as_inputs_shrink_are_seen() -> None:
    """Check that a remainder is large for one row, but not for many."""
    nodes = [
        node("ConstantOfShape", "s", made="t"),
        node("Shape", "x", end=1, made="n"),
        node("Concat", "n", "rest", made="u", axis=0),
        node("Reshape", "t", "u", made="v"),
        node("Transpose", "v", made="w"),
        node("MatMul", "w", "v"),
    ]
    with pytest.raises(ModelError, match="too large"):
        opened(too_large(*nodes, s=[1 << 20], rest=[-1]))
    opened(too_large(*nodes, s=[1 << 10], rest=[-1]))


def test_memory_is_that_of_the_worst_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays that are used up one after another count once; those that can wait for each other count together."""
    monkeypatch.setattr(limits, "LARGE", 1000)
    monkeypatch.setattr(limits, "MOST_LIVE", 13_000)
    chain = [node("Relu", f"a{place or ''}", made=f"a{place + 1}") for place in range(20)]
    first, last = node("Reshape", "x", "flat", made="a"), node("Reshape", "a20", "four")
    flat = {"flat": np.array([-1]), "four": np.array([-1, 4])}
    opened(too_large(first, *chain, last, **flat))
    apart = [node("Relu", "x", made=f"b{place}") for place in range(20)]
    sums = [node("ReduceSum", f"b{place}", made=f"c{place}") for place in range(20)]
    more = [node("ReduceMax", f"b{place}", made=f"d{place}") for place in range(20)]
    total = node("Sum", *(f"{letter}{place}" for letter in "cd" for place in range(20)), made="e")
    together = [one for each in zip(apart, sums, more, strict=True) for one in each]  # each is used up in this order
    with pytest.raises(ModelError, match="too large together"):
        opened(too_large(*together, total, node("Add", "x", "e")))


def test_too_many_nodes_are_refused() -> None:
    nodes = [node("Relu", f"a{place}" if place else "x", made=f"a{place + 1}") for place in range(MOST_NODES + 1)]
    with pytest.raises(ModelError, match="more than 16,384 nodes"):
        opened(network(nodes, X, {f"a{MOST_NODES + 1}": ["rows", 4]}))


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (network([node("Relu", "z")], X, {"y": [4]}), "Relu reads 'z', which nothing before it makes"),
        (network([], X, {"y": [4]}), "nothing makes its output 'y'"),
        (network([node("Relu", "x", made="x")], X, {"x": [4]}), "makes 'x' twice"),
        (network([node("Relu", "z")], {"z": (FLOAT, [4])}, {"y": [4]}), "has the input 'z'; expected no others than x"),
        (network([node("Relu", "x")], {"x": (FLOAT, ["a", "b", "c"])}, {"y": [4]}), "input 'x' has no size 3"),
        (network([node("Relu", "x")], {"x": (TensorProto.STRING, [4])}, {"y": [4]}), "numbers of type 8"),
        (network([node("Cast", "x", to=TensorProto.STRING)], X, {"y": [4]}), "numbers of type 8"),
        (network([node("Add")], X, {"y": [4]}), "other inputs or attributes"),
        (network([node("Transpose", "x", perm=[0, 0])], X, {"y": [4]}), "other inputs or attributes"),
        (network([node("Concat", "x", axis=7)], X, {"y": [4]}), "other inputs or attributes"),
        (network([node("Concat", "x", axis="a")], X, {"y": [4]}), "other inputs or attributes"),
        (network([node("MatMul", "x")], X, {"y": [4]}), "other inputs or attributes"),
    ],
)  # fmt: skip
def test_networks_that_do_not_hold_together_are_refused(model: onnx.ModelProto, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        opened(model)


def test_an_attribute_of_another_type_than_its_value_is_refused() -> None:
    """The runtime goes by the type, and would take the default for it."""
    model = network([node("Gemm", "x", "w", transB=1)], X, {"y": [4]}, {"w": np.zeros((9, 4), dtype=np.float32)})
    opened(model)
    model.graph.node[0].attribute[0].type = onnx.AttributeProto.FLOAT
    with pytest.raises(ModelError, match="'transB' has another type than its value"):
        opened(model)


# Arithmetic of sizes.


def test_equal_sizes_cancel() -> None:
    words = varying(512)
    whole = sizes.times(words, sizes.constant(384))
    part = sizes.times(words, sizes.constant(32))
    assert whole is not None
    assert part is not None
    assert sizes.over(whole, part) == sizes.constant(12)
    more = sizes.plus(words, sizes.constant(3))
    assert more is not None
    assert sizes.minus(more, sizes.constant(3)) == words
    assert sizes.minus(words, words) == sizes.constant(0)


def test_bounds_hold_for_all_values() -> None:
    """Random sums, products, differences and quotients of two unknowns, for every value of both."""
    chance = random.Random(5)  # noqa: S311 - the same each time
    tried = 0
    for _ in range(400):
        first, second = varying(chance.randint(1, 6)), varying(chance.randint(1, 6))
        pool: list[tuple[Size, Callable[[int, int], int]]] = [
            (first, lambda a, b: a),  # noqa: ARG005 - one of two
            (second, lambda a, b: b),  # noqa: ARG005 - likewise
            (sizes.constant(number := chance.randint(-4, 9)), lambda a, b, number=number: number),  # type: ignore[misc] # noqa: ARG005 - none
        ]
        for _ in range(5):
            (x, fx), (y, fy) = chance.choice(pool), chance.choice(pool)
            name = chance.choice(["plus", "minus", "times", "over", "larger", "smaller"])
            found = getattr(sizes, name)(x, y)
            if found is None:
                continue
            exact = {
                "plus": lambda a, b: a + b,
                "minus": lambda a, b: a - b,
                "times": lambda a, b: a * b,
                "over": lambda a, b: a // b,
                "larger": max,
                "smaller": min,
            }[name]
            pool.append((found, lambda a, b, exact=exact, fx=fx, fy=fy: exact(fx(a, b), fy(a, b))))  # type: ignore[misc]
        for size, value in pool:
            for a in range(1, first.most + 1):
                for b in range(1, second.most + 1):
                    assert size.least <= value(a, b) <= size.most
                    tried += 1
    assert tried > 10_000


def test_nothing_beside_one_is_nothing() -> None:
    """An array without rows beside one of a single row has none, so it is no size to divide by."""
    empty, single = sizes.unknown(0, 5), varying(3)
    joined = operators._joined(empty, single)
    assert (joined.least, joined.most) == (0, 5)
    assert sizes.over(sizes.constant(12), joined) is None


def test_the_window_of_a_transformer_is_that_of_its_configuration(tmp_path: Path) -> None:
    """It is limited, and a network is checked for windows as wide as that."""
    pytest.importorskip("tokenizers")
    for window, said in ((1 << 14, "at most 8,192 are expected"), (-5, "number of a subword"), ("x", "number of a")):
        home = shutil.copytree(ACCURATE, tmp_path / str(window))
        table = json.loads((home / "config.json").read_text(encoding="utf-8"))
        table["tokens"]["window"] = window
        seal(home, table)
        with pytest.raises(ModelError, match=rf"config\.json: is damaged: .*{said}"):
            ropewalk.load(home)


# What a run makes is what was found before.


def compare_shapes(file: Path, given: InputSizes, inputs: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a network with all its arrays as outputs, and compare each with what was known of it."""
    import onnxruntime

    model = onnx.load(file)
    known: dict[bytes, operators.Known] = {}

    def spy(one: Any, arrays: Sequence[operators.Known | None]) -> Any:  # noqa: ANN401 - what `evaluate` takes and returns
        found = operators.evaluate(one, arrays)
        known.update(zip(one.outputs, found[0], strict=False))
        return found

    monkeypatch.setattr(limits, "evaluate", spy)
    demand_limits(read_network(file.read_bytes()), given, file.stat().st_size)
    del model.graph.output[:]
    model.graph.output.extend(onnx.ValueInfoProto(name=name.decode()) for name in known)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_outputs()]
    given_inputs = {one.name: inputs[one.name] for one in session.get_inputs()}
    assert names
    for name, array in zip(names, session.run(names, given_inputs), strict=True):
        found = known[name.encode()]
        assert len(found.shape) == array.ndim
        assert all(size.least <= real <= size.most for size, real in zip(found.shape, array.shape, strict=True)), name
        if found.content is not None:
            numbers = [(size, real) for size, real in zip(found.content, array.ravel().tolist(), strict=True) if size]
            assert all(size.least <= real <= size.most for size, real in numbers), name


def test_what_was_found_is_what_a_run_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    from ropewalk.models.onnx.bilstm import _sentence_sizes
    from ropewalk.models.onnx.model import _arc_sizes, _pair_sizes
    from ropewalk.models.onnx.word_types import _word_sizes
    from ropewalk.segmentation.neighbours import neighbours_of, with_neighbours
    from ropewalk.segmentation.segmenter import network_sizes

    chance = np.random.default_rng(1)

    def floats(*shape: int) -> Any:  # noqa: ANN401 - an array
        return chance.standard_normal(shape).astype(np.float32)

    def numbers(*shape: int) -> Any:  # noqa: ANN401 - an array
        return chance.integers(0, 5, shape)

    read = {"words": numbers(16), "affixes": numbers(16, 7), "shapes": numbers(16), "characters": numbers(16, 20)}
    characters = {"characters": numbers(12), "chunks": np.repeat(np.arange(4), 3), "words": numbers(4)}
    characters |= {"first": np.arange(0, 12, 3), "last": np.arange(2, 12, 3)}
    widths = Session((SOURCE / "segmenter.onnx").read_bytes(), "segmenter.onnx", 1, network_sizes(28)).input_widths()
    characters = with_neighbours(characters, neighbours_of(widths))
    pair = {"words": floats(8, 96), "above": floats(8, 96), "classes": numbers(8)}
    for file, given, inputs in (
        (SOURCE / "words.onnx", _word_sizes()[0], read | {"vectors": numbers(16)}),
        (
            OLD / "encoder.onnx",  # with an LSTM
            _sentence_sizes()[1],
            {"inputs": floats(5, 2, 8), "lengths": np.array([5, 3], "i4")},
        ),
        (SOURCE / "encoder.onnx", {"vectors": (varying(1024),)}, {"vectors": floats(16, 288).clip(-1, 1)}),
        (SOURCE / "heads.onnx", {"vectors": (varying(1024),)}, {"vectors": floats(16, 288).clip(-1, 1)}),
        (SOURCE / "pairs.onnx", _pair_sizes()[0], pair),
        (SOURCE / "arcs.onnx", _arc_sizes()[1], {"words": floats(3, 4, 96), "above": floats(3, 4, 96)}),
        (SOURCE / "segmenter.onnx", network_sizes(28)[0], characters),
    ):
        compare_shapes(file, given, inputs, monkeypatch)


def test_what_was_found_of_a_transformer_is_what_a_run_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(1)
    shape = (3, 9)
    inputs = {"ids": chance.integers(0, 5, shape), "casings": chance.integers(0, 5, shape)}
    inputs |= {"mask": np.ones(shape, dtype=np.int64), "types": np.zeros(shape, dtype=np.int64)}
    given = dict.fromkeys(inputs, (varying(4), varying(16)))
    compare_shapes(ACCURATE / "encoder.onnx", given, inputs, monkeypatch)


def test_a_file_that_is_cut_anywhere_is_refused() -> None:
    raw = (SOURCE / "pairs.onnx").read_bytes()
    ends = [begin for _, _, begin, *_ in fields(raw)]
    for stop in {*range(0, len(raw), 37), *ends} - {len(raw)}:
        with pytest.raises(ModelError, match="is no network"):
            Session(raw[:stop], "pairs.onnx", 1, SIZES)
