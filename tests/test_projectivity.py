"""Lifting and lowering against plain Python for all schemes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import FEW
from ropewalk.core.graphs import crossing_arcs
from ropewalk.core.projectivity import SCHEMES, lift, lift_until, lower
from ropewalk.core.trees import Tree, Trees, projective, stackable
from ropewalk.encodings import PseudoProjective, get
from ropewalk.errors import UnknownNameError
from ropewalk.kernels import compiled
from ropewalk.treebank.treebank import Treebank
from strategies import RELATIONS, head_lists, trees
from test_ropes import every_tree

# Nivre & Nilsson's (2005) example: `Z nich je jen jedna na kvalitu .`
CZECH = Tree([5, 1, 0, 5, 3, 3, 6, 0], ["AuxP", "Atr", "Pred", "AuxZ", "Sb", "AuxP", "Adv", "AuxK"])


def breadth_first(heads: list[int], without: int = 0) -> list[int]:
    """List words breadth-first from node 0, children in word order."""
    return below(heads, 0, without)


def below(heads: list[int], top: int, without: int = 0, *, nearest: bool = False) -> list[int]:
    """List what hangs below a node breadth-first, leaving out one word and all below it.

    The children of a node come in word order, or by their distance to the word left out.
    """
    queue = [top]
    for node in queue:
        children = [word for word, head in enumerate(heads, start=1) if head == node and word != without]
        queue += sorted(children, key=lambda word: (abs(word - without), word)) if nearest else children
    return queue[1:]


def crosses(heads: list[int], a: int, b: int) -> bool:
    (low, high), (left, right) = sorted((a, heads[a - 1])), sorted((b, heads[b - 1]))
    return low < left < high < right or left < low < right < high


def plane_of_each(heads: list[int]) -> dict[int, int]:
    """Return for each arc the first plane in which it crosses nothing."""
    planes: list[list[int]] = []
    for word in breadth_first(heads):
        free = next((p for p in planes if not any(crosses(heads, word, other) for other in p)), None)
        if free is None:
            planes.append(free := [])
        free.append(word)
    return {word: number for number, words in enumerate(planes, start=1) for word in words}


def plain_lift(tree: Tree, scheme: str) -> Tree:
    heads = tree.heads.tolist()
    tails = [""] * len(heads)
    on_path: set[int] = set()
    while True:
        planes = plane_of_each(heads)
        outside = [word for word in breadth_first(heads) if planes[word] > 1]
        if not outside:
            break
        word = min(outside, key=lambda d: (abs(d - heads[d - 1]), planes[d]))  # the first in breadth-first order
        head = heads[word - 1]
        if scheme == "head-chained":
            tails[word - 1] += "¡" + tree.relations[head - 1] + tails[head - 1]
        elif not tails[word - 1]:
            tails[word - 1] = "¡" + (tree.relations[head - 1] if scheme.startswith("head") else "")
        if scheme.endswith("path"):
            on_path.add(head)
        heads[word - 1] = heads[head - 1]
    marks = ["!" if word in on_path else "" for word in range(1, len(heads) + 1)]
    return Tree(
        heads, [relation + mark + tail for relation, mark, tail in zip(tree.relations, marks, tails, strict=True)]
    )


def plain_lower(tree: Tree, scheme: str) -> Tree:
    heads = tree.heads.tolist()
    plain = [relation.split("¡")[0].removesuffix("!") for relation in tree.relations]
    marked = [relation.split("¡")[0].endswith("!") for relation in tree.relations]
    shown = [
        None if "¡" in relation and scheme == "head-chained" else own
        for relation, own in zip(tree.relations, plain, strict=True)
    ]
    for word, relation in enumerate(tree.relations, start=1):
        for wanted in reversed(relation.split("¡")[1:]):
            if heads[word - 1] == 0:
                continue
            if not scheme.endswith("path"):
                listed = below(heads, heads[word - 1], word, nearest=scheme == "head-nearest")
                found = next((one for one in listed if shown[one - 1] == wanted), None)
            else:
                found = down_the_path(heads, marked, plain, word, wanted)
            heads[word - 1] = found or heads[word - 1]
        if heads[word - 1] != 0:
            shown[word - 1] = plain[word - 1]
    return Tree(heads, plain)


def down_the_path(heads: list[int], marked: list[bool], plain: list[str], word: int, wanted: str) -> int | None:
    """Find a target breadth-first among marked words: of the relation wanted, or, without one, a last marked word."""

    def going_on(node: int) -> list[int]:
        return [w for w, head in enumerate(heads, start=1) if head == node and w != word and marked[w - 1]]

    queue = going_on(heads[word - 1])
    for node in queue:
        if (wanted and plain[node - 1] == wanted) or (not wanted and not going_on(node)):
            return node
        queue += going_on(node)
    return None


def lowered(trees: Trees, scheme: str) -> list[Tree]:
    return list(lower(trees, scheme))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("words", range(1, 7 if compiled() else 5))
def test_every_small_tree_is_lifted_and_lowered_as_in_plain_python(words: int, scheme: str) -> None:
    heads = every_tree(words).heads
    chance = np.random.default_rng(words)
    rows = heads.reshape(-1, words)
    rows = rows[chance.permutation(len(rows))[:1500]]
    listed = [Tree(row, chance.choice(RELATIONS[:4], words).tolist()) for row in rows]
    lifted = lift(Trees.of(listed), scheme)
    assert projective(lifted).all()
    assert list(lifted) == [plain_lift(tree, scheme) for tree in listed]
    assert lowered(lifted, scheme) == [plain_lower(tree, scheme) for tree in lifted]


@pytest.mark.parametrize("scheme", SCHEMES)
@given(st.lists(trees(single_root=False), min_size=1, max_size=3))
def test_lifting_any_trees(scheme: str, listed: list[Tree]) -> None:
    lifted = lift(Trees.of(listed), scheme)
    assert list(lifted) == [plain_lift(tree, scheme) for tree in listed]
    for tree, after in zip(listed, lifted, strict=True):
        assert not crossing_arcs(after)
        for word in range(1, len(tree) + 1):  # every new head is an ancestor
            ancestors = [word]
            while ancestors[-1]:
                ancestors.append(int(tree.heads[ancestors[-1] - 1]))
            assert int(after.heads[word - 1]) in ancestors[1:]
        if not crossing_arcs(tree):
            assert after == tree
    back = lowered(lifted, scheme)
    assert back == [plain_lower(tree, scheme) for tree in lifted]
    assert [tree.relations for tree in back] == [tree.relations for tree in listed]


@pytest.mark.parametrize("scheme", SCHEMES)
@given(heads=head_lists(9, least=1), data=st.data())
def test_lowering_whatever_a_tagger_may_predict(scheme: str, heads: list[int], data: st.DataObject) -> None:
    part = st.sampled_from(["nsubj", "obj", "det"])
    tail = st.lists(part | st.just("") if scheme.endswith("path") else part, max_size=3)
    relation = st.builds(
        lambda own, mark, parts: own + mark + "".join(f"¡{name}" for name in parts),
        part,
        st.sampled_from(["", "!"]),
        tail,
    )
    tree = Tree(heads, [data.draw(relation) for _ in heads])
    (back,) = lowered(Trees.of([tree]), scheme)
    assert back == plain_lower(tree, scheme)


@pytest.mark.parametrize(
    ("scheme", "first", "fifth"),
    [
        ("head", "AuxP¡Sb", "Sb"),
        ("path", "AuxP¡", "Sb!"),
        ("head+path", "AuxP¡Sb", "Sb!"),
        ("head-chained", "AuxP¡Sb", "Sb"),
        ("head-nearest", "AuxP¡Sb", "Sb"),
    ],
)
def test_the_example_of_nivre_and_nilsson(scheme: str, first: str, fifth: str) -> None:
    batch = lift(Trees.of(CZECH), scheme)
    (lifted,) = batch
    assert lifted.heads.tolist() == [3, 1, 0, 5, 3, 3, 6, 0]
    assert (lifted.relations[0], lifted.relations[4]) == (first, fifth)
    assert [new for place, new in enumerate(lifted.relations) if place not in {0, 4}] == [
        old for place, old in enumerate(CZECH.relations) if place not in {0, 4}
    ]
    assert lowered(batch, scheme) == [CZECH]


def test_a_word_lifted_twice_is_marked_once_or_by_each_head_that_it_leaves() -> None:
    tree = Tree([0, 4, 1, 5, 1], ["root", "nmod", "advmod", "obj", "ccomp"])
    twice = Tree([4, 0, 2, 3], ["x", "root", "ccomp", "xcomp"])
    (lifted,) = lift(Trees.of([twice]), "head")
    assert lifted == Tree([2, 0, 2, 3], ["x¡xcomp", "root", "ccomp", "xcomp"])
    (chained,) = lift(Trees.of([twice]), "head-chained")
    assert chained == Tree([2, 0, 2, 3], ["x¡xcomp¡ccomp", "root", "ccomp", "xcomp"])
    (marked,) = lift(Trees.of([twice]), "path")
    assert marked.relations == ("x¡", "root", "ccomp!", "xcomp!")
    (named,) = lift(Trees.of([twice]), "head+path")
    assert named.relations == ("x¡xcomp", "root", "ccomp!", "xcomp!")
    for scheme in SCHEMES:
        assert lowered(lift(Trees.of([twice, tree]), scheme), scheme) == [twice, tree]


def test_the_scheme_head_may_find_another_word_with_that_relation() -> None:
    """Two objects on the way: the first in word order is taken, which the path schemes tell apart."""
    tree = Tree([5, 4, 4, 0, 4], ["nmod", "obj", "advmod", "root", "obj"])
    (wrong,) = lowered(lift(Trees.of([tree]), "head"), "head")
    assert wrong.heads.tolist() == [2, 4, 4, 0, 4]
    for scheme in ("path", "head+path"):
        assert lowered(lift(Trees.of([tree]), scheme), scheme) == [tree]


@pytest.mark.parametrize(
    ("heads", "relations", "in_word_order", "nearest"),
    [
        ([2, 0, 2, 2, 2, 2], ["obj", "root", "x", "nmod¡obj", "obj", "x"], 1, 5),  # 5 is nearer to 4 than 1
        ([2, 0, 2, 2, 2, 2], ["x", "root", "obj", "nmod¡obj", "obj", "x"], 3, 3),  # equally near: word order
        ([2, 0, 2, 2, 3, 2], ["obj", "root", "x", "nmod¡obj", "obj", "x"], 1, 1),  # 5 is nearer, but further down
        ([2, 0, 2, 2, 2, 2], ["obj", "root", "x", "nmod¡obj", "obj¡x", "x"], 1, 5),  # its own marks do not count
    ],
)
def test_the_scheme_head_nearest_takes_the_nearest_dependent_of_a_node(
    heads: list[int], relations: list[str], in_word_order: int, nearest: int
) -> None:
    trees = Trees.of(Tree(heads, relations))
    assert lowered(trees, "head")[0].heads[3] == in_word_order
    assert lowered(trees, "head-nearest")[0].heads[3] == nearest


@given(st.lists(trees(single_root=False), min_size=1, max_size=3))
def test_the_scheme_head_nearest_marks_like_head(listed: list[Tree]) -> None:
    assert list(lift(Trees.of(listed), "head-nearest")) == list(lift(Trees.of(listed), "head"))


def test_a_word_whose_target_is_missing_stays_where_it_is() -> None:
    (found,) = lowered(Trees.of([Tree([2, 0], ["x¡obj", "root"])]), "head")
    assert found == Tree([2, 0], ["x", "root"])


@pytest.mark.parametrize(
    "spec", [f"{name}+{scheme}" for name in ("optimal", "four-bit", "hexatags") for scheme in SCHEMES]
)
@FEW
@given(listed=st.lists(trees(), min_size=1, max_size=4))
def test_a_pseudo_projective_encoding_restores_what_it_says(spec: str, listed: list[Tree]) -> None:
    encoding = get(spec)
    assert isinstance(encoding, PseudoProjective)
    bank = Treebank.of(listed)
    labels = encoding.encode(bank)
    assert set(labels.texts()) <= set(encoding.alphabet or ())
    back = encoding.recover(labels)
    same = [tree == other for tree, other in zip(back.trees, listed, strict=True)]
    assert same == encoding.restores(bank.trees()).tolist()
    assert [tree.relations for tree in back.trees] == [tree.relations for tree in listed]
    assert back.repairs == {}


@given(trees(single_root=False), st.integers(1, 3))
def test_lifting_until_covered_stops_at_the_planes_asked_for(tree: Tree, many: int) -> None:
    def fits(trees: Trees) -> np.typing.NDArray[np.bool_]:
        planes = [plane_of_each(tree.heads.tolist()) for tree in trees]
        return np.array([max(found.values(), default=1) <= many for found in planes], dtype=np.bool_)

    before = Trees.of(tree)
    after = lift_until(before, fits, planes=many)
    assert fits(after).all()
    assert after.relations.texts() == list(tree.relations)
    if fits(before).all():
        assert list(after) == [tree]


@given(trees(single_root=False))
def test_stackable_means_that_no_arcs_of_one_direction_cross(tree: Tree) -> None:
    pairs = crossing_arcs(tree)
    expected = not any((a[0] < a[1]) == (b[0] < b[1]) for a, b in pairs)
    ones = np.ones(len(tree), dtype=np.int32)
    assert stackable(Trees.of(tree), ones, 1).tolist() == [expected]


def test_projective_trees_are_handed_back_as_they_are() -> None:
    trees = Trees.of(Tree([2, 0, 2], ["a", "b", "c"]))
    assert lift(trees, "path") is trees
    assert lower(trees, "head") is trees


def test_an_unknown_scheme_is_refused_with_the_known_ones() -> None:
    trees = Trees.of(Tree([0]))
    with pytest.raises(UnknownNameError, match=r"scheme 'heads'; did you mean 'head'\? Known: head, path, head\+path"):
        lift(trees, "heads")
    with pytest.raises(UnknownNameError, match="known: head, path"):
        lower(trees, "up")
