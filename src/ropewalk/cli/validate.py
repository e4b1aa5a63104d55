"""The command `ropewalk validate`: list problems of CoNLL-U or .sdp files."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ropewalk.cli import shell
from ropewalk.reporting.escaping import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ropewalk.errors import FormatError


MOST_LINES = 4  # of an example


def validate(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE...", show_default=False, help="CoNLL-U, also .gz or .xz; - is standard input."),
    ] = None,
    level: Annotated[
        int,
        typer.Option(
            min=1,
            max=5,
            help="The levels of UD's validator to check: 1: CoNLL-U and trees; 2: the form of UD, universal tags and "
            "relations; 3 to 5: with udtools, if it is installed.",
        ),
    ] = 2,
    language: Annotated[
        str, typer.Option(metavar="CODE", help="The language for levels 4 and 5, such as en; ud is any.")
    ] = "ud",
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="CODE", show_default=False, help="Explain the problems of a code, and how to mend them, and exit."
        ),
    ] = None,
    form: Annotated[
        Literal["lines", "json"],
        typer.Option(
            "--format",
            help="Print each problem as lines of text or of JSON: lines: FILE:LINE: MESSAGE [CODE in SENTENCE]; json: "
            "an object.",
        ),
    ] = "lines",
    out: shell.OutputOption = "-",
    overwrite: shell.OverwriteOption = False,
) -> None:
    """List problems of CoNLL-U or .sdp files.

    CoNLL-U, with its enhanced graphs, is checked as level 2 of Universal Dependencies' validator does. Prints each
    problem as `file:line: what was found and what was expected [code in sentence]`, or in JSON as `file`, `line`,
    `code`, `sentence`, `word` and `message`, and exits with 1 if there is any.
    """
    from ropewalk import sdp
    from ropewalk.formats import ud

    if explain is not None:
        shell.put(out, [_explained(explain).encode("utf-8", "backslashreplace")])
        return
    if not files:
        raise typer.BadParameter("Missing argument 'FILE...'.")
    shell.demand_other(out, files, overwrite=overwrite)
    shell.warn_if_uncompiled()
    problems = 0
    faulty = 0

    def written() -> "Iterator[bytes]":
        nonlocal problems, faulty
        for file in files:
            before = problems
            is_semantic = shell.is_semantic(file)
            for problem in sdp.problems(file) if is_semantic else ud.problems(file, level=level, language=language):
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
        where = f" in {problem.sentence}" if problem.sentence else ""
        return f"{clean(f'{problem} [{problem.kind}{where}]')}\n".encode()
    table = {"file": problem.file, "line": problem.line, "code": problem.kind, "sentence": problem.sentence}
    table |= {"word": problem.word, "message": problem.message}
    return (json.dumps(table, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def _explained(code: str) -> str:
    """Write what a code means, how to mend it, and an example."""
    from ropewalk.errors import UnknownNameError
    from ropewalk.formats import ud
    from ropewalk.formats.explanations import EXPLANATIONS, UDTOOLS

    if code in EXPLANATIONS:
        return _own_explanation(code)
    meaning = ud.deeper_meaning(code.removeprefix(UDTOOLS))
    if not code.startswith(UDTOOLS) and not meaning:
        raise typer.BadParameter(clean(str(UnknownNameError("code", code, EXPLANATIONS))))
    return (
        f"{UDTOOLS}{clean(code.removeprefix(UDTOOLS))}\n"
        f"Found by UD's own validator, udtools. {clean(meaning or 'Its message says what is wrong.')}\n"
        "See https://universaldependencies.org/contributing/validation.html\n"
    )


def _own_explanation(code: str) -> str:
    from ropewalk.formats.explanations import explanation

    explained = explanation(code)
    out = [code, explained.meaning, f"To mend it: {explained.remedy}"]
    for title, lines in zip(("wrong:", "right:"), explained.lines(), strict=True):
        if explained.right:
            more = ["  …"] if len(lines) > MOST_LINES else []
            out += [title, *map(_shown, lines[:MOST_LINES]), *more]
    return "".join(f"{line}\n" for line in out)


def _shown(line: str) -> str:
    """Indent a line of an example; tabs stay, all else that cannot be seen is escaped."""
    return "  " + ("\t".join(clean(cell) for cell in line.split("\t")) or "(an empty line)")
