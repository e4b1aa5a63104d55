"""The parser `auto`: each text is parsed with the installed model of its language.

The segmenter identifies the language of each text and stores it in the headings (`Heading`) of its sentences. The model
then parses each sentence with the installed model of that language. Models are loaded when they are first needed.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Final, final

import numpy as np

from ropewalk.errors import ModelError
from ropewalk.identification.identifier import LONGEST, UNKNOWN, LanguageIdentifier
from ropewalk.loading import AUTOMATIC
from ropewalk.models.catalogue import installed
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ropewalk.loading import AnyModel, AnySegmenter

    ModelParts = tuple[AnyModel, AnySegmenter | None]

SHORT: Final = 20  # characters; shorter texts are often taken for a related language
MOST_LOADED: Final = 8  # models in memory at the same time


def models_by_language() -> dict[str, str]:
    """Return a dictionary from language codes to names of installed models.

    Only models that parse raw text are included. If a language has several models, the one named like the language code
    is chosen, else the first that `installed` lists.
    """
    codes = {language["name"]: language["code"] for language in LanguageIdentifier.load().languages}
    models: dict[str, str] = {}
    known = {*codes.values()}
    for model in installed():
        code = codes.get(model.language.replace("_", " "), model.code if model.code in known else None)
        if code is not None and model.takes_text and (code not in models or model.name == code):
            models[code] = model.name
    return models


@final
class InstalledLanguages:
    """Installed models: `models` has their names by language code, and `load(name)` returns one with its segmenter.

    Threads may share this object if they may share `load`, which is called for each use of a model.
    """

    def __init__(self, load: Callable[[str], ModelParts], models: Mapping[str, str]) -> None:
        self._identifier = LanguageIdentifier.load()
        self._load = load
        self.models = models

    def choose(self, text: str) -> str:
        """Return the code of the language of `text`, for which a model is installed.

        If the language is uncertain, return the most probable one among the installed languages. A text of less than
        `SHORT` characters in a language without a model is uncertain if an installed language has its letters: `你好`
        looks like Classical Chinese. Raise a `ModelError` if the language is certain and no model of it is installed.
        """
        guess = self._identifier.identify(text)
        if guess.code in self.models:
            return guess.code
        fitting = [code for code in self.models if self._identifier.has_letters(code, text)]
        if guess.is_known and not (fitting and len(text.strip()) < SHORT):
            raise ModelError(
                AUTOMATIC,
                f"the text is {guess.name} (probability {guess.probability:.2f}), and no model of that language is "
                f"installed; installed: {', '.join(sorted(self.models.values()))}; install one, or name a model",
            )
        probabilities = self._identifier.probabilities(text, fitting or self.models)
        return max(probabilities, key=probabilities.__getitem__) if probabilities else next(iter(self.models))

    def parts(self, code: str) -> ModelParts:
        """Return the model and the segmenter of the language `code`."""
        return self._load(self.models[code])


@final
class AutomaticSegmenter:
    """Segmenter that splits each text with the segmenter of its language, and stores that language in the headings."""

    def __init__(self, languages: InstalledLanguages) -> None:
        self._languages = languages

    def segment_many(self, texts: Sequence[str]) -> tuple[Treebank, list[int]]:
        """Return one treebank with the sentences of all texts, and the number of sentences of each text."""
        banks: list[Treebank] = []
        counts: list[int] = []
        for code, group in itertools.groupby(texts, key=self._languages.choose):
            bank, some = self._segmenter(code).segment_many(list(group))
            banks.append(_noted(bank, code))
            counts += some
        return Treebank.concat(banks), counts

    def stream(self, pieces: Iterable[str]) -> Iterator[Treebank]:
        """Yield treebanks of the sentences of one long text; `pieces` are its consecutive parts.

        The language is identified from the beginning of the text.
        """
        pieces = iter(pieces)
        beginning: list[str] = []
        while sum(map(len, beginning)) < LONGEST and (piece := next(pieces, None)) is not None:
            beginning.append(piece)
        code = self._languages.choose("".join(beginning))
        for bank in self._segmenter(code).stream(itertools.chain(beginning, pieces)):
            yield _noted(bank, code)

    def _segmenter(self, code: str) -> AnySegmenter:
        segmenter = self._languages.parts(code)[1]
        assert segmenter is not None  # noqa: S101 - only models that parse text are chosen
        return segmenter


@final
class AutomaticModel:
    """Model that parses each sentence with the installed model of its language.

    The segmenter has stored the language in the heading of the sentence. For sentences without a stored language, one
    language is identified from the words of the whole treebank.
    """

    name = AUTOMATIC

    def __init__(self, languages: InstalledLanguages) -> None:
        self._languages = languages
        self.hash = ",".join(sorted(languages.models.values()))

    def parse(self, bank: Treebank) -> Treebank:
        """Return the treebank with trees, and with the tag columns that the models of its languages predict."""
        codes = [bank.heading(number).language or UNKNOWN for number in range(len(bank))]
        if UNKNOWN in codes:  # words that came without text
            chosen = self._languages.choose(" ".join(bank.column("form")[: LONGEST // 2].texts()))
            codes = [chosen if code == UNKNOWN else code for code in codes]
        groups = {code: np.flatnonzero([other == code for other in codes]) for code in dict.fromkeys(codes)}
        if len(groups) == 1:
            return self._languages.parts(codes[0])[0].parse(bank)
        parsed = [self._languages.parts(code)[0].parse(bank.select(numbers)) for code, numbers in groups.items()]
        order = np.argsort(np.concatenate(list(groups.values())), kind="stable")
        return Treebank.concat(parsed).select(order)


def automatic_parts(
    load: Callable[[str], ModelParts], models: Mapping[str, str]
) -> tuple[AutomaticModel, AutomaticSegmenter]:
    """Return a model and a segmenter that cover the languages of `models`, names of installed models by language code.

    `load` returns a model and its segmenter by name; it is called for each use, and should keep the models that were
    used last, like `LoadedOnDemand`. Raise a `ModelError` if `models` is empty.
    """
    languages = InstalledLanguages(load, models)
    if not languages.models:
        raise ModelError(AUTOMATIC, "needs an installed model that parses text; see `ropewalk models`")
    return AutomaticModel(languages), AutomaticSegmenter(languages)


def _noted(bank: Treebank, code: str) -> Treebank:
    """Return the treebank `bank` with the language `code` in the heading of each sentence."""
    headings = [bank.heading(number)._replace(language=code) for number in range(len(bank))]
    return replace(bank, headings=tuple(headings))
