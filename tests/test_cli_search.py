"""`ropewalk search` as people run it."""

from __future__ import annotations

import csv
import json
import time
from typing import TYPE_CHECKING

import pytest

from program_tools import run
from ropewalk import conllu
from ropewalk.drawing.measure import cells

if TYPE_CHECKING:
    from pathlib import Path

SUBJECTS = "{upos:VERB}=verb >nsubj {}=subject"
HITS = [("walks", "maker"), ("twist", "They"), ("say", "you"), ("tied", "sailor")]


def english(sample: Path, folder: Path) -> Path:
    """Write the first four sentences of the sample to a file."""
    file = folder / "english.conllu"
    conllu.write(file, conllu.read(sample).select([0, 1, 2, 3]))
    return file


def test_sentences_have_their_hits_between_brackets(sample: Path, tmp_path: Path) -> None:
    done = run("search", SUBJECTS, str(english(sample, tmp_path)))
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "The rope [maker] [walks] backwards all day."
    assert lines[1] == "[They] don't [twist] hemp, nor she wool."
    assert lines[2] == "Which knot did [you] [say] that the [sailor] [tied] first?"
    assert len(lines) == 3


def test_keywords_stand_in_their_context(sample: Path, tmp_path: Path) -> None:
    done = run("search", "{form:twist}", str(english(sample, tmp_path)), "--format", "kwic")
    assert done.stdout == "They don't".rjust(40) + "  [twist]  hemp, nor she wool.\n"


def test_rows_and_objects_name_every_word(sample: Path, tmp_path: Path) -> None:
    file = str(english(sample, tmp_path))
    rows = list(csv.DictReader(run("search", SUBJECTS, file, "--format", "csv").stdout.splitlines()))
    assert [(row["verb.form"], row["subject.form"]) for row in rows] == HITS
    assert [row["sentence"] for row in rows] == ["en-1", "en-2", "en-4", "en-4"]
    found = [json.loads(line) for line in run("search", SUBJECTS, file, "--format", "jsonl").stdout.splitlines()]
    assert [(one["words"]["verb"]["form"], one["words"]["subject"]["form"]) for one in found] == HITS
    assert found[0]["hit"]["lemma"] == "walk"


def test_conllu_of_the_hits_has_their_sentences_byte_for_byte(sample: Path, tmp_path: Path) -> None:
    file = english(sample, tmp_path)
    done = run("search", "{upos:ADP}", str(file), "--format", "conllu")
    assert done.stdout.encode() == conllu.dumps(conllu.read(file).select([2]))


def test_counts_are_of_files_and_of_attributes(sample: Path, tmp_path: Path) -> None:
    file = str(english(sample, tmp_path))
    assert run("search", SUBJECTS, file, "--count").stdout == "4\n"
    assert run("search", SUBJECTS, file, file, "--count").stdout == f"{file}: 4\n{file}: 4\n"
    table = run("search", SUBJECTS, file, file, "--count-by", "verb.lemma,subject.upos", "--format", "csv").stdout
    assert sorted(table.splitlines()[1:]) == ["say,PRON,2", "tie,NOUN,2", "twist,PRON,2", "walk,NOUN,2"]
    assert table.splitlines()[0] == "verb.lemma,subject.upos,count"


def test_standard_input_is_searched(sample: Path) -> None:
    assert run("search", "{form:hemp}", "-", "--count", stdin=sample.read_bytes()).stdout == "1\n"


def test_nothing_found_is_no_failure_and_its_reason_is_named(sample: Path) -> None:
    done = run("search", "{form:anchor}", str(sample))
    assert (done.returncode, done.stdout) == (0, "")
    assert "no matches in 73 words; no word has form:anchor" in done.stderr
    done = run("search", "{upos:VERBB} >nsbj {}", str(sample))
    assert "no word has upos:VERBB, did you mean VERB?; no word has relation:nsbj, did you mean nsubj?" in done.stderr
    assert run("search", "{upos:VERB; lemma:hemp}", str(sample)).stderr.strip().endswith("no matches in 73 words")


def test_lines_begin_with_their_place(sample: Path, tmp_path: Path) -> None:
    file = str(english(sample, tmp_path))
    lines = run("search", "{form:twist}", file, "--where").stdout
    assert lines == f"{file}:12: en-2: They don't [twist] hemp, nor she wool.\n"
    assert run("search", "{form:twist}", file, "--where", "--format", "kwic").stdout.startswith(f"{file}:12: en-2: ")
    many = tmp_path / "many.conllu"
    bare = "".join(line for line in sample.read_text("utf-8").splitlines(keepends=True) if not line.startswith("#"))
    many.write_text(bare * 500, encoding="utf-8")
    assert many.stat().st_size > 1 << 20, "not read in several pieces"
    rows = list(csv.DictReader(run("search", "{form:twist}", str(many), "--format", "csv").stdout.splitlines()))
    sentences = len(conllu.read(sample))
    assert [int(row["sentence"]) for row in rows] == [2 + sentences * number for number in range(500)]


def test_the_ending_of_the_output_chooses_the_format(sample: Path, tmp_path: Path) -> None:
    file = str(english(sample, tmp_path))
    for ending, form in ((".csv", "csv"), (".jsonl", "jsonl"), (".conllu", "conllu"), (".txt", "sentences")):
        out = tmp_path / f"hits{ending}"
        assert run("search", SUBJECTS, file, "-o", str(out)).returncode == 0
        assert out.read_text("utf-8") == run("search", SUBJECTS, file, "--format", form).stdout
    done = run("search", SUBJECTS, file, "-o", str(tmp_path / "hits.svg"))
    assert done.returncode == 2
    assert "no output format ends in .svg" in done.stderr
    assert not (tmp_path / "hits.svg").exists()


def test_limits_are_options_of_the_program(sample: Path) -> None:
    done = run("search", "{}", str(sample), "--max-matches", "3")
    assert (done.returncode, done.stdout) == (1, "")
    assert "more than 3 matches" in done.stderr
    assert "longer than 0.0 seconds" in run("search", "{}", str(sample), "--seconds", "0").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("{upos:VERB",), "^"),
        ((SUBJECTS, "--count-by", "object.lemma"), "it names verb, subject"),
        ((SUBJECTS, "--count-by", "verb.colour"), "unknown attribute 'colour'"),
        ((SUBJECTS, "--count-by", "verb.lemma", "--count"), "--count prints numbers alone"),
        ((SUBJECTS, "--count-by", "verb.lemma", "--format", "kwic"), "--count-by makes a table"),
        ((SUBJECTS, "--format", "csv", "--where"), "--where is for --format sentences and kwic"),
    ],
)
def test_wrong_patterns_and_names_are_explained(arguments: tuple[str, ...], message: str, sample: Path) -> None:
    done = run("search", arguments[0], str(sample), *arguments[1:])
    assert done.returncode == 2
    assert message in done.stderr


def test_a_hostile_pattern_ends_with_an_error(sample: Path, tmp_path: Path) -> None:
    file = tmp_path / "many.conllu"
    file.write_bytes(sample.read_bytes() * 300)
    begun = time.monotonic()
    done = run("search", " : ".join(f"{{}}=w{number}" for number in range(12)), str(file), "--count")
    assert done.returncode == 1
    assert "matches" in done.stderr or "longer than" in done.stderr
    assert time.monotonic() - begun < 20  # tests/test_search.py measures the limits in CPU time


def test_words_of_a_multiword_token_are_shown_as_written(tmp_path: Path) -> None:
    words = "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n" + "".join(
        f"{at}\t{form}\t{form}\t{tag}\t_\t_\t{head}\t{relation}\t_\t{misc}\n"
        for at, (form, tag, head, relation, misc) in enumerate(
            [("de", "ADP", 3, "case", "_"), ("le", "DET", 3, "det", "_"), ("fil", "NOUN", 0, "root", "SpaceAfter=No")],
            1,
        )
    )
    file = tmp_path / "du.conllu"
    file.write_text(f"{words}4\t.\t.\tPUNCT\t_\t_\t3\tpunct\t_\t_\n\n", encoding="utf-8")
    assert run("search", "{lemma:le}", file).stdout == "[du] fil.\n"
    assert run("search", "{lemma:fil}", file).stdout == "du [fil].\n"


def test_keywords_of_wide_and_right_to_left_text_stand_below_each_other(tmp_path: Path) -> None:
    file = tmp_path / "wide.conllu"
    sentences = [["绳", "子", "绑", "船"], ["a", "b", "绑", "c"], ["החבל", "קושר", "绑", "סירה"]]
    rows = [
        "".join(f"{at}\t{form}\t_\t_\t_\t_\t{at - 1}\tdep\t_\t_\n" for at, form in enumerate(forms, 1))
        for forms in sentences
    ]
    file.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    lines = run("search", "{form:绑}", file, "--format", "kwic").stdout.splitlines()
    assert len({cells(line[: line.index("[")]) for line in lines}) == 1
    assert "\u2068[绑]\u2069" in lines[2]
    assert "\u2068" not in lines[0] + lines[1]
