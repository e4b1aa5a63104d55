"""Random arrays, right and wrong, against every function that takes arrays, treebanks, trees, labels or scores.

    python tests/fuzz_arrays.py [--rounds N] [--minutes M] [--seed S] [--first R] [--trace FILE]

Each round calls one function with arguments drawn from its own seed. It must return, or raise a `RopewalkError`, or an
`IndexError` for a sentence that is not there. Anything else, an index outside an array that a kernel with bounds checks
reports, and a call that does not end, stops the program with exit code 1; a crash stops it by itself, and FILE then has
the number of the round: `--first R --rounds 1` repeats it alone.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from decoding_tools import decode
from fuzz_tools import answered, arguments, run
from ropewalk import Graph, Tree, Treebank, conllu, decoding, kernels, search
from ropewalk.core import arrays, columns, graphs, projectivity, repair, ropes, trees
from ropewalk.core.arcs import Arcs
from ropewalk.core.columns import Column
from ropewalk.core.graphs import Graphs
from ropewalk.core.ragged import Offsets
from ropewalk.core.trees import Trees
from ropewalk.decoding.spanning import spanning_tree
from ropewalk.drawing import draw
from ropewalk.encodings import Encoding, Labels, bracketing, get, optimal
from ropewalk.encodings import graphs as graph_encodings
from ropewalk.encodings.pseudo import PseudoProjective
from ropewalk.formats import deps, word_tables
from ropewalk.formats.text import treebank_of_tokens
from ropewalk.laboratory import coverage, statistics
from ropewalk.laboratory.splits import Corpus
from ropewalk.scoring import attachment, breakdown, conll18, graph_scores, significance
from ropewalk.treebank import summary, treebank
from ropewalk.treebank.source import COLUMNS, Source

if TYPE_CHECKING:
    from collections.abc import Callable

GRAPH_SPECS = ("optimal-nonprojective", "brackets", "brackets(planes=1)", "four-bit", "six-bit", "absolute", "relative")
SPECS = (
    "optimal", "optimal(policy=published)", "optimal(policy=refuse)", "optimal+head", "four-bit+path",
    "hexatags+head+path", "optimal-nonprojective", "optimal-nonprojective(max_index=0)", "four-bit",
    "four-bit(policy=published)", "seven-bit", "seven-bit(policy=published)", "brackets", "brackets(stacks=1)",
    "brackets(planes=2)", "brackets(planes=3)", "hexatags", "absolute", "relative", "pos-offset", "arc-standard",
    "arc-eager", "arc-hybrid", "covington",
)  # fmt: skip
LENGTHS = (1, 3, 8, 40) if kernels.compiled() else (1, 3, 6)  # of the longest sentence
TEXTS = ("_", "a", "b", "root", "obj¡a", "a!", "¡", "x¡b¡a")
UPOS = ("NOUN", "VERB", "X")


class Dice:
    """The random values of one round: sentences, and arrays for them that are right or damaged."""

    def __init__(self, seed: tuple[int, int]) -> None:
        self.rng = np.random.default_rng(seed)
        self.wild = self.rng.random() < 0.7  # whether this round damages anything
        most = int(self.choice(LENGTHS))
        self.lengths = self.rng.integers(0, most + 1, size=self.rng.integers(0, 5))
        self.words = int(self.lengths.sum())

    def choice(self, options: Any) -> Any:  # noqa: ANN401 - whatever it is to choose from
        return options[int(self.rng.integers(len(options)))]

    def name(self, options: Any) -> Any:  # noqa: ANN401 - a name, or not
        """Draw one of some names, or what is none."""
        return self.choice((self.junk(), "", "nearset")) if self.happens(0.05) else self.choice(options)

    def happens(self, share: float = 0.3) -> bool:
        return self.wild and bool(self.rng.random() < share)

    def junk(self) -> Any:  # noqa: ANN401 - anything at all
        """Draw what is no row of numbers as kernels take it, or only just."""
        size = int(self.rng.integers(0, self.words + 3))
        small = self.rng.integers(-3, self.words + 4, size=size)
        return self.choice(
            (
                lambda: small,
                lambda: small.astype(np.int16),
                lambda: small.astype(">i4"),
                lambda: small.astype(np.uint64),
                lambda: np.repeat(small, 2).astype(np.int32)[::2],
                lambda: small * (1 << 30),
                lambda: small * (1 << 40),
                lambda: (small * (1 << 24)).astype(np.int32),
                lambda: np.full(size, -(1 << 31), dtype=np.int32),
                lambda: np.full(size, (1 << 31) - 1, dtype=np.int32),
                lambda: small / 2,
                lambda: np.full(size, np.nan),
                lambda: small > 0,
                lambda: small.astype(str),
                lambda: small.astype(object),
                lambda: [2**80] * size,
                lambda: [None] * size,
                lambda: small.reshape(1, -1),
                lambda: np.zeros((size, 2), dtype=np.int32),
                lambda: np.array(5),
                lambda: 7,
                lambda: None,
                lambda: "12",
                lambda: [[1], [1, 2]],
                lambda: iter(small.tolist()),
                small.tolist,
                lambda: np.zeros(0),
            )
        )()

    def whole_offsets(self) -> Any:  # noqa: ANN401 - an array
        return np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int32)

    def offsets(self, *, share: float = 0.15) -> Any:  # noqa: ANN401 - an array, or not
        """Draw offsets: those of the sentences, or damaged ones."""
        good = self.whole_offsets()
        if not self.happens(share):
            return good
        bad = good + 0
        bad[self.rng.integers(len(bad))] += self.choice([-1, 1, 5, -100, 1 << 20])
        return self.choice((bad, good[:-1], good[::-1].copy(), np.append(good, good[-1] + 3), self.junk()))

    def whole_heads(self) -> Any:  # noqa: ANN401 - an array
        """Draw the heads of trees, with any number of roots, projective or not."""
        found = []
        for length in self.lengths.tolist():
            order = self.rng.permutation(length) + 1
            if self.happens(0.2):
                order = np.arange(1, length + 1)[:: self.choice([1, -1])]
            heads = np.zeros(length, dtype=np.int32)
            for place, word in enumerate(order.tolist()):
                above = int(self.rng.integers(0, place + 1)) if self.rng.random() < 0.3 else place
                above = max(above, min(place, 1)) if self.rng.random() < 0.8 else above
                heads[word - 1] = 0 if above == 0 else order[above - 1]
            found.append(heads)
        return np.concatenate([np.zeros(0, dtype=np.int32), *found])

    def heads(self) -> Any:  # noqa: ANN401 - an array, or not
        """Draw heads: trees, or damaged ones."""
        heads = self.whole_heads()
        if not self.happens():
            return heads
        return self.choice(
            (
                self.rng.integers(-2, self.lengths.max(initial=0) + 3, size=self.words).astype(np.int32),
                np.where(self.rng.random(self.words) < 0.2, self.rng.integers(-5, 50, self.words), heads).astype(
                    np.int32
                ),
                self.rng.permutation(heads),
                np.full(self.words, -1, dtype=np.int32),
                heads[:-1],
                np.append(heads, 0),
                self.junk(),
            )
        )

    def numbers(self, limit: int, size: int) -> Any:  # noqa: ANN401 - an array, or not
        """Draw numbers below a limit, or not all below."""
        good = self.rng.integers(0, max(limit, 1), size=size).astype(self.choice([np.int32, np.int64, np.uint8]))
        if not self.happens(0.15):
            return good
        bad = good.astype(np.int64)
        bad[self.rng.random(size) < 0.3] = self.choice([-1, limit, limit + 1, 255, 1 << 20])
        return self.choice((bad, bad.astype(np.int32), good[:-1], np.append(good, 0), self.junk()))

    def column(self, texts: tuple[str, ...] = TEXTS) -> Column:
        names = self.choice([texts, texts[:1], (*texts, None), ()]) if self.happens(0.1) else texts
        return Column(self.numbers(len(texts), self.words), names)

    def tags(self) -> Column:
        return Column(self.rng.integers(0, len(UPOS), self.words, dtype=np.int32), UPOS)

    def columns(self) -> dict[str, Column]:
        """Draw the columns of a treebank, sometimes without relations or of another type."""
        if self.happens(0.05):
            odd: list[Any] = [{}, self.junk(), {"deprel": self.junk()}, {"x": self.column()}]
            drawn: dict[str, Column] = self.choice(odd)
            return drawn
        upos = {"upos": self.column(UPOS)} if self.happens() else {}
        return {"deprel": self.column(), **upos}

    def bank(self) -> Treebank:
        """Draw a treebank, with text or without."""
        bank = Treebank(self.offsets(share=0.08), self.heads(), self.columns())
        return self.spelled(bank) if self.rng.random() < 0.3 else bank

    def spelled(self, bank: Treebank) -> Treebank:
        """Build a treebank over CoNLL-U."""
        kept = bank.select(bank.lengths > 0)
        if not len(kept):
            return kept
        text = _text_of(kept)
        if self.happens(0.2):
            fields = text.fields + 0
            fields[self.rng.random(fields.shape) < 0.1] += self.choice([-1, 1, 30, 1 << 40, -(1 << 40)])
            text = replace(text, fields=self.choice([fields, fields[:-1], fields[:, :-1], fields.astype(np.int32)]))
        if self.happens(0.1):
            text = replace(text, sentences=self.choice([text.sentences + 1, text.sentences[::-1].copy(), self.junk()]))
        return replace(kept, source=text)

    def tree(self) -> Tree:
        return Tree(self.heads())

    def trees(self) -> Trees:
        """Draw trees side by side, of heads and offsets that may be damaged."""
        return Trees(self.heads(), self.offsets(), self.choice([None, self.column()]))

    def trees_or_not(self) -> Any:  # noqa: ANN401 - trees, or not
        """Draw trees side by side, or what is none."""
        return self.choice((self.junk, self.bank, self.tree))() if self.happens(0.05) else self.trees()

    def graph(self) -> Graph:
        words = int(self.choice([0, 1, 4, 12]))
        arcs = {(int(self.rng.integers(0, words + 1)), int(self.rng.integers(1, words + 1))) for _ in range(words)}
        good: list[Any] = [arc for arc in arcs if arc[0] != arc[1]]
        if self.happens(0.2):
            good.append(self.choice([(1, 1), (-1, 2), (1, words + 1), (1.5, 2), (1,), None, (1, 2, None), (2**70, 1)]))
        return Graph(self.choice([2**40, -1, None, 1.5]) if self.happens(0.05) else words, good)

    def graphs(self) -> list[Graph]:
        return [self.graph() for _ in range(int(self.rng.integers(0, 4)))]

    def many_graphs(self) -> Graphs:
        """Draw graphs side by side, with damaged arrays or not."""
        found = Graphs.of(self.graphs())
        if not self.happens():
            return found
        damaged: dict[str, Any] = {
            "offsets": self.offsets(),
            "arc_offsets": self.offsets(),
            "heads": self.choice([found.heads[::-1].copy(), self.heads(), self.junk()]),
            "dependents": self.choice([found.heads, self.heads(), self.junk()]),
            "empty": self.choice([~found.empty, self.junk()]),
            "relations": self.column(),
            "probabilities": self.choice([self.rng.random(len(found.heads)), self.junk()]),
        }
        name = self.choice(tuple(damaged))
        return replace(found, **{name: damaged[name]})

    def arcs(self) -> Arcs:
        if self.rng.random() < 0.4:
            return self.many_graphs().arcs()
        if self.rng.random() < 0.5:
            return Arcs.of_trees(self.trees_or_not())
        dependents = self.choice([Offsets(self.whole_offsets()).positions(), self.heads()])
        return Arcs(
            self.heads(), dependents, self.offsets(), self.choice([self.lengths, self.junk(), self.lengths - 1])
        )

    def cover(self) -> ropes.RopeCover:
        found = ropes.rope_cover(self.choice([self.tree, self.graph])(), self.name(ropes.COVERS))
        if not self.happens():
            return found
        marks = tuple(bool(mark) for mark in self.rng.random(len(found.arcs)) < 0.5)
        damaged: tuple[ropes.RopeCover, ...] = (
            replace(found, structural=marks),
            replace(found, words=self.choice([0, 1, -1, 2**40])),
            replace(found, arcs=tuple((head, word + 3) for head, word in found.arcs)),
            replace(found, arcs=found.arcs[:-1]),
        )
        return damaged[int(self.rng.integers(len(damaged)))]

    def encoding(self) -> Encoding:
        return get(self.choice(SPECS))

    def labels(self, encoding: Encoding) -> Labels:
        """Draw labels of an encoding, right, in the wrong places, or those of another."""
        source = self.encoding() if self.happens(0.15) else encoding
        upos = self.tags()
        relations = Column(self.rng.integers(0, len(TEXTS), self.words, dtype=np.int32), TEXTS)
        found = source.encode(Treebank(self.whole_offsets(), self.whole_heads(), {"deprel": relations, "upos": upos}))
        if self.rng.random() < 0.5:
            closed = source.alphabet
            alphabets = [column.names for column in found.columns] if closed is None else [closed]
            numbers = [self.rng.integers(0, max(len(names), 1), self.words) for names in alphabets]
            found = replace(found, columns=tuple(map(Column, numbers, alphabets)))
        if self.happens(0.3):
            found = replace(
                found,
                offsets=self.offsets(),
                columns=tuple(Column(self.numbers(len(one.names), self.words), one.names) for one in found.columns),
                relations=self.column(),
                upos=self.choice([None, found.upos, self.column(UPOS)]),
            )
        return found

    def scores(self, labels: int) -> Any:  # noqa: ANN401 - an array, or not
        """Draw label scores, some of them impossible, very large or not numbers at all."""
        good = self.rng.normal(size=(self.words, labels)) * self.choice([1, 1, 30, 1e4])
        if self.happens(0.2):
            good[self.rng.random(good.shape) < 0.2] = self.choice([-np.inf, -np.inf, 1e308, -1e308, np.nan, np.inf])
        return self.choice((good[:-1], good[:, :-1], good.T, self.junk())) if self.happens(0.1) else good

    def alphabet(self, encoding: Encoding) -> tuple[str, ...]:
        closed = encoding.alphabet
        if closed is None:
            closed = self.labels(encoding).columns[0].names
        return closed[: int(self.rng.integers(1, len(closed) + 1))] if self.happens(0.2) and closed else closed

    def root(self) -> Any:  # noqa: ANN401 - an array, or none
        good = self.choice([None, np.log(self.rng.random(self.words) + 1e-9)])
        return self.junk() if self.happens(0.05) else good

    def scored(self) -> decoding.Scored:
        encoding = get(self.choice(("optimal", "four-bit", "hexatags", "optimal+head")))
        alphabet = self.alphabet(encoding)
        found = decoding.scored(
            encoding, self.scores(len(alphabet)), alphabet, offsets=self.offsets(), root=self.root(),
            temperature=self.choice([1.0, 0.3, 5.0]),
        )  # fmt: skip
        if self.happens(0.1):
            return replace(found, table=self.scores(len(alphabet)), root_scores=self.scores(2), offsets=self.offsets())
        return found

    def best(self) -> decoding.Best:
        encoding = self.encoding()
        columns = [self.alphabet(encoding)] * len(encoding.columns)
        if len(encoding.columns) == 2:
            columns = [column.names for column in self.labels(encoding).columns]
        size = int((self.lengths * (self.lengths + 1)).sum())
        arcs = self.rng.normal(size=size) * self.choice([1, 1e30, 1e38, 1e300])
        return decode(
            encoding,
            [self.scores(len(names)) for names in columns],
            self.offsets(),
            columns,
            decoder=self.name(decoding.label_decoders()),
            root=self.root(),
            upos=self.choice([None, self.tags()]),
            depth=int(self.choice([1, 3, 6])),
            repair_policy=self.name(["nearest", "root"]),
            arcs=self.junk() if self.happens(0.1) else arcs,
        )

    def given(self) -> tuple[Any, Any]:
        return self.heads(), self.offsets()

    def text(self) -> Source:
        return _text_of(self.spelled(self.bank()))

    def sentence(self) -> int:
        return int(self.choice([0, 0, 0, 1, -1, 99]))


def _text_of(bank: Treebank) -> Source:
    """Write a treebank, or a word if it has none, and read what was written."""
    found = conllu.loads(conllu.dumps(bank) or "1\tx" + "\t_" * 8 + "\n\n").source
    assert isinstance(found, Source)
    return found


def _stretches(dice: Dice) -> object:
    raw = dice.junk() if dice.happens(0.2) else dice.rng.integers(97, 99, size=50).astype(np.uint8)
    starts = dice.rng.integers(0, 45, size=20)
    stops = starts + dice.rng.integers(0, 4, size=20)
    if dice.happens():
        starts, stops = dice.choice(((starts - 3, stops), (starts, stops + 9), (stops, starts), (starts, stops[:-1])))
    return columns.intern(raw, dice.junk() if dice.happens(0.1) else starts, stops)


def _edited(dice: Dice) -> object:
    bank = dice.bank()
    edited = bank.with_columns(
        {dice.choice(treebank.EDITABLE): dice.choice([dice.column(), dice.junk(), ["x"] * dice.words])}
    )
    return conllu.dumps(edited)


def _restores(dice: Dice) -> object:
    encoding = get(dice.choice(("optimal+head", "hexatags+path", "four-bit+head+path")))
    assert isinstance(encoding, PseudoProjective)
    return encoding.restores(dice.trees_or_not())


def _graphs(dice: Dice) -> object:
    encoding = graph_encodings.get(dice.choice(GRAPH_SPECS))
    labels = encoding.encode(dice.many_graphs())
    if dice.happens(0.5):
        columns = (dice.choice([labels.columns[0], dice.junk()]),)
        labels = replace(labels, columns=columns, relation_offsets=dice.offsets())
    return encoding.decode(labels)


def _written(dice: Dice) -> object:
    upos = dice.choice([None, dice.column(UPOS)])
    return dice.encoding().write(dice.trees(), upos)


def _read(dice: Dice) -> object:
    encoding = dice.encoding()
    return encoding.read(dice.labels(encoding))


def _recovered(dice: Dice) -> object:
    encoding = dice.encoding()
    found = encoding.recover(dice.labels(encoding), repair_policy=dice.name(["nearest", "root"]))
    again = Trees(found.trees.heads, found.trees.offsets)  # whatever the labels were
    assert (trees.check_heads(again.heads, again.offsets).roots == (again.offsets.lengths > 0)).all()
    return list(found.trees)


def _repaired(dice: Dice) -> object:
    heads, offsets = dice.given()
    found = repair.repair(heads, offsets, dice.name(["nearest", "root"]))
    again = Trees(found.trees.heads, offsets)
    assert (trees.check_heads(again.heads, again.offsets).roots == (again.offsets.lengths > 0)).all()
    return found.counts()


def _confident(dice: Dice) -> object:
    given = dice.scored()
    ids = dice.numbers(given.table.shape[1], dice.words)
    return decoding.confidences(given, ids, dice.heads(), depth=int(dice.choice([3, 6])))


def _tree_scores(dice: Dice) -> object:
    given = dice.scored()
    return decoding.tree_scores(given, dice.numbers(given.table.shape[1], dice.words), dice.heads())


def _temperature(dice: Dice) -> object:
    given = dice.scored()
    best = decode(given.encoding, [given.table], given.offsets, [given.machine.labels])
    return decoding.fit_temperature(given, best, dice.heads(), depth=3)


def _tree_sums(dice: Dice) -> object:
    encoding = dice.encoding()
    names = dice.alphabet(encoding)
    arcs = dice.rng.normal(size=int((dice.lengths * (dice.lengths + 1)).sum())) * dice.choice([1, 30, 1e30, 1e300])
    sums = decoding.tree_sums(
        encoding, dice.scores(len(names)), dice.offsets(), names, dice.junk() if dice.happens(0.1) else arcs
    )
    gains = dice.junk() if dice.happens(0.1) else sums.arcs
    return decoding.expected_trees(gains, dice.offsets())


def _arc_sums(dice: Dice) -> object:
    arcs = dice.rng.normal(size=int((dice.lengths * (dice.lengths + 1)).sum())) * dice.choice([1, 30, 1e30, 1e300])
    summed = dice.choice([decoding.arc_sums, decoding.spanning_tree_sums])
    summed(dice.junk() if dice.happens(0.1) else arcs, dice.offsets())
    return decoding.decode_arcs(arcs, dice.offsets(), decoder=dice.name(decoding.arc_decoders()))


def _spanning(dice: Dice) -> object:
    n = int(dice.rng.integers(0, 7))
    scores = dice.rng.normal(size=(n, n + 1)) * dice.choice([1, 1e4, 1e300, 1e307])
    if dice.happens():
        scores = dice.choice((scores.T, scores[:, :-1], np.where(scores > 0, np.nan, scores), dice.junk(), scores > 0))
    heads = spanning_tree(scores)
    return Tree(heads, single_root=True)


def _relations(dice: Dice) -> object:
    names = dice.choice([TEXTS, TEXTS[:1], ()])
    return decoding.assign_relations(dice.scores(len(names)), names, dice.heads())


def _drawn(dice: Dice) -> object:
    structure = dice.choice((dice.tree, dice.graph))()
    return draw(
        structure, labels=dice.choice([(), *((spec,) for spec in SPECS)]), cover=dice.choice([None, *ropes.COVERS])
    )


def _coverage(dice: Dice) -> object:
    bank = dice.bank()
    return coverage.coverage(Corpus("random", {"train": bank, "test": dice.bank()}), [dice.encoding()])


def _edges(dice: Dice) -> object:
    structure = dice.choice((dice.tree, dice.graph))()
    pairs = [arc for arc in structure.arcs() if dice.rng.random() < 0.9]
    return ropes.rope_cover(structure, [*pairs, (1, 7)] if dice.happens() else pairs)


def _replaced(dice: Dice) -> object:
    bank = dice.bank()
    where = dice.choice((dice.junk, lambda: dice.numbers(bank.words, 3), lambda: bank.heads > 0, lambda: None))()
    edits = {"head": dice.choice([1, dice.heads()]), "upos": dice.choice(["X", dice.tags(), dice.junk()])}
    return conllu.dumps(bank.replace(edits if dice.happens() else {dice.choice(COLUMNS): "a"}, where))


def _selected(dice: Dice) -> object:
    bank = dice.bank()
    chosen = dice.choice((dice.numbers(len(bank), 3), dice.rng.random(len(bank)) < 0.5, dice.junk()))
    return conllu.dumps(bank.select(chosen))


def _tokens(dice: Dice) -> object:
    words = dice.choice([["a", "b"], ["a", None], [1], [""], "a", None, 3, [], np.array(["a"]), ["\t"]])
    return treebank_of_tokens([["a"], words])


def _trees_from_bank(dice: Dice) -> object:
    bank = dice.bank()
    return bank.trees(), bank.tree(dice.sentence()), bank.comments(dice.sentence()), bank[dice.sentence()]


def _judged(dice: Dice) -> attachment.Judged:
    bank = dice.bank()
    return attachment.judge(
        bank, dice.choice([bank, dice.bank()]), attachment.ScoringRules(punctuation=dice.choice([True, False]))
    )


def _two_banks(dice: Dice) -> tuple[Treebank, Treebank]:
    bank = dice.spelled(dice.bank())
    return bank, dice.choice([bank, dice.spelled(dice.bank())])


def _statistics(dice: Dice) -> object:
    corpus = Corpus("random", {"train": dice.bank(), "test": dice.bank()})
    return statistics.statistics(corpus, [dice.encoding()], labels_in=dice.name(statistics.COUNTED_IN))


def _parts(dice: Dice) -> list[attachment.Parts]:
    size = int(dice.choice([0, 1, 5]))
    numbers = (dice.junk() if dice.happens(0.1) else dice.rng.integers(0, 9, size) for _ in range(2))
    above: Any  # for anything is tried
    below: Any
    above, below = numbers
    return [attachment.Parts(above, below)]


RULES = (
    "{}=a > {}=b => a.head = b",
    "{}=a .. {}=b => b.head = a; b.relation = dep; a.Number = Sing",
    "{$}=a > {}=b => add a @>dep b; delete b @> a; a.misc.Gloss = b.relation",
)
TARGETS: dict[str, Callable[[Dice], object]] = {
    "trees.Tree": Dice.tree,
    "trees.Graph": Dice.graph,
    "arrays.frozen_ints": lambda dice: arrays.frozen_ints(dice.junk()),
    "ragged.Offsets": lambda dice: list(Offsets(dice.offsets())),
    "ragged.Offsets.of": lambda dice: Offsets.of(dice.offsets(), end=dice.choice([None, dice.words, 3])).positions(),
    "ragged.Offsets.demand": lambda dice: Offsets(dice.offsets()).demand(dice.heads(), "heads"),
    "trees.check_heads": lambda dice: trees.check_heads(*dice.given()),
    "trees.Trees": lambda dice: list(dice.trees()),
    "trees.Trees.of": lambda dice: Trees.of(dice.choice((dice.tree, dice.trees, dice.junk, dice.graphs))()),
    "trees.projective": lambda dice: trees.projective(dice.trees_or_not()),
    "trees.planes": lambda dice: trees.planes(dice.trees_or_not()),
    "trees.gap_degrees": lambda dice: trees.gap_degrees(dice.trees_or_not()),
    "trees.is_projective": lambda dice: trees.is_projective(dice.tree()),
    "trees.tree_planes": lambda dice: trees.tree_planes(dice.tree()),
    "trees.gap_degree": lambda dice: trees.gap_degree(dice.tree()),
    "graphs.crossing_arcs": lambda dice: graphs.crossing_arcs(dice.choice((dice.tree, dice.graph))()),
    "trees.stackable": lambda dice: trees.stackable(
        dice.trees_or_not(), dice.numbers(3, dice.words), dice.choice([1, 2, 3, 0, -1, 2**40, 1 << 30])
    ),
    "trees.single_rooted": lambda dice: trees.single_rooted(dice.trees_or_not()),
    "trees.same_heads": lambda dice: trees.same_heads(
        *(dice.heads(), dice.heads()), dice.junk() if dice.happens(0.1) else Offsets(dice.offsets())
    ),
    "treebank.intern": _stretches,
    "treebank.Column": Dice.column,
    "treebank.Column.concat": lambda dice: Column.concat([dice.column(), dice.column(UPOS)]),
    "treebank.Column.of_heads": lambda dice: Column.of_heads(dice.junk() if dice.happens(0.1) else dice.heads()),
    "treebank.Treebank": Dice.bank,
    "treebank.Treebank.of": lambda dice: Treebank.of([dice.tree(), dice.tree()]),
    "treebank.Treebank.concat": lambda dice: Treebank.concat([dice.bank(), dice.bank()]),
    "treebank.Treebank.trees": _trees_from_bank,
    "treebank.Treebank.with_trees": lambda dice: conllu.dumps(dice.bank().with_trees(dice.heads(), dice.column())),
    "treebank.Treebank.with_columns": _edited,
    "treebank.Treebank.select": _selected,
    "treebank.Treebank.replace": _replaced,
    "word_tables.rows": lambda dice: list(word_tables.rows(dice.bank())),
    "word_tables.columns": lambda dice: word_tables.columns(dice.bank(), dice.choice([(), ("Number",), dice.junk()])),
    "word_tables.arrow": lambda dice: word_tables.arrow(dice.bank()),
    "word_tables.pandas": lambda dice: word_tables.pandas(dice.bank()),
    "word_tables.polars": lambda dice: word_tables.polars(dice.bank()),
    "source.Source": Dice.text,
    "source.Source.column": lambda dice: dice.text().column(dice.choice(COLUMNS)),
    "source.Source.splice": lambda dice: dice.text().splice(dice.offsets(), {"form": dice.column()}),
    "ropes.Arcs": Dice.arcs,
    "ropes.structural_arcs": lambda dice: ropes.structural_arcs(dice.arcs(), dice.name(ropes.COVERS)),
    "ropes.leaning": lambda dice: ropes.leaning(arcs := dice.arcs(), dice.numbers(2, len(arcs.left))),
    "ropes.brackets": lambda dice: ropes.brackets(arcs := dice.arcs(), dice.numbers(2, len(arcs.left))),
    "ropes.rope_thickness": lambda dice: ropes.rope_thickness(dice.trees_or_not()),
    "ropes.rope_cover": _edges,
    "graphs.arcs_of": lambda dice: graphs.arcs_of(dice.choice((dice.tree, dice.graph))()),
    "encodings.bracketing": lambda dice: bracketing(dice.cover()),
    "projectivity.lift_heads": lambda dice: projectivity.lift_heads(
        dice.trees_or_not(),
        dice.numbers(len(dice.lengths), 2),
        planes=dice.choice([1, 2, 0, -1]),
        steps=dice.choice([0, 1, -1]),
    ),
    "projectivity.lift_until": lambda dice: projectivity.lift_until(
        dice.trees_or_not(), dice.encoding().covered, planes=dice.choice([1, 2, 3, 0])
    ),
    "projectivity.lift": lambda dice: projectivity.lift(dice.trees_or_not(), dice.name(projectivity.SCHEMES)),
    "projectivity.lower": lambda dice: projectivity.lower(dice.trees_or_not(), dice.name(projectivity.SCHEMES)),
    "repair.repair": _repaired,
    "repair.rooted_relations": lambda dice: repair.rooted_relations(dice.heads(), dice.column()),
    "encodings.Labels": lambda dice: dice.labels(dice.encoding()).sentences(),
    "encodings.Encoding.covers": lambda dice: dice.encoding().covers(dice.choice((dice.bank, dice.tree))()),
    "encodings.Encoding.covered": lambda dice: dice.encoding().covered(dice.trees()),
    "encodings.Encoding.encode": lambda dice: dice.encoding().encode(
        dice.choice((dice.bank, dice.tree))(), threads=dice.choice([1, 1, 2])
    ),
    "encodings.Encoding.write": _written,
    "encodings.Encoding.read": _read,
    "encodings.Encoding.decode": lambda dice: (e := dice.encoding()).decode(
        dice.labels(e), threads=dice.choice([1, 2])
    ),
    "encodings.Encoding.recover": _recovered,
    "encodings.PseudoProjective.restores": _restores,
    "encodings.decode_graphs": _graphs,
    "graphs.Graphs": lambda dice: dice.many_graphs().names(),
    "deps.texts": lambda dice: deps.texts(dice.many_graphs()),
    "graphs.arc_planes": lambda dice: graphs.arc_planes(dice.arcs(), dice.choice([0, 1, 2, 3, -1])),
    "graphs.cyclic": lambda dice: graphs.cyclic(dice.many_graphs()),
    "encodings.largest_index": lambda dice: optimal.largest_index(dice.trees_or_not()),
    "encodings.cover_codes": lambda dice: optimal.cover_codes(dice.trees_or_not(), dice.name(ropes.COVERS)),
    "encodings.stack_heads": lambda dice: optimal.stack_heads(dice.numbers(256, dice.words), Offsets(dice.offsets())),
    "decoding.decode": Dice.best,
    "decoding.scored": Dice.scored,
    "decoding.marginals": lambda dice: decoding.marginals(dice.scored(), depth=int(dice.choice([1, 4, 6]))),
    "decoding.tree_scores": _tree_scores,
    "decoding.confidences": _confident,
    "decoding.head_probabilities": lambda dice: decoding.head_probabilities(dice.scored(), dice.heads(), depth=4),
    "decoding.arc_probabilities": lambda dice: decoding.arc_probabilities(dice.scored(), dice.sentence(), depth=4),
    "decoding.k_best": lambda dice: decoding.k_best(dice.scored(), dice.choice([1, 3, 0]), dice.sentence(), depth=4),
    "decoding.sample": lambda dice: decoding.sample(dice.scored(), 2, dice.sentence(), seed=1, depth=4),
    "decoding.machine_of": lambda dice: decoding.machine_of(e := dice.encoding(), dice.alphabet(e)),
    "decoding.stacks_of": lambda dice: decoding.stacks_of(e := dice.encoding(), dice.alphabet(e)),
    "decoding.fit_temperature": _temperature,
    "decoding.assign_relations": _relations,
    "decoding.spanning_tree": _spanning,
    "decoding.arc_sums": _arc_sums,
    "decoding.decode_arcs": _arc_sums,
    "decoding.spanning_tree_sums": _arc_sums,
    "decoding.tree_sums": _tree_sums,
    "decoding.expected_trees": _tree_sums,
    "scoring.score": lambda dice: attachment.score(bank := dice.bank(), dice.choice([bank, dice.bank()])),
    "scoring.breakdown": lambda dice: breakdown.breakdown(
        attachment.judge(bank := dice.bank(), dice.choice([bank, dice.bank()])), dice.name(breakdown.BREAKDOWNS)
    ),
    "scoring.judge": _judged,
    "scoring.scores_of": lambda dice: attachment.scores_of(_judged(dice)),
    "scoring.confusion": lambda dice: breakdown.confusion(_judged(dice)),
    "scoring.groupings": lambda dice: breakdown.groupings(_judged(dice), dice.name(breakdown.BREAKDOWNS)),
    "scoring.parts_by_group": lambda dice: breakdown.parts_by_group(_judged(dice), dice.name(breakdown.BREAKDOWNS)),
    "scoring.first_difference": lambda dice: attachment.first_difference(*_two_banks(dice)),
    "scoring.require_same_words": lambda dice: attachment.require_same_words(*_two_banks(dice)),
    "scoring.align": lambda dice: conll18.align(*_two_banks(dice)),
    "scoring.evaluate": lambda dice: conll18.evaluate(*_two_banks(dice)),
    "scoring.enhanced": lambda dice: graph_scores.enhanced(*_two_banks(dice)),
    "scoring.measures": lambda dice: graph_scores.measures(*_two_banks(dice)),
    "scoring.between_words": lambda dice: graph_scores.between_words(dice.many_graphs()),
    "scoring.collapse": lambda dice: graph_scores.collapse(dice.many_graphs()),
    "scoring.statistics": _statistics,
    "scoring.graph_coverage": lambda dice: coverage.graph_coverage(
        Corpus("", {"train": dice.many_graphs(), "dev": dice.many_graphs()}),
        [graph_encodings.get(dice.choice(GRAPH_SPECS))],
    ),
    "scoring.graph_labels_table": lambda dice: statistics.graph_labels_table(
        [Corpus("", {"train": dice.many_graphs()})], [graph_encodings.get(dice.choice(GRAPH_SPECS))], "all"
    ),
    "scoring.summarize_graphs": lambda dice: statistics.summarize_graphs(dice.many_graphs()),
    "scoring.distinct_labels": lambda dice: statistics.distinct_labels(dice.labels(dice.encoding())),
    "scoring.joint_ids": lambda dice: statistics.joint_ids(dice.labels(dice.encoding())),
    "scoring.restricted": lambda dice: coverage.restricted(dice.labels(e := dice.encoding()), dice.labels(e)),
    "scoring.compare_seeds": lambda dice: significance.compare_seeds(
        [_parts(dice) for _ in range(dice.choice([0, 1, 3]))],
        [_parts(dice) for _ in range(dice.choice([1, 2]))],
        samples=20,
    ),
    "scoring.compare_means": lambda dice: significance.compare_means(
        [([_parts(dice)], [_parts(dice)]) for _ in range(dice.choice([0, 1, 3]))], samples=20
    ),
    "scoring.compare": lambda dice: significance.compare(_parts(dice), _parts(dice), samples=dice.choice([1, 20, 0])),
    "arcs.crossed": lambda dice: Arcs.of_trees(dice.trees_or_not()).crossed(),
    "scoring.coverage": _coverage,
    "scoring.most_stars": lambda dice: statistics.most_stars(dice.trees_or_not()),
    "scoring.label_statistics": lambda dice: statistics.label_statistics(dice.bank(), dice.encoding()),
    "scoring.brackets_per_word": lambda dice: statistics.brackets_per_word(dice.bank(), dice.name(ropes.COVERS)),
    "summary.summarize": lambda dice: summary.summarize(dice.bank()),
    "conllu.dumps": lambda dice: conllu.dumps(dice.bank()),
    "conllu.as_written": lambda dice: conllu.as_written(dice.spelled(dice.bank())),
    "search.rewrite": lambda dice: search.rewrite(
        dice.bank(), dice.choice(RULES), passes=dice.choice([1, 3]), on_refusal=dice.name(["stop", "skip"])
    ),
    "conllu.sentences": lambda dice: list(conllu.sentences(dice.bank())),
    "deps.forms": lambda dice: deps.forms(dice.bank()),
    "deps.problems": lambda dice: list(deps.problems(dice.spelled(dice.bank()))),
    "conllu.tree_problems": lambda dice: list(conllu.tree_problems(dice.spelled(dice.bank()))),
    "formats.treebank_of_tokens": _tokens,
    "drawing.draw": _drawn,
}


def one_round(seed: tuple[int, int]) -> tuple[str, bool]:
    """Call one function; tell which, and whether it took what it was given."""
    dice = Dice(seed)
    name = dice.choice(tuple(TARGETS))
    return name, answered(lambda: TARGETS[name](dice))


if __name__ == "__main__":
    sys.exit(run(arguments("Random arrays against everything that takes arrays.").parse_args(), TARGETS, one_round))
