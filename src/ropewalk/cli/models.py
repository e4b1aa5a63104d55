"""`ropewalk models`."""

from ropewalk.cli.shell import Format, FormatOption, show

SHOWN = 6  # columns that fit a terminal


def models(form: FormatOption = Format.TABLE) -> None:
    """List the models that are installed: languages, treebanks, what they predict, licences, sizes, hashes and scores.

    Models lie inside the package, or as folders in ROPEWALK_MODELS, by default where the system keeps a user's data.
    """
    from ropewalk.models.installed import installed, own_folder
    from ropewalk.tables import Table, TableColumn

    found = installed()
    columns = (
        TableColumn("name", numeric=False),
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
    shown = SHOWN if form is Format.TABLE else len(columns)
    rows = (
        (
            one.name,
            one.treebank or None,
            one.hash or None,
            one.size / 1e6,
            _percent(one.score("las")),
            "text, tokens" if one.takes_text else "tokens",
            ", ".join(("tree", *one.predicts)),
            _percent(one.score("uas")),
            one.language or None,
            one.licence or None,
            "in the package" if one.embedded else str(one.path),
        )
        for one in found
    )
    show(
        Table(
            title="Models",
            columns=columns[:shown],
            rows=tuple(row[:shown] for row in rows),
            notes=(
                "LAS is that of the treebank's test data with gold tokens." if found else "None is installed.",
                "Other forms, such as --format json, tell more.",
                "Folders that ropewalk train and export write can also be put into",
                str(own_folder()),
            ),
        ),
        form,
    )


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
