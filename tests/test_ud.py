"""What we write is valid: held against the validator of Universal Dependencies itself."""

from __future__ import annotations

import random
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from program_tools import run_bytes
from ropewalk import conllu, deps
from ropewalk.core.columns import Column
from ropewalk.core.repair import rooted_relations
from ropewalk.formats import ud

if TYPE_CHECKING:
    from pathlib import Path

CONTENT = {"unknown-upos", "unknown-udeprel", "unknown-eudeprel", "invalid-parallel-id"}  # what is no matter of form
RAW = """\
# newdoc id = one
# sent_id = s-1
# text = She can't  go, he said.
1	She	she	PRON	_	Case=Nom|Number=Sing	4	nsubj	4:nsubj	_
2-3	can't	_	_	_	_	_	_	_	SpacesAfter=\\s\\s
2	ca	can	AUX	MD	_	4	aux	4:aux	_
3	n't	not	PART	_	_	4	advmod	4:advmod	_
4	go	go	VERB	_	_	7	ccomp	7:ccomp	SpaceAfter=No
5	,	,	PUNCT	_	_	4	punct	4:punct	_
6	he	he	PRON	_	_	7	nsubj	7:nsubj|7.1:nsubj	_
7	said	say	VERB	_	_	0	root	0:root	SpaceAfter=No
7.1	thought	think	VERB	_	_	_	_	7:conj:and	_
8	.	.	PUNCT	_	_	7	punct	7:punct	_

# newpar
# sent_id = s-2
# text = Go!
1	Go	go	VERB	_	Mood=Imp	0	root	0:root	SpaceAfter=No
2	!	!	PUNCT	_	_	1	punct	1:punct	_

"""


@cache
def validator() -> Any:  # noqa: ANN401 - it has no types
    """Give the other validator; what it finds in a file it keeps apart from itself."""
    from udtools.validator import Validator

    made: Any = Validator
    return made(lang="ud", level=2, output=None)


def theirs(file: Path) -> list[str]:
    """Give what the other validator finds at level 2."""
    state = validator().validate_files([str(file)])
    return [
        found.testid for found in state.error_tracker if "WARNING" not in str(found) and found.testid not in CONTENT
    ]


def ours(file: Path) -> list[str]:
    return [problem.kind for problem in conllu.problems(file, also=(deps.problems, ud.Checker().problems))]


def run(*words: str | Path, stdin: bytes = b"") -> bytes:
    done = run_bytes(*words, stdin=stdin, toy=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_both_are_content_with_what_is_right(tmp_path: Path, sample: Path) -> None:
    file = tmp_path / "right.conllu"
    file.write_text(RAW, encoding="utf-8")
    assert (theirs(file), ours(file)) == ([], [])
    assert (theirs(sample), ours(sample)) == ([], [])


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("4:aux", "99:x|a:b", "deps-head"),
        ("4:aux", "a:b", "deps"),
        ("s-2", "s-1", "sent-id-twice"),
        ("# sent_id = s-2\n", "", "sent-id"),
        ("# sent_id = s-2\n", "# sent_id = a b\n", "sent-id"),
        ("# text = Go!\n", "", "text"),
        ("# text = Go!\n", "# text = Go!\n# text = Go!\n", "text"),
        ("# text = Go!\n", "# text = Gone!\n", "text"),
        ("# text = Go!\n", "# text = Go! \n", "text"),
        ("# text = Go!\n", "# text = Go! Now\n", "text"),
        ("# text = Go!\n", "# text = Go !\n", "text"),
        ("SpaceAfter=No\n7.1", "_\n7.1", "space-after"),
        ("7:punct\t_", "7:punct\tSpaceAfter=No", "space-after"),
        ("4:aux\t_", "4:aux\tSpaceAfter=No", "space-after"),
        ("7:conj:and\t_", "7:conj:and\tSpaceAfter=No", "space-after"),
        ("4:punct\t_", "4:punct\tNoSpaceAfter=Yes", "space-after"),
        ("4:punct\t_", "4:punct\tSpaceAfter=Yes", "space-after"),
        ("4:punct\t_", "4:punct\tLang=en|Lang=de", "misc"),
        ("# newpar\n", "# newpar\n# newpar x\n", "comments"),
        ("Case=Nom|Number=Sing", "Number=Sing|Case=Nom", "feats"),
        ("Case=Nom|Number=Sing", "Case=Nom|Case=Acc", "feats"),
        ("Case=Nom|Number=Sing", "case=nom", "feats"),
        ("Case=Nom|Number=Sing", "Case=Nom,Acc", "feats"),
        ("\taux\t", "\tAux\t", "relation"),
        ("\taux\t", "\taux:a:b\t", "relation"),
        ("4:aux", "4:AUX", "deps-relation"),
        ("4:aux", "4:aux:_x", "deps-relation"),
        ("4:aux", "4:aux\u0338", "deps-relation"),
        ("7:conj:and", "7:conj\u0338:and", "deps-relation"),
        ("7:conj:and", "7:conj:and:x\u0338:gen:y", "deps-relation"),
        ("7:conj:and", "7:conj:And", "deps-relation"),
        ("7:conj:and", "7:conj:\u01c5", "deps-relation"),
        ("\tMD\t", "\tM D\t", "column-space"),
        ("\tcan\t", "\tc  an\t", "column-space"),
        ("\tcan\t", "\tcan \t", "column-space"),
        ("2-3\tcan't\t_", "2-3\tcan't\tcannot", "not-blank"),
        ("VERB\t_\t_\t_\t_\t7:conj", "VERB\t_\t_\t7\t_\t7:conj", "not-blank"),
        ("2-3\tcan't", "2-3\tcan 't", "column-space"),
        ("0:root\tSpaceAfter=No\n2", "2:x\tSpaceAfter=No\n2", "deps-unreached"),
        ("# newdoc id = one", "# e\u0301", "unicode"),
    ],
)  # fmt: skip
def test_both_find_it(old: str, new: str, kind: str, tmp_path: Path) -> None:
    assert old in RAW
    file = tmp_path / "wrong.conllu"
    file.write_text(RAW.replace(old, new, 1), encoding="utf-8")
    assert theirs(file)
    assert kind in ours(file)


@pytest.mark.parametrize("relation", ["conj:a\u0338nd", "conj:\u0338", "conj:x:w\u03c9_\u05d0:gen", "conj:\u02b0"])
def test_both_are_content_with_letters_and_marks_of_any_script_in_one_part(relation: str, tmp_path: Path) -> None:
    file = tmp_path / "right.conllu"
    file.write_text(RAW.replace("7:conj:and", f"7:{relation}"), encoding="utf-8")
    assert (theirs(file), ours(file)) == ([], [])


def test_graphs_are_there_for_all_or_none(tmp_path: Path) -> None:
    file = tmp_path / "some.conllu"
    bare = RAW.replace("0:root\tSpaceAfter=No\n2", "_\tSpaceAfter=No\n2").replace("1:punct", "_")
    first, second = bare.split("\n\n", 1)
    for text in (bare, f"{second.removesuffix(chr(10))}\n{first}\n\n"):
        file.write_text(text, encoding="utf-8")
        assert "edeps-only-sometimes" in theirs(file)
        assert "deps-missing" in ours(file)


def test_what_the_other_finds_in_random_files_is_found(tmp_path: Path) -> None:
    chance = random.Random(5)  # noqa: S311 - the same files each time
    file = tmp_path / "random.conllu"
    for _ in range(150):
        text = list(RAW)
        for _ in range(chance.randint(1, 2)):
            at = chance.randrange(len(text))
            text[at] = chance.choice(["", text[at] * 2, *"\t\n |:=_0a-.A,#"])
        file.write_text("".join(text), encoding="utf-8")
        assert ours(file) or not theirs(file), "".join(text)


def test_several_files_into_one_output_repeat_no_name(sample: Path, tmp_path: Path) -> None:
    text, out = tmp_path / "a.txt", tmp_path / "out.conllu"
    text.write_text("One word. Two words.\n\nMore don't come.", encoding="utf-8")
    run("parse", text, text, "-o", out)
    assert (theirs(out), ours(out)) == ([], [])
    run("parse", sample, sample, "-o", out)
    assert (theirs(out), ours(out)) == ([], [])
    names = [sentence.id for sentence in conllu.read(out)]
    assert names[: len(names) // 2] == [sentence.id for sentence in conllu.read(sample)]


def test_names_that_look_numbered_stay_apart() -> None:
    blocks = [b"# sent_id = %b\n1\tx\n\n" % name for name in (b"a", b"a-2", b"a", b"a", b"b", b"a-2")]
    found = [block.split()[3] for block in conllu.joined(blocks) if block]
    assert len(set(found)) == len(found)
    assert found[:2] == [b"a", b"a-2"]


def test_what_decode_writes_after_a_repair_has_root_at_roots(tmp_path: Path) -> None:
    labels, out = tmp_path / "labels.tsv", tmp_path / "out.conllu"
    header = "# ropewalk encoding = optimal | columns = form, label, relation\n"
    labels.write_text(f"{header}a\t<\troot\nb\t<\troot\nc\t>\tdet\n\nd\t>\tobj\ne\t>\troot\n\n", encoding="utf-8")
    done = run_bytes("decode", labels, "-o", out)
    assert done.returncode == 0
    assert b"repairs: none" not in done.stderr
    assert (theirs(out), ours(out)) == ([], [])
    bank = conllu.read(out)
    assert [name == "root" for name in bank.relations.texts()] == [head == 0 for head in bank.heads.tolist()]
    assert not list(conllu.tree_problems(bank))


def test_relations_of_words_that_were_not_repaired_stay() -> None:
    relations = Column.of(["root", "obj", "root"])
    heads = np.array([2, 0, 2])
    assert rooted_relations(heads, relations).texts() == ["dep", "root", "dep"]
    assert rooted_relations(heads, relations, among=np.array([False, False, True])).texts() == ["root", "obj", "dep"]
