"""Enhanced graphs from basic trees, made by rules: baselines for graph parsers.

The rules follow the guidelines of Universal Dependencies on enhanced dependencies, as far as trees, words and features
allow it:

- Relations contain the words that mark them, such as `nmod:of`.
- Conjuncts share heads and subjects.
- An `xcomp` has the object of its head as its subject, else the subject of its head.
- A relative pronoun is replaced with its antecedent.

Gapping gets no empty nodes.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final, final

from ropewalk.core.graphs import Graph, Graphs

if TYPE_CHECKING:
    from ropewalk.treebank.treebank import Treebank

MARKS: Final = {"nmod": "case", "obl": "case", "acl": "mark", "advcl": "mark"}  # relations, and those of their markers
SUBJECTS: Final = ("nsubj", "csubj")
RELATIVE: Final = "PronType=Rel"
CONTROLLED: Final = "nsubj:xsubj"
UNSHARED: Final = ("root", "conj", "cc", "punct", "parataxis", "ref")  # relations that conjuncts do not share


def copied(bank: Treebank) -> Graphs:
    """Return the basic trees of a treebank as graphs, without changes: the simplest baseline."""
    return bank.basic_graphs()


def by_rules(bank: Treebank, *, cases: bool = False) -> Graphs:
    """Return the enhanced graphs that the rules make of the basic trees of a treebank.

    With `cases` relations also contain the case of the word, as in `nmod:gen`. Raise a `TreeError` if the heads of a
    sentence are no tree.
    """
    bank.trees()
    columns = [bank.column(name).texts() for name in ("form", "upos", "feats", "deprel")]
    heads = bank.heads.tolist()
    return Graphs.of(
        _Sentence(heads[start:stop], *(column[start:stop] for column in columns), cases=cases).graph()
        for start, stop in pairwise(bank.offsets.array.tolist())
    )


def base_relation(relation: str) -> str:
    """Return a relation without its subtype: `nsubj` for `nsubj:pass`."""
    return relation.partition(":")[0]


@final
class _Sentence:
    """The columns of one sentence, from which `graph` builds its enhanced graph.

    Words count from 1; index 0 of each list is for node 0.
    """

    def __init__(  # noqa: PLR0913 - the columns of a sentence
        self,
        heads: list[int],
        forms: list[str],
        upos: list[str],
        feats: list[str],
        names: list[str],
        *,
        cases: bool,
    ) -> None:
        self.cases = cases
        self.heads = [-1, *heads]
        self.names = ["", *names]
        self.upos = ["", *upos]
        self.feats = ["", *feats]
        self.forms = ["", *(form.lower() for form in forms)]
        self.words = range(1, len(self.heads))
        self.children: dict[tuple[int, str], list[int]] = {}
        for word in self.words:
            self.children.setdefault((self.heads[word], base_relation(self.names[word])), []).append(word)
        self.conjunctions = self._conjunctions()
        self.pronouns = self._pronouns()
        self.arcs = [{self.heads[word]: self._marked(word)} if word else {} for word in range(len(self.heads))]

    def graph(self) -> Graph:
        for rule in (self._relative, self._shared_heads, self._shared_subjects, self._controlled):
            for word in self.words:
                rule(word)
        return Graph(
            len(self.words),
            [(head, word, relation) for word in self.words for head, relation in self.arcs[word].items()],
        )

    def _of(self, word: int, name: str) -> list[int]:
        return self.children.get((word, name), [])

    def _conjunctions(self) -> dict[int, list[int]]:
        """Return for each conjunct a list with its conjunction, or an empty list.

        A conjunct without its own has that of the next conjunct of the same head that has one.
        """
        conjunctions: dict[int, list[int]] = {}
        last: dict[int, list[int]] = {}
        for word in reversed(self.words):
            if base_relation(self.names[word]) == "conj":
                head = self.heads[word]
                conjunctions[word] = last[head] = self._of(word, "cc")[:1] or last.get(head, [])
        return conjunctions

    def _pronouns(self) -> list[int]:
        """Return for each word the first relative pronoun among it and its descendants; 0 if there is none."""
        below: list[list[int]] = [[] for _ in self.heads]
        for word in self.words:
            below[self.heads[word]].append(word)
        order = [0]
        for node in order:
            order += below[node]
        first = [word if RELATIVE in feats.split("|") else 0 for word, feats in enumerate(self.feats)]
        for word in order[:0:-1]:
            head = self.heads[word]
            first[head] = min(filter(None, (first[head], first[word])), default=0)
        return first

    def _subjects(self, word: int) -> list[int]:
        return [child for name in SUBJECTS for child in self._of(word, name)]

    def _marked(self, word: int) -> str:
        """Return a word's basic relation followed by the word that marks it, such as `nmod:of` or `conj:and`."""
        relation = self.names[word]
        if relation in MARKS:
            marked = self._with(relation, self._of(word, MARKS[relation]) or self._of(word, "mark"))
            values = dict(part.partition("=")[::2] for part in self.feats[word].split("|"))
            return f"{marked}:{values['Case'].lower()}" if self.cases and "Case" in values else marked
        if relation == "conj":
            return self._with(relation, self.conjunctions[word])
        return relation

    def _with(self, relation: str, marks: list[int]) -> str:
        words = [self.forms[word] for mark in marks[:1] for word in (mark, *self._of(mark, "fixed"))]
        text = "_".join(word for word in words if word.replace("-", "").isalpha())
        return f"{relation}:{text}" if text else relation

    def _relative(self, word: int) -> None:
        """If `word` heads a relative clause, replace its relative pronoun with the noun that the clause modifies.

        The noun gets the arc of the pronoun, and the pronoun depends on the noun as `ref`.
        """
        if self.names[word] != "acl:relcl" or not self.heads[word]:
            return
        noun = self.heads[word]
        pronoun = self.pronouns[word]
        if self.heads[pronoun] not in self.arcs[pronoun]:  # there is none, or it was replaced already
            return
        relation = self.arcs[pronoun].pop(self.heads[pronoun])
        self.arcs[pronoun][noun] = "ref"
        if pronoun != word and self.heads[pronoun] != noun:
            self.arcs[noun][self.heads[pronoun]] = relation
        if pronoun == word:
            self.arcs[word][noun] = relation

    def _shared_heads(self, word: int) -> None:
        """If `word` is a conjunct, add to it the heads of the first conjunct, with their relations."""
        first = self.heads[word]
        if not first or base_relation(self.names[word]) != "conj":
            return
        for head, relation in self.arcs[first].items():
            if head != word and base_relation(relation) not in UNSHARED:
                self.arcs[word].setdefault(head, relation)

    def _shared_subjects(self, word: int) -> None:
        """If `word` is a conjunct without a subject, add to it the subjects of the first conjunct."""
        first = self.heads[word]
        if not first or base_relation(self.names[word]) != "conj" or self._subjects(word) or self._of(word, "expl"):
            return
        if self.upos[word] in {"VERB", "AUX", "_"} or self._of(word, "cop"):
            for subject in self._subjects(first):
                self.arcs[subject].setdefault(word, self.names[subject])

    def _controlled(self, word: int) -> None:
        """If `word` is an `xcomp`, add to it the object of its head, else the subject of its head, as its subject."""
        above = self.heads[word]
        if not above or base_relation(self.names[word]) != "xcomp":
            return
        for subject in (self._of(above, "obj") or self._of(above, "iobj") or self._subjects(above))[:1]:
            self.arcs[subject].setdefault(word, CONTROLLED)
