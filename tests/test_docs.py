"""Every block of code in the README and in the documentation is run, in order, as a newcomer would.

Commands run in a folder that holds what the pages speak of: a book, documents, treebanks of a few invented sentences
under the names of real ones. Training takes one epoch of a tiny network. What is not run says why in its page, and is
still checked: the commands exist and take these options.
"""

from __future__ import annotations

import contextlib
import doctest
import lzma
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest

from docs_tools import CLIENT, REPOSITORY, blocks, check_arguments, commands, inline_commands, install_example
from ropewalk import conllu, decoding, formats
from ropewalk.encodings import registry
from ropewalk.models.catalogue import offered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from docs_tools import Block

PAGES = sorted(
    str(page.relative_to(REPOSITORY))
    for page in (
        *REPOSITORY.glob("*.md"),
        *REPOSITORY.glob("docs/*.md"),
        *REPOSITORY.glob("docs/commands/*.md"),
        *REPOSITORY.glob("bench/peers/*.md"),
    )
)
WITH_CODE = [page for page in PAGES if any(block.language in {"bash", "python"} for block in blocks(page))]
LANGUAGES = {"bash", "python", "text", "toml", "nginx", "r"}
NOT_RUN = {  # how many blocks of each page are not run; each says why
    "README.md": 2,
    "bench/peers/README.md": 2,
    "docs/README.md": 1,
    "docs/build.md": 6,
    "docs/corpus.md": 1,
    "docs/decoding.md": 1,
    "docs/models.md": 1,
    "docs/own-endpoint.md": 1,
    "docs/recipes.md": 1,
    "docs/results.md": 3,
    "docs/serving.md": 2,
    "docs/start.md": 1,
    "docs/tables.md": 2,
    "docs/training.md": 1,
}
TORCH = {
    "README.md",
    "docs/graphs.md",
    "docs/laboratory.md",
    "docs/models.md",
    "docs/paper.md",
    "docs/segmentation.md",
    "docs/training.md",
}
RAY = "docs/corpus.md"
GENERATED = {"docs/commands.md", "docs/encodings-list.md", "docs/languages.md", "docs/options.md"}
GUIDES = ["README.md", *(page for page in PAGES if page.startswith("docs/") and page.count("/") == 1)]
MOST_WORDS = 32_000
BOOK = (
    "The old rope maker walked backwards all day. She twisted hemp, and her daughter turned the wheel.\n\n"
    'Nobody bought the rope. "Who needs it?" she asked. They don\'t sail any more, the sailors said, '
    "and the long ropes lay in the harbour.\n"
)
SENTENCES = "The rope is long .\nShe walks backwards .\n"
SPLITS = ("train", "dev", "test")
TREEBANKS = {"UD_English-EWT": "en_ewt", "UD_Tamil-TTB": "ta_ttb", "UD_Uyghur-UDT": "ug_udt", "UD_Wolof-WTB": "wo_wtb"}


def treebank(sentences: int, seed: int) -> bytes:
    """Invent a treebank that is valid: its graphs are its trees, and spaces stand between all words."""
    from training_tools import bank_of

    parts = []
    for number, sentence in enumerate(bank_of(sentences, seed=seed), 1):
        rows = [f"# sent_id = {number}", f"# text = {' '.join(sentence.forms)}"]
        for word, head in zip(sentence, sentence.heads, strict=True):
            cells = (word.index, word.text, word.lemma, word.upos, word.xpos, "_", head, word.relation)
            rows.append("\t".join(map(str, (*cells, f"{head}:{word.relation}", "_"))))
        parts.append("\n".join(rows) + "\n\n")
    return "".join(parts).encode()


@pytest.fixture(scope="module")
def materials(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files that the pages mention, made once."""
    home = tmp_path_factory.mktemp("materials")
    for name in ("book.txt", "article.txt", "lines.txt", "text.txt", "letters/one.txt", "documents/one.txt"):
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text(BOOK, encoding="utf-8")
    for name in ("sentences.txt", "lines.txt"):
        (home / name).write_text(SENTENCES, encoding="utf-8")
    sample = (REPOSITORY / "examples" / "sample.conllu").read_bytes()
    names = ("a", "b", "big", "corpus", "gold", "in", "mine", "parsed", "predicted", "treebank", "corpus/one")
    (home / "corpus").mkdir()
    for name in names:
        (home / f"{name}.conllu").write_bytes(sample)
    (home / "a.conllu.xz").write_bytes(lzma.compress(sample))
    (home / "b.sdp").write_text("#SDP 2015\n#1\n1\tRopes\trope\tNNS\t-\t-\t_\n2\tbreak\tbreak\tVBP\t+\t-\t_\n\n")
    parts = [treebank(size, seed) for seed, size in enumerate((60, 20, 20))]
    for folder, prefix in TREEBANKS.items():
        for place in (home / folder, home / "UD" / folder):
            place.mkdir(parents=True)
            for split, part in zip(SPLITS, parts, strict=True):
                (place / f"{prefix}-ud-{split}.conllu").write_bytes(part)
    for split, part in zip(SPLITS, parts, strict=True):
        for name in (f"fr_gsd-ud-{split}.conllu", f"{split}.conllu"):
            (home / name).write_bytes(part)
        conllu.write(home / f"{split}.conllx", conllu.read(home / f"{split}.conllu"))
    shutil.copy(home / "test.conllx", home / "parsed.conllx")
    links = {name: REPOSITORY / name for name in ("configs", "examples", "bench", "constraints.txt")}
    links |= dict.fromkeys(("ud-2.14", "ud-2.15", "ud-2.16"), Path("UD"))
    for name, target in links.items():
        (home / name).symlink_to(target)
    return home


@pytest.fixture
def workshop(materials: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own for a page, with the materials in it."""
    home = tmp_path / "workshop"
    shutil.copytree(materials, home, symlinks=True)
    monkeypatch.chdir(home)
    monkeypatch.setenv("ROPEWALK_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.syspath_prepend(str(home / "site-packages"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(home / "site-packages"), *sys.path[1:]]))
    return home


def started(modules: list[str]) -> Iterator[Path]:
    """Start what runs commands at once, and give a folder of programs for it."""
    with tempfile.TemporaryDirectory() as folder:  # the address of a socket must be short
        place = Path(folder)
        address = str(place / "socket")
        tools = Path(__file__).parent / "docs_tools.py"
        process = subprocess.Popen(
            [sys.executable, str(tools), address, *modules],
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            stdout=subprocess.DEVNULL,
        )
        programs = {
            "ropewalk": CLIENT.format(python=sys.executable, address=address),
            "pip": f'#!/bin/sh\nexec {sys.executable} {tools} --pip "$@"\n',
            "python": f'#!/bin/sh\nexec {sys.executable} "$@"\n',
        }
        for name, text in programs.items():
            (place / name).write_text(text, encoding="utf-8")
            (place / name).chmod(0o755)
        try:
            wait_for(lambda: Path(address).exists())
            yield place
        finally:
            process.kill()
            process.wait()


def wait_for(ready: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not ready():
        assert time.monotonic() < end, "it did not begin within two minutes"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def light() -> Iterator[Path]:
    yield from started(["ropewalk.cli", "numpy", "onnxruntime", "ropewalk.pipeline", "ropewalk.drawing"])


@pytest.fixture(scope="module")
def heavy() -> Iterator[Path]:
    yield from started(["ropewalk.cli", "onnxruntime", "torch", "ropewalk.training.export", "ropewalk.pipeline"])


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """`ropewalk serve`, and its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-m", "ropewalk", "serve", "--port", str(port)])

    def answers() -> bool:
        with contextlib.suppress(urllib.error.URLError, ConnectionError):
            return bool(urllib.request.urlopen(f"http://127.0.0.1:{port}/ready").status == 200)
        return False

    try:
        wait_for(answers)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        assert process.wait() == 0


def shards() -> None:
    """Write what the run of a corpus in the page would have written."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from ropewalk.corpus import Annotate

    Path("parsed/data").mkdir(parents=True)
    Path("parsed/errors").mkdir()
    documents = pa.table({"id": ["one", "two"], "text": [BOOK, BOOK]})
    pq.write_table(Annotate("en")(documents), "parsed/data/part-000000.parquet")
    Path("parsed/errors/part-000000.jsonl").write_text('{"id": "three", "reason": "it is empty"}\n', encoding="utf-8")


PREPARATIONS: dict[str, Callable[[], None]] = {
    "docs/own-encoding.md": lambda: install_example("docs/own-encoding.md", Path("site-packages")),
    "docs/own-decoder.md": lambda: install_example("docs/own-decoder.md", Path("site-packages")),
    "docs/own-format.md": lambda: install_example("docs/own-format.md", Path("site-packages")),
    RAY: shards,
}


def run_python(block: Block, text: str, names: dict[str, Any]) -> None:
    if text.startswith(">>> "):
        found = doctest.DocTestParser().get_doctest(text, names, block.place, block.page, block.line)
        told: list[str] = []
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        assert runner.run(found, out=told.append, clear_globs=False).failed == 0, "".join(told)
        names.update(found.globs)
    else:
        exec(compile("\n" * (block.line - 1) + text, block.page, "exec"), names)  # noqa: S102 - our own documentation


def run_shell(block: Block, text: str, programs: Path) -> None:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, f"{block.place}\n{text}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"


def run_page(page: str, programs: Path, address: str = "") -> None:
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks(page):
        text = block.text.replace("127.0.0.1:8080", address) if address else block.text
        if block.reason:
            continue
        if block.language == "python":
            run_python(block, text, names)
        elif block.language == "bash":
            run_shell(block, text, programs)


@pytest.mark.usefixtures("workshop")
@pytest.mark.parametrize("page", WITH_CODE)
def test_the_code_of_a_page_runs(page: str, request: pytest.FixtureRequest) -> None:
    text = "".join(block.text for block in blocks(page) if not block.reason)
    for tool in ("curl", "jq"):
        if tool in text and not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")
    address = request.getfixturevalue("server") if "127.0.0.1:8080" in text else ""
    registry.installed.cache_clear()  # a page may bring one of its own
    formats.known.cache_clear()
    decoding.known.cache_clear()
    PREPARATIONS.get(page, lambda: None)()
    try:
        run_page(page, request.getfixturevalue("heavy" if page in TORCH else "light"), address)
    finally:
        registry.installed.cache_clear()
        formats.known.cache_clear()
        decoding.known.cache_clear()
        for module in ("letters", "arcs", "attach"):
            sys.modules.pop(module, None)


@pytest.mark.cluster
@pytest.mark.usefixtures("workshop")
def test_the_page_on_corpora_runs_with_ray(light: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROPEWALK_DOCS_RUN_ALL", "1")
    shutil.rmtree("documents")
    run_page(RAY, light)


def test_nothing_is_left_out_without_a_reason() -> None:
    counted = {page: sum(bool(block.reason) for block in blocks(page)) for page in PAGES}
    assert {page: many for page, many in counted.items() if many} == NOT_RUN
    for page in PAGES:
        for block in blocks(page):
            assert block.language in LANGUAGES, block.place
            generated = page.startswith("docs/commands")
            code = re.search(r"^(\$ )?(ropewalk|pip|python3?|import|from \w+ import) ", block.text, re.MULTILINE)
            assert generated or block.language != "text" or not code, f"{block.place} is code"


def test_names_that_pages_take_from_the_package_are_public() -> None:
    import ropewalk

    taken = set()
    for page in PAGES:
        for block in blocks(page):
            for names in re.findall(r"^(?:>>> )?\s*from ropewalk import (.+)$", block.text, re.MULTILINE):
                taken |= {name.split()[0] for name in names.strip("()").split(",")}
            taken |= set(re.findall(r"\bropewalk\.(\w+)\(", block.text))
    assert {"conllu", "deps", "load", "sdp"} <= taken
    modules = {file.stem for file in Path(ropewalk.__file__).parent.iterdir() if not file.stem.startswith("_")}
    assert taken <= {*ropewalk.__all__, *modules}


@pytest.mark.parametrize("page", PAGES)
def test_commands_that_pages_name_exist_and_take_their_options(page: str) -> None:
    for block in blocks(page):
        if block.reason:
            for command in commands(block.text):
                check(command, block.place)
    for command in inline_commands(page):
        check(command, page, whole=False)


def check(command: list[str], place: str, *, whole: bool = True) -> None:
    """Check a command that is not run; one in running text may leave out what does not matter there."""
    name, *arguments = [word for word in command if not re.fullmatch(r"\w+=.*", word)] or [""]
    if Path(name).name == "ropewalk":
        try:
            check_arguments(arguments)
        except click.NoSuchOption as wrong:
            pytest.fail(f"{place}: {' '.join(command)}: {wrong}")
        except click.UsageError as wrong:
            if whole:
                pytest.fail(f"{place}: {' '.join(command)}: {wrong}")
    elif name.startswith("python") and arguments and arguments[0].endswith(".py") and "/" in arguments[0]:
        source = (REPOSITORY / arguments[0]).read_text(encoding="utf-8")
        for option in arguments[1:]:
            assert not option.startswith("--") or f'"{option}"' in source, f"{place}: {arguments[0]} has no {option}"


def test_a_command_that_does_not_exist_is_found() -> None:
    check(["ropewalk", "parse", "--jobs", "2", "a.txt"], "here")
    with pytest.raises(pytest.fail.Exception, match="No such option"):
        check(["ropewalk", "parse", "--jbos", "2", "a.txt"], "here")
    with pytest.raises(AssertionError, match="no command 'prase'"):
        check(["ropewalk", "prase"], "here")
    with pytest.raises(AssertionError, match="has no --jbos"):
        check(["python", "bench/corpus.py", "--jbos", "2"], "here")
    assert commands("a 'b c' | d > e  # f\n( g \\\n h & )\n") == [["a", "b c"], ["d", ">", "e"], ["g", "h"]]


def places(page: Path) -> set[str]:
    """The names of a page's headings, as forges and the site make them."""
    out = set()
    for title in re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
        out.add(re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-"))
    return out


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    file = REPOSITORY / page
    text = re.sub(r"```.*?```|`[^`\n]*`", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)|(?:href|src)=\"([^\"]+)\"", text):
        address, _, place = (link[0] or link[1]).partition("#")
        if address.startswith(("http://", "https://")):
            continue
        aim = (file.parent / address).resolve() if address else file
        assert aim.is_file(), f"{page}: {address}"
        assert not place or place in places(aim), f"{page}: {address}#{place}"


def test_our_figures_beside_published_ones_are_those_that_were_measured() -> None:
    def rows(page: str) -> list[list[str]]:
        text = (REPOSITORY / "docs" / page).read_text(encoding="utf-8").replace("\\_", "_")
        return [[cell.strip() for cell in line.strip("| ").split("|")] for line in text.splitlines() if "|" in line]

    shown = {
        row[0].partition("`")[2]: row[2:] for row in rows("published-peers.md") if row[0].startswith("Ropewalk 0.2")
    }
    english: dict[str, list[str]] = {}  # LAS with words given, then from text
    for row in rows("peers.md"):
        if row[0].startswith("Ropewalk, ") and len(row) == 12:
            english.setdefault(row[0].removeprefix("Ropewalk, "), []).append(row[8])
    for name in ("en", "en-accurate"):
        assert shown[f"{name}`"][:2] == english[name][::-1]
    (others,) = (row for name, row in shown.items() if name.startswith("fr"))
    las = {row[1]: row[9] for row in rows("udpipe.md") if row[1:] and row[1].startswith("Ropewalk, ")}
    assert others[2:] == [las[f"Ropewalk, {name}"] for name in ("fr", "vi", "wo", "ug", "ta")]


def test_the_lists_that_the_program_makes_are_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY / "docs"))
    import list_encodings
    import list_options

    docs = REPOSITORY / "docs"
    for page, made in (("encodings-list.md", list_encodings.listing()), ("options.md", list_options.listing())):
        assert (docs / page).read_text(encoding="utf-8") == made, "run `make docs`"


def test_the_pages_that_name_languages_are_those_of_the_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY / "docs"))
    import list_languages

    for page, made in list_languages.written().items():
        assert page.read_text(encoding="utf-8") == made, f"{page.name}: run `make models`"
    screen = (REPOSITORY / "README.md").read_text(encoding="utf-8").partition("\n```bash")[0]
    for model in offered():
        assert re.search(rf"[:,] {re.escape(model.language)}[,.]", screen), model.name
    systems = list_languages.published()
    treebanks = list_languages.treebanks()
    assert all(0 < las < 100 for system in systems for las in system["las"].values())
    assert {name for system in systems for name in system["las"]} <= treebanks.keys()
    assert all(name in treebanks for row in list_languages.rows() for name in row.treebanks)


def test_every_option_of_training_is_explained_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY / "docs"))
    from list_options import MODELS, options

    for _, kind, _ in MODELS:
        for option in options(kind):
            assert 0 < len(option.about) <= 90, option.name


def test_every_page_has_a_place_on_the_site_and_every_public_name_in_its_reference() -> None:
    import ropewalk

    contents = (REPOSITORY / "docs" / "site" / "contents.md").read_text(encoding="utf-8")
    names = re.findall(r"^(?:.*<)?([\w/-]+)>?$", contents, re.MULTILINE)
    listed = {name.removeprefix("/") if name.startswith("/") else f"docs/{name}" for name in names}
    listed |= {page.removesuffix(".md") for page in PAGES if page.startswith("docs/commands/")}  # by docs/conf.py
    assert {page.removesuffix(".md") for page in PAGES} - {"docs/README"} <= listed
    reference = "".join(page.read_text(encoding="utf-8") for page in (REPOSITORY / "docs" / "reference").glob("*.rst"))
    for name in set(ropewalk.__all__) - {"__version__"}:
        assert re.search(rf"ropewalk\.(formats\.)?{name}$", reference, re.MULTILINE), name


def test_the_documentation_is_short() -> None:
    pages = {page: (REPOSITORY / page).read_text(encoding="utf-8").split() for page in GUIDES if page not in GENERATED}
    assert len(pages) > 40
    words = {page: sum(bool(re.search(r"\w", word)) for word in text) for page, text in pages.items()}  # | is no word
    assert sum(words.values()) <= MOST_WORDS, sorted(words.items(), key=lambda page: -page[1])


@pytest.mark.parametrize("page", [page for page in GUIDES if page not in {"README.md", "docs/README.md"} | GENERATED])
def test_a_page_begins_with_what_its_reader_can_do(page: str) -> None:
    title, empty, first = (REPOSITORY / page).read_text(encoding="utf-8").splitlines()[:3]
    assert title.startswith("# ")
    assert not empty
    assert first.startswith("After this page you ")


def test_the_readme_shows_all_that_matters_before_its_first_table() -> None:
    screen = (REPOSITORY / "README.md").read_text(encoding="utf-8").partition("\n| ")[0]
    assert len(screen.splitlines()) <= 50
    for part in ("![", "pip install", "ropewalk parse", "import ropewalk", "**What it is good at**", "**Who should"):
        assert part in screen, part
    assert "LAS, no subtypes" in (REPOSITORY / "README.md").read_text(encoding="utf-8")


def test_installing_is_said_in_one_way() -> None:
    for page in PAGES:
        for command in re.findall(
            r"pip install [^`\n]*\.?\[[a-z,]+\][^`\n]*", (REPOSITORY / page).read_text(encoding="utf-8")
        ):
            assert "-c constraints.txt" in command, f"{page}: {command}"
            assert "'ropewalk[" not in command, f"{page}: {command}"


def test_the_map_of_the_code_is_short() -> None:
    assert len((REPOSITORY / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()) <= 200


@pytest.mark.parametrize("page", PAGES)
def test_tables_are_whole(page: str) -> None:
    text = re.sub(r"```.*?```", "", (REPOSITORY / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    for part in re.split(r"\n\s*\n", text):
        lines = part.strip("\n").splitlines()
        if any(line.startswith("|") for line in lines):
            assert all(line.startswith("|") and line.endswith("|") for line in lines), f"{page}: {lines[0]}"
            assert re.fullmatch(r"\|( :?-+:? \|)+", lines[1]), f"{page}: {lines[0]}"
            cells = [re.sub(r"`[^`]*`|\\\|", "", line).count("|") for line in lines]
            assert len(set(cells)) == 1, f"{page}: {lines[0]}"
