"""Trees and graphs as values: validated once, never changed."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ropewalk.core.arrays import (
    HIGHEST,
    LOWEST,
    Bools,
    Ints,
    as_array,
    checked_offsets,
    frozen_ints,
    ints,
    numbers_below,
    one_number,
    unchangeable,
)
from ropewalk.errors import (
    CycleError,
    GraphError,
    HeadRangeError,
    MissingHeadError,
    RootError,
    TreeError,
    demand_type,
)
from ropewalk.kernels import trees as kernel
from ropewalk.kernels import view
from ropewalk.kernels.codes import HEAD_MISSING, HEAD_OUT_OF_RANGE

if TYPE_CHECKING:
    from collections.abc import Sequence

Item = TypeVar("Item")

PATH = ">"  # between the relations of a path through empty nodes
MOST_PLANES = 100  # as many as an encoding may have: to look for more could take the square of a sentence's length
UP, DOWN = "¡", "!"  # what marks relations of arcs that were lifted: before a head's relation, and after one on the way


def is_root_relation(relation: str) -> bool:
    """Tell whether a relation is that of a root: with a subtype, marks of lifting, or a path that begins there."""
    return relation.partition(PATH)[0].partition(UP)[0].rstrip(DOWN).partition(":")[0] == "root"


def scratch(offsets: Ints, extra: int = 2) -> Ints:
    """Make room for one number per node of the longest sentence."""
    longest = int((offsets[1:] - offsets[:-1]).max(initial=0))
    return np.zeros(longest + extra, dtype=np.int32)


def positions(offsets: Ints) -> Ints:
    """Give each word's number within its sentence, counted from 1."""
    offsets = checked_offsets(offsets)
    return np.arange(1, int(offsets[-1]) + 1, dtype=np.int32) - np.repeat(offsets[:-1], np.diff(offsets))


def tree_error(heads: Ints, code: int, word: int) -> TreeError:
    """Make the error for what `kernels.trees.check` found in one sentence."""
    if code == HEAD_MISSING:
        return MissingHeadError(word)
    if code == HEAD_OUT_OF_RANGE:
        return HeadRangeError(word, int(heads[word - 1]), len(heads))
    cycle = [word]
    while int(heads[cycle[-1] - 1]) != word:
        cycle.append(int(heads[cycle[-1] - 1]))
    low = cycle.index(min(cycle))
    return CycleError(cycle[low:] + cycle[:low])


@dataclass(frozen=True, slots=True, eq=False)
class Checked:
    """What is wrong with each of many sentences: a code, the word at fault, the number of roots."""

    codes: Ints
    words: Ints
    roots: Ints


def heads_and_offsets(heads: Ints, offsets: Ints) -> tuple[Ints, Ints]:
    """Take heads of any kind, and the places where sentences begin and end among them."""
    heads = ints(heads, "heads")
    return heads, checked_offsets(offsets, end=len(heads))


def check(heads: Ints, offsets: Ints) -> Checked:
    """Look at many sentences at once for missing heads, heads out of range and cycles; count roots."""
    heads, offsets = heads_and_offsets(heads, offsets)
    sentences = len(offsets) - 1
    found = Checked(*(np.zeros(sentences, dtype=np.int32) for _ in range(3)))
    kernel.check(
        view(heads),
        view(offsets),
        view(found.codes),
        view(found.words),
        view(found.roots),
        view(scratch(offsets)),
    )
    return found


_trees: dict[tuple[int, int], tuple[weakref.ref[Ints], weakref.ref[Ints]]] = {}


def checked_trees(heads: Ints, offsets: Ints) -> tuple[Ints, Ints]:
    """Take the heads of many trees as a kernel needs them, or raise the `TreeError` of the first that is none.

    Arrays that nobody can change are looked at once and remembered as long as they live: it costs next to nothing to
    ask again.
    """
    key = id(heads), id(offsets)
    known = _trees.get(key)
    if known is not None and known[0]() is heads and known[1]() is offsets:
        return heads, offsets
    given = heads, offsets
    heads, offsets = heads_and_offsets(heads, offsets)
    found = check(heads, offsets)
    if found.codes.any():
        sentence = int(np.flatnonzero(found.codes)[0])
        own = heads[offsets[sentence] : offsets[sentence + 1]]
        error = tree_error(own, int(found.codes[sentence]), int(found.words[sentence]))
        error.sentence = sentence + 1 if len(offsets) > 2 else 0
        raise error
    if heads is given[0] and offsets is given[1] and unchangeable(heads) and unchangeable(offsets):

        def forget(_: object) -> None:
            _trees.pop(key, None)

        _trees[key] = weakref.ref(heads, forget), weakref.ref(offsets, forget)
    return heads, offsets


def _tree_heads(heads: Iterable[int]) -> Ints:
    """Take the heads of one tree, or say which word's is no integer or leaves the sentence."""
    array = as_array(heads, "heads")
    if array.ndim != 1:
        raise GraphError(f"heads must be one row of integers, found an array of shape {array.shape}")
    if array.dtype == np.int32 or not len(array):
        return frozen_ints(array, "heads")
    for word, head in enumerate(array.tolist(), start=1):
        if not isinstance(head, int):
            raise TreeError(f"word {word}: HEAD is {head!r}; expected an integer", word)
        if not LOWEST <= head <= HIGHEST:
            raise HeadRangeError(word, head, len(array))
    return frozen_ints(array.astype(np.int32), "heads")


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A dependency tree over words 1…n: `heads[d-1]` is the head of word d, and 0 is the root.

    The constructor checks the heads once and raises a `TreeError` if they are no tree. Several words may hang
    on the root unless `single_root` is set.
    """

    heads: Ints
    relations: tuple[str, ...]

    def __init__(
        self, heads: Iterable[int], relations: Sequence[str] | None = None, *, single_root: bool = False
    ) -> None:
        array = _tree_heads(heads)
        names = tuple(_listed(relations, "relations")) if relations is not None else ("_",) * len(array)
        if len(names) != len(array):
            raise GraphError(f"{len(array)} heads but {len(names)} relations; each word needs one of each")
        if strange := [name for name in names if not isinstance(name, str)]:
            raise GraphError(f"a relation is {strange[0]!r}; expected text")
        found = check(array, np.array([0, len(array)], dtype=np.int32))
        if found.codes[0]:
            raise tree_error(array, int(found.codes[0]), int(found.words[0]))
        if single_root and found.roots[0] > 1:
            raise RootError([int(root) + 1 for root in np.flatnonzero(array == 0)])
        object.__setattr__(self, "heads", array)
        object.__setattr__(self, "relations", names)

    def __len__(self) -> int:
        return len(self.heads)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return self.relations == other.relations and np.array_equal(self.heads, other.heads)

    def __hash__(self) -> int:
        return hash((self.heads.tobytes(), self.relations))

    def __repr__(self) -> str:
        return f"Tree({self.heads.tolist()}, {list(self.relations)})"

    @property
    def offsets(self) -> Ints:
        """The tree as a batch of one."""
        return np.array([0, len(self.heads)], dtype=np.int32)

    @property
    def roots(self) -> tuple[int, ...]:
        """The words that hang on node 0."""
        return tuple(int(root) + 1 for root in np.flatnonzero(self.heads == 0))

    def dependents(self, head: int) -> tuple[int, ...]:
        """The words that hang on a word, or on node 0, in order."""
        return tuple(int(word) + 1 for word in np.flatnonzero(self.heads == head))

    def arcs(self) -> list[tuple[int, int]]:
        """(head, dependent) pairs in the order of the dependents."""
        return [(int(head), word + 1) for word, head in enumerate(self.heads)]


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """A directed graph over words 1…n and node 0: any number of heads per word, cycles allowed.

    Arcs are kept sorted by dependent, then head, then relation. An arc from a word to itself, into node 0, outside the
    sentence or given twice with the same relation raises a `GraphError`.
    """

    words: int
    heads: Ints
    dependents: Ints
    relations: tuple[str, ...]

    def __init__(self, words: int, arcs: Iterable[tuple[int, int] | tuple[int, int, str]]) -> None:
        if not isinstance(words, int | np.integer) or not 0 <= words < HIGHEST:
            raise GraphError(f"a graph over {words!r} words; expected their number")
        rows = sorted(_row(arc) for arc in _listed(arcs, "arcs"))
        for row, (dependent, head, _) in enumerate(rows):
            if head == dependent:
                raise GraphError(f"the arc {head}->{dependent} joins a word to itself")
            if not (1 <= dependent <= words and 0 <= head <= words):
                raise GraphError(f"the arc {head}->{dependent} leaves the sentence of {words} words")
            if row and rows[row - 1] == rows[row]:
                raise GraphError(f"the arc {head}->{dependent} is given twice with the same relation")
        object.__setattr__(self, "words", int(words))
        object.__setattr__(self, "heads", frozen_ints(head for _, head, _ in rows))
        object.__setattr__(self, "dependents", frozen_ints(dependent for dependent, _, _ in rows))
        object.__setattr__(self, "relations", tuple(relation for _, _, relation in rows))

    @classmethod
    def from_tree(cls, tree: Tree) -> Graph:
        """Take a tree as a graph in which each word has one head."""
        return cls(len(tree), [(h, d, r) for (h, d), r in zip(tree.arcs(), tree.relations, strict=True)])

    def __len__(self) -> int:
        return self.words

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return (
            self.words == other.words
            and self.relations == other.relations
            and np.array_equal(self.heads, other.heads)
            and np.array_equal(self.dependents, other.dependents)
        )

    def __hash__(self) -> int:
        return hash((self.words, self.heads.tobytes(), self.dependents.tobytes(), self.relations))

    def __repr__(self) -> str:
        return f"Graph({self.words}, {self.arcs()})"

    def arcs(self) -> list[tuple[int, int]]:
        """(head, dependent) pairs sorted by dependent, then head."""
        return [(int(h), int(d)) for h, d in zip(self.heads, self.dependents, strict=True)]


def _listed(values: Iterable[Item], what: str) -> Iterable[Item]:
    if not isinstance(values, Iterable):
        raise GraphError(f"{what} are {values!r}; expected some that can be listed")
    return values


def _row(arc: tuple[int, int] | tuple[int, int, str]) -> tuple[int, int, str]:
    """Turn an arc into dependent, head and relation."""
    try:
        head, dependent, relation = arc if len(arc) > 2 else (*arc, "_")
    except (TypeError, ValueError) as error:
        raise GraphError(f"an arc is {arc!r}; expected a head, a dependent and perhaps a relation") from error
    if not isinstance(head, int | np.integer) or not isinstance(dependent, int | np.integer):
        raise GraphError(f"the arc {head!r}->{dependent!r} does not join two words by their numbers")
    if not isinstance(relation, str):
        raise GraphError(f"the relation of the arc {head}->{dependent} is {relation!r}; expected text")
    return int(dependent), int(head), relation


def projective(heads: Ints, offsets: Ints) -> Bools:
    """Tell for each of many trees whether no two of its arcs cross, arcs from node 0 included."""
    heads, offsets = checked_trees(heads, offsets)
    out = np.zeros(len(offsets) - 1, dtype=np.uint8)
    kernel.projective(view(heads), view(offsets), view(out), *(view(scratch(offsets)) for _ in range(3)))
    return out.view(np.bool_)


def planes(heads: Ints, offsets: Ints) -> Ints:
    """Give the plane, from 1, of every word's arc in each of many trees.

    Arcs go breadth-first from the root, children in word order, into the first plane in which they cross
    nothing. One that finds none among the first MOST_PLANES is given the number after them.
    """
    heads, offsets = checked_trees(heads, offsets)
    out = np.zeros(len(heads), dtype=np.int32)
    longest = len(scratch(offsets, 1))
    workspace = [*(scratch(offsets) for _ in range(4)), *(np.empty(2 * longest, dtype=np.int32) for _ in range(2))]
    kernel.planes(view(heads), view(offsets), MOST_PLANES, view(out), *map(view, workspace))
    return out


def gap_degrees(heads: Ints, offsets: Ints) -> Ints:
    """Give for each of many trees the largest number of gaps in the span of one word's descendants."""
    heads, offsets = checked_trees(heads, offsets)
    out = np.zeros(len(offsets) - 1, dtype=np.int32)
    kernel.gap_degrees(view(heads), view(offsets), view(out), view(scratch(offsets)), view(scratch(offsets)))
    return out


def is_projective(tree: Tree) -> bool:
    """Return whether no two arcs of the tree cross, arcs from node 0 included."""
    demand_type("a tree", tree, Tree)
    return bool(projective(tree.heads, tree.offsets)[0])


def tree_planes(tree: Tree) -> Ints:
    """Return the plane, from 1, of the arc into each word."""
    demand_type("a tree", tree, Tree)
    return planes(tree.heads, tree.offsets)


def gap_degree(tree: Tree) -> int:
    """Return the largest number of gaps in the span of one word's descendants: 0 if every span is whole."""
    demand_type("a tree", tree, Tree)
    return int(gap_degrees(tree.heads, tree.offsets)[0])


def crossing_arcs(structure: Tree | Graph) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """List the pairs of (head, dependent) arcs that cross, each pair with the leftmost arc first."""
    demand_type("a tree or graph", structure, Tree, Graph)
    arcs = sorted(structure.arcs(), key=lambda arc: (min(arc), max(arc)))
    return [
        (arc, other)
        for place, arc in enumerate(arcs)
        for other in arcs[place + 1 :]
        if min(arc) < min(other) < max(arc) < max(other)
    ]


def stackable(heads: Ints, offsets: Ints, arc_planes: Ints, many: int) -> Bools:
    """Tell for each of many trees whether no two arcs of one plane and one direction cross.

    Arcs outside the first `many` planes count as of the first.
    """
    heads, offsets = checked_trees(heads, offsets)
    arc_planes = ints(numbers_below(arc_planes, len(heads) + 1, "planes of arcs", size=len(heads)), "planes of arcs")
    # a plane without arcs changes nothing, so the loop over planes stays short
    many = min(one_number(many, "the number of planes", least=1), max(int(arc_planes.max(initial=1)), 1))
    out = np.zeros(len(offsets) - 1, dtype=np.uint8)
    kernel.stackable(view(heads), view(offsets), view(arc_planes), many, view(out), view(scratch(offsets)))
    return out.view(np.bool_)


def single_rooted(heads: Ints, offsets: Ints) -> Bools:
    """Tell for each of many trees whether one word hangs on node 0; a sentence without words counts as if."""
    heads, offsets = heads_and_offsets(heads, offsets)
    roots = np.concatenate([[0], np.cumsum(heads == 0)])
    return np.asarray(roots[offsets[1:]] - roots[offsets[:-1]] <= 1)


def same_trees(heads: Ints, others: Ints, offsets: Ints) -> Bools:
    """Tell for each sentence whether all its heads agree."""
    heads, offsets = heads_and_offsets(heads, offsets)
    others = ints(others, "the other heads", size=len(heads))
    wrong = np.concatenate([[0], np.cumsum(heads != others)])
    return np.asarray(wrong[offsets[1:]] == wrong[offsets[:-1]])
