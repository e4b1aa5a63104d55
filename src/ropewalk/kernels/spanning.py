"""Maximum spanning trees with the Chu-Liu/Edmonds algorithm over dense scores, in quadratic time."""

from __future__ import annotations

from typing import Any

from ropewalk.kernels import new_floats, new_ints, several_ints

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

Ints = Any  # a buffer of integers
Floats = Any  # a buffer of numbers


class SpanningParts:
    """The workspace of `spanning_trees`: scores [dependent, head], and the components to which words are contracted."""

    def __init__(self, longest: int) -> None:
        """Allocate buffers for sentences of up to `longest` words."""
        size = 2 * longest + 2
        self.scores = new_floats(longest + 1, longest + 1)
        self.enters = new_ints(longest + 1, longest + 1)
        self.best = new_floats(size)
        self.sources, self.targets, self.parents, self.rows = several_ints(4, size)
        self.members, self.path, self.state = several_ints(3, size)


def spanning_trees(gains: Floats, offsets: Ints, starts: Ints, heads: Ints, work: SpanningParts) -> None:
    """Write into `heads` each sentence's maximum spanning tree with exactly one root.

    The arc scores of sentence s begin at `gains[starts[s]]`, ordered by word, then by head from 0 on. A large penalty
    on arcs from node 0 ensures that the tree has only one of them (Stanojević & Cohen 2021, A Root of a Problem).
    """
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            first = offsets[s]
            n = offsets[s + 1] - first
            place = starts[s]
            low = 0.0
            high = 0.0
            for h in range(n + 1):
                work.scores[0, h] = 0.0
                work.enters[0, h] = 0
            for d in range(1, n + 1):
                for h in range(n + 1):
                    gain = gains[place]
                    low = min(low, gain)
                    high = max(high, gain)
                    work.scores[d, h] = gain
                    work.enters[d, h] = d
                    place += 1
            toll = (n + 1) * (1.0 + high - low)
            for d in range(1, n + 1):
                work.scores[d, 0] -= toll
            spanning(heads, first, n, work)


def spanning(heads: Ints, first_word: int, n: int, work: SpanningParts) -> None:
    """Write into `heads` the maximum spanning tree of one sentence: `n` words, the first at index `first_word`.

    `work.scores[d, h]` is the score of head h for word d; it is overwritten. A path of components grows from any
    component to its best head. Where the path meets itself, the components of the cycle are contracted to one. The
    scores of the new component are the changes of score for its members (Tarjan 1977, Camerini et al. 1979). `enters[d,
    h]` is the word into which the arc from h enters; it starts as d. The `state` of a component is 0 if it was not
    visited, 1 on the path, and 2 when done.
    """
    scores = work.scores
    enters = work.enters
    best = work.best
    sources = work.sources
    targets = work.targets
    parents = work.parents
    rows = work.rows
    members = work.members
    path = work.path
    state = work.state
    parts = n + 1
    for v in range(n + 1):
        members[v] = v
        rows[v] = v
        parents[v] = -1
        state[v] = 0
    state[0] = 2
    for first in range(1, n + 1):
        part = first
        while parents[part] >= 0:
            part = parents[part]
        if state[part] == 2:
            continue
        size = 0
        path[0] = part
        while True:
            part = path[size]
            state[part] = 1
            row = rows[part]
            chosen = -1
            for u in range(n + 1):
                if members[u] != part and (chosen < 0 or scores[row, u] > scores[row, chosen]):
                    chosen = u
            best[part] = scores[row, chosen]
            sources[part] = chosen
            targets[part] = enters[row, chosen]
            above = members[chosen]
            if state[above] == 2:
                break
            if state[above] == 0:
                size += 1
                path[size] = above
                continue
            into = rows[part]
            gain = best[part]
            for u in range(n + 1):
                scores[into, u] -= gain
            parents[part] = parts
            while part != above:
                size -= 1
                part = path[size]
                row = rows[part]
                gain = best[part]
                parents[part] = parts
                for u in range(n + 1):
                    if scores[row, u] - gain > scores[into, u]:
                        scores[into, u] = scores[row, u] - gain
                        enters[into, u] = enters[row, u]
            for u in range(n + 1):
                if parents[members[u]] == parts:
                    members[u] = parts
            rows[parts] = into
            parents[parts] = -1
            path[size] = parts
            parts += 1
        for place in range(size + 1):
            state[path[place]] = 2
    for part in range(parts):
        state[part] = 0
    for part in range(parts - 1, 0, -1):  # the largest part first: its head decides where its cycle is opened
        if state[part] == 0:
            word = targets[part]
            heads[first_word + word - 1] = sources[part]
            inner = word
            while inner != part:
                state[inner] = 1
                inner = parents[inner]
            state[part] = 1
