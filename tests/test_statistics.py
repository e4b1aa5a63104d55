"""Statistics of treebanks, against counts by hand and by brute force, and how treebanks are found."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk import Tree, Treebank, conllu
from ropewalk.encodings import get
from ropewalk.errors import FormatError, OptionError, UnknownNameError
from ropewalk.laboratory import splits, statistics
from ropewalk.laboratory.published import LABELS
from ropewalk.laboratory.splits import Corpus
from ropewalk.reporting.tables import FORMATS
from strategies import trees

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = Tree([2, 0, 2], ["nsubj", "root", "obj"])
CROSSED = Tree([0, 4, 1, 1], ["root", "obj", "a", "b"])  # 4 -> 2 crosses 1 -> 3


def tree_file(folder: Path, name: str, many: list[Tree]) -> Path:
    file = folder / name
    conllu.write(file, Treebank.of(many))
    return file


def stars(tree: Tree) -> int:
    return max(label.count("*") for label in get("optimal-nonprojective").encode(tree).texts())


def index(tree: Tree) -> int:
    labels = get("optimal-nonprojective").encode(tree).texts()
    return max(len(run) for label in labels for run in re.findall(r"\**", label))


@given(st.lists(trees(min_words=1), min_size=1, max_size=6))
def test_statistics_are_those_of_each_tree(many: list[Tree]) -> None:
    encodings = [get(spec) for spec in LABELS.values()]
    corpus = Corpus("x", {"train": Treebank.of(many[:1]), "dev": Treebank.of(many)})
    found = statistics.statistics(corpus, encodings, labels_in="all")
    whole = [*many[:1], *many]
    bank = Treebank.of(whole)
    assert found.trees == {"train": 1, "dev": len(many)}
    assert found.all_trees == len(whole) == sum(found.indices) == sum(found.stars) == sum(found.thickness)
    assert {k: n for k, n in enumerate(found.stars) if n} == Counter(map(stars, whole))
    assert {k: n for k, n in enumerate(found.indices) if n} == Counter(map(index, whole))
    words = sum(map(len, whole))
    written = sum(len(re.findall(r"[<>/\\]", text)) for text in get("optimal-nonprojective").encode(bank).texts())
    assert found.brackets["proper"] == pytest.approx(written / words)
    assert found.brackets["all"] == pytest.approx((2 * words - len(whole)) / words)  # each has one root, whose
    assert found.brackets["proper"] <= found.brackets["farthest"] <= found.brackets["all"]  # arc opens at node 0
    for encoding, part in zip(encodings, found.labels, strict=True):
        tally = Counter(encoding.encode(bank).texts())
        total = sum(tally.values())
        entropy = -sum(n / total * math.log2(n / total) for n in tally.values())
        assert (part.encoding, part.distinct) == (encoding.spec, len(tally))
        assert part.entropy == pytest.approx(entropy, abs=1e-12)


def test_labels_and_relations_are_those_of_train_or_of_all_splits() -> None:
    corpus = Corpus("x", {"train": Treebank.of([PLAIN]), "dev": Treebank.of([CROSSED])})
    encodings = [get("optimal-nonprojective")]
    train = statistics.statistics(corpus, encodings)
    everything = statistics.statistics(corpus, encodings, labels_in="all")
    assert (train.relations, train.lifted_relations) == (3, 3)
    assert everything.relations == 5
    assert everything.lifted_relations == 6  # obj as it is, and with the mark of a lift
    assert train.labels[0].distinct < everything.labels[0].distinct
    assert train.indices == everything.indices == (2,)
    assert "in train" in statistics.summary_table([train]).title
    assert "in all splits" in statistics.summary_table([everything]).title
    with pytest.raises(UnknownNameError, match="known: train, all"):
        statistics.statistics(corpus, encodings, labels_in="dev")


def test_without_train_labels_are_not_counted_and_the_table_says_so() -> None:
    found = statistics.statistics(Corpus("x", {"dev": Treebank.of([PLAIN])}), [get("optimal")])
    assert (found.relations, found.lifted_relations, found.labels) == (None, None, ())
    assert "x: no train or test at hand" in statistics.summary_table([found]).notes


@pytest.mark.parametrize("name", statistics.TABLES)
@pytest.mark.parametrize("form", FORMATS)
def test_every_table_can_be_written_in_every_format(name: str, form: str) -> None:
    found = statistics.statistics(
        Corpus("bank", {"train": Treebank.of([PLAIN, CROSSED])}), [get("optimal"), get("four-bit")]
    )
    assert "bank" in FORMATS[form](statistics.TABLES[name]([found]))


def test_shares_put_the_rest_together() -> None:
    assert statistics.shares((5, 2, 1, 1, 1)) == [50, 20, 10, 20]
    assert statistics.shares((4,)) == [100, 0, 0, 0]


def test_a_folder_is_one_treebank_or_holds_many(tmp_path: Path) -> None:
    one, two = tmp_path / "UD_A-X", tmp_path / "UD_B-Y"
    for folder in (one, two, tmp_path / "other"):
        folder.mkdir()
    tree_file(one, "a_x-ud-train.conllu", [PLAIN])
    tree_file(one, "a_x-ud-dev.conllu.gz", [CROSSED, PLAIN])
    tree_file(two, "b_y-ud-test.conllu", [PLAIN])
    (two / "README.md").write_text("nothing", encoding="utf-8")
    assert [source.name for source in splits.find(tmp_path)] == ["UD_A-X", "UD_B-Y"]
    (found,) = splits.find(one)
    assert (list(found.files), found.missing) == (["train", "dev"], ("test",))
    corpus = splits.read(found)
    assert {split: len(bank) for split, bank in corpus.splits.items()} == {"train": 1, "dev": 2}
    assert corpus.missing == ("test",)


def test_what_is_no_treebank_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="no such file or folder; expected a file, a folder with files such as"):
        splits.find(tmp_path / "none")
    with pytest.raises(FormatError, match="neither the folder nor any of the 0 folders in it"):
        splits.find(tmp_path)
    file = tree_file(tmp_path, "a-ud-dev.conllu", [PLAIN])
    assert splits.find(file) == [splits.SplitSource("a-ud-dev", {splits.WHOLE: file})]
    assert splits.find(file)[0].missing == ()
    tree_file(tmp_path, "b-ud-dev.conllu", [PLAIN])
    with pytest.raises(FormatError, match=r"a-ud-dev\.conllu and b-ud-dev\.conllu are both the split dev"):
        splits.find(tmp_path)


def test_files_can_be_given_one_by_one(tmp_path: Path) -> None:
    file = tree_file(tmp_path, "en_x-ud-dev.conllu", [PLAIN])
    source = splits.of_files({"train": None, "dev": file})
    assert (source.name, source.missing) == ("en_x", ("train", "test"))
    assert splits.of_files({"dev": file}, "mine").name == "mine"
    with pytest.raises(OptionError, match="pass one for at least one of train, dev and test"):
        splits.of_files({})
    with pytest.raises(UnknownNameError, match="unknown split"):
        splits.of_files({"development": file})


def test_a_file_without_sentences_or_with_no_tree_is_an_error(tmp_path: Path) -> None:
    empty = tmp_path / "x-ud-dev.conllu"
    empty.write_bytes(b"")
    with pytest.raises(FormatError, match="the file is empty"):
        splits.read(splits.of_files({"dev": empty}))
    empty.write_bytes(b"1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    with pytest.raises(FormatError, match="no head"):
        splits.read(splits.of_files({"dev": empty}))
