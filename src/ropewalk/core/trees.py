"""Immutable trees of one sentence or many, whose heads are checked when they are built."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import ropewalk
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
    set_fields,
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
from ropewalk.kernels import new_ints, view
from ropewalk.kernels import trees as kernel
from ropewalk.kernels.codes import HEAD_MISSING, HEAD_OUT_OF_RANGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from ropewalk.core.arrays import Bools, Ints

Item = TypeVar("Item")

PATH = ">"  # between the relations of a path through empty nodes
MOST_PLANES = 100  # the most that an encoding may have; a search for more could take quadratic time
UP, DOWN = "¡", "!"  # marks in relations of lifted arcs: before a head's relation, and after one on the path


def is_root_relation(relation: str) -> bool:
    """Return whether a relation is `root`, perhaps with a subtype or marks of lifting.

    A path of relations through empty nodes, such as `root>obj`, counts if it begins with `root`.
    """
    return relation.partition(PATH)[0].partition(UP)[0].rstrip(DOWN).partition(":")[0] == "root"


@dataclass(frozen=True, slots=True, eq=False)
class HeadFaults:
    """A fault in the heads of each sentence, as a code (0 for a tree), its word, and the number of roots.

    `heads` and `offsets` are the heads that were checked. The codes are those of `kernels.codes`.
    """

    heads: Ints
    offsets: Offsets
    codes: Ints
    words: Ints
    roots: Ints

    @property
    def bad(self) -> Bools:
        """For each sentence true if its heads are no tree, or a tree with no root or several."""
        return np.asarray((self.codes != 0) | (self.roots != 1))

    def error(self, sentence: int) -> TreeError | None:
        """Return an error that describes the fault of one sentence, or None for a tree; several roots are no fault."""
        code, word = int(self.codes[sentence]), int(self.words[sentence])
        if not code:
            return None
        heads = self.heads[self.offsets[sentence]]
        if code == HEAD_MISSING:
            return MissingHeadError(word)
        if code == HEAD_OUT_OF_RANGE:
            return HeadRangeError(word, int(heads[word - 1]), len(heads))
        cycle = [word]
        while int(heads[cycle[-1] - 1]) != word:
            cycle.append(int(heads[cycle[-1] - 1]))
        low = cycle.index(min(cycle))
        return CycleError(cycle[low:] + cycle[:low])


def check_heads(heads: npt.ArrayLike, offsets: Offsets | npt.ArrayLike) -> HeadFaults:
    """Check the heads of many sentences: return missing heads, heads out of range, cycles, and the number of roots."""
    array = ints(heads, "heads")
    bounds = Offsets.of(offsets, end=len(array))
    codes, words, roots = np.zeros((3, len(bounds)), dtype=np.int32)
    workspace = new_ints(bounds.longest + 2)
    kernel.check(view(array), view(bounds.array), view(codes), view(words), view(roots), workspace)
    return HeadFaults(array, bounds, codes, words, roots)


def _tree_heads(heads: Iterable[int]) -> Ints:
    """Return `heads` as a frozen array; raise a `TreeError` that names the first word whose head is no integer."""
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

    The constructor checks the heads and raises a `TreeError` if they are no tree. With `single_root` it also raises one
    if several words depend on node 0. Without `relations` each relation is `_`.
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
        if error := faults.error(0):
            raise error
        if single_root and faults.roots[0] > 1:
            raise RootError([int(root) + 1 for root in np.flatnonzero(array == 0)])
        set_fields(self, heads=array, relations=names)

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

    def _repr_html_(self) -> str:
        """Return the tree as a picture, which a notebook shows."""
        return ropewalk.draw(self)._repr_html_()

    @property
    def roots(self) -> tuple[int, ...]:
        """The words that depend on node 0, counted from 1."""
        return tuple(int(root) + 1 for root in np.flatnonzero(self.heads == 0))

    def dependents(self, head: int) -> tuple[int, ...]:
        """Return the words, from left to right, whose head is the word `head`, or node 0."""
        return tuple(int(word) + 1 for word in np.flatnonzero(self.heads == head))

    def arcs(self) -> list[tuple[int, int]]:
        """Return the (head, dependent) pair of every word, sorted by dependent."""
        return [(int(head), word + 1) for word, head in enumerate(self.heads)]


@dataclass(frozen=True, slots=True, eq=False)
class Trees(Rebuilt):
    """The trees of many sentences as flat arrays, with a head and a relation for each word.

    The constructor checks all heads and raises the `TreeError` of the first sentence that is no tree. Several words of
    a sentence may depend on node 0. Without `relations` each relation is `_`. Iteration yields each `Tree`.
    """

    heads: Ints
    offsets: Offsets
    relations: Column

    def __init__(self, heads: npt.ArrayLike, offsets: Offsets | npt.ArrayLike, relations: Column | None = None) -> None:
        array = frozen_ints(ints(heads, "heads"))
        bounds = Offsets.of(offsets, end=len(array))
        faults = check_heads(array, bounds)
        if faults.codes.any() and (error := faults.error(sentence := int(np.argmax(faults.codes != 0)))):
            error.sentence = sentence + 1 if len(bounds) > 1 else 0
            raise error
        set_fields(self, heads=array, offsets=bounds, relations=_relation_column(relations, len(array)))

    @classmethod
    def known(cls, heads: Ints, offsets: Offsets, relations: Column | None = None) -> Trees:
        """Return trees without checking them; use it only for heads that are certainly trees, such as repaired ones."""
        trees = object.__new__(cls)
        relations = _relation_column(relations, len(heads))
        set_fields(trees, heads=frozen_array(heads), offsets=offsets, relations=relations)
        return trees

    @classmethod
    def of(cls, trees: Tree | Iterable[Tree]) -> Trees:
        """Return the batch of one tree, or of several."""
        if isinstance(trees, np.ndarray) or not isinstance(trees, Tree | Iterable):
            raise MismatchError(f"trees: found {type(trees).__name__}; expected a Tree or an iterable of them")
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
        """Return trees with other heads and the same relations; the heads must form trees, and are not checked."""
        return Trees.known(heads, self.offsets, self.relations)

    def select(self, sentences: npt.NDArray[np.integer]) -> Trees:
        """Return the trees of the sentences with these indices, in this order."""
        offsets, words = self.offsets.select(sentences)
        return Trees.known(self.heads[words], offsets, self.relations.take(words))


def _relation_column(relations: Column | None, words: int) -> Column:
    """Return the relations of `words` words; each is `_` if `relations` is None."""
    if relations is None:
        return Column.constant("_", words)
    if len(relations) != words:
        raise MismatchError(f"{words} heads but {len(relations)} relations; each word needs one of each")
    return relations


def _listed(values: Iterable[Item], what: str) -> Iterable[Item]:
    if not isinstance(values, Iterable):
        raise GraphError(f"{what} are {values!r}; expected an iterable")
    return values


def _each_tree(measure: Callable[..., None], trees: Trees, kind: type[np.generic]) -> npt.NDArray[Any]:
    """Return an array with a value of type `kind` for each tree, computed by the kernel `measure`."""
    demand_type("trees", trees, Trees)
    out = np.zeros(len(trees), dtype=kind)
    workspace = kernel.Dependents(trees.offsets.longest + 2)
    measure(view(trees.heads), view(trees.offsets.array), view(out), workspace)
    return out


def projective(trees: Trees) -> Bools:
    """Return for each tree whether no two of its arcs cross, arcs from node 0 included."""
    return _each_tree(kernel.projective, trees, np.uint8).view(np.bool_)


def planes(trees: Trees) -> Ints:
    """Return the plane, from 1, of the arc into each word.

    Arcs are assigned to planes breadth-first from the root, the dependents of a word from left to right. Each arc gets
    the first plane in which it crosses no other, or MOST_PLANES + 1 if it has none among the first MOST_PLANES.
    """
    demand_type("trees", trees, Trees)
    out = np.zeros(len(trees.heads), dtype=np.int32)
    workspace = kernel.Crossed(trees.offsets.longest + 2, 0)
    kernel.planes(view(trees.heads), view(trees.offsets.array), MOST_PLANES, view(out), workspace)
    return out


def gap_degrees(trees: Trees) -> Ints:
    """Return for each tree its gap degree: the largest number of gaps between a word's descendants, itself included."""
    return _each_tree(kernel.gap_degrees, trees, np.int32)


def is_projective(tree: Tree) -> bool:
    """Return whether no two arcs of the tree cross, arcs from node 0 included."""
    demand_type("a tree", tree, Tree)
    return bool(projective(Trees.of(tree))[0])


def tree_planes(tree: Tree) -> Ints:
    """Return the plane, from 1, of the arc into each word of one tree; see `planes`."""
    demand_type("a tree", tree, Tree)
    return planes(Trees.of(tree))


def gap_degree(tree: Tree) -> int:
    """Return the largest number of gaps between a word's descendants, itself included; 0 for a projective tree."""
    demand_type("a tree", tree, Tree)
    return int(gap_degrees(Trees.of(tree))[0])


def stackable(trees: Trees, arc_planes: Ints, many: int) -> Bools:
    """Return for each tree whether no two arcs of one plane and one direction cross.

    `arc_planes` has the plane of the arc into each word, from 1. `many` is the number of planes; arcs in none of them
    are treated as arcs of the first plane.
    """
    demand_type("trees", trees, Trees)
    size = len(trees.heads)
    arc_planes = ints(numbers_below(arc_planes, size + 1, "planes of arcs", size=size), "planes of arcs")
    # a plane without arcs changes nothing, so the loop over planes stays short
    many = min(one_number(many, "the number of planes", least=1), max(int(arc_planes.max(initial=1)), 1))
    out = np.zeros(len(trees), dtype=np.uint8)
    workspace = kernel.Dependents(trees.offsets.longest + 2)
    kernel.stackable(view(trees.heads), view(trees.offsets.array), view(arc_planes), many, view(out), workspace)
    return out.view(np.bool_)


def single_rooted(trees: Trees) -> Bools:
    """Return for each tree whether node 0 has at most one dependent."""
    demand_type("trees", trees, Trees)
    return np.asarray(trees.offsets.sums(trees.heads == 0) <= 1)


def same_heads(first: Ints, second: Ints, offsets: Offsets) -> Bools:
    """Return for each sentence whether all its heads are equal in `first` and `second`."""
    demand_type("offsets", offsets, Offsets)
    return np.asarray(offsets.sums(offsets.demand(first, "heads") != offsets.demand(second, "heads")) == 0)
