"""`ropewalk models`."""

from typing import TYPE_CHECKING

from ropewalk.cli.shell import Format, FormatOption, OutputOption, show, table_format

if TYPE_CHECKING:
    from ropewalk.models.catalogue import ModelSummary
    from ropewalk.reporting.tables import Cell

SHOWN = 6  # columns that fit a terminal


def models(form: FormatOption = None, output: OutputOption = "-") -> None:
    """List models, those that are installed and those that can be: treebanks, licences, sizes, hashes and scores.

    Models lie inside the package, as folders in ROPEWALK_MODELS, by default where the system keeps a user's data, or in
    packages of their own.
    """
    from ropewalk.models.catalogue import installable, installed, own_folder
    from ropewalk.models.packages import distribution_of
    from ropewalk.reporting.tables import Table, TableColumn

    columns = (
        TableColumn("name", numeric=False),
        TableColumn("here", key="installed", numeric=False),
        TableColumn("treebank", numeric=False),
        TableColumn("hash", numeric=False),
        TableColumn("size", key="megabytes", unit="MB", decimals=1),
        TableColumn("LAS", key="las", unit="%", decimals=2),
        TableColumn("takes", numeric=False),
        TableColumn("predicts", numeric=False),
        TableColumn("UAS", key="uas", unit="%", decimals=2),
        TableColumn("language", numeric=False),
        TableColumn("licence", numeric=False),
        TableColumn("where", numeric=False),
    )
    shown = SHOWN if table_format(form, output) is Format.TABLE else len(columns)
    here = [_row(one.summary, "yes", "in the package" if one.embedded else str(one.path)) for one in installed()]
    elsewhere = [_row(one, "no", f"pip install {distribution_of(one.name)}") for one in installable()]
    show(
        Table(
            title="Models",
            columns=columns[:shown],
            rows=tuple(row[:shown] for row in (*here, *elsewhere)),
            notes=(
                "LAS is that of the treebank's test data with gold tokens." if here else "None is installed.",
                "Other forms, such as --format json, tell more.",
                *(
                    (
                        "What is not here comes by pip install ropewalk-NAME,",
                        "or by pip install ./models/NAME in a clone of Ropewalk.",
                    )
                    if elsewhere
                    else ()
                ),
                "Folders that ropewalk train and export write can also be put into",
                str(own_folder()),
            ),
        ),
        form,
        output,
    )


def _row(one: "ModelSummary", here: str, where: str) -> "tuple[Cell, ...]":
    return (
        one.name,
        here,
        one.treebank or None,
        one.hash or None,
        one.bytes / 1e6,
        _percent(one.las),
        "text, tokens" if one.takes_text else "tokens",
        ", ".join(("tree", *one.predicts)),
        _percent(one.uas),
        one.language or None,
        one.licence or None,
        where,
    )


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
