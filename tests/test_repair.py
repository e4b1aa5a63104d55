"""Repair against plain Python, on every list of heads of up to four words and on any list at all."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.core.ragged import Offsets
from ropewalk.core.repair import POLICIES, REPAIRS, repair
from ropewalk.core.trees import check_heads
from ropewalk.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.core.repair import Repaired


def repaired(sentences: Sequence[Sequence[int]], policy: str) -> Repaired:
    offsets = Offsets.of_lengths([len(heads) for heads in sentences])
    return repair(np.array([head for heads in sentences for head in heads], dtype=np.int32), offsets, policy)


def above(heads: dict[int, int], word: int, other: int) -> bool:
    """Return whether a word is another or one of its ancestors."""
    while other != word and other in heads:
        other = heads[other]
    return other == word


def sound_heads(given: Sequence[int]) -> tuple[dict[int, int], int]:
    """Keep what heads are sound, in word order, and hang further roots on the first; tell how many were."""
    heads: dict[int, int] = {}
    first = rerooted = 0
    for word, head in enumerate(given, start=1):
        if not 0 <= head <= len(given) or above(heads, word, head):
            continue
        rerooted += head == 0 and first > 0
        heads[word] = head or first
        first = first or (word if head == 0 else 0)
    return heads, rerooted


def by_nearest(given: Sequence[int]) -> list[int]:
    heads, _ = sound_heads(given)
    for word in range(1, len(given) + 1):
        if word in heads:
            continue
        order = [place for far in range(1, len(given) + 1) for place in (word - far, word + far)]
        heads[word] = next(
            place
            for place in order
            if 0 <= place <= len(given) and not above(heads, word, place) and (place > 0 or 0 not in heads.values())
        )
    return [heads[word] for word in range(1, len(given) + 1)]


def by_root(given: Sequence[int]) -> list[int]:
    heads, _ = sound_heads(given)
    for word in range(1, len(given) + 1):
        roots = [root for root, head in heads.items() if head == 0]
        heads.setdefault(word, min(roots, default=0))
    return [heads[word] for word in range(1, len(given) + 1)]


PLAIN = {"nearest": by_nearest, "root": by_root}


def check_all(sentences: Sequence[Sequence[int]], policy: str) -> None:
    found = repaired(sentences, policy)
    offsets = Offsets.of_lengths([len(heads) for heads in sentences])
    state = check_heads(found.trees.heads, offsets)
    assert not state.codes.any()
    assert np.array_equal(state.roots, offsets.lengths > 0)
    assert found.trees.heads.tolist() == [head for heads in sentences for head in PLAIN[policy](heads)]
    sound = [sound_heads(heads) for heads in sentences]
    counted = {
        "attached": sum(len(heads) - len(kept) for heads, (kept, _) in zip(sentences, sound, strict=True)),
        "rerooted": sum(rerooted for _, rerooted in sound),
    }
    assert found.counts() == {kind: count for kind, count in counted.items() if count}
    changed = np.flatnonzero(
        found.trees.heads != np.array([head for heads in sentences for head in heads], dtype=np.int32)
    )
    assert set(changed.tolist()) <= set(found.words.tolist())
    assert len(found.words) == len(set(found.words.tolist()))


def test_every_policy_has_its_plain_form() -> None:
    assert PLAIN.keys() == POLICIES.keys()
    assert set(REPAIRS.values()) == {"attached", "rerooted"}


@pytest.mark.parametrize("policy", POLICIES)
def test_every_short_list_of_heads_becomes_one_tree(policy: str) -> None:
    check_all([heads for words in range(5) for heads in product(range(-1, words + 2), repeat=words)], policy)


@pytest.mark.parametrize("policy", POLICIES)
@given(st.lists(st.lists(st.integers(-1, 14), max_size=12), max_size=4))
def test_any_heads_become_one_tree(policy: str, sentences: list[list[int]]) -> None:
    check_all(sentences, policy)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_sound_tree_is_left_alone(policy: str) -> None:
    found = repaired([[2, 0, 2], [0]], policy)
    assert found.trees.heads.tolist() == [2, 0, 2, 0]
    assert found.counts() == {}


@pytest.mark.parametrize(("policy", "heads"), [("nearest", [0, 1, 2, 3, 4]), ("root", [0, 1, 1, 1, 1])])
def test_words_without_heads_go_where_the_policy_says(policy: str, heads: list[int]) -> None:
    found = repaired([[-1] * 5], policy)
    assert found.trees.heads.tolist() == heads
    assert found.counts() == {"attached": 5}


def test_heads_given_are_not_changed_in_place() -> None:
    heads = np.array([-1, -1], dtype=np.int32)
    repair(heads, Offsets.one(2))
    assert heads.tolist() == [-1, -1]


def test_an_unknown_policy_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="unknown repair policy 'neerest'; did you mean 'nearest'"):
        repaired([[0]], "neerest")
