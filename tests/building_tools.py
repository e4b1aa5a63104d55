"""Invented treebanks of many kinds, for the tests of building parsers."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LATIN = ("ka", "lo", "mi", "ne", "su", "ta")
TINY = (
    "parser.model.encoder.hidden=12",
    "parser.model.encoder.depth=1",
    "parser.model.encoder.word_size=8",
    "parser.model.encoder.affix_size=4",
    "parser.model.encoder.character_size=4",
    "parser.model.hidden=12",
    "parser.model.biaffine.arc_size=8",
    "parser.training.epochs=2",
    "segmenter.model.character_hidden=8",
    "segmenter.model.chunk_hidden=8",
    "segmenter.model.chunk_dilations=[1]",
    "segmenter.training.epochs=2",
)  # networks that learn little and fast


@dataclass(frozen=True, slots=True)
class Invented:
    """A kind of treebank: of which syllables its words are made, and what it has or lacks."""

    syllables: tuple[str, ...] = LATIN
    between: str = " "  # words; an empty one: no spaces
    most: int = 2  # syllables of a word
    stop: str = "."
    several: bool = False  # whether some tokens are two words
    lemmas: bool = True
    tags: bool = True
    text: bool = True
    closed: bool = True  # whether the full stop follows its word without a space
    crossing: bool = False
    longest: int = 0  # words of one sentence

    def write(self, path: Path, sentences: int, seed: int = 1) -> Path:
        """Write so many sentences: a verb, its subject and its objects, and a full stop."""
        chance = random.Random(seed)  # noqa: S311 - no secret
        path.write_text("".join(self._sentence(chance, number) for number in range(sentences)), encoding="utf-8")
        return path

    def _sentence(self, chance: random.Random, number: int) -> str:
        size = self.longest if self.longest and not number else chance.randint(3, 6)
        forms = ["".join(chance.choices(self.syllables, k=chance.randint(1, self.most))) for _ in range(size - 1)]
        forms.append(self.stop)
        heads = [2, 0, *[2] * (size - 2)]
        if self.crossing and size > 4:
            heads = [3, 0, 2, 1, *[2] * (size - 4)]  # 1-3 and 4-1, over the root at 2
        relations = ["nsubj", "root", *["obj"] * (size - 3), "punct"]
        tags = ["NOUN", "VERB", *["NOUN"] * (size - 3), "PUNCT"]
        rows, text = [], ""
        joined = self.several and size > 3 and number % 2 == 0  # the third and, before the stop, the fourth word
        for place, form in enumerate(forms, start=1):
            last = place == size - 1 and self.closed
            after = "" if last or place == size else self.between
            if joined and place in {2, 3}:
                after = ""
            if joined and place == 2:
                whole = forms[1] + forms[2]
                follows = "" if size == 4 and self.closed else self.between
                rows.append(f"2-3\t{whole}" + "\t_" * 7 + ("\tSpaceAfter=No" if not follows else "\t_"))
                text += whole + follows
            elif not (joined and place == 3):
                text += form + after
            misc = "_" if after or place == size or (joined and place in {2, 3}) else "SpaceAfter=No"
            lemma = form[:-1] or form if self.lemmas else "_"
            upos = tags[place - 1] if self.tags else "_"
            feats = "Case=Nom" if self.tags and place == 1 else "_"
            head, relation = heads[place - 1], relations[place - 1]
            rows.append(f"{place}\t{form}\t{lemma}\t{upos}\t_\t{feats}\t{head}\t{relation}\t_\t{misc}")
        comments = [f"# sent_id = {number}", *([f"# text = {text}"] if self.text else [])]
        return "\n".join([*comments, *rows, "", ""])
