"""Triples of subject, verb and object, read from the enhanced graphs of sentences.

Passives, conjuncts, control and relative clauses are resolved.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final, final

from ropewalk.morphology.enhancement import base_relation, by_rules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ropewalk.treebank.documents import Sentence, Word

VERBAL: Final = frozenset({"VERB", "AUX", "_"})
SUBJECTS: Final = frozenset({"nsubj", "csubj"})
PASSIVE: Final = ("nsubj:pass", "csubj:pass", "aux:pass")
OWN_SUBJECTS: Final = SUBJECTS | {"expl"}
OWN_OBJECTS: Final = frozenset({"obj", "ccomp", "xcomp"})
AGENTS: Final = ("obl:agent", "obl:by")  # of a passive; relations may go on with `:` and a case


@final
@dataclass(frozen=True, slots=True)
class Triple:
    """A verb with its subject and object; each is None if the clause has none.

    If the verb is passive, `subject` is the agent and `object` is the passive subject, as if the clause were active.
    """

    subject: Word | None
    verb: Word
    object: Word | None
    passive: bool = False

    def __str__(self) -> str:
        return f"({self.subject or '-'}, {self.verb}, {self.object or '-'})"


def triples(sentence: Sentence) -> Iterator[Triple]:
    """Yield the triples of a sentence, verb by verb; each combination of a subject and an object yields one.

    They are read from the enhanced graph in DEPS or from a parser. If the sentence has none, `by_rules` makes one from
    its tree. A verb that is a conjunct of another verb shares the other's subjects, unless it has its own. It also
    shares the other's objects and agents that follow both verbs. Clauses with a copula yield no triple.
    """
    clauses = _Clauses(sentence)
    for verb in sentence:
        if _is_verb(verb):
            yield from clauses.triples(verb)


class _Clauses:
    """The dependents of the words of one sentence in its enhanced graph, from which triples are made."""

    def __init__(self, sentence: Sentence) -> None:
        self.sentence = sentence
        self.dependents: dict[int, dict[int, str]] = {}  # of each word: the words and their relations
        arcs = list(_arcs(sentence))
        antecedents = {
            word: head for head, word, relation in arcs if base_relation(relation) == "ref"
        }  # of relative pronouns
        for head, word, relation in arcs:
            self.dependents.setdefault(head, {}).setdefault(antecedents.get(word, word), relation)
        self.known: dict[int, dict[int, str]] = {}

    def arguments(self, verb: Word) -> dict[int, str]:
        """Return the dependents of a verb, as word indices with their relations.

        If the verb is a conjunct of another verb, they include the arguments that it shares with that verb.
        """
        if verb.index not in self.known:
            arguments = self.known[verb.index] = dict(self.dependents.get(verb.index, {}))
            if base_relation(verb.relation) == "conj" and verb.head is not None and _is_verb(verb.head):
                own = {base_relation(child.relation) for child in verb.children}
                for word, relation in self.arguments(verb.head).items():
                    is_subject = base_relation(relation) in SUBJECTS and not own & OWN_SUBJECTS
                    is_object = base_relation(relation) == "obj" and not own & OWN_OBJECTS
                    if is_subject or ((is_object or _is_agent(relation)) and word > verb.index):
                        arguments.setdefault(word, relation)
        return self.known[verb.index]

    def triples(self, verb: Word) -> Iterator[Triple]:
        """Yield the triples of one verb; none if it has neither subject nor object."""
        arguments = self.arguments(verb)
        subjects = [word for word, relation in arguments.items() if base_relation(relation) in SUBJECTS]
        objects = [word for word, relation in arguments.items() if base_relation(relation) == "obj"]
        passive = _is_passive(verb, arguments)
        if passive:
            objects = objects or subjects
            subjects = [word for word, relation in arguments.items() if _is_agent(relation)]
        if subjects or objects:
            for subject, thing in product(subjects or [0], objects or [0]):
                yield Triple(self._word(subject), verb, self._word(thing), passive=passive)

    def _word(self, index: int) -> Word | None:
        return self.sentence[index - 1] if index else None


def _is_verb(word: Word) -> bool:
    return word.upos in VERBAL and "cop" not in {base_relation(child.relation) for child in word.children}


def _is_passive(verb: Word, arguments: dict[int, str]) -> bool:
    """Return whether a verb is passive.

    It is if a child has a passive relation, or if one of `arguments` has and the verb is not finite.
    """
    if any(child.relation.startswith(PASSIVE) for child in verb.children):
        return True
    shared = any(relation.startswith(PASSIVE) for relation in arguments.values())
    return shared and verb.feats.get("VerbForm") != "Fin"


def _is_agent(relation: str) -> bool:
    return any(relation == agent or relation.startswith(f"{agent}:") for agent in AGENTS)


def _arcs(sentence: Sentence) -> Iterator[tuple[int, int, str]]:
    """Yield head, dependent and relation of each enhanced arc between two words, not empty nodes."""
    for word in sentence if any(word.heads for word in sentence) else _enhanced(sentence):
        for head in word.heads:
            if head.word is not None:
                yield head.word.index, word.index, head.relation


def _enhanced(sentence: Sentence) -> Sentence:
    """Return a copy of a sentence in its own treebank, with the enhanced graph that `by_rules` makes."""
    alone = sentence.treebank.select([sentence.number])
    return alone.with_graphs(by_rules(alone))[0]
