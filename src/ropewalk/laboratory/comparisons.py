"""Comparisons of two systems of an experiment grid, on each treebank and on all treebanks together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ropewalk.errors import ConfigError
from ropewalk.laboratory.experiment import COUNTS, Result, last_parts
from ropewalk.options import read
from ropewalk.reporting.tables import DIFFERENCE_COLUMNS, Table, TableColumn, text_columns
from ropewalk.scoring.attachment import NAMES, AttachmentScores, Measure, Parts
from ropewalk.scoring.significance import LEVEL, SAMPLES, STARS, compare_means, holm, star

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Mapping, Sequence

    Outputs = Sequence[Sequence[Parts]]  # the scores of a system on a treebank, for each seed

COMPARED: Final[tuple[Measure, ...]] = ("las", "las_sentences", "lm")
FIELDS: Final = ("question", "first", "second")
DIFFERENCE: Final = 8  # the index of the column "B - A"
AVERAGE: Final = "average"  # the row of all treebanks together


@dataclass(frozen=True, slots=True)
class Question:
    """A question: how much better the system `second` is than `first`.

    A system is written as the name of a row in the grid, a comma and a decoder, as results name it: `O_P, exact`.
    """

    question: str
    first: str
    second: str


def questions(path: str | os.PathLike[str], systems: Collection[str]) -> list[Question]:
    """Read the questions under `comparisons` in a grid's TOML file.

    Raise `ConfigError` if one has other fields, or names a system that is not in `systems`, those of the grid.
    """
    entries = read(path).get("comparisons", [])
    for entry in entries if isinstance(entries, list) else [entries]:
        named = isinstance(entry, dict) and set(entry) == set(FIELDS)
        if not named or not all(isinstance(value, str) for value in entry.values()):
            raise ConfigError(str(path), "comparisons", f"has {entry!r}; expected a table of {', '.join(FIELDS)}")
        for name in (entry["first"], entry["second"]):
            if name not in systems:
                known = "; ".join(map(repr, systems))
                raise ConfigError(str(path), "comparisons", f"names {name!r}, which is no system of this grid: {known}")
    return [Question(**entry) for entry in entries]


def comparisons(results: Sequence[Result], queries: Sequence[Question]) -> Table:
    """Return a table that compares both systems of each question on every treebank for which both have results.

    Scores are means over seeds. For each measure, Holm's correction of p-values covers all questions and treebanks. The
    averages over treebanks get a Holm correction of their own.
    """
    outputs = _outputs(results)
    compared = [
        (question, treebank, measure, min(len(system) for pair in pairs for system in pair), comparison)
        for question in queries
        for treebank, pairs in _datasets(outputs.get(question.first, {}), outputs.get(question.second, {}))
        for measure, comparison in zip(COMPARED, compare_means(pairs), strict=True)
    ]
    families: dict[tuple[Measure, bool], list[int]] = {}
    for number, (_, treebank, measure, _, _) in enumerate(compared):
        families.setdefault((measure, treebank == AVERAGE), []).append(number)
    corrected: dict[int, float] = {}
    for numbers in families.values():
        adjusted = holm([compared[number][-1].bootstrap_p for number in numbers])
        corrected |= zip(numbers, adjusted, strict=True)
    return Table(
        "Comparisons",
        (
            *text_columns("question", "A", "B", "treebank", "score"),
            TableColumn("seeds"),
            TableColumn("A", "first_score", unit="%", decimals=2),
            TableColumn("B", "second_score", unit="%", decimals=2),
            *DIFFERENCE_COLUMNS,
            TableColumn("p", "bootstrap_p", decimals=4),
            TableColumn("p, Holm", "holm_p", decimals=4),
        ),
        tuple(
            (
                *(question.question, question.first, question.second, treebank, NAMES[measure], seeds),
                *(100 * value for value in (result.first, result.second)),
                *(100 * value for value in (result.difference.value, result.difference.low, result.difference.high)),
                *(result.bootstrap_p, corrected[number]),
            )
            for number, (question, treebank, measure, seeds, result) in enumerate(compared)
        ),
        notes=(
            f"Means over seeds, {100 * LEVEL:g}% intervals of the difference over other sentences and other seeds.",
            f"p: paired bootstrap, {SAMPLES:,} draws, two-sided.",
            "Holm: over all questions and treebanks of a score; averages over treebanks among themselves.",
            f"{STARS}, after Holm's correction.",
        ),
        marks={(number, DIFFERENCE): mark for number, p in corrected.items() if (mark := star(p))},
    )


def _outputs(results: Sequence[Result]) -> dict[str, dict[str, Outputs]]:
    """Return for each system and treebank a list over seeds, each with the scores in `COMPARED` on the test data."""
    outputs: dict[str, dict[str, list[list[Parts]]]] = {}
    for result in last_parts(results):
        if result.sentences:
            words, heads, labelled = (np.array(result.sentences[name]) for name in COUNTS)
            nothing = np.zeros_like(words)  # content words are not needed
            scores = AttachmentScores(words, heads, labelled, nothing, nothing, nothing)
            treebanks = outputs.setdefault(f"{result.encoding}, {result.decoder}", {})
            treebanks.setdefault(result.treebank, []).append([scores.parts(measure) for measure in COMPARED])
    return {system: dict(treebanks) for system, treebanks in outputs.items()}


def _datasets(
    first: Mapping[str, Outputs], second: Mapping[str, Outputs]
) -> list[tuple[str, list[tuple[Outputs, Outputs]]]]:
    """Return for each treebank its name and a list with the outputs of both systems, if both have some.

    With several treebanks, the last entry is named `AVERAGE` and lists the outputs on all of them.
    """
    pairs = {treebank: (first[treebank], second[treebank]) for treebank in first if treebank in second}
    average = [(AVERAGE, list(pairs.values()))] if len(pairs) > 1 else []
    return [*((treebank, [pair]) for treebank, pair in pairs.items()), *average]
