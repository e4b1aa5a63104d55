"""Many sentences as flat arrays with offsets, so that work on a whole corpus never loops over Python objects."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk.kernels import intern as kernel
from ropewalk.kernels import view
from ropewalk.trees import Ints, Tree, frozen_ints

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Places = npt.NDArray[np.int64]

COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")


def intern(raw: npt.NDArray[Any], starts: Places, stops: Places) -> tuple[Ints, Ints]:
    """Number equal stretches of bytes alike, in order of first appearance.

    Returns the number of each stretch, and for each number the first stretch that has it.
    """
    ids = np.zeros(len(starts), dtype=np.int32)
    firsts = np.zeros(len(starts), dtype=np.int32)
    slots = np.full(1 << (2 * len(starts) + 1).bit_length(), -1, dtype=np.int32)
    count = kernel.intern(view(raw), view(starts), view(stops), view(ids), view(slots), view(firsts))
    return ids, firsts[:count]


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One string per word, as numbers into a list of distinct strings."""

    ids: Ints
    names: tuple[str, ...]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Column:
        """Number the strings in order of first appearance."""
        numbers: dict[str, int] = {}
        ids = frozen_ints([numbers.setdefault(text, len(numbers)) for text in texts])
        return cls(ids, tuple(numbers))

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, where: slice) -> Column:
        return Column(self.ids[where], self.names)

    def texts(self) -> list[str]:
        """Write out the string of every word."""
        names = self.names
        return [names[number] for number in self.ids.tolist()]


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """The bytes of CoNLL-U that a treebank was read from, and where its parts lie in them.

    `raw` holds whole sentences. Sentence s is `raw[sentences[s]:sentences[s+1]]`, its blank line included.
    Column c of word w is `raw[fields[w, c]:fields[w, c+1] - 1]`: eleven marks a word, the last of them just
    after its line. `lines[s]` is the number of the sentence's first line in its file, counted from 1.
    `multiwords` and `empties` count the lines of those kinds in each sentence.
    """

    raw: npt.NDArray[np.uint8]
    sentences: Places
    fields: Places
    lines: Places
    multiwords: Ints
    empties: Ints
    file: str

    def column(self, name: str) -> Column:
        """Read one column of every word."""
        at = COLUMNS.index(name)
        starts = np.ascontiguousarray(self.fields[:, at])
        stops = self.fields[:, at + 1] - 1
        ids, firsts = intern(self.raw, starts, stops)
        raw = memoryview(self.raw)
        names = tuple(bytes(raw[starts[i] : stops[i]]).decode("utf-8") for i in firsts.tolist())
        return Column(ids, names)


@dataclass(frozen=True, slots=True, eq=False)
class Treebank:
    """Many sentences: the words of sentence s stand at `offsets[s]:offsets[s+1]` in every array.

    A head is -1 where the file has `_`. `text` is there if the sentences come from CoNLL-U; writing them
    back changes only what was asked to change. The trees are as given: `conllu` checks what it reads, and
    `Tree` what it is built from.
    """

    offsets: Ints
    heads: Ints
    relations: Column
    upos: Column | None = None
    text: Text | None = None

    @classmethod
    def of(cls, trees: Iterable[Tree], upos: Sequence[Sequence[str]] | None = None) -> Treebank:
        """Lay trees side by side."""
        trees = list(trees)
        lengths = [len(tree) for tree in trees]
        heads = np.concatenate([tree.heads for tree in trees]) if trees else np.zeros(0, dtype=np.int32)
        return cls(
            frozen_ints(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int32)),
            frozen_ints(heads),
            Column.of(relation for tree in trees for relation in tree.relations),
            None if upos is None else Column.of(tag for tags in upos for tag in tags),
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def words(self) -> int:
        """How many words there are in all."""
        return len(self.heads)

    @property
    def lengths(self) -> Ints:
        """How many words each sentence has."""
        return np.diff(self.offsets)

    def tree(self, sentence: int) -> Tree:
        """Take one sentence's tree as a value of its own."""
        where = slice(int(self.offsets[sentence]), int(self.offsets[sentence + 1]))
        return Tree(self.heads[where], self.relations[where].texts())

    def trees(self) -> list[Tree]:
        """Take every sentence's tree as a value of its own."""
        return [self.tree(sentence) for sentence in range(len(self))]

    def with_trees(self, heads: Ints, relations: Column) -> Treebank:
        """Put other trees over the same words."""
        return replace(self, heads=frozen_ints(heads), relations=relations)
