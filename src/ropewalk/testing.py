"""Checks for authors of encodings: `check_encoding` raises an `AssertionError` that describes the fault."""

from __future__ import annotations

import random
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from ropewalk.core.columns import Column
from ropewalk.core.ragged import Offsets
from ropewalk.core.trees import Tree, Trees, check_heads, projective
from ropewalk.encodings import get
from ropewalk.errors import EncodingError, LabelError, UnknownNameError
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.encodings import Encoding, Labels

TAGS = ("NOUN", "VERB")


def check_encoding(encoding: Encoding, *, words: int = 5, junk: int = 200, seed: int = 0) -> None:
    """Raise an `AssertionError` that shows the wrong tree or labels, unless an encoding of trees is correct.

    All trees of up to `words` words with one root are encoded and decoded again. These conditions must hold:

    - Trees that the encoding covers are decoded from their labels without change.
    - Trees that it does not cover are refused with an `EncodingError`, or lifted, as its policy requires.
    - `check_label` accepts all labels that the encoding writes.
    - `junk` random sequences of labels, drawn with `seed`, are decoded without an exception and without cycles.
    - A sentence has the same labels in a batch as alone, and with several threads as with one.
    - If the encoding has an automaton (`machine`), it accepts the labels of each covered projective tree.
    """
    _check_names(encoding)
    trees = Trees.of([tree for length in range(1, words + 1) for tree in small_trees(length)])
    bank = _bank(trees, seed)
    covered = encoding.covers(bank)
    _demand(covered.shape == (len(trees),), f"covered returns the shape {covered.shape} for {len(trees)} trees")
    _demand(bool(covered.any()), f"covered returns False for all trees of up to {words} words")
    good = bank.select(np.flatnonzero(covered))
    labels = encoding.encode(good)
    _check_labels(encoding, labels)
    decoded = encoding.decode(labels)
    for sentence, tree in enumerate(good.trees()):
        heads = decoded.heads[decoded.offsets[sentence]].tolist()
        _demand(
            heads == tree.heads.tolist(),
            f"the tree {tree.heads.tolist()} is covered but decoded as {heads} from {_texts(labels, sentence)}",
        )
    if faults := decoded.faults():
        fault = faults[0]
        shown = _texts(labels, fault.sentence - 1)
        raise AssertionError(
            f"its own labels {shown} of a tree are decoded with a fault at word {fault.word}: {fault.kind}"
        )
    _check_uncovered(encoding, bank.select(np.flatnonzero(~covered)))
    _check_batches(encoding, good, labels)
    _check_junk(encoding, labels, random.Random(seed), junk)  # noqa: S311 - no secret
    _check_machine(encoding, encoding.encode(good.select(np.flatnonzero(projective(good.trees())))))


def small_trees(words: int) -> list[Tree]:
    """Return all trees of exactly `words` words with one root, non-projective ones too."""
    every = np.array(list(product(range(words + 1), repeat=words)), dtype=np.int32)
    every = every[(every == 0).sum(axis=1) == 1]
    bad = check_heads(every.reshape(-1), Offsets.of_lengths([words] * len(every))).bad
    return [Tree(heads) for heads in every[~bad]]


def _demand(holds: bool, problem: str) -> None:  # noqa: FBT001 - the condition of an assertion
    if not holds:
        raise AssertionError(problem)


def _bank(trees: Trees, seed: int) -> Treebank:
    tags = np.random.default_rng(seed).integers(len(TAGS), size=len(trees.heads))
    return Treebank(trees.offsets, trees.heads, {"deprel": trees.relations, "upos": Column(tags, TAGS)})


def _texts(labels: Labels, sentence: int) -> list[tuple[str, ...]] | list[str]:
    rows = [column[labels.offsets[sentence]].texts() for column in labels.columns]
    return rows[0] if len(rows) == 1 else list(zip(*rows, strict=True))


def _check_names(encoding: Encoding) -> None:
    for name in ("name", "summary", "cites"):
        value = getattr(encoding, name, None)
        _demand(isinstance(value, str) and bool(value), f"{name} is {value!r}; expected text")
    try:
        same = get(encoding.spec)
    except UnknownNameError:  # encodings need not be registered
        return
    if type(same) is type(encoding):
        _demand(same.spec == encoding.spec, f"get({encoding.spec!r}) builds an encoding whose spec is {same.spec!r}")


def _check_labels(encoding: Encoding, labels: Labels) -> None:
    for number, column in enumerate(labels.columns):
        for text in column.names:
            try:
                encoding.check_label(text, number)
            except LabelError as error:
                raise AssertionError(f"check_label refuses {text!r}, which write uses: {error}") from error
    if encoding.alphabet is not None:
        unknown = set(labels.columns[0]) - set(encoding.alphabet)
        _demand(not unknown, f"write uses {sorted(unknown)}, which alphabet lacks")


def _check_uncovered(encoding: Encoding, bank: Treebank) -> None:
    if not len(bank):
        return
    if encoding.policy == "refuse":
        try:
            encoding.encode(bank)
        except EncodingError:
            return
        raise AssertionError("encode writes trees that are not covered under the policy refuse")
    recovered = encoding.recover(encoding.encode(bank))
    bad = check_heads(recovered.trees.heads, recovered.trees.offsets).codes.any()
    _demand(not bad, "recover returns no trees for trees that are not covered")


def _check_batches(encoding: Encoding, bank: Treebank, labels: Labels) -> None:
    whole = [labels.sentences(number) for number in range(len(labels.columns))]
    for sentence in range(0, len(bank), max(1, len(bank) // 50)):
        alone = encoding.encode(bank.select(np.array([sentence])))
        _demand(
            [alone.texts(number) for number in range(len(whole))] == [column[sentence] for column in whole],
            f"the tree {bank.tree(sentence).heads.tolist()} has other labels alone than in a batch",
        )
    threaded = encoding.encode(bank, threads=3)
    same = [threaded.sentences(number) for number in range(len(whole))] == whole
    _demand(same, "three threads write other labels than one")
    heads = encoding.decode(labels, threads=3).heads
    _demand(np.array_equal(heads, encoding.decode(labels).heads), "three threads read other heads than one")


def _check_junk(encoding: Encoding, labels: Labels, dice: random.Random, count: int) -> None:
    rows = [
        [tuple(dice.choice(column.names) for column in labels.columns) for _ in range(dice.randint(1, 8))]
        for _ in range(count)
    ]
    tags = [[dice.choice(TAGS) for _ in row] for row in rows] if encoding.needs_upos else None
    wrong = encoding.labels(rows, upos=tags)
    try:
        decoded = encoding.decode(wrong)
        recovered = encoding.recover(wrong)
    except Exception as error:  # no exception is allowed
        raise AssertionError(f"read raises {type(error).__name__} for the encoding's own labels: {error}") from error
    faults = check_heads(recovered.trees.heads, recovered.trees.offsets)
    _demand(not faults.codes.any(), "labels that fit no tree are decoded into heads with a cycle, or out of range")
    for sentence, row in enumerate(rows):
        where = decoded.offsets[sentence]
        _demand(_is_forest(decoded.heads[where].tolist()), f"the labels {row} are decoded into {decoded.heads[where]}")


def _is_forest(heads: Sequence[int]) -> bool:
    """Return whether each head is -1 (none), 0 (root) or a word of the sentence, and the heads form no cycle."""
    if not all(-1 <= head <= len(heads) for head in heads):
        return False
    tops = list(heads)
    for _ in heads:  # after this many steps up, each word has reached the top unless there is a cycle
        tops = [heads[top - 1] if top > 0 else top for top in tops]
    return max(tops, default=0) <= 0


def _check_machine(encoding: Encoding, labels: Labels) -> None:
    column = labels.columns[0]
    machine = encoding.machine(encoding.alphabet or column.names) if len(labels.columns) == 1 else None
    if machine is None:
        return
    numbers = {text: number for number, text in enumerate(machine.labels)}
    for sentence, texts in enumerate(labels.sentences()):
        state = machine.start
        for text in texts:
            after = machine.step(state, numbers[text])
            if after is None:
                raise AssertionError(f"the machine refuses {text!r} in the labels {_texts(labels, sentence)} of a tree")
            state = after[0]
        _demand(machine.accepts(state), f"the machine does not accept the labels {_texts(labels, sentence)} of a tree")
