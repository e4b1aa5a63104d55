"""`ropewalk validate`."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ropewalk.cli import shell
from ropewalk.reporting.escaping import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ropewalk.errors import FormatError


def validate(
    files: shell.Files,
    form: Annotated[
        Literal["lines", "json"],
        typer.Option("--format", help="A line for people, or a JSON object a line, for each problem."),
    ] = "lines",
    out: shell.OutputOption = "-",
    overwrite: shell.OverwriteOption = False,
) -> None:
    """Check CoNLL-U files, with their enhanced graphs, or .sdp files, and list what is wrong with them.

    CoNLL-U files should have the form that Universal Dependencies demands, as level 2 of its own validator does.
    Prints each problem as `file:line: what was found and what was expected`, or in JSON as `file`, `line`, `kind`,
    `word` and `message`, and exits with 1 if there is any.
    """
    from ropewalk import conllu, deps, sdp
    from ropewalk.formats import ud

    shell.demand_other(out, files, overwrite=overwrite)
    shell.warn_if_uncompiled()
    problems = 0
    faulty = 0

    def written() -> "Iterator[bytes]":
        nonlocal problems, faulty
        for file in files:
            before = problems
            checks = (deps.problems, ud.Checker().problems)
            found = sdp.problems(file) if shell.is_semantic(file) else conllu.problems(file, also=checks)
            for problem in found:
                problems += 1
                yield _line(problem, form)
            faulty += problems > before

    shell.put(out, written())
    if problems:
        shell.say(f"{shell.plural(problems, 'problem')} in {faulty} of {shell.plural(len(files), 'file')}")
        raise typer.Exit(1)
    shell.say(f"{shell.plural(len(files), 'file')}: no problems")


def _line(problem: "FormatError", form: str) -> bytes:
    import json

    if form == "lines":
        return f"{clean(str(problem))}\n".encode()
    table = {name: getattr(problem, name) for name in ("file", "line", "kind", "word", "message")}
    return (json.dumps(table, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
