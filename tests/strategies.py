"""Random trees for all tests."""

from __future__ import annotations

from hypothesis import strategies as st


@st.composite
def head_lists(draw: st.DrawFn, most: int = 30) -> list[int]:
    """Heads of a tree over up to `most` words, any number of roots, projective or not."""
    order = draw(st.integers(0, most).flatmap(lambda words: st.permutations(range(1, words + 1))))
    heads = [0] * len(order)
    for place, word in enumerate(order):  # each word hangs on one that was placed before it, or on node 0
        above = draw(st.integers(0, place))
        heads[word - 1] = 0 if above == 0 else order[above - 1]
    return heads
