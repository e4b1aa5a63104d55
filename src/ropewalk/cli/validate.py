"""`ropewalk validate`."""

import typer

from ropewalk.cli.shell import Files, plural, say, warn_if_uncompiled


def validate(files: Files) -> None:
    """Check CoNLL-U files and list what is wrong with them.

    Prints each problem as `file:line: what was found and what was expected`,
    and exits with 1 if there is any.
    """
    from ropewalk import conllu

    warn_if_uncompiled()
    problems = 0
    faulty = 0
    for file in files:
        before = problems
        for problem in conllu.problems(file):
            typer.echo(str(problem))
            problems += 1
        faulty += problems > before
    if problems:
        say(f"{plural(problems, 'problem')} in {faulty} of {plural(len(files), 'file')}")
        raise typer.Exit(1)
    say(f"{plural(len(files), 'file')}: no problems")
