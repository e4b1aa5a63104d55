"""Rules: what they change, what they refuse, and the examples that the documentation names."""

from __future__ import annotations

import pickle
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from program_tools import run, run_bytes
from ropewalk import conllu, deps, search
from ropewalk.errors import FormatError, MismatchError, OptionError, PatternError, UnknownNameError
from ropewalk.morphology.enhancement import by_rules, copied

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk import Treebank


def sentence(*words: str, name: str = "s") -> str:
    """Write a sentence of words such as `sings/VERB/0/root/Mood=Ind`."""
    rows = [f"# sent_id = {name}"]
    for number, word in enumerate(words, 1):
        form, upos, head, relation, *feats = word.split("/")
        rows.append(
            "\t".join([str(number), form, form.lower(), upos, "_", *(feats or ["_"]), head, relation, "_", "_"])
        )
    return "\n".join(rows) + "\n\n"


def bank(*words: str) -> Treebank:
    return conllu.loads(sentence(*words), "ropes.conllu")


ROPES = ("She/PRON/2/nsubj", "twists/VERB/0/root", "strong/ADJ/4/amod", "ropes/NOUN/2/obj/Case=Acc|Number=Plur")


def lines(treebank: Treebank) -> list[list[str]]:
    return [line.split("\t") for line in conllu.dumps(treebank).decode().splitlines() if line[:1].isdigit()]


@pytest.mark.parametrize(
    ("rule", "word", "column", "text"),
    [
        ("{upos:VERB}=v => v.upos = AUX", 2, 3, "AUX"),
        ("{upos:VERB}=v => v.tag = VBZ", 2, 4, "VBZ"),
        ('{upos:VERB}=v => v.lemma = "to twist"', 2, 2, "to twist"),
        ("{upos:VERB}=v >obj {}=o => v.lemma = o.lemma", 2, 2, "ropes"),
        ('{upos:VERB}=v >obj {}=o => v.lemma = v.form + "-" + lower(o.form)', 2, 2, "twists-ropes"),
        ("{form:She}=s => s.lemma = lower(s.form)", 1, 2, "she"),
        ("{upos:NOUN}=n => n.Gender = Fem", 4, 5, "Case=Acc|Gender=Fem|Number=Plur"),
        ("{upos:NOUN}=n => n.Number = Sing", 4, 5, "Case=Acc|Number=Sing"),
        ("{upos:NOUN}=n => n.Number = _", 4, 5, "Case=Acc"),
        ("{upos:NOUN}=n => n.Case = _; n.Number = _", 4, 5, "_"),
        ("{upos:NOUN}=n >amod {}=a => a.feats = n.feats", 3, 5, "Case=Acc|Number=Plur"),
        ("{upos:NOUN}=n >amod {}=a => a.Number = n.Number; a.Degree = Pos", 3, 5, "Degree=Pos|Number=Plur"),
        ("{upos:NOUN}=n >amod {}=a => n.Number = a.Number", 4, 5, "Case=Acc"),
        ("{upos:NOUN}=n => n.misc.Gloss = cords; n.misc.Ref = 4", 4, 9, "Gloss=cords|Ref=4"),
        ("{relation:amod}=a : {$}=v => a.head = v", 3, 6, "2"),
        ("{relation:obj}=o => o.relation = obl:arg", 4, 7, "obl:arg"),
        ("{relation:obj}=o => o.deprel = obl", 4, 7, "obl"),
        ("{upos:VERB}=v >obj {}=o => add v @>obj o; add o @>dep v", 4, 8, "2:obj"),
        ('{$}=v >nsubj {}=s >obj {}=o => add v @>obj o; add s @>(o.relation + ":x") o', 4, 8, "1:obj:x|2:obj"),
        ("{$}=v => add 0 @>root v", 2, 8, "0:root"),
        ("{upos:VERB}=add => add.xpos = VBZ", 2, 4, "VBZ"),
        ("# why\n{upos:VERB}=v\n=> v.upos = AUX;\n", 2, 3, "AUX"),
        ("{} >obj {}=o #1> {}\n#0,1>nsubj {} => o.upos = X", 4, 3, "NOUN"),
    ],
)  # fmt: skip
def test_actions_change_what_they_name_and_nothing_else(rule: str, word: int, column: int, text: str) -> None:
    before = bank(*ROPES)
    after = lines(before.rewrite(rule))
    assert after[word - 1][column] == text
    for number, (old, new) in enumerate(zip(lines(before), after, strict=True), 1):
        for at, (one, other) in enumerate(zip(old, new, strict=True)):
            assert one == other or at in {5, 8, 9, column} or number != word or "head" in rule, (number, at)


def test_arcs_are_added_in_order_and_deleted_by_relation_or_all() -> None:
    graph = conllu.loads(
        sentence(*ROPES).replace("obj\t_", "obj\t1:dep|2:conj:and|2:obj").replace("root\t_", "root\t0:root")
    )
    rule = "{upos:VERB}=v >obj {}=o : {upos:PRON}=s => "
    assert lines(graph.rewrite(rule + "delete v @>obj o"))[3][8] == "1:dep|2:conj:and"
    assert lines(graph.rewrite(rule + "delete v @> o"))[3][8] == "1:dep"
    assert lines(graph.rewrite(rule + "delete v @> o; add v @>obj o"))[3][8] == "1:dep|2:obj"
    assert lines(graph.rewrite(rule + 'delete v @>"conj:and" o; delete s @>dep o'))[3][8] == "2:obj"
    assert lines(graph.rewrite(rule + "add s @>amod o"))[3][8] == "1:amod|1:dep|2:conj:and|2:obj"
    assert lines(graph.rewrite(rule + "delete v @>obj o; delete v @>conj:and o; delete s @>dep o"))[3][8] == "_"
    same = search.rewrite(graph, rule + "add v @>obj o; delete v @>nsubj o")
    assert (same.changes, same.treebank) == (0, graph)
    assert list(deps.problems(graph.rewrite(rule + "add s @>amod o"))) == []


def test_what_is_not_edited_keeps_its_bytes(sample: Path) -> None:
    raw = sample.read_bytes()
    assert conllu.dumps(conllu.read(sample).rewrite("{form:nothing}=n => n.upos = X")) == raw
    done = search.rewrite(conllu.read(sample), "{form:twist}=v => v.upos = AUX; v.misc.Checked = Yes")
    assert (done.changes, done.words) == (1, 1)
    new = conllu.dumps(done.treebank)
    line = b"4\ttwist\ttwist\tVERB\t_\t_\t0\troot\t0:root\t_\n"
    assert raw.count(line) == 1
    assert new == raw.replace(line, b"4\ttwist\ttwist\tAUX\t_\t_\t0\troot\t0:root\tChecked=Yes\n")
    assert b"8.1\ttwists" in new, "empty nodes stay"


def test_the_first_of_contradicting_matches_wins_and_others_wait() -> None:
    words = ("a/X/0/root", "b/Y/1/dep", "c/Y/1/dep")
    rule = "{upos:X}=x > {}=y => x.lemma = y.form"
    done = search.rewrite(bank(*words), rule)
    assert lines(done.treebank)[0][2] == "b"
    assert (done.changes, done.waiting) == (1, 1)
    again = search.rewrite(bank(*words), rule, passes=2)
    assert lines(again.treebank)[0][2] == "c", "the first match changes nothing in the second pass"
    agreed = search.rewrite(bank(*words), "{upos:X}=x > {}=y => x.upos = Z")
    assert (agreed.changes, agreed.waiting, agreed.words) == (2, 0, 1)


def test_a_feature_and_the_whole_column_contradict_each_other() -> None:
    words = ("a/X/0/root", "b/Y/1/dep", "c/Y/2/dep")
    done = search.rewrite(bank(*words), "{}=x > {}=y => x.Number = Sing; y.feats = Number=Plur")
    assert [row[5] for row in lines(done.treebank)] == ["Number=Sing", "Number=Plur", "_"]
    assert done.waiting == 1


def test_passes_end_even_if_a_rule_never_rests() -> None:
    done = search.rewrite(bank(*ROPES), '{upos:VERB}=v => v.lemma = v.lemma + "x"', passes=100)
    assert lines(done.treebank)[1][2] == "twists" + "x" * 100
    assert done.changes == 100
    for passes in (0, 101, 1.5):
        with pytest.raises(OptionError, match="expected 1 to 100"):
            search.rewrite(bank(*ROPES), "{}=a => a.upos = X", passes=passes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rule", "line", "kind", "problem"),
    [
        ("{upos:VERB}=v >obj {}=o => v.head = o", 3, "cycle", "2 -> 4 -> 2"),
        ("{upos:NOUN}=n => n.head = n", 5, "cycle", "4 -> 4"),
        ("{upos:NOUN}=n => n.head = 0; n.relation = root", 5, "several-roots", "2, 4 have HEAD 0"),
        ("{upos:NOUN}=n : {$}=v => n.head = 0; n.relation = root", 5, "several-roots", "expected exactly one"),
        ("{upos:NOUN}=n => n.relation = root", 5, "root-relation", "expected root only where HEAD is 0"),
        ("{$}=v => v.relation = dep", 3, "root-relation", "expected root"),
        ("{upos:NOUN}=n => n.relation = n.Gender", 5, "relation", "without a relation"),
        ('{upos:NOUN}=n => n.relation = "a|b"', 5, "unwritable-text", "'a|b' into DEPREL"),
        ("{upos:NOUN}=n => n.Number = a|b", 5, "unwritable-text", "into FEATS"),
        ("{upos:NOUN}=n => n.misc.Gloss = a|b", 5, "unwritable-text", "into MISC"),
        ("{upos:NOUN}=n => add n @>dep n", 5, "deps-self", "to itself"),
        ("{upos:NOUN}=n => add 0 @>dep n", 5, "deps-root", "0:dep"),
        ("{upos:NOUN}=n : {$}=v => add v @>root n", 5, "deps-root", "2:root"),
    ],
)  # fmt: skip
def test_edits_that_make_no_tree_are_refused_with_their_line(rule: str, line: int, kind: str, problem: str) -> None:
    before = bank(*ROPES)
    with pytest.raises(FormatError) as caught:
        before.rewrite(rule)
    error = caught.value
    assert (error.file, error.line, error.kind) == ("ropes.conllu", line, kind)
    assert problem in error.message
    assert "add a condition to the pattern, or edit this sentence by hand" in error.message
    skipped = search.rewrite(before, rule, on_refusal="skip")
    assert skipped.changes == 0
    assert conllu.dumps(skipped.treebank) == conllu.dumps(before)
    assert [one.kind for one in skipped.refused] == [kind]


def test_a_root_moves_in_one_rule() -> None:
    rule = "{$}=v >obj {}=o => o.head = 0; o.relation = root; v.head = o; v.relation = acl"
    after = bank(*ROPES).rewrite(rule)
    assert after.heads.tolist() == [2, 4, 4, 0]
    assert after.relations.texts() == ["nsubj", "acl", "amod", "root"]


def test_of_edits_that_make_a_cycle_together_the_first_is_done() -> None:
    words = ("a/A/3/dep", "b/A/3/dep", "c/B/0/root")
    done = search.rewrite(bank(*words), "{upos:A}=x $ {upos:A}=y => x.head = y", on_refusal="skip")
    assert done.treebank.heads.tolist() == [2, 3, 0]
    assert [(one.line, one.kind) for one in done.refused] == [(2, "cycle")]


def test_a_problem_that_was_there_before_stops_no_edit() -> None:
    words = ("a/A/0/root", "b/A/0/root", "c/B/2/dep")
    after = bank(*words).rewrite("{upos:B}=c : {form:a}=a => c.head = a")
    assert after.heads.tolist() == [0, 0, 1]


def test_lines_of_several_files_are_their_own() -> None:
    first, second = bank(*ROPES), conllu.loads("# a\n# b\n" + sentence(*ROPES), "other.conllu")
    joined = type(first).concat([first, second])
    done = search.rewrite(joined, "{$}=v >obj {}=o => v.head = o", on_refusal="skip")
    assert [one.line for one in done.refused] == [3, 5]


@pytest.mark.parametrize(
    ("rule", "position", "problem"),
    [
        ("{}=a => b.upos = X", 8, "names no word 'b'; it names a"),
        ("{} => b.upos = X", 6, "it names none; name a word with =name"),
        ("{}=a", 4, "expected a relation, such as >nsubj, or =>"),
        ("{}=a => ", 8, "expected an action"),
        ("{}=a => a", 9, "expected a column after a"),
        ("{}=a => a.upso = X", 10, "did you mean 'upos'?"),
        ("{}=a => a.colour = X", 10, "known: "),
        ("{}=a => a. = X", 10, "expected a column"),
        ("{}=a => a.form = X", 10, "form is the text itself"),
        ("{}=a => a.upos X", 15, "expected ="),
        ("{}=a => a.upos =", 16, "expected a value"),
        ("{}=a => a.upos = X Y", 19, "expected ; between actions"),
        ("{}=a => a.upos = b.upos", 17, "put text with a dot in quotes"),
        ("{}=a => a.upos = a.upso", 19, "did you mean 'upos'?"),
        ('{}=a => a.upos = ""', 17, "at least one character"),
        ('{}=a => a.upos = "\t"', 17, "no tab"),
        ("{}=a => a.upos = lower(a.form", 29, "expected )"),
        ("{}=a => a.head = b", 17, "names no word 'b'"),
        ("{}=a => add a dep a", 14, "expected @>"),
        ("{}=a => add a @> a", 17, "expected the relation"),
        ("{}=a => add a @>(a.form a", 24, "expected )"),
        ("{}=a => delete a", 16, "expected @>"),
    ],
)  # fmt: skip
def test_errors_point_at_the_character(rule: str, position: int, problem: str) -> None:
    with pytest.raises(PatternError) as caught:
        search.compile_rule(rule)
    assert problem in caught.value.problem
    assert caught.value.position == position


def test_rules_of_a_file_are_read_with_their_lines() -> None:
    rules = search.compile_rules("# one\n{}=a => a.upos = X\n\n\n# two\n\n{}=b\n=> b.xpos = Y\n")
    assert [rule.pattern.names for rule in rules] == [("a",), ("b",)]
    assert pickle.loads(pickle.dumps(rules[0])).actions == rules[0].actions  # noqa: S301 - our own
    assert search.compile_rule(rules[0]) is rules[0]
    with pytest.raises(PatternError, match="line 4: the pattern names no word 'b'"):
        search.compile_rules("{}=a => a.upos = X\n\n{}=a\n=> b.upos = X")
    for text in ("", "# only a comment\n"):
        with pytest.raises(PatternError, match="found no rule"):
            search.compile_rules(text)
    with pytest.raises(PatternError, match="rules are text"):
        search.compile_rules(3)  # type: ignore[arg-type]


def test_what_is_no_treebank_rule_or_policy_is_refused() -> None:
    with pytest.raises(MismatchError, match="what to rewrite"):
        search.rewrite("x", "{}=a => a.upos = X")  # type: ignore[arg-type]
    with pytest.raises(MismatchError, match="a rule"):
        search.rewrite(bank(*ROPES), [3])  # type: ignore[list-item]
    with pytest.raises(UnknownNameError, match="stop, skip"):
        search.rewrite(bank(*ROPES), "{}=a => a.upos = X", on_refusal="ask")  # type: ignore[arg-type]


@given(st.data())
def test_random_reattachments_leave_trees(data: st.DataObject) -> None:
    """After a pass every sentence is a tree with one root, and a refusal names a line."""
    words = data.draw(st.integers(2, 7))
    order = data.draw(st.permutations(range(1, words + 1)))
    heads = {order[0]: 0} | {word: order[data.draw(st.integers(0, at))] for at, word in enumerate(order[1:])}
    tags = [data.draw(st.sampled_from("AB")) for _ in range(words)]
    rows = [f"w/{tag}/{heads[word]}/{'dep' if heads[word] else 'root'}" for word, tag in enumerate(tags, 1)]
    relation = data.draw(st.sampled_from([">", "<", "$", "..", "--", ">>", "."]))
    first, second = data.draw(st.permutations("ab"))
    rule = f"{{upos:A}}=a {relation} {{}}=b => {first}.head = {second}"
    done = search.rewrite(bank(*rows), rule, on_refusal="skip", passes=3)
    done.treebank.trees()
    assert list(conllu.tree_problems(done.treebank)) == []
    assert (np.bincount(done.treebank.heads, minlength=1)[0]) == 1
    assert all(1 < one.line <= words + 1 for one in done.refused)


WRONG = (
    "She/PRON/3/nsubj has/VERB/3/aux sung/VERB/0/root",
    "It/PRON/3/nsubj is/VERB/3/cop rope/NOUN/0/root",
    "her/PRON/2/det/Poss=Yes rope/NOUN/0/root",
    "hemp/NOUN/0/root ,/PUNCT/1/punct wool/NOUN/1/conj and/CCONJ/1/cc silk/NOUN/1/conj or/CCONJ/1/cc tar/NOUN/1/conj",
    "Go/VERB/0/root ,/PUNCT/1/punct sailor/NOUN/2/vocative !/PUNCT/3/punct",
)
RIGHT = (
    ("has", "upos", "AUX"),
    ("is", "upos", "AUX"),
    ("her", "relation", "nmod:poss"),
    ("and", "head", "silk"),
    ("or", "head", "tar"),
    ("sailor", "head", "Go"),
)


def test_the_corrections_correct_what_the_guidelines_name(repository: Path) -> None:
    rules = (repository / "examples" / "rules" / "corrections.rules").read_text(encoding="utf-8")
    text = "".join(sentence(*words.split(), name=str(number)) for number, words in enumerate(WRONG))
    done = search.rewrite(conllu.loads(text), rules)
    words = {word.text: word for one in done.treebank for word in one}
    for form, attribute, expected in RIGHT:
        found = getattr(words[form], attribute)
        assert (found.text if attribute == "head" else found) == expected
    assert done.changes == len(RIGHT)
    assert search.rewrite(done.treebank, rules).changes == 0


def test_the_corrections_leave_what_is_right(repository: Path, sample: Path) -> None:
    rules = (repository / "examples" / "rules" / "corrections.rules").read_text(encoding="utf-8")
    assert conllu.dumps(conllu.read(sample).rewrite(rules)) == sample.read_bytes()
    both = bank("both/CCONJ/2/cc:preconj", "hemp/NOUN/0/root", "and/CCONJ/4/cc", "wool/NOUN/2/conj")
    assert search.rewrite(both, rules).changes == 0


ENHANCED = (
    "the/DET/2/det end/NOUN/0/root of/ADP/5/case the/DET/5/det rope/NOUN/2/nmod",
    "They/PRON/2/nsubj left/VERB/0/root because/ADP/6/case of/ADP/3/fixed the/DET/6/det storm/NOUN/2/obl",
    "Go/VERB/0/root if/SCONJ/4/mark you/PRON/4/nsubj like/VERB/1/advcl",
    "She/PRON/2/nsubj has/VERB/0/root hemp/NOUN/2/obj ,/PUNCT/5/punct wool/NOUN/3/conj and/CCONJ/7/cc tar/NOUN/3/conj",
    "He/PRON/2/nsubj came/VERB/0/root and/CCONJ/4/cc left/VERB/2/conj",
    "He/PRON/2/nsubj sang/VERB/0/root and/CCONJ/5/cc was/AUX/5/cop glad/ADJ/2/conj",
    "She/PRON/2/nsubj wants/VERB/0/root to/PART/4/mark sing/VERB/2/xcomp",
    "She/PRON/2/nsubj made/VERB/0/root him/PRON/2/obj sing/VERB/2/xcomp",
    "She/PRON/2/nsubj told/VERB/0/root him/PRON/2/iobj to/PART/5/mark sing/VERB/2/xcomp",
    "ropes/NOUN/0/root which/PRON/4/obj/PronType=Rel she/PRON/4/nsubj sold/VERB/1/acl:relcl",
)


def test_rules_enhance_trees_as_the_command_does(repository: Path) -> None:
    rules = (repository / "examples" / "rules" / "enhance.rules").read_text(encoding="utf-8")
    text = "".join(sentence(*words.split(), name=str(number)) for number, words in enumerate(ENHANCED))
    treebank = conllu.loads(text)
    rewritten = search.rewrite(treebank.with_graphs(copied(treebank)), rules)
    assert lines(rewritten.treebank) == lines(treebank.with_graphs(by_rules(treebank)))
    assert rewritten.changes >= len(ENHANCED)


def test_the_command_writes_the_file_or_a_diff(sample: Path, tmp_path: Path) -> None:
    rule = "{upos:VERB}=verb >nsubj {}=subject => subject.Role = Subject"
    out = tmp_path / "out.conllu"
    done = run("rewrite", rule, sample, "-o", out)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "ropewalk: 6 changes of 6 words\n"
    assert out.read_bytes() == conllu.dumps(conllu.read(sample).rewrite(rule))
    shown = run_bytes("rewrite", rule, sample, "--dry-run").stdout.decode().splitlines()
    assert shown[:2] == [f"--- {sample}", f"+++ {sample}"]
    assert shown[2:5] == [
        "@@ -5 +5 @@ en-1",
        "-3\tmaker\tmaker\tNOUN\t_\t_\t4\tnsubj\t4:nsubj\t_",
        "+3\tmaker\tmaker\tNOUN\t_\tRole=Subject\t4\tnsubj\t4:nsubj\t_",
    ]
    old, new = sample.read_text(encoding="utf-8").split("\n"), out.read_text(encoding="utf-8").split("\n")
    for at, (place, removed, added) in enumerate(zip(*(shown[start::3] for start in (2, 3, 4)), strict=True)):
        number = int(re.match(r"@@ -(\d+) ", place)[1])  # type: ignore[index]
        assert (removed[1:], added[1:]) == (old[number - 1], new[number - 1]), at
    assert run("rewrite", "{form:nothing}=a => a.upos = X", sample, "--dry-run").stdout == ""


def test_the_command_takes_files_of_rules_and_says_what_is_wrong(sample: Path, tmp_path: Path) -> None:
    rules = tmp_path / "mine.rules"
    rules.write_text("{form:twist}=v\n=> v.upos = X\n", encoding="utf-8")
    assert "1 change of 1 word" in run("rewrite", rules, sample).stderr
    rules.write_text("{form:twist}=v\n=> w.upos = X\n", encoding="utf-8")
    done = run("rewrite", rules, sample)
    assert done.returncode == 2
    assert f"{rules}: " in done.stderr
    assert "line 2: the pattern names no word 'w'" in done.stderr
    assert run("rewrite", tmp_path / "nothing.rules", sample).returncode == 1
    assert run("rewrite", "{}=a => a.upos = X", sample, "-o", sample).returncode == 2
    cycle = run("rewrite", "{form:twist}=v >obj {}=o => v.head = o", sample, "-o", tmp_path / "out")
    assert cycle.returncode == 1
    assert f"error: {sample}:18: word 4: " in cycle.stderr
    assert not (tmp_path / "out").exists()
    skipped = run_bytes("rewrite", "{form:twist}=v >obj {}=o => v.head = o", sample, "--on-refusal", "skip")
    assert skipped.stdout == sample.read_bytes()
    assert b"refused: " in skipped.stderr
    assert b"0 changes of 0 words; 1 edit refused" in skipped.stderr
    waiting = run("rewrite", "{}=x > {}=y => x.xpos = y.form", sample)
    assert "earlier ones: run again, or add --passes 2" in waiting.stderr
    done = run("rewrite", "{upos:NOUN}=n", str(sample))
    assert done.returncode == 2
    assert "a rule has => and actions after the pattern" in done.stderr
