"""Print the reference of the command line: the help of every command, as Markdown."""

from __future__ import annotations

import sys

from typer.testing import CliRunner

from ropewalk.cli import COMMANDS, app_of


def reference() -> str:
    """Write the help of the program and of each command under a heading of its own."""
    runner = CliRunner(env={"COLUMNS": "100"})
    app, names = app_of(COMMANDS), sorted(COMMANDS)
    parts = ["# Commands", "Made by `make docs` from the program's own help."]
    for title, words in [("ropewalk", []), *((f"ropewalk {name}", [name]) for name in names)]:
        done = runner.invoke(app, [*words, "--help"], prog_name="ropewalk", catch_exceptions=False)
        parts.append(f"## `{title}`\n\n```text\n{done.output.strip()}\n```")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.stdout.write(reference())
