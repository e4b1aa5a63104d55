"""The program as people run it, without loading it anew for each command.

A process that has loaded what commands need is started once; it runs each command in a fork of itself, which has
arguments, folder, environment and streams of its own, and ends as a program ends. What is asked of the loading
itself, of signals or of terminals takes `PROGRAM`, which is started like any other.
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import json
import os
import pty
import socket
import struct
import subprocess
import sys
import termios
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TESTS = str(Path(__file__).parent)
PROGRAM = [sys.executable, "-c", "from ropewalk.cli import main; main()"]
TOY = [  # with a toy instead of a model
    sys.executable,
    "-c",
    (
        f"import sys; sys.path.insert(0, {TESTS!r}); import ropewalk.pipeline, pipeline_tools; "
        "ropewalk.pipeline.load = pipeline_tools.load; from ropewalk.cli import main; main()"
    ),
]
FORKING = (
    f"import sys; sys.path.insert(0, {TESTS!r}); import program_tools; program_tools.serve(sys.argv[1:]); "
    "from ropewalk.cli import main; main()"
)
LIGHT = (  # ONNX Runtime is not among them: what loaded it cannot be forked
    "importlib.metadata",
    "numpy.random",
    "rich.progress",
    "rich.table",
    "ropewalk.drawing",
    "ropewalk.encodings.hexatags",
    "ropewalk.encodings.positions",
    "ropewalk.encodings.transitions",
    "ropewalk.formats.ud",
    "ropewalk.reporting.plots",
    "ropewalk.scoring.conll18",
    "ropewalk.laboratory.coverage",
    "ropewalk.scoring.significance",
    "ropewalk.laboratory.statistics",
    "ropewalk.treebank.summary",
    "pipeline_tools",
)
HEAVY = (*LIGHT, "torch", "transformers", "ropewalk.training.training_run", "ropewalk.laboratory.experiment")
AT_START = ("ROPEWALK_PURE", "OMP_NUM_THREADS", "LC_ALL", "LANG")  # read when a program is loaded; so is PYTHON…
HEADER = 8  # bytes that say how long a message is
STARTED: dict[tuple[str, ...], Forking] = {}


def run(*words: object, **options: Any) -> subprocess.CompletedProcess[str]:  # noqa: ANN401 - those of `run_bytes`
    """Run a command, and take what it writes for text."""
    done = run_bytes(*words, **options)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def run_bytes(
    *words: object, stdin: bytes = b"", toy: bool = False, heavy: bool = False, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run a command: with the toy instead of a model, or by a process that has loaded torch too."""
    arguments = [str(word) for word in words]
    wanted = {**os.environ, **environment}
    forking = _forking(HEAVY if heavy else LIGHT)
    if _at_start(wanted) != forking.at_start:
        program = [*(TOY if toy else PROGRAM), *arguments]
        return subprocess.run(program, input=stdin, capture_output=True, check=False, env=wanted)
    return forking.run(arguments, {"folder": str(Path.cwd()), "environment": wanted, "toy": toy}, stdin)


def run_in_terminal(*words: object, columns: int = 80, heavy: bool = False, **environment: str) -> str:
    """Run a command that shall succeed in a terminal of `columns`, and return what that shows, of both streams."""
    wanted = {name: text for name, text in os.environ.items() if name not in {"COLUMNS", "NO_COLOR"}} | environment
    around = {"folder": str(Path.cwd()), "environment": {"TERM": "xterm", **wanted}, "toy": False}
    done = _forking(HEAVY if heavy else LIGHT).run([str(word) for word in words], around, b"", columns=columns)
    shown = done.stdout.decode()
    assert done.returncode == 0, shown
    return shown.replace("\r\n", "\n")


def terminal_of(columns: int) -> tuple[int, int]:
    """Open a pseudo-terminal of a width, and return its two ends: ours, and the program's."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    return ours, theirs


def _at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in environment.items() if name in AT_START or name.startswith("PYTHON")}


def _forking(modules: tuple[str, ...]) -> Forking:
    if modules not in STARTED:
        STARTED[modules] = Forking(modules)
    return STARTED[modules]


def end_all() -> None:
    """End what was started; `conftest.py` asks for it when all tests are done."""
    while STARTED:
        STARTED.popitem()[1].close()


class Forking:
    """The process that forks, as seen from the tests."""

    def __init__(self, modules: Sequence[str]) -> None:
        self.at_start = _at_start(os.environ)
        self._channel, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", FORKING, str(theirs.fileno()), *modules],
                stdin=subprocess.PIPE,  # pipes, as its children will have them
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
                env={"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", **os.environ},
            )

    def close(self) -> None:
        """End the process."""
        self._channel.close()
        self._process.communicate()

    def run(
        self, arguments: list[str], around: Mapping[str, object], stdin: bytes, *, columns: int = 0
    ) -> subprocess.CompletedProcess[bytes]:
        """Run one command, with pipes for its streams, or with a terminal of `columns` for what it writes."""
        pipes = [os.pipe(), *([terminal_of(columns), os.pipe()] if columns else [os.pipe(), os.pipe()])]
        theirs = [pipes[0][0], pipes[1][1], pipes[2][1]]
        message = json.dumps({"arguments": arguments, **around}).encode()
        streams = [*theirs[:2], theirs[1]] if columns else theirs
        socket.send_fds(self._channel, [len(message).to_bytes(HEADER)], streams)
        self._channel.sendall(message)
        for number in theirs:
            os.close(number)
        with ThreadPoolExecutor(3) as pool:
            pool.submit(_write, pipes[0][1], stdin)
            out, err = (pool.submit(_read, reading) for reading, _ in pipes[1:])
        answer = self._channel.recv(HEADER)
        assert answer, f"what runs commands ended: {self._process.communicate()[1].decode()}"
        code = int.from_bytes(answer, signed=True)
        return subprocess.CompletedProcess(arguments, code, out.result(), err.result())


def _write(number: int, data: bytes) -> None:
    with suppress(BrokenPipeError), os.fdopen(number, "wb") as stream:
        stream.write(data)


def _read(number: int) -> bytes:
    seen = b""
    with suppress(OSError):  # how the end of a terminal shows
        while block := os.read(number, 1 << 16):
            seen += block
    os.close(number)
    return seen


def serve(given: Sequence[str]) -> None:
    """Fork for each command that comes; only a fork returns, as the process that a shell would have started."""
    channel = socket.socket(fileno=int(given[0]))
    for module in given[1:]:
        importlib.import_module(module)
    for module in importlib.import_module("ropewalk.cli").COMMANDS:
        importlib.import_module(f"ropewalk.cli.{module.replace('-', '_')}")
    gc.collect()
    gc.freeze()
    while True:
        size, streams, _, _ = socket.recv_fds(channel, HEADER, 3)
        if not size:
            os._exit(0)
        message = b""
        while len(message) < int.from_bytes(size):
            message += channel.recv(1 << 16)
        child = os.fork()
        if not child:
            channel.close()
            _become(json.loads(message), streams)
            return
        for number in streams:
            os.close(number)
        _, status = os.waitpid(child, 0)
        channel.sendall(os.waitstatus_to_exitcode(status).to_bytes(HEADER, signed=True))


def _become(command: dict[str, Any], streams: Sequence[int]) -> None:
    """Adopt the streams and the environment of the command."""
    for here, there in enumerate(streams):
        os.dup2(there, here)
        os.close(there)
    os.chdir(command["folder"])
    os.environ.clear()
    os.environ.update(command["environment"])
    sys.argv[1:] = command["arguments"]
    if command["toy"]:
        pipeline = importlib.import_module("ropewalk.pipeline")
        pipeline.load = importlib.import_module("pipeline_tools").load  # type: ignore[attr-defined] # in its place
