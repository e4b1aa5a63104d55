"""`ropewalk reproduce`."""

import re
from pathlib import Path
from typing import Annotated, Final

import typer

from ropewalk.cli.coverage import note_missing
from ropewalk.cli.shell import folder_option, say, warn_if_uncompiled

RELEASE: Final = re.compile(r"(?:.*\D)?(\d+\.\d+)")


def reproduce(
    folders: Annotated[
        list[str],
        typer.Argument(
            metavar="TREEBANKS...",
            help="Folder that holds the treebanks of one UD release and whose name ends in it, such as ud-2.14; "
            "or RELEASE=FOLDER. Give one for each release.",
        ),
    ],
    output: Annotated[Path, folder_option("The folder for the report.")],
) -> None:
    """Compute the paper's tables of statistics and coverage again, and report cell by cell.

    The tables mix releases: most figures are of UD 2.14, coverage of English, French and Hebrew of 2.15, of Russian of
    2.16. Writes report.md and report.html: our figure beside the paper's in every cell, the release used, differing
    cells marked, and for each of them the reason, where one is known. Cells for which there is no data say so.
    """
    from ropewalk import __version__, files
    from ropewalk.laboratory import published, reproduction, splits

    warn_if_uncompiled()
    source = published.published()
    found = {release: splits.find(folder) for release, folder in _by_release(folders).items()}
    for release, treebanks in found.items():
        note_missing(treebanks, f"UD {release}, ")
    releases = [
        reproduction.measure(source, release, map(splits.read, treebanks)) for release, treebanks in found.items()
    ]
    compared = reproduction.compare(source, releases)
    sections = reproduction.report(source, compared, releases)
    texts = [write(source, sections, __version__) for write in (reproduction.markdown, reproduction.page)]
    output.mkdir(parents=True, exist_ok=True)
    with files.creating(output / "report.md") as first, files.creating(output / "report.html") as second:
        for file, text in zip((first, second), texts, strict=True):
            file.write(text.encode("utf-8"))
    for line in (*reproduction.releases_used(compared), reproduction.summary_line(compared)):
        say(line)


def _by_release(folders: list[str]) -> dict[str, str]:
    """Find out the release of each folder."""
    found: dict[str, str] = {}
    for given in folders:
        before, _, folder = given.rpartition("=")
        named = RELEASE.fullmatch(before or Path(folder).absolute().name)
        if named is None:
            raise typer.BadParameter(
                f"{given} names no release of UD; expected a folder whose name ends in one, such as ud-2.14, or "
                f"2.14={folder}"
            )
        if named[1] in found:
            raise typer.BadParameter(
                f"{found[named[1]]} and {folder} are both UD {named[1]}; give one for each release"
            )
        found[named[1]] = folder
    return found
