"""A cluster of two nodes on this machine that loses a worker, a node and the driver: nothing is lost or doubled."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpus_tools import expected, rows, text
from process_tools import children, kill, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.cluster
HEAD, SECOND = "127.0.0.2", "127.0.0.3"  # on the loopback interface; Ray would change 127.0.0.1 to another
PORTS = ("dashboard-agent-grpc-port", "dashboard-agent-listen-port", "metrics-export-port", "runtime-env-agent-port")
ENVIRONMENT = {
    "RAY_AUTH_MODE": "token",  # a token of this cluster alone
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
    "RAY_agent_register_timeout_ms": "300000",
}
SECONDS = 240  # that anything may take on a busy machine
TEXTS = {f"d{number}": text(number, 60) for number in range(240)}  # far more work than the nodes take to begin


class Node:
    """A node of a cluster, and all that it starts."""

    def __init__(self, ip: str, *words: str) -> None:
        common = [
            "--num-cpus=1",
            f"--node-ip-address={ip}",
            "--object-store-memory=100000000",
            "--disable-usage-stats",
            # Ports that are given need not be waited for; on a busy machine Ray does not wait long enough.
            *(f"--{name}={free_port(ip)}" for name in PORTS),
        ]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ray.scripts.scripts", "start", *words, *common, "--block"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | ENVIRONMENT,
        )

    def kill(self) -> None:
        """End all of it at once, as when a machine loses power."""
        for process in children(self._process.pid):
            kill(process)
        self._process.kill()
        self._process.wait()


@pytest.fixture
def cluster() -> Iterator[tuple[str, Node]]:
    port = free_port(HEAD)
    address = f"{HEAD}:{port}"
    head = Node(HEAD, "--head", f"--port={port}", "--include-dashboard=false")
    second: Node | None = None
    try:
        wait_until(lambda: is_open(port), SECONDS)
        second = Node(SECOND, f"--address={address}")
        wait_for_nodes(address, 2)
        yield address, second
    finally:
        if second is not None:
            second.kill()
        head.kill()


def wait_for_nodes(address: str, count: int) -> None:
    """Wait until so many nodes of a cluster take work: work that begins earlier may end before the last has joined."""
    program = (
        "import sys, time, ray\n"
        "ray.init(address=sys.argv[1], log_to_driver=False)\n"
        "while sum(node['Alive'] for node in ray.nodes()) < int(sys.argv[2]):\n"
        "    time.sleep(0.05)\n"
    )
    subprocess.run(
        [sys.executable, "-c", program, address, str(count)],
        check=True,
        capture_output=True,
        env=os.environ | ENVIRONMENT,
        timeout=SECONDS,
    )


def free_port(ip: str) -> int:
    """Find a port that nobody listens on."""
    with socket.socket() as free:
        free.bind((ip, 0))
        return int(free.getsockname()[1])


def is_open(port: int) -> bool:
    """Whether somebody listens."""
    with socket.socket() as tried:
        return tried.connect_ex((HEAD, port)) == 0


def done(out: Path) -> int:
    """Return the number of parts that are done."""
    return len(list((out / "done").glob("part-*.json"))) if (out / "done").is_dir() else 0


def working() -> list[int]:
    """The workers that do a part just now."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            command = (folder / "cmdline").read_bytes()
        except OSError:  # no process, or no more
            continue
        if command.startswith(b"ray::MapBatches(_applied)"):
            found.append(int(folder.name))
    return found


@contextlib.contextmanager
def driver(address: str, source: Path, out: Path) -> Iterator[subprocess.Popen[str]]:
    # Relative paths, which mean nothing in the folder that the nodes were started in.
    words = [source.name, "-o", out.name, "--shard-size", "0.016", "--address", address]
    program = [sys.executable, "-m", "ropewalk", "corpus", *words]
    environment = os.environ | ENVIRONMENT
    with subprocess.Popen(
        program, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment, cwd=source.parent
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_worker_a_node_and_the_driver_are_killed(cluster: tuple[str, Node], tmp_path: Path) -> None:
    address, second = cluster
    source, out = tmp_path / "in.parquet", tmp_path / "out"
    pq.write_table(pa.table({"id": list(TEXTS), "text": list(TEXTS.values())}), source)
    with driver(address, source, out) as first:
        # A node has one core: two workers mean that both nodes work.
        wait_until(lambda: (done(out) >= 1 and len(working()) == 2) or first.poll() is not None, SECONDS)
        assert first.poll() is None, first.communicate()[1]
        kill(working()[0])
        reached = done(out)
        wait_until(lambda: done(out) >= reached + 2, SECONDS)
        second.kill()
        reached = done(out)
        wait_until(lambda: done(out) >= reached + 2, SECONDS)
        first.kill()
    parts = len(json.loads((out / "manifest.json").read_text(encoding="utf-8"))["inputs"][0]["cuts"]) - 1
    reached = done(out)
    assert 5 <= reached < parts, f"{reached} of {parts} parts were done when the driver was killed"
    with driver(address, source, out) as again:
        _, said = again.communicate(timeout=SECONDS)
        assert again.returncode == 0, said
    assert done(out) == parts
    found = rows(out)
    assert [row["id"] for row in found] == list(TEXTS)
    assert found == expected(TEXTS)
    assert not [file for file in (out / "data").iterdir() if file.suffix != ".parquet"]
    assert json.loads((out / "report.json").read_text(encoding="utf-8"))["documents"] == len(TEXTS)
