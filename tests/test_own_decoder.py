"""The worked example of a decoder of one's own, installed and used like one of ours."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import ropewalk
from docs_tools import install_example
from program_tools import run
from ropewalk import decoding
from ropewalk.encodings import get
from ropewalk.errors import ConfigError, MismatchError, OptionError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXT = "She walks backwards. They rest."


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install the package of the page as pip would: its module, and the metadata that name its entry point."""
    site = tmp_path_factory.mktemp("site-packages")
    install_example("docs/own-decoder.md", site)
    monkeypatch.syspath_prepend(str(site))
    decoding.known.cache_clear()
    yield site
    sys.modules.pop("attach", None)
    decoding.known.cache_clear()


def test_every_decoder_of_ours_has_a_file_and_is_known() -> None:
    assert tuple(decoding.known())[: len(decoding.OWN)] == decoding.OWN
    assert set(decoding.OWN) == {*decoding.label_decoders(), *decoding.arc_decoders()} & set(decoding.OWN)
    for name in decoding.OWN:
        assert decoding.get(name).__module__ == f"ropewalk.decoding.{name.replace('-', '_')}"


@pytest.mark.usefixtures("site")
def test_a_model_decodes_with_it() -> None:
    parser = ropewalk.load(threads=1, decoder="attach")
    document = parser(TEXT)
    arcs = ropewalk.load(threads=1, decoder="joint")(TEXT)
    heads = [[word.head.index if word.head else 0 for word in sentence] for sentence in document]
    assert heads == [[2, 0, 2, 2], [2, 0, 2]]
    assert [len(sentence) for sentence in arcs] == [len(sentence) for sentence in document]
    assert "attach" in decoding.label_decoders()
    assert "attach" not in decoding.arc_decoders()


@pytest.mark.usefixtures("site")
def test_it_is_asked_what_it_needs() -> None:
    dice = np.random.default_rng(1)
    optimal = get("optimal")
    labels = decoding.LabelTables(
        optimal, [optimal.alphabet or ()], [dice.normal(size=(3, len(optimal.alphabet or ())))]
    )
    arcs = dice.normal(size=12).astype(np.float32)
    offsets = np.array([0, 3], dtype=np.int32)
    best = decoding.decode(decoding.Problem(offsets, labels, arcs), "attach")
    assert best.heads.tolist() == decoding.decode_arcs(arcs, [0, 3]).heads.tolist()
    with pytest.raises(MismatchError, match="there are no arc scores"):
        decoding.decode(decoding.Problem(offsets, labels), "attach")
    with pytest.raises(UnknownNameError, match="attach"):
        decoding.decode_arcs(arcs, [0, 3], decoder="attach")


def test_the_program_knows_it_by_its_name(site: Path) -> None:
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    done = run("parse", "--decoder", "attach", "--text", TEXT, PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    refused = run("parse", "--decoder", "detach", "--text", TEXT, PYTHONPATH=path)
    assert refused.returncode == 2
    assert "attach" in refused.stderr


def test_what_is_no_decoder_is_refused(site: Path) -> None:
    (site / "attach.py").write_text("class Attach:\n    pass\n", encoding="utf-8")
    sys.modules.pop("attach", None)
    with pytest.raises(OptionError, match="expected a subclass of"):
        decoding.get("attach")
    with pytest.raises((ConfigError, OptionError)):
        ropewalk.load(threads=1, decoder="attach")
