"""Search plans: the syntax of a pattern becomes blocks of words and the relations between them.

A plan does not depend on a treebank.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ropewalk.errors import PatternError
from ropewalk.kernels import codes
from ropewalk.search.syntax import (
    UNBOUNDED,
    PatternCondition,
    PatternGroup,
    PatternNode,
    PatternRelation,
    PatternSyntax,
    PatternValue,
    alternatives,
)

MOST_WORDS: Final = 24


@dataclass(slots=True, eq=False)
class PatternWord:
    """A word that a block searches for; it must fulfil all its `clauses`.

    A clause is a list of conditions, all of which must hold, and whether the clause is negated.
    """

    name: str = ""
    clauses: list[tuple[tuple[PatternCondition, ...], bool]] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class PatternEdge:
    """A relation that must hold between the words `a` and `b`; `code` is its kind, a constant of `kernels.codes`.

    `low` and `high` limit the distance of the two words. `labels` are the allowed relations of arcs of the enhanced
    graph.
    """

    code: int
    a: PatternWord
    b: PatternWord
    low: int = 0
    high: int = UNBOUNDED
    labels: tuple[PatternValue, ...] = ()


@dataclass(slots=True, eq=False)
class PatternPart:
    """A block that is counted: at least `fewest` and at most `most` words must match as its first word."""

    block: PatternBlock
    fewest: int
    most: int


@dataclass(slots=True, eq=False)
class PatternBlock:
    """Words that must be found together, the relations between them, and parts whose matches are counted.

    If `counted` is set, it is the word that is searched first, and the words that match it are counted.
    """

    words: list[PatternWord] = field(default_factory=list)
    edges: list[PatternEdge] = field(default_factory=list)
    parts: list[PatternPart] = field(default_factory=list)
    counted: PatternWord | None = None

    def outer(self) -> set[PatternWord]:
        """Return the words of other blocks that this one or its parts refer to."""
        referenced = {word for edge in self.edges for word in (edge.a, edge.b)}
        for part in self.parts:
            referenced |= part.block.outer()
        return referenced - set(self.words)

    def size(self) -> int:
        """Return the number of words of this block and of all its parts."""
        return len(self.words) + sum(part.block.size() for part in self.parts)


def blocks_of(syntax: PatternSyntax) -> list[PatternBlock]:
    """Return one block for each choice among the alternatives of a pattern.

    The first word of each block is the first node of the pattern.
    """
    out = []
    for groups in alternatives(syntax.groups, syntax.text):
        builder = _Builder(syntax.text)
        block = PatternBlock()
        scope: dict[str, PatternWord] = {}
        builder.add(block, groups, scope)
        for without in syntax.without:
            for choice in alternatives(without, syntax.text):
                part = PatternBlock()
                builder.add(part, choice, dict(scope))
                block.parts.append(PatternPart(part, 0, 0))
        if block.size() > MOST_WORDS:
            raise PatternError(f"the pattern has {block.size()} nodes; at most {MOST_WORDS} are joined", syntax.text, 0)
        out.append(block)
    return out


class _Builder:
    def __init__(self, text: str) -> None:
        self._text = text

    def add(self, block: PatternBlock, groups: tuple[PatternGroup, ...], scope: dict[str, PatternWord]) -> None:
        """Add groups of a pattern to a block.

        Words that belong to the match are added first. Negated and counted relations become parts of the block after
        that, because they may refer to these words. `scope` maps names to words.
        """
        waiting: list[tuple[PatternWord, PatternRelation]] = []
        for group in groups:
            self._group(block, group, scope, waiting)
        for word, relation in waiting:
            part = PatternBlock()
            inner = dict(scope)
            self.add(part, (relation.target,), inner)
            part.counted = part.words[0]
            self._relate(part, relation, word, part.counted)
            block.parts.append(PatternPart(part, relation.fewest or 0, relation.most))

    def _group(
        self,
        block: PatternBlock,
        group: PatternGroup,
        scope: dict[str, PatternWord],
        waiting: list[tuple[PatternWord, PatternRelation]],
    ) -> PatternWord:
        word = self._word(block, group.node, scope)
        for relation in group.constraints:
            assert isinstance(relation, PatternRelation)  # noqa: S101 - alternatives are gone
            if relation.fewest is not None:
                waiting.append((word, relation))
            else:
                self._relate(block, relation, word, self._group(block, relation.target, scope, waiting))
        return word

    @staticmethod
    def _word(block: PatternBlock, node: PatternNode, scope: dict[str, PatternWord]) -> PatternWord:
        word = scope.get(node.name) if node.name else None
        if word is None:
            word = PatternWord(node.name)
            block.words.append(word)
            if node.name:
                scope[node.name] = word
        elif word not in block.words:
            word = _local(block, word)
        if node.conditions or node.negated:
            word.clauses.append((node.conditions, node.negated))
        return word

    @staticmethod
    def _relate(block: PatternBlock, relation: PatternRelation, left: PatternWord, right: PatternWord) -> None:
        sign = relation.operator
        low, high = relation.bounds or (1, UNBOUNDED)
        if sign[0] == "<":
            upper, lower = right, left
        else:
            upper, lower = left, right
        if relation.labels and not relation.enhanced:
            lower = lower if lower in block.words else _local(block, lower)
            lower.clauses.append(((PatternCondition("relation", ":", relation.labels, relation.position),), False))
        if relation.enhanced:
            code = {1: codes.ARC_TO, 2: codes.PATH_TO}[len(sign)] if sign[0] in "<>" else codes.ARC_SIBLING_OF
            block.edges.append(PatternEdge(code, upper, lower, labels=relation.labels))
        elif sign[0] in "<>":
            code = codes.ANCESTOR_OF if sign in {"<<", ">>"} else codes.HEAD_OF
            block.edges.append(PatternEdge(code, upper, lower, low, high))
        elif sign[0] == "$":
            block.edges.append(PatternEdge(codes.SIBLING_OF, left, right))
        elif sign in {"==", "!=", "~"}:
            code = {"==": codes.SAME, "!=": codes.OTHER, "~": codes.SAME_SUBTREE}[sign]
            block.edges.append(PatternEdge(code, left, right))
        order = sign[1:] if sign[0] in "<>$" else sign
        if order in {"++", "+"}:
            block.edges.append(PatternEdge(codes.BEFORE, left, right, 1, UNBOUNDED if order == "++" else 1))
        elif order in {"..", "."}:
            block.edges.append(PatternEdge(codes.BEFORE, left, right, low, high if order == ".." else 1))
        elif order in {"--", "-"}:
            block.edges.append(PatternEdge(codes.BEFORE, right, left, low, high if order == "--" else 1))


def _local(block: PatternBlock, word: PatternWord) -> PatternWord:
    """Add to `block` a word that must be equal to `word` of another block, and return it.

    Conditions on the new word hold only in `block`.
    """
    local = PatternWord()
    block.words.append(local)
    block.edges.append(PatternEdge(codes.SAME, local, word))
    return local
