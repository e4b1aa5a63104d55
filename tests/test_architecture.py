"""The invariants of ARCHITECTURE.md."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

import ropewalk
from conftest import REPOSITORY
from ropewalk import kernels
from ropewalk.cli import COMMANDS

PACKAGE = REPOSITORY / "src" / "ropewalk"

# A module imports from its own part or from parts in the rows above it.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors",),
    ("kernels", "files", "parallel"),
    ("core", "reporting"),
    ("treebank",),
    ("morphology", "batches"),
    ("encodings",),
    ("formats", "testing"),
    ("decoding", "scoring", "search"),
    ("options",),
    ("drawing",),
    ("models",),
    ("segmentation",),
    ("training",),
    ("loading",),
    ("identification",),
    ("pipeline",),
    ("laboratory", "integrations", "corpus", "serving", "review"),
    ("autobuild",),
    ("cli",),
    ("__main__",),
)
LEVEL = {part: level for level, row in enumerate(LAYERS) for part in row}
# Names of higher parts that a module uses all the same.
UPWARD: dict[str, set[str]] = {
    "treebank/documents.py": {  # methods load them when called
        "Picture",
        "PictureOptions",
        "conllu",
        "deps",
        "displacy",
        "draw",
        "formats",
        "json",
        "morphology",
        "search",
        "word_tables",
    },
    "core/trees.py": {"draw"},  # notebooks ask a value for its picture
    "core/graphs.py": {"draw"},
    "treebank/treebank.py": {"deps", "search", "word_tables"},  # only formats write DEPS; methods load the others
}

MAY_TOUCH_FILES = {"files", "cli"}
MAY_PRINT = {"cli"}
VAGUE = {"room", "told", "said", "made", "sure"}  # names that say nothing of what they name
FILE_CALLS = {
    "open", "read_text", "read_bytes", "write_text", "write_bytes", "unlink", "mkdir", "rename", "fdopen",
    "NamedTemporaryFile", "SpooledTemporaryFile", "TemporaryDirectory", "TemporaryFile", "mkdtemp", "mkstemp",
    "scandir", "listdir", "copy2", "copyfile", "copytree", "rmtree", "rmdir", "symlink_to", "touch", "truncate",
    "fromfile", "loadtxt", "memmap", "savetxt", "tofile",  # numpy
    "from_file", "from_pretrained", "load_file", "save_file", "save_model", "save_pretrained", "snapshot_download",
    "OfflineEmissionsTracker", "SummaryWriter",
    "create_dir", "delete_dir", "delete_file", "move", "open_append_stream", "open_input_file", "open_input_stream",
    "open_output_stream",  # PyArrow
}  # fmt: skip
FILES_OF_LIBRARIES = {  # modules that let a library touch files, and the calls that do so
    "corpus/stores.py": {
        "create_dir", "delete_dir", "delete_file", "move", "open_input_file", "open_input_stream", "open_output_stream",
        "scandir",
    },
    "training/construction.py": {"from_pretrained"},
    "training/encoders/transformer.py": {"save_pretrained"},
    "training/hub.py": {"snapshot_download"},
    "training/tracking.py": {"OfflineEmissionsTracker", "SummaryWriter"},
}  # fmt: skip


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def part_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def imports(tree: ast.AST) -> set[str]:
    """Full names of what a module imports from anywhere, at any depth."""
    out: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            out |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            out |= {f"{node.module}.{alias.name}" for alias in node.names}
    return out


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a git repository")
    return [file for name in listed.stdout.split("\0") if name and (file := REPOSITORY / name).is_file()]


def facade() -> dict[str, str]:
    """Return the part that each name of the package itself comes from."""
    nodes = [node for node in ast.walk(parsed(PACKAGE / "__init__.py")) if isinstance(node, ast.ImportFrom)]
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}".split(".")[1]
        for node in nodes
        for alias in node.names
    }


def used(tree: ast.AST) -> set[str]:
    """Return the names right under `ropewalk` that a module imports, or reads as attributes of `ropewalk`."""
    names = {name.split(".")[1] for name in imports(tree) if name.startswith("ropewalk.")}
    package = {"ropewalk"} | {
        alias.asname
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "ropewalk" and alias.asname
    }
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return names | {node.attr for node in attributes if ast.unparse(node.value) in package}


def test_names_of_the_package_are_resolved() -> None:
    homes = facade()
    assert {*homes, "__version__"} == set(ropewalk.__all__)
    assert (homes["Treebank"], homes["draw"], homes["conllu"]) == ("treebank", "drawing", "formats")
    tree = ast.parse("from ropewalk import Tree\nimport ropewalk\nimport ropewalk.cli.draw\nropewalk.conllu.loads")
    assert used(tree) == {"Tree", "cli", "conllu"}
    assert used(ast.parse("import ropewalk as r\nr.draw(r.Tree([0]))")) == {"draw", "Tree"}


@pytest.mark.parametrize("file", modules(), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_imports_run_one_way(file: Path) -> None:
    part = part_of(file)
    if part == "__init__":
        return
    assert part in LEVEL, f"{part} has no place in LAYERS; give it one"
    homes = {name: facade().get(name, name) for name in used(parsed(file))}
    upward = {name for name, home in homes.items() if home != part and LEVEL.get(home, -1) >= LEVEL[part]}
    assert upward == UPWARD.get(file.relative_to(PACKAGE).as_posix(), set())


@pytest.mark.parametrize("file", modules(), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_only_training_knows_torch_and_only_models_know_onnx(file: Path) -> None:
    roots = {name.split(".")[0] for name in imports(parsed(file))}
    if part_of(file) != "training":
        assert not roots & {"torch", "transformers", "accelerate"}
    if part_of(file) not in {"models", "training"}:
        assert "onnxruntime" not in roots


def test_networks_reach_the_runtime_in_one_place() -> None:
    users = [file for file in modules() if "InferenceSession" in file.read_text(encoding="utf-8")]
    assert users == [PACKAGE / "models" / "onnx" / "session.py"]


def test_kinds_of_parsers_and_encoders_are_asked_for_only_where_models_are_built() -> None:
    kinds = {"biaffine", "bilstm", "sru", "transformer"}
    building = {"training/construction.py", "models/description.py"}
    asked = set()
    for file in modules():
        for node in ast.walk(parsed(file)):
            if isinstance(node, ast.Compare) and any(
                isinstance(one, ast.Constant) and one.value in kinds for one in [node.left, *node.comparators]
            ):
                asked.add(file.relative_to(PACKAGE).as_posix())
    assert asked == building


def test_classes_of_encoders_and_heads_are_asked_for_only_where_models_are_built() -> None:
    """By `isinstance`, `is` or `match`; to name a class as a type, or to make one, is no question."""
    homes = [*(PACKAGE / "training" / "encoders").glob("*.py"), PACKAGE / "training" / "classifiers.py"]
    homes += [PACKAGE / "models" / "onnx" / f"{name}.py" for name in ("bilstm", "sru", "transformer")]
    classes = {node.name for file in homes for node in parsed(file).body if isinstance(node, ast.ClassDef)}
    assert classes >= {"BiLSTM", "SRU", "Transformer", "WordRelations", "PairRelations", "BiaffineRelations", "OnnxSRU"}
    asked = set()
    for file in modules():
        for node in ast.walk(parsed(file)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in {"isinstance", "issubclass"}:
                questions: list[ast.expr] = node.args[1:]
            elif isinstance(node, ast.Compare):
                questions = [node.left, *node.comparators]
            elif isinstance(node, ast.MatchClass):
                questions = [node.cls]
            else:
                continue
            names = {part for one in questions for part in re.findall(r"\w+", ast.unparse(one))}
            if names & classes:
                asked.add(file.relative_to(PACKAGE).as_posix())
    assert asked == {"training/construction.py"}


@pytest.mark.parametrize("file", modules(), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_only_some_modules_touch_files_or_print(file: Path) -> None:
    calls = [node.func for node in ast.walk(parsed(file)) if isinstance(node, ast.Call)]
    names = {call.id for call in calls if isinstance(call, ast.Name)}
    called = names | {call.attr for call in calls if isinstance(call, ast.Attribute)}
    if part_of(file) not in MAY_TOUCH_FILES:
        assert called & FILE_CALLS == FILES_OF_LIBRARIES.get(file.relative_to(PACKAGE).as_posix(), set())
        assert "ctypes" not in imports(parsed(file))
    if part_of(file) not in MAY_PRINT:
        assert "print" not in names


@pytest.mark.parametrize("file", modules(), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_names_say_what_they_are(file: Path) -> None:
    given = set()
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            given.add(node.name)
        elif isinstance(node, ast.arg):
            given.add(node.arg)
        elif isinstance(node, ast.Name):
            given.add(node.id)
        elif isinstance(node, ast.Attribute):
            given.add(node.attr)
    vague = VAGUE - {"made"} if part_of(file) == "kernels" else VAGUE  # they count the arcs that they have made
    assert not {name.strip("_") for name in given} & vague


@pytest.mark.parametrize("file", modules(), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_only_the_format_knows_how_probabilities_and_spaces_are_written(file: Path) -> None:
    words = ("Confidence=", "# confidence =", "TokenRange=", "SpaceAfter=", "SpacesAfter=")
    homes = ("formats/conllu.py", "formats/explanations.py", "formats/ud.py", "treebank/misc.py", "treebank/source.py")
    if file.relative_to(PACKAGE).as_posix() not in homes:
        text = file.read_text(encoding="utf-8")
        assert not [word for word in words if word in text]


def test_a_public_name_stands_for_one_class() -> None:
    homes: dict[str, list[str]] = {}
    for file in modules():
        for node in parsed(file).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(str(file.relative_to(PACKAGE)))
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def test_a_public_name_stands_for_one_type() -> None:
    """Short names of types are no names of classes, and mean the same wherever they are; private ones are free.

    Arrays of numbers may be of other sizes in other modules. Commands name their choices after types of the library.
    """
    meanings: dict[str, set[str]] = {}
    for file in modules():
        if part_of(file) == "cli":
            continue
        guarded = [node.body for node in parsed(file).body if isinstance(node, ast.If)]  # such as TYPE_CHECKING
        for node in [*parsed(file).body, *(node for body in guarded for node in body)]:
            if isinstance(node, ast.ClassDef):
                meanings.setdefault(node.name, set()).add(f"{file}: {node.name}")
            elif isinstance(node, ast.ImportFrom):
                for one in node.names:
                    if one.asname not in {None, one.name}:
                        meanings.setdefault(str(one.asname), set()).add(f"{node.module}.{one.name}")
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                text = ast.unparse(node.value).replace("'", "")
                if re.match(r"(typing\.)?TypeVar\(", text):  # stands for any type
                    continue
                numbers = text.startswith("npt.NDArray[") or part_of(file) == "kernels"
                meanings.setdefault(node.targets[0].id, set()).add("numbers" if numbers else text)
    types = {name: found for name, found in meanings.items() if re.match(r"[A-Z]\w*[a-z]", name)}
    assert {"Arcs", "ArcScores", "TableColumn"} <= types.keys()
    assert {name: found for name, found in types.items() if len(found) > 1} == {}


MANY_PARAMETERS: set[str] = set()
MOST_SIDE_BY_SIDE = 5  # functions that take heads and offsets


def functions(*without: str) -> list[tuple[str, set[str]]]:
    """Return file and name of every function with its parameters, without `self`; some parts are left out."""
    found = []
    for file in modules():
        for node in ast.walk(parsed(file)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and part_of(file) not in without:
                parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                names = {one.arg for one in parameters} - {"self", "cls"}
                found.append((f"{file.relative_to(PACKAGE).as_posix()} {node.name}", names))
    assert len(found) > 1000
    return found


def test_few_functions_have_more_than_seven_parameters() -> None:
    """Commands have one for each option, and some kernels one for each array; `bench/house.py` prints the figures."""
    assert {name for name, names in functions("kernels", "cli") if len(names) > 7} == MANY_PARAMETERS


def test_few_functions_take_heads_beside_offsets() -> None:
    side_by_side = [name for name, names in functions("kernels") if {"heads", "offsets"} <= names]
    assert len(side_by_side) <= MOST_SIDE_BY_SIDE, side_by_side


def test_the_top_level_is_short() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= 10


def test_importing_is_light_and_has_no_side_effects() -> None:
    program = """
import logging, os, random, signal, sys, threading, warnings
def state():
    return (dict(os.environ), os.getcwd(), random.getstate(), signal.getsignal(signal.SIGINT),
            sys.excepthook, sys.stdout, sys.stderr, threading.active_count(),
            list(warnings.filters), logging.root.handlers[:])
before = state()
import ropewalk
assert state() == before
heavy = {"torch", "onnxruntime", "rich", "typer", "numpy"} & set(sys.modules)
assert not heavy, heavy
for name in ropewalk.__all__:
    assert getattr(ropewalk, name) is not None
heavy = {"torch", "onnxruntime", "rich", "typer"} & set(sys.modules)
assert not heavy, heavy
assert set(ropewalk.__all__) <= set(dir(ropewalk))
try:
    ropewalk.nonsense
except AttributeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stderr, done.stdout) == ("", "module 'ropewalk' has no attribute 'nonsense'\n")


def test_every_kernel_has_its_types_and_every_type_file_its_kernel() -> None:
    folder = PACKAGE / "kernels"
    assert kernels.NAMES
    for name in kernels.NAMES:
        assert (folder / f"{name}.py").is_file()
    plain = {file.stem for file in folder.glob("*.py")} - {"__init__", "codes", "uncompiled"}
    assert plain == set(kernels.NAMES)


def test_type_files_list_the_fields_of_dataclasses_in_the_same_order() -> None:
    """Compiled, a dataclass takes its fields in the order of the type file."""
    compared = 0
    for name in kernels.NAMES:
        folder = PACKAGE / "kernels"
        types = (folder / f"{name}.pxd").read_text(encoding="utf-8")
        for node in ast.parse((folder / f"{name}.py").read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.decorator_list:
                body = re.findall(rf"^cdef class {node.name}:\n((?:    .*\n)+)", types, re.MULTILINE)[0]
                lines = re.findall(r"^    cdef (?:const )?(?:\w+ )*\w+(?:\[.*?\])? ([\w, ]+)$", body, re.MULTILINE)
                fields = [one.target.id for one in node.body if isinstance(one, ast.AnnAssign)]  # type: ignore[union-attr]
                assert ", ".join(lines).split(", ") == fields, f"kernels/{name}.pxd, {node.name}"
                compared += 1
    assert compared > 5


def test_pure_kernels_are_the_python_files() -> None:
    program = (
        "import importlib, ropewalk.kernels as k; assert not k.compiled(); "
        "[print(importlib.import_module(f'ropewalk.kernels.{name}').__file__) for name in k.NAMES]"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"ROPEWALK_PURE": "1"},
    )
    assert [Path(line).name for line in done.stdout.split()] == [f"{name}.py" for name in kernels.NAMES]


def test_kernels_see_only_numbers() -> None:
    for name in kernels.NAMES:
        tree = ast.parse((PACKAGE / "kernels" / f"{name}.py").read_text(encoding="utf-8"))
        known = ("ropewalk.kernels", "cython", "math", "__future__", "typing", "dataclasses")
        foreign = {one for one in imports(tree) if not one.startswith(known)}
        assert not foreign, f"kernels/{name}.py imports {foreign}"
        assert not any(isinstance(node, ast.Raise) for node in ast.walk(tree)), f"kernels/{name}.py raises"


def test_every_command_has_a_file_and_is_in_the_reference() -> None:
    sys.path.insert(0, str(REPOSITORY / "docs"))
    try:
        from commands import pages
    finally:
        sys.path.pop(0)
    docs = REPOSITORY / "docs"
    written = pages()
    assert set(written) == {"commands.md", *(f"commands/{command}.md" for command in COMMANDS)}
    assert {f"commands/{page.name}" for page in (docs / "commands").iterdir()} == set(written) - {"commands.md"}
    for command in COMMANDS:
        assert written[f"commands/{command}.md"].startswith(f"# `ropewalk {command}`\n")
        assert f"Usage: ropewalk {command} " in written[f"commands/{command}.md"]
        assert f"(commands/{command}.md)" in written["commands.md"]
    for name, text in written.items():
        assert (docs / name).read_text(encoding="utf-8") == text, "run `make docs`"


def test_the_readme_and_architecture_name_what_exists() -> None:
    commands = [
        line
        for line in (REPOSITORY / "README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("python3 -m venv")
    ]
    assert len(commands) == 2
    assert all("-c constraints.txt" in command for command in commands)
    page = (REPOSITORY / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for part in {part_of(file) for file in modules()} - {"__init__"}:
        assert re.search(rf"`{part}(\.py|/)`", page), f"ARCHITECTURE.md does not place {part}"


def test_the_exact_versions_lie_in_the_declared_ranges() -> None:
    pinned = (REPOSITORY / "constraints.txt").read_text(encoding="utf-8").splitlines()[1:]
    names = {re.sub(r"[-_.]+", "-", line.split("==")[0]).lower() for line in pinned}
    assert all(re.fullmatch(r"[\w.-]+==[\w.+]+", line) for line in pinned)
    declared = re.findall(
        r'^\s*"([\w-]+)[><=]', (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    assert declared
    assert {name.lower() for name in declared} <= names


def test_the_oldest_versions_are_those_that_are_declared() -> None:
    words = [sys.executable, str(REPOSITORY / ".ci" / "oldest.py"), "serve", "test"]
    found = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    project = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    assert {f'"{line.replace("==", ">=")}' for line in found} <= set(re.findall(r'"[\w-]+>=[\d.]+', project))
    assert {"numpy", "onnxruntime", "rich", "typer", "uvicorn", "pytest"} <= {line.split("==")[0] for line in found}
    assert not {line.split("==")[0] for line in found} & {"ropewalk", "torch", "ray", "matplotlib"}


def test_the_changelog_and_the_citation_name_the_version() -> None:
    changes = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    citation = (REPOSITORY / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+?)(?:,|$)", changes, flags=re.MULTILINE)[0] == ropewalk.__version__
    assert re.findall(r"^version: (.+)$", citation, flags=re.MULTILINE) == [ropewalk.__version__]


def test_nothing_names_the_place_where_it_is_made() -> None:
    words = ["shared" + "/", "/wo" + "rk/", "/op" + "t/rw"]
    for file in tracked():
        if file.relative_to(REPOSITORY).as_posix() == ".ci/run":
            continue
        text = file.read_text(encoding="utf-8", errors="replace")
        assert not [word for word in words if word in text], file


def test_no_treebank_lies_in_the_repository() -> None:
    """The only CoNLL-U file is the invented example, and nothing but a model is large enough to hide another."""
    models = (PACKAGE / "data" / "models", REPOSITORY / "models")  # tests/test_packages.py says how large those may be
    for file in tracked():
        if file.suffix in {".conllu", ".conll", ".gz", ".xz", ".zip"}:
            assert file == REPOSITORY / "examples" / "sample.conllu"
        in_model = any(map(file.is_relative_to, models)) and (file.parent / "config.json").is_file()
        most = 1_000_000 if file == PACKAGE / "data" / "languages.int8" else 200_000  # weights of n-grams
        assert file.stat().st_size < most or in_model, file


NO_VERBS = frozenset({"Give", "Tell", "Say", "Take", "Whatever", "Lay", "Put", "What", "How"})


def test_docstrings_begin_with_plain_words() -> None:
    """Docstrings name an action or a thing first, in the words of docs that people know."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    wrong = [
        f"{path.relative_to(REPOSITORY)}:{getattr(node, 'lineno', 1)}: {docstring.splitlines()[0]}"
        for folder in ("src", "bench", "recipes", "docs", "tests")
        for path in sorted((REPOSITORY / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, documented) and (docstring := ast.get_docstring(node))
        if re.split(r"\W", docstring, maxsplit=1)[0] in NO_VERBS
    ]
    assert not wrong, "\n".join(wrong)


def test_wheels_are_left_out_by_platform() -> None:
    table = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    left_out = table["tool"]["cibuildwheel"]["skip"].split()
    assert left_out
    assert all(name.startswith("*-") for name in left_out)
