"""`ropewalk search` as people run it."""

from __future__ import annotations

import csv
import json
import time
from typing import TYPE_CHECKING

import pytest

from program_tools import run
from ropewalk import conllu

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
    assert lines[1] == "[They] do n't [twist] hemp, nor she wool."
    assert lines[2] == "Which knot did [you] [say] that the [sailor] [tied] first?"
    assert len(lines) == 3


def test_keywords_stand_in_their_context(sample: Path, tmp_path: Path) -> None:
    done = run("search", "{form:twist}", str(english(sample, tmp_path)), "--format", "kwic")
    assert done.stdout == "They do n't".rjust(40) + "  [twist]  hemp, nor she wool.\n"


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


def test_nothing_found_is_no_failure(sample: Path) -> None:
    done = run("search", "{form:anchor}", str(sample))
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("{upos:VERB",), "^"),
        ((SUBJECTS, "--count-by", "object.lemma"), "it names verb, subject"),
        ((SUBJECTS, "--count-by", "verb.colour"), "unknown attribute 'colour'"),
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
