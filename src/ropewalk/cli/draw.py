"""The command `ropewalk draw`: draw trees as text, SVG, TikZ, HTML, PNG or PDF."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ropewalk.cli import shell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ropewalk.drawing import Scene
    from ropewalk.drawing.scene import Row, Structure
    from ropewalk.treebank.treebank import Treebank


PictureFormat = Literal["text", "svg", "tikz", "html", "png", "pdf"]
Theme = Literal["auto", "light", "dark"]  # as in `ropewalk.drawing.svg`
MOST_DIGITS = 9  # of the index of a sentence
EXTENSIONS: dict[str, PictureFormat] = {
    ".txt": "text", ".svg": "svg", ".tex": "tikz", ".tikz": "tikz", ".html": "html", ".htm": "html",
    ".png": "png", ".pdf": "pdf",
}  # fmt: skip


def draw(
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="CoNLL-U, also .gz or .xz; - is standard input.")
    ] = None,
    sentence: Annotated[
        list[str] | None,
        typer.Option(metavar="N", help="A sentence to draw: its number from 1, or its sent_id; repeatable."),
    ] = None,
    heads: Annotated[
        str | None, typer.Option(metavar="4,4,0,3", help="Draw these heads; _ is none, 0 the root.")
    ] = None,
    labels: Annotated[
        str | None, typer.Option(metavar="'< >^ …'", help="Draw the tree of these labels of one encoding.")
    ] = None,
    words: Annotated[str | None, typer.Option(metavar="'A B …'", help="The words of --heads or --labels.")] = None,
    form: Annotated[
        PictureFormat | None,
        typer.Option(
            "--format",
            help="text, svg, tikz, html, png or pdf; by default what the ending of -o stands for, else text.",
        ),
    ] = None,
    output: shell.OutputOption = "-",
    encoding: Annotated[
        list[str] | None,
        typer.Option(
            "--encoding", "-e", metavar="NAME", help="An encoding whose labels are written under the words; repeatable."
        ),
    ] = None,
    cover: Annotated[
        Literal["proper", "farthest", "all"] | None,
        typer.Option(
            help="Draw structural arcs red and solid, auxiliary ones black and dashed. The rope cover is the proper "
            "one, the farthest one, or all arcs."
        ),
    ] = None,
    brackets: Annotated[
        bool, typer.Option("--brackets", help="Write the brackets of the cover under the words, as the paper does.")
    ] = False,
    relations: Annotated[bool, typer.Option(help="Write relations on the arcs.")] = True,
    tags: Annotated[bool, typer.Option("--tags", help="Write parts of speech under the words.")] = False,
    columns: Annotated[
        str,
        typer.Option(metavar="NAME,…", help="Write these columns under the words, such as lemma, xpos and feats."),
    ] = "",
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Write the probability of each arc, if the file has it.")
    ] = False,
    against: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A second CoNLL-U file with the same words; differences are marked."),
    ] = None,
    root: Annotated[bool | None, typer.Option(help="Draw node 0 as a word; by default if there is a cover.")] = None,
    theme: Annotated[
        Theme,
        typer.Option(
            help="Colours of SVG, HTML, PNG and PDF: auto (as the reader's system; PNG and PDF: light), light or dark."
        ),
    ] = "auto",
    width: Annotated[
        int | None, typer.Option(min=20, help="Cut text into pieces of this width; by default the terminal's.")
    ] = None,
    graphs: Annotated[
        bool,
        typer.Option(
            "--graphs", help="Draw the basic tree above and the arcs that DEPS adds below; for .sdp files the graph."
        ),
    ] = False,
    steps: Annotated[
        bool, typer.Option("--steps", help="Write an HTML page that shows the decoder step by step, for one sentence.")
    ] = False,
    repair: shell.RepairOption = shell.Repair.NEAREST,
    overwrite: shell.OverwriteOption = False,
    _as: Annotated[str | None, shell.renamed("--as", "--format {}")] = None,
) -> None:
    """Draw trees as text, SVG, TikZ, HTML, PNG or PDF.

    The words are in a row with arcs above them. Right-to-left sentences run from right to left. With --against, arcs
    of the first file alone are dashed and green, those of the second alone are red and below the words. With --steps,
    one page shows how labels are decoded: brackets, stack, arcs, faults and repairs. PNG and PDF need the extra `draw`:
    pip install -c constraints.txt '.[draw]'.
    """
    from ropewalk.drawing import PictureOptions, scene
    from ropewalk.files import creating

    _demand_one_source(file, heads, labels, words)
    if file is None and (sentence or against or probabilities or columns or (tags and labels is None)):
        raise typer.BadParameter("--sentence, --against, --probabilities, --columns and --tags need a CoNLL-U file")
    shell.demand_other(output, filter(None, (file, against)), overwrite=overwrite)
    ending = Path(output).suffix.lower()
    if form is None and ending and ending not in EXTENSIONS:
        raise typer.BadParameter(
            f"{output}: no picture format ends in {ending}; use {', '.join(EXTENSIONS)}, or --format"
        )
    chosen = form or EXTENSIONS.get(ending, "text")
    if steps and form not in {None, "html"}:
        raise typer.BadParameter("--steps writes an HTML page; leave out --format")
    forms = words.split() if words is not None else None
    names = encoding or []
    if graphs:
        if file is None or steps or cover or brackets or against or tags or columns or probabilities:
            raise typer.BadParameter("--graphs draws a FILE, and goes with --sentence, -e and the form of the picture")
        scenes = _graph_scenes(file, sentence, names)
        content = _drawn(scenes, chosen, theme, shell.picture_width(width, output), colour=shell.colourful(output))
    elif steps:
        content = _steps(file, sentence, heads, labels, forms, names, theme, repair).encode("utf-8")
    else:
        sources: Iterable[tuple[Structure, Structure | None, list[float | None] | None]]
        rows: tuple[Row, ...] = ()
        if labels is not None:
            structure, rows = _labelled(labels, names)
            names, sources = [], [(structure, None, None)]
        elif heads is not None:
            sources = [(_structure(heads), None, None)]
        else:
            sources = _sentences(str(file), sentence, against, probabilities=probabilities)
        options = PictureOptions(
            words=forms,
            relations=relations,
            tags=tags,
            columns=[name.strip() for name in columns.split(",") if name.strip()],
            labels=names,
            cover=cover,
            bracketing=brackets,
            root=root,
        )
        scenes = (
            scene(structure, replace(options, against=other, probabilities=probability))
            for structure, other, probability in sources
        )
        scenes = (replace(picture, rows=picture.rows + rows) for picture in scenes)
        content = _drawn(scenes, chosen, theme, shell.picture_width(width, output), colour=shell.colourful(output))
    with creating(output) as out:
        out.write(content)


def _demand_one_source(file: str | None, heads: str | None, labels: str | None, words: str | None) -> None:
    if sum(source is not None for source in (file, heads, labels)) != 1:
        raise typer.BadParameter("expected one of FILE, --heads and --labels")
    if words is not None and file is not None:
        raise typer.BadParameter("--words goes with --heads or --labels; a file has its own words")


def _structure(heads: str) -> "Structure":
    from ropewalk.core.graphs import Graph
    from ropewalk.core.trees import Tree
    from ropewalk.errors import OptionError

    parts = heads.replace(",", " ").split()
    if not parts:
        raise OptionError("--heads is empty; expected numbers with commas, as 4,4,0,3, and _ for none")
    try:
        numbers = [-1 if part == "_" else int(part) for part in parts]
    except ValueError:
        raise OptionError(f"--heads is {heads!r}; expected numbers with commas, as 4,4,0,3, and _ for none") from None
    if -1 not in numbers:
        return Tree(numbers)
    return Graph(len(numbers), [(head, word) for word, head in enumerate(numbers, start=1) if head >= 0])


def _labelled(labels: str, names: list[str]) -> "tuple[Structure, tuple[Row, ...]]":
    """Decode labels into a tree, and print their faults."""
    from ropewalk import encodings
    from ropewalk.drawing.scene import Row

    if len(names) > 1:
        raise typer.BadParameter("--labels are of one encoding; use -e once")
    encoding = encodings.get(names[0] if names else "optimal")
    recovered = encoding.recover(encoding.labels([labels.split()]))
    for fault in recovered.decoded.faults():
        shell.say(f"word {fault.word}: {fault.kind}")
    return recovered.trees[0], (Row(encoding.spec, ("", *labels.split()), "label"),)


def _chosen(bank: "Treebank", wanted: list[str], file: str) -> list[int]:
    """Return the indices of sentences that are named by number or sent_id."""
    from ropewalk.errors import OptionError

    ids: dict[str | None, int] = {}
    if not all(map(_is_place, wanted)):
        for number in range(len(bank)):
            ids.setdefault(bank[number].id, number)
    out = []
    for name in wanted:
        at = int(name) - 1 if _is_place(name) else ids.get(name, -1)
        if not 0 <= at < len(bank):
            raise OptionError(
                f"{file}: there is no sentence {name!r}; expected a number from 1 to {len(bank)} or a sent_id"
            )
        out.append(at)
    return out


def _sentences(
    file: str, wanted: list[str] | None, against: str | None, *, probabilities: bool
) -> "Iterator[tuple[Structure, Structure | None, list[float | None] | None]]":
    from ropewalk import conllu
    from ropewalk.errors import MismatchError

    shell.demand_conllu(file, ", or --graphs to draw them")
    bank = conllu.read(file)
    other = conllu.read(against) if against is not None else None
    if other is not None and len(other) != len(bank):
        raise MismatchError(
            f"{file} has {len(bank)} sentences and {against} {len(other)}; expected the same sentences in both"
        )
    for number in _chosen(bank, wanted, file) if wanted else range(len(bank)):
        _demand_few(bank, number)
        shown = list(bank[number].probabilities) if probabilities else None
        yield bank[number], other[number] if other is not None else None, shown


def _demand_few(bank: "Treebank", sentence: int) -> None:
    """Raise with the line of a sentence if it is too long to draw."""
    from ropewalk.drawing.scene import demand_few
    from ropewalk.errors import FormatError, OptionError

    try:
        demand_few(int(bank.lengths[sentence]))
    except OptionError as error:
        raise FormatError(
            bank.file, bank.line(sentence), "too-long", f"{error}; choose others with --sentence"
        ) from error


def _graph_scenes(file: str, wanted: list[str] | None, names: list[str]) -> "Iterator[Scene]":
    from ropewalk import conllu, deps, sdp
    from ropewalk.drawing import PictureOptions, enhanced_scene, scene
    from ropewalk.errors import OptionError

    if shell.is_semantic(file):
        semantic = sdp.read(file)
        known = {comments[0][1:].strip(): at for at, comments in enumerate(semantic.comments) if comments}
        forms, offsets = semantic.forms.texts(), semantic.graphs.offsets.array.tolist()
        for name in wanted or map(str, range(1, len(semantic) + 1)):
            number = known.get(name, int(name) - 1 if _is_place(name) else -1)
            if not 0 <= number < len(semantic):
                raise OptionError(
                    f"{file}: there is no sentence {name!r}; expected a number from 1 or a sentence's name"
                )
            words = forms[offsets[number] : offsets[number + 1]]
            yield scene(semantic.graphs[number], PictureOptions(words=words, labels=names))
        return
    bank = conllu.read(file)
    graphs, basic, forms = deps.read(bank), bank.basic_graphs(), deps.forms(bank).texts()
    for number in _chosen(bank, wanted, file) if wanted else range(len(bank)):
        _demand_few(bank, number)
        start, stop = graphs.offsets.bounds(number)
        title = bank[number].id or ""
        yield enhanced_scene(graphs.select([number]), basic[number], forms[start:stop], labels=names, title=title)


def _drawn(scenes: "Iterator[Scene]", form: PictureFormat, theme: Theme, width: int | None, *, colour: bool) -> bytes:
    from ropewalk.drawing import to_html, to_pdf, to_png, to_svg, to_text, to_tikz_document
    from ropewalk.errors import OptionError

    if form == "text":
        return "\n".join(to_text(picture, width=width, colour=colour) for picture in scenes).encode("utf-8")
    if form == "tikz":
        return to_tikz_document(scenes).encode("utf-8")
    if form == "html":
        return to_html(scenes, theme=theme).encode("utf-8")
    if form == "pdf":
        return to_pdf(scenes, theme=theme)
    pictures = list(scenes)
    if len(pictures) != 1:
        raise OptionError(
            f"{form.upper()} holds one picture, and there are {len(pictures)} sentences; "
            "choose one with --sentence, or use --format html or pdf"
        )
    return to_png(pictures[0], theme=theme) if form == "png" else to_svg(pictures[0], theme=theme).encode("utf-8")


def _steps(
    file: str | None,
    sentence: list[str] | None,
    heads: str | None,
    labels: str | None,
    words: list[str] | None,
    names: list[str],
    theme: Theme,
    repair: shell.Repair,
) -> str:
    from ropewalk import Sentence, encodings
    from ropewalk.core.trees import Tree, is_projective
    from ropewalk.drawing import to_steps, trace
    from ropewalk.errors import MissingHeadError, OptionError

    if len(names) > 1:
        raise typer.BadParameter("--steps shows one encoding; use -e once")
    if labels is not None:
        read = trace(labels.split(), names[0] if names else "optimal", repair_policy=repair.value)
        return to_steps(read, words=words, theme=theme)
    structures = (
        [_structure(heads)]
        if heads is not None
        else [structure for structure, *_ in _sentences(str(file), sentence, None, probabilities=False)]
    )
    if len(structures) != 1:
        raise OptionError(f"--steps shows one sentence, and there are {len(structures)}; choose one with --sentence")
    structure, title = structures[0], ""
    if isinstance(structure, Sentence):
        title = structure.caption or structure.id or ""
        words, structure = list(structure.forms), structure.tree
    if not isinstance(structure, Tree):
        raise MissingHeadError(next(word for word in range(1, len(structure) + 1) if word not in structure.dependents))
    name = names[0] if names else "optimal" if is_projective(structure) else "optimal-nonprojective"
    encoding = encodings.get(name)
    if encoding.policy == "lift" and not encoding.covers(structure)[0]:
        title = f"{title or 'A tree'} (lifted: {encoding.spec} cannot write its crossing arcs)"
    read = trace(encoding.encode(structure).texts(), encoding, repair_policy=repair.value)
    return to_steps(read, words=words, title=title, theme=theme)


def _is_place(name: str) -> bool:
    """Return whether a sentence is named by its index, rather than by a longer number that is its sent_id."""
    return name.isdecimal() and len(name) <= MOST_DIGITS
