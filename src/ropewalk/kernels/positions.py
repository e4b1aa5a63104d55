"""Heads as "the k-th word with part of speech P to the left or right" (Strzyz et al. 2019)."""

from __future__ import annotations

from ropewalk.kernels import new_ints

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:
    from ropewalk.kernels.values import ArcBuffer  # noqa: TC001 - compiled, in the .pxd

Ints = memoryview


class Tagged:
    """The part-of-speech tags of all words, and the workspace of `write` and `read`.

    `rank` is the number of earlier words of the sentence with the same tag. `seen` counts the words of each tag so far.
    `listed` holds the words of each tag in word order; those of tag t begin at `begin[t]`.
    """

    def __init__(self, tags: Ints, offsets: Ints, count: int, nodes: int) -> None:
        """Allocate buffers for `count` tags and sentences of up to `nodes` nodes."""
        self.tags = tags
        self.offsets = offsets
        self.count = count
        self.rank = new_ints(nodes)
        self.listed = new_ints(nodes)
        self.seen = new_ints(count)
        self.begin = new_ints(count + 1)


def write(heads: Ints, words: Tagged, out: Ints) -> None:
    """Write each word's head as a number k: the head is the k-th word with its tag, counted from the dependent.

    k is positive if the head is to the right, negative if it is to the left, and -1 if it is node 0.
    """
    offsets = words.offsets
    tags = words.tags
    many = words.count
    rank = words.rank
    seen = words.seen
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            for t in range(many):
                seen[t] = 0
            for w in range(start, offsets[s + 1]):
                rank[w - start + 1] = seen[tags[w]]
                seen[tags[w]] += 1
            for t in range(many):
                seen[t] = 0
            for w in range(start, offsets[s + 1]):
                h = heads[w]
                d = w - start + 1
                if h == 0:
                    out[w] = -1
                elif h < d:
                    out[w] = rank[h] - seen[tags[start + h - 1]]
                seen[tags[w]] += 1
                if h > d:
                    out[w] = rank[h] + 1 - seen[tags[start + h - 1]]


def read(steps: Ints, wanted: Ints, words: Tagged, arcs: ArcBuffer) -> None:
    """Write into `arcs` one arc for each word, whose head is the k-th word with a tag, counted from the dependent.

    For word w, k is `steps[w]`, negative to the left, and the tag is `wanted[w]`. The tag `words.count` stands for node
    0. The head is -1 if there is no such word in the sentence.
    """
    offsets = words.offsets
    tags = words.tags
    many = words.count
    begin = words.begin
    listed = words.listed
    seen = words.seen
    heads = arcs.heads
    dependents = arcs.dependents
    arc_offsets = arcs.offsets
    with cython.nogil:
        arc_offsets[0] = 0
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            arc_offsets[s + 1] = offsets[s + 1]  # one arc for each word
            for t in range(many + 1):
                begin[t] = 0
            for w in range(start, offsets[s + 1]):
                begin[tags[w] + 1] += 1
            for t in range(many):
                begin[t + 1] += begin[t]
                seen[t] = 0
            for w in range(start, offsets[s + 1]):
                listed[begin[tags[w]] + seen[tags[w]]] = w - start + 1
                seen[tags[w]] += 1
            for t in range(many):
                seen[t] = 0
            for w in range(start, offsets[s + 1]):
                d = w - start + 1
                dependents[w] = d
                t = wanted[w]
                k = steps[w]
                heads[w] = -1
                if t == many:
                    if k == -1:
                        heads[w] = 0
                elif t >= 0:
                    before = seen[t]
                    if tags[w] == t and k > 0:
                        before += 1
                    place = before + k
                    if k > 0:
                        place -= 1
                    if k != 0 and place >= 0 and begin[t] + place < begin[t + 1]:
                        heads[w] = listed[begin[t] + place]
                seen[tags[w]] += 1
