"""An encoding from another package, that of docs/own-encoding.md, installed and used like one of ours."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conftest import REPOSITORY
from decoding_tools import decode
from docs_tools import install_example
from ropewalk import decoding, encodings
from ropewalk.core.trees import Tree, Trees, check_heads, is_projective, projective
from ropewalk.drawing import to_steps, trace
from ropewalk.encodings import Machine, Marks, registry
from ropewalk.errors import EncodingError, OptionError, UnknownNameError
from ropewalk.testing import check_encoding
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from ropewalk.encodings import Encoding

LONGEST = 6
PAGE = (REPOSITORY / "docs" / "own-encoding.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Encoding]:
    """Install the package of the page as pip would: its module, and the metadata that name its entry point."""
    site = tmp_path_factory.mktemp("site-packages")
    install_example("docs/own-encoding.md", site)
    sys.path.insert(0, str(site))
    registry.installed.cache_clear()
    try:
        yield encodings.get("letters")
    finally:
        sys.path.remove(str(site))
        sys.modules.pop("letters", None)
        registry.installed.cache_clear()


@pytest.fixture(scope="module")
def rows(letters: Encoding) -> dict[int, tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
    """The labels and heads of all projective trees with one root, by their number of words."""
    found: dict[int, list[list[int]]] = {words: [] for words in range(1, LONGEST + 1)}
    for words in found:
        every = np.array(list(product(range(words + 1), repeat=words)), dtype=np.int32)
        every = every[(every == 0).sum(axis=1) == 1]
        every = every[check_heads(every.reshape(-1), np.arange(len(every) + 1) * words).codes == 0]
        trees = Trees(every.reshape(-1), np.arange(len(every) + 1) * words)
        found[words] = every[projective(trees)].tolist()
    return {
        words: (
            letters.encode(Treebank.of([Tree(heads) for heads in trees])).columns[0].ids.reshape(-1, words),
            np.array(trees),
        )
        for words, trees in found.items()
    }


def noise(words: int, labels: int, seed: int) -> npt.NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=(words, labels)) * 2


def test_it_passes_the_check_for_encodings(letters: Encoding) -> None:
    check_encoding(letters)
    check_encoding(encodings.get("letters+head"))


def test_it_is_one_encoding_among_the_others(letters: Encoding) -> None:
    assert type(letters).__module__ == "letters"
    assert "letters" in encodings.known()
    assert "letters" in decoding.exact_encodings()
    assert "letters" in decoding.encodings_of("joint")
    with pytest.raises(UnknownNameError, match="optimal, four-bit, hexatags, letters"):
        decoding.scored(encodings.get("relative"), np.zeros((1, 1)), ["0"])


def test_all_trees_come_back_and_the_machine_accepts_their_labels_and_no_others(
    letters: Encoding, rows: dict[int, tuple[npt.NDArray[Any], npt.NDArray[Any]]]
) -> None:
    machine = letters.machine(letters.alphabet or ())
    assert machine is not None
    reached: list[tuple[tuple[int, ...], Any]] = [((), machine.start)]
    for words, (labels, heads) in rows.items():
        texts = letters.labels([[(letters.alphabet or ())[label] for label in row] for row in labels.tolist()])
        decoded = letters.decode(texts)
        assert decoded.well_formed
        assert (decoded.heads.reshape(-1, words) == heads).all()
        steps = ((row, label, machine.step(state, label)) for row, state in reached for label in range(14))
        reached = [((*row, label), after[0]) for row, label, after in steps if after is not None]
        assert {row for row, state in reached if machine.accepts(state)} == set(map(tuple, labels.tolist()))
        # a label takes at most two words off the stack
        reached = [(row, state) for row, state in reached if machine.height(state) <= 2 * (LONGEST - words)]


def test_any_labels_are_read_without_cycles(letters: Encoding) -> None:
    alphabet = letters.alphabet or ()
    labels = letters.labels(list(product(alphabet, repeat=3)))
    recovered = letters.recover(labels).trees
    assert (check_heads(recovered.heads, recovered.offsets).codes == 0).all()
    partial = letters.decode(labels).heads.reshape(-1, 3)
    for heads in np.unique(partial, axis=0).tolist():
        for word in range(1, 4):
            seen = {word}
            while (word := heads[word - 1] if word > 0 else -1) > 0:
                assert word not in seen, heads
                seen.add(word)


@pytest.mark.parametrize("words", range(1, LONGEST + 1))
def test_the_exact_and_the_joint_decoder_find_what_trying_all_trees_finds(
    letters: Encoding, rows: dict[int, tuple[npt.NDArray[Any], npt.NDArray[Any]]], words: int
) -> None:
    labels, heads = rows[words]
    alphabet = letters.alphabet or ()
    places = np.arange(words)
    for seed in range(10):
        scores = noise(words, len(alphabet), seed)
        arcs = noise(words, words + 1, seed + 100).astype(np.float32)
        totals = scores[places, labels].sum(axis=1)
        exact = decode(letters, [scores], [0, words], [alphabet])
        assert exact.exact.all()
        assert exact.heads.tolist() == heads[totals.argmax()].tolist()
        assert exact.scores[0] == pytest.approx(totals.max())
        greedy = decode(letters, [scores], [0, words], [alphabet], decoder="greedy")
        assert greedy.ids[0].tolist() == scores.argmax(axis=1).tolist()
        together = totals + arcs[places, heads].sum(axis=1)
        joint = decode(letters, [scores], [0, words], [alphabet], decoder="joint", arcs=arcs.reshape(-1))
        assert joint.exact.all()
        assert joint.heads.tolist() == heads[together.argmax()].tolist()


@pytest.mark.parametrize("words", [1, 3, 5])
def test_its_probabilities_and_best_trees_are_those_of_all_trees(
    letters: Encoding, rows: dict[int, tuple[npt.NDArray[Any], npt.NDArray[Any]]], words: int
) -> None:
    labels, heads = rows[words]
    alphabet = letters.alphabet or ()
    places = np.arange(words)
    scores = noise(words, len(alphabet), 7)
    totals = scores[places, labels].sum(axis=1)
    shares = np.exp(totals - np.logaddexp.reduce(totals))
    given = decoding.scored(letters, scores, alphabet)
    sums = decoding.marginals(given)
    wanted = np.zeros_like(scores)
    arcs = np.zeros((words + 1, words + 1))
    for share, row, tree in zip(shares, labels, heads, strict=True):
        wanted[places, row] += share
        arcs[tree, places + 1] += share
    assert sums.labels == pytest.approx(wanted)
    assert sums.logs[0] == pytest.approx(np.logaddexp.reduce(totals))
    assert decoding.arc_probabilities(given) == pytest.approx(arcs)
    best = decode(letters, [scores], [0, words], [alphabet])
    sure, whole = decoding.confidences(given, best.ids[0], best.heads)
    assert sure == pytest.approx(arcs[best.heads, places + 1])
    assert whole[0] == pytest.approx(shares.max())
    order = np.argsort(-totals)[:10]
    found = decoding.k_best(given, 10)
    assert [list(one.heads) for one in found] == heads[order].tolist()
    assert [one.score for one in found] == pytest.approx(totals[order])


def test_it_is_drawn_step_by_step(
    letters: Encoding, rows: dict[int, tuple[npt.NDArray[Any], npt.NDArray[Any]]]
) -> None:
    for words in range(1, LONGEST):
        for heads in rows[words][1].tolist():
            found = trace(letters.encode(Tree(heads)).texts(), letters)
            assert list(found.decoded) == heads
            assert not found.faults()
    found = trace(["W", "cW", "cHo", "W", "w", "cH"], "letters")
    assert [" ".join(brackets) for brackets in found.spelled] == ["<^", "\\^ <^", "\\^ >^ /^", "<^", "<", "\\^ >^"]
    page = to_steps(found, words=["Old", "ropes", "hold", "the", "heavy", "boats"])
    assert "cHo" in page, "labels stand beside the brackets for which they stand"
    assert "6 boats: \\\\^ matches \\u003c^ of 4 the: 6 boats → 4 the." in page
    with pytest.raises(OptionError, match="word 2: the label 'cH' does not fit"):
        trace(["H", "cH"], "letters")


def test_it_can_be_pseudo_projective(letters: Encoding) -> None:
    del letters
    wrapped = encodings.get("letters+head")
    assert wrapped.spec == "letters+head"
    bank = Treebank.of([Tree([3, 4, 0, 3], ["det", "case", "root", "obj"])])
    assert not is_projective(bank.tree(0))
    labels = wrapped.encode(bank)
    assert list(wrapped.recover(labels).trees) == [bank.tree(0)]
    scores = np.full((4, 14), -5.0)
    scores[np.arange(4), labels.columns[0].ids] = 0.0
    best = decode(wrapped, [scores], [0, 4], [wrapped.alphabet or ()])
    assert best.exact.all()
    assert best.ids[0].tolist() == labels.columns[0].ids.tolist()
    assert list(trace(labels.texts(), wrapped).heads) == best.heads.tolist()


def test_its_sequences_can_be_learnt(letters: Encoding) -> None:
    torch = pytest.importorskip("torch")
    from ropewalk.training.crf import SequenceLoss, Wanted

    alphabet = letters.alphabet or ()
    sequences = SequenceLoss("letters", alphabet)
    scores = torch.zeros((3, 14), dtype=torch.double, requires_grad=True)
    right = torch.tensor(letters.encode(Tree([2, 0, 2])).columns[0].ids.astype(np.int64))
    loss = sequences(scores, None, Wanted(right, right), [3])
    assert loss.item() == pytest.approx(np.log(7)), "there are seven projective trees of three words"
    (gradient,) = torch.autograd.grad(loss, scores)
    assert gradient.sum(dim=1).tolist() == pytest.approx([0.0] * 3), (
        "of each word all labels together have probability 1"
    )
    assert gradient.gather(1, right[:, None]).max().item() < 0.0


@dataclass(frozen=True)
class Careless(Machine):
    """A machine that may end with nothing on the stack and with something."""

    start = ""

    def step(self, state: str, label: int) -> tuple[str, Marks] | None:
        return state + self.labels[label], Marks()

    def accepts(self, state: str) -> bool:
        return len(state) < 2

    def height(self, state: str) -> int:
        return len(state)


def test_a_machine_that_ends_in_several_states_is_refused() -> None:
    with pytest.raises(EncodingError, match="Careless accepts 2 states of height up to 4; expected one"):
        decoding.build(Careless(("x",)), 4)
