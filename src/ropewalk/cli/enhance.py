"""The command `ropewalk enhance`: add enhanced graphs to trees with rules."""

from typing import TYPE_CHECKING, Annotated

import typer

from ropewalk.cli.shell import File, OutputOption, OverwriteOption, demand_conllu, demand_other, put, warn_if_uncompiled

if TYPE_CHECKING:
    from collections.abc import Iterator


def enhance(
    file: File,
    rules: Annotated[
        bool, typer.Option("--rules/--copy", help="Apply the rules of the guidelines, or copy the basic trees.")
    ] = True,
    cases: Annotated[
        bool, typer.Option("--cases", help="Add the case of a word to its relation, such as nmod:gen.")
    ] = False,
    output: OutputOption = "-",
    overwrite: OverwriteOption = False,
) -> None:
    """Add enhanced graphs to trees with rules.

    DEPS gets the graph that the rules of Universal Dependencies derive from each tree: prepositions and conjunctions in
    relations, shared heads and subjects of conjuncts, subjects of open clauses, and antecedents of relative pronouns.
    Parsers of graphs are compared with these baselines. Empty nodes are removed.
    """
    from ropewalk import conllu
    from ropewalk.morphology.enhancement import by_rules, copied

    demand_conllu(file)
    if cases and not rules:
        raise typer.BadParameter("--cases belongs to --rules")
    demand_other(output, [file], overwrite=overwrite)
    warn_if_uncompiled()

    def blocks() -> "Iterator[bytes]":
        for bank in conllu.stream(file, trees="required"):
            yield conllu.dumps(bank.with_graphs(by_rules(bank, cases=cases) if rules else copied(bank)))

    put(output, blocks())
