"""Enhanced graphs from basic trees, without a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from program_tools import run
from ropewalk import conllu, deps
from ropewalk.errors import CycleError
from ropewalk.morphology.enhancement import by_rules, copied

if TYPE_CHECKING:
    from pathlib import Path


def bank_text(*rows: str) -> str:
    """Write one sentence of rows such as `rope NOUN Number=Sing 0 root`."""
    lines = []
    for number, row in enumerate(rows, start=1):
        form, upos, feats, head, relation = row.split()
        lines.append(f"{number}\t{form}\t_\t{upos}\t_\t{feats}\t{head}\t{relation}\t_\t_\n")
    return "".join(lines) + "\n"


RULES = {
    "prepositions and conjunctions": (
        bank_text(
            "She PRON _ 2 nsubj",
            "left VERB _ 0 root",
            "because ADP _ 5 case",
            "of ADP _ 3 fixed",
            "rain NOUN Case=Gen 2 obl",
            "hail NOUN _ 5 conj",
            "and CCONJ _ 8 cc",
            "snow NOUN _ 5 conj",
        ),
        {5: "2:obl:because_of", 6: "2:obl:because_of|5:conj:and", 8: "2:obl:because_of|5:conj:and"},
    ),
    "shared and controlled subjects": (
        bank_text(
            "Ann PROPN _ 2 nsubj",
            "sat VERB _ 0 root",
            "and CCONJ _ 4 cc",
            "wanted VERB _ 2 conj",
            "Bob PROPN _ 4 obj",
            "to PART _ 7 mark",
            "sing VERB _ 4 xcomp",
        ),
        {1: "2:nsubj|4:nsubj", 4: "2:conj:and", 5: "4:obj|7:nsubj:xsubj"},
    ),
    "relative pronouns": (
        bank_text(
            "Ropes NOUN _ 0 root",
            "that PRON PronType=Rel 3 nsubj",
            "break VERB _ 1 acl:relcl",
        ),
        {1: "0:root|3:nsubj", 2: "1:ref", 3: "1:acl:relcl"},
    ),
    "two conjuncts of the root stay apart": (
        bank_text("Go VERB _ 0 root", "or CCONJ _ 3 cc", "stay VERB _ 1 conj"),
        {1: "0:root", 3: "1:conj:or"},
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_rules(name: str) -> None:
    text, wanted = RULES[name]
    found = deps.texts(by_rules(conllu.loads(text)))
    assert {word: found[word - 1] for word in wanted} == wanted


def test_cases_if_asked_for() -> None:
    bank = conllu.loads(RULES["prepositions and conjunctions"][0])
    assert deps.texts(by_rules(bank, cases=True))[4] == "2:obl:because_of:gen"


def test_copies_are_the_trees() -> None:
    bank = conllu.loads(RULES["relative pronouns"][0])
    assert deps.texts(copied(bank)) == ["0:root", "3:nsubj", "1:acl:relcl"]


def test_the_command_fills_deps_and_leaves_the_rest(tmp_path: Path) -> None:
    text = "# a comment\n" + RULES["relative pronouns"][0]
    (tmp_path / "a.conllu").write_text(text, encoding="utf-8")
    for options, make in (([], by_rules), (["--copy"], copied)):
        done = run("enhance", tmp_path / "a.conllu", *options)
        assert done.returncode == 0
        assert deps.read(conllu.loads(done.stdout)) == make(conllu.loads(text))
        assert [line.split("\t")[:8] for line in done.stdout.splitlines()] == [
            line.split("\t")[:8] for line in text.splitlines()
        ]
    assert run("enhance", tmp_path / "a.conllu", "--copy", "--cases").returncode == 2


def test_what_is_no_tree_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "a.conllu"
    circle = bank_text("Ropes NOUN _ 2 acl:relcl", "break VERB _ 1 acl:relcl")
    with pytest.raises(CycleError):
        by_rules(conllu.loads(circle))
    for text, said in (
        (circle, "heads form a cycle, 1 -> 2 -> 1"),
        (bank_text("Ropes NOUN _ 1 dep"), "heads form a cycle, 1 -> 1"),
        (bank_text("Ropes NOUN _ _ acl:relcl"), "it has no head"),
    ):
        file.write_text("# a comment\n" + text, encoding="utf-8")
        for options in ([], ["--copy"]):
            done = run("enhance", file, *options)
            assert done.returncode == 1
            assert f"{file}:2: word 1: {said}" in done.stderr


def test_the_first_relative_pronoun_below_a_clause_is_taken() -> None:
    bank = conllu.loads(
        bank_text(
            "Ropes NOUN _ 0 root",
            "whose PRON PronType=Rel 3 nmod:poss",
            "ends NOUN _ 6 nsubj",
            "which PRON PronType=Rel 5 obj",
            "fray VERB _ 3 acl:relcl",
            "break VERB _ 1 acl:relcl",
        )
    )
    assert deps.texts(by_rules(bank)) == [
        "0:root|3:nmod:poss",
        "1:ref",
        "5:obj|6:nsubj",
        "3:ref",
        "3:acl:relcl",
        "1:acl:relcl",
    ]
