"""Print the list of all encodings, of trees and of graphs, as Markdown."""

from __future__ import annotations

import sys

from typer.testing import CliRunner

from ropewalk.cli import app_of


def listing() -> str:
    """Write what `ropewalk encodings` lists, under a heading for trees and one for graphs."""
    app = app_of(["encodings"])
    parts = [
        "# All encodings",
        "Look up an encoding here. [Choosing](choosing.md) helps to choose one. `make docs` writes this page.",
    ]
    for title, options in (("Of trees", []), ("Of graphs", ["--graphs"])):
        command = ["encodings", *options, "--format", "markdown"]
        done = CliRunner().invoke(app, command, prog_name="ropewalk", catch_exceptions=False)
        table = done.output.strip().partition("\n\n")[2]  # without its title
        parts.append(f"## {title}\n\n`ropewalk {' '.join(command[:-2])}`\n\n{table}")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.stdout.write(listing())
