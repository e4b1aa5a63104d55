"""Random arrays end in a result or a `RopewalkError`: no crash, no endless loop, no other error.

All of it runs in processes of its own, so that a crash is a failure like any other.
"""

from __future__ import annotations

import copy
import importlib
import os
import pickle
import re
import subprocess
import sys
from inspect import getmembers, isfunction, signature
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fuzz_arrays
from conftest import REPOSITORY
from decoding_tools import decode
from ropewalk import Treebank, decoding, kernels
from ropewalk.core.arcs import Arcs
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets
from ropewalk.core.trees import Trees, projective
from ropewalk.encodings import get
from ropewalk.errors import CycleError, MismatchError

if TYPE_CHECKING:
    from pathlib import Path

ROUNDS = 12_000 if kernels.compiled() else 7_000
BOUNDSCHECK = os.environ.get("ROPEWALK_BOUNDSCHECK", "") not in {"", "0"}

ARRAYS = re.compile(
    r"\b(Arcs|ArrayLike|Column|Corpus|Graphs?|Ints|Judged|Labels|NDArray|Offsets|Parts|Problem|Scored|Trees?|Treebank)\b"
)

START = """
import faulthandler, sys
import numpy as np
from ropewalk import Graph, Tree, Treebank, conllu
from ropewalk.core import projectivity
from ropewalk.core import repair
from ropewalk.core import ropes
from ropewalk.core import trees
from ropewalk.encodings import Labels, bracketing, get
from ropewalk.errors import RopewalkError
from ropewalk.formats.text import treebank_of_tokens
from ropewalk.core.arcs import Arcs
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets
from ropewalk.core.trees import Tree, Trees

def bank(*heads):
    lines = [f"{n}\\tw\\t_\\t_\\t_\\t_\\t{head}\\tdep\\t_\\t_" for n, head in enumerate(heads, 1)]
    return conllu.loads("\\n".join([*lines, "", ""]))

def ints(*values):
    return np.array(values, dtype=np.int32)

def column(words):
    return Column(np.zeros(words, dtype=np.int32), ("_",))

circle = bank(3, 4, 1, 2)
headless = bank("_", "_", "_", "_")
for call in sys.argv[1:]:
    faulthandler.dump_traceback_later(30, exit=True)
    try:
        answer = repr(eval(call))
    except Exception as error:
        answer = f"{type(error).__name__}{'' if isinstance(error, RopewalkError) else ', no RopewalkError'} {error}"
    print(" ".join(answer.split()), flush=True)
"""

CYCLE = "CycleError word 1: heads form a cycle, 1 -> 3 -> 1"
MISSING = "MissingHeadError word 1: it has no head"
NAMED = {
    "get('optimal').encode(circle)": CYCLE,
    "get('optimal').encode(headless)": MISSING,
    "get('optimal').covers(circle)": CYCLE,
    "get('optimal-nonprojective').encode(headless)": MISSING,
    "get('optimal-nonprojective').encode(circle)": CYCLE,
    "get('seven-bit').covers(headless)": MISSING,
    "get('hexatags').encode(headless)": MISSING,
    "get('pos-offset').covers(circle)": CYCLE,
    "get('optimal+head').restores(circle)": "MismatchError what to lift: found Treebank; expected Trees",
    "get('optimal+head').restores(circle.trees())": CYCLE,
    "get('optimal+head').restores(headless.trees())": MISSING,
    "projectivity.lift(circle)": "MismatchError what to lift: found Treebank; expected Trees",
    "projectivity.lift(circle.trees())": CYCLE,
    "projectivity.lift(headless.trees())": MISSING,
    "projectivity.lower(circle)": "MismatchError what to lower: found Treebank; expected Trees",
    "projectivity.lower(Trees(ints(3, 4, 1, 2), ints(0, 4), Column(ints(0, 0, 0, 0), ('a¡b',))))": CYCLE,
    "trees.planes(circle.trees())": CYCLE,
    "trees.planes(headless.trees())": MISSING,
    "trees.planes(ints(0, 1))": "MismatchError trees: found ndarray; expected Trees",
    "trees.gap_degrees(circle.trees())": CYCLE,
    "trees.gap_degrees(Tree([0]))": "MismatchError trees: found Tree; expected Trees",
    "trees.single_rooted(circle)": "MismatchError trees: found Treebank; expected Trees",
    "trees.same_heads(ints(0), ints(0, 1), Offsets.one(1))": "MismatchError heads: 2 values found, 1 expected",
    "trees.same_heads(ints(0), ints(0), ints(0, 1))": "MismatchError offsets: found ndarray; expected Offsets",
    "Trees.of(np.array(5))": "MismatchError trees: found ndarray; expected a Tree or an iterable",
    "Trees.of([circle])": "MismatchError a tree: found Treebank; expected Tree",
    "Trees(ints(0), ints(0, 1), column(2))": "MismatchError 1 heads but 2 relations",
    "Trees(ints(0), Offsets.one(3))": "MismatchError offsets end at 3, but there are 1 values",
    "Offsets([1, 2])": "MismatchError offsets must be one row of numbers that begins with 0",
    "Offsets([0.5])": "MismatchError offsets must be integers, found",
    "Offsets.of_lengths([2, -1])": "MismatchError lengths of sentences: found -1; expected 0 or more",
    "Offsets.of_lengths([0.5])": "MismatchError lengths of sentences must be integers, found",
    "Offsets.of_lengths([1 << 30, 1 << 30])": "MismatchError values must be integers of 32 bits",
    "trees.check_heads(ints(0), ints(0, 2))": "MismatchError offsets end at 2, but there are 1 values",
    "trees.projective(Trees(ints(9, 0), ints(0, 2)))": "HeadRangeError word 1: HEAD is 9, but the sentence has 2 words",
    "Trees(ints(0, 0, 1, 2), ints(0, 1, 3))": "MismatchError offsets end at 3, but there are 4 values",
    "Trees(ints(0, 0), ints(0, 2, 1, 2))": "MismatchError offsets must be one row of numbers that begins",
    "trees.projective(Trees(ints(0, 0, 4), ints(0, 1, 3)))": "HeadRangeError sentence 2: word 2: HEAD is 4",
    "trees.gap_degrees(Trees(np.array([0.0, 1.0]), ints(0, 2)))": "MismatchError heads must be integers, found",
    "Trees(np.array([[0]]), ints(0, 1))": "MismatchError heads must be one row of integers, found an array",
    "ropes.rope_thickness(Trees(circle.heads[:2], ints(0, 2)))": "HeadRangeError word 1",
    "ropes.rope_thickness(headless.trees())": MISSING,
    "Arcs(ints(7), ints(1), ints(0, 1), ints(1))": "GraphError arc 1 of all, 7->1",
    "repair.repair(ints(0, 1), ints(0, 5))": "MismatchError offsets end at 5",
    "projectivity.lift_heads(Trees(ints(0, 0), ints(0, 2)), ints(3))": "MismatchError chosen sentences: value 1 is 3",
    "Tree([2**40, 0])": "HeadRangeError word 1: HEAD is 1099511627776, but the sentence has 2 words",
    "Tree([2**80, 0])": "HeadRangeError word 1: HEAD is 1208925819614629174706176, but the sentence has 2 words",
    "Tree([1.5, 0])": "TreeError word 1: HEAD is 1.5; expected an integer",
    "Tree([float('nan')])": "TreeError word 1: HEAD is nan; expected an integer",
    "Tree([0], [None])": "GraphError a relation is None; expected text",
    "Graph(2, [(1.5, 2)])": "GraphError the arc 1.5->2 does not join two words",
    "treebank_of_tokens([[None]])": "FormatError <tokens>: sentence 1: word 1 is None; expected text",
    "Treebank(ints(0, 3), ints(0), {'deprel': column(1)})": "MismatchError offsets end at 3, but there are 1 values",
    "Treebank(ints(0, 1), ints(0), {'deprel': column(2)})": "MismatchError 2 values for column deprel",
    "Column(ints(0, 2), ('a', 'b'))": "MismatchError numbers of a column: value 2 is 2, expected 0 to 1",
    "Labels('absolute', ints(0, 1), (ints(1),), column(1))": "MismatchError a column of labels is ndarray",
    "Labels('absolute', ints(0, 2), (column(1),), column(1))": "MismatchError 1 labels for 2 words",
    "get('brackets').decode(get('brackets(planes=2)').labels([['<*', '>/*']]))": "LabelError '<*' is not a label",
    "projectivity.lift(Trees.of(Tree([0])), ints(0, 3))": "UnknownNameError unknown pseudo-projective scheme array",
    "get('hexatags').decode(get('optimal').labels([['>^']]))": "LabelError '>^' is not a label of hexatags",
    "get('absolute').decode(get('optimal').labels([['>^']]))": "LabelError '>^' is not a label of absolute",
}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, cwd=REPOSITORY / "tests"
    )


@pytest.fixture(scope="module")
def answers() -> dict[str, str]:
    """Make every call, in another process after one that crashes or does not end."""
    calls = list(NAMED)
    found: list[str] = []
    while len(found) < len(calls):
        done = run("-c", START, *calls[len(found) :])
        found += done.stdout.splitlines()
        if done.returncode:
            found = [*found[: len(calls) - 1], f"exit code {done.returncode}: {done.stderr}"]
    return dict(zip(calls, found, strict=True))


@pytest.mark.parametrize("call", NAMED)
def test_arrays_that_crashed_raise_a_documented_error(call: str, answers: dict[str, str]) -> None:
    assert answers[call].startswith(NAMED[call])


def test_random_arrays_give_an_answer_or_a_documented_error(tmp_path: Path) -> None:
    trace = tmp_path / "round"
    done = run("fuzz_arrays.py", "--rounds", str(ROUNDS), "--trace", str(trace))
    assert done.returncode == 0, f"round {int(trace.read_text())}: {done.stdout}{done.stderr}"
    counted, *never = done.stdout.splitlines()
    assert counted.startswith(f"{ROUNDS} rounds: ")
    assert not never


def test_scores_of_arcs_in_rows_of_different_lengths_are_refused() -> None:
    scores = np.zeros((2, 16), dtype=np.float32)
    names = [get("four-bit").alphabet or ()]
    ragged: Any = [[0.0], [0.0, 1.0]]
    with pytest.raises(MismatchError, match="arc scores"):
        decode(get("four-bit"), (scores,), [0, 2], names, decoder="joint", arcs=ragged)


def test_every_function_over_trees_is_tried_with_random_arrays() -> None:
    """Of all modules that the reference documents; pictures are made of what `draw` checked."""
    tried = {name.rpartition(".")[2] for name in fuzz_arrays.TARGETS}
    pages = "".join(page.read_text(encoding="utf-8") for page in (REPOSITORY / "docs" / "reference").glob("*.rst"))
    modules = [name for name in re.findall(r"automodule:: (\S+)", pages) if "training" not in name]
    functions = [  # of several modules, some may have the same name
        (name, function)
        for module in sorted(set(modules) - {"ropewalk.drawing"})
        for name, function in getmembers(importlib.import_module(module), isfunction)
        if function.__module__.startswith(module) and not name.startswith("_")
    ]
    taking = {name for name, function in functions if ARRAYS.search(str(signature(function)).split("->")[0])}
    assert {"planes", "check_heads", "repair", "lift", "judge", "evaluate", "decode", "sentences"} <= taking
    parts = {
        "graphs_of_pairs",
        "holds",
        "joined_relations",
        "numbered",
        "rounded_probabilities",
    }  # of functions that are tried
    assert taking - tried == parts


def test_what_was_checked_cannot_be_changed_not_even_in_copies() -> None:
    trees = Trees(np.array([2, 0, 2], dtype=np.int32), np.array([0, 3], dtype=np.int32), Column.of("abc"))
    optimal = get("optimal")
    bank = Treebank.of(trees)
    labels = optimal.encode(bank)
    values = [
        labels.relations,
        labels,
        trees,
        trees.offsets,
        bank,
        bank.basic_graphs(),
        Arcs.of_trees(trees),
        decoding.scored(optimal, np.zeros((3, 12)), optimal.alphabet or ()),
    ]
    for value in [*values, *map(copy.deepcopy, values), *(pickle.loads(pickle.dumps(one)) for one in values)]:  # noqa: S301 - ours
        held = [getattr(value, name) for name in type(value).__slots__]
        found = [one.array if isinstance(one, Offsets) else one for one in held]
        arrays = [
            array for one in found for array in (one if isinstance(one, tuple) else [one]) if hasattr(array, "dtype")
        ]
        assert arrays
        for array in arrays:
            with pytest.raises(ValueError, match="WRITEABLE"):
                array.flags.writeable = True


def test_arrays_that_can_still_change_are_looked_at_each_time() -> None:
    heads, offsets = np.array([2, 0, 2], dtype=np.int32), np.array([0, 3], dtype=np.int32)
    trees, bank = Trees(heads, offsets), Treebank(Offsets(offsets), heads, {"deprel": Column.of("abc")})
    assert projective(trees).all()
    heads[1] = 3
    offsets[1] = 2
    with pytest.raises(CycleError):
        Trees(heads, [0, 3])
    with pytest.raises(MismatchError):
        Trees(heads, offsets)
    assert projective(trees).all()
    assert projective(bank.trees()).all()


@pytest.mark.skipif(not BOUNDSCHECK, reason="ROPEWALK_BOUNDSCHECK is not set: `make bounds`")
def test_kernels_with_bounds_checks_are_in_use_and_report() -> None:
    assert kernels.compiled()
    program = (
        "import numpy as np, sys; from ropewalk.kernels import trees; found = []; "
        "sys.unraisablehook = lambda report: found.append(type(report.exc_value)); "
        "trees.check(*(np.zeros(2, dtype=np.int32) for _ in range(5)), np.zeros(0, dtype=np.int32)); assert not found; "
        "trees.check(np.zeros(2, dtype=np.int32), np.array([0, 9], dtype=np.int32), "
        "*(np.zeros(1, dtype=np.int32) for _ in range(3)), np.zeros(10, dtype=np.int32)); print(found)"
    )
    assert run("-c", program).stdout == "[<class 'IndexError'>]\n"
