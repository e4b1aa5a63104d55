"""The command `ropewalk models`: list installed and available models."""

from typing import TYPE_CHECKING, NamedTuple

from ropewalk.cli.shell import ColumnsOption, FormatOption, OutputOption, show

if TYPE_CHECKING:
    from collections.abc import Callable

    from ropewalk.models.catalogue import ModelSummary
    from ropewalk.reporting.tables import Cell


def models(form: FormatOption = None, output: OutputOption = "-", columns: ColumnsOption = "") -> None:
    """List installed and available models.

    Models are inside the package, in packages of their own, or folders in ROPEWALK_MODELS, by default where the system
    keeps a user's data. The table has treebanks, licences, sizes, hashes and scores.
    """
    from ropewalk.models.catalogue import installable, installed, own_folder
    from ropewalk.models.packages import distribution_of
    from ropewalk.reporting.tables import Table, TableColumn

    cells: dict[TableColumn, Callable[[_Row], Cell]] = {
        TableColumn("name", numeric=False): lambda row: row.model.name,
        TableColumn("here", key="installed", numeric=False): lambda row: row.here,
        TableColumn("treebank", numeric=False): lambda row: row.model.treebank or None,
        TableColumn("hash", numeric=False): lambda row: row.model.hash or None,
        TableColumn("size", key="megabytes", unit="MB", decimals=1): lambda row: row.model.bytes / 1e6,
        TableColumn("LAS", key="las", unit="%", decimals=2): lambda row: _percent(row.model.las),
        TableColumn("takes", numeric=False, detail=True): lambda row: (
            "text, tokens" if row.model.takes_text else "tokens"
        ),
        TableColumn("predicts", numeric=False, detail=True): lambda row: ", ".join(("tree", *row.model.predicts)),
        TableColumn("UAS", key="uas", unit="%", decimals=2, detail=True): lambda row: _percent(row.model.uas),
        TableColumn("language", numeric=False, detail=True): lambda row: row.model.language or None,
        TableColumn("licence", numeric=False, detail=True): lambda row: row.model.licence or None,
        TableColumn("where", numeric=False, detail=True): lambda row: row.where,
    }
    here = [
        _Row(model.summary, "yes", "in the package" if model.embedded else str(model.path)) for model in installed()
    ]
    elsewhere = [_Row(model, "no", f"pip install {distribution_of(model.name)}") for model in installable()]
    show(
        Table.of(
            "Models",
            [*here, *elsewhere],
            cells,
            notes=(
                "LAS is that of the treebank's test data with gold tokens." if here else "None is installed.",
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
        columns,
    )


class _Row(NamedTuple):
    model: "ModelSummary"
    here: str
    where: str


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
