"""`ropewalk reproduce`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ropewalk.cli.coverage import sources
from ropewalk.cli.shell import folder_option, say, warn_if_uncompiled

if TYPE_CHECKING:
    from ropewalk.scoring.coverage import Coverage
    from ropewalk.scoring.statistics import Statistics


def reproduce(
    folder: Annotated[
        str, typer.Argument(metavar="TREEBANKS", show_default=False, help="Folder that holds UD treebanks' folders.")
    ],
    output: Annotated[Path, folder_option("The folder for the report.")],
) -> None:
    """Compute the paper's tables of statistics and coverage again, and report cell by cell.

    Writes report.md and report.html: our figure beside the paper's in every cell, differing cells marked, and for
    each of them the reason, where one is known. Cells for which the folder has no data say so.
    """
    from ropewalk import __version__, files
    from ropewalk.scoring import published, reproduce, splits
    from ropewalk.scoring.coverage import coverage, encodings_of
    from ropewalk.scoring.statistics import statistics

    warn_if_uncompiled()
    source = published.published()
    counted: list[Statistics] = []
    measured: list[Coverage] = []
    for corpus in map(splits.read, sources([folder], None, None, None)):
        counted.append(statistics(corpus, encodings_of(published.LABELS.values())))
        measured += coverage(corpus, encodings_of(source.encodings(corpus.name)), splits=("dev", "test"))
    compared = reproduce.compare(source, counted, measured)
    sections = reproduce.report(source, compared, counted)
    texts = [write(source, sections, __version__) for write in (reproduce.markdown, reproduce.page)]
    output.mkdir(parents=True, exist_ok=True)
    with files.creating(output / "report.md") as first, files.creating(output / "report.html") as second:
        for file, text in zip((first, second), texts, strict=True):
            file.write(text.encode("utf-8"))
    say(reproduce.summary_line(compared))
