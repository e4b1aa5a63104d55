"""`ropewalk evaluate` and `ropewalk compare` as people run them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from program_tools import run
from ropewalk import conllu
from ropewalk.core.columns import Column
from ropewalk.scoring import attachment, conll18

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.treebank.treebank import Treebank

FORMATS = ("table", "json", "csv", "tsv", "markdown", "latex", "html")
BREAKDOWNS = ("relation", "distance", "length", "projectivity", "upos")


def spoilt(bank: Treebank, seed: int, share: float = 0.3) -> Treebank:
    """Hang some words on the root's word and give some another relation, keeping one tree with one root."""
    rng = np.random.default_rng(seed)
    roots = np.concatenate([np.flatnonzero(bank[s].tree.heads == 0)[:1] + 1 for s in range(len(bank))])
    heads = np.where((bank.heads > 0) & (rng.random(bank.words) < share), np.repeat(roots, bank.lengths), bank.heads)
    names = [
        "dep" if name != "root" and chance < share else name
        for name, chance in zip(bank.relations.texts(), rng.random(bank.words), strict=True)
    ]
    return bank.with_trees(heads.astype(np.int32), Column.of(names))


@pytest.fixture
def systems(tmp_path: Path, sample: Path) -> list[Path]:
    bank = conllu.read(sample)
    files = [tmp_path / f"{name}.conllu" for name in "abc"]
    for seed, file in enumerate(files):
        conllu.write(file, spoilt(bank, seed))
    return files


def rows(*words: str | Path) -> list[dict[str, Any]]:
    done = run(*words, "--format", "json")
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["rows"]
    return found


def test_the_attachment_table_has_every_score_with_and_without_subtypes(sample: Path, systems: list[Path]) -> None:
    gold, predicted = conllu.read(sample), conllu.read(systems[0])
    found = {row["score"]: row for row in rows("evaluate", sample, systems[0])}
    for subtypes, key in ((True, "las_with_subtypes"), (False, "las_without_subtypes")):
        one = attachment.score(gold, predicted, subtypes=subtypes)
        assert found["over words"]["uas"] == pytest.approx(100 * one.uas)
        assert found["over words"][key] == pytest.approx(100 * one.las)
        assert found["over sentences"][key] == pytest.approx(100 * one.las_sentences)
        assert found["whole sentences (UM, LM)"][key] == pytest.approx(100 * one.lm)
        assert found["content words, F1 (CLAS)"][key] == pytest.approx(100 * one.clas)
    assert 0 < found["over words"]["uas"] < 100


def test_punctuation_and_subtypes_are_left_out_when_asked_and_the_title_says_so(
    sample: Path, systems: list[Path]
) -> None:
    done = run("evaluate", sample, systems[0], "--no-punct", "--punct-by", "upos", "--no-subtypes")
    assert "without punctuation (tag PUNCT)" in done.stdout
    assert "with subtypes" not in done.stdout
    one = attachment.score(conllu.read(sample), conllu.read(systems[0]), punctuation=False, punctuation_by="upos")
    found = rows("evaluate", sample, systems[0], "--no-punct", "--punct-by", "upos", "--no-subtypes")
    assert found[0]["count"] == one.words.sum() < conllu.read(sample).words


def test_compare_refuses_options_of_no_punct_without_it(sample: Path, systems: list[Path]) -> None:
    done = run("compare", sample, *systems[:2], "--punct-by", "upos")
    assert done.returncode == 2
    assert "belong to --no-punct" in done.stderr


@pytest.mark.parametrize("by", [*BREAKDOWNS, "confusion"])
def test_scores_are_broken_down_and_drawn(by: str, sample: Path, systems: list[Path], tmp_path: Path) -> None:
    picture = tmp_path / "picture.svg"
    found = rows("evaluate", sample, systems[0], "--by", by, "--plot", picture)
    assert picture.read_bytes().startswith(b"<?xml")
    words = conllu.read(sample).words
    if by == "confusion":
        assert all(row["predicted"] == "dep" for row in found)
        assert 0 < sum(row["words"] for row in found) < words
    else:
        assert sum(row["words"] for row in found) == (2 * words if by == "projectivity" else words)


def test_the_conll18_table_is_printed_when_asked(sample: Path, systems: list[Path]) -> None:
    expected = conll18.evaluate(conllu.read(sample), conllu.read(systems[0]))
    found = rows("evaluate", sample, systems[0], "--conll18")
    assert [row["score"] for row in found] == list(expected)
    assert [row["f1"] for row in found] == pytest.approx([100 * one.f1 for one in expected.values()])


def test_other_tokens_are_aligned_and_it_is_said(tmp_path: Path) -> None:
    gold, system = tmp_path / "gold.conllu", tmp_path / "system.conllu"
    gold.write_text("1\tab\t_\t_\t_\t_\t0\troot\t_\t_\n2\tc\t_\t_\t_\t_\t1\tobj\t_\t_\n\n", encoding="utf-8")
    system.write_text(
        "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t1\tobj\t_\t_\n3\tc\t_\t_\t_\t_\t1\tobj\t_\t_\n\n",
        encoding="utf-8",
    )
    done = run("evaluate", gold, system, "--no-punct")
    assert done.returncode == 0
    assert "CoNLL 2018" in done.stdout
    assert f"{gold}:1 and {system}:1: sentence 1, word 1: 'ab' in the first is 'a'" in done.stderr
    assert "count punctuation" in done.stderr
    for done in (run("evaluate", gold, system, "--by", "relation"), run("compare", gold, gold, system)):
        assert (done.returncode, done.stdout) == (1, "")
        assert f"{gold}:1 and {system}:1: sentence 1, word 1" in done.stderr


def test_systems_are_compared_pair_by_pair_with_the_same_draws(sample: Path, systems: list[Path]) -> None:
    found = rows("compare", sample, *systems, "--samples", "200", "--seed", "3")
    assert len(found) == 3 * len(attachment.MEASURES)
    assert {(row["first"], row["second"]) for row in found} == {
        (systems[a].stem, systems[b].stem) for a, b in [(0, 1), (0, 2), (1, 2)]
    }
    for row in found:
        assert "first_deviation" not in row
        assert row["difference"] == pytest.approx(row["second_score"] - row["first_score"])
        assert row["low"] <= row["high"]
        assert 0 < row["bootstrap_p"] <= 1
        assert 0 < row["randomization_p"] <= 1
    assert found == rows("compare", sample, *systems, "--samples", "200", "--seed", "3")
    assert found != rows("compare", sample, *systems, "--samples", "200", "--seed", "4")
    assert "3 tests side by side" in run("compare", sample, *systems, "--samples", "10").stdout


def test_systems_are_compared_over_seeds(sample: Path, systems: list[Path], tmp_path: Path) -> None:
    gold = conllu.read(sample)
    for seed in (3, 4):
        conllu.write(tmp_path / f"seed-{seed}.conllu", spoilt(gold, seed, share=0.1))
    named = ["--system", f"A={systems[0]},{systems[1]}", "--system", f"B={tmp_path}/seed-*.conllu"]
    found = rows("compare", sample, *named, "--samples", "200")
    las = {
        name: [100 * attachment.score(gold, conllu.read(file)).las for file in files]
        for name, files in {"A": systems[:2], "B": sorted(tmp_path.glob("seed-*"))}.items()
    }
    (row,) = (row for row in found if row["score"] == "LAS over words")
    assert (row["first"], row["second"]) == ("A", "B")
    for name, key in (("A", "first"), ("B", "second")):
        assert row[f"{key}_score"] == pytest.approx(np.mean(las[name]))
        assert row[f"{key}_deviation"] == pytest.approx(np.std(las[name], ddof=1))
    again = ["--system", f"A={systems[0]}", "--system", f"A={systems[1]}", *named[2:]]
    assert rows("compare", sample, *again, "--samples", "200") == found
    shown = run("compare", sample, systems[2], *named, "--samples", "10").stdout
    assert f"{systems[2].stem}: 1 seed, A: 2 seeds, B: 2 seeds" in " ".join(shown.split())


def test_a_table_of_systems_is_ready_for_a_paper(sample: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.conllu"
    gold.write_text(sample.read_text(encoding="utf-8") * 20, encoding="utf-8")
    spoilt_file = tmp_path / "baseline" / "test.conllu"
    spoilt_file.parent.mkdir()
    conllu.write(spoilt_file, spoilt(conllu.read(gold), 1, share=0.3))
    words = ("compare", gold, spoilt_file, "--system", f"ours={gold}", "--samples", "200", "--table", "systems")
    chosen = (*words, "--columns", "system,LAS over words,LM")
    text = run(*chosen, "--format", "latex").stdout
    assert text.count("&") == 2 * 3
    assert r"ours & \textbf{100.00}\rlap{\textsuperscript{**}}" in text
    assert r"\label{tab:scores-of-systems}" in text
    caption = next(line for line in text.splitlines() if "caption" in line)
    assert caption.endswith("against test.}")
    found = rows(*words)
    assert [row["system"] for row in found] == ["test", "ours"]
    assert found[1]["las_over_words"] == 100.0  # marks are for people
    other = tmp_path / "other" / "test.conllu"
    other.parent.mkdir()
    other.write_bytes(spoilt_file.read_bytes())
    shown = rows("compare", gold, spoilt_file, other, "--samples", "10")
    assert {(row["first"], row["second"]) for row in shown} == {("baseline/test", "other/test")}
    assert run(*words, "--by", "sentence").returncode == 2
    relations = rows(*words, "--by", "relation")
    assert {"nsubj", "det"} <= set(relations[0])


@pytest.mark.parametrize("by", BREAKDOWNS)
def test_effects_are_broken_down_and_drawn(by: str, sample: Path, systems: list[Path], tmp_path: Path) -> None:
    picture = tmp_path / "picture.png"
    found = rows("compare", sample, *systems[:2], "--by", by, "--samples", "50", "--plot", picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    words = conllu.read(sample).words
    assert sum(row["words"] for row in found) == (2 * words if by == "projectivity" else words)
    lead = sum(row["words"] * row["difference"] for row in found) / 100
    scores = [attachment.score(conllu.read(sample), conllu.read(file)) for file in systems[:2]]
    expected = int(scores[1].labelled.sum() - scores[0].labelled.sum())
    assert lead == pytest.approx(expected * (2 if by == "projectivity" else 1))


def test_the_sentences_that_differ_most_are_listed(sample: Path, systems: list[Path]) -> None:
    found = rows("compare", sample, *systems[:2], "--by", "sentence", "--most", "3")
    leads = [abs(row["difference"]) for row in found]
    assert 1 <= len(found) <= 3
    assert leads == sorted(leads, reverse=True)
    gold = conllu.read(sample)
    for row in found:
        assert row["difference"] == row["second_right"] - row["first_right"]
        assert row["sent_id"] == gold[row["sentence"] - 1].id


@pytest.mark.parametrize("form", FORMATS)
def test_tables_come_in_every_format(form: str, sample: Path, systems: list[Path]) -> None:
    for done in (
        run("evaluate", sample, systems[0], "--format", form),
        run("compare", sample, *systems[:2], "--samples", "20", "--format", form),
    ):
        assert done.returncode == 0, done.stderr
        assert "LAS" in done.stdout or "las" in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", "-", "-"],
        ["evaluate", "a", "b", "--conll18", "--by", "relation"],
        ["evaluate", "a", "b", "--by", "colour"],
        ["compare", "a", "b"],
        ["compare", "a", "-", "-"],
        ["compare", "a", "b", "c", "--level", "95"],
        ["compare", "a", "b", "c", "--samples", "0"],
        ["compare", "a", "b", "--system", "c"],
        ["compare", "a", "b", "--system", "c=d,d"],
        ["compare", "a", "b", "--system", "c=none-*"],
        ["compare", "a", "b", "--system", "c=d,e", "--by", "sentence"],
    ],
)
def test_wrong_usage_exits_with_2(words: list[str]) -> None:
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--punct-by", "upos"], "belong to --no-punct"),
        (["--punct-by", "relation"], "belong to --no-punct"),
        (["--punct-list", "punct"], "belong to --no-punct"),
        (["--style", "x"], "--style belongs to --model; leave it out with PRED"),
        (["--enhance", "--from-text"], "--enhance and --from-text belong to --model; leave them out with PRED"),
        (["--graph-decoder", "exact"], "--graph-decoder belongs to --model"),
        (["--conll18", "--punct-by", "upos"], "leave out --by, --no-subtypes, --no-punct and its options"),
    ],
)
def test_options_without_what_they_belong_to_are_refused(options: list[str], problem: str, sample: Path) -> None:
    done = run("evaluate", sample, sample, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert problem in " ".join(done.stderr.split())


def test_a_picture_of_another_kind_is_refused_before_anything_is_read(sample: Path) -> None:
    done = run("evaluate", sample, "missing.conllu", "--plot", "picture.gif")
    assert (done.returncode, done.stdout) == (1, "")
    assert "picture.gif" in done.stderr
