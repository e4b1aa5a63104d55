"""Coverage against a definition by texts, one sentence at a time, and the command."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import program_tools
from ropewalk import Tree, Treebank, conllu
from ropewalk.encodings import get, known
from ropewalk.errors import UnknownNameError
from ropewalk.laboratory.coverage import MEASURES, coverage, coverage_table, encodings_of
from ropewalk.laboratory.splits import Corpus
from ropewalk.reporting.tables import FORMATS
from strategies import trees

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

SPECS = ("four-bit(policy=published)", "optimal(policy=published)", "optimal+head", "seven-bit(policy=published)",
         "optimal-nonprojective", "hexatags+head", "relative")  # fmt: skip
PLAIN = Tree([2, 0, 2], ["nsubj", "root", "obj"])
CROSSED = Tree([0, 4, 1, 1], ["root", "obj", "a", "b"])


def brute(train: list[Tree] | None, test: list[Tree], spec: str) -> list[float]:
    """UAS and LAS over words, then over sentences, then UM and LM, from texts and lists."""
    encoding = get(spec)

    def seen(texts: list[str]) -> tuple[set[str], str]:
        tally = Counter(texts)
        return set(tally), tally.most_common(1)[0][0]

    labels = encoding.encode(Treebank.of(test))
    texts, relations = labels.texts(), labels.relations.texts()
    if train is not None:
        own = encoding.encode(Treebank.of(train))
        for place, (known_texts, common) in enumerate([seen(own.texts()), seen(own.relations.texts())]):
            row = (texts, relations)[place]
            row[:] = [text if text in known_texts else common for text in row]
    counts = []
    for part, tree in zip(labels.offsets, test, strict=True):
        (back,) = encoding.recover(encoding.labels([texts[part]], [relations[part]])).trees
        heads = [a == b for a, b in zip(back.heads, tree.heads, strict=True)]
        both = [h and a == b for h, a, b in zip(heads, back.relations, tree.relations, strict=True)]
        counts.append((sum(heads), sum(both), len(tree)))
    words = sum(row[2] for row in counts)
    return [100 * value for value in (
        *(sum(row[k] for row in counts) / words for k in (0, 1)),
        *(sum(row[k] / row[2] for row in counts) / len(counts) for k in (0, 1)),
        *(sum(row[k] == row[2] for row in counts) / len(counts) for k in (0, 1)),
    )]  # fmt: skip


@given(st.lists(trees(), min_size=1, max_size=3), st.lists(trees(), min_size=1, max_size=3))
def test_coverage_is_what_its_definition_says(train: list[Tree], test: list[Tree]) -> None:
    corpus = Corpus("x", {"train": Treebank.of(train), "test": Treebank.of(test)})
    for row in coverage(corpus, encodings_of(SPECS), splits=["test"]):
        tied = row.kind == "empirical" and _tied(train, row.encoding)
        if not tied:  # which of two equally frequent labels is taken is not part of the definition
            found = [100 * row.scores.parts(measure).value for measure in MEASURES]
            assert found == pytest.approx(brute(train if row.kind == "empirical" else None, test, row.encoding))


def _tied(train: list[Tree], spec: str) -> bool:
    labels = get(spec).encode(Treebank.of(train))
    most = [Counter(texts).most_common(2) for texts in (labels.texts(), labels.relations.texts())]
    return any(len(two) == 2 and two[0][1] == two[1][1] for two in most)


def test_unknown_labels_and_relations_become_the_most_frequent_of_train() -> None:
    corpus = Corpus("x", {"train": Treebank.of([PLAIN, PLAIN]), "dev": Treebank.of([CROSSED])})
    (theory,) = [r for r in coverage(corpus, [get("optimal-nonprojective")], splits=["dev"]) if r.kind == "theoretical"]
    (practice,) = [r for r in coverage(corpus, [get("optimal-nonprojective")], splits=["dev"]) if r.kind == "empirical"]
    assert (theory.scores.uas, theory.scores.las, theory.unknown_labels) == (1, 1, 0)
    own = set(get("optimal-nonprojective").encode(PLAIN).texts())
    strange = sum(text not in own for text in get("optimal-nonprojective").encode(CROSSED).texts())
    assert (practice.unknown_labels, practice.unknown_relations) == (strange, 2)
    assert practice.scores.las < theory.scores.las


def test_without_train_there_is_no_empirical_coverage() -> None:
    rows = coverage(Corpus("x", {"dev": Treebank.of([PLAIN])}), [get("optimal")])
    assert [row.kind for row in rows] == ["theoretical"]


def test_a_policy_is_taken_by_encodings_that_have_it_and_name_none() -> None:
    given_specs = [
        "optimal",
        "optimal(policy=lift)",
        "brackets(planes=2)",
        "brackets(stacks=1)",
        "hexatags",
        "optimal+head",
    ]
    assert [encoding.spec for encoding in encodings_of(given_specs, policy="published")] == [
        "optimal(policy=published)",
        "optimal",
        "brackets(policy=published,planes=2)",
        "brackets(stacks=1)",
        "hexatags",
        "optimal+head",
    ]
    assert [encoding.name for encoding in encodings_of(["all"])] == list(known())
    with pytest.raises(UnknownNameError, match="unknown policy"):
        encodings_of(["optimal"], policy="nonsense")
    with pytest.raises(UnknownNameError, match="did you mean 'optimal'"):
        encodings_of(["optimall"])


@pytest.mark.parametrize("form", FORMATS)
def test_the_table_can_be_written_in_every_format(form: str) -> None:
    rows = coverage(Corpus("bank", {"train": Treebank.of([PLAIN])}), [get("optimal")])
    text = FORMATS[form](coverage_table(rows, missing=["a note"]))
    assert "bank" in text
    assert "over words" in text or "over_words" in text


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return program_tools.run(*words, COLUMNS="100")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two small treebanks, one of them without train."""
    for name, split, many in [
        ("UD_A-X", "train", [PLAIN, CROSSED]),
        ("UD_A-X", "dev", [CROSSED]),
        ("UD_B-Y", "test", [PLAIN, CROSSED]),
    ]:
        place = tmp_path / "ud" / name
        place.mkdir(parents=True, exist_ok=True)
        conllu.write(place / f"{name.lower()}-ud-{split}.conllu", Treebank.of(many))
    return tmp_path / "ud"


@pytest.mark.parametrize("command", ["stats", "coverage"])
def test_commands_take_folders_and_files_and_name_missing_splits(command: str, folder: Path, tmp_path: Path) -> None:
    done = run(command, folder, "--format", "json", "--plot", tmp_path / "picture.svg")
    assert done.returncode == 0
    names = {row["treebank"] for row in json.loads(done.stdout)["rows"]}
    assert names == {"UD_A-X", "UD_B-Y"}
    assert "UD_B-Y: no train or dev" in done.stderr
    assert (tmp_path / "picture.svg").read_text(encoding="utf-8").lstrip().startswith("<?xml")
    single = run(command, "--test", folder / "UD_B-Y" / "ud_b-y-ud-test.conllu", "-e", "optimal", "--format", "json")
    assert [row["treebank"] for row in json.loads(single.stdout)["rows"]] == ["ud_b-y"]
    assert "Traceback" not in done.stderr + single.stderr


@pytest.mark.parametrize("command", ["stats", "coverage"])
def test_wrong_usage_exits_with_2_and_failures_with_1(command: str, folder: Path, tmp_path: Path) -> None:
    assert run(command).returncode == 2
    assert run(command, folder, "--dev", "x.conllu").returncode == 2
    for words in ([tmp_path / "none"], [folder, "-e", "nonsense"], [folder, "--plot", "x.txt"]):
        done = run(command, *words)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.splitlines()[-1].startswith("ropewalk: error: ")


def test_splits_and_policies_can_be_chosen(folder: Path) -> None:
    done = run("coverage", folder, "-e", "optimal", "--split", "dev", "--policy", "lift", "--format", "json")
    rows = json.loads(done.stdout)["rows"]
    assert [(row["split"], row["coverage"], row["encoding"]) for row in rows] == [
        ("dev", "theoretical", "optimal"),
        ("dev", "empirical", "optimal"),
    ]
    assert rows[0]["um"] == 0  # lifted without a mark, a non-projective tree does not come back
