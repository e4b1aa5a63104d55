"""The command `ropewalk reproduce`: reproduce the paper's tables, cell by cell."""

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
            help="A folder with the treebanks of one UD release, whose name ends in it, such as ud-2.14; or "
            "RELEASE=FOLDER. One for each release.",
        ),
    ],
    output: Annotated[Path, folder_option("The folder for the report.")],
) -> None:
    """Reproduce the paper's tables, cell by cell.

    The tables of statistics and coverage mix releases: most figures are of UD 2.14, coverage of English, French and
    Hebrew of 2.15, of Russian of 2.16. Writes report.md and report.html with our figure beside the paper's in every
    cell, the release, and a mark and, if known, the reason where they differ. Cells without data say so.
    """
    from ropewalk import __version__, files
    from ropewalk.laboratory import published, reproduction, splits

    warn_if_uncompiled()
    source = published.published()
    named = _by_release(folders)
    for folder in named.values():
        if Path(folder).is_file():
            raise typer.BadParameter(f"{folder} is a file; expected a folder with the treebanks of a UD release")
    by_release = {release: splits.find(folder) for release, folder in named.items()}
    for release, treebanks in by_release.items():
        note_missing(treebanks, f"UD {release}, ")
    releases = [
        reproduction.measure(source, release, map(splits.read, treebanks)) for release, treebanks in by_release.items()
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
    """Return the folders by release."""
    by_release: dict[str, str] = {}
    for argument in folders:
        before, _, folder = argument.rpartition("=")
        named = RELEASE.fullmatch(before or Path(folder).absolute().name)
        if named is None:
            raise typer.BadParameter(
                f"{argument} names no release of UD; expected a folder whose name ends in one, such as ud-2.14, or "
                f"2.14={folder}"
            )
        if named[1] in by_release:
            raise typer.BadParameter(
                f"{by_release[named[1]]} and {folder} are both UD {named[1]}; expected one for each release"
            )
        by_release[named[1]] = folder
    return by_release
