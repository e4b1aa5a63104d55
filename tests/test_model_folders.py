"""Models are checked whole before use: a damaged folder is one line that names the part, or says the same."""

from __future__ import annotations

import hashlib
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

import ropewalk
from fuzz_models import SOURCE, attempt, trees
from program_tools import run
from ropewalk.errors import ModelError
from ropewalk.models.onnx.pruning import output_widths, without_others
from ropewalk.models.storage import open_folder, parsed_json, seal
from ropewalk.segmentation import segmenter_files as segmentation

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A copy of the English model."""
    return shutil.copytree(SOURCE, tmp_path / "en")


def change(file: Path, how: Callable[[Any], object]) -> None:
    """Change a JSON file, and seal its folder again as if it had been exported so."""
    table = json.loads(file.read_text(encoding="utf-8"))
    how(table)
    file.write_text(json.dumps(table), encoding="utf-8")
    seal(file.parent, json.loads((file.parent / "config.json").read_text(encoding="utf-8")))


def test_random_damage_is_an_error_or_the_same_trees(tmp_path: Path) -> None:
    right = trees(SOURCE)
    found = [attempt(seed, right, tmp_path) for seed in range(60)]
    assert not list(filter(None, found))


def test_a_flipped_bit_of_the_segmenter_is_noticed(model: Path, tmp_path: Path) -> None:
    raw = (model / "segmenter.json").read_bytes()
    alone = tmp_path / "alone"
    segmentation.save(alone, segmentation.load(model))
    whole = (alone / "segmenter.json").read_bytes()
    for place in range(0, len(whole), len(whole) // 25):
        for home, before in ((model, raw), (alone, whole)):
            changed = bytearray(before)
            changed[min(place, len(before) - 1)] ^= 1
            (home / "segmenter.json").write_bytes(changed)
            if before is whole and json_equal(bytes(changed), before):
                continue  # a space became another
            with pytest.raises(ModelError, match=r"segmenter\.json"):
                segmentation.load(home)


def json_equal(one: bytes, other: bytes) -> bool:
    try:
        return bool(json.loads(one) == json.loads(other))
    except ValueError:
        return False


def test_a_segmenter_that_was_added_makes_another_model(model: Path, tmp_path: Path) -> None:
    before = open_folder(model).table["hash"]
    stored = segmentation.load(model)
    for file in ("segmenter.json", "segmenter.onnx"):
        (model / file).unlink()
    bare = seal(model, open_folder(model).table)
    assert bare != before
    segmentation.save(tmp_path / "alone", stored)
    for file in ("segmenter.json", "segmenter.onnx"):
        shutil.copy(tmp_path / "alone" / file, model / file)
    with pytest.raises(ModelError, match=r"segmenter\.json: is not the exported file"):
        ropewalk.load(model)
    segmentation.save(model, stored)  # as `train-segmenter` does
    assert open_folder(model).table["hash"] == before, "what it was before they were taken away"
    assert len(ropewalk.load(model)("It works.")) == 1


@pytest.mark.parametrize("raw", [b"[" * 100_000, b"9" * 5_000, b'{"a": ' * 100_000, b"\xff", b"", b"nul"])
def test_json_that_python_cannot_take(raw: bytes, model: Path) -> None:
    with pytest.raises(ModelError, match=r"x\.json: is damaged"):
        parsed_json(raw, "x.json")
    for name in ("config.json", "labels.json", "segmenter.json"):
        before = (model / name).read_bytes()
        (model / name).write_bytes(raw)
        done = run("parse", "-m", model, "Hello.")
        assert (done.returncode, done.stdout) == (1, "")
        assert name in done.stderr
        assert done.stderr.count("\n") == 1
        (model / name).write_bytes(before)


def test_parts_that_do_not_fit_are_named(model: Path) -> None:
    def shortened(table: dict[str, Any]) -> None:
        table["encodings"][0]["columns"][0].pop()

    for how, said in (
        (shortened, r"labels\.json: has 15 labels\.0, but the network scores 16"),
        (lambda table: table["relations"].append("more"), r"labels\.json: has \d+ relations"),
        (lambda table: table["tags"]["upos"].append("more"), r"labels\.json: has \d+ tags\.0"),
        (lambda table: table["tags"]["upos"].pop(), r"labels\.json: is damaged: .*lexicon"),
    ):
        before = (model / "labels.json").read_bytes()
        change(model / "labels.json", how)
        with pytest.raises(ModelError, match=said):
            ropewalk.load(model)
        (model / "labels.json").write_bytes(before)
        seal(model, open_folder(model).table)
    assert trees(model) == trees(SOURCE)


@pytest.mark.parametrize(
    ("file", "place", "value"),
    [
        ("labels.json", ("encodings", 0, "name"), None),
        ("labels.json", ("relations", 3), []),
        ("labels.json", ("vocabulary", "affixes"), [["1>e"]]),
        ("labels.json", ("vocabulary", "vectors"), {}),
        ("labels.json", ("lexicon", "seen", "upos", "counts"), "u1 ?"),
        ("labels.json", ("lemmas", "NOUN"), [1]),
        ("labels.json", ("combinations", "relations", 0), 7),
        ("segmenter.json", ("characters",), True),
        ("segmenter.json", ("words",), 10**30),
        ("segmenter.json", ("context",), -1),
        ("segmenter.json", ("version",), []),
        ("config.json", ("format",), []),
        ("config.json", ("version",), {}),
    ],
)
def test_what_is_of_another_kind_is_named(file: str, place: tuple[str | int, ...], value: object, model: Path) -> None:
    table = json.loads((model / file).read_text(encoding="utf-8"))
    at = table
    for step in place[:-1]:
        at = at[step]
    at[place[-1]] = value
    (model / file).write_text(json.dumps(table), encoding="utf-8")
    if file != "config.json":
        seal(model, open_folder(model).table)
    with pytest.raises(ModelError, match=rf"{file}: "):
        ropewalk.load(model)


@pytest.mark.parametrize(("one", "other"), [("arcs", "pairs"), ("heads", "words"), ("encoder", "words")])
def test_swapped_networks_are_noticed(one: str, other: str, model: Path) -> None:
    first, second = model / f"{one}.onnx", model / f"{other}.onnx"
    a, b = first.read_bytes(), second.read_bytes()
    first.write_bytes(b)
    second.write_bytes(a)
    seal(model, open_folder(model).table)
    with pytest.raises(ModelError):
        ropewalk.load(model)


def test_a_missing_network_is_named(model: Path) -> None:
    (model / "arcs.onnx").unlink()
    with pytest.raises(ModelError, match=r"arcs\.onnx: is missing"):
        ropewalk.load(model)
    seal(model, open_folder(model).table)
    with pytest.raises(ModelError, match=r"arcs\.onnx: is missing"):
        ropewalk.load(model)


@pytest.mark.parametrize("weights", [[], [1.0], [1.0] * 6, [1.0, 2.0, 3.0, 4.0, "x"], "x", [float("nan")] * 5])
def test_odd_calibration_is_noticed(weights: object, model: Path) -> None:
    def changed(table: dict[str, Any]) -> None:
        table["decoding"]["calibration"] = weights

    change(model / "config.json", changed)
    with pytest.raises(ModelError, match=r"config\.json: .*calibration"):
        ropewalk.load(model)


NAMES = ("en\n\n1\tEvil\t_\t_\t_\t_\t0\troot\t_\t_", "en\r", "en\x1b[31m", "en\u2028", "en\x00", "\ud800", "e" * 256)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_one_line_that_can_be_printed(name: str, model: Path) -> None:
    """It is part of all output, and whoever passes a model on can change it: the hash does not cover it."""
    table = json.loads((model / "config.json").read_text(encoding="utf-8"))
    (model / "config.json").write_text(json.dumps(table | {"name": name}), encoding="utf-8")
    with pytest.raises(
        ModelError, match=r"config\.json: names the model .*; expected one line of at most 255"
    ) as caught:
        ropewalk.load(model)
    assert len(str(caught.value)) < 400
    assert str(caught.value).isprintable()
    done = run("parse", "-m", model, "She walks.")
    assert (done.returncode, done.stdout) == (1, "")


def test_the_name_of_a_folder_is_checked_where_the_model_has_none(model: Path, tmp_path: Path) -> None:
    table = json.loads((model / "config.json").read_text(encoding="utf-8"))
    (model / "config.json").write_text(json.dumps(table | {"name": ""}), encoding="utf-8")
    assert ropewalk.load(model).name.startswith("en ")
    odd = model.rename(tmp_path / "a\n1\tEvil")
    with pytest.raises(ModelError, match="names the model"):
        ropewalk.load(odd)


@pytest.mark.parametrize("name", ["a" * 5_000, "a/" * 2_500, "./" + "b" * 300])
def test_a_name_that_no_file_can_have_is_an_error_of_one_short_line(name: str) -> None:
    with pytest.raises(ModelError, match=r"cannot be searched for .*pass the name of a model, or a folder"):
        ropewalk.load(name)
    done = run("parse", "-m", name, "She walks.")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert len(done.stderr) < 600


def of_multiwords(part: str, token: str, words: object) -> Callable[[dict[str, Any]], None]:
    return lambda table: table["multiwords"][part].update({token: words})


def of_segmenter(key: str, value: object) -> Callable[[dict[str, Any]], None]:
    return lambda table: table.update({key: value})


def with_more(key: str, text: str) -> Callable[[dict[str, Any]], None]:
    return lambda table: table.update({key: table[key] + text})


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (of_multiwords("table", "don't", [1, 2]), "a list of words is expected"),
        (of_multiwords("table", "don't", []), "a list of words is expected"),
        (of_multiwords("table", "don't", "do"), "a list of words is expected"),
        (of_multiwords("table", "don't", ["do", ""]), "a list of words is expected"),
        (of_multiwords("endings", "n't", [-3, "", "x"]), "a number and texts are expected"),
        (of_multiwords("endings", "n't", [3, None, "x"]), "a number and texts are expected"),
        (of_multiwords("endings", "n't", [3, "", 7]), "a list of words is expected"),
        (of_multiwords("endings", "n't", [3]), "is damaged"),
        (of_segmenter("multiwords", {"table": {}, "endings": [], "beginnings": {}}), "is damaged"),
        (of_segmenter("context", 10**30), "from 0 to 1,024 is expected"),
        (of_segmenter("context", 1.5), "from 0 to 1,024 is expected"),
        (of_segmenter("context", value=True), "from 0 to 1,024 is expected"),
        (of_segmenter("characters", "x" * 40_000), "at most 32,736 are expected"),
        (with_more("characters", "\ud800"), "half of a character"),
        (with_more("characters", "abc"), "of another segmenter"),
        (with_more("words", " \udc00"), "half of a character"),
        (with_more("words", " " + "a" * 41), "at most 40 characters are expected"),
        (with_more("words", " more words than the network knows"), "of another segmenter"),
        (of_segmenter("pairs", [[10**30, -5]]), "the number of a word is expected"),
        (of_segmenter("pairs", [[0, -1]]), "the number of a word is expected"),
        (of_segmenter("pairs", [[0, 1]]), "of another segmenter"),
        (of_segmenter("pairs", [[0, 1, 2]]), "is damaged"),
        (of_segmenter("training", []), "a record of training is expected"),
        (of_segmenter("version", value=True), "has version True"),
    ],
)
def test_an_odd_segmenter_is_named(how: Callable[[Any], object], said: str, model: Path) -> None:
    change(model / "segmenter.json", how)
    with pytest.raises(ModelError, match=rf"segmenter\.(json|onnx): .*{said}") as caught:
        ropewalk.load(model)
    assert len(str(caught.value)) < 700


def test_a_network_that_marks_otherwise_is_no_segmenter(model: Path) -> None:
    onnx = pytest.importorskip("onnx")
    network = onnx.load(model / "segmenter.onnx")
    (output,) = network.graph.output
    node = next(one for one in network.graph.node if output.name in one.output)
    node.output[0] = "before"
    network.graph.node.append(onnx.helper.make_node("Concat", ["before"] * 3, [output.name], axis=1))
    output.type.tensor_type.shape.dim[1].dim_value = 9
    (model / "segmenter.onnx").write_bytes(network.SerializeToString())
    digest = hashlib.sha256((model / "segmenter.onnx").read_bytes()).hexdigest()
    change(model / "segmenter.json", of_segmenter("sha256", digest))
    with pytest.raises(ModelError, match=r"shape \(1, 9\); expected \(1, 3\) or \(1, 4\)"):
        ropewalk.load(model)


@pytest.mark.parametrize("far", [10**30, -(1 << 31)])
def test_distances_that_no_array_holds_are_named(far: int, model: Path) -> None:
    table = json.loads((model / "config.json").read_text(encoding="utf-8"))
    table["distances"][0] = far
    seal(model, table)
    with pytest.raises(ModelError, match=r"config\.json: is damaged: distances has"):
        ropewalk.load(model)


def test_an_output_that_a_network_lacks_is_named(model: Path) -> None:
    heads = model / "heads.onnx"
    raw = heads.read_bytes()
    heads.write_bytes(without_others(raw, [name for name in output_widths(raw) if name != "arc_words"]))
    seal(model, open_folder(model).table)
    with pytest.raises(ModelError, match=r"heads\.onnx: does not compute arc_words, which the model needs"):
        ropewalk.load(model)
