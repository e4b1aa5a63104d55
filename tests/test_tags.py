"""Tags: columns become classes and columns again, rules that do not fit give way, only what is asked for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ropewalk
from ropewalk import conllu
from ropewalk.core.columns import Column
from ropewalk.core.trees import Tree
from ropewalk.errors import ConfigError
from ropewalk.models.known_lemmas import KnownLemmas
from ropewalk.models.label_sets import LabelSet
from ropewalk.models.tag_columns import OWN
from ropewalk.models.tags import MOST_WHOLE, best_tags, classes, tag_sets
from ropewalk.treebank.features import features_of, features_text
from ropewalk.treebank.treebank import Treebank
from test_export import BANK, exported_once

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ropewalk.models.tags import TagSet

words = st.text("abcNSAÄß-", min_size=1, max_size=6)
features = st.dictionaries(st.sampled_from(["Case", "Number", "abbr"]), st.sampled_from(["Nom", "Plur,Sing", "Yes"]))


def bank_of_words(rows: Sequence[tuple[str, str, str, str]]) -> Treebank:
    """Make one sentence of forms with lemmas, UPOS and FEATS."""
    forms, lemmas, upos, feats = zip(*rows, strict=True)
    tree = Tree(list(range(len(rows))), ["root"] + ["dep"] * (len(rows) - 1))
    return Treebank.of([tree], [upos]).with_columns({"form": forms, "lemma": lemmas, "feats": feats})


def labels_of(sets: Sequence[TagSet], known: KnownLemmas | None = None) -> LabelSet:
    """Make label sets that have nothing but tags."""
    return LabelSet((), (), (), tuple(sets), lemmas=known)


def certain(bank: Treebank, sets: Sequence[TagSet]) -> dict[int, np.ndarray]:
    """Score what a treebank says highest, as a model that knows everything would."""
    out = {}
    for number, (name, names) in enumerate(sets):
        out[number] = np.full((bank.words, len(names)), -9.0, dtype=np.float32)
        for word, text in enumerate(classes(bank, name).texts()):
            out[number][word, names.index(text)] = -0.1
    return out


@given(
    st.lists(
        st.tuples(words, words, st.sampled_from(["NOUN", "X"]), features.map(features_text)), min_size=1, max_size=8
    ),
    st.sampled_from(["whole", "apart"]),
)
def test_what_a_treebank_says_comes_back_from_classes(rows: list[tuple[str, str, str, str]], feats: str) -> None:
    bank = bank_of_words(rows)
    sets = tag_sets(bank, tuple(OWN), least_rules=1, feats=feats)
    found, shares = best_tags(labels_of(sets), certain(bank, sets), bank.column("form"), probabilities=True)
    apart = feats == "apart" and any(row[3] != "_" for row in rows)
    assert ("feats" in found) == (apart or feats == "whole")
    for name, column in found.items():
        assert column.texts() == bank.column(name).texts()
        assert len(shares[name]) == bank.words
    assert np.allclose(shares["lemma"], np.exp(-0.1))


@given(features)
def test_features_are_read_and_written_in_order(given: dict[str, str]) -> None:
    text = features_text(given)
    assert features_of(text) == given
    assert [part.partition("=")[0] for part in text.split("|")] == (sorted(given, key=str.lower) or ["_"])


def test_a_rule_that_does_not_fit_gives_way_to_the_next_that_does() -> None:
    rules = ("lower|-0+|-3+y", "lower|-0+|-1+", "=be")
    forms = Column.of(["Cities", "is", "at", "s"])
    scores = np.log(np.array([[0.6, 0.3, 0.1]] * 4, dtype=np.float32))
    found, shares = best_tags(labels_of([("lemma", rules)]), {0: scores}, forms, probabilities=True)
    assert found["lemma"].texts() == ["city", "i", "a", "be"]
    assert np.allclose(shares["lemma"], [0.6, 0.3, 0.3, 0.1])
    alone, _ = best_tags(labels_of([("lemma", rules[:2])]), {0: scores[:, :2]}, forms, probabilities=False)
    assert alone["lemma"].texts() == ["city", "i", "a", "s"], "a form that no rule fits is its own lemma"


def test_known_words_are_looked_up_by_their_part_of_speech() -> None:
    rows = [
        ("saw", "see", "VERB", "_"),
        ("saw", "saw", "NOUN", "_"),
        ("saw", "saw", "NOUN", "_"),
        ("saw", "sea", "NOUN", "_"),
        ("went", "go", "VERB", "_"),
    ]
    known = KnownLemmas.of(bank_of_words(rows), ["upos"])
    assert KnownLemmas.from_json(json.loads(json.dumps(known.to_json()))) == known
    earlier = {"NOUN": {"saw": ["saw"]}, "VERB": {"see": ["saw"], "go": ["went"]}}
    assert KnownLemmas.from_json(earlier).lemma("saw", "VERB", "") == "see"
    texts = [*dict.fromkeys(form for form, *_ in rows), *(lemma for _, lemma, *_ in rows), "unseen", "", "s"]
    by_table = KnownLemmas(known.lines)
    assert by_table.lemmas("NOUN")
    assert by_table.lemmas("VERB")  # tables of both are read, and nothing is searched for
    for tag in ("NOUN", "VERB", "X"):
        fresh = [KnownLemmas(known.lines).lemma(form, tag, "") for form in texts]
        assert fresh == [by_table.lemma(form, tag, "") for form in texts]
    assert KnownLemmas.from_json(earlier).lines["NOUN"] == known.lines["NOUN"], "as models had them earlier"
    sets = [("lemma", ("lower|-0+|-0+", "=go")), ("upos", ("NOUN", "VERB", "X"))]
    forms = Column.of(["saw", "saw", "saw", "went", "rope"])
    tags = np.log(np.eye(3, dtype=np.float32)[[0, 1, 2, 1, 1]] * 0.9 + 0.01)
    scores = {0: np.log(np.array([[0.8, 0.2]] * 5, dtype=np.float32)), 1: tags}
    found, shares = best_tags(labels_of(sets, known), scores, forms, probabilities=True)
    assert found["lemma"].texts() == ["saw", "see", "saw", "go", "rope"]
    assert np.allclose(shares["lemma"], [0.8, 0.8, 0.8, 0.2, 0.8]), "how likely the rule is, if it is a class"
    without, _ = best_tags(labels_of(sets, known), {0: scores[0]}, forms, probabilities=False)
    assert without["lemma"].texts() == ["saw", "saw", "saw", "went", "rope"], "no part of speech, nothing to look up"
    anywhere = KnownLemmas.of(bank_of_words(rows), [])
    assert (known.needs, anywhere.needs) == (("upos",), ())
    alone, _ = best_tags(labels_of(sets, anywhere), {0: scores[0]}, forms, probabilities=False)
    assert alone["lemma"].texts() == ["saw", "saw", "saw", "go", "rope"]


def test_a_lemma_that_depends_on_xpos_is_looked_up_by_it() -> None:
    """As that of English `her`, which is a pronoun both times."""
    bank = bank_of_words([("her", "she", "PRON", "_"), ("her", "she", "PRON", "_"), ("her", "her", "PRON", "_")])
    known = KnownLemmas.of(bank.with_columns({"xpos": ["PRP", "PRP", "PRP$"]}), ["upos", "xpos"])
    assert known.to_json() == {"PRON": "she\ther", "PRON PRP$": "her\ther"}
    assert known.needs == ("upos", "xpos")
    sets = [("lemma", ("lower|-0+|-0+",)), ("upos", ("PRON",)), ("xpos", ("PRP", "PRP$", "DT"))]
    scores = {0: np.zeros((3, 1), np.float32), 1: np.zeros((3, 1), np.float32), 2: np.eye(3, dtype=np.float32)}
    found, _ = best_tags(labels_of(sets, known), scores, Column.of(["her"] * 3), probabilities=False)
    assert found["lemma"].texts() == ["she", "her", "she"]


def test_of_rules_that_are_nearly_as_likely_one_that_makes_a_known_lemma_is_taken() -> None:
    known = KnownLemmas.of(bank_of_words([("violates", "violate", "VERB", "_")]), [])
    rules = ("lower|-0+|-3+", "lower|-0+|-3+e", "lower|-0+|-9+")
    forms = Column.of(["violating"])
    for shares, lemma in (([0.5, 0.3, 0.2], "violate"), ([0.7, 0.2, 0.1], "violat"), ([0.2, 0.3, 0.5], "violate")):
        scores = {0: np.log(np.array([shares], dtype=np.float32))}
        found, likely = best_tags(labels_of([("lemma", rules)], known), scores, forms, probabilities=True)
        assert found["lemma"].texts() == [lemma]
        assert likely["lemma"][0] == pytest.approx(shares[lemma == "violate"])


def test_addresses_are_their_own_lemmas() -> None:
    forms = ["https://a.org/ropes", "www.a.org/ropes", "#ropes", "@ropes", "a@b.org", "ropes", "5", "#", "@"]
    labels = labels_of([("lemma", ("lower|-0+|-1+",))], KnownLemmas({}))
    found, _ = best_tags(labels, {0: np.zeros((len(forms), 1), np.float32)}, Column.of(forms), probabilities=False)
    assert found["lemma"].texts() == [*forms[:5], "rope", "5", "#", "@"]


def test_rare_rules_are_no_classes_and_many_features_come_apart() -> None:
    rows = [("ropes", "rope", "X", "A=1"), ("sails", "sail", "X", "A=1|B=2"), ("was", "be", "X", "_")]
    bank = bank_of_words(rows)
    assert dict(tag_sets(bank, ["lemma"], least_rules=2, feats="auto")) == {"lemma": ("lower|-0+|-1+",)}
    assert [name for name, _ in tag_sets(bank, ["feats"], least_rules=2, feats="auto")] == ["feats"]
    many = bank_of_words([("a", "a", "X", f"A={number}") for number in range(MOST_WHOLE + 1)])
    assert [name for name, _ in tag_sets(many, ["feats"], least_rules=2, feats="auto")] == ["feats.A"]
    assert [name for name, _ in tag_sets(many, ["feats"], least_rules=2, feats="whole")] == ["feats"]


def test_only_what_is_asked_for_is_predicted(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = exported_once(tmp_path_factory, "labels") / "exported"
    given = conllu.loads(conllu.dumps(BANK.with_columns({"misc": ["Confidence=0.5000"] * BANK.words})))
    everything = ropewalk.load(folder).treebank(given)
    lemmas = ropewalk.load(folder, columns=["lemma"]).treebank(given)
    assert lemmas.column("lemma").texts() == everything.column("lemma").texts() != given.column("lemma").texts()
    lines, before = conllu.dumps(lemmas).splitlines(), conllu.dumps(given).splitlines()
    for new, old in zip(lines, before, strict=True):
        assert new.split(b"\t")[:2] + new.split(b"\t")[3:] == old.split(b"\t")[:2] + old.split(b"\t")[3:]
    trees = ropewalk.load(folder, columns=["tree"]).treebank(given)
    assert trees.heads.tolist() == everything.heads.tolist()
    assert trees.column("upos").texts() == given.column("upos").texts()
    with pytest.raises(ConfigError, match=r"'xpos', which this model does not predict.*upos, feats, lemma, tree"):
        ropewalk.load(folder, columns=["xpos"])
    told = ropewalk.load(folder, columns=["upos"]).tokens([["kamine"]]).to_json()["sentences"][0]["words"][0]
    assert (told["head"], told["relation"]) == (None, None)
    with pytest.raises(ConfigError, match="put it into a list"):
        ropewalk.load(folder, columns="upos")


def test_nothing_else_is_computed(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    from ropewalk.models.onnx.model import OnnxClassifiers

    folder = exported_once(tmp_path_factory, "labels") / "exported"
    asked: list[tuple[Sequence[str], int]] = []
    plain = OnnxClassifiers.words

    def watched(self: OnnxClassifiers, vectors: np.ndarray, outputs: Sequence[str]) -> dict[str, np.ndarray]:
        asked.append((outputs, len(vectors)))
        return plain(self, vectors, outputs)

    monkeypatch.setattr(OnnxClassifiers, "words", watched)
    feats, trees = (ropewalk.load(folder, columns=columns) for columns in (["feats"], ["tree", "lemma"]))
    asked.clear()  # what loading tried
    feats.treebank(BANK)
    (only,) = asked
    assert only[0] == ("tags.1",)
    asked.clear()
    trees.treebank(BANK)
    (all_words, rows), (rules, unknown) = asked
    assert {name for name in all_words if name.startswith("tags.")} == {"tags.0"}  # UPOS, by which lemmas are looked up
    assert "labels.0" in all_words
    assert rules == ("tags.2",)
    assert 0 < unknown < rows  # rules are for words that are not found
    sure = ropewalk.load(folder, ropewalk.ParserOptions(columns=["tree", "lemma"], tag_confidence=True))
    asked.clear()
    assert sure.treebank(BANK).column("lemma").texts() == trees.treebank(BANK).column("lemma").texts()
    assert "tags.2" in asked[0][0]  # here they are scored for all


def test_words_know_their_tags_and_how_likely_they_are(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = exported_once(tmp_path_factory, "labels") / "exported"
    parser = ropewalk.load(folder, ropewalk.ParserOptions(tag_confidence=True))
    word = parser.tokens([["kamine", "Lokasu"]])[0][1]
    value = word.tag_probability("lemma")
    assert value is not None
    assert 0 < value < 1
    assert word.tag_probability("xpos") is None
    told = parser.tokens([["kamine", "Lokasu"]]).to_json()["sentences"][0]["words"][1]
    assert told["lemma"] == word.lemma != "_"
    assert told.get("feats", {}) == dict(word.feats)
    assert told["tag_probabilities"] == {
        name: round(word.tag_probability(name) or 0, 4) for name in ("upos", "feats", "lemma")
    }
    assert ropewalk.load(folder).tokens([["kamine"]])[0][0].tag_probability("lemma") is None


@pytest.mark.treebanks
def test_features_of_treebanks_come_back_one_by_one(treebanks: Path) -> None:
    for path in sorted(treebanks.glob("*/*-dev.conllu")):
        bank = conllu.read(path)
        sets = tag_sets(bank, ["feats"], least_rules=1, feats="apart")
        if sets:
            found, _ = best_tags(labels_of(sets), certain(bank, sets), bank.column("form"), probabilities=False)
            assert found["feats"].texts() == bank.column("feats").texts()
