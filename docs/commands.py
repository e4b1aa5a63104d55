"""Write the reference of the command line: an overview, and a page with the help of each command, as Markdown."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from ropewalk.cli import COMMANDS, app_of

FOLDER = Path(__file__).parent
GUIDES = {  # the page that explains a command, as seen from docs/commands
    "build": "build",
    "compare": "evaluation",
    "corpus": "corpus",
    "coverage": "laboratory",
    "decode": "encodings",
    "draw": "drawing",
    "encode": "encodings",
    "encodings": "choosing",
    "enhance": "graphs",
    "evaluate": "evaluation",
    "experiment": "experiments",
    "export": "models",
    "info": "laboratory",
    "models": "models",
    "package": "models",
    "parse": "parsing",
    "reproduce": "laboratory",
    "review": "review",
    "rewrite": "rewriting",
    "search": "search",
    "serve": "serving",
    "stats": "laboratory",
    "train": "training",
    "train-segmenter": "segmentation",
    "validate": "formats",
    "vectors": "training",
}


def pages() -> dict[str, str]:
    """Return the text of each page under its path below `docs`."""
    runner = CliRunner(env={"COLUMNS": "100"})
    app, names = app_of(COMMANDS), sorted(COMMANDS)

    def usage(*words: str) -> str:
        done = runner.invoke(app, [*words, "--help"], prog_name="ropewalk", catch_exceptions=False)
        return f"```text\n{done.output.strip()}\n```\n"

    written = {}
    for name in names:
        guide = f"The guide is [{GUIDES[name]}.md](../{GUIDES[name]}.md).\n\n" if name in GUIDES else ""
        written[f"commands/{name}.md"] = f"# `ropewalk {name}`\n\n{guide}{usage(name)}"
    links = "".join(f"- [`ropewalk {name}`](commands/{name}.md)\n" for name in names)
    note = (
        "Each command has a page with its usage. Data goes to standard output, everything else to standard error. Exit "
        "codes: 0 done, 1 failed, 2 wrong usage. `make docs` writes these pages from the program's own help."
    )
    written["commands.md"] = f"# Commands\n\n{note}\n\n{links}\n{usage()}"
    return written


def write() -> None:
    """Write all pages, and remove those of commands that no longer exist."""
    written = pages()
    (FOLDER / "commands").mkdir(exist_ok=True)
    for old in (FOLDER / "commands").glob("*.md"):
        if f"commands/{old.name}" not in written:
            old.unlink()
    for name, text in written.items():
        (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write()
