"""Language identification, and the parser that chooses its model by it."""
# ruff: noqa: RUF001 - letters of other scripts

from __future__ import annotations

import pickle
from functools import cache
from typing import TYPE_CHECKING

import pytest

import ropewalk
from ropewalk import conllu
from ropewalk.errors import ModelError, RopewalkError
from ropewalk.identification.automatic import AutomaticModel, AutomaticSegmenter, InstalledLanguages
from ropewalk.identification.identifier import LONGEST, LanguageIdentifier, normalized
from ropewalk.loading import LoadedOnDemand
from ropewalk.pipeline import Parser

if TYPE_CHECKING:
    from ropewalk.identification.automatic import ModelParts

ENGLISH = "She walks backwards all day, twisting hemp into rope for the ships in the harbour."
FRENCH = "Elle marche à reculons toute la journée et tord le chanvre pour en faire des cordes."
GERMAN = "Sie geht den ganzen Tag rückwärts und dreht den Hanf zu Seilen für die Schiffe im Hafen."
SENTENCES = {
    "en": ENGLISH,
    "fr": FRENCH,
    "de": GERMAN,
    "es": "Ella camina hacia atrás todo el día y tuerce el cáñamo para hacer cuerdas.",
    "it": "Cammina all'indietro tutto il giorno e torce la canapa per farne delle corde.",
    "pt": "Ela caminha para trás o dia inteiro e torce o cânhamo para fazer cordas.",
    "nl": "Zij loopt de hele dag achteruit en draait hennep tot touw voor de schepen.",
    "sv": "Hon går baklänges hela dagen och tvinnar hampa till rep åt fartygen i hamnen.",
    "fi": "Hän kävelee koko päivän takaperin ja punoo hampusta köyttä satamassa oleville laivoille.",
    "pl": "Ona cały dzień chodzi tyłem i skręca konopie na liny dla statków w porcie.",
    "ru": "Она весь день ходит задом наперёд и вьёт из пеньки верёвки для кораблей.",
    "tr": "Bütün gün geri geri yürüyor ve limandaki gemiler için kenevirden halat büküyor.",
    "el": "Περπατάει προς τα πίσω όλη μέρα και στρίβει το καννάβι για να φτιάξει σχοινιά.",
    "zh": "她整天倒着走，把大麻搓成绳子，供港口里的船只使用。",
    "ja": "彼女は一日中後ろ向きに歩きながら、麻をよって船のための綱を作る。",
    "ko": "그녀는 하루 종일 뒤로 걸으며 항구의 배들을 위해 삼으로 밧줄을 꼰다.",
    "ta": "அவள் நாள் முழுவதும் பின்னோக்கி நடந்து கயிறு திரிக்கிறாள்.",
    "he": "היא הולכת לאחור כל היום ושוזרת חבלים לאוניות בנמל.",
}


@pytest.mark.parametrize("code", SENTENCES)
def test_languages_are_identified(code: str) -> None:
    guess = ropewalk.identify(SENTENCES[code])
    assert guess.code == code
    assert guess.is_known
    assert 0.6 <= guess.probability <= 1


@pytest.mark.parametrize("text", ["", "   \n", "123 456", "?!", "မြန်မာ ဘာသာ စကား", "\ud800", "ᚠᚢᚦᚨᚱᚲ"])
def test_other_texts_are_undetermined(text: str) -> None:
    guess = ropewalk.identify(text)
    assert (guess.code, guess.name, guess.is_known) == ("und", "", False)


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(RopewalkError, match="text"):
        ropewalk.identify(b"bytes")  # type: ignore[arg-type]


def test_probabilities_add_up_to_one_among_some_languages() -> None:
    identifier = LanguageIdentifier.load()
    every, some = identifier.probabilities(FRENCH), identifier.probabilities(FRENCH, ["fr", "ca", "xx"])
    assert set(every) == set(identifier.codes)
    assert set(some) == {"fr", "ca"}
    assert sum(every.values()) == pytest.approx(1)
    assert sum(some.values()) == pytest.approx(1)
    assert identifier.probabilities(FRENCH, ["xx"]) == {}


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    assert len(normalized("rope " * LONGEST)) <= LONGEST + 2
    assert ropewalk.identify(f"{ENGLISH} " * 100 + GERMAN * 1000).code == "en"


@cache
def english() -> ModelParts:
    parser = ropewalk.load(threads=1)
    return parser.model, parser.segmenter


def languages() -> InstalledLanguages:
    """Two languages, both with the English model."""
    return InstalledLanguages(lambda _: english(), {"en": "en", "fr": "pretended"})


def test_each_text_is_parsed_as_its_language() -> None:
    known = languages()
    parser = Parser(AutomaticModel(known), AutomaticSegmenter(known), "auto")
    texts = [ENGLISH, f"{FRENCH} {FRENCH}", ENGLISH, "", FRENCH]
    documents = list(parser.pipe(texts))
    assert [[s.language for s in document] for document in documents] == [
        ["en"],
        ["fr", "fr"],
        ["en"],
        [],
        ["fr"],
    ]
    alone = ropewalk.load(threads=1)
    for text, document in zip(texts, documents, strict=True):
        assert [s.text for s in document] == [s.text for s in alone(text)]
        assert [s.tree for s in document] == [s.tree for s in alone(text)]
    assert b"# lang = fr\n# text = Elle" in conllu.dumps(documents[1].treebank)
    [streamed] = parser.stream([FRENCH[:10], FRENCH[10:]])
    assert streamed.heading(0).language == "fr"


def test_sentences_of_several_languages_keep_their_order() -> None:
    known = languages()
    segmenter, model = AutomaticSegmenter(known), AutomaticModel(known)
    bank, counts = segmenter.segment_many([FRENCH, ENGLISH, FRENCH])
    assert counts == [1, 1, 1]
    parsed = model.parse(bank)
    assert [parsed.heading(number).text for number in range(3)] == [FRENCH, ENGLISH, FRENCH]
    assert parsed.trees().heads.min() == 0
    without = ropewalk.load(threads=1).tokens([["She", "walks"]]).treebank
    assert model.parse(without).heads.tolist() == without.heads.tolist()


def test_a_language_without_a_model_is_named() -> None:
    with pytest.raises(ModelError, match=r"the text is German \(probability [01]\.\d+\).*installed: en, pretended;"):
        languages().choose(GERMAN)
    assert languages().choose("???") == "en"


def test_a_short_text_is_parsed_as_an_installed_language_with_its_letters() -> None:
    """Short texts are often taken for a related language, such as Classical Chinese."""
    chinese = InstalledLanguages(lambda _: english(), {"zh": "zh", "en": "en"})
    assert chinese.choose("你好") == "zh"
    assert chinese.choose("我来了。") == "zh"
    with pytest.raises(ModelError, match="no model of that language is installed"):
        languages().choose("東京")  # no installed language has these letters


def test_few_models_are_loaded_at_the_same_time() -> None:
    loaded: list[str] = []

    def load(name: str) -> ModelParts:
        loaded.append(name)
        return english()

    models = {code: f"model-{code}" for code in ("en", "fr", "de")}
    known = InstalledLanguages(LoadedOnDemand(models.values(), load, 2).__getitem__, models)
    for code in ("en", "fr", "en", "de", "en", "fr"):
        known.parts(code)
    assert loaded == ["model-en", "model-fr", "model-de", "model-fr"]


def test_the_automatic_parser_is_loaded_by_name_and_pickled() -> None:
    parser = ropewalk.load("auto", threads=1)
    again = pickle.loads(pickle.dumps(parser))  # noqa: S301 - it is ours
    assert parser.name == again.name
    assert parser.name.startswith("auto ")
    assert [s.tree for s in again(ENGLISH)] == [s.tree for s in ropewalk.load(threads=1)(ENGLISH)]
