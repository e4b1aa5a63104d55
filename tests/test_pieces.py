"""Static vectors out of pieces of words: how words are cut, which words have vectors, and files that hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from typer.testing import CliRunner

from building_tools import LATIN, TINY, Invented
from ropewalk import conllu
from ropewalk.autobuild.planning import BuildOptions
from ropewalk.autobuild.stages import planned
from ropewalk.cli import app_of
from ropewalk.errors import FormatError, OptionError
from ropewalk.laboratory.splits import of_files
from ropewalk.models.vocabulary import read_vectors
from ropewalk.training.examples import label_set
from ropewalk.training.pieces import PIECES, ROWS, PieceVectors, is_of_pieces
from ropewalk.training.trainable import Trainable
from ropewalk.training.vectors import write_vectors

if TYPE_CHECKING:
    from pathlib import Path

PARTS = ["", ".", "▁", "ka", "▁ka", "▁kalo", "lo", "mi", "▁Lomi", "▁nela", "o", "▁海"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / "static"
    home.mkdir()
    (home / PIECES).write_text("\n".join(PARTS), encoding="utf-8")
    np.save(home / ROWS, np.random.default_rng(1).standard_normal((len(PARTS), 4)).astype(np.float16))
    return home


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("ka", ["▁ka"]),
        ("kaka", ["▁ka", "ka"]),
        ("kalomi", ["▁kalo", "mi"]),
        ("kalok", ["▁kalo"]),  # no piece begins with the last letter
        ("loka", ["lo", "ka"]),  # no piece begins a word so
        ("ka lo", ["▁ka", "lo"]),
        ("xkax", ["ka"]),
        ("x ", []),
    ],
)
def test_words_are_cut_into_the_longest_pieces(folder: Path, word: str, pieces: list[str]) -> None:
    assert [PARTS[number] for number in PieceVectors.read(str(folder)).cut(word)] == pieces


def test_the_words_of_a_treebank_come_before_those_that_are_pieces(folder: Path) -> None:
    table = PieceVectors.read(str(folder))
    assert table.vocabulary(["Mika", "loka", "x", "LOKA"]) == ["loka", "mika", "ka", "kalo", "lomi"]
    assert table.vocabulary([]) == ["ka", "kalo", "lomi", "nela", "海"], "in all characters"


def test_a_vector_is_the_mean_of_pieces_in_the_main_directions(folder: Path) -> None:
    table = PieceVectors.read(str(folder))
    found = table.vectors(["kaka", "lo"], 3)
    assert found.std() == pytest.approx(1)
    plain = np.stack([(table.rows[4] + table.rows[3]) / 2, table.rows[6]])[:, :3]
    assert np.allclose(found, plain / plain.std(), atol=1e-6)
    with pytest.raises(OptionError, match="5 dimensions are more than the 4 of the vectors; pass a smaller number"):
        table.vectors(["ka"], 5)
    with pytest.raises(OptionError, match="use pieces of the words' script"):
        table.vectors(table.vocabulary(["x"]), 4)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (np.zeros((3, 4)), r"shape \[3, 4\]; expected a row of numbers for each of the 12 lines"),
        (np.zeros(12), r"shape \[12\]"),
        (np.zeros((12, 4), dtype=np.int8), "contains int8"),
        (np.array([None]), "vectors.npy: cannot be read"),
    ],
)
def test_rows_that_do_not_fit_are_refused(folder: Path, rows: np.ndarray, said: str) -> None:
    np.save(folder / ROWS, rows)
    with pytest.raises(FormatError, match=said):
        PieceVectors.read(str(folder))


def test_the_command_writes_vectors_that_a_model_reads(folder: Path, tmp_path: Path) -> None:
    bank = Invented(("ka mi", *LATIN[:3]), most=1).write(tmp_path / "bank.conllu", 40)
    out = tmp_path / "vectors.txt"
    given = ["vectors", str(folder), "-o", str(out), "--size", "3", "--words", str(bank)]
    done = CliRunner().invoke(app_of(["vectors"]), given, catch_exceptions=False)
    words, rows = read_vectors(str(out), 10**6)
    assert f"{len(words)} words of 3 numbers each" in done.stderr
    table = PieceVectors.read(str(folder))
    assert words == table.vocabulary(conllu.read(bank).column("form").texts())
    assert "ka mi" in words
    assert np.allclose(rows, table.vectors(words, 3), atol=1e-3)


def test_a_model_has_the_vectors_of_its_treebank(folder: Path, tmp_path: Path) -> None:
    bank = Invented(LATIN[:3]).write(tmp_path / "train.conllu", 30)
    made, data = planned(of_files({"train": bank}), BuildOptions(vectors=str(folder), changes=TINY))
    config = made.parser
    labels, rows = label_set(config, data.train)
    assert labels.vocabulary is not None
    words = labels.vocabulary.vectors
    assert {form.lower() for form in data.train.column("form").texts()} <= set(words)
    assert words[-1] == "kalo", "which is a piece"
    assert rows is not None
    assert rows.shape == (len(words), 4)
    table = Trainable.create(config, labels, rows).network.encoder.get_parameter("vectors.weight")
    assert np.array_equal(table[1:].numpy(), rows)
    assert not table[0].any(), "words that have none"


def test_words_may_have_spaces_where_the_size_is_told(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    write_vectors(path, ["10 000", "ka", "mi ka"], np.arange(6, dtype=np.float32).reshape(3, 2))
    words, rows = read_vectors(str(path), 10)
    assert words == ["10 000", "ka", "mi ka"]
    assert rows.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert read_vectors(str(path), 1)[0] == ["10 000"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no vectors"),
        ("3 2\n", "holds no vectors"),
        ("3 2\nka 1\n", "vectors.txt:2: 1 numbers follow the word; expected a word and 2 numbers"),
        ("ka 1 2\n\n", "vectors.txt:2: 0 numbers follow the word; expected a word and 2 numbers"),
        ("ka 1 2\nmi ka 1 2\n", "vectors.txt:2: 0 numbers"),
        ("ka 1 2\nmi 1 2 3\n", "vectors.txt:2: 3 numbers"),
        ("ka\n", "vectors.txt:1: 0 numbers follow the word; expected a word and numbers"),
    ],
)
def test_files_without_vectors_are_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text(text, encoding="utf-8")
    assert not is_of_pieces(str(path))
    with pytest.raises(FormatError, match=said):
        read_vectors(str(path), 10)
