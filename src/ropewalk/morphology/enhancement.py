"""Enhanced graphs made from basic trees without any learning: baselines for parsers of graphs.

The rules are those of Universal Dependencies' guidelines on enhanced dependencies, as far as trees, words and
features tell: relations bear the words that mark them, conjuncts share heads and subjects, the subject of an `xcomp` is
that of its clause, and a relative pronoun gives way to what it stands for. Gapping gets no empty nodes.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final, final

from ropewalk.core.graphs import Graph, Graphs

if TYPE_CHECKING:
    from ropewalk.treebank.treebank import Treebank

MARKS: Final = {"nmod": "case", "obl": "case", "acl": "mark", "advcl": "mark"}  # relations, and what marks them
SUBJECTS: Final = ("nsubj", "csubj")
RELATIVE: Final = "PronType=Rel"
CONTROLLED: Final = "nsubj:xsubj"
UNSHARED: Final = ("root", "conj", "cc", "punct", "parataxis", "ref")  # relations that a conjunct does not take over


def copied(bank: Treebank) -> Graphs:
    """Take the basic trees as they are."""
    return bank.basic_graphs()


def by_rules(bank: Treebank, *, cases: bool = False) -> Graphs:
    """Enhance the basic trees by the rules of the guidelines; relations may bear `cases`, such as `nmod:gen`.

    Heads that are no tree raise a `TreeError`.
    """
    bank.trees()
    columns = [bank.column(name).texts() for name in ("form", "upos", "feats", "deprel")]
    heads = bank.heads.tolist()
    return Graphs.of(
        _Sentence(heads[start:stop], *(column[start:stop] for column in columns), cases=cases).graph()
        for start, stop in pairwise(bank.offsets.array.tolist())
    )


def _base(relation: str) -> str:
    """Give a relation without its subtype."""
    return relation.partition(":")[0]


@final
class _Sentence:
    """One sentence while its graph is made; words count from 1, and lists have a place for node 0."""

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
            self.children.setdefault((self.heads[word], _base(self.names[word])), []).append(word)
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
        """Find for each conjunct its conjunction, or that of the next conjunct of the same head that has one."""
        found: dict[int, list[int]] = {}
        last: dict[int, list[int]] = {}
        for word in reversed(self.words):
            if _base(self.names[word]) == "conj":
                head = self.heads[word]
                found[word] = last[head] = self._of(word, "cc")[:1] or last.get(head, [])
        return found

    def _pronouns(self) -> list[int]:
        """Find the first relative pronoun among each word and all below it; 0 where there is none."""
        below: list[list[int]] = [[] for _ in self.heads]
        for word in self.words:
            below[self.heads[word]].append(word)
        order = [0]
        for node in order:
            order += below[node]
        found = [word if RELATIVE in feats.split("|") else 0 for word, feats in enumerate(self.feats)]
        for word in order[:0:-1]:
            head = self.heads[word]
            found[head] = min(filter(None, (found[head], found[word])), default=0)
        return found

    def _subjects(self, word: int) -> list[int]:
        return [child for name in SUBJECTS for child in self._of(word, name)]

    def _marked(self, word: int) -> str:
        """Give a word's basic relation with the words that mark it, such as `nmod:of` and `conj:and`."""
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
        """Let what a relative clause belongs to take the place of its pronoun."""
        if self.names[word] != "acl:relcl" or not self.heads[word]:
            return
        noun = self.heads[word]
        pronoun = self.pronouns[word]
        if self.heads[pronoun] not in self.arcs[pronoun]:  # there is none, or it stands for another noun already
            return
        relation = self.arcs[pronoun].pop(self.heads[pronoun])
        self.arcs[pronoun][noun] = "ref"
        if pronoun != word and self.heads[pronoun] != noun:
            self.arcs[noun][self.heads[pronoun]] = relation
        if pronoun == word:
            self.arcs[word][noun] = relation

    def _shared_heads(self, word: int) -> None:
        """Give a conjunct the heads of the first."""
        first = self.heads[word]
        if not first or _base(self.names[word]) != "conj":
            return
        for head, relation in self.arcs[first].items():
            if head != word and _base(relation) not in UNSHARED:
                self.arcs[word].setdefault(head, relation)

    def _shared_subjects(self, word: int) -> None:
        """Give a conjunct without a subject that of the first."""
        first = self.heads[word]
        if not first or _base(self.names[word]) != "conj" or self._subjects(word) or self._of(word, "expl"):
            return
        if self.upos[word] in {"VERB", "AUX", "_"} or self._of(word, "cop"):
            for subject in self._subjects(first):
                self.arcs[subject].setdefault(word, self.names[subject])

    def _controlled(self, word: int) -> None:
        """Give an open clause the subject that its head's object or subject is."""
        above = self.heads[word]
        if not above or _base(self.names[word]) != "xcomp":
            return
        for subject in (self._of(above, "obj") or self._of(above, "iobj") or self._subjects(above))[:1]:
            self.arcs[subject].setdefault(word, CONTROLLED)
