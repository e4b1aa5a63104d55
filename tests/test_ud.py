"""Output is valid, according to the validator of Universal Dependencies itself."""

from __future__ import annotations

import ast
import gzip
import json
import random
import re
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from program_tools import run_bytes
from ropewalk import conllu, deps, sdp
from ropewalk.core.columns import Column
from ropewalk.core.repair import rooted_relations
from ropewalk.errors import MismatchError, OptionError
from ropewalk.formats import ud
from ropewalk.formats.explanations import EXAMPLE, EXPLANATIONS, SEMANTIC_EXAMPLE

if TYPE_CHECKING:
    from pathlib import Path

CONTENT = {  # what is no matter of form
    *("unknown-upos", "unknown-udeprel", "unknown-eudeprel", "invalid-parallel-id"),
    *("unknown-relation", "unknown-deps-relation"),
}


SPACED = EXAMPLE.replace("2-3\tcan't" + 8 * "\t_", "2-3\tcan't" + 7 * "\t_" + "\tSpacesAfter=\\s\\s")
RAW = SPACED.replace("ropes", "one").replace("can't go", "can't  go")


@cache
def validator() -> Any:  # noqa: ANN401 - it has no types
    """Return the other validator, which keeps its findings for a file separately."""
    from udtools.validator import Validator

    made: Any = Validator
    return made(lang="ud", level=2, output=None)


def theirs(file: Path) -> list[str]:
    """Return the findings of the other validator at level 2."""
    state = validator().validate_files([str(file)])
    return [
        found.testid for found in state.error_tracker if "WARNING" not in str(found) and found.testid not in CONTENT
    ]


def ours(file: Path) -> list[str]:
    return [problem.kind for problem in ud.problems(file) if problem.kind not in CONTENT]


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


def codes(text: str, folder: Path, *, level: int = 2) -> set[str]:
    """Return the codes of what is wrong with a CoNLL-U or .sdp file."""
    file = folder / ("example.sdp" if text.startswith(SEMANTIC_EXAMPLE[:4]) or "NNS" in text else "example.conllu")
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    found = sdp.problems(file) if file.suffix == ".sdp" else ud.problems(file, level=level)
    return {problem.kind for problem in found}


def constants(file: Path) -> set[str]:
    """Return the texts in a module that look like codes and are given to errors or yielded as kinds."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        values: list[ast.expr] = []
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("FormatError", "_error", "_problem")):
            values = node.args
        elif isinstance(node, ast.Yield | ast.Return) and isinstance(node.value, ast.Tuple):
            values = node.value.elts[:2]
        found |= {one.value for one in values if isinstance(one, ast.Constant) and isinstance(one.value, str)}
    return {one for one in found if re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", one)}


NOT_FOUND_BY_VALIDATE = {"unwritable-text", "semantic-dependencies", "no-path", "unwritable"}


def test_all_codes_are_explained_and_nothing_else(repository: Path) -> None:
    package = repository / "src" / "ropewalk"
    found = {kind for kind, _ in (*conllu.PROBLEMS.values(), *deps.PROBLEMS.values())} | set(conllu.TREE_KINDS.values())
    for name in ("formats/conllu.py", "formats/ud.py", "formats/sdp.py", "files.py"):
        found |= constants(package / name)
    assert found - NOT_FOUND_BY_VALIDATE == set(EXPLANATIONS) - {"top", "pred"}, "the latter are names of columns too"
    assert set(ud.CHECKS) <= set(EXPLANATIONS)
    for code, check in ud.CHECKS.items():
        assert (check.code, check.explanation) == (code, EXPLANATIONS[code])


@pytest.mark.parametrize("code", [code for code in EXPLANATIONS if code not in {"unreadable", "too-long"}])
def test_the_example_of_a_code_has_its_problem(code: str, tmp_path: Path) -> None:
    found = EXPLANATIONS[code]
    assert found.right in found.whole
    assert codes(found.whole, tmp_path) == set()
    assert code in codes(found.spoilt, tmp_path)
    assert found.meaning.endswith(".")
    assert found.remedy.endswith(".")


@pytest.mark.parametrize("code", sorted(ud.CHECKS))
def test_each_check_runs_alone_on_a_treebank(code: str) -> None:
    check = ud.CHECKS[code]
    assert list(check.run(conllu.loads(EXAMPLE))) == []
    if code == "head-range":  # the reader refuses it
        return
    problems = list(check.run(conllu.loads(check.explanation.spoilt)))
    assert {problem.kind for problem in problems} == {code}
    name = problems[0].sentence
    assert name in {"s-1", "s-2", ""}
    assert problems[0].line > 0
    with pytest.raises(MismatchError, match="what to check"):
        check.run(EXAMPLE)  # type: ignore[arg-type]


def test_checks_see_edits_and_treebanks_without_a_file() -> None:
    bank = conllu.loads(EXAMPLE)
    edited = bank.rewrite("{form:go}=g => g.upos = VERBB; g.relation = compuond")
    (problem,) = ud.CHECKS["unknown-upos"].run(edited)
    assert (problem.line, problem.word, problem.sentence) == (8, "4", "s-1")
    assert problem.message == "UPOS is 'VERBB'; expected one of the 17 universal tags: did you mean VERB?"
    (problem,) = ud.CHECKS["unknown-relation"].run(edited)
    assert problem.message.endswith("before any :: did you mean compound?")
    made = type(bank).of([bank.tree(1)], [["VERBB", "PUNCT"]])
    assert [problem.word for problem in ud.CHECKS["unknown-upos"].run(made)] == ["1"]


def test_the_lists_are_those_of_the_other_validator() -> None:
    known = validator().data
    assert set(ud.UPOS) == set(known.upos)
    assert set(ud.RELATIONS) == set(known.udeprel) - {"ref"}, "which it adds when it has read DEPS"


@pytest.mark.parametrize(
    ("old", "new", "code", "other"),
    [
        ("\tVERB\t_\t_\t7", "\tVERBB\t_\t_\t7", "unknown-upos", "unknown-upos"),
        ("\tthink\tVERB", "\tthink\tVerb", "unknown-upos", "unknown-upos"),
        ("\tccomp\t", "\tcomp\t", "unknown-relation", "unknown-udeprel"),
        ("\tccomp\t", "\tcompuond:prt\t", "unknown-relation", "unknown-udeprel"),
        ("7:ccomp", "7:comp", "unknown-deps-relation", "unknown-eudeprel"),
        ("\tccomp\t", "\tccomp:mine\t", "", ""),
        ("7:ccomp", "7:ref", "", ""),
        ("\tthink\tVERB", "\tthink\t_", "", ""),
    ],
)
def test_both_know_the_universal_tags_and_relations(old: str, new: str, code: str, other: str, tmp_path: Path) -> None:
    assert old in EXAMPLE
    text = EXAMPLE.replace(old, new, 1)
    assert codes(text, tmp_path) == ({code} if code else set())
    found = {one.testid for one in validator().validate_files([str(tmp_path / "example.conllu")]).error_tracker}
    assert found == ({other} if other else set())
    assert codes(text, tmp_path, level=1) == set()


def test_words_without_a_tag_are_reported_once(tmp_path: Path) -> None:
    text = re.sub(r"\t(VERB|PRON|PUNCT|AUX|PART)\t", "\t_\t", EXAMPLE)
    file = tmp_path / "untagged.conllu"
    file.write_text(text, encoding="utf-8")
    assert [(problem.kind, problem.line) for problem in ud.problems(file)] == [("unknown-upos", 4)]


def test_higher_levels_come_from_the_other_validator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "wrong.conllu"
    file.write_text(EXAMPLE.replace("can\tAUX", "can\tNOUN"), encoding="utf-8")
    assert list(ud.problems(file)) == []
    found = list(ud.problems(file, level=3))
    assert [(one.kind, one.line, one.word, one.sentence) for one in found] == [("udtools:rel-upos-aux", 6, "2", "s-1")]
    done = run_bytes("validate", file, "--level", "3", "--format", "json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["code"] == "udtools:rel-upos-aux"
    packed = tmp_path / "wrong.conllu.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert [one.kind for one in ud.problems(packed, level=5, language="en")][:1] == ["udtools:rel-upos-aux"]
    with pytest.raises(OptionError, match="expected one of 1, 2, 3, 4, 5"):
        list(ud.problems(file, level=6))
    with pytest.raises(OptionError, match="no rules for the language 'xx'"):
        list(ud.problems(file, level=4, language="xx"))
    with pytest.raises(OptionError, match="standard input can be read once"):
        list(ud.problems("-", level=3))
    with monkeypatch.context() as patch:
        patch.delattr("udtools.data.Data.is_known_language")
        with pytest.raises(OptionError, match=r"need udtools 0\.2\.9 or newer"):
            list(ud.problems(file, level=3))
    monkeypatch.setattr(ud, "find_spec", lambda _: None)
    with pytest.raises(OptionError, match="pip install udtools"):
        list(ud.problems(file, level=3))


def test_the_command_explains_codes_and_names_sentences(tmp_path: Path) -> None:
    file = tmp_path / "wrong.conllu"
    file.write_text(EXPLANATIONS["unknown-upos"].spoilt, encoding="utf-8")
    done = run_bytes("validate", file).stdout.decode()
    assert done == (
        f"{file}:8: word 4: UPOS is 'VERBB'; expected one of the 17 universal tags: did you mean VERB? "
        "[unknown-upos in s-1]\n"
    )
    shown = run("validate", "--explain", "unknown-upos").decode()
    assert shown.startswith("unknown-upos\nUPOS is none of the 17 universal tags.")
    assert "wrong:\n  4\tgo\tgo\tVERBB" in shown
    assert "right:\n  4\tgo\tgo\tVERB\t" in shown
    assert "(an empty line)" in run("validate", "--explain", "no-final-blank-line").decode()
    deeper = run("validate", "--explain", "udtools:leaf-punct").decode()
    assert "universaldependencies.org" in deeper
    assert "function-word nodes should be leaves" in deeper
    assert run("validate", "--explain", "leaf-punct").decode() == deeper
    assert "language" in ud.deeper_meaning("unknown-edeprel")
    assert ud.deeper_meaning("leaf-comma") == ""
    unknown = run_bytes("validate", "--explain", "unknown-upso")
    assert unknown.returncode == 2
    assert b"did you mean 'unknown-upos'?" in unknown.stderr
    assert run_bytes("validate").returncode == 2
