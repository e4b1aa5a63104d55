"""The command `ropewalk compare`: test whether a system is better than another."""

import statistics
from dataclasses import replace
from glob import glob
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from ropewalk.cli import evaluate, shell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.reporting.tables import Cell, Place, Table
    from ropewalk.scoring.attachment import Judged, Parts
    from ropewalk.scoring.significance import Comparison

    Outputs = tuple[str, list[dict[str, Parts]]]  # of a system: its name, and for each seed its scores


@shell.with_table_options
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
            help="A system with a file, or a pattern of files, for each seed it was trained from; repeatable.",
        ),
    ] = None,
    by: Annotated[
        Literal[evaluate.Breakdowns, "sentence"] | None,
        typer.Option(
            help="Compare the LAS by relation, by distance to the head, by length of the sentence, by projectivity "
            "of the tree or by upos; sentence: list the sentences that differ most."
        ),
    ] = None,
    which: Annotated[
        Literal["pairs", "systems"],
        typer.Option(
            "--table",
            help="pairs: every pair of systems with interval and p-values; systems: a row for each system, with stars "
            "where it differs from the first.",
        ),
    ] = "pairs",
    samples: Annotated[int, typer.Option(min=1, help="Number of bootstrap samples, and of random exchanges.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the samples; equal seeds draw equal samples.")] = 0,
    level: Annotated[float, typer.Option(help="Level of the intervals, between 0 and 1.")] = 0.95,
    most: Annotated[int, typer.Option(min=1, help="Number of sentences to list, with --by sentence.")] = 20,
    no_punct: evaluate.NoPunctOption = False,
    punct_by: evaluate.PunctByOption = None,
    punct_list: evaluate.PunctListOption = "",
    no_subtypes: evaluate.NoSubtypesOption = False,
    table_output: shell.TableOutput = shell.TableOutput(),
) -> None:
    """Test whether a system is better than another.

    Prints for each score and each pair of systems the difference (B minus A) with its interval, and two p-values:
    of the paired bootstrap over sentences and of approximate randomization. With --by, the LAS over words of each
    group of words is compared. All files must have the same words. The best is bold; stars mark differences that are
    significant after Holm's correction. A file without a name (--system NAME=FILE) is called by its file name.

    Systems that were trained from several seeds are compared by their means: --system joint=a1.conllu,a2.conllu. The
    interval and the p-value of the bootstrap then also account for other seeds.
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
        raise typer.BadParameter("--by sentence compares single outputs; expected one file for each system")
    if by == "sentence" and which == "systems":
        raise typer.BadParameter("--by sentence lists pairs of systems; leave out --table systems")
    evaluate.demand_no_punct(no_punct, punct_by, punct_list)
    if not 0 < level < 1:
        raise typer.BadParameter(f"--level is {level}; expected a share between 0 and 1, such as 0.95")
    table_output.demand_other(read)
    shell.warn_if_uncompiled()
    table_output.require_plots()
    right = conllu.read(gold, trees="required")
    scoring = ScoringRules(not no_subtypes, not no_punct, punct_by or "relation", punct_list.split())
    judged = [[judge(right, conllu.read(file), scoring) for file in files] for _, files in systems]
    rules = f"{'without' if no_subtypes else 'with'} subtypes, {evaluate.counting(scoring)}"
    if by == "sentence":
        table, bars = _sentences(
            [name for name, _ in systems], [judged_output for (judged_output,) in judged], most, rules
        )
    else:
        parts = [
            (name, [_parts(judged_output, by) for judged_output in outputs])
            for (name, _), outputs in zip(systems, judged, strict=True)
        ]
        drawn = f"{shell.plural(samples, 'draw')} of {shell.plural(len(right), 'sentence')}, seed {seed}"
        drawing = Drawing(samples, seed, level)
        table = _scores(parts, by, drawing) if which == "systems" else _differences(parts, by, drawing)
        table = replace(table, notes=(f"{rules}; {drawn}", *table.notes))
        groups = list(parts[0][1][0])
        bars = (
            groups,
            {
                name: [100 * statistics.fmean(scores[group].value for scores in outputs) for group in groups]
                for name, outputs in parts
            },
        )
    if table_output.plot is not None:
        names, series = bars
        axes = ("sentence", "words") if by == "sentence" else ("", "%")
        plots.bars(table_output.plot, names, series, plots.AxisLabels(table.title, *axes))
    table_output.show(table)


def _systems(predicted: list[str], seeds: list[str]) -> list[tuple[str, list[str]]]:
    """Return the name of each system and its files, one for each seed; a name that comes twice has all of them."""
    systems: dict[str, list[str]] = {}
    for text in seeds:
        name, equals, named = text.partition("=")
        files = [file for pattern in named.split(",") for file in _matching(pattern)]
        if not (name and equals) or not all(files):
            raise typer.BadParameter(f"--system is {text!r}; expected NAME=FILE,FILE, a file for each seed")
        systems[name] = [*systems.get(name, []), *files]
    for name, files in systems.items():
        if twice := next((file for file in files if files.count(file) > 1), None):
            raise typer.BadParameter(f"{name} has {twice} twice; expected a file for each seed")
    return [*((name, [file]) for name, file in zip(_short_names(predicted), predicted, strict=True)), *systems.items()]


def _short_names(files: list[str]) -> list[str]:
    """Return the shortest names of the files that differ: without folders and endings, if possible."""
    paths = [Path(file) for file in files]
    many = len(set(paths))
    for parts in range(1, max((len(path.parts) for path in paths), default=1) + 1):
        names = ["/".join((*path.parts[-parts:-1], path.name.partition(".conllu")[0])) for path in paths]
        if len(set(names)) == many:
            return names
    return files


def _matching(file: str) -> list[str]:
    """Return the files that match a pattern; a name without a star matches itself."""
    if "*" not in file:
        return [file]
    if files := sorted(glob(file)):  # noqa: PTH207 - which knows no absolute patterns
        return files
    raise typer.BadParameter(f"--system: no file matches {file}")


def _parts(judged: "Judged", by: evaluate.Breakdowns | None) -> "dict[str, Parts]":
    """Return the parts of every score of a system, or of its LAS in every group."""
    from ropewalk.scoring import breakdown
    from ropewalk.scoring.attachment import NAMES, scores_of

    if by is None:
        scores = scores_of(judged)
        return {name: scores.parts(measure) for measure, name in NAMES.items()}
    return breakdown.parts_by_group(judged, by)


class Drawing(NamedTuple):
    """The draws of sentences: the number of samples, their seed, and the level of intervals."""

    samples: int
    seed: int
    level: float

    def compare(self, ours: "list[dict[str, Parts]]", theirs: "list[dict[str, Parts]]") -> "list[Comparison]":
        """Compare two systems by every score."""
        from ropewalk.scoring import significance

        outputs = ([list(scores.values()) for scores in some] for some in (ours, theirs))
        return significance.compare_seeds(*outputs, samples=self.samples, seed=self.seed, level=self.level)


def _stars(compared: "Sequence[Sequence[Comparison]]", *, together: bool) -> list[list[str]]:
    """Return the marks of differences between pairs of systems, by pair and score.

    Holm's correction covers the pairs of each score, or all scores if they are `together`.
    """
    from ropewalk.scoring.significance import holm, star

    p_values = [[comparison.bootstrap_p for comparison in some] for some in compared]
    if together:
        flat = iter(holm([p for some in p_values for p in some]))
        corrected = [[next(flat) for _ in some] for some in p_values]
    else:
        by_score = [holm(list(some)) for some in zip(*p_values, strict=True)]
        corrected = [list(some) for some in zip(*by_score, strict=True)]
    return [[star(p) for p in some] for some in corrected]


def _about_stars(tests: int) -> str:
    from ropewalk.scoring.significance import STARS

    corrected = f", after Holm's correction over {tests} tests" if tests > 1 else ""
    return f"{STARS} (paired bootstrap{corrected})"


def _scores(parts: "list[Outputs]", by: evaluate.Breakdowns | None, drawing: Drawing) -> "Table":
    """Return the table of systems: a row for each, stars for differences from the first."""
    from ropewalk.reporting.tables import Table, TableColumn

    several = any(len(outputs) > 1 for _, outputs in parts)
    (_, first), *others = parts
    names = list(first[0])
    compared = [drawing.compare(first, outputs) for _, outputs in others]
    stars = _stars(compared, together=by is not None)
    wide = 2 if several else 1
    shown = [[(comparison.first, comparison.first_deviation) for comparison in compared[0]]]
    shown += [[(comparison.second, comparison.second_deviation) for comparison in some] for some in compared]
    columns = [TableColumn("system", numeric=False)]
    for name in names:
        key = name.lower().replace(" ", "_")
        columns.append(TableColumn(name, key, unit="%", decimals=2))
        columns += [TableColumn("±", f"{key}_deviation", decimals=2)] if several else []
    rows = [
        (name, *(cell for value in values for cell in _with_deviation(*value, several=several)))
        for (name, _), values in zip(parts, shown, strict=True)
    ]
    marks = {
        (row, 1 + wide * number): mark
        for row, some in enumerate(stars, start=1)
        for number, mark in enumerate(some)
        if mark
    }
    tests = len(others) * (1 if by is None else len(names))
    table = Table(
        title="Scores of systems" if by is None else f"LAS over words by {by}",
        columns=tuple(columns),
        rows=tuple(rows),
        notes=(
            f"{_about_stars(tests)}, against {parts[0][0]}",
            *([_about_seeds(parts)] if several else []),
        ),
        marks=marks,
    )
    for column in columns[1::wide]:
        table = table.mark_best(column.id)
    return table


def _differences(parts: "list[Outputs]", by: evaluate.Breakdowns | None, drawing: Drawing) -> "Table":
    from ropewalk.reporting.tables import DIFFERENCE_COLUMNS, Table, TableColumn

    several = any(len(outputs) > 1 for _, outputs in parts)
    rows: list[tuple[Cell, ...]] = []
    pairs = list(combinations(parts, 2))
    compared = [drawing.compare(ours, theirs) for (_, ours), (_, theirs) in pairs]
    for ((first, ours), (second, _)), comparisons in zip(pairs, compared, strict=True):
        rows += [
            (
                name,
                *(() if by is None else (int(ours[0][name].denominators.sum()),)),
                first,
                second,
                *(_with_deviation(comparison.first, comparison.first_deviation, several=several)),
                *(_with_deviation(comparison.second, comparison.second_deviation, several=several)),
                *(
                    100 * value
                    for value in (comparison.difference.value, comparison.difference.low, comparison.difference.high)
                ),
                comparison.bootstrap_p,
                comparison.randomization_p,
            )
            for name, comparison in zip(ours[0], comparisons, strict=True)
        ]
    tests = len(rows) if by is not None else len(pairs)
    stars = [mark for some in _stars(compared, together=by is not None) for mark in some]
    first_score = 3 if by is None else 4
    second_score, difference = (first_score + (2 if several else 1) * number for number in (1, 2))
    bold: set[Place] = set()
    for number, row in enumerate(rows):
        score, other = (round(float(row[at] or 0), 2) for at in (first_score, second_score))  # as they are written
        bold |= {(number, first_score)} if score > other else {(number, second_score)} if other > score else set()
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
            *DIFFERENCE_COLUMNS,
            TableColumn("p, bootstrap", "bootstrap_p", decimals=4),
            TableColumn("p, randomization", "randomization_p", decimals=4),
        ),
        rows=tuple(rows),
        notes=(
            f"from and to: the {100 * drawing.level:g}% interval of the difference",
            _about_stars(tests),
            *([_about_seeds(parts)] if several else []),
            *([f"{tests} tests side by side: compare p with your level divided by {tests}"] if tests > 1 else []),
        ),
        bold=frozenset(bold),
        marks={(number, difference): mark for number, mark in enumerate(stars) if mark},
    )


def _with_deviation(score: float, deviation: float | None, *, several: bool) -> "tuple[Cell, ...]":
    """Return a score in points, and if a system has several seeds, the standard deviation."""
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
    scores = [scores_of(output) for output in judged]
    differences = [
        (first, second, number, lead)
        for first, second in combinations(range(len(systems)), 2)
        for number, lead in most_different(scores[first], scores[second], most)
    ]
    table = Table.of(
        f"Sentences that differ most: words with the right head and relation, {rules}",
        differences,
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
    return table, (
        [str(row[2] + 1) for row in differences],
        {"lead of B in words right": [row[3] for row in differences]},
    )
