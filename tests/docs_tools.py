"""Tools for the tests of the documentation: the code blocks of its pages, and a program that starts at once.

Run as a program, this file loads what `ropewalk` needs and then runs each command it is sent in a fork of itself, so
that a page of twenty commands does not load everything twenty times: `python docs_tools.py ADDRESS [MODULE …]`.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import json
import os
import re
import shlex
import shutil
import signal
import socket
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

REPOSITORY = Path(__file__).parent.parent
FENCE = re.compile(
    r"^(?:<!-- not run: (?P<reason>.+?) -->\n)?```(?P<language>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
FLAGS = {  # what makes a command one that a test can wait for
    "train": [
        *("--set", "training.epochs=1", "--set", "training.device=cpu", "--set", "training.threads=1"),
        *("--set", "model.hidden=16", "--set", "model.encoder.kind=bilstm", "--set", "model.encoder.hidden=16"),
        *("--set", "model.encoder.name=", "--set", "model.encoder.freeze_embeddings=false"),
        *(
            "--set",
            "model.encoder.pooling=first",
            "--set",
            "model.encoder.casing=auto",
        ),  # options of a transformer would be refused
        *("--set", "model.encoder.depth=1", "--set", "training.accumulate=1", "--set", "training.precision=no"),
    ],
    "train-segmenter": ["--set", "training.epochs=1", "--set", "training.threads=1"],
    "compare": ["--samples", "100"],
}
KEPT = {"train", "train-segmenter", "export"}
ONLY_CHECKED = {
    "build",
    "corpus",
    "serve",
}  # what takes long, needs Ray or runs beside the page: each has tests of its own
CLIENT = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    socket.send_fds(server, [b"."], [0, 1, 2])
    server.sendall(json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode())
    server.shutdown(socket.SHUT_WR)
    sys.exit(int(server.recv(16) or b"1"))
"""


@dataclass(frozen=True)
class Block:
    """A block of code in a page; `reason` says why it is not run, if the page says so."""

    page: str
    line: int
    language: str
    text: str
    reason: str

    @property
    def place(self) -> str:
        """The file and the line of its first line."""
        return f"{self.page}:{self.line}"


def blocks(page: str) -> list[Block]:
    """Find the blocks of code of a page, which is named as seen from the repository."""
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    found = [
        Block(page, text.count("\n", 0, one.start("text")) + 1, one["language"], one["text"], one["reason"] or "")
        for one in FENCE.finditer(text)
    ]
    assert text.count("\n```") + text.startswith("```") == 2 * len(found), f"{page}: a block that is not closed"
    return found


def commands(script: str) -> list[list[str]]:
    """Split a shell script into the words of its commands without running it, without comments and redirections."""
    plain = re.sub(r"(^|\s)#.*$", "", script.replace("\\\n", " "), flags=re.MULTILINE)
    words = shlex.shlex(plain, posix=True, punctuation_chars="();<>|&\n")
    words.whitespace, words.whitespace_split, words.commenters = " \t", True, ""
    out: list[list[str]] = [[]]
    for word in words:
        if set(word) <= set("();|&\n"):
            out.append([])
        else:
            out[-1].append(word)
    return [command for command in out if command]


@functools.cache
def program() -> Any:  # noqa: ANN401 - typer gives it no type
    """Return the click command, to read arguments without executing them."""
    import typer

    from ropewalk.cli import COMMANDS, app_of

    return typer.main.get_command(app_of(COMMANDS))


def check_arguments(arguments: Sequence[str]) -> None:
    """Raise an error of click if a command line is none that the program takes."""
    whole = program()
    name, *rest = arguments
    command = whole.get_command(None, name)
    assert command is not None, f"there is no command {name!r}"
    command.make_context(name, list(rest)).close()


def run(arguments: list[str], store: Path) -> None:
    """Do as `ropewalk` does with these arguments; what takes longest is not done again for another page."""
    from ropewalk.cli import main

    if arguments[:1] and arguments[0] in KEPT:
        out = Path(arguments[arguments.index("-o") + 1])
        kept = store / hashlib.sha256(repr(arguments).encode()).hexdigest()
        if not kept.exists():
            with contextlib.suppress(SystemExit):
                _run(main, arguments)
            shutil.copytree(out, kept)
        elif not out.exists():
            shutil.copytree(kept, out)
        return
    _run(main, arguments)


def _run(main: Callable[[], None], arguments: list[str]) -> None:
    if arguments[:1] and arguments[0] in ONLY_CHECKED and not os.environ.get("ROPEWALK_DOCS_RUN_ALL"):
        check_arguments(arguments)
        return
    sys.argv = ["ropewalk", *arguments, *FLAGS.get(arguments[0] if arguments else "", [])]
    main()


def answer(server: socket.socket, store: Path) -> None:
    """Receive one command, run it as if its sender did, and send its exit code."""
    _, files, _, _ = socket.recv_fds(server, 1, 3)
    given = b"".join(iter(lambda: server.recv(65536), b""))
    arguments, folder, environment = json.loads(given)
    for here, there in enumerate(files):
        os.dup2(there, here)
        os.close(there)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:0] = [place for place in environment.get("PYTHONPATH", "").split(os.pathsep) if place not in sys.path]
    importlib.invalidate_caches()  # the page may have put something there since this program began
    code = 1
    try:
        run(arguments, store)
        code = 0
    except SystemExit as done:
        code = done.code if isinstance(done.code, int) else int(done.code is not None)
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        server.sendall(str(code).encode())


def export_once() -> None:
    """Let torch load all that an export needs, which takes it seconds and is then shared by all commands."""
    import logging
    import warnings

    import torch

    logging.getLogger("torch").setLevel(logging.ERROR)
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(torch.nn.Linear(2, 1).eval(), (torch.zeros(3, 2),), dynamo=True, verbose=False)


def serve(address: str, modules: Sequence[str]) -> None:
    """Run commands until ended."""
    for module in modules:
        importlib.import_module(module)
    if "torch" in modules:
        export_once()
    signal.signal(signal.SIGCHLD, _bury)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(8)
        while True:
            server, _ = listening.accept()
            with server:
                if not os.fork():
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    listening.close()
                    try:
                        answer(server, Path(address).parent)
                    finally:
                        os._exit(0)


def _bury(*_: object) -> None:
    """Wait for forks that ended, so that their time is counted as that of the tests."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def install_example(name: str, site: Path) -> None:
    """Install the package that a page shows as pip would: its module, and what names its entry point."""
    page = blocks(name)
    text, project = (next(block.text for block in page if block.language == one) for one in ("python", "toml"))
    groups = tomllib.loads(project)["project"]["entry-points"]
    (module,) = {target.partition(":")[0] for one in groups.values() for target in one.values()}
    metadata = site / f"{module}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (site / f"{module}.py").write_text(text, encoding="utf-8")
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", encoding="utf-8")
    lines = [f"[{group}]\n{name} = {target}\n" for group, one in groups.items() for name, target in one.items()]
    (metadata / "entry_points.txt").write_text("".join(lines), encoding="utf-8")


def inline_commands(page: str) -> Iterator[list[str]]:
    """Find commands of the program that stand in running text and in tables."""
    text = FENCE.sub("", (REPOSITORY / page).read_text(encoding="utf-8"))
    for found in re.finditer(r"`ropewalk ([a-z][a-z-]*(?: [^`]+)?)`", text.replace("\n", " ")):
        yield from commands(f"ropewalk {found[1]}".replace("\\|", "|"))


def pretend_to_install(arguments: Sequence[str]) -> str:
    """Stand for pip: install nothing, but say what is wrong if there is no such extra."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [found for word in arguments if (found := re.fullmatch(r"(?:ropewalk|\.)(?:\[([\w,]+)\])?", word))]
    asked = {extra for found in wanted if found[1] for extra in found[1].split(",")}
    return "" if wanted and asked <= set(project["optional-dependencies"]) else f"pip cannot install {arguments}"


if __name__ == "__main__":
    if sys.argv[1] == "--pip":
        sys.exit(pretend_to_install(sys.argv[2:]) or 0)
    serve(sys.argv[1], sys.argv[2:])
