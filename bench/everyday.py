"""Scores of a model on everyday sentences: cuts, words, tags and lemmas.

    python bench/everyday.py MODEL [LIST] [--mistakes] [--format markdown]
    python bench/everyday.py en --made 10000

MODEL is the name or the folder of a model. LIST is a file of tests/everyday; by default the one that has the model's
name, up to a hyphen. A line of LIST is a sentence as people type it, then `form|lemma|UPOS` of each word, separated by
tabs. Each sentence is parsed alone. A word is found if the model has a word with its span of characters; each word of a
multiword token that is not just its words side by side has the token's span, its form and its rank there. A word that
is not found counts as wrong. `--made N` makes N different English sentences *subject verb object.*, in which each
object is a name, and prints the share that is cut in two.
"""

from __future__ import annotations

import argparse
import random
import sys
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import ropewalk
from ropewalk.reporting.tables import FORMATS, Table, TableColumn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ropewalk import Document, Parser

LISTS = Path(__file__).resolve().parent.parent / "tests" / "everyday"
MOST_WORDS = 4  # of a multiword token
JOINING = "'\u2019-\u055b\u055c\u055e"  # apostrophes, hyphens and Armenian marks inside a multiword token
SHOWN = 20  # made sentences that are cut, which are printed


def _listed(text: str) -> tuple[str, ...]:
    """Split `text` at spaces. In the lists below, underscores are spaces."""
    return tuple(text.split())


SUBJECTS = _listed(
    "I You He She We They Everyone Nobody Somebody Mary Peter Anna Tom Lucy Mr._Brown Mrs._Jones Dr._Miller "
    "Children Dogs Cats Students Teachers My_mother My_father My_sister Our_neighbour Your_friend His_brother "
    "Her_daughter Their_son The_boy The_girl The_man The_woman The_old_man The_young_doctor The_teacher The_king "
    "The_queen The_dog The_cat The_police The_driver The_baker A_friend A_child A_stranger This_woman That_man "
    "These_boys Those_girls Both_sisters Some_people Many_fans Two_men Three_students All_children "
    "The_whole_class My_best_friend Every_visitor No_one The_new_boss"
)
SINGULAR = _listed(
    # forms for the third person singular, or for any person
    "loves sees knows likes helps calls visits meets hates finds follows watches teaches kisses thanks trusts "
    "misses hears remembers needs wants asks invites believes loved saw knew liked helped called visited met "
    "hated found followed watched taught kissed thanked trusted missed heard will_love will_see will_help "
    "can_hear must_call should_ask would_invite has_seen has_met had_found is_calling was_watching is_visiting "
    "never_sees always_helps often_met does_not_know doesn't_like didn't_hear won't_forget could_not_find"
)
PLURAL = {  # the forms for I, you, we, they and plural nouns, where they are not the form without -s
    "watches": "watch",
    "teaches": "teach",
    "kisses": "kiss",
    "misses": "miss",
    "has_seen": "have_seen",
    "has_met": "have_met",
    "is_calling": "are_calling",
    "was_watching": "were_watching",
    "is_visiting": "are_visiting",
    "never_sees": "never_see",
    "always_helps": "always_help",
    "does_not_know": "do_not_know",
    "doesn't_like": "don't_like",
}
SEVERAL = _listed(
    "You We They Children Dogs Cats Students Teachers The_police These_boys Those_girls Both_sisters Some_people "
    "Many_fans Two_men Three_students All_children"
)
OBJECTS = _listed(
    "Paul Mary John Anna Peter Susan David Lucy Tom Emma Michael Sarah Robert Linda James Laura William Alice "
    "Richard Helen Thomas Julia Daniel Karen Mark Nancy George Betty Steven Ruth Kevin Sharon Brian Donna Edward "
    "Carol Ronald Amy Anthony Kate Jason Maria Ryan Rose Gary Grace Simon Jane Frank Diana Henry Clara Max Sophie "
    "Leo Olivia Sam Nina London Paris Mr._Smith Dr._Jones Mary_Brown John_Miller Anna_White"
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a list: its form, lemma and UPOS."""

    form: str
    lemma: str
    upos: str


@dataclass(frozen=True, slots=True)
class Everyday:
    """A sentence of a list: its text and its words."""

    text: str
    words: tuple[Word, ...]


Span = tuple[int, int, str, int]  # start, end; the form and the rank in a multiword token, or "" and 0


def read_list(path: Path) -> list[Everyday]:
    """Read a list of everyday sentences; raise ValueError with the line's number if a line is malformed."""
    sentences = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("#"):
            continue
        text, *fields = line.split("\t")
        words = [field.split("|") for field in fields]
        if not text or not words or any(len(parts) != 3 or not all(parts) for parts in words):
            message = f"{path}:{number}: expected a sentence and form|lemma|UPOS of each word, separated by tabs"
            raise ValueError(message)
        if spans(text, [parts[0] for parts in words]) is None:
            message = f"{path}:{number}: the words are not those of the sentence"
            raise ValueError(message)
        sentences.append(Everyday(text, tuple(Word(*parts) for parts in words)))
    return sentences


def spans(text: str, forms: Sequence[str]) -> list[Span] | None:
    """Return the span of each of `forms` in `text`; None if they are not the words of it.

    Words that are not written as they are belong to a multiword token, whose span is theirs.
    """

    def align(at: int, rest: tuple[str, ...]) -> list[Span] | None:
        while at < len(text) and text[at].isspace():
            at += 1
        if not rest or at == len(text):
            return [] if not rest and at == len(text) else None
        if text.startswith(rest[0], at):
            end = at + len(rest[0])
            after = align(end, rest[1:])
            if after is not None:
                return [(at, end, "", 0), *after]
        end = at
        while end < len(text) and (unicodedata.category(text[end])[0] in "LMN" or text[end] in JOINING):
            end += 1
        for count in range(2, min(MOST_WORDS, len(rest)) + 1 if end > at else 0):
            after = align(end, rest[count:])
            if after is not None:
                return [*((at, end, form, rank) for rank, form in enumerate(rest[:count])), *after]
        return None

    return align(0, tuple(forms))


def found_words(document: Document) -> dict[Span, tuple[str, str]]:
    """Return lemma and UPOS of each word of a document by its span."""
    found: dict[Span, tuple[str, str]] = {}
    for sentence in document:
        for token in sentence.tokens:
            words = sentence[token.first - 1 : token.last]
            start, end = token.start, token.end
            if start is None or end is None:
                continue
            forms = [word.text for word in words]
            apart = len(words) > 1 and "".join(forms) != token.text
            at = start
            for rank, word in enumerate(words):
                if apart:
                    span = (start, end, word.text, rank)
                else:
                    span = (at, at + len(word.text), "", 0) if len(words) > 1 else (start, end, "", 0)
                    at += len(word.text)
                found[span] = (word.lemma, word.upos)
    return found


@dataclass(frozen=True, slots=True)
class Scores:
    """Counts over a list, and its mistakes as lines of text."""

    sentences: int
    whole: int
    words: int
    found: int
    upos: int
    lemmas: int
    mistakes: tuple[str, ...]

    @property
    def rows(self) -> tuple[tuple[str, int, int, float], ...]:
        """The name, the count, the total and the percentage of each score."""
        parts = (
            ("sentences not cut", self.whole, self.sentences),
            ("words found", self.found, self.words),
            ("UPOS right", self.upos, self.words),
            ("lemmas right", self.lemmas, self.words),
            ("UPOS and lemmas right", self.upos + self.lemmas, 2 * self.words),
        )
        return tuple((name, count, total, 100 * count / total) for name, count, total in parts)


def score(parser: Parser, sentences: Sequence[Everyday]) -> Scores:
    """Parse each sentence of a list alone and count what is right."""
    whole = total = found = upos = lemmas = 0
    mistakes = []
    for sentence, document in zip(sentences, parser.pipe([one.text for one in sentences]), strict=True):
        whole += len(document) == 1
        if len(document) != 1:
            cuts = " | ".join(part.text for part in document)
            mistakes.append(f"{sentence.text}\tcut: {cuts}")
        words = found_words(document)
        for word, span in zip(
            sentence.words, spans(sentence.text, [w.form for w in sentence.words]) or (), strict=True
        ):
            total += 1
            if span not in words:
                mistakes.append(f"{sentence.text}\t{word.form}: not found")
                continue
            lemma, tag = words[span]
            found += 1
            upos += tag == word.upos
            lemmas += lemma == word.lemma
            if (lemma, tag) != (word.lemma, word.upos):
                mistakes.append(f"{sentence.text}\t{word.form}: {lemma} {tag} instead of {word.lemma} {word.upos}")
    return Scores(len(sentences), whole, total, found, upos, lemmas, tuple(mistakes))


def verb_form(subject: str, verb: str) -> str:
    """Return the form of a verb that agrees with a subject."""
    if subject not in SEVERAL and subject != "I":
        return verb
    if subject == "I" and verb.startswith(("is_", "was_")):
        return verb.replace("is_", "am_", 1) if verb.startswith("is_") else verb
    return PLURAL.get(verb, verb.removesuffix("s"))


def made(count: int, seed: int = 1) -> list[str]:
    """Make `count` different English sentences *subject verb object.*, in which each object is a name."""
    chance = random.Random(seed)  # noqa: S311 - nothing is secret
    lists = (SUBJECTS, SINGULAR, OBJECTS)
    if count > len(SUBJECTS) * len(SINGULAR) * len(OBJECTS) // 2:
        message = f"cannot make {count} different sentences"
        raise ValueError(message)

    def draw() -> Iterator[str]:
        while True:
            subject, verb, name = (chance.choice(words) for words in lists)
            if subject != name:
                yield f"{subject} {verb_form(subject, verb)} {name}.".replace("_", " ")

    sentences: dict[str, None] = {}
    for sentence in draw():
        sentences[sentence] = None
        if len(sentences) == count:
            return list(sentences)
    raise AssertionError


def print_made(parser: Parser, count: int) -> None:
    """Print the share of made sentences that are cut in two, and some of them."""
    sentences = made(count)
    cut = [document for document in parser.pipe(sentences) if len(document) != 1]
    print(f"cut in two: {len(cut)} of {count} made sentences, {100 * len(cut) / count:.2f} %")
    for document in cut[:SHOWN]:
        print("  " + " | ".join(part.text for part in document))


def main() -> int:
    """Print the scores of a model on a list, or the share of made sentences that it cuts."""
    options = argparse.ArgumentParser(description=main.__doc__)
    options.add_argument("model", help="name or folder of a model")
    options.add_argument("list", nargs="?", type=Path, help="a file of tests/everyday, or a language code")
    options.add_argument("--mistakes", action="store_true", help="print each mismatch")
    options.add_argument(
        "--made", type=int, metavar="N", help="make N English sentences and print the share that is cut"
    )
    options.add_argument("--format", choices=sorted(FORMATS), default="table")
    chosen = options.parse_args()
    if chosen.made is not None and chosen.made < 1:
        options.error("--made takes a number of at least 1")
    parser = ropewalk.load(chosen.model, threads=1)
    if chosen.made is not None:
        print_made(parser, chosen.made)
        return 0
    path = chosen.list or Path(Path(chosen.model).name.partition("-")[0])
    if not path.is_file():
        path = LISTS / f"{path.name}.txt"
    if not path.is_file():
        options.error(f"there is no list {path}; name a file of {LISTS}")
    scores = score(parser, read_list(path))
    columns = (
        TableColumn("score", numeric=False),
        TableColumn("count"),
        TableColumn("of"),
        TableColumn("share", unit="%", decimals=2),
    )
    print(FORMATS[chosen.format](Table(title=f"Everyday sentences: {path.stem}", columns=columns, rows=scores.rows)))
    if chosen.mistakes:
        print(*scores.mistakes, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
