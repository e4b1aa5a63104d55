"""`ropewalk models`."""

from ropewalk.cli.shell import Format, FormatOption, show


def models(form: FormatOption = Format.TABLE) -> None:
    """List the models that are installed: their languages, treebanks, licences, sizes, hashes and scores.

    Models lie inside the package, or as folders in ROPEWALK_MODELS, by default where the system keeps a user's data.
    """
    from ropewalk.models.installed import installed, own_folder
    from ropewalk.tables import Table, TableColumn

    found = installed()
    show(
        Table(
            title="Models",
            columns=(
                TableColumn("name", numeric=False),
                TableColumn("language", numeric=False),
                TableColumn("treebank", numeric=False),
                TableColumn("licence", numeric=False),
                TableColumn("size", key="megabytes", unit="MB", decimals=1),
                TableColumn("hash", numeric=False),
                TableColumn("UAS", key="uas", unit="%", decimals=2),
                TableColumn("LAS", key="las", unit="%", decimals=2),
                TableColumn("takes", numeric=False),
                TableColumn("where", numeric=False),
            ),
            rows=tuple(
                (
                    one.name,
                    one.language or None,
                    one.treebank or None,
                    one.licence or None,
                    one.size / 1e6,
                    one.hash or None,
                    _percent(one.score("uas")),
                    _percent(one.score("las")),
                    "text, tokens" if one.takes_text else "tokens",
                    "in the package" if one.embedded else str(one.path),
                )
                for one in found
            ),
            notes=(
                "Scores are those of the treebank's test data with gold tokens." if found else "None is installed.",
                f"Folders that ropewalk train and export write can also be put into {own_folder()}.",
            ),
        ),
        form,
    )


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
