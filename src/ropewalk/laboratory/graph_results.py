"""Scores of enhanced graphs in an experiment grid: every decoder, and baselines derived from basic trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ropewalk.models.graph_decoding import graph_decoders
from ropewalk.morphology.enhancement import by_rules, copied
from ropewalk.reporting.tables import Table, TableColumn, text_columns
from ropewalk.scoring.graph_scores import MEASURES, measures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.laboratory.experiment import Result
    from ropewalk.models.model import Model
    from ropewalk.reporting.tables import Cell
    from ropewalk.training.loop import ScoresByName
    from ropewalk.treebank.treebank import Treebank

BASELINES: Final = {
    "the basic tree copied": copied,
    "the basic tree with rules": by_rules,
    "the basic tree with rules and cases": lambda bank: by_rules(bank, cases=True),
}
SHOWN: Final = dict(zip(MEASURES, ("ELAS", "EULAS", "labelled F1", "unlabelled F1", "whole graphs"), strict=True))
BETWEEN: Final = ": "  # separates a method and a measure


def graph_scores(model: Model, gold: Treebank) -> ScoresByName:
    """Return the scores of a model's graphs against `gold`, with keys such as `joint: elas`.

    The part before the colon is a graph decoder of the model, or a baseline that derives graphs from predicted trees.
    The result is empty if the model predicts no graphs.
    """
    if model.labels.graphs is None:
        return {}
    names = graph_decoders(model.description, model.labels.graphs)
    banks = {name: model.with_decoding(graph_decoder=name).parse(gold) for name in names}
    trees = banks["joint"]
    banks |= {name: trees.with_graphs(make(trees)) for name, make in BASELINES.items()}
    return {
        f"{name}{BETWEEN}{measure}": value
        for name, bank in banks.items()
        for measure, value in measures(gold, bank).items()
    }


def graph_table(results: Sequence[Result]) -> Table:
    """Return a table with a row for each run and graph decoder or baseline; without rows if no run predicts graphs."""
    rows: list[tuple[Cell, ...]] = []
    for result in results:
        ways = dict.fromkeys(key.partition(BETWEEN)[0] for key in result.scores if BETWEEN in key)
        rows += [
            (
                result.treebank,
                result.part,
                result.encoder,
                result.encoding,
                way,
                *(100 * result.scores[f"{way}{BETWEEN}{measure}"] for measure in MEASURES),
            )
            for way in ways
        ]
    return Table(
        "Enhanced graphs",
        (
            *text_columns("treebank", "part", "encoder", "model", "graphs by"),
            *(TableColumn(shown, measure, decimals=2) for measure, shown in SHOWN.items()),
        ),
        tuple(rows),
        notes=("Paths through empty nodes are arcs. Rules see the features of the treebank, models words alone.",),
    )
