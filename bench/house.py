"""Count what the code consists of: lines, functions with many parameters, and places that repeat each other.

Two places repeat each other if six or more lines in the bodies of functions are the same, or of the same shape: the
same after names are numbered in their order, and with other numbers and strings. Blank lines, comments, docstrings and
imports do not count. What is found in more than eight places is left out.
"""

from __future__ import annotations

import ast
import io
import keyword
import tokenize
from collections import defaultdict
from itertools import combinations
from pathlib import Path

Line = tuple[tuple[int, str], ...]  # the kind and the text of each token
Place = tuple[Path, int]  # a file and the index of a line of code

SOURCE = Path(__file__).resolve().parents[1] / "src" / "ropewalk"
LINES = 6  # of code in a row
MOST_PLACES = 8
MOST_PARAMETERS = 7
IGNORED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def left_out(tree: ast.Module) -> set[int]:
    """Return the numbers of lines with docstrings and imports."""
    found: set[int] = set()
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, ast.stmt) and (is_text or isinstance(node, ast.Import | ast.ImportFrom)):
            found.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return found


def bodies(tree: ast.Module) -> set[int]:
    """Return the numbers of lines in the bodies of functions."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    inside = {line for node in functions for line in range(node.body[0].lineno, (node.end_lineno or 0) + 1)}
    return inside - {line for node in functions for line in range(node.lineno, node.body[0].lineno)}


def lines_of(text: str) -> list[tuple[int, Line]]:
    """Return the tokens of each line of code with its number; empty outside of functions."""
    tree = ast.parse(text)
    skipped, inside = left_out(tree), bodies(tree)
    lines: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in IGNORED and token.start[0] not in skipped:
            lines[token.start[0]].append((token.type, token.string))
    return sorted((line, tuple(tokens) if line in inside else ()) for line, tokens in lines.items())


def shape_of(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """Return lines with numbers in place of names, and without the values of numbers and strings."""
    names: dict[str, int] = {}

    def plain(kind: int, text: str) -> tuple[int, str]:
        if kind == tokenize.NAME and not keyword.iskeyword(text):
            return kind, str(names.setdefault(text, len(names)))
        return kind, "" if kind in {tokenize.NUMBER, tokenize.STRING} else text

    return tuple(tuple(plain(kind, text) for kind, text in line) for line in lines)


def repeated(code: dict[Path, list[tuple[int, Line]]], *, shape: bool) -> list[tuple[str, str]]:
    """Return the pairs of places that repeat each other; a place is a file and the number of its first line."""
    places: dict[tuple[Line, ...], list[Place]] = defaultdict(list)
    for file, lines in code.items():
        for at in range(len(lines) - LINES + 1):
            window = tuple(tokens for _, tokens in lines[at : at + LINES])
            if all(window):
                places[shape_of(window) if shape else window].append((file, at))
    several = [some for some in places.values() if len(some) <= MOST_PLACES]
    pairs = {pair for some in several for pair in combinations(some, 2) if apart(*pair)}
    begins = [
        ((first, at), (second, other))
        for (first, at), (second, other) in sorted(pairs)
        if ((first, at - 1), (second, other - 1)) not in pairs
    ]
    return [(shown(code, first), shown(code, second)) for first, second in begins]


def shown(code: dict[Path, list[tuple[int, Line]]], place: Place) -> str:
    """Return a place as text."""
    file, at = place
    return f"{file.relative_to(SOURCE)}:{code[file][at][0]}"


def apart(first: Place, second: Place) -> bool:
    """Return whether two places have no line in common."""
    return first[0] != second[0] or abs(first[1] - second[1]) >= LINES


def parameters(text: str) -> list[set[str]]:
    """Return the parameters of each function, without `self` and `cls`."""
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    named = [[*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs] for node in functions]
    return [{parameter.arg for parameter in row} - {"self", "cls"} for row in named]


def main() -> None:
    """Print the figures, and the pairs of places that repeat each other line by line."""
    texts = {file: file.read_text(encoding="utf-8") for file in sorted(SOURCE.rglob("*.py"))}
    code = {file: lines_of(text) for file, text in texts.items()}
    lines = sum(map(len, code.values()))
    print(f"lines: {sum(text.count(chr(10)) for text in texts.values()):,} in {len(texts)} modules")
    print(f"lines of code, without blank lines, comments, docstrings and imports: {lines:,}")
    outside = [text for file, text in texts.items() if file.relative_to(SOURCE).parts[0] not in {"kernels", "cli"}]
    functions = [names for text in outside for names in parameters(text)]
    many = sum(len(names) > MOST_PARAMETERS for names in functions)
    side_by_side = sum({"heads", "offsets"} <= names for names in functions)
    print(
        f"functions outside kernels and cli with more than {MOST_PARAMETERS} parameters: {many} of {len(functions):,}"
    )
    print(f"functions outside kernels and cli that take heads and offsets: {side_by_side}")
    same = repeated(code, shape=False)
    alike = repeated(code, shape=True)
    print(f"pairs of places that repeat each other: {len(same)}, by shape {len(alike)}")
    for first, second in alike:
        print(f"  {first} ~ {second}")


if __name__ == "__main__":
    main()
