"""The command `ropewalk rewrite`: change trees and columns with rules."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ropewalk.cli import shell
from ropewalk.reporting.escaping import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ropewalk.search import RewriteRule, Rewriting
    from ropewalk.treebank.treebank import Treebank


class OnRefusal(StrEnum):
    """Policies for edits that would make a tree none; the names are those of `ropewalk.search.rewrite`."""

    STOP = "stop"
    SKIP = "skip"


def rewrite(
    rule: Annotated[
        str,
        typer.Argument(
            metavar="RULE",
            help="A rule, such as '{upos:VERB; relation:aux}=a => a.upos = AUX', or a file of rules: what has no => is "
            "the name of a file.",
        ),
    ],
    files: shell.Files,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write what would change as a diff.")] = False,
    passes: Annotated[
        int, typer.Option(min=1, max=100, help="Repeat each rule up to N times, until it changes nothing.", metavar="N")
    ] = 1,
    on_refusal: Annotated[
        OnRefusal,
        typer.Option(help="At an edit that would break a tree: stop: end with an error; skip: report it and go on."),
    ] = OnRefusal.STOP,
    output: shell.OutputOption = "-",
    on_error: shell.OnErrorOption = shell.OnError.STOP,
    overwrite: shell.OverwriteOption = False,
) -> None:
    """Change trees and columns with rules.

    A rule has a pattern as `ropewalk search` takes it, and actions on the words that it names; docs/rewriting.md
    describes both. What no rule changes stays byte for byte. Files of any size are read piece by piece, and the number
    of changes goes to standard error.
    """
    from ropewalk import conllu

    for file in files:
        shell.demand_conllu(file)
    shell.demand_other(output, files, overwrite=overwrite)
    rules = _rules(rule)
    shell.warn_if_uncompiled()
    changes = words = refused = waiting = 0

    def written() -> "Iterator[bytes]":
        nonlocal changes, words, refused, waiting
        for file in files:
            shown = False
            stream = conllu.stream(file, on_error=on_error.value)
            for bank in stream:
                done = _rewritten(bank, rules, passes, on_refusal)
                changes, words = changes + done.changes, words + done.words
                refused, waiting = refused + len(done.refused), waiting + done.waiting
                if not dry_run:
                    yield conllu.dumps(done.treebank)
                elif done.changes:
                    yield b"".join(_diff(file, bank, done.treebank, headed=not shown))
                    shown = True
            for problem in stream.problems:
                shell.say(f"skipped: {problem}")

    shell.put(output, written())
    parts = [f"{shell.plural(changes, 'change')} of {shell.plural(words, 'word')}"]
    if refused:
        parts.append(f"{shell.plural(refused, 'edit')} refused")
    if waiting:
        matches = shell.plural(waiting, "match contradicts", "matches contradict")
        parts.append(f"{matches} earlier ones: run again, or add --passes 2")
    shell.say("; ".join(parts))


def _rules(text: str) -> "tuple[RewriteRule, ...]":
    """Read rules, or a file of them."""
    from ropewalk.errors import PatternError
    from ropewalk.files import reading
    from ropewalk.search import compile_rules

    source = ""
    if "=>" not in text and text.lstrip()[:1] in {"{", "(", "!"}:
        shell.say(f"{text}: a rule has => and actions after the pattern, such as {text} => NAME.upos = AUX")
        raise typer.Exit(2)
    if "=>" not in text:
        with reading(text) as file:
            source, text = f"{text}: ", file.read().decode("utf-8", "replace")
    try:
        return compile_rules(text)
    except PatternError as error:
        for line in f"{source}{error}".split("\n"):
            shell.say(line)
        raise typer.Exit(2) from None


def _rewritten(bank: "Treebank", rules: "tuple[RewriteRule, ...]", passes: int, on_refusal: OnRefusal) -> "Rewriting":
    from ropewalk.search import rewrite as apply

    done = apply(bank, rules, passes=passes, on_refusal=on_refusal.value)
    for error in done.refused:
        shell.say(f"refused: {error}")
    return done


def _diff(file: str, before: "Treebank", after: "Treebank", *, headed: bool) -> "Iterator[bytes]":
    """Write the lines that differ as a unified diff without context; no rule adds or removes lines."""
    from ropewalk import conllu

    name = clean(file).encode("utf-8", "replace")
    if headed:
        yield b"--- %b\n+++ %b\n" % (name, name)
    for number, (old, new) in enumerate(zip(conllu.sentences(before), conllu.sentences(after), strict=True)):
        if old == new:
            continue
        first = before.line(number)
        title = clean(before.heading(number).id or "").encode("utf-8", "replace")
        for at, (a, b) in enumerate(zip(old.split(b"\n"), new.split(b"\n"), strict=True)):
            if a != b:
                place = first + at
                yield b"@@ -%d +%d @@ %b\n-%b\n+%b\n" % (place, place, title, a, b)
