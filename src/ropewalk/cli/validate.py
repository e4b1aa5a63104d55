"""`ropewalk validate`."""

import typer

from ropewalk.cli.shell import Files, is_semantic, plural, say, warn_if_uncompiled


def validate(files: Files) -> None:
    """Check CoNLL-U files, with their enhanced graphs, or .sdp files, and list what is wrong with them.

    CoNLL-U files should have the form that Universal Dependencies demands, as level 2 of its own validator does.
    Prints each problem as `file:line: what was found and what was expected`,
    and exits with 1 if there is any.
    """
    from ropewalk import conllu, deps, sdp
    from ropewalk.formats import ud

    warn_if_uncompiled()
    problems = 0
    faulty = 0
    for file in files:
        before = problems
        checks = (deps.problems, ud.Checker().problems)
        found = sdp.problems(file) if is_semantic(file) else conllu.problems(file, also=checks)
        for problem in found:
            typer.echo(str(problem))
            problems += 1
        faulty += problems > before
    if problems:
        say(f"{plural(problems, 'problem')} in {faulty} of {plural(len(files), 'file')}")
        raise typer.Exit(1)
    say(f"{plural(len(files), 'file')}: no problems")
