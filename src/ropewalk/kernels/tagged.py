"""Heads as "the k-th word with part of speech P to the left or right" (Strzyz et al. 2019)."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

Ints = memoryview


def write(heads: Ints, offsets: Ints, tags: Ints, out: Ints, rank: Ints, seen: Ints) -> None:
    """Write how many words of the head's tag lie between each word and its head, the head included.

    Negative to the left, positive to the right; -1 for node 0. `rank` is a word's number among those of its tag, `seen`
    counts the words of each tag up to here.
    """
    with cython.nogil:
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
            for t in range(seen.shape[0]):
                seen[t] = 0
            for w in range(start, offsets[s + 1]):
                rank[w - start + 1] = seen[tags[w]]
                seen[tags[w]] += 1
            for t in range(seen.shape[0]):
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


def read(
    steps: Ints,
    wanted: Ints,
    offsets: Ints,
    tags: Ints,
    root: int,
    heads: Ints,
    dependents: Ints,
    begin: Ints,
    listed: Ints,
    seen: Ints,
) -> None:
    """Find the words that steps and tags point at; -1 outside the sentence. Tag number `root` is node 0's.

    `listed` holds the words of each tag in order, from `begin[tag]` on.
    """
    with cython.nogil:
        many = seen.shape[0]
        for s in range(offsets.shape[0] - 1):
            start = offsets[s]
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
                if t == root:
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
