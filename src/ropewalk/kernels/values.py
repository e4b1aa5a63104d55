"""The typed objects that kernels share: arcs, labels, faults, and workspaces.

The parameters of a kernel are its input, its options, its output, and its workspace, in this order. Trees are two
buffers: the heads of all words, and the offsets of the sentences.
"""

from __future__ import annotations

from dataclasses import dataclass

from ropewalk.kernels import Ints, several_ints


@dataclass(repr=False, eq=False)
class ArcEnds:
    """The arcs of many graphs: those of sentence s are at `offsets[s]:offsets[s+1]`.

    `left` and `right` are the two nodes that an arc joins. `rightward` is 1 if the left node is the head. `words[s]` is
    the number of words of sentence s. For a tree, arc a of a sentence, from 0, is the one into word a+1.
    """

    left: Ints
    right: Ints
    rightward: Ints
    offsets: Ints
    words: Ints


@dataclass(repr=False, eq=False)
class Spelling:
    """The labels to read: `labels` has the index of each word's label in the alphabet.

    Label k of the alphabet consists of the symbols `symbols[starts[k]:starts[k+1]]`. `offsets` are the offsets of
    sentences.
    """

    labels: Ints
    offsets: Ints
    symbols: Ints
    starts: Ints


@dataclass(repr=False, eq=False)
class SymbolBuffer:
    """The labels that a kernel writes: word k, counted over all sentences, gets `symbols[starts[k]:starts[k+1]]`."""

    symbols: Ints
    starts: Ints


@dataclass(repr=False, eq=False)
class ArcBuffer:
    """The arcs that a kernel reads from labels: those of sentence s are at `offsets[s]:offsets[s+1]`."""

    heads: Ints
    dependents: Ints
    offsets: Ints


class Findings:
    """A list of faults or repairs, of which the first `count` entries are used.

    `words` holds the index of a word over all sentences, and `kinds` the code of its fault or repair.
    """

    def __init__(self, words: Ints, kinds: Ints) -> None:
        self.words = words
        self.kinds = kinds
        self.count = 0

    def add(self, word: int, kind: int) -> None:
        """Append an entry for `word` with the code `kind` of its fault or repair."""
        self.words[self.count] = word
        self.kinds[self.count] = kind
        self.count += 1


class Workspace:
    """Buffers for one sentence at a time: six with an entry per node, three with an entry per arc."""

    def __init__(self, nodes: int, arcs: int = 0) -> None:
        """Allocate buffers for sentences of up to `nodes` nodes and `arcs` arcs."""
        self.node1, self.node2, self.node3, self.node4, self.node5, self.node6 = several_ints(6, nodes)
        self.arc1, self.arc2, self.arc3 = several_ints(3, arcs)
