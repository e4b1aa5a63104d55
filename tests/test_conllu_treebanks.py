"""CoNLL-U on real treebanks: every file byte for byte, and the same words as other readers see."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ropewalk import conllu
from ropewalk.core.columns import Column
from ropewalk.treebank.treebank import Treebank
from test_conllu import same_as_oracles

pytestmark = pytest.mark.treebanks

FOLDER = os.environ.get("ROPEWALK_UD", "")
FILES = sorted(Path(FOLDER).rglob("*.conllu")) if FOLDER else []
needs_files = pytest.mark.skipif(not FOLDER, reason="ROPEWALK_UD is not set")


@needs_files
def test_the_folder_holds_treebanks() -> None:
    assert FILES


@needs_files
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_comes_out_byte_for_byte(path: Path, tmp_path: Path) -> None:
    raw = path.read_bytes()
    bank = conllu.read(path, trees="required")
    assert conllu.dumps(bank) == raw
    assert conllu.dumps(bank.with_trees(bank.heads, bank.relations)) == raw
    other = bank.with_trees(np.zeros(bank.words, dtype=np.int32), Column.of(["root"] * bank.words))
    again = conllu.loads(conllu.dumps(other))
    assert not again.heads.any()
    assert conllu.dumps(again.with_trees(bank.heads, bank.relations)) == raw
    packed = tmp_path / "a.conllu.gz"
    conllu.write(packed, conllu.stream(path, chunk_bytes=1 << 18))
    assert gzip.decompress(packed.read_bytes()) == raw
    assert conllu.dumps(Treebank.concat(conllu.stream(packed))) == raw
    assert list(conllu.problems(path)) == []


@needs_files
@pytest.mark.parametrize("path", FILES[:1], ids=lambda path: path.name)
def test_a_file_goes_through_a_gzip_pipe(path: Path) -> None:
    program = "from ropewalk import conllu; conllu.write('-', conllu.stream('-'))"
    unpack = "import gzip, shutil, sys; shutil.copyfileobj(gzip.open(sys.stdin.buffer), sys.stdout.buffer)"
    pack = "import gzip, sys; sys.stdout.buffer.write(gzip.compress(sys.stdin.buffer.read()))"
    raw = gzip.compress(path.read_bytes())
    for step in (unpack, program, pack):
        done = subprocess.run([sys.executable, "-c", step], input=raw, capture_output=True, check=True)
        raw = done.stdout
    assert gzip.decompress(raw) == path.read_bytes()


@needs_files
@pytest.mark.parametrize("path", [file for file in FILES if "test" in file.name][:3], ids=lambda path: path.name)
def test_other_readers_see_the_same_words(path: Path) -> None:
    assert same_as_oracles(path.read_bytes()) == conllu.read(path).words
