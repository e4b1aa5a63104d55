"""Lists of everyday sentences are well formed and cover many types of sentences; models reach the bars set here."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import ropewalk
from ropewalk.errors import UnknownModelError

if TYPE_CHECKING:
    from types import ModuleType

REPOSITORY = Path(__file__).resolve().parent.parent
LISTS = sorted((REPOSITORY / "tests" / "everyday").glob("*.txt"))
UPOS_NAMES = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"
UPOS = frozenset(UPOS_NAMES.split())
LEAST_SENTENCES = 50
LEAST_ENGLISH = 80
LEAST_QUESTIONS, LEAST_DIGITS = 5, 3
ADJECTIVES_ARE_VERBS = frozenset({"lzh", "wo"})  # in their treebanks
QUESTION_MARKS = (
    "?",
    ";",
    "\u061f",
    "\uff1f",
    "\u055e",
    "\u1367",
)  # also of Greek, Arabic, Chinese, Armenian and Amharic

LEAST = {
    "ar": 94.5,
    "cs": 86.0,
    "da": 97.5,
    "de": 94.0,
    "el": 92.0,
    "en": 98.0,
    "es": 92.5,
    "fa": 96.5,
    "fi": 93.0,
    "fr": 94.0,
    "he": 86.5,
    "hi": 95.5,
    "hr": 85.5,
    "id": 91.5,
    "it": 94.0,
    "ja": 98.5,
    "ka": 91.0,
    "ko": 96.5,
    "lv": 96.0,
    "nb": 96.0,
    "nl": 93.5,
    "pl": 93.5,
    "pt": 95.0,
    "ro": 89.0,
    "ru": 97.5,
    "sl": 90.0,
    "sv": 95.5,
    "ta": 79.0,
    "tr": 95.5,
    "ug": 93.5,
    "uk": 90.5,
    "vi": 57.5,
    "wo": 95.0,
    "zh": 85.0,
}
"""Bars of shipped models by code: the least percentage of `UPOS and lemmas right` of `bench/everyday.py`."""


def _bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_everyday", REPOSITORY / "bench" / "everyday.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    return module


everyday = _bench()


def test_there_are_lists() -> None:
    assert REPOSITORY / "tests" / "everyday" / "en.txt" in LISTS


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_a_list_is_well_formed(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# Everyday sentences in ")
    assert text.partition("\n")[0].endswith(", written for Ropewalk; form|lemma|UPOS of each word.")
    assert text.endswith("\n")
    sentences = everyday.read_list(path)
    for sentence in sentences:
        assert sentence.text == " ".join(sentence.text.split(" ")).strip()
        assert {word.upos for word in sentence.words} <= UPOS, sentence.text
        assert everyday.spans(sentence.text, [word.form for word in sentence.words]) is not None, sentence.text
        for word in sentence.words:
            assert (word.upos == "PUNCT") == (not any(map(str.isalnum, word.form)) and word.upos != "SYM"), (
                sentence.text
            )
            assert word.form == word.form.strip(), sentence.text
            assert word.lemma == word.lemma.strip(), sentence.text
    texts = [sentence.text for sentence in sentences]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_a_list_covers_types_of_sentences(path: Path) -> None:
    sentences = everyday.read_list(path)
    assert len(sentences) >= (LEAST_ENGLISH if path.stem == "en" else LEAST_SENTENCES)
    texts = [sentence.text for sentence in sentences]
    questions = [text for text in texts if any(mark in text for mark in QUESTION_MARKS)]
    assert len(questions) >= LEAST_QUESTIONS
    assert len(questions) <= len(texts) // 2
    assert sum(any(map(str.isdigit, text)) for text in texts) >= LEAST_DIGITS
    tags = [word.upos for sentence in sentences for word in sentence.words]
    adjectives = 0 if path.stem in ADJECTIVES_ARE_VERBS else 10
    for tag, least in (("PROPN", 5), ("NUM", 5), ("NOUN", 40), ("VERB", 30), ("ADJ", adjectives), ("PRON", 10)):
        assert tags.count(tag) >= least, tag


def test_words_are_found_by_their_spans() -> None:
    assert everyday.spans("Je vais au lit.", ["Je", "vais", "à", "le", "lit", "."]) == [
        (0, 2, "", 0),
        (3, 7, "", 0),
        (8, 10, "à", 0),
        (8, 10, "le", 1),
        (11, 14, "", 0),
        (14, 15, "", 0),
    ]
    assert everyday.spans("zum Haus", ["zu", "dem", "Haus"]) == [(0, 3, "zu", 0), (0, 3, "dem", 1), (4, 8, "", 0)]
    assert everyday.spans("don't", ["do", "n't"]) == [(0, 2, "", 0), (2, 5, "", 0)]
    assert everyday.spans("Ո\u055eվ է", ["Ով", "\u055e", "է"]) == [(0, 3, "Ով", 0), (0, 3, "\u055e", 1), (4, 5, "", 0)]
    assert everyday.spans("10 000 men", ["10 000", "men"]) == [(0, 6, "", 0), (7, 10, "", 0)]
    assert everyday.spans("He came.", ["He", "go", "."]) is None
    assert everyday.spans("He came.", ["He", "came"]) is None


def test_malformed_lists_are_named_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "xx.txt"
    path.write_text(
        "# a comment\nHe came.\tHe|he|PRON\tcame|come|VERB\t.|.|PUNCT\nHe came.\tHe|PRON\n", encoding="utf-8"
    )
    with pytest.raises(ValueError, match=r"xx.txt:3: expected a sentence"):
        everyday.read_list(path)


def test_scores_count_cuts_words_tags_and_lemmas() -> None:
    parser = ropewalk.load("en", threads=1)
    right = everyday.Everyday("We don't sleep.", _words("We|we|PRON do|do|AUX n't|not|PART sleep|sleep|VERB .|.|PUNCT"))
    wrong = everyday.Everyday("We don't sleep.", _words("We|us|PRON don't|do|AUX sleep|sleep|NOUN .|.|PUNCT"))
    found = everyday.score(parser, [right])
    assert (found.sentences, found.whole, found.words, found.found, found.upos, found.lemmas) == (1, 1, 5, 5, 5, 5)
    assert found.mistakes == ()
    found = everyday.score(parser, [right, wrong])
    assert (found.sentences, found.whole, found.words, found.found, found.upos, found.lemmas) == (2, 2, 9, 8, 7, 7)
    assert len(found.mistakes) == 3
    cut = everyday.score(
        parser,
        [
            everyday.Everyday(
                "We sleep. They walk.",
                _words("We|we|PRON sleep|sleep|VERB .|.|PUNCT They|they|PRON walk|walk|VERB .|.|PUNCT"),
            )
        ],
    )
    assert (cut.whole, cut.found) == (0, 6)
    assert "cut: We sleep. | They walk." in cut.mistakes[0]


def _words(text: str) -> tuple[object, ...]:
    return tuple(everyday.Word(*field.split("|")) for field in text.split(" "))


def test_made_sentences_are_many_and_different() -> None:
    for words in (everyday.SUBJECTS, everyday.SINGULAR, everyday.OBJECTS):
        assert len(words) == len(set(words)) >= 60
    assert set(everyday.PLURAL) <= set(everyday.SINGULAR)
    assert set(everyday.SUBJECTS) >= set(everyday.SEVERAL)
    sentences = everyday.made(10_000)
    assert len(set(sentences)) == 10_000
    assert everyday.made(10_000) == sentences
    assert all(text.endswith(".") and "_" not in text for text in sentences)
    assert everyday.verb_form("They", "loves") == "love"
    assert everyday.verb_form("I", "is_calling") == "am_calling"
    assert everyday.verb_form("Mary", "does_not_know") == "does_not_know"


@pytest.mark.parametrize("code", sorted(LEAST))
def test_models_know_everyday_sentences(code: str) -> None:
    try:
        parser = ropewalk.load(code, threads=1)
    except UnknownModelError:
        folder = REPOSITORY / "models" / code / f"ropewalk_{code}" / code
        parser = ropewalk.load(folder, threads=1)
    found = everyday.score(parser, everyday.read_list(REPOSITORY / "tests" / "everyday" / f"{code}.txt"))
    shares = {name: share for name, _, _, share in found.rows}
    assert shares["UPOS and lemmas right"] >= LEAST[code], "\n".join(found.mistakes)
