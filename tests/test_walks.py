"""Walks through trees, noun phrases, and triples of subject, verb and object."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

import ropewalk
from ropewalk import Sentence, Tree, Treebank, conllu, deps
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets
from ropewalk.errors import ConfigError, MismatchError, MissingHeadError
from strategies import trees


def sentence_of(*rows: str, deps_column: tuple[str, ...] = ()) -> Sentence:
    """Read a sentence from rows such as `rope NOUN 2 obj`, or `broke VERB:VerbForm=Fin 0 root`."""
    lines = []
    for number, row in enumerate(rows, start=1):
        form, tag, head, relation = row.split()
        upos, _, feats = tag.partition(":")
        graph = deps_column[number - 1] if deps_column else "_"
        lines.append(f"{number}\t{form}\t_\t{upos}\t_\t{feats or '_'}\t{head}\t{relation}\t{graph}\t_\n")
    return conllu.loads("".join(lines) + "\n")[0]


def indexes(words: tuple[ropewalk.Word, ...]) -> list[int]:
    return [word.index for word in words]


@given(trees(max_words=9, single_root=False))
def test_walks_agree_with_the_heads(tree: Tree) -> None:
    sentence = Treebank.of([tree])[0]
    heads = [0, *tree.heads.tolist()]
    above = {}
    for index in range(1, len(heads)):
        above[index] = [heads[index]]
        while above[index][-1]:
            above[index].append(heads[above[index][-1]])
        above[index].pop()
    for word in sentence:
        n = word.index
        assert indexes(word.ancestors) == above[n]
        assert indexes(word.lefts) == [one for one in range(1, n) if heads[one] == n]
        assert indexes(word.rights) == [one for one in range(n + 1, len(heads)) if heads[one] == n]
        assert indexes(word.siblings) == [m for m in range(1, len(heads)) if m != n and heads[m] == heads[n]]
        assert indexes(word.subtree) == [m for m in range(1, len(heads)) if m == n or n in above[m]]
        for other in sentence:
            path = indexes(word.path_to(other))
            assert path == indexes(other.path_to(word))[::-1]
            if {n, *above[n]} & {other.index, *above[other.index]}:
                assert (path[0], path[-1]) == (n, other.index)
                assert all(heads[a] == b or heads[b] == a for a, b in pairwise(path))
                assert len(set(path)) == len(path)
            else:
                assert path == []


def test_a_path_stays_in_its_sentence() -> None:
    bank = Treebank.of([Tree([0, 1]), Tree([0, 1])])
    with pytest.raises(MismatchError, match="different sentences"):
        bank[0][0].path_to(bank[1][0])
    with pytest.raises(MismatchError, match="found int; expected Word"):
        bank[0][0].path_to(2)  # type: ignore[arg-type]  # what is tested


def test_walks_end_where_heads_are_no_tree() -> None:
    bank = Treebank(Offsets([0, 4]), np.array([2, 1, -1, 3]), {"deprel": Column.constant("_", 4)})
    sentence = bank[0]
    assert indexes(sentence[0].ancestors) == [2, 1]
    assert indexes(sentence[0].subtree) == [1, 2]
    assert indexes(sentence[0].path_to(sentence[2])) == []
    assert sentence[2].siblings == ()
    assert sentence.noun_phrases == ()
    with pytest.raises(MissingHeadError):
        _ = sentence.triples


PHRASES = {
    "names and adjectives on both sides": (
        ("Ann PROPN 3 nsubj", "Smith PROPN 1 flat", "saw VERB 0 root", "something PRON 3 obj", "useful ADJ 4 amod"),
        ["Ann Smith", "something useful"],
    ),
    "no clauses and prepositions": (
        ("Men NOUN 0 root", "proud ADJ 1 amod", "of ADP 4 case", "ropes NOUN 2 obl", "rest VERB 1 acl:relcl"),
        ["Men", "ropes"],
    ),
    "predicates of clauses": (
        ("She PRON 2 nsubj", "says VERB 0 root", "he PRON 6 nsubj", "is AUX 6 cop", "a DET 6 det", "man NOUN 2 ccomp"),
        ["She", "he", "a man"],
    ),
    "nothing without parts of speech": (("Ropes _ 2 nsubj", "break _ 0 root"), []),
}


@pytest.mark.parametrize("name", PHRASES)
def test_noun_phrases(name: str) -> None:
    rows, wanted = PHRASES[name]
    assert [phrase.text for phrase in sentence_of(*rows).noun_phrases] == wanted


def test_a_phrase_is_a_light_value() -> None:
    document = ropewalk.load(threads=1)("She walks. The old ropes' ends don't lie there, men.")
    phrases = document.noun_phrases
    assert [str(phrase) for phrase in phrases] == ["She", "The old ropes' ends", "men"]
    assert document.text is not None
    assert [document.text[phrase.start : phrase.end] for phrase in phrases] == [str(phrase) for phrase in phrases]
    second = phrases[1]
    assert (len(second), second.head.text, [word.text for word in second][:2]) == (5, "ends", ["The", "old"])
    assert pickle.loads(pickle.dumps(second)).text == second.text  # noqa: S301 - our own
    spanish = conllu.read("examples/sample.conllu")[4]
    assert [phrase.text for phrase in spanish.noun_phrases] == ["me", "lo", "el armario"]


TRIPLES = {
    "a clause": (("Ann PROPN 2 nsubj", "sold VERB 0 root", "ropes NOUN 2 obj"), ["Ann sold ropes"]),
    "one part is missing": (("Ann PROPN 2 nsubj", "left VERB 0 root"), ["Ann left -"]),
    "nothing to say": (("Go VERB 0 root", "now ADV 1 advmod"), []),
    "a passive with its agent": (
        (
            "Ropes NOUN 3 nsubj:pass",
            "were AUX 3 aux:pass",
            "sold VERB 0 root",
            "by ADP 5 case",
            "Ann PROPN 3 obl",
            "and CCONJ 7 cc",
            "Bob PROPN 5 conj",
        ),
        ["Ann sold! Ropes", "Bob sold! Ropes"],
    ),
    "a passive without one, and one with two objects": (
        ("He PRON 3 nsubj:pass", "was AUX 3 aux:pass", "given VERB 0 root", "hemp NOUN 3 obj"),
        ["- given! hemp"],
    ),
    "obl:agent": (
        ("Seile NOUN 3 nsubj:pass", "Ann PROPN 3 obl:agent", "verkauft VERB 0 root"),
        ["Ann verkauft! Seile"],
    ),
    "conjuncts of all parts": (
        (
            "Ann PROPN 4 nsubj",
            "and CCONJ 3 cc",
            "Bob PROPN 1 conj",
            "buy VERB 0 root",
            "and CCONJ 6 cc",
            "sell VERB 4 conj",
            "hemp NOUN 4 obj",
        ),
        ["Ann buy hemp", "Bob buy hemp", "Ann sell hemp", "Bob sell hemp"],
    ),
    "an object between two verbs is of the first alone": (
        ("Ann PROPN 2 nsubj", "saw VERB 0 root", "Bob PROPN 2 obj", "and CCONJ 5 cc", "left VERB 2 conj"),
        ["Ann saw Bob", "Ann left -"],
    ),
    "a conjunct with a subject of its own": (
        ("Ann PROPN 2 nsubj", "sang VERB 0 root", "and CCONJ 5 cc", "Bob PROPN 5 nsubj", "left VERB 2 conj"),
        ["Ann sang -", "Bob left -"],
    ),
    "an active conjunct of a passive": (
        (
            "Ropes NOUN 3 nsubj:pass",
            "were AUX 3 aux:pass",
            "sold VERB:VerbForm=Part 0 root",
            "and CCONJ 5 cc",
            "broke VERB:VerbForm=Fin 3 conj",
        ),
        ["- sold! Ropes", "Ropes broke -"],
    ),
    "a passive conjunct of a passive": (
        (
            "Ropes NOUN 3 nsubj:pass",
            "were AUX 3 aux:pass",
            "bought VERB:VerbForm=Part 0 root",
            "and CCONJ 5 cc",
            "sold VERB:VerbForm=Part 3 conj",
            "by ADP 7 case",
            "Ann PROPN 3 obl",
        ),
        ["Ann bought! Ropes", "Ann sold! Ropes"],
    ),
    "control by the subject, shared by conjuncts": (
        (
            "She PRON 2 nsubj",
            "wants VERB 0 root",
            "to PART 4 mark",
            "sell VERB 2 xcomp",
            "and CCONJ 6 cc",
            "leave VERB 4 conj",
        ),
        ["She wants -", "She sell -", "She leave -"],
    ),
    "control by the object": (
        ("She PRON 2 nsubj", "made VERB 0 root", "him PRON 2 obj", "sell VERB 2 xcomp", "it PRON 4 obj"),
        ["She made him", "him sell it"],
    ),
    "relative pronouns": (
        ("Ropes NOUN 0 root", "that PRON:PronType=Rel 4 obj", "Ann PROPN 4 nsubj", "sold VERB 1 acl:relcl"),
        ["Ann sold Ropes"],
    ),
    "copulas": (("Ann PROPN 3 nsubj", "is AUX 3 cop", "here ADV 0 root"), []),
}


def shown(sentence: Sentence) -> list[str]:
    return [f"{one.subject or '-'} {one.verb}{'!' * one.passive} {one.object or '-'}" for one in sentence.triples]


@pytest.mark.parametrize("name", TRIPLES)
def test_triples(name: str) -> None:
    rows, wanted = TRIPLES[name]
    sentence = sentence_of(*rows)
    assert shown(sentence) == wanted
    assert all(word.sentence is sentence for one in sentence.triples for word in (one.subject, one.verb) if word)


def test_triples_come_from_deps_where_there_are_any() -> None:
    rows = ("Ann PROPN 2 nsubj", "wants VERB 0 root", "to PART 4 mark", "go VERB 2 xcomp")
    graph = ("2:nsubj", "0:root", "4:mark", "2:xcomp")
    assert shown(sentence_of(*rows)) == ["Ann wants -", "Ann go -"]
    assert shown(sentence_of(*rows, deps_column=graph)) == ["Ann wants -"]
    assert shown(conllu.read("examples/sample.conllu")[1]) == ["They twist hemp"], "empty nodes are no words"


def test_a_parser_adds_graphs_if_asked() -> None:
    text = "She wants to sell and buy ropes. It rains."
    plain, enhanced = (ropewalk.load(threads=1, enhance=wanted)(text) for wanted in (False, True))
    assert not any(word.heads for word in plain.words)
    assert all(word.heads for word in enhanced.words)
    assert [head.relation for head in enhanced.words[0].heads] == ["nsubj", "nsubj:xsubj"]
    assert [str(one) for one in enhanced.triples] == [str(one) for one in plain.triples]
    assert [str(one) for one in plain.triples][:3] == ["(She, wants, -)", "(She, sell, ropes)", "(She, buy, ropes)"]
    assert deps.read(conllu.loads(enhanced.to_conllu())) == enhanced.treebank.graphs
    assert enhanced.to_json()["sentences"][0]["words"][0]["heads"][0]["relation"] == "nsubj"
    assert plain.treebank.heads.tolist() == enhanced.treebank.heads.tolist()
    with pytest.raises(ConfigError, match="enhance needs trees, and columns has no tree; add tree, or leave it out"):
        ropewalk.load(threads=1, enhance=True, columns=["upos"])
