"""The command `ropewalk evaluate`: score predicted trees against gold trees."""

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from ropewalk.cli.shell import (
    TableOutput,
    files_of_model,
    is_semantic,
    say,
    warn_if_uncompiled,
    with_parser_options,
    with_table_options,
)
from ropewalk.options import ParserOptions

if TYPE_CHECKING:
    from ropewalk.reporting.tables import Cell, Table
    from ropewalk.scoring.attachment import Judged, ScoringRules
    from ropewalk.scoring.breakdown import Breakdown, Confusion
    from ropewalk.scoring.conll18 import Score
    from ropewalk.treebank.treebank import Treebank


WRAP = 80  # characters of a line of raw text, as in the CoNLL shared tasks


Breakdowns = Literal["relation", "distance", "length", "projectivity", "upos"]  # those of `ropewalk.scoring.breakdown`
Punctuation = Literal["relation", "upos", "xpos", "form"]  # as in `ropewalk.scoring.attachment.PunctuationBy`

GoldFile = Annotated[str, typer.Argument(metavar="GOLD", help="CoNLL-U with the gold trees, also .gz or .xz.")]
NoPunctOption = Annotated[bool, typer.Option("--no-punct", help="Leave out punctuation, as the gold file marks it.")]
PunctByOption = Annotated[
    Punctuation | None,
    typer.Option(
        "--punct-by",
        show_default=False,
        help="Punctuation for --no-punct: relation (the default): words with the relation punct; upos: with the tag "
        "PUNCT; xpos: with a Penn tag of punctuation; form: words that consist of punctuation.",
    ),
]
PunctListOption = Annotated[
    str,
    typer.Option(
        "--punct-list",
        metavar="NAMES",
        help="Relations, tags or words that --no-punct leaves out instead, separated by spaces.",
    ),
]
NoSubtypesOption = Annotated[
    bool, typer.Option("--no-subtypes", help="Compare relations without subtypes: nsubj:pass as nsubj.")
]


@with_parser_options("confidence", "batch", "columns", "tag_confidence", "each_line")
@with_table_options
def evaluate(
    gold: GoldFile,
    predicted: Annotated[
        str, typer.Argument(metavar="PRED", help="CoNLL-U with predicted trees; - is standard input.")
    ] = "",
    model: Annotated[
        str,
        typer.Option(
            "--model", "-m", metavar="NAME|FOLDER", help="Instead of PRED, a model to parse the words of GOLD with."
        ),
    ] = "",
    options: ParserOptions = ParserOptions(),
    from_text: Annotated[
        bool, typer.Option("--from-text", help="With --model: parse the raw text of GOLD, and find its words too.")
    ] = False,
    by: Annotated[
        Literal[Breakdowns, "confusion"] | None,
        typer.Option(
            help="Scores by relation, by distance to the head, by length of the sentence, by projectivity of the "
            "tree, or by upos; confusion: the confused relations."
        ),
    ] = None,
    conll18: Annotated[
        bool, typer.Option("--conll18", help="Print the table of the CoNLL 2018 shared task instead.")
    ] = False,
    graphs: Annotated[
        bool, typer.Option("--graphs", help="Score the graphs instead: DEPS of CoNLL-U, or .sdp files.")
    ] = False,
    no_punct: NoPunctOption = False,
    punct_by: PunctByOption = None,
    punct_list: PunctListOption = "",
    no_subtypes: NoSubtypesOption = False,
    table_output: TableOutput = TableOutput(),
) -> None:
    """Score predicted trees against gold trees.

    Prints UAS and LAS over words and over sentences, the shares of sentences without a mistake (UM, LM), and
    CLAS, with and without relation subtypes. If the words of the files differ, prints the table of the CoNLL 2018
    shared task instead, which aligns them. With --graphs the scores are precision, recall and F1 of arcs, F1 over
    sentences, whole graphs, and for CoNLL-U the ELAS and EULAS of the IWPT shared tasks.
    """
    from ropewalk import conllu
    from ropewalk.reporting import plots
    from ropewalk.scoring.attachment import ScoringRules, first_difference, judge

    _demand_one_source(
        predicted,
        model,
        parsing=[*_given(options), *(["--from-text"] if from_text else [])],
        graph_decoder=options.graph_decoder,
        graphs=graphs,
    )
    marks = punct_by is not None or bool(punct_list)
    _refuse_together(
        conll18=conll18,
        graphs=graphs,
        choices=bool(by or no_punct or no_subtypes or marks),
        plot=table_output.plot is not None,
        twice=gold == predicted == "-",
    )
    demand_no_punct(no_punct, punct_by, punct_list)
    read = [*filter(None, (gold, predicted)), *files_of_model(model)]
    table_output.demand_other(read)
    warn_if_uncompiled()
    predicting = _Predicting(model, options, from_text) if model else None
    if graphs:
        table_output.show(_graphs(gold, predicted, predicting))
        return
    table_output.require_plots()
    right = conllu.read(gold, trees="required")
    guessed = predicting.parsed(right) if predicting else conllu.read(predicted)
    parting = None if conll18 or by else first_difference(right, guessed)
    if parting is not None:
        say(f"note: the words differ, so the scores are those of CoNLL 2018: {parting}")
        if no_punct or no_subtypes:
            say("note: those count punctuation and leave out subtypes, whatever is asked")
    rules = ScoringRules(not no_subtypes, not no_punct, punct_by or "relation", punct_list.split())
    if conll18 or parting is not None:
        table, bars = _conll18(right, guessed)
    elif by is None:
        table, bars = _attachment(right, guessed, rules)
    else:
        table, bars = _breakdown(judge(right, guessed, rules), by)
    if table_output.plot is not None:
        names, series = bars
        plots.bars(table_output.plot, names, series, plots.AxisLabels(table.title, "", "%"))
    table_output.show(table)


class _Predicting(NamedTuple):
    """A model and its options for the predictions that are scored."""

    model: str
    options: ParserOptions
    from_text: bool

    def parsed(self, gold: "Treebank") -> "Treebank":
        """Parse the words of a treebank, without its tags, which the model could copy; or its raw text."""
        from ropewalk.pipeline import load
        from ropewalk.segmentation.alignment import align
        from ropewalk.segmentation.tokens import tokens_of

        parser = load(self.model, self.options, confidence=False)
        if self.from_text:
            return parser(align(tokens_of(gold), wrap=WRAP).text).treebank
        return parser.treebank(gold.with_columns(dict.fromkeys(("lemma", "xpos", "feats"), ["_"] * gold.words)))


def _given(options: ParserOptions) -> list[str]:
    """Return the names of the options that are not the default, as on the command line."""
    default = ParserOptions()
    names = [field.name for field in fields(options) if getattr(options, field.name) != getattr(default, field.name)]
    return [f"--{name.replace('_', '-')}" for name in names]


def _demand_one_source(
    predicted: str, model: str, *, parsing: list[str], graph_decoder: str | None, graphs: bool
) -> None:
    """Raise unless there is either a file or a model, and options that belong to it.

    `parsing` has the names of the options for a model.
    """
    if bool(predicted) == bool(model):
        raise typer.BadParameter("expected either PRED or --model")
    if predicted and parsing:
        belong, them = ("belongs", "it") if len(parsing) == 1 else ("belong", "them")
        raise typer.BadParameter(f"{' and '.join(parsing)} {belong} to --model; leave {them} out with PRED")
    if graph_decoder and not graphs:
        raise typer.BadParameter("--graph-decoder belongs to --graphs; without it trees are scored")


def _refuse_together(*, conll18: bool, graphs: bool, choices: bool, plot: bool, twice: bool) -> None:
    """Raise if options contradict each other."""
    if conll18 and choices:
        raise typer.BadParameter(
            "--conll18 has rules of its own; leave out --by, --no-subtypes, --no-punct and its options"
        )
    if graphs and (conll18 or choices or plot):
        raise typer.BadParameter("--graphs has rules of its own; only --format and -o go with it")
    if twice:
        raise typer.BadParameter("GOLD and PRED cannot both be standard input")


def _graphs(gold: str, predicted: str, predicting: _Predicting | None) -> "Table":
    from ropewalk import conllu, deps, sdp
    from ropewalk.laboratory.statistics import graph_scores_table
    from ropewalk.scoring.attachment import first_difference
    from ropewalk.scoring.graph_scores import enhanced, score

    if predicting and is_semantic(gold):
        raise typer.BadParameter("--model parses CoNLL-U; use PRED for .sdp files")
    if is_semantic(gold) != is_semantic(predicted):
        raise typer.BadParameter("GOLD and PRED must both be CoNLL-U, or both .sdp")
    if is_semantic(gold):
        return graph_scores_table(score(sdp.read(gold).graphs, sdp.read(predicted).graphs), {})
    right = conllu.read(gold)
    guessed = predicting.parsed(right) if predicting else conllu.read(predicted)
    if predicting and guessed.graphs is None:
        raise typer.BadParameter(
            f"the model {predicting.model} gives trees alone; name one that was trained with model.graph"
        )
    parting = first_difference(right, guessed)
    if parting is not None:
        say(f"note: the words differ, so only ELAS and EULAS are given, which align them: {parting}")
    scores = {} if parting is not None else score(deps.read(right), deps.read(guessed))
    return graph_scores_table(scores, enhanced(right, guessed))


Bars = tuple[list[str], dict[str, list[float]]]


def demand_no_punct(no_punct: bool, punct_by: str | None, punct_list: str) -> None:
    """Raise `BadParameter` if options of --no-punct were given without it."""
    if (punct_by or punct_list) and not no_punct:
        raise typer.BadParameter("--punct-by and --punct-list belong to --no-punct; add it, or leave them out")


def counting(rules: "ScoringRules") -> str:
    """Return a phrase for the user: whether punctuation counts, and how it is recognized."""
    if rules.punctuation:
        return "punctuation included"
    known = {
        "relation": "relation punct",
        "upos": "tag PUNCT",
        "xpos": "Penn tags",
        "form": "words of punctuation alone",
    }
    by, listed = rules.punctuation_by, rules.punctuation_list
    return f"without punctuation ({by} {' '.join(listed)})" if listed else f"without punctuation ({known[by]})"


def _attachment(gold: "Treebank", predicted: "Treebank", rules: "ScoringRules") -> "tuple[Table, Bars]":
    from ropewalk.reporting.tables import Table, TableColumn
    from ropewalk.scoring.attachment import judge, scores_of

    kinds = {"with subtypes": True, "without subtypes": False} if rules.subtypes else {"without subtypes": False}
    by_kind = {
        kind: scores_of(judge(gold, predicted, replace(rules, subtypes=subtypes))) for kind, subtypes in kinds.items()
    }
    scores = list(by_kind.values())
    first = scores[0]
    some = int((first.words > 0).sum())
    rows: tuple[tuple[Cell, ...], ...] = (
        ("over words", int(first.words.sum()), 100 * first.uas, *(100 * each.las for each in scores)),
        ("over sentences", some, 100 * first.uas_sentences, *(100 * each.las_sentences for each in scores)),
        ("whole sentences (UM, LM)", some, 100 * first.um, *(100 * each.lm for each in scores)),
        ("content words, F1 (CLAS)", int(first.content.sum()), None, *(100 * each.clas for each in scores)),
    )
    table = Table(
        title=f"Attachment scores, {counting(rules)}",
        columns=(
            TableColumn("score", numeric=False),
            TableColumn("of", "count"),
            TableColumn("UAS", "uas", unit="%", decimals=2),
            *(TableColumn(f"LAS {kind}", f"las_{kind.replace(' ', '_')}", unit="%", decimals=2) for kind in by_kind),
        ),
        rows=rows,
    )
    series = {"UAS": [100 * first.uas, 100 * first.uas_sentences, 100 * first.um]} | {
        f"LAS {kind}": [100 * each.las, 100 * each.las_sentences, 100 * each.lm] for kind, each in by_kind.items()
    }
    return table, (["over words", "over sentences", "whole sentences"], series)


def _conll18(gold: "Treebank", system: "Treebank") -> "tuple[Table, Bars]":
    from ropewalk.reporting.tables import Table, TableColumn
    from ropewalk.scoring import conll18

    def aligned(score: "Score") -> float | None:
        return None if score.aligned_accuracy is None else 100 * score.aligned_accuracy

    scores = conll18.evaluate(gold, system)
    table = Table.of(
        "CoNLL 2018 scores, without subtypes, punctuation included",
        scores.items(),
        {
            TableColumn("score", numeric=False): lambda row: row[0],
            TableColumn("precision", unit="%", decimals=2): lambda row: 100 * row[1].precision,
            TableColumn("recall", unit="%", decimals=2): lambda row: 100 * row[1].recall,
            TableColumn("F1", "f1", unit="%", decimals=2): lambda row: 100 * row[1].f1,
            TableColumn("right of aligned words", "aligned_accuracy", unit="%", decimals=2): lambda row: aligned(
                row[1]
            ),
        },
    )
    return table, (list(scores), {"F1": [100 * score.f1 for score in scores.values()]})


def _breakdown(judged: "Judged", by: Literal[Breakdowns, "confusion"]) -> "tuple[Table, Bars]":
    from ropewalk.scoring import breakdown

    subtypes = "with subtypes" if judged.rules.subtypes else "without subtypes"
    rules = f"{subtypes}, {'punctuation included' if judged.rules.punctuation else 'without punctuation'}"
    if by == "confusion":
        return _confusion(breakdown.confusion(judged), rules)
    return _groups(breakdown.breakdown(judged, by), rules)


def _groups(breakdown: "Breakdown", rules: str) -> "tuple[Table, Bars]":
    from ropewalk.reporting.tables import Table, TableColumn

    columns = [
        TableColumn(breakdown.by, "group", numeric=False),
        TableColumn("words"),
        TableColumn("UAS", "uas", unit="%", decimals=2),
        TableColumn("LAS, recall" if breakdown.predicted is not None else "LAS", "las", unit="%", decimals=2),
    ]
    values: list[list[float] | list[int]] = [
        breakdown.gold.tolist(),
        (100 * breakdown.uas).tolist(),
        (100 * breakdown.las).tolist(),
    ]
    if breakdown.predicted is not None and breakdown.precision is not None and breakdown.f1 is not None:
        columns += [
            TableColumn("predicted"),
            TableColumn("LAS, precision", "precision", unit="%", decimals=2),
            TableColumn("LAS, F1", "f1", unit="%", decimals=2),
        ]
        values += [breakdown.predicted.tolist(), (100 * breakdown.precision).tolist(), (100 * breakdown.f1).tolist()]
    table = Table(
        title=f"Scores by {breakdown.by}, over words, {rules}",
        columns=tuple(columns),
        rows=tuple(zip(breakdown.names, *values, strict=True)),
    )
    return table, (
        list(breakdown.names),
        {"UAS": (100 * breakdown.uas).tolist(), "LAS": (100 * breakdown.las).tolist()},
    )


def _confusion(confusion: "Confusion", rules: str) -> "tuple[Table, Bars]":
    from ropewalk.reporting.tables import Table, TableColumn

    totals = dict(zip(confusion.names, confusion.counts.sum(axis=1).tolist(), strict=True))
    rows = tuple(
        (gold, predicted, many, 100 * many / totals[gold] if totals[gold] else None)
        for gold, predicted, many in confusion.pairs()
    )
    table = Table(
        title=f"Confused relations, whatever the heads, {rules}",
        columns=(
            TableColumn("gold", numeric=False),
            TableColumn("predicted", numeric=False),
            TableColumn("words"),
            TableColumn("share of gold", "share", unit="%", decimals=2),
        ),
        rows=rows,
    )
    most = rows[:30]
    return table, ([f"{row[0]}→{row[1]}" for row in most], {"share of gold": [row[3] or 0.0 for row in most]})
