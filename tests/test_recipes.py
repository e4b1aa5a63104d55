"""Recipes without a network: distinguishing prose from everything else, converting products."""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from conftest import REPOSITORY
from ropewalk.models.onnx.limits import varying
from ropewalk.models.onnx.session import Session

if TYPE_CHECKING:
    from types import ModuleType


def recipe(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{name}_recipe", REPOSITORY / "recipes" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look for their module there
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def texts() -> ModuleType:
    return recipe("texts")


def test_prose_is_told_from_code_tables_names_and_other_languages(texts: ModuleType) -> None:
    for line in (
        "The lighthouse keeper had never seen so many birds.",
        "“Where is it?” she asked him again and again.",
    ):
        assert texts.is_prose(line, loose=False)
    for line in (
        "Chapter Seven",
        "THE END OF THE STORY IS NOT FAR.",
        "The call f() of the list is in error.",
        "Der Hund schläft in der Küche und hat keine Lust.",
        "3 4 17 2.5 91 12 8 and 4.",
        "See //example.org/a for the rest of it.",
        "the keeper of the lighthouse had a dog",
    ):
        assert not texts.is_prose(line, loose=False)
    assert texts.is_prose("the keeper of the lighthouse had a dog", loose=True)


def test_pages_are_read_block_by_block_and_code_is_no_prose(texts: ModuleType) -> None:
    page = (
        "<h1>Birds</h1><p>Many of the <b>birds</b>\nfly.<p>Type <code>ls</code> in it now."
        "<pre>int of the x.</pre><ul><li>One of them sings.</ul>"
    )
    found = [" ".join(one.split()) for one in texts.page(page)]
    assert [one for one in found if texts.is_prose(one, loose=False)] == [
        "Many of the birds fly.",
        "One of them sings.",
    ]


def test_long_paragraphs_are_cut_between_sentences(texts: ModuleType) -> None:
    sentence = 'He said "no." Then all of them went home again, as they did on every other day of that long year.'
    parts = list(texts.cut(" ".join([sentence] * 20)))
    assert " ".join(parts) == " ".join([sentence] * 20)
    assert len(parts) > 1
    assert max(len(part.split()) for part in parts) <= texts.LONGEST


def test_products_in_blocks_become_products_by_rows() -> None:
    """Networks of earlier exports are still read, and the converted ones compute nearly the same."""
    random = np.random.default_rng(1)
    options: dict[str, Any] = {"K": 256, "N": 64, "bits": 8, "block_size": 128, "accuracy_level": 4}
    names = ["x", "table.8", "table.scale"]
    before = helper.make_model(
        helper.make_graph(
            [
                helper.make_node("MatMulNBits", names, ["product"], domain="com.microsoft", **options),
                helper.make_node("Add", ["product", "bias"], ["y"]),
            ],
            "products",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 256])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 64])],
            [
                numpy_helper.from_array(random.integers(1, 256, (64, 2, 128)).astype(np.uint8), "table.8"),
                numpy_helper.from_array(random.uniform(0.01, 0.02, 128).astype(np.float32), "table.scale"),
                numpy_helper.from_array(random.standard_normal(64).astype(np.float32), "bias"),
            ],
        ),
        opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)],
        ir_version=10,
    )
    after = recipe("products_by_rows").converted(before)
    assert {"table.8": TensorProto.INT8, "bias": TensorProto.FLOAT}.items() <= {
        table.name: table.data_type for table in after.graph.initializer
    }.items()
    x = random.standard_normal((20, 256)).astype(np.float32)
    one, other = (
        Session(network.SerializeToString(), "products.onnx", 1, [{"x": (varying(64),)}]).run({"x": x})[0]
        for network in (before, after)
    )
    assert 0 < np.abs(one - other).max() < 0.02 * np.abs(one).max()
