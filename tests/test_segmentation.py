"""Raw text: alignment with treebanks, what a network reads, windows, building, training and the files."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from ropewalk import conllu
from ropewalk.cli import app_of
from ropewalk.errors import ConfigError, FormatError, ModelError
from ropewalk.segmentation import assembly, reading, segmenter_files, windows
from ropewalk.segmentation import segmenter_config as config
from ropewalk.segmentation.alignment import END, JOIN, MULTIWORD, SENTENCE, align
from ropewalk.segmentation.assembly import Marked, build
from ropewalk.segmentation.dictionary import Dictionary
from ropewalk.segmentation.evaluation import scores
from ropewalk.segmentation.multiwords import Change, Splitter
from ropewalk.segmentation.reading import (
    CharacterReader,
    CharacterVocabulary,
    codes_of,
    folded,
    grams_of,
    is_space,
    scripts_of,
    single_spaced,
)
from ropewalk.segmentation.segmenter import Segmenter
from ropewalk.segmentation.segmenter_files import Stored
from ropewalk.segmentation.tokens import RawToken, text_of, tokens_of
from ropewalk.training.segmenter_training import (
    SegmenterNetwork,
    Substitutes,
    altered,
    as_onnx,
    context,
    ended,
    renamed,
    train,
    varied,
)
from ropewalk.treebank.misc import escaped, unescaped
from ropewalk.treebank.surface import Heading
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy.typing as npt

    from ropewalk.segmentation.reading import Numbers

# Invented. After > stand the words of a token of several; ~ says that no space follows, _ is a space inside.
SENTENCES = [
    ("# newdoc", ["The", "harbour~", "."]),
    ("# newpar", ["Don't>Do n't", "touch", "the", "ropes~", "!"]),
    ("", ["We'll>We 'll", "need", "them~", "."]),
    ("# newpar id = p3", ["He", "said", '"~', "Mr.", "Oakum", "is", "out~", '"~', "."]),
    ("", ["It", "rained", "all", "day"]),
    ("# newpar", ["THEY", "CAN'T>CA N'T", "SEE", "U.S.", "ships~", ";", "dunno>du n no", "why~", "?"]),
    ("", ["Elle", "va", "du>de le", "port", "au>à le", "quai~", "..."]),
    ("", ["(~", "A", "rope-walker's>rope-walker 's", "3.5~", "km~", ")"]),
]
TEXT = (
    "The harbour.\n\nDon't touch the ropes! We'll need them.\n\n"
    'He said "Mr. Oakum is out". It rained all day\n\n'
    "THEY CAN'T SEE U.S. ships; dunno why? Elle va du port au quai... (A rope-walker's 3.5km)\n"
)


SPACED = [
    ("# newdoc", ["Há_lô", "mi", "tă_rô", ",", "ki_ki_nô", "tă", ".~"]),
    ("", ["Mi", "rô", "10_000~", "%", ";", "tă_rô", "há", "!"]),
    ("# newpar", ["Ki", "lô", "tă", "há_lô", "au>à le", "mi_mi~", "."]),
    ("", ["Tă_rô", "ki", "há_lô", "10", "mi", "."]),
]
SPACED_TEXT = (
    "Há lô mi tă rô , ki ki nô tă .Mi rô 10 000% ; tă rô há !\n\nKi lô tă há lô au mi mi. Tă rô ki há lô 10 mi .\n"
)


def bank_of(sentences: list[tuple[str, list[str]]]) -> Treebank:
    """Write sentences down as CoNLL-U and read them."""
    lines: list[str] = []
    for comment, tokens in sentences:
        lines += [comment] if comment else []
        number = 1
        for token in tokens:
            text, _, several = token.removesuffix("~").partition(">")
            text, words = text.replace("_", " "), [word.replace("_", " ") for word in (several or text).split()]
            misc = "SpaceAfter=No" if token.endswith("~") else "_"
            if several:
                lines.append(f"{number}-{number + len(words) - 1}\t{text}" + "\t_" * 7 + f"\t{misc}")
                misc = "_"
            for word in words:
                head, relation = (0, "root") if number == 1 else (1, "dep")
                lines.append(f"{number}\t{word}" + "\t_" * 4 + f"\t{head}\t{relation}\t_\t{misc}")
                number += 1
        lines.append("")
    return conllu.loads("\n".join(lines) + "\n")


BANK = bank_of(SENTENCES)
SPACED_BANK = bank_of(SPACED)
VOCABULARY = CharacterVocabulary.of(TEXT, 1, 1)
PAIRED = CharacterVocabulary.of(TEXT + "漢 a字a don't dunno CAN'T don't 1 5", 1, 1, 1)
UNSPACED = [
    ("", ["Aro~", "ka~", "lima~", "bo~", ".~"]),
    ("", ["Lima~", "aro~", "ka~", "ka~", "bo~", "!~"]),
    ("", ["Bolima~", "ka~", "2024~", "aro~", ".~"]),
    ("", ["Ka~", "mo~", "lima~", "arobo~", ".~"]),
]
UNSPACED_BANK = bank_of(UNSPACED)
WITH_WORDS = replace(
    VOCABULARY,
    dictionary=Dictionary.of((folded(word) for word in ["The", "the", "rop", "ropes", "du", "漢字", "1", "a"]), 5)[0],
    scripts=scripts_of(TEXT + "漢"),
    grams=grams_of(TEXT + "漢字", 1),
)
SPLITTER = Splitter.learn(token for sentence in tokens_of(BANK) for token in sentence.tokens)


def marked(text: str, marks: npt.NDArray[np.uint8]) -> Marked:
    codes = codes_of(text)
    return Marked(text, marks, *CharacterReader(VOCABULARY).spaces(codes), last=True)


def built(text: str, marks: npt.NDArray[np.uint8]) -> Treebank:
    return Treebank.concat(build([marked(text, marks)], SPLITTER))


def test_addresses_and_dashes_are_tokens_wherever_the_text_is_cut() -> None:
    text = (
        'See (https://a.org/b_c?d=e.f#g), "WWW.x.org." or <ftp://y.z/~w>! awww.so he—the one——left…so '
        "[p](https://p.org),(http://q.r) https://w.org/R_(d). www.g.com's x@y-z.co.uk, http://c.fr/Cafe\u0301—me@x.org."
    )
    wanted = ["https://a.org/b_c?d=e.f#g", "WWW.x.org", "ftp://y.z/~w", "—", "——", "…", "https://p.org", "http://q.r"]
    wanted += ["https://w.org/R_(d)", "www.g.com", "'s", "x@y-z.co.uk", "http://c.fr/Cafe\u0301", "—", "me@x.org"]
    for mark in (0, END, END | SENTENCE | MULTIWORD):
        marks = np.full(len(text), mark, dtype=np.uint8)
        whole = built(text, marks)
        assert text_of(whole) == text
        forms = whole.column("form").texts()
        assert [form for form in forms if form in wanted] == wanted
        assert ("awww.so" in forms) == (mark == 0)
        for cut in range(len(text)):
            one = marked(text, marks)
            first = Marked(text[:cut], marks[:cut], one.spaces[:cut], one.breaks[:cut], last=False)
            parts = Treebank.concat(build([first, one.after(cut)], SPLITTER))
            assert conllu.dumps(parts) == conllu.dumps(whole), cut


def noise(seed: int, marks: int = 3) -> Callable[[dict[str, Numbers]], npt.NDArray[Any]]:
    """Return pseudo-random numbers that depend on a character and the one before it."""

    def score(part: dict[str, Numbers]) -> npt.NDArray[Any]:
        numbers = part["characters"]
        before = np.concatenate([[0], numbers[:-1]])
        mixed = (numbers[:, None] * [7919, 104729, 1299709, 15485863] + before[:, None] * 31 + seed) % 1009
        return (np.asarray(mixed) - [400, 700, 500, 400])[:, :marks]

    return score


def small_windows(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(windows, "WINDOW", 3)
    patch.setattr(windows, "BLOCK", 5)


def texts() -> st.SearchStrategy[str]:
    """Draw any text, mostly of what is hard: odd spaces, joined emoji, controls, marks, words and stops."""
    hard = st.sampled_from([
        " ", "  ", "\n", "\n\n", "\r\n", "\t", "\u00a0", "\u200b", "\ufeff", "\u2028", "\u2029", "\x00", "\x0b", "\x0c",
        "\x1b", "\x85", "👩\u200d👩\u200d👧", "e\u0301", "don't", "CAN'T", "dunno", "a" * 45, ".", "?!", "|", "\\",
        "#", "_", "=", "1.5", "https://example.org/a?b=c&d", "字漢", "ǅ", "İ", "ß", "٣",
    ])  # fmt: skip
    anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
    return st.lists(hard | anything, max_size=40).map("".join)


def test_alignment_gives_the_raw_text_and_its_marks() -> None:
    aligned = align(tokens_of(BANK))
    assert aligned.text == TEXT
    assert {TEXT[place] for place in np.flatnonzero(aligned.marks & SENTENCE)} == set(".!y?)")
    several = np.flatnonzero(aligned.marks & MULTIWORD)
    assert [TEXT[: place + 1].rsplit(maxsplit=1)[-1] for place in several] == [
        "Don't", "We'll", "CAN'T", "dunno", "du", "au", "rope-walker's",
    ]  # fmt: skip
    assert np.count_nonzero(aligned.marks & END) == sum(len(one.tokens) for one in tokens_of(BANK))


def test_tokens_go_on_over_spaces_where_the_treebank_says_so() -> None:
    aligned = align(tokens_of(SPACED_BANK))
    assert aligned.text == SPACED_TEXT
    joined = np.flatnonzero(aligned.marks & JOIN)
    assert [SPACED_TEXT[place : place + 3] for place in joined] == [
        "á l", "ă r", "i k", "i n", "0 0", "ă r", "á l", "i m", "ă r", "á l",
    ]  # fmt: skip
    assert not (aligned.marks[joined] & (END | SENTENCE)).any()
    for wrap in (0, 1, 10, 80):
        aligned = align(tokens_of(SPACED_BANK), wrap=wrap)
        splitter = Splitter.learn(token for sentence in tokens_of(SPACED_BANK) for token in sentence.tokens)
        bank = Treebank.concat(build([marked(aligned.text, aligned.marks)], splitter))
        assert scores(SPACED_BANK, bank) == {"tokens": 1.0, "sentences": 1.0, "words": 1.0}
        assert bank.column("form").texts() == SPACED_BANK.column("form").texts()
        assert text_of(bank) == aligned.text
        again = conllu.loads(conllu.dumps(bank))
        assert text_of(again) == aligned.text
        assert (
            " ".join(bank[number].text for number in range(4)) == single_spaced(SPACED_TEXT.replace(".", ". ")).strip()
        )


def test_spaces_inside_of_a_token_are_kept_and_shown_as_one() -> None:
    text = "há \n lô a|\\\u00a0b\tx, don't don't"
    marks = np.zeros(len(text), dtype=np.uint8)
    marks[[1, 10, 12, -7]] = JOIN
    marks[[6, 14, 15, -1]] = END, END, END, END | MULTIWORD
    bank = built(text, marks)
    lines = conllu.dumps(bank).decode().split("\n")[3:-2]
    assert lines[0] == "# text = há lô a|\\ b x, don't don't"
    assert [(row[0], row[1], row[9]) for row in (line.split("\t") for line in lines[1:])] == [
        ("1", "há lô", r"SpacesInToken=há\s\n\slô|TokenRange=0:7"),
        ("2", "a|\\ b x", r"SpaceAfter=No|SpacesInToken=a\p\\\u00A0b\tx|TokenRange=8:15"),
        ("3", ",", "TokenRange=15:16"),
        ("4", "don't don't", "SpaceAfter=No|TokenRange=17:28"),  # in UD a multiword token has no spaces
    ]
    for one in (bank, conllu.loads(conllu.dumps(bank)), Treebank.concat([bank, bank]).select([1])):
        assert text_of(one) == text
        assert [token.text for token in one[0].tokens] == ["há lô", "a|\\ b x", ",", "don't don't"]
        assert [token.written for token in one[0].tokens] == ["há \n lô", "a|\\\u00a0b\tx", ",", "don't don't"]


def test_no_token_goes_over_a_blank_line_a_rule_or_too_many_spaces() -> None:
    text = "a b\n\nc\nd www.x.org e " + "f " * 45
    marks = np.full(len(text), JOIN, dtype=np.uint8)
    bank = built(text, marks)
    assert bank.column("form").texts() == [
        "a b", "c d", "www.x.org", " ".join(["e", *"f" * 19]), " ".join("f" * 20), " ".join("f" * 6),
    ]  # fmt: skip
    assert text_of(bank) == text
    for unit in ("sentence", "paragraph"):
        apart = Treebank.concat(build([marked(text, marks)], SPLITTER, each_line=unit))
        assert apart.column("form").texts()[:4] == ["a b", "c", "d", "www.x.org"]


def test_spaces_are_one_wherever_there_are_any() -> None:
    for code in range(0x110000):
        assert (single_spaced(chr(code)) == " ") == is_space(chr(code)) or code == 0x20


@pytest.mark.parametrize("wrap", [0, 1, 10, 30, 80])
def test_gold_marks_give_the_treebank_back(wrap: int) -> None:
    aligned = align(tokens_of(BANK), wrap=wrap)
    assert aligned.text.split() == TEXT.split()
    if wrap >= 30:
        assert max(map(len, aligned.text.split("\n"))) <= wrap
    again = built(aligned.text, aligned.marks)
    assert scores(BANK, again) == {"tokens": 1.0, "sentences": 1.0, "words": 1.0}
    assert again.column("form").texts() == BANK.column("form").texts()
    assert text_of(again) == aligned.text
    assert align(tokens_of(again)).text == aligned.text
    for gold, found in zip(tokens_of(BANK), tokens_of(again), strict=True):
        assert gold.paragraph == found.paragraph
        assert [token[:2] for token in gold.tokens] == [token[:2] for token in found.tokens]


def test_words_know_where_they_stand() -> None:
    aligned = align(tokens_of(BANK))
    bank = built("\t" + aligned.text, np.concatenate([np.zeros(1, dtype=np.uint8), aligned.marks]))
    assert bank.heading(0) == Heading("1", "The harbour.", "", paragraph=True)
    assert bank.heading(1).paragraph
    assert bank.heading(2) == Heading("3", "We'll need them.", None, paragraph=False)
    misc = conllu.loads(conllu.dumps(bank)).column("misc").texts()
    assert misc[:3] == [
        r"SpacesBefore=\t|TokenRange=1:4",
        "SpaceAfter=No|TokenRange=5:12",
        r"SpacesAfter=\n\n|TokenRange=12:13",
    ]
    rows = [line.split("\t") for line in conllu.dumps(bank).decode().split("\n") if "TokenRange" in line]
    for row in rows:
        start, stop = row[9].rpartition("=")[2].split(":")
        assert ("\t" + aligned.text)[int(start) : int(stop)] == row[1]


@given(st.text(st.characters(categories=["Zs", "Zl", "Zp", "Cc"])))
def test_spaces_are_written_and_read_back(spaces: str) -> None:
    written_down = escaped(spaces)
    assert not set(written_down) & set(" |")
    assert written_down.isprintable()
    assert unescaped(written_down) == spaces


@pytest.mark.parametrize(
    ("token", "words"),
    [
        ("don't", ("do", "n't")),
        ("DON'T", ("DO", "N'T")),
        ("wouldn't", ("would", "n't")),
        ("Mustn't", ("Must", "n't")),
        ("Dunno", ("Du", "n", "no")),
        ("du", ("de", "le")),
        ("DU", ("DE", "LE")),
        ("Won\u2019t", ("Wo", "n\u2019t")),
        ("Au", ("À", "le")),
        ("n't", ("n't",)),
        ("ropes", ("ropes",)),
    ],
)
def test_multiword_tokens_are_split_as_learnt(token: str, words: tuple[str, ...]) -> None:
    stored = Splitter.from_json(json.loads(json.dumps(SPLITTER.to_json())))
    assert stored == SPLITTER
    assert stored.split(token) == words


def test_the_most_frequent_words_of_a_token_win_and_an_ending_keeps_the_table_small() -> None:
    often = RawToken("its", ("it", "s"), " ")
    learnt = Splitter.learn([often, often, RawToken("its", ("i", "ts"), " "), RawToken("hers", ("her", "s"), " ")])
    assert learnt.split("Its") == ("It", "s")
    assert learnt.table == {}
    assert learnt.endings["s"] == Change(1, "", ("s",))


def test_a_change_that_removes_nothing_must_recur_and_lengths_of_tokens_stay() -> None:
    once = RawToken("evim", ("evim", "dim"), " ")
    assert not Splitter.learn([once]).endings
    assert Splitter.learn(
        [once, *(RawToken(f"{text}m", (f"{text}m", "dim"), " ") for text in ("anne", "baba"))]
    ).endings
    learnt = Splitter.learn([RawToken("evdeydi", ("evde", "ydi"), " ")])
    assert learnt.split("İZMİR'DEYDİ") == ("İZMİR'DE", "YDİ")


def test_no_word_of_a_token_begins_with_a_combining_mark() -> None:
    splitter = Splitter.learn([RawToken("הבית", ("ה", "בית"), " ")])
    assert splitter.split("הַשָּׁמַיִם") == ("הַ", "שָּׁמַיִם")


def test_ends_and_beginnings_may_change_and_longer_ones_decide() -> None:
    """As in Tamil, where a vowel joins, and in Hebrew, where an article is not written."""
    learnt = Splitter.learn(
        RawToken(text, words, " ")
        for text, words in (
            ("atuvum", ("atu", "um")),
            ("ituvum", ("itu", "um")),
            ("pala", ("palan", "a")),
            ("bbayit", ("b", "h", "bayit")),
            ("bgan", ("b", "h", "gan")),
            ("bli", ("b", "li")),
        )
    )
    assert learnt.split("etuvum") == ("etu", "um")
    assert learnt.split("EDUVUM") == ("EDU", "UM")
    assert learnt.split("Kala") == ("Kalan", "a")
    assert learnt.split("bgdn") == ("b", "h", "gdn")
    assert learnt.split("blix") == ("b", "lix")
    assert learnt.split("x") == ("x",)
    assert Splitter.from_json(json.loads(json.dumps(learnt.to_json()))) == learnt


def test_a_token_that_was_always_one_word_is_never_split() -> None:
    whole = [RawToken(text, (text,), " ") for text in ("Summum", "atum", "rope")]
    learnt = Splitter.learn([RawToken("itum", ("itu", "um"), " "), RawToken("atum", ("atu", "um"), " "), *whole])
    assert learnt.split("SUMMUM") == ("SUMMUM",)
    assert learnt.split("drummum") == ("drummu", "um")
    assert learnt.split("atum") == ("atu", "um")  # which was two words elsewhere
    assert learnt.single == {"summum"}  # what no ending would split need not be kept
    assert Splitter.from_json(json.loads(json.dumps(learnt.to_json()))) == learnt


def test_suffixes_of_earlier_models_are_ends_that_are_cut_off() -> None:
    stored = {"table": {"du": ["de", "le"]}, "suffixes": {"n't": ["n't"], "'ve": ["'ve"]}}
    assert Splitter.from_json(stored).split("Shouldn't") == ("Should", "n't")
    assert Splitter.from_json(stored).split("Du") == ("De", "le")


def plain_reading(text: str, vocabulary: CharacterVocabulary) -> list[tuple[list[int], int]]:
    """Read a text in the plainest way: the numbers of each chunk's characters, and its word."""
    chunks: list[tuple[list[int], str]] = []
    gap, run, line = "\n\n", 0, 0
    for one in text:
        if is_space(one):
            gap, run = gap + one, 0
            continue
        if not run or run == reading.LONGEST:
            lines = gap.count("\n") + sum(gap.count(mark) for mark in "\x0b\x85\u2028") + 2 * gap.count("\x0c")
            lines += 2 * gap.count("\u2029")
            short = reading.SHORT_LINE if len(chunks) - line < reading.FEW else reading.LINE
            signs = [] if run else [[reading.SPACE, short, reading.PARAGRAPH][min(lines, 2)]]
            line = len(chunks) if lines else line
            chunks.append((signs, ""))
            gap, run = "", 0
        known = vocabulary.characters.find("0" if one.isdecimal() else one)
        category = reading.FIRST_CATEGORY + reading.CATEGORIES.index(unicodedata.category(one))
        chunks[-1][0].append(reading.FIRST_CHARACTER + known if known >= 0 else category)
        chunks[-1] = (chunks[-1][0], chunks[-1][1] + one)
        run += 1
    words = {word: number for number, word in enumerate(vocabulary.words, start=2)}
    return [(numbers, words.get(reading.key(word), 0) if reading.key(word) else 1) for numbers, word in chunks]


@given(texts())
def test_a_text_is_read_as_in_the_plainest_way(text: str) -> None:
    found = CharacterReader(VOCABULARY).read(codes_of(text))
    parts = [
        (found.characters[a : b + 1].tolist(), word)
        for a, b, word in zip(found.first.tolist(), found.last.tolist(), found.words.tolist(), strict=True)
    ]
    assert parts == plain_reading(text, VOCABULARY)
    assert found.pairs is None
    kept = found.places[found.places >= 0]
    assert "".join(text[place] for place in kept) == "".join(one for one in text if not is_space(one))
    assert np.array_equal(found.chunks, np.repeat(np.arange(len(parts)), [len(part) for part, _ in parts]))


@given(texts())
def test_a_word_and_the_next_are_read_together(text: str) -> None:
    found = CharacterReader(PAIRED).read(codes_of(text))
    chunks = plain_reading(text, PAIRED)
    wanted = [
        PAIRED.pairs.index((a - 2, b - 2)) + 1
        if (a - 2, b - 2) in PAIRED.pairs and numbers[0] != reading.PARAGRAPH
        else reading.UNKNOWN
        for (_, a), (numbers, b) in pairwise(chunks)
    ]
    assert not chunks or (found.pairs is not None and found.pairs.tolist() == [*wanted, reading.UNKNOWN])


@given(texts())
def test_words_of_the_dictionary_are_found_wherever_they_are(text: str) -> None:
    found = CharacterReader(WITH_WORDS).read(codes_of(text))
    if not len(found.places):
        return
    plain = "".join(folded(text[place]) if place >= 0 else " " for place in found.places.tolist())
    dictionary = WITH_WORDS.dictionary
    longest = dictionary.longest
    wanted = np.zeros((len(plain), 3, longest), dtype=np.uint8)
    for start in range(len(plain)):
        for length in range(1, longest + 1):
            if plain[start : start + length] in dictionary.words and start + length <= len(plain):
                wanted[start, 0, length - 1] = wanted[start + length - 1, 1, length - 1] = 1
                wanted[start : start + length - 1, 2, length - 1] = 1
    assert found.features is not None
    assert np.array_equal(found.features[:, : dictionary.width], wanted.reshape(len(plain), -1))
    scripts = [reading.script(text[place]) if place >= 0 else "" for place in found.places.tolist()]
    one_hot = [[script == name for name in WITH_WORDS.scripts] for script in scripts]
    assert np.array_equal(found.features[:, dictionary.width :], np.array(one_hot))
    grams = [WITH_WORDS.grams[start : start + 2] for start in range(0, len(WITH_WORDS.grams), 2)]
    pairs = [grams.index(a + b) + 1 if a + b in grams else 0 for a, b in pairwise(plain + " ")]
    assert found.grams is not None
    assert found.grams.tolist() == pairs


def test_a_dictionary_leaves_out_the_longest_words_and_knows_which_occur_once() -> None:
    words = ["ab"] * 60 + ["c"] * 39 + ["long"] + ["longest"]
    known, once = Dictionary.of([*words, "de"], 6)
    assert known.words == ("ab", "c", "de", "long")
    assert known.longest == 4
    assert once.words == ("de", "long")
    assert known.width == 12
    with pytest.raises(ValueError, match="1 to 2 characters are expected"):
        Dictionary(("abc",), 2)


@given(texts(), st.integers(0, 1008), st.sampled_from([3, 4]))
def test_no_character_is_lost_whatever_the_marks_say(text: str, seed: int, marks: int) -> None:
    bank = Treebank.concat(
        build(windows.mark([text], CharacterReader(VOCABULARY), noise(seed, marks), reading.FEW + 1), SPLITTER)
    )
    assert text_of(bank) == text
    again = conllu.loads(conllu.dumps(bank)) if len(bank) else bank  # any fault of form would be raised
    assert text_of(again) == text
    assert {problem.kind for problem in conllu.tree_problems(again)} <= {"missing-head"}
    assert (again.heads == -1).all()
    for form in again.column("form").names:
        assert form
        assert form == single_spaced(form).strip(" ")
        assert marks == 4 or " " not in form
    shown = [again[sentence].text for sentence in range(len(again))]
    assert "".join("".join(line or "" for line in shown).split(" ")) == "".join(o for o in text if not is_space(o))


@given(texts(), st.integers(0, 1008), st.sampled_from([3, 4]), st.sampled_from([0.0, 0.5]), st.data())
def test_pieces_make_no_difference(text: str, seed: int, marks: int, bare: float, data: st.DataObject) -> None:
    score = noise(seed, marks)
    reader, context = CharacterReader(VOCABULARY), reading.FEW + 1
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    with pytest.MonkeyPatch.context() as patch:
        whole = Treebank.concat(build(windows.mark([text], reader, score, context, bare), SPLITTER))
        small_windows(patch)
        patch.setattr(assembly, "SENTENCES", 2)
        banks = list(build(windows.mark(pieces, reader, score, context, bare), SPLITTER))
    assert text_of(banks) == text_of(whole)
    assert b"".join(map(conllu.dumps, banks)) == (conllu.dumps(whole) if len(whole) else b"")


@pytest.mark.parametrize("vocabulary", [VOCABULARY, WITH_WORDS])
def test_windows_see_all_that_the_network_sees(vocabulary: CharacterVocabulary) -> None:
    words = vocabulary.dictionary.longest
    options = config.NetworkOptions(
        character_size=4, character_hidden=4, chunk_hidden=4, word_size=4, hidden=4, chunk_dilations=(1, 3),
        dictionary_length=words, gram_size=4 * (words > 0), character_skips=words > 0,
    )  # fmt: skip
    torch.manual_seed(3)
    network = _network(options, vocabulary).double().eval()
    if network.features is not None:
        network.features.float()  # its input is converted to float32
        network.features.register_forward_hook(lambda *args: args[-1].double())
    reader = CharacterReader(vocabulary)
    text = TEXT * 3 + "x" * 130 + " y z" * 20
    seen: dict[bytes, npt.NDArray[Any]] = {}

    def score(part: dict[str, Numbers]) -> npt.NDArray[Any]:
        with torch.inference_mode():
            found: npt.NDArray[Any] = network(**{key: torch.from_numpy(one) for key, one in part.items()}).numpy()
        seen[part["characters"].tobytes()] = found
        return found - np.median(whole, axis=0)  # about as many marks as not

    read = reader.read(codes_of(text))
    whole = np.zeros((1, 3))
    whole = score(read.part(0, len(read.first)))
    expected = list(windows.mark([text], reader, score, context(options)))
    seen.clear()
    with pytest.MonkeyPatch.context() as patch:
        small_windows(patch)
        parts = list(windows.mark([text], reader, score, context(options)))
        assert len(seen) > 20
        narrow = list(windows.mark([text], reader, score, 0))
    assert len(expected) == 1
    marks = np.concatenate([part.marks for part in parts])
    assert np.array_equal(marks, expected[0].marks)
    assert not np.array_equal(np.concatenate([part.marks for part in narrow]), expected[0].marks)


def test_long_tokens_and_sentences_are_cut_and_blank_lines_end_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembly, "MOST_CHARACTERS", 10)
    monkeypatch.setattr(assembly, "MOST_TOKENS", 4)
    text = "a" * 25 + " b c d e\nf\r\n\r\ng\n \nh i"
    bank = built(text, np.zeros(len(text), dtype=np.uint8))
    assert [bank[number].forms for number in range(len(bank))] == [
        ("a" * 10, "a" * 10, "a" * 5, "b"), ("c", "d", "e", "f"), ("g",), ("h", "i"),
    ]  # fmt: skip
    assert text_of(bank) == text
    begins = [(bank.heading(number).document, bank.heading(number).paragraph) for number in range(len(bank))]
    assert begins == [("", True), (None, False), (None, True), (None, True)]


def _network(
    options: config.NetworkOptions, vocabulary: CharacterVocabulary, *, joins: bool = False
) -> SegmenterNetwork:
    known = (
        reading.characters_known(vocabulary),
        reading.words_known(vocabulary),
        reading.pairs_known(vocabulary),
        reading.features_known(vocabulary),
        reading.grams_known(vocabulary),
    )
    return SegmenterNetwork(options, *known, joins=joins)


@cache
def newborn(*, joins: bool = False) -> Segmenter:
    """A network that has learnt nothing; one for words with spaces inside reads pairs too."""
    options = config.NetworkOptions(
        character_size=4, character_hidden=4, chunk_hidden=4, word_size=4, hidden=4, pair_size=4 * joins
    )
    vocabulary = PAIRED if joins else VOCABULARY
    torch.manual_seed(1)
    network = _network(options, vocabulary, joins=joins)
    with torch.no_grad():
        network.out.weight *= 30  # or all characters would be much the same to it
        network.out.bias.copy_(torch.tensor([-3.0, -3.0, 0.0, 0.0][: 3 + joins]))
    graph = as_onnx(network).SerializeToString()
    return Segmenter(Stored(vocabulary, SPLITTER, context(options), graph, {}), threads=1)


@pytest.mark.parametrize("text", ["", " ", "\n\n \t", "\u200b\u00a0\x00"])
def test_text_without_words_has_no_sentences(text: str) -> None:
    assert len(newborn().segment(text)) == 0
    assert text_of(newborn().segment(text)) == text
    banks = list(newborn().stream([text, "", text]))
    assert text_of(banks) == text * 2
    assert text_of(Treebank.concat(banks)) == text * 2
    assert conllu.dumps(Treebank.concat(banks)) == b""


@pytest.mark.parametrize(
    ("text", "joins"),
    [
        ("word " * 200_000, False),
        ("word " * 200_000, True),
        ("word" * 100_000, False),
        ("." * 100_000, False),
        ("a" + " " * 1_000_000 + "b", False),
        ("\n" * 100_000 + "x", False),
        (" " * 100_000, False),
        ("字" * 50_000, False),
    ],
    ids=["words", "words with spaces", "letters", "stops", "spaces", "lines", "nothing", "ideographs"],
)
def test_a_megabyte_on_one_line(text: str, joins: bool) -> None:  # noqa: FBT001 - a parameter
    banks = list(newborn(joins=joins).stream([text]))
    assert text_of(banks) == text
    assert (
        max(int(bank.lengths.max(initial=0)) for bank in banks) <= 3 * assembly.MOST_TOKENS
    )  # of up to three words each
    assert max(map(len, banks)) <= assembly.SENTENCES


def test_half_characters_are_refused_with_their_place() -> None:
    with pytest.raises(FormatError, match=r"<text>:2: character 4 of the text is '\\ud83d', half of a character"):
        newborn().segment("ab\nc\ud83d")
    with pytest.raises(FormatError, match=r"<text>:40001: character 280,004 of the text"):
        newborn().segment("a b c.\n" * 40_000 + "xyz \udc00")


@settings(max_examples=20)
@given(st.lists(texts(), max_size=8), st.booleans())
def test_a_stream_is_the_whole_text(pieces: list[str], joins: bool) -> None:  # noqa: FBT001 - drawn
    segmenter = newborn(joins=joins)
    whole = segmenter.segment("".join(pieces))
    banks = list(segmenter.stream(pieces))
    assert b"".join(map(conllu.dumps, banks)) == (conllu.dumps(whole) if len(whole) else b"")


@settings(max_examples=30)
@given(st.lists(texts(), max_size=6), st.booleans())
def test_texts_together_are_what_each_is_alone(some: list[str], joins: bool) -> None:  # noqa: FBT001 - drawn
    """Whether a text is read in one go, with others, or as a stream with small windows makes no difference."""
    segmenter = newborn(joins=joins)
    together, counts = segmenter.segment_many(some)
    assert sum(counts) == len(together)
    starts = np.cumsum([0, *counts])
    for text, start, stop in zip(some, starts, starts[1:], strict=False):
        found = conllu.dumps(together.select(np.arange(start, stop)))
        assert found == b"".join(map(conllu.dumps, segmenter.stream([text])))
        assert text_of(together.select(np.arange(start, stop))) == (text if stop > start else "")


OPTIONS = (
    "training.epochs=60", "training.batch=20", "training.rate=0.01", "training.wrapped=0.2", "training.threads=1",
    "model.character_size=16", "model.character_hidden=16", "model.chunk_hidden=16", "model.word_size=8",
    "model.hidden=16", "model.dropout=0.0", "model.least_words=1", "model.least_characters=1",
)  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the invented treebank, a configuration, and a segmenter trained on the command line."""
    place = tmp_path_factory.mktemp("segmenter")
    conllu.write(place / "bank.conllu", BANK)
    lines = [f'{part} = "{place / "bank.conllu"}"' for part in ("train", "dev", "test")]
    (place / "config.toml").write_text("\n".join(["[data]", *lines, ""]), encoding="utf-8")
    changes = [part for change in OPTIONS for part in ("--set", change)]
    done = CliRunner().invoke(
        app_of(["train-segmenter"]), ["train-segmenter", str(place / "config.toml"), "-o", str(place / "out"), *changes]
    )
    assert done.exit_code == 0, done.output
    assert "epoch 60/60: loss" in done.stderr
    assert "test: F1 of tokens 100.00, sentences 100.00, words 100.00" in done.stderr
    return place


def test_a_trained_segmenter_finds_what_it_learnt(home: Path) -> None:
    segmenter = Segmenter.load(home / "out", threads=1)
    bank = segmenter.segment(TEXT)
    assert scores(BANK, bank) == {"tokens": 1.0, "sentences": 1.0, "words": 1.0}
    assert bank[1].forms == ("Do", "n't", "touch", "the", "ropes", "!")
    assert bank.heading(1) == Heading("2", "Don't touch the ropes!", None, paragraph=True)
    told = json.loads((home / "out" / "segmenter.json").read_text(encoding="utf-8"))["training"]
    assert told["scores"]["test"]["words"] == 1.0
    assert told["config"]["data"]["train"] == ["bank.conllu"]
    assert sorted(file.name for file in (home / "out").iterdir()) == ["segmenter.json", "segmenter.onnx"]


def test_words_with_spaces_are_learnt(home: Path, tmp_path: Path) -> None:
    conllu.write(tmp_path / "spaced.conllu", SPACED_BANK)
    files = [f'data.{part}="{tmp_path / "spaced.conllu"}"' for part in ("train", "dev", "test")]
    told = config.load(home / "config.toml", [*OPTIONS, *files, "model.pair_size=4", "training.forget_pairs=0.1"])
    assert train(told, tmp_path / "out").scores["test"] == {"tokens": 1.0, "sentences": 1.0, "words": 1.0}
    segmenter = Segmenter.load(tmp_path / "out", threads=1)
    bank = segmenter.segment(SPACED_TEXT)
    assert bank.column("form").texts() == SPACED_BANK.column("form").texts()
    assert text_of(segmenter.stream(SPACED_TEXT)) == SPACED_TEXT
    segmenter_files.save(tmp_path / "again", segmenter_files.load(tmp_path / "out"))
    written = [(tmp_path / name / "segmenter.json").read_bytes() for name in ("out", "again")]
    assert written[0] == written[1]


def test_words_without_spaces_are_learnt_with_a_dictionary(home: Path, tmp_path: Path) -> None:
    conllu.write(tmp_path / "unspaced.conllu", UNSPACED_BANK)
    files = [f'data.{part}="{tmp_path / "unspaced.conllu"}"' for part in ("train", "dev", "test")]
    changes = ["model.dictionary_length=6", "model.gram_size=4", "model.least_grams=1", "model.character_skips=true"]
    told = config.load(home / "config.toml", [*OPTIONS, *files, *changes, "training.tag_weight=0.3"])
    found = train(told, tmp_path / "out")
    assert found.scores["test"]["words"] == 1.0
    stored = segmenter_files.load(tmp_path / "out")
    assert {"aro", "0000", "lima", "arobo"} <= set(stored.vocabulary.dictionary.words)
    assert json.loads((tmp_path / "out" / "segmenter.json").read_text(encoding="utf-8"))["version"] == 3
    segmenter_files.save(tmp_path / "again", stored)
    assert segmenter_files.load(tmp_path / "again").vocabulary == stored.vocabulary
    segmenter = Segmenter(stored, threads=1)
    text = align(tokens_of(UNSPACED_BANK)).text * 40
    whole = segmenter.segment(text)
    with pytest.MonkeyPatch.context() as patch:
        small_windows(patch)
        streamed = Treebank.concat(segmenter.stream(text[at : at + 7] for at in range(0, len(text), 7)))
    assert conllu.dumps(streamed) == conllu.dumps(whole)
    with pytest.raises(ModelError, match="is of another segmenter"):
        Segmenter(replace(stored, vocabulary=replace(stored.vocabulary, scripts=())), threads=1)


def test_the_same_seed_gives_the_same_files(home: Path, tmp_path: Path) -> None:
    told = config.load(home / "config.toml", [*OPTIONS, "training.epochs=2"])
    for name in ("a", "b"):
        train(told, tmp_path / name)
    for file in ("segmenter.json", "segmenter.onnx"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_configurations_are_checked(home: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"training\.epoch is unknown; did you mean epochs\?"):
        config.load(home / "config.toml", ["training.epoch=3"])
    with pytest.raises(ConfigError, match=r"data\.dev is empty"):
        train(config.load(home / "config.toml", ["data.dev=[]"]), tmp_path)


def test_training_text_varies_without_losing_its_marks() -> None:
    sentences = list(tokens_of(BANK))
    options = config.SegmenterTraining(wrapped=0.5, lines=0.5, altered=0.5)
    for seed in range(20):
        aligned = varied(sentences, options, np.random.default_rng(seed))
        assert len(aligned.text) == len(aligned.marks)
        assert np.count_nonzero(aligned.marks & SENTENCE) == len(sentences)
        assert not any(is_space(aligned.text[place]) for place in np.flatnonzero(aligned.marks))
        assert "dunno" in aligned.text
    as_it_is = config.SegmenterTraining(wrapped=0, lines=0, altered=0)
    plain = [varied(sentences, as_it_is, np.random.default_rng(seed)).text.split() for seed in range(20)]
    assert all(sorted(words) == sorted(TEXT.split()) for words in plain)
    assert len({tuple(words) for words in plain}) > 5


def test_sentences_are_written_otherwise() -> None:
    sentence = bank_of([("", ["Don't>Do n't", "say", '"~', "rope~", '"~', "!"])])
    (plain,) = tokens_of(sentence)
    found = {" ".join(token.text for token in altered(plain, np.random.default_rng(seed)).tokens) for seed in range(60)}
    assert found == {
        'Don\'t say " rope "',
        'don\'t say " rope " !',
        'don\'t say " rope "',
        'DON\'T SAY " ROPE " !',
        "Don\u2019t say “ rope ” !",
    }


def test_what_looks_like_one_character_is_never_cut() -> None:
    text = "e\u0301a 👍🏽👍🏽x 👩\u200d👩\u200d👧 🇬🇧 1\ufe0f\u20e3."
    (part,) = windows.mark([text], CharacterReader(VOCABULARY), lambda one: np.ones((len(one["characters"]), 3)), 1)
    bank = Treebank.concat(build([part], SPLITTER))
    assert bank.column("form").texts() == [
        "e\u0301", "a", "👍🏽", "👍🏽", "x", "👩\u200d👩\u200d👧", "🇬🇧", "1\ufe0f\u20e3", ".",
    ]  # fmt: skip


def damaged(home: Path, tmp_path: Path, **changes: object) -> Path:
    table = json.loads((home / "out" / "segmenter.json").read_text(encoding="utf-8")) | changes
    (tmp_path / "segmenter.json").write_text(json.dumps(table), encoding="utf-8")
    (tmp_path / "segmenter.onnx").write_bytes((home / "out" / "segmenter.onnx").read_bytes())
    return tmp_path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "other"}, r"segmenter\.json: is not that of a Ropewalk segmenter"),
        ({"version": 9}, r"segmenter\.json: has version 9; this program reads 1 to 3"),
        ({"sha256": "0"}, r"segmenter\.json: is damaged, or was changed after it was written"),
        ({"sha256": "0", "version": 1}, r"segmenter\.onnx: is damaged, or of another segmenter"),
        ({"multiwords": {}, "version": 1}, r"segmenter\.json: is damaged: KeyError\('table'\)"),
        ({"context": "x"}, r"segmenter\.json: is damaged"),
    ],
)
def test_damaged_folders_are_refused(home: Path, tmp_path: Path, changes: dict[str, object], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Segmenter.load(damaged(home, tmp_path, **changes))


def test_incomplete_folders_are_refused(home: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"segmenter\.json: is missing"):
        Segmenter.load(tmp_path)
    damaged(home, tmp_path)
    (tmp_path / "segmenter.onnx").unlink()
    with pytest.raises(ModelError, match=r"segmenter\.onnx: is missing"):
        Segmenter.load(tmp_path)


def test_files_come_back_as_they_were_saved(home: Path, tmp_path: Path) -> None:
    stored = segmenter_files.load(home / "out")
    segmenter_files.save(tmp_path, stored)
    for file in ("segmenter.json", "segmenter.onnx"):
        assert (tmp_path / file).read_bytes() == (home / "out" / file).read_bytes()


def test_a_sentence_without_punctuation_ends_within_a_line_only_if_that_is_likely() -> None:
    text = "She coils Ropes 3 Now. It\nRains!"

    def ends(bare: float) -> list[str]:
        reader = CharacterReader(VOCABULARY)
        one = windows.mark_many([text], reader, lambda part: np.full((len(part["characters"]), 3), 0.7), 1, bare=bare)
        (streamed,) = windows.mark([text], reader, lambda part: np.full((len(part["characters"]), 3), 0.7), 1, bare)
        assert (one.marks[: len(text)] == streamed.marks).all()
        return [text[place] for place in np.flatnonzero(streamed.marks & SENTENCE)]

    assert "".join(ends(0.0)) == "".join(ends(0.6)) == "".join(text.split())
    assert ends(0.7) == [".", "t", "!"]


def test_names_replace_nouns_and_pronouns() -> None:
    bank = bank_of([("", ["Anna", "hauled", "ropes", "here~", "."]), ("", ["Oakum", "coiled", "it~", "."])])
    tags = ["PROPN", "VERB", "NOUN", "ADV", "PUNCT", "PROPN", "VERB", "PRON", "PUNCT"]
    first, second = tokens_of(bank.with_columns({"upos": tags}), tagged=True)
    others = Substitutes.of([first, second])
    verbs = {"ed": ["coiled", "hauled"], "es": ["ropes"]}
    assert others == Substitutes(("Anna", "Oakum"), initials=False, verbs=verbs, finals=("!", ".", "?"))
    found = {
        " ".join(token.text for token in renamed(first, others, np.random.default_rng(seed)).tokens)
        for seed in range(99)
    }
    names = others.names
    assert found == {
        *(f"{name} hauled ropes here ." for name in names),
        *(f"{name} {verb} {other} here ." for name in names for verb in others.verbs["ed"] for other in names),
    }
    asked, *_ = tokens_of(bank_of([("", ["¿~", "Quién", "ata~", "?"])]))
    marked = Substitutes.of([asked, first, second]).marks
    assert [(opening.text, closing.text) for opening, closing in marked] == [("¿", "?")]
    texts = {
        "".join(token.text + token.after for token in renamed(one, Substitutes(("Anna",), marks=marked), random).tokens)
        for random in map(np.random.default_rng, range(99))
        for one in (second, asked)
    }
    assert "¿Anna coiled Anna?" in {text.strip() for text in texts}
    assert not any("¿¿" in text for text in texts)
    ends = {ended(second, others, np.random.default_rng(seed)).tokens[-1] for seed in range(99)}
    assert {(token.text, token.words) for token in ends} == {(mark, (mark,)) for mark in ".?!"}
    assert ended(asked, Substitutes(finals=(".",)), np.random.default_rng(1)) == asked  # of another script
    chinese = tokens_of(bank_of([("", ["他~", "來~", "。"])]))
    assert Substitutes.of([*chinese]).finals == ("\u3002", "\uff01", "\uff1f")
    with_initials = Substitutes(("Anna", "Oakum"), initials=True)
    found = {" ".join(with_initials.name(np.random.default_rng(seed))) for seed in range(1000)}
    assert {"Anna", "A. Oakum", "O. A. Anna"} < found
    assert with_initials.verb("sees", np.random.default_rng(1)) == "sees"


@pytest.mark.treebanks
@pytest.mark.parametrize("wrap", [0, 80])
def test_gold_marks_give_all_of_a_treebank_back(treebanks: Path, wrap: int) -> None:
    for path in sorted(treebanks.rglob("en_ewt-ud-*.conllu")):
        bank = conllu.read(path)
        sentences = list(tokens_of(bank))
        splitter = Splitter.learn(token for sentence in sentences for token in sentence.tokens)
        aligned = align(sentences, wrap=wrap)
        again = Treebank.concat(build([marked(aligned.text, aligned.marks)], splitter, None))
        assert scores(bank, again) == {"tokens": 1.0, "sentences": 1.0, "words": 1.0}
        ruled = Treebank.concat(build([marked(aligned.text, aligned.marks)], splitter))
        assert min(scores(bank, ruled).values()) > 0.9995  # the treebank knows addresses and dashes almost as we do
        assert text_of(again) == aligned.text
