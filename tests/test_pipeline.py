"""Text, tokens or CoNLL-U in, documents out."""

from __future__ import annotations

import copy
import json
import multiprocessing
import pickle
import threading
from itertools import count, islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ropewalk
from pipeline_tools import EveryWordOnTheFirst, toy_parser
from ropewalk import Document, Parser, Sentence, conllu, load
from ropewalk.errors import ConfigError, FormatError, MismatchError, ModelError
from ropewalk.formats.text import text_pieces, token_banks
from ropewalk.models.catalogue import installed, locate
from ropewalk.segmentation.tokens import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ropewalk.treebank.treebank import Treebank

TEXT = "They don't twist hemp. She, too, walks!  And I"
NESTED = """# sent_id = nested
1	A	_	DET	_	_	2	det	_	_
2	rope	_	NOUN	DT	Number=Sing	3	nsubj	_	_
3	holds	_	VERB	_	_	0	root	_	Confidence=0.75
4	it	_	PRON	_	_	3	obj	_	SpaceAfter=No
5	.	_	PUNCT	_	_	3	punct	_	_

"""


def nested() -> Sentence:
    return conllu.loads(NESTED)[0]


def no_problems(text: str, tmp_path: Path) -> bool:
    file = tmp_path / "out.conllu"
    file.write_text(text, encoding="utf-8", newline="\n")
    return not list(conllu.problems(file))


def test_a_text_becomes_a_document_of_sentences_of_words(tmp_path: Path) -> None:
    document = toy_parser()(TEXT)
    assert [sentence.text for sentence in document] == ["They don't twist hemp.", "She, too, walks!", "And I"]
    assert [word.text for word in document[0]] == ["They", "do", "n't", "twist", "hemp", "."]
    assert document.text == TEXT
    assert len(document.words) == sum(map(len, document)) == document.treebank.words
    assert document[-1] == document[2] != document[1]
    assert document[:2] == (document[0], document[1])
    assert no_problems(document.to_conllu(), tmp_path)
    with pytest.raises(IndexError, match="no sentence has index 3; the document has 3, counted from 0"):
        document[3]


def test_documents_and_sentences_can_be_written(tmp_path: Path) -> None:
    parser = toy_parser()
    document = parser(TEXT)
    file = tmp_path / "out.conllu"
    for content, expected in (
        (document, document.to_conllu()),
        (document[1], document[1].to_conllu()),
        (document[1:], document[1].to_conllu() + document[2].to_conllu()),
        (parser.pipe([TEXT, "And I"]), document.to_conllu() + parser("And I").to_conllu()),
        (document.treebank[:1], document[0].to_conllu()),
    ):
        conllu.write(file, content)
        assert file.read_text(encoding="utf-8") == expected
    assert conllu.dumps(document).decode() == document.to_conllu()
    assert conllu.dumps(document, generator="mine").startswith(b"# generator = mine\n")
    trees: list[Any] = [document[0].tree]
    with pytest.raises(MismatchError, match="found Tree; expected Treebank or Document or Sentence"):
        conllu.write(file, trees)


def test_words_are_formatted_as_their_text() -> None:
    sentence = toy_parser()(TEXT)[0]
    assert f"{sentence[0]:>6}|{sentence[0]}|{sentence[0]!s}" == "  They|They|They"


def test_offsets_lead_back_to_the_text() -> None:
    for word in toy_parser()(TEXT).words:
        assert word.start is not None
        assert TEXT[word.start : word.end] == word.token.text
        assert word.space_after == (TEXT[word.end : 1 + (word.end or 0)].isspace() and word.index == word.token.last)
    first = toy_parser()(TEXT)[0]
    assert [token.text for token in first.tokens if token.is_multiword] == ["don't"]
    assert [word.token.text for word in first][1:3] == ["don't", "don't"]
    assert TEXT[first.start : first.end] == first.text


def test_words_know_their_tree() -> None:
    sentence = nested()
    det, noun, verb, obj, point = sentence
    assert sentence.root == verb
    assert verb.is_root
    assert verb.head is None
    assert noun.head == verb
    assert [word.relation for word in verb.children] == ["nsubj", "obj", "punct"]
    assert noun.subtree == (det, noun)
    assert verb.subtree == tuple(sentence)
    assert (noun.xpos, noun.feats_text, det.xpos) == ("DT", "Number=Sing", "_")
    assert dict(noun.feats) == {"Number": "Sing"}
    assert (verb.probability, obj.probability) == (0.75, None)
    assert (sentence.probability, sentence.start, point.end) == (None, None, None)
    assert sentence.text == "A rope holds it."
    assert {verb, sentence[2], sentence[-3]} == {verb}
    assert sentence[1:3] == (noun, verb)


def test_probabilities_are_told_or_none() -> None:
    sure, unsure = toy_parser()(TEXT)[0], toy_parser(confidence=False)(TEXT)[0]
    assert [word.probability for word in sure] == [1 / place for place in range(1, 7)]
    assert sure.probability == 1 / 6
    assert sure.to_json()["words"][2]["probability"] == 0.3333
    assert "Confidence=0.3333\n" in sure.to_conllu()
    assert {word.probability for word in unsure} == {None}
    assert unsure.probability is None


def test_the_newest_probability_of_a_tree_counts() -> None:
    assert conllu.loads("# confidence = 0.25\n# confidence = 0.75\n" + NESTED)[0].probability == 0.25


def test_the_first_comment_names_program_model_and_hash() -> None:
    made = f"ropewalk {ropewalk.__version__}, model toy 0123456789ab"
    document = toy_parser()(TEXT)
    lines = document.to_conllu().split("\n")
    assert lines[0] == f"# generator = {made}"
    assert sum(line.startswith("# generator") for line in lines) == 1
    assert document.to_json()["generator"] == document[1].to_json()["generator"] == made


def test_json_is_as_documented() -> None:
    document = toy_parser()(TEXT)
    whole = json.loads(json.dumps(document.to_json()))
    assert set(whole) == {"generator", "text", "sentences"}
    first = whole["sentences"][0]
    assert set(first) == {"generator", "id", "text", "start", "end", "probability", "words", "multiword_tokens"}
    keys = {"index", "text", "upos", "head", "relation", "probability", "start", "end", "space_after"}
    assert all(set(word) == keys for word in first["words"])
    assert [word["head"] for word in first["words"]] == [0, 1, 1, 1, 1, 1]
    assert first["multiword_tokens"] == [{"text": "don't", "first": 2, "last": 3, "start": 5, "end": 10}]
    assert [TEXT[one["start"] : one["end"]] for one in first["words"]] == [word.token.text for word in document[0]]
    noun = nested().to_json()["words"][1]
    assert set(noun) == keys | {"xpos", "feats"}
    assert noun["probability"] is None


def test_displacy_gets_words_and_arcs_from_left_to_right() -> None:
    assert nested().to_displacy() == {
        "words": [
            {"text": "A", "tag": "DET"},
            {"text": "rope", "tag": "NOUN"},
            {"text": "holds", "tag": "VERB"},
            {"text": "it", "tag": "PRON"},
            {"text": ".", "tag": "PUNCT"},
        ],
        "arcs": [
            {"start": 0, "end": 1, "label": "det", "dir": "left"},
            {"start": 1, "end": 2, "label": "nsubj", "dir": "left"},
            {"start": 2, "end": 3, "label": "obj", "dir": "right"},
            {"start": 2, "end": 4, "label": "punct", "dir": "right"},
        ],
    }


def test_printed_and_in_notebooks_it_is_a_picture() -> None:
    document = toy_parser()(TEXT)
    assert all(word.text in str(document) for word in document.words)
    assert "╭" in str(document[0])
    assert "<svg" in document._repr_html_()
    assert repr(document[0]) == """Sentence("They don't twist hemp.")"""


@pytest.mark.parametrize("text", ["", "  \n\t "])
def test_nothing_in_nothing_out(text: str) -> None:
    document = toy_parser()(text)
    assert (len(document), document.to_conllu(), str(document), document.to_displacy()) == (0, "", "", [])
    assert document.to_json()["sentences"] == []


def test_many_texts_give_what_each_gives_alone() -> None:
    texts = [TEXT, "", "One.", "  ", "Two words. Three of them.", TEXT] * 3
    parser = EveryWordOnTheFirst()
    made = Parser(parser, toy_parser().segmenter, "toy")
    alone = [made(text).to_conllu() for text in texts]
    parser.calls.clear()
    together = list(made.pipe(texts))
    assert [document.to_conllu() for document in together] == alone
    assert [document.text for document in together] == texts
    assert len(parser.calls) == 1
    assert [document.to_conllu() for document in made.pipe(texts, batch=1)] == alone


def test_texts_are_taken_only_as_needed() -> None:
    taken: list[int] = []

    def endless() -> Iterator[str]:
        for number in count():
            taken.append(number)
            yield f"Sentence {number}."

    found = list(islice(toy_parser().pipe(endless(), batch=10), 7))
    assert [document[0][1].text for document in found] == [str(number) for number in range(7)]
    assert len(taken) < 15
    taken.clear()
    toy_parser().pipe(endless())
    assert not taken


def test_tokens_are_parsed_as_they_are(tmp_path: Path) -> None:
    document = toy_parser().tokens([["He", "slept", "."], ["New York", "#1"]])
    assert [[word.text for word in sentence] for sentence in document] == [["He", "slept", "."], ["New York", "#1"]]
    assert [sentence.id for sentence in document] == ["1", "2"]
    assert document[0].text == "He slept ."
    assert (document.text, document[0].start) == (None, None)
    assert no_problems(document.to_conllu(), tmp_path)
    assert len(toy_parser().tokens([])) == 0


def test_conllu_keeps_all_but_trees_and_tags(sample: Path) -> None:
    document = toy_parser(confidence=False).conllu(sample)
    given = conllu.read(sample)
    assert conllu.dumps(toy_parser(confidence=False).conllu(given).treebank) == conllu.dumps(document.treebank)
    found = conllu.loads(document.to_conllu())
    assert found.column("misc").texts() == given.column("misc").texts()
    assert found.column("form").texts() == given.column("form").texts()
    assert document[1].tokens[1].text == "don't"
    assert any(line.startswith("8.1\t") for line in document[1].to_conllu().split("\n"))
    assert len(document[1]) == 10


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        (lambda made: made(["He", "slept"]), "found a list; expected str"),
        (lambda made: made("a\udc80"), "character 1 of the text is '\\udc80', half of a character"),
        (lambda made: list(made.pipe("one text")), "put it into a list"),
        (lambda made: made.tokens([["a"], []]), "sentence 2 has no words"),
        (lambda made: made.tokens(["He slept"]), "sentence 1 is text"),
        (lambda made: made.tokens([["a", ""]]), "sentence 1: word 2 is ''"),
        (lambda made: made.tokens([["a"], ["a\tb"]]), "sentence 2: word 1 is 'a\\tb'"),
    ],
)
def test_what_is_no_input_is_told(wrong: Any, what: str) -> None:  # noqa: ANN401 - calls that a type checker refuses
    with pytest.raises(FormatError) as caught:
        wrong(toy_parser())
    assert what in str(caught.value)


def test_a_model_without_a_segmenter_takes_no_text() -> None:
    made = Parser(EveryWordOnTheFirst(), None, "toy")
    with pytest.raises(ModelError, match="has no segmenter"):
        made("text")
    assert len(made.tokens([["He", "slept"]])) == 1


def test_a_text_in_pieces_is_the_same_text() -> None:
    def forms(banks: Iterator[Treebank]) -> list[str]:
        return [form for bank in banks for form in bank.column("form").texts()]

    whole = [word.text for word in toy_parser()(TEXT).words]
    assert forms(toy_parser().stream([TEXT])) == whole
    assert forms(toy_parser().stream(iter(TEXT[at : at + 4] for at in range(0, len(TEXT), 4)))) == whole


def test_text_is_read_in_pieces_without_its_mark(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    text = "Größe\u20ac\U0001f600 \r\n" * 20_000
    file.write_bytes(b"\xef\xbb\xbf" + text.encode())
    pieces = list(text_pieces(file))
    assert len(pieces) > 1
    assert "".join(pieces) == text
    file.write_bytes(b"one\ntwo \xff")
    with pytest.raises(FormatError, match=r"a\.txt:2: byte 0xff is not UTF-8"):
        list(text_pieces(file))
    file.write_bytes("cut €".encode()[:-1])
    with pytest.raises(FormatError, match=r"a\.txt:1: byte 0xe2 is not UTF-8"):
        list(text_pieces(file))


def test_tokens_stand_on_lines_between_spaces() -> None:
    text = "He  slept .\r\n\n \nShe\u00a0x\twoke"
    for size in (1, 3, len(text)):
        banks = list(token_banks([text[at : at + size] for at in range(0, len(text), size)], "x"))
        forms = [form for bank in banks for form in bank.column("form").texts()]
        assert forms == ["He", "slept", ".", "She\u00a0x", "woke"]
        ids = [sentence.id for bank in banks for sentence in bank]
        assert ids == ["1", "2"]


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the user's own with one model that only `config.json` tells of."""
    table = {
        "format": "ropewalk-runtime",
        "hash": "abc",
        "config": {"data": {"name": "UD_Testish-Toy", "licence": "CC0-1.0"}},
        "scores": {"test": {"las": 0.5}},
    }
    home = tmp_path / "models" / "toy"
    home.mkdir(parents=True)
    (home / "config.json").write_text(json.dumps(table), encoding="utf-8")
    (tmp_path / "models" / "no model").mkdir()
    monkeypatch.setenv("ROPEWALK_MODELS", str(tmp_path / "models"))
    return home


def test_models_are_found_by_name_or_folder(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = [one for one in installed() if one.name == "toy"]
    assert (found.name, found.path) == ("toy", own)
    assert (found.language, found.treebank, found.licence, found.hash) == (
        "Testish",
        "UD_Testish-Toy",
        "CC0-1.0",
        "abc",
    )
    assert (found.score("las"), found.score("uas")) == (0.5, None)
    assert found.size == (own / "config.json").stat().st_size
    assert not found.takes_text
    assert locate("toy") == own
    assert locate(own) == own
    other = tmp_path / "toy"
    other.mkdir()
    (other / "config.json").write_text("{}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert locate("toy") == own
    assert locate("./toy").resolve() == other


def test_models_that_are_not_there_are_told_with_those_that_are(own: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r'No installed model or folder is named "nonsense"\. Installed: .*toy'):
        load("nonsense")
    with pytest.raises(ModelError, match=r"without config\.json"):
        load(tmp_path)
    (own / "config.json").write_text('{"format": "another"}', encoding="utf-8")
    for name in (own, "toy"):
        with pytest.raises(ModelError, match="is not that of a Ropewalk model; found format 'another'"):
            load(name)


def test_a_damaged_model_is_listed_and_refused(own: Path) -> None:
    (own / "config.json").write_text("{", encoding="utf-8")
    (found,) = [one for one in installed() if one.name == "toy"]
    assert (found.hash, found.language, found.score("las")) == ("", "", None)
    with pytest.raises(ModelError, match="damaged or cut short"):
        load("toy")


def test_arrays_are_there_for_those_who_count() -> None:
    first, second = toy_parser().pipe([TEXT, "One more. And one."])
    bank = second.treebank
    assert bank.source is None
    assert np.array_equal(bank.heads, [0, 1, 1, 0, 1, 1])
    assert [bank[number].id for number in range(2)] == ["1", "2"]
    assert first.treebank.words == len(first.words)
    assert second.to_conllu() == toy_parser()("One more. And one.").to_conllu()


@pytest.fixture(scope="module")
def english() -> Parser:
    """The model in the package."""
    return load("en", threads=1)


ODD = "Kalo mi, nesu! \t su\u00a0ka\n\n\n  Lo. don't 😀 http://a.b/c?d=e\r\nmi"
TEXTS = [ODD, "She left.", "", " \n", "He can't see it. " * 30, ODD[:20], "e\u0301\u200d", "\u0301x", "so\n", "A. B"]


def facts(document: Document) -> list[tuple[object, ...]]:
    """All that a document says, exactly."""
    return [
        (
            *(sentence.id, sentence.text, sentence.probability, sentence.heads, sentence.relations, sentence.upos),
            *((one.text, one.start, one.end, one.spaces, one.first, one.last) for one in sentence.tokens),
            *sentence.probabilities,
        )
        for sentence in document
    ]


def test_a_real_model_parses_text_and_loses_no_character(english: Parser, tmp_path: Path) -> None:
    document = english(ODD)
    assert text_of(document.treebank) == ODD
    assert no_problems(document.to_conllu(), tmp_path)
    for word in document.words:
        assert ODD[word.start : word.end] == word.token.text
        assert word.probability is not None
    assert document[0].start == 0
    assert "model en " in english.generator


def test_a_real_model_says_the_same_of_texts_together_and_alone(english: Parser) -> None:
    alone = [english(text) for text in TEXTS]
    for together in (english.pipe(TEXTS), english.pipe(TEXTS, batch=20), english.pipe(TEXTS, batch=1)):
        assert [facts(document) for document in together] == list(map(facts, alone))
    assert [document.to_conllu() for document in english.pipe(TEXTS)] == [one.to_conllu() for one in alone]
    banks = [bank for text in TEXTS for bank in english.stream([text])]
    assert b"".join(map(conllu.dumps, banks)) == b"".join(conllu.dumps(one.treebank) for one in alone)


def test_what_is_written_says_what_was_found(english: Parser) -> None:
    """Nothing that a document says gets lost in CoNLL-U, but for digits of probabilities."""
    document = english(ODD)
    again = Document(conllu.loads(document.to_conllu()))
    assert [mine[:2] + mine[3:6] for mine in facts(again)] == [mine[:2] + mine[3:6] for mine in facts(document)]
    for mine, theirs in zip(document, again, strict=True):
        assert [token.spaces for token in mine.tokens] == [token.spaces for token in theirs.tokens]
        assert [(token.start, token.end) for token in mine.tokens] == [
            (token.start, token.end) for token in theirs.tokens
        ]
        assert theirs.probabilities == pytest.approx(mine.probabilities, abs=0.5e-4 + 1e-9)
        assert theirs.probability == pytest.approx(mine.probability, abs=0.5e-4 + 1e-9)


def test_without_probabilities_nobody_is_told_any() -> None:
    silent = load("en", threads=1, confidence=False)
    assert "onfidence" not in silent(ODD).to_conllu()
    assert silent.tokens([["He", "slept"]])[0].root.probability is None


def test_one_class_is_drawn_wherever_a_sentence_comes_from(english: Parser) -> None:
    document = english("She walks. He sleeps.")
    pictures = [str(ropewalk.draw(one)) for one in (document[0], document.treebank[0], conllu.loads(NESTED)[0])]
    assert pictures[0] == pictures[1] != pictures[2]
    assert "walks" in pictures[0]


def test_a_parser_is_pickled_by_what_it_was_loaded_from(english: Parser) -> None:
    raw = pickle.dumps(english)
    assert len(raw) < 1000
    again = pickle.loads(raw)  # noqa: S301 - our own
    assert again(ODD).to_conllu() == english(ODD).to_conllu()


def in_child(parser: Parser, pipe: Any) -> None:  # noqa: ANN401 - a multiprocessing connection
    pipe.send(parser(ODD).to_conllu())


def views_of(document: Document) -> list[object]:
    sentences = list(document)
    return [
        *sentences,
        *(word for sentence in sentences for word in sentence),
        *(token for sentence in sentences for token in sentence.tokens),
    ]


def told_of(view: object) -> dict[str, object]:
    """Read all that a view tells, other views by their texts."""
    names = [name for name in dir(view) if not name.startswith("_") and name not in {"draw", "treebank"}]
    values = {name: getattr(view, name) for name in names}
    called = {"to_conllu", "to_json", "to_displacy"}
    return {
        name: repr(value() if name in called else value)
        for name, value in values.items()
        if name in called or not callable(value)
    }


@pytest.mark.parametrize("source", ["text", "tokens", "conllu"])
@pytest.mark.parametrize("protocol", [0, 2, pickle.HIGHEST_PROTOCOL])
def test_views_are_pickled_with_all_that_they_tell(source: str, protocol: int, sample: Path, english: Parser) -> None:
    documents = {
        "text": lambda: list(english.pipe(["He don't sleep. She walks.", "So  what?\n\nGo!"]))[1],
        "tokens": lambda: english.tokens([["She", "walks"], ["Go", "!"]]),
        "conllu": lambda: Document(conllu.read(sample)),
    }
    document = documents[source]()
    views = views_of(document)
    for view in views:
        again = pickle.loads(pickle.dumps(view, protocol))  # noqa: S301 - our own
        assert type(again) is type(view)
        assert told_of(again) == told_of(view)
    whole, together = pickle.loads(pickle.dumps((document, views), protocol))  # noqa: S301 - our own
    assert isinstance(whole, Document)
    assert (whole.text, whole.generator, len(whole)) == (document.text, document.generator, len(document))
    assert list(whole) == together[: len(document)]
    assert whole.to_conllu() == document.to_conllu()
    assert whole.to_json() == document.to_json()
    assert len({id(view.treebank) for view in together[: len(document)]}) == 1  # it is pickled once
    first = together[0]
    assert [word for word in together if isinstance(word, type(first[0]))][: len(first)] == list(first)
    assert together[len(document)].sentence == first
    assert len(pickle.dumps(views, protocol)) < len(pickle.dumps(views[0], protocol)) + 400 * len(views)


def test_a_copy_of_a_view_is_the_view(english: Parser) -> None:
    document = english("He don't sleep. She walks.")
    for view in [document, *views_of(document)]:
        assert copy.copy(view) is view
        assert copy.deepcopy(view) is view
        assert copy.deepcopy([view, {"x": view}]) == [view, {"x": view}]


def test_views_go_to_other_processes_and_back(english: Parser) -> None:
    sentence = english("He don't sleep.")[0]
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        assert pool.map(str, [sentence[0], sentence[0].token]) == ["He", "Token('He')"]
        (again,) = pool.map(copy.copy, [sentence])
    assert again.to_json() == sentence.to_json()


def test_a_parser_works_in_a_forked_process() -> None:
    """With several threads of its own, which do not live on in the child."""
    parser = load("en", threads=2)
    expected = parser(ODD).to_conllu()
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    child = context.Process(target=in_child, args=(parser, theirs))
    child.start()
    assert ours.poll(60)
    assert ours.recv() == expected
    child.join(20)
    assert child.exitcode == 0


def test_a_process_that_is_forked_while_threads_parse_can_parse(english: Parser) -> None:
    """The thread that held the lock on what is remembered of words does not live on in the child."""
    expected = english(ODD).to_conllu()
    context = multiprocessing.get_context("fork")
    words = count()
    stopped = threading.Event()

    def parse_new_words() -> None:
        while not stopped.is_set():
            english.tokens([[f"w{next(words)}" for _ in range(400)]])

    busy = threading.Thread(target=parse_new_words)
    busy.start()
    try:
        for _ in range(12):
            ours, theirs = context.Pipe()
            child = context.Process(target=in_child, args=(english, theirs))
            child.start()
            answered = ours.poll(30)
            if not answered:
                child.kill()
            child.join(20)
            assert answered, "it waits for a thread that it does not have"
            assert ours.recv() == expected
    finally:
        stopped.set()
        busy.join()


@pytest.mark.parametrize("wrong", [{"name": None}, {"threads": "2"}, {"threads": 1.5}, {"threads": -1}])
def test_what_load_cannot_take_is_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        load(**wrong)
