"""Speed of decoding and of probabilities from label scores, on one core.

    python bench/decoding.py [FILE] [--format markdown] [--runs N]

FILE is by default the English EWT development file in the folder named by ROPEWALK_UD. Its sentences keep their
lengths; the scores are made up around the gold labels: noise, and a gain for the gold label that differs from word to
word, as a tagger's certainty does. Speeds are thousands of words a second of CPU time, each the best of several runs,
in automata of depth 6. For linearity the same scores are cut into sentences of 10, 100 and 1,000 words. Short sentences
are faster because few of the automaton's states can be reached in them; from there on the speed must stay the same: the
bar is for 100 against 1,000 words. The exit code is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk import conllu, decoding, kernels
from ropewalk.core.repair import POLICIES
from ropewalk.encodings import get
from ropewalk.reporting.tables import FORMATS, Table, TableColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ropewalk.reporting.tables import Cell
    from ropewalk.treebank.treebank import Treebank

Floats = npt.NDArray[np.float64]

EXACT = ("optimal", "four-bit", "hexatags")
BEAMS = ("optimal-nonprojective", "seven-bit")
LEAST_BEST, LEAST_SUMS, LEAST_BEAM, LEAST_TREES = 300.0, 200.0, 100.0, 250.0  # thousands of words a second
MOST_APART = 2.0
SHORT, MIDDLE, LONG = 10, 100, 1_000
CANDIDATES = 10
FEW = 300  # sentences for what is slow: k-best


@dataclass(frozen=True, eq=False)
class Task:
    """The output of a tagger for a treebank."""

    spec: str
    bank: Treebank
    scores: Floats
    names: tuple[str, ...]
    root: Floats
    arcs: decoding.ArcScores

    def decode(
        self,
        offsets: npt.NDArray[Any],
        *,
        decoder: str = "exact",
        arcs: decoding.ArcScores | None = None,
        repair: str = "nearest",
    ) -> decoding.Best:
        """Decode sentences that begin at the given offsets."""
        words = int(offsets[-1])
        labels = decoding.LabelTables(get(self.spec), [self.names], [self.scores[:words]], self.root[:words])
        return decoding.decode(decoding.Problem(offsets, labels, arcs), decoder, repair=repair)

    def scored(self, offsets: npt.NDArray[Any]) -> decoding.Scored:
        """Return the same sentences for sums."""
        words = int(offsets[-1])
        return decoding.scored(get(self.spec), self.scores[:words], self.names, offsets=offsets, root=self.root[:words])


def made_up(spec: str, bank: Treebank) -> Task:
    """Make scores around gold labels, as log-probabilities, over the labels that occur."""
    dice = np.random.default_rng(0)
    encoding = get(spec)
    labels = encoding.encode(bank)
    names, ids = labels.columns[0].names, labels.columns[0].ids
    if spec in BEAMS:
        seen, ids = np.unique(ids, return_inverse=True)
        names = tuple(names[number] for number in seen)
    scores = dice.normal(size=(bank.words, len(names))) * 2
    scores[np.arange(bank.words), ids] += dice.uniform(2, 14, size=bank.words)
    scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
    root = np.log(np.where(bank.heads == 0, dice.beta(8, 1, bank.words), dice.beta(1, 60, bank.words)))
    return Task(spec, bank, scores, names, np.clip(root, -30.0, -1e-9), made_up_arcs(bank, dice))


def made_up_arcs(bank: Treebank, dice: np.random.Generator) -> decoding.ArcScores:
    """Make scores of arcs around gold heads, as log-probabilities."""
    rows = []
    for first, last in pairwise(bank.offsets.array.tolist()):
        words = last - first
        table = dice.normal(size=(words, words + 1)) * 2
        table[np.arange(words), bank.heads[first:last]] += dice.uniform(2, 14, size=words)
        rows.append((table - np.log(np.exp(table).sum(axis=1, keepdims=True))).astype(np.float32).reshape(-1))
    return np.concatenate(rows)


def seconds(action: Callable[[], object], runs: int) -> float:
    """Time an action: the shortest of several runs, of CPU time."""
    gc.collect()
    found = []
    for _ in range(runs):
        begin = time.process_time()
        action()
        found.append(time.process_time() - begin)
    return min(found)


def depth_of(bank: Treebank) -> tuple[int, float]:
    """Find the most brackets that the optimal labels of any tree have open at once, and the share within 6."""
    encoding = get("optimal")
    labels = encoding.encode(bank)
    depths = []
    for sentence in labels.sentences():
        high = most = 1  # node 0's bracket
        for label in sentence:
            high += label.count("<^") + label.count("/^") - label.count(">^") - label.count("\\^")
            most = max(most, high)
        depths.append(most)
    return max(depths), float(np.mean(np.array(depths) <= decoding.DEPTH))


def right(best: decoding.Best, bank: Treebank) -> float:
    """Return the percentage of heads that are gold."""
    return 100 * float((best.heads == bank.heads[: len(best.heads)]).mean())


def exact_rows(task: Task, runs: int) -> list[tuple[Cell, ...]]:
    """Measure all that an encoding with an automaton has."""
    offsets, words = task.bank.offsets.array, task.bank.words
    asked = task.scored(offsets)
    best = task.decode(offsets)
    actions = (partial(task.decode, offsets), partial(decoding.marginals, asked))
    spent = [seconds(action, runs) for action in actions]
    rows = [
        *greedy_rows(task, offsets, runs),
        (*_row(task, "best tree", words, spent[0], LEAST_BEST), right(best, task.bank)),
        (*_row(task, "forward-backward", words, spent[1], LEAST_SUMS), None),
    ]
    if task.spec != "hexatags":
        sure = seconds(partial(decoding.confidences, asked, best.ids[0], best.heads), min(runs, 3))
        rows.append((*_row(task, "confidences", words, sure, None), None))
        rows += [joint_row(task, runs), mbr_row(task, runs)]
    few = min(FEW, len(task.bank))

    def candidates() -> None:
        for sentence in range(few):
            decoding.k_best(asked, CANDIDATES, sentence)

    rows.append((*_row(task, f"{CANDIDATES} best", int(offsets[few]), seconds(candidates, min(runs, 3)), None), None))
    return rows


def beam_rows(task: Task, runs: int) -> list[tuple[Cell, ...]]:
    """Measure the search over brackets on stacks, by labels and with arcs, and greedy decoding beside it."""
    offsets = task.bank.offsets.array
    action = partial(task.decode, offsets)
    found = action()
    what = f"beam, {proved(found)}"
    beam = (*_row(task, what, task.bank.words, seconds(action, runs), LEAST_BEAM), right(found, task.bank))
    return [*greedy_rows(task, offsets, runs), beam, joint_row(task, runs)]


def joint_row(task: Task, runs: int) -> tuple[Cell, ...]:
    """Measure the decoder of labels and arcs."""
    action = partial(task.decode, task.bank.offsets.array, decoder="joint", arcs=task.arcs)
    found = action()
    spent = seconds(action, min(runs, 3))
    return *_row(task, f"labels and arcs, {proved(found)}", task.bank.words, spent, None), right(found, task.bank)


def mbr_row(task: Task, runs: int) -> tuple[Cell, ...]:
    """Measure the decoder of most expected arcs."""
    action = partial(task.decode, task.bank.offsets.array, decoder="mbr", arcs=task.arcs)
    spent = seconds(action, min(runs, 3))
    return *_row(task, "sums over trees", task.bank.words, spent, LEAST_TREES), right(action(), task.bank)


def proved(found: decoding.Best) -> str:
    """Return the number of trees that are proved to be the best."""
    return f"{100 * found.exact.mean():.1f} % proved best"


def greedy_rows(task: Task, offsets: npt.NDArray[Any], runs: int) -> list[tuple[Cell, ...]]:
    """Measure the best label of each word, by how words without a head are repaired."""
    rows: list[tuple[Cell, ...]] = []
    for policy in POLICIES:
        action = partial(task.decode, offsets, decoder="greedy", repair=policy)
        spent = seconds(action, runs)
        rows.append((*_row(task, f"greedy, {policy}", int(offsets[-1]), spent, None), right(action(), task.bank)))
    return rows


def _row(task: Task, what: str, words: int, spent: float, bar: float | None) -> tuple[Cell, ...]:
    speed = words / spent / 1e3
    met = "" if bar is None else "yes" if speed >= bar else "no"
    return task.spec, what, speed, "" if bar is None else f"{bar:g}", met


def speed_table(bank: Treebank, tasks: Sequence[Task], runs: int) -> Table:
    """Measure every decoder against its bar."""
    rows: list[tuple[Cell, ...]] = []
    for task in tasks:
        rows += exact_rows(task, runs) if task.spec in EXACT else beam_rows(task, runs)
    deepest, within = depth_of(bank)
    columns = (
        TableColumn("encoding", numeric=False),
        TableColumn("what", numeric=False),
        TableColumn("speed", unit="k words/s", decimals=1),
        TableColumn("bar", numeric=False),
        TableColumn("met", numeric=False),
        TableColumn("heads right", unit="%", decimals=2),
    )
    notes = (
        f"{len(bank)} sentences, {bank.words} words; depth that optimal needs: up to {deepest}.",
        f"At most {decoding.DEPTH} for {100 * within:.2f} % of the sentences.",
        f"Scores are made up around gold labels. The {CANDIDATES} best: the first {FEW} sentences.",
    )
    return Table(title="Speed", columns=columns, rows=tuple(rows), notes=notes)


def linearity_table(tasks: Sequence[Task], runs: int) -> Table:
    """Measure the same scores cut into short and into long sentences."""
    rows: list[tuple[Cell, ...]] = []
    for task in tasks:
        whole = task.bank.words // LONG * LONG
        cuts = [np.arange(0, whole + 1, words, dtype=np.int32) for words in (SHORT, MIDDLE, LONG)]
        for what, actions in (
            ("best tree", [partial(task.decode, offsets) for offsets in cuts]),
            ("forward-backward", [partial(decoding.marginals, task.scored(offsets)) for offsets in cuts]),
        ):
            short, middle, long = (whole / seconds(action, runs) / 1e3 for action in actions)
            met = 1 / MOST_APART <= middle / long <= MOST_APART
            rows.append((task.spec, what, short, middle, long, middle / long, "yes" if met else "no"))
    columns = (
        TableColumn("encoding", numeric=False),
        TableColumn("what", numeric=False),
        TableColumn(f"{SHORT} words", "short", decimals=1),
        TableColumn(f"{MIDDLE} words", "middle", decimals=1),
        TableColumn(f"{LONG} words", "long", decimals=1),
        TableColumn(f"ratio {MIDDLE} / {LONG}", "ratio", decimals=2),
        TableColumn("met", numeric=False),
    )
    note = f"Thousands of words a second by the length of sentences; bar: within a factor of {MOST_APART:g}."
    return Table(title="Linearity", columns=columns, rows=tuple(rows), notes=(note,))


def main() -> int:
    """Print the figures; 1 if one misses its bar."""
    parser = argparse.ArgumentParser(description="Speed of decoding.")
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--format", choices=sorted(FORMATS), default="table")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    folder = os.environ.get("ROPEWALK_UD")
    if given.file is None and not folder:
        parser.error("give a FILE, or set ROPEWALK_UD")
    path = given.file or Path(folder or "") / "UD_English-EWT/en_ewt-ud-dev.conllu"
    bank = conllu.read(path, trees="required")
    how = "compiled" if kernels.compiled() else "in plain Python"
    print(f"{path.name}: {len(bank)} sentences, {bank.words} words; kernels {how}", file=sys.stderr)
    exact = [made_up(spec, bank) for spec in EXACT]
    beams = [made_up(spec, bank) for spec in BEAMS]
    tables = [speed_table(bank, [*exact, *beams], given.runs), linearity_table(exact, given.runs)]
    for table in tables:
        print(FORMATS[given.format](table))
    places = [(table, [column.name for column in table.columns].index("met")) for table in tables]
    missed = [row[:2] for table, place in places for row in table.rows if row[place] == "no"]
    for spec, what in missed:
        print(f"missed: {spec}, {what}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
