"""Text as people have it: abbreviations, quotations, lists, names and tags, and what each line is.

The segmenter is the one in the package. All texts are invented.
"""

# ruff: noqa: RUF001 - letters of other scripts

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from typer.testing import CliRunner

import ropewalk
from ropewalk import conllu
from ropewalk.cli import app_of
from ropewalk.errors import ConfigError
from ropewalk.models.catalogue import embedded_folder, language_of
from ropewalk.segmentation import assembly, languages
from ropewalk.segmentation import rules as rules_module
from ropewalk.segmentation.alignment import END, SENTENCE
from ropewalk.segmentation.assembly import LineUnit, Marked, build
from ropewalk.segmentation.multiwords import Splitter
from ropewalk.segmentation.reading import CharacterReader, CharacterVocabulary, codes_of
from ropewalk.segmentation.rules import Rules
from ropewalk.segmentation.segmenter import Segmenter
from ropewalk.segmentation.tokens import text_of
from ropewalk.treebank.treebank import Treebank


@cache
def english(each_line: LineUnit = None) -> Segmenter:
    return Segmenter.load(embedded_folder() / "en", threads=1, each_line=each_line)


def sentences(text: str, each_line: LineUnit = None) -> list[str]:
    bank = english(each_line).segment(text)
    assert text_of(bank) == text
    return [" ".join(sentence.forms) for sentence in bank]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("For knots cf. Ashley on the matter. It is long.", ["For knots cf. Ashley on the matter .", "It is long ."]),
        ("It weighs approx. 5 kg. It is wet.", ["It weighs approx. 5 kg .", "It is wet ."]),
        ("Twine et al. found this.", ["Twine et al. found this ."]),
        ("Twine et al. (2010) found this.", ["Twine et al. ( 2010 ) found this ."]),
        ("Twine et al. 2019 found this.", ["Twine et al. 2019 found this ."]),
        ("See Fig. 3 for the knot. It holds.", ["See Fig. 3 for the knot .", "It holds ."]),
        ("See Fig. S1 for the knot.", ["See Fig. S1 for the knot ."]),
        ("It is in Fig. A1. It holds.", ["It is in Fig. A1 .", "It holds ."]),
        ("The knot (fig. 3) holds.", ["The knot ( fig. 3 ) holds ."]),
        ("As shown in Tab. 2, it rose.", ["As shown in Tab. 2 , it rose ."]),
        ("Under Art. 5 of the treaty it is void.", ["Under Art. 5 of the treaty it is void ."]),
        ("Under Art. IV of it.", ["Under Art. IV of it ."]),
        ("Messrs. Hemp and Oakum left. They won.", ["Messrs. Hemp and Oakum left .", "They won ."]),
        ("Add 2 tbsp. sugar. Stir well.", ["Add 2 tbsp. sugar .", "Stir well ."]),
        ("We met Prof. Twine there.", ["We met Prof. Twine there ."]),
    ],
)
def test_abbreviations_end_no_sentence(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    "text",
    ["He makes fine art. It sells.", "I said no. I left.", "We ate a fig. She did not.", "Press tab. Then wait."],
)
def test_words_that_look_like_abbreviations_end_sentences(text: str) -> None:
    assert len(sentences(text)) == 2


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('"Who is there?" she asked. Nobody spoke.', 2),
        ("\u201cWho is there?\u201d she asked.", 1),
        ("\u00abStop!\u00bb he cried.", 1),
        ('"Who is there?" He ran.', 2),
        ('"Who is there?" I asked.', 1),
        ('"Who is there?" Mary asked\nhim. Nobody spoke.', 2),
        ('"Who is there?" Mr. Oakum asked.', 1),
        ("\u201cStop!\u201d Mary Ann Twine cried, and ran.", 1),
        ('"Who is there?" Mary left the room.', 2),
        ('"What a rope!" Mary said it would hold.', 2),
        ('"Who is there?" Mary said, "It is late."', 2),
        ('"Who is there?"\n\nMary asked.', 2),
    ],
)
def test_a_quotation_that_goes_on_in_a_small_letter_or_with_who_spoke_ends_no_sentence(text: str, count: int) -> None:
    assert len(sentences(text)) == count


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("“Stop,” he said. “Now.”", ["“ Stop , ” he said .", "“ Now . ”"]),
        ("\u2018Who is there?\u2019 she asked.", ["\u2018 Who is there ? \u2019 she asked ."]),
        ("\u2018Who is there?\u2019", ["\u2018 Who is there ? \u2019"]),
    ],
)
def test_closing_quotes_are_tokens_and_belong_to_what_they_close(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_a_heart_after_who_loves_ends_no_sentence() -> None:
    assert sentences("I ❤️ NY.") == ["I ❤️ NY ."]
    assert sentences("Thanks ❤️ See you soon.") == ["Thanks ❤️", "See you soon ."]
    together, counts = english().segment_many(["I", " ❤️ We are here."])
    assert (len(together), counts) == (3, [1, 2])


LINES = {
    "Things:\n• hemp rope\n• tar\n•oakum\n": ["Things :", "• hemp rope", "• tar", "• oakum"],
    "Buy:\n- hemp\n- tar and a long word on what tar is to be bought today\n- oakum\nThanks": [
        "Buy :", "- hemp", "- tar and a long word on what tar is to be bought today", "- oakum", "Thanks",
    ],
    "Choose one:\na) hemp\nb) tar\n  c) oakum\n": ["Choose one :", "a ) hemp", "b ) tar", "c ) oakum"],
    "1) hemp\r\n2) tar\r\n": ["1 ) hemp", "2 ) tar"],
    "# Ropes and more\nSome text here\n## Tar\nand more text.": [
        "# Ropes and more", "Some text here", "## Tar", "and more text .",
    ],
    "> the rope is wet\n> and cold\n> > so it is\nDry it.": [
        "> the rope is wet", "> and cold", "> > so it is", "Dry it .",
    ],
    "A rope that was laid down in the long walk of the old yard\n- hemp\n- tar\n": [
        "A rope that was laid down in the long walk of the old yard", "- hemp", "- tar",
    ],
    "A rope that was laid down in the long walk of the old yard\na) hemp\nb) tar\n": [
        "A rope that was laid down in the long walk of the old yard", "a ) hemp", "b ) tar",
    ],
    "A rope that was laid down in the long walk of the old\n- and very cold - yard of theirs broke.": [
        "A rope that was laid down in the long walk of the old - and very cold - yard of theirs broke .",
    ],
}  # fmt: skip


@pytest.mark.parametrize("text", LINES)
def test_lines_of_lists_headings_and_quoted_lines_are_units(text: str) -> None:
    assert sentences(text) == LINES[text]


@pytest.mark.parametrize(
    "token",
    [
        "#Hashtag",
        "@name",
        "@john.doe",
        "docs.python.org",
        "example.co.uk",
        "github.com/foo/bar",
        "Node.js",
        "C++",
        "C++17",
        "C#",
        "<3",
        "❤️",
        ".NET",
        "main.py",
        "mailto:a.b@c.org",
    ],
)
@pytest.mark.parametrize("text", ["{}", "I like {} a lot.", "Yes, we use {}!", '("{}")'])
def test_names_and_tags_stay_whole(token: str, text: str) -> None:
    forms = [form for sentence in english().segment(text.format(token)) for form in sentence.forms]
    assert token in forms


@pytest.mark.parametrize("name", ["Node.js", "C++", "C++17", "C#", "@name", "#tag", "docs.python.org", "a.org/b"])
@pytest.mark.parametrize("ending", ["'s", "\u2019s"])
def test_names_have_genitives(name: str, ending: str) -> None:
    assert sentences(f"I like {name}{ending} new look.") == [f"I like {name} {ending} new look ."]


def test_a_language_without_known_abbreviations_has_none() -> None:
    assert languages.pattern(language_of("UD_English-EWT")) is not None
    assert languages.pattern(language_of("UD_Wolof-WTB")) is None
    assert languages.pattern(language_of("my treebank")) is None


@pytest.mark.parametrize("mark", [0, END | SENTENCE])
def test_rules_are_the_same_wherever_the_text_is_cut(mark: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sentences that are done are not seen again: rules must not look further than what is kept of them."""
    for module in (assembly, rules_module):
        monkeypatch.setattr(module, "CONTEXT", 15)
    text = (
        '- a\n- cf. B "Who?" she\n# see Fig. IV\n> b @c.d @e #f. Art. I am C++ x.js, g.org/h(i) <3 wwwwwwwwwwwww'
        " y\n- z\n(a) u v w x y z\n- t\n(b) 5 et al. 7 (c\n> d\n\na b c d e f g h\n- i\n- j. k\na b c d e f g h\n- i. j"
        '\n\na "B?" Mr. C\nasked.” D I ❤ e. "F!" G said h i. “j.” k "L?" M n. Ox\n\n"P?" Q\n\nR said. @s.t\'s u.org. v'
    )
    reader = CharacterReader(CharacterVocabulary.of(text, 1, 1))
    marks = np.full(len(text), mark, dtype=np.uint8)
    whole = Marked(text, marks, *reader.spaces(codes_of(text)), last=True)
    rules = Rules("English")

    def built(*parts: Marked) -> bytes:
        return conllu.dumps(Treebank.concat(build(parts, Splitter(), rules)))

    expected = built(whole)
    assert len(expected.split(b"\n\n")) > 5
    for cut in range(len(text)):
        first = Marked(text[:cut], marks[:cut], whole.spaces[:cut], whole.breaks[:cut], last=False)
        rest = whole.after(cut)
        half = cut % (len(rest.text) + 1)
        second = Marked(rest.text[:half], rest.marks[:half], rest.spaces[:half], rest.breaks[:half], last=False)
        assert built(first, second, rest.after(half)) == expected, cut


def test_rules_do_not_reach_from_one_text_into_the_next() -> None:
    texts = [
        "cf.",
        "Fig.",
        "3 et al.",
        "(a",
        'Who?"',
        "she",
        "# a",
        "b",
        "1) c",
        "2) d",
        "> e",
        "Node",
        ".js",
        "C",
        "++",
        'Who?" Mary',
        "asked.",
        'Who?" Mary asked,',
        '"so" he said',
        "a b c d e f g h\n- i",
        "- j",
        "I",
        " ❤ k",
    ]
    together, counts = english().segment_many(texts)
    alone = [english().stream([text]) for text in texts]
    assert conllu.dumps(together) == b"".join(conllu.dumps(bank) for banks in alone for bank in banks)
    assert sum(counts) == len(together)


TEXT = "The rope is wet. Dry it\nand tar it. Then\r\n\nlay it\n \n\nout"


def test_each_line_is_a_sentence_or_a_paragraph_as_asked() -> None:
    assert sentences(TEXT, "sentence") == ["The rope is wet . Dry it", "and tar it . Then", "lay it", "out"]
    assert sentences(TEXT, "paragraph") == [
        "The rope is wet .", "Dry it", "and tar it .", "Then", "lay it", "out",
    ]  # fmt: skip
    begun = {
        unit: [english(unit).segment(TEXT).heading(number).paragraph for number in range(count)]
        for unit, count in (("sentence", 4), ("paragraph", 6))
    }
    assert begun == {"sentence": [True, False, True, True], "paragraph": [True, False, True, False, True, True]}
    with pytest.raises(ConfigError, match="each_line is 'word'; expected sentence or paragraph"):
        ropewalk.load(options=ropewalk.ParserOptions(each_line="word"))


@pytest.mark.parametrize("unit", ["sentence", "paragraph"])
def test_lines_are_the_same_in_streams_and_together(unit: LineUnit) -> None:
    segmenter = english(unit)
    text = f"{TEXT}\n" * 40
    alone = conllu.dumps(segmenter.segment(text))
    assert b"".join(map(conllu.dumps, segmenter.stream(text[at : at + 7] for at in range(0, len(text), 7)))) == alone
    together, counts = segmenter.segment_many([text, " \n", text])
    assert counts == [counts[0], 0, counts[0]]
    assert conllu.dumps(together) == alone * 2


def test_parsers_and_the_command_take_what_each_line_is() -> None:
    parser = ropewalk.load(options=ropewalk.ParserOptions(each_line="sentence"), threads=1)
    (document,) = parser.pipe([TEXT])
    texts = [sentence.text for sentence in document]
    assert texts == ["The rope is wet. Dry it", "and tar it. Then", "lay it", "out"]
    (again,) = parser.single_threaded().pipe([TEXT])
    assert [sentence.text for sentence in again] == texts
    run = CliRunner().invoke
    done = run(app_of(["parse"]), ["parse", "-", "--each-line", "sentence", "--columns", "upos"], input=TEXT)
    assert [line.removeprefix("# text = ") for line in done.stdout.splitlines() if line.startswith("# text")] == texts
    done = run(app_of(["parse"]), ["parse", "-", "--each-line", "sentence", "--input", "tokens"], input=TEXT)
    assert done.exit_code == 2
    assert "--each-line is for text" in done.stderr


@pytest.mark.parametrize(
    ("text", "stops", "expected"),
    [
        ("Le chat du roi.", {"art."}, ["Le", "chat", "du", "roi", "."]),
        ("Le roi.\n\nVoir art.\n", {"art."}, ["Le", "roi", ".", "Voir", "art."]),
        ("Un roi. Il dort.", {"art."}, ["Un", "roi.", "Il", "dort", "."]),  # within a paragraph, marks decide
        ("Le 3.\n\nU.S.\n\nA.\n\nab3cd.", {"art."}, ["Le", "3.", "U.S.", "A.", "ab3cd."]),
        ("Le chat du roi.", None, ["Le", "chat", "du", "roi."]),
    ],
)
def test_full_stops_at_the_end_of_a_paragraph_are_tokens(
    text: str, stops: set[str] | None, expected: list[str]
) -> None:
    rules = Rules("", None if stops is None else frozenset(stops))
    for size in (1, 3, len(text)):
        parts = []
        for start in range(0, len(text), size):
            codes = codes_of(text[start : start + size])
            spaces, breaks = CharacterReader(CharacterVocabulary("a", ("a",))).spaces(codes)
            none = np.zeros(len(codes), dtype=np.uint8)
            parts.append(Marked(text[start : start + size], none, spaces, breaks, last=start + size >= len(text)))
        bank = Treebank.concat(build(parts, Splitter(), rules))
        assert bank.column("form").texts() == expected
        assert text_of(bank) == text


def ruled(text: str, rules: Rules = Rules(), ends: str = "", sentence: str = "") -> list[list[str]]:  # noqa: B008 - frozen
    """Return the tokens of each sentence of a text; a network marked every place after a character in `ends`.

    It marked the end of a sentence after those in `sentence`.
    """
    marks = np.array([END * (c in ends) | (END | SENTENCE) * (c in sentence) for c in text], dtype=np.uint8)
    rules.apply(text, marks, 0, last=True)
    out: list[list[str]] = [[""]]
    for character, mark in zip(text, marks.tolist(), strict=True):
        if character == " ":
            out[-1] += [""] * bool(out[-1][-1])
            continue
        out[-1][-1] += character
        out[-1] += [""] * bool(mark & END)
        if mark & END and mark & SENTENCE:
            out.append([""])
    return [[token for token in tokens if token] for tokens in out if any(tokens)]


def test_numbers_are_whole_unless_the_treebank_splits_them() -> None:
    text = "1,234.50 and 12.05.2024 and ٣٫٥ kg. At 10:30"
    whole = [["1,234.50", "and", "12.05.2024", "and", "٣٫٥", "kg", "."], ["At", "1", "0", ":", "3", "0"]]
    assert ruled(text, ends="0123456789,:٫g", sentence=".") == whole
    split = ruled("1.5 m. 2", Rules(split_numbers=True), ends="1m", sentence=".")
    assert split == [["1", ".", "5", "m", "."], ["2"]]
    assert ruled("1.5.", ends="5", sentence=".") == [["1.5", "."]]


def test_dots_are_whole_where_the_treebank_has_them_so() -> None:
    assert ruled("so...", ends="o.") == [["so", ".", ".", "."]]
    assert ruled("so...", Rules(whole_dots=True), ends="o.") == [["so", "..."]]


def test_no_sentence_ends_within_several_marks_or_before_a_closing_bracket() -> None:
    assert ruled("no?! yes", ends="o!", sentence="?") == [["no", "?", "!"], ["yes"]]
    assert ruled("no!...yes", ends="o.", sentence="!") == [["no", "!"], [".", ".", ".", "yes"]]
    assert ruled("好！！走", ends="好！", sentence="！") == [["好", "！", "！"], ["走"]]
    assert ruled("「走。」他", ends="「走」", sentence="。") == [["「", "走", "。", "」"], ["他"]]
    assert ruled("(It ends.) Now", ends="(s)", sentence=".") == [["(", "It", "ends", ".", ")"], ["Now"]]
    marked_inside = np.array([0, SENTENCE, SENTENCE, END], dtype=np.uint8)  # no token ends at these marks
    Rules().apply("a...", marked_inside, 0, last=True)
    assert not marked_inside[-1] & SENTENCE


def test_addresses_end_before_letters_of_scripts_without_spaces() -> None:
    assert ruled("看https://a.org/b，下", ends="看，") == [["看", "https://a.org/b", "，", "下"]]
    assert ruled("邮箱zhang@example.com吧", ends="箱") == [["邮箱", "zhang@example.com", "吧"]]
    assert ruled("写main.py文件", ends="") == [["写", "main.py", "文件"]]
    assert ruled("メールはa@b.jpまで", ends="は") == [["メールは", "a@b.jp", "まで"]]


def test_a_last_full_stop_is_cut_from_a_sign() -> None:
    rules = Rules(stops=frozenset())
    assert ruled("5 €.", rules) == [["5", "€", "."]]
    assert ruled("OK 😀.", rules) == [["OK", "😀", "."]]
    assert ruled("etc.", Rules(stops=frozenset({"etc."}))) == [["etc."]]


def test_a_quoted_question_goes_on_after_a_dash() -> None:
    text = "«Ти прийдеш?» — запитала вона. Ні"
    assert [tokens[0] for tokens in ruled(text, ends="«ш»а", sentence="?.")] == ["«", "Ні"]


def test_marks_of_direction_are_no_tokens() -> None:
    text = "\u202bIt ends.\u200f It\u200e lasts."
    assert sentences(text) == ["It ends .", "It lasts ."]
