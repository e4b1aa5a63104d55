"""Ropewalk as a component of spaCy, with a toy model."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import pipeline_tools
import ropewalk.pipeline
from ropewalk import Parser, conllu
from ropewalk.core.arrays import frozen_ints
from ropewalk.errors import ConfigError

spacy = pytest.importorskip("spacy", exc_type=ImportError)

from spacy import displacy  # noqa: E402 - only if there is spaCy
from spacy.tokens import Doc  # noqa: E402 - likewise

from ropewalk.integrations.spacy_component import Component, noun_chunks  # noqa: E402 - likewise

if TYPE_CHECKING:
    from pathlib import Path

    from spacy.language import Language

    from ropewalk.treebank.treebank import Treebank

TEXTS = [
    "They don't twist hemp. She, too, walks!  And I",
    "  Hello   there.\n\n Now I  ",
    "",
    " \n ",
    "One",
]


@pytest.fixture
def nlp(monkeypatch: pytest.MonkeyPatch) -> Language:
    monkeypatch.setattr(ropewalk.pipeline, "load", pipeline_tools.load)
    made: Language = spacy.blank("en")
    made.add_pipe("ropewalk")
    return made


def facts(doc: Doc) -> list[tuple[Any, ...]]:
    return [(token.text, token.head.i, token.dep_, token.pos_, token.is_sent_start) for token in doc]


def test_the_component_is_found_by_its_entry_point() -> None:
    (point,) = entry_points(group="spacy_factories", name="ropewalk")
    assert point.value == "ropewalk.integrations.spacy_factory:make"


def test_pipelines_without_the_component_load_nothing_of_it() -> None:
    code = """
import sys, spacy
spacy.blank("en").add_pipe("sentencizer")
assert "ropewalk" in spacy.registry.factories.get_all()
assert "ropewalk.integrations.spacy_factory" in sys.modules
assert "ropewalk.pipeline" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_tokens_get_heads_relations_tags_and_sentences(nlp: Language) -> None:
    doc = nlp(TEXTS[0])
    assert [sentence.text for sentence in doc.sents] == ["They don't twist hemp.", "She, too, walks!  ", "And I"]
    first = next(doc.sents)
    assert [token.text for token in first] == ["They", "do", "n't", "twist", "hemp", "."]
    assert (first.root.text, first.root.dep_) == ("They", "ROOT")
    assert {token.head.text for token in first} == {"They"}
    assert [token.dep_ for token in first][1:] == ["dep"] * 5
    assert first[5].pos_ == "PUNCT"
    assert doc.has_annotation("DEP")


@pytest.mark.parametrize("text", TEXTS)
def test_every_sentence_has_one_root_that_is_no_space(nlp: Language, text: str) -> None:
    doc = nlp(text)
    assert doc.text == text
    if not text.strip():
        return
    for sentence in doc.sents:
        (root,) = [token for token in sentence if token.head == token]
        assert not root.is_space
        assert all(token.head in sentence for token in sentence)
    for token in doc:
        if token.is_space:
            assert token.pos_ == "SPACE"
            assert not token.head.is_space


def test_many_documents_give_what_each_gives_alone(nlp: Language) -> None:
    alone = [facts(nlp(text)) for text in TEXTS * 3]
    assert [facts(doc) for doc in nlp.pipe(TEXTS * 3, batch_size=4)] == alone
    assert [facts(doc) for doc in nlp.pipe(TEXTS * 3)] == alone


def test_sentences_that_are_there_are_kept(nlp: Language) -> None:
    doc = Doc(nlp.vocab, ["One", ".", "Two", ".", "three"], sent_starts=[True, False, False, False, True])
    parsed = nlp.get_pipe("ropewalk")(doc)
    assert [sentence.text for sentence in parsed.sents] == ["One . Two .", "three"]


def test_tags_and_probabilities_come_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ropewalk.pipeline, "load", pipeline_tools.load)
    bare, sure = spacy.blank("en"), spacy.blank("en")
    bare.add_pipe("ropewalk", config={"set_pos": False})
    sure.add_pipe("ropewalk", config={"confidence": True})
    assert {token.pos_ for token in bare(TEXTS[0])} == {""}
    assert {token._.probability for token in bare(TEXTS[0])} == {None}
    assert [token._.probability for token in sure("A rope ") if not token.is_space] == [1.0, 0.5]


def test_crossing_arcs_survive() -> None:
    class Crossing:
        def parse(self, bank: Treebank) -> Treebank:
            return bank.with_trees(frozen_ints(np.array([3, 4, 0, 3])), bank.relations)

    component = Component(Parser(Crossing(), None, "toy"))
    doc = component(Doc(spacy.blank("en").vocab, ["a", "b", "c", "d"]))
    assert [token.head.i for token in doc] == [2, 3, 2, 2]
    assert len(list(doc.sents)) == 1


def test_it_is_saved_with_its_pipeline(nlp: Language, tmp_path: Path) -> None:
    nlp.to_disk(tmp_path / "saved")
    again = spacy.load(tmp_path / "saved")
    assert again.get_pipe_meta("ropewalk").factory == "ropewalk"
    assert facts(again(TEXTS[0])) == facts(nlp(TEXTS[0]))
    assert facts(spacy.blank("en").from_bytes(nlp.to_bytes())(TEXTS[0])) != facts(nlp(TEXTS[0]))
    nlp.from_bytes(nlp.to_bytes())
    assert facts(again(TEXTS[0])) == facts(nlp(TEXTS[0]))


def test_displacy_draws_what_we_give_it(nlp: Language) -> None:
    doc = Doc(
        nlp.vocab,
        ["A", "rope", "holds", "it"],
        heads=[1, 2, 2, 2],
        deps=["det", "nsubj", "ROOT", "obj"],
        pos=["DET", "NOUN", "VERB", "PRON"],
    )
    theirs = displacy.parse_deps(doc)
    block = "".join(
        f"{token.i + 1}\t{token.text}\t_\t{token.pos_}\t_\t_\t{0 if token.head == token else token.head.i + 1}"
        f"\t{token.dep_}\t_\t_\n"
        for token in doc
    )
    ours = conllu.loads(block + "\n")[0].to_displacy()
    assert ours["arcs"] == theirs["arcs"]
    assert [(word["text"], word["tag"]) for word in ours["words"]] == [
        (word["text"], word["tag"]) for word in theirs["words"]
    ]
    assert "nsubj" in displacy.render(ours, style="dep", manual=True)


def test_a_real_model_parses_a_document_as_we_do() -> None:
    made = spacy.blank("en")
    made.add_pipe("ropewalk", config={"model": "en", "confidence": True})
    texts = ["He, too, sold rope.  She did not\n", "", "Me"]
    docs = list(made.pipe(texts))
    assert [facts(doc) for doc in docs] == [facts(made(text)) for text in texts]
    for text, doc in zip(texts, docs, strict=True):
        words = [token for token in doc if not token.is_space]
        ours = ropewalk.load("en")(text).words
        assert [token.text for token in words] == [word.text for word in ours]
        assert [token.dep_.lower() for token in words] == [word.relation for word in ours]
        assert [token._.probability for token in words] == pytest.approx([word.probability for word in ours])


def test_a_component_decodes_and_repairs_as_asked() -> None:
    found = set()
    for decoder, repair in ((None, None), ("greedy", "nearest"), ("greedy", "root")):
        made = spacy.blank("en")
        made.add_pipe("ropewalk", config={"decoder": decoder, "repair": repair})
        docs = [made(pipeline_tools.salad(seed)) for seed in range(8)]
        parser = ropewalk.load("en", ropewalk.ParserOptions(decoder=decoder, repair=repair))
        ours = [parser(pipeline_tools.salad(seed)) for seed in range(8)]
        relations = [token.dep_.lower() for doc in docs for token in doc]
        assert relations == [word.relation for one in ours for word in one.words]
        found.add(tuple(token.head.i for doc in docs for token in doc))
    assert len(found) == 3


@pytest.mark.parametrize(
    ("text", "chunks"),
    [
        ("The old rope maker walked in the garden with his dog.", ["The old rope maker", "the garden", "his dog"]),
        ("John's brother lives near the harbour of the town.", ["John's brother", "the harbour", "the town"]),
        ("He is a nice man and a good teacher.", ["He", "a nice man", "a good teacher"]),
    ],
)
def test_noun_chunks_go_by_our_relations_and_find_obliques(text: str, chunks: list[str]) -> None:
    made = spacy.blank("en")
    made.add_pipe("ropewalk")
    doc = made(text)
    assert [chunk.text for chunk in doc.noun_chunks] == chunks
    assert {chunk.label_ for chunk in doc.noun_chunks} == {"NP"}
    (sentence,) = doc.sents
    assert [chunk.text for chunk in sentence.noun_chunks] == chunks


def test_noun_chunks_are_found_in_any_language_and_do_not_overlap() -> None:
    doc = Doc(
        spacy.blank("xx").vocab,
        ["in", "the", "town", "'s", "big", ",", "red", "ropes", "and", "tar", "it", "is"],
        heads=[7, 2, 7, 2, 7, 4, 7, 11, 9, 7, 11, 11],
        deps=[
            "case",
            "det",
            "nmod:poss",
            "case",
            "amod",
            "punct",
            "amod",
            "obl:loc",
            "cc",
            "conj",
            "nsubj:pass",
            "ROOT",
        ],
        pos=["ADP", "DET", "NOUN", "PART", "ADJ", "PUNCT", "ADJ", "NOUN", "CCONJ", "NOUN", "PRON", "AUX"],
    )
    doc.noun_chunks_iterator = noun_chunks  # type: ignore[attr-defined] # spaCy's types leave it out
    assert [chunk.text for chunk in doc.noun_chunks] == ["the town 's big , red ropes", "tar", "it"]


def test_a_decoder_of_graphs_is_refused(nlp: Language) -> None:
    with pytest.raises(ConfigError, match="graph_decoder is set, and documents of spaCy have no graphs; leave it out"):
        nlp.add_pipe("ropewalk", name="second", config={"graph_decoder": "arcs"})
