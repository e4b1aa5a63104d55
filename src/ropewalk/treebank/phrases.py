"""Noun phrases from trees of Universal Dependencies: a noun and the words beside it that belong to it.

No noun phrase is inside another.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple, final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ropewalk.treebank.documents import Sentence, Word

NOUNS: Final = frozenset({"NOUN", "PROPN", "PRON"})
NOMINAL: Final = frozenset({  # relations of a noun that begins a phrase of its own
    "nsubj", "obj", "iobj", "obl", "nmod", "appos", "vocative", "dislocated", "expl", "list", "parataxis", "root",
    "ROOT", "ccomp", "xcomp", "csubj", "advcl", "acl", "orphan",
})  # fmt: skip
BEFORE: Final = frozenset({  # relations of words before the noun
    "det", "amod", "nummod", "compound", "nmod", "flat", "clf", "goeswith", "punct", "advmod",
})  # fmt: skip
AFTER: Final = frozenset({"det", "amod", "nummod", "compound", "flat", "fixed", "clf", "goeswith"})  # and after it
NEVER_FIRST: Final = frozenset({"punct", "advmod", "case", "cc"})


@final
@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun phrase: its words from left to right, and the noun that is its head."""

    words: tuple[Word, ...]
    head: Word

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[Word]:
        return iter(self.words)

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """The text of the phrase.

        If only some words of a multiword token are in the phrase, the text has these words instead of the token.
        """
        parts = []
        for token, group in groupby(self.words, key=lambda word: word.token):
            words = tuple(group)
            whole = len(words) == token.last - token.first + 1
            parts.append(token.text if whole else " ".join(word.text for word in words))
            parts.append(" " if token.space_after and words[-1].index == token.last else "")
        return "".join(parts).rstrip()

    @property
    def start(self) -> int | None:
        """The offset of its first token's first character in the text; None if the input was no text."""
        return self.words[0].start

    @property
    def end(self) -> int | None:
        """The offset after its last token's last character in the text; None if the input was no text."""
        return self.words[-1].end


class PhraseSpan(NamedTuple):
    """Word indices of a phrase, from 0: its first word, the word after its last, and its head."""

    first: int
    end: int
    head: int


def of_sentence(sentence: Sentence) -> tuple[NounPhrase, ...]:
    """Return the noun phrases of a sentence, from left to right."""
    spans = phrase_spans(sentence.heads, sentence.relations, sentence.upos)
    return tuple(NounPhrase(sentence[span.first : span.end], sentence[span.head]) for span in spans)


def phrase_spans(heads: Sequence[int], relations: Sequence[str], upos: Sequence[str]) -> Iterator[PhraseSpan]:
    """Yield the noun phrases of one sentence, from left to right.

    Each argument has a value for each word. `heads` count from 1; 0 is the root, and a negative number is no head.
    """
    tree = _Tree(heads, [relation.partition(":") for relation in relations])
    end = 0  # of the last phrase
    for word, tag in enumerate(upos):
        if tag in NOUNS and tree.is_nominal(word):
            first = tree.first(word)
            if first >= end:
                end = tree.end(word)
                yield PhraseSpan(first, end, word)


class _Tree:
    """The tree of one sentence, for finding noun phrases; words count from 0.

    `left` and `right` have the first and last word of each word's subtree.
    """

    def __init__(self, heads: Sequence[int], relations: list[tuple[str, str, str]]) -> None:
        self.heads = [head - 1 for head in heads]
        self.relations = [base for base, _, _ in relations]
        self.subtypes = [subtype for _, _, subtype in relations]
        self.children: list[list[int]] = [[] for _ in heads]
        self.left = list(range(len(heads)))
        self.right = list(range(len(heads)))
        for word, head in enumerate(self.heads):
            if head >= 0:
                self.children[head].append(word)
        for word in range(len(heads)):
            above, steps = self.heads[word], 0
            while above >= 0 and steps < len(heads):  # heads may form a cycle
                self.left[above] = min(self.left[above], word)
                self.right[above] = max(self.right[above], word)
                above, steps = self.heads[above], steps + 1

    def is_nominal(self, word: int) -> bool:
        """Return whether a noun is the head of a noun phrase of its own.

        A noun before the noun that it modifies is not: it is part of that noun's phrase.
        """
        while self.relations[word] == "conj" and 0 <= self.heads[word] < word:
            word = self.heads[word]
        relation = self.relations[word]
        return relation in NOMINAL and self.subtypes[word] != "poss" and (relation != "nmod" or self.heads[word] < word)

    def first(self, word: int) -> int:
        """Return the first word of a noun's phrase.

        The phrase includes articles, adjectives and the like before the noun, but no prepositions.
        """
        start = word
        for child in reversed([child for child in self.children[word] if child < word]):
            if self.relations[child] not in BEFORE or self.right[child] != start - 1:
                break
            start = self.left[child]
        while start < word and self.relations[start] in NEVER_FIRST:
            start += 1
        return start

    def end(self, word: int) -> int:
        """Return the index after the last word of a noun's phrase.

        The phrase includes other parts of a name and adjectives after the noun.
        """
        end = word + 1
        for child in (child for child in self.children[word] if child > word):
            inside = range(self.left[child], self.right[child] + 1)
            if inside.start != end or any(self.relations[other] not in AFTER | {"advmod"} for other in inside):
                break
            if self.relations[child] not in AFTER:
                break
            end = inside.stop
        return end
