"""`ropewalk compare`."""

import statistics
from dataclasses import replace
from glob import glob
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ropewalk.cli import evaluate, shell
from ropewalk.cli.coverage import PlotOption

if TYPE_CHECKING:
    from ropewalk.reporting.tables import Cell, Table
    from ropewalk.scoring.attachment import Judged, Parts

    Outputs = tuple[str, list[dict[str, Parts]]]  # of a system: its name, and for each seed its scores


def compare(
    gold: evaluate.GoldFile,
    predicted: Annotated[
        list[str] | None, typer.Argument(metavar="[PRED]...", help="CoNLL-U with predicted trees, a file a system.")
    ] = None,
    seeds: Annotated[
        list[str] | None,
        typer.Option(
            "--system",
            metavar="NAME=FILE,FILE,...",
            help="A system with a file for each seed it was trained from; may be patterns. Repeatable.",
        ),
    ] = None,
    by: Annotated[
        Literal[evaluate.Breakdowns, "sentence"] | None,
        typer.Option(help="Compare groups of words, or list the sentences that differ most."),
    ] = None,
    samples: Annotated[int, typer.Option(min=1, help="How many times to draw sentences.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="What the draws begin from; equal seeds, equal draws.")] = 0,
    level: Annotated[float, typer.Option(help="The level of the intervals, between 0 and 1.")] = 0.95,
    most: Annotated[int, typer.Option(min=1, help="How many sentences to list, with --by sentence.")] = 20,
    no_punct: evaluate.NoPunctOption = False,
    punct_by: evaluate.PunctByOption = "relation",
    punct_list: evaluate.PunctListOption = "",
    no_subtypes: evaluate.NoSubtypesOption = False,
    form: shell.FormatOption = None,
    output: shell.OutputOption = "-",
    plot: PlotOption = None,
    overwrite: shell.OverwriteOption = False,
) -> None:
    """Tell whether one system is better than another on the same sentences.

    Prints for each score and each pair of systems the difference (B minus A) with its interval, and two p-values:
    of the paired bootstrap over sentences and of approximate randomization. With --by, the LAS over words of each
    group of words is compared. All files must have the same words.

    Systems that were trained from several seeds are compared by their means: --system joint=a1.conllu,a2.conllu. The
    interval and the p-value of the bootstrap are then about other seeds too.
    """
    from ropewalk import conllu
    from ropewalk.reporting import plots
    from ropewalk.scoring.attachment import ScoringRules, judge

    systems = _systems(predicted or [], seeds or [])
    if len(systems) < 2:
        raise typer.BadParameter("expected at least two systems to compare")
    read = [gold, *(file for _, files in systems for file in files)]
    if read.count("-") > 1:
        raise typer.BadParameter("only one file can be standard input")
    if by == "sentence" and any(len(files) > 1 for _, files in systems):
        raise typer.BadParameter("--by sentence compares single outputs; give one file for each system")
    if not 0 < level < 1:
        raise typer.BadParameter(f"--level is {level}; expected a share between 0 and 1, such as 0.95")
    shell.demand_other(output, read, overwrite=overwrite, plot=plot)
    shell.warn_if_uncompiled()
    if plot is not None:
        plots.require(plot)
    right = conllu.read(gold, trees="required")
    scoring = ScoringRules(not no_subtypes, not no_punct, punct_by, punct_list.split())
    judged = [[judge(right, conllu.read(file), scoring) for file in files] for _, files in systems]
    rules = f"{'without' if no_subtypes else 'with'} subtypes, {evaluate.counting(scoring)}"
    if by == "sentence":
        table, bars = _sentences([name for name, _ in systems], [one for (one,) in judged], most, rules)
    else:
        parts = [
            (name, [_parts(one, by) for one in outputs]) for (name, _), outputs in zip(systems, judged, strict=True)
        ]
        drawn = f"{shell.plural(samples, 'draw')} of {shell.plural(len(right), 'sentence')}, seed {seed}"
        table = _differences(parts, by, samples, seed, level)
        table = replace(table, notes=(f"{rules}; {drawn}", *table.notes))
        groups = list(parts[0][1][0])
        bars = (
            groups,
            {
                name: [100 * statistics.fmean(one[group].value for one in outputs) for group in groups]
                for name, outputs in parts
            },
        )
    if plot is not None:
        names, series = bars
        axes = ("sentence", "words") if by == "sentence" else ("", "%")
        plots.bars(plot, names, series, plots.AxisLabels(table.title, *axes))
    shell.show(table, form, output)


def _systems(predicted: list[str], seeds: list[str]) -> list[tuple[str, list[str]]]:
    """Give each system's name and files, one for each seed; a name that `seeds` has twice has the files of both."""
    systems: dict[str, list[str]] = {}
    for text in seeds:
        name, equals, named = text.partition("=")
        files = [file for one in named.split(",") for file in _matching(one)]
        if not (name and equals) or not all(files):
            raise typer.BadParameter(f"--system is {text!r}; expected NAME=FILE,FILE, a file for each seed")
        systems[name] = [*systems.get(name, []), *files]
    for name, files in systems.items():
        if twice := next((file for file in files if files.count(file) > 1), None):
            raise typer.BadParameter(f"{name} has {twice} twice; expected a file for each seed")
    return [*((file, [file]) for file in predicted), *systems.items()]


def _matching(file: str) -> list[str]:
    """Give the files that a pattern stands for; what holds no star stands for itself."""
    if "*" not in file:
        return [file]
    if found := sorted(glob(file)):  # noqa: PTH207 - which knows no absolute patterns
        return found
    raise typer.BadParameter(f"--system: no file matches {file}")


def _parts(judged: "Judged", by: evaluate.Breakdowns | None) -> "dict[str, Parts]":
    """Take apart every score of a system, or its LAS in every group."""
    from ropewalk.scoring import breakdown
    from ropewalk.scoring.attachment import NAMES, scores_of

    if by is None:
        scores = scores_of(judged)
        return {name: scores.parts(measure) for measure, name in NAMES.items()}
    return breakdown.parts_by_group(judged, by)


def _differences(
    parts: "list[Outputs]", by: evaluate.Breakdowns | None, samples: int, seed: int, level: float
) -> "Table":
    from ropewalk.reporting.tables import Table, TableColumn
    from ropewalk.scoring import significance

    several = any(len(outputs) > 1 for _, outputs in parts)
    rows: list[tuple[Cell, ...]] = []
    for (first, ours), (second, theirs) in combinations(parts, 2):
        outputs = ([list(one.values()) for one in some] for some in (ours, theirs))
        found = significance.compare_seeds(*outputs, samples=samples, seed=seed, level=level)
        rows += [
            (
                name,
                *(() if by is None else (int(ours[0][name].denominators.sum()),)),
                first,
                second,
                *(_with_deviation(one.first, one.first_deviation, several=several)),
                *(_with_deviation(one.second, one.second_deviation, several=several)),
                *(100 * value for value in (one.difference.value, one.difference.low, one.difference.high)),
                one.bootstrap_p,
                one.randomization_p,
            )
            for name, one in zip(ours[0], found, strict=True)
        ]
    pairs = len(parts) * (len(parts) - 1) // 2
    tests = len(rows) if by is not None else pairs
    return Table(
        title="Scores compared" if by is None else f"LAS over words compared by {by}",
        columns=(
            TableColumn("score" if by is None else by, "score" if by is None else "group", numeric=False),
            *(() if by is None else (TableColumn("words"),)),
            TableColumn("A", "first", numeric=False),
            TableColumn("B", "second", numeric=False),
            TableColumn("A", "first_score", unit="%", decimals=2),
            *([TableColumn("±", "first_deviation", decimals=2)] if several else []),
            TableColumn("B", "second_score", unit="%", decimals=2),
            *([TableColumn("±", "second_deviation", decimals=2)] if several else []),
            TableColumn("B - A", "difference", unit="points", decimals=2),
            TableColumn("from", "low", decimals=2),
            TableColumn("to", "high", decimals=2),
            TableColumn("p, bootstrap", "bootstrap_p", decimals=4),
            TableColumn("p, randomization", "randomization_p", decimals=4),
        ),
        rows=tuple(rows),
        notes=(
            f"from and to: the {100 * level:g}% interval of the difference",
            *([_about_seeds(parts)] if several else []),
            *([f"{tests} tests side by side: compare p with your level divided by {tests}"] if tests > 1 else []),
        ),
    )


def _with_deviation(score: float, deviation: float | None, *, several: bool) -> "tuple[Cell, ...]":
    """Give a score in points, and where some are of several seeds its standard deviation over them."""
    return (100 * score, *([None if deviation is None else 100 * deviation] if several else []))


def _about_seeds(parts: "list[Outputs]") -> str:
    counts = ", ".join(f"{name}: {shell.plural(len(outputs), 'seed')}" for name, outputs in parts)
    return (
        f"{counts}; scores are means over seeds, ± their standard deviations; the interval and p, bootstrap are about "
        "other sentences and seeds, p, randomization about other sentences for these models"
    )


def _sentences(systems: list[str], judged: "list[Judged]", most: int, rules: str) -> "tuple[Table, evaluate.Bars]":
    from ropewalk.reporting.tables import Table, TableColumn
    from ropewalk.scoring.attachment import scores_of
    from ropewalk.scoring.significance import most_different

    gold = judged[0].gold
    scores = [scores_of(one) for one in judged]
    found = [
        (first, second, number, lead)
        for first, second in combinations(range(len(systems)), 2)
        for number, lead in most_different(scores[first], scores[second], most)
    ]
    table = Table.of(
        f"Sentences that differ most: words with the right head and relation, {rules}",
        found,
        {
            TableColumn("A", "first", numeric=False): lambda row: systems[row[0]],
            TableColumn("B", "second", numeric=False): lambda row: systems[row[1]],
            TableColumn("sentence"): lambda row: row[2] + 1,
            TableColumn("sent_id", numeric=False): lambda row: gold[row[2]].id,
            TableColumn("words"): lambda row: int(scores[row[0]].words[row[2]]),
            TableColumn("right in A", "first_right"): lambda row: int(scores[row[0]].labelled[row[2]]),
            TableColumn("right in B", "second_right"): lambda row: int(scores[row[1]].labelled[row[2]]),
            TableColumn("B - A", "difference"): lambda row: row[3],
            TableColumn("text", numeric=False): lambda row: gold[row[2]].text,
        },
    )
    return table, ([str(row[2] + 1) for row in found], {"lead of B in words right": [row[3] for row in found]})
