"""`ropewalk validate`."""

import typer

from ropewalk.cli.shell import Files, is_semantic, plural, say, warn_if_uncompiled


def validate(files: Files) -> None:
    """Check CoNLL-U files, with their enhanced graphs, or .sdp files, and list what is wrong with them.

    Prints each problem as `file:line: what was found and what was expected`,
    and exits with 1 if there is any.
    """
    from ropewalk import conllu, deps, sdp

    warn_if_uncompiled()
    problems = 0
    faulty = 0
    for file in files:
        before = problems
        found = sdp.problems(file) if is_semantic(file) else conllu.problems(file, also=deps.problems)
        for problem in found:
            typer.echo(str(problem))
            problems += 1
        faulty += problems > before
    if problems:
        say(f"{plural(problems, 'problem')} in {faulty} of {plural(len(files), 'file')}")
        raise typer.Exit(1)
    say(f"{plural(len(files), 'file')}: no problems")
