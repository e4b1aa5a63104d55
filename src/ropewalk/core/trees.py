"""Trees as values, one or many: checked once, never changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ropewalk.core.arrays import (
    HIGHEST,
    LOWEST,
    Rebuilt,
    as_array,
    frozen_array,
    frozen_ints,
    ints,
    numbers_below,
    one_number,
)
from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets
from ropewalk.errors import (
    CycleError,
    GraphError,
    HeadRangeError,
    MismatchError,
    MissingHeadError,
    RootError,
    TreeError,
    demand_type,
)
from ropewalk.kernels import trees as kernel
from ropewalk.kernels import view
from ropewalk.kernels.codes import HEAD_MISSING, HEAD_OUT_OF_RANGE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from ropewalk.core.arrays import Bools, Ints

Item = TypeVar("Item")

PATH = ">"  # between the relations of a path through empty nodes
MOST_PLANES = 100  # as many as an encoding may have: to look for more could take the square of a sentence's length
UP, DOWN = "¡", "!"  # what marks relations of arcs that were lifted: before a head's relation, and after one on the way


def is_root_relation(relation: str) -> bool:
    """Return whether a relation is that of a root: with a subtype, marks of lifting, or a path that begins there."""
    return relation.partition(PATH)[0].partition(UP)[0].rstrip(DOWN).partition(":")[0] == "root"


def scratch(offsets: Offsets, extra: int = 2) -> Ints:
    """Allocate one number per node of the longest sentence, and `extra` more."""
    return np.zeros(offsets.longest + extra, dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class HeadFaults:
    """Faults of the heads of each sentence: a code, 0 for a tree, the word at fault, and the number of roots."""

    codes: Ints
    words: Ints
    roots: Ints

    @property
    def bad(self) -> Bools:
        """Whether each sentence is no tree with one root."""
        return np.asarray((self.codes != 0) | (self.roots != 1))


def check_heads(heads: npt.ArrayLike, offsets: Offsets | npt.ArrayLike) -> HeadFaults:
    """Check many sentences for missing heads, heads out of range and cycles, and count their roots."""
    array = ints(heads, "heads")
    bounds = Offsets.of(offsets, end=len(array))
    faults = HeadFaults(*(np.zeros(len(bounds), dtype=np.int32) for _ in range(3)))
    kernel.check(
        view(array),
        view(bounds.array),
        view(faults.codes),
        view(faults.words),
        view(faults.roots),
        view(scratch(bounds)),
    )
    return faults


def tree_error(heads: Ints, code: int, word: int) -> TreeError:
    """Return the error for what `check_heads` found in one sentence."""
    if code == HEAD_MISSING:
        return MissingHeadError(word)
    if code == HEAD_OUT_OF_RANGE:
        return HeadRangeError(word, int(heads[word - 1]), len(heads))
    cycle = [word]
    while int(heads[cycle[-1] - 1]) != word:
        cycle.append(int(heads[cycle[-1] - 1]))
    low = cycle.index(min(cycle))
    return CycleError(cycle[low:] + cycle[:low])


def _tree_heads(heads: Iterable[int]) -> Ints:
    """Return the heads of one tree, or raise a `TreeError` that names the word whose head is no integer."""
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
        faults = check_heads(array, Offsets.one(len(array)))
        if faults.codes[0]:
            raise tree_error(array, int(faults.codes[0]), int(faults.words[0]))
        if single_root and faults.roots[0] > 1:
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
    def roots(self) -> tuple[int, ...]:
        """The words that hang on node 0."""
        return tuple(int(root) + 1 for root in np.flatnonzero(self.heads == 0))

    def dependents(self, head: int) -> tuple[int, ...]:
        """Return the words that hang on a word, or on node 0, in order."""
        return tuple(int(word) + 1 for word in np.flatnonzero(self.heads == head))

    def arcs(self) -> list[tuple[int, int]]:
        """Return (head, dependent) pairs in the order of the dependents."""
        return [(int(head), word + 1) for word, head in enumerate(self.heads)]


@dataclass(frozen=True, slots=True, eq=False)
class Trees(Rebuilt):
    """The trees of many sentences side by side, with a head and a relation for each word.

    The constructor checks all heads once and raises the `TreeError` of the first sentence that is no tree. Several
    words of a sentence may hang on the root. Without relations each word has `_`. Iteration gives each `Tree`.
    """

    heads: Ints
    offsets: Offsets
    relations: Column

    def __init__(self, heads: npt.ArrayLike, offsets: Offsets | npt.ArrayLike, relations: Column | None = None) -> None:
        array = frozen_ints(ints(heads, "heads"))
        bounds = Offsets.of(offsets, end=len(array))
        faults = check_heads(array, bounds)
        if faults.codes.any():
            sentence = int(np.flatnonzero(faults.codes)[0])
            error = tree_error(array[bounds[sentence]], int(faults.codes[sentence]), int(faults.words[sentence]))
            error.sentence = sentence + 1 if len(bounds) > 1 else 0
            raise error
        self._fill(array, bounds, relations)

    def _fill(self, heads: Ints, offsets: Offsets, relations: Column | None) -> None:
        if relations is not None and len(relations) != len(heads):
            raise MismatchError(f"{len(heads)} heads but {len(relations)} relations; each word needs one of each")
        object.__setattr__(self, "heads", frozen_array(heads))
        object.__setattr__(self, "offsets", offsets)
        object.__setattr__(self, "relations", Column.constant("_", len(heads)) if relations is None else relations)

    @classmethod
    def known(cls, heads: Ints, offsets: Offsets, relations: Column | None = None) -> Trees:
        """Return trees whose heads are trees by construction, such as repaired ones: they are not checked again."""
        trees = object.__new__(cls)
        trees._fill(heads, offsets, relations)
        return trees

    @classmethod
    def of(cls, trees: Tree | Iterable[Tree]) -> Trees:
        """Return a batch of some trees."""
        if isinstance(trees, np.ndarray) or not isinstance(trees, Tree | Iterable):
            raise MismatchError(f"trees: found {type(trees).__name__}; expected Tree or some that can be listed")
        listed = [trees] if isinstance(trees, Tree) else list(trees)
        for tree in listed:
            demand_type("a tree", tree, Tree)
        nothing = [np.zeros(0, dtype=np.int32)]
        return cls.known(
            np.concatenate(nothing + [tree.heads for tree in listed]),
            Offsets.of_lengths([len(tree) for tree in listed]),
            Column.of(relation for tree in listed for relation in tree.relations),
        )

    def __len__(self) -> int:
        return len(self.offsets)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trees):
            return NotImplemented
        return (
            self.offsets == other.offsets
            and np.array_equal(self.heads, other.heads)
            and self.relations.texts() == other.relations.texts()
        )

    def __hash__(self) -> int:
        return hash((self.offsets, self.heads.tobytes()))

    def __repr__(self) -> str:
        return f"<Trees of {len(self):,} sentences, {len(self.heads):,} words>"

    def __getitem__(self, sentence: int) -> Tree:
        where = self.offsets[range(len(self))[sentence]]
        return Tree(self.heads[where], self.relations[where].texts())

    def __iter__(self) -> Iterator[Tree]:
        return map(self.__getitem__, range(len(self)))

    def with_relations(self, relations: Column) -> Trees:
        """Return the same trees with other relations."""
        return Trees.known(self.heads, self.offsets, relations)

    def with_heads(self, heads: Ints) -> Trees:
        """Return trees over the same words that are known to be trees, with the same relations."""
        return Trees.known(heads, self.offsets, self.relations)

    def select(self, sentences: npt.NDArray[np.integer]) -> Trees:
        """Return the trees of some sentences, by their numbers."""
        offsets, words = self.offsets.select(sentences)
        return Trees.known(self.heads[words], offsets, self.relations.take(words))


def _listed(values: Iterable[Item], what: str) -> Iterable[Item]:
    if not isinstance(values, Iterable):
        raise GraphError(f"{what} are {values!r}; expected some that can be listed")
    return values


def projective(trees: Trees) -> Bools:
    """Return for each tree whether no two of its arcs cross, arcs from node 0 included."""
    demand_type("trees", trees, Trees)
    out = np.zeros(len(trees), dtype=np.uint8)
    workspace = kernel.Dependents(trees.offsets.longest + 2)
    kernel.projective(view(trees.heads), view(trees.offsets.array), view(out), workspace)
    return out.view(np.bool_)


def planes(trees: Trees) -> Ints:
    """Return the plane, from 1, of every word's arc.

    Arcs go breadth-first from the root, children in word order, into the first plane in which they cross
    nothing. One that finds none among the first MOST_PLANES gets the number after them.
    """
    demand_type("trees", trees, Trees)
    out = np.zeros(len(trees.heads), dtype=np.int32)
    workspace = kernel.Crossed(trees.offsets.longest + 2)
    kernel.planes(view(trees.heads), view(trees.offsets.array), MOST_PLANES, view(out), workspace)
    return out


def gap_degrees(trees: Trees) -> Ints:
    """Return for each tree the largest number of gaps in the span of one word's descendants."""
    demand_type("trees", trees, Trees)
    out = np.zeros(len(trees), dtype=np.int32)
    workspace = kernel.Dependents(trees.offsets.longest + 2)
    kernel.gap_degrees(view(trees.heads), view(trees.offsets.array), view(out), workspace)
    return out


def is_projective(tree: Tree) -> bool:
    """Return whether no two arcs of the tree cross, arcs from node 0 included."""
    demand_type("a tree", tree, Tree)
    return bool(projective(Trees.of(tree))[0])


def tree_planes(tree: Tree) -> Ints:
    """Return the plane, from 1, of the arc into each word."""
    demand_type("a tree", tree, Tree)
    return planes(Trees.of(tree))


def gap_degree(tree: Tree) -> int:
    """Return the largest number of gaps in the span of one word's descendants: 0 if every span is whole."""
    demand_type("a tree", tree, Tree)
    return int(gap_degrees(Trees.of(tree))[0])


def stackable(trees: Trees, arc_planes: Ints, many: int) -> Bools:
    """Return for each tree whether no two arcs of one plane and one direction cross.

    Arcs outside the first `many` planes count as of the first.
    """
    demand_type("trees", trees, Trees)
    size = len(trees.heads)
    arc_planes = ints(numbers_below(arc_planes, size + 1, "planes of arcs", size=size), "planes of arcs")
    # a plane without arcs changes nothing, so the loop over planes stays short
    many = min(one_number(many, "the number of planes", least=1), max(int(arc_planes.max(initial=1)), 1))
    out = np.zeros(len(trees), dtype=np.uint8)
    kernel.stackable(
        view(trees.heads), view(trees.offsets.array), view(arc_planes), many, view(out), view(scratch(trees.offsets))
    )
    return out.view(np.bool_)


def single_rooted(trees: Trees) -> Bools:
    """Return for each tree whether at most one word hangs on node 0."""
    demand_type("trees", trees, Trees)
    return np.asarray(trees.offsets.sums(trees.heads == 0) <= 1)


def same_heads(first: Ints, second: Ints, offsets: Offsets) -> Bools:
    """Return for each sentence whether all its heads agree."""
    demand_type("offsets", offsets, Offsets)
    return np.asarray(offsets.sums(offsets.demand(first, "heads") != offsets.demand(second, "heads")) == 0)
