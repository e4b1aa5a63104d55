"""`ropewalk enhance`."""

from typing import TYPE_CHECKING, Annotated

import typer

from ropewalk.cli.shell import OutputOption, OverwriteOption, demand_conllu, demand_other, put, warn_if_uncompiled

if TYPE_CHECKING:
    from collections.abc import Iterator


def enhance(
    file: Annotated[str, typer.Argument(metavar="FILE", help="CoNLL-U, also .gz or .xz; - is standard input.")],
    rules: Annotated[
        bool, typer.Option("--rules/--copy", help="By the rules of the guidelines, or the basic trees as they are.")
    ] = True,
    cases: Annotated[
        bool, typer.Option("--cases", help="Let relations bear the case of their word, such as nmod:gen.")
    ] = False,
    output: OutputOption = "-",
    overwrite: OverwriteOption = False,
) -> None:
    """Make enhanced graphs from basic trees, without a model.

    DEPS gets what the rules of Universal Dependencies make of each tree: prepositions and conjunctions in relations,
    shared heads and subjects of conjuncts, subjects of open clauses, and what relative pronouns stand for. These are
    the baselines that a parser of graphs is held against. Empty nodes are taken out.
    """
    from ropewalk import conllu
    from ropewalk.morphology.enhancement import by_rules, copied

    demand_conllu(file)
    if cases and not rules:
        raise typer.BadParameter("--cases goes with --rules")
    demand_other(output, [file], overwrite=overwrite)
    warn_if_uncompiled()

    def blocks() -> "Iterator[bytes]":
        for bank in conllu.stream(file, trees="required"):
            yield conllu.dumps(bank.with_graphs(by_rules(bank, cases=cases) if rules else copied(bank)))

    put(output, blocks())
