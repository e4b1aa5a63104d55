"""Maximum spanning trees by Chu-Liu/Edmonds over dense scores, in time quadratic in the words."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

Ints = memoryview
Floats = memoryview


def spanning(
    scores: Floats,
    heads: Ints,
    enters: Ints,
    best: Floats,
    sources: Ints,
    targets: Ints,
    parents: Ints,
    rows: Ints,
    members: Ints,
    path: Ints,
    state: Ints,
) -> None:
    """Find the heads of the best tree that hangs on node 0; `scores[d, h]` is the score of h over d, and is used up.

    A path of parts grows from any part to the best head of each. Where it meets itself, the parts of the
    cycle become one, whose scores are what its members would win or lose by it (Tarjan 1977, Camerini et al.
    1979). `enters[d, h]` starts as d; `state` of a part is 0 untouched, 1 on the path, 2 done.
    """
    with cython.nogil:
        n = heads.shape[0]
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
                heads[word - 1] = sources[part]
                inner = word
                while inner != part:
                    state[inner] = 1
                    inner = parents[inner]
                state[part] = 1
