"""The command `ropewalk package`: write a Python package with an exported model."""

from typing import Annotated

import typer

from ropewalk.cli.shell import as_folder, folder_option, say


def package(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="An exported model's folder.")],
    out: Annotated[str, folder_option("The folder to write.")],
    name: Annotated[str, typer.Option(metavar="NAME", help="The name to load it by; by default MODEL's.")] = "",
    version: Annotated[str, typer.Option(metavar="VERSION", help="The package's version; by default Ropewalk's.")] = "",
    licence: Annotated[
        str, typer.Option(metavar="LICENCE", help="The treebank's licence, if MODEL does not name the right one.")
    ] = "",
    licence_file: Annotated[
        str, typer.Option(metavar="FILE", help="The text of the licence, such as the treebank's LICENSE.txt.")
    ] = "",
) -> None:
    """Write a Python package with an exported model.

    The model wo becomes the package ropewalk-wo: after `pip install ./FOLDER`, or of a wheel from `pip wheel ./FOLDER`,
    `ropewalk parse -m wo` finds it, and `ropewalk models` lists it.
    """
    from ropewalk import __version__
    from ropewalk.models.packaging import package as write

    written = write(
        model, out, name=name, version=version or __version__, licence=licence, licence_file=licence_file or None
    )
    inside = written.model
    say(f"{written.distribution} {written.version}: {inside.name} {inside.hash}, {inside.size / 1e6:.1f} MB")
    say(f"install it: pip install {as_folder(out)}")
