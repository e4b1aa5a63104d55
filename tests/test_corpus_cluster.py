"""A cluster of two nodes on this machine that loses a worker, a node and the driver: nothing is lost or doubled."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpus_tools import expected, rows, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.cluster
SECONDS = 240  # that anything may take on a busy machine
TEXTS = {f"d{number}": text(number, 60) for number in range(40)}

# A node, and what it starts, in a process group of its own, so that all of it can be killed at once.
NODE = """
import sys, time
from ray._private.node import Node
from ray._private.parameter import RayParams
head = len(sys.argv) == 1
given = dict(num_cpus=1, include_dashboard=False, object_store_memory=100 << 20, node_ip_address="127.0.0.1")
given |= {} if head else dict(gcs_address=sys.argv[1], redirect_output=True)
node = Node(RayParams(**given), head=head, shutdown_at_exit=False, spawn_reaper=False)
print(node.gcs_address, flush=True)
time.sleep(3600)
"""


def start_node(*address: str) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [sys.executable, "-c", NODE, *address],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        process_group=0,
        env=os.environ | {"RAY_USAGE_STATS_ENABLED": "0"},
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def kill_group(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


@pytest.fixture
def cluster() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    head, address = start_node()
    second, _ = start_node(address)
    yield address, second
    if second.poll() is None:
        kill_group(second)
    kill_group(head)


def wait_until(reached: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not reached():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.05)


def done(out: Path) -> int:
    """How many parts are done."""
    return len(list((out / "done").glob("part-*.json"))) if (out / "done").is_dir() else 0


def working() -> list[int]:
    """The workers that do a part just now."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            command = (folder / "cmdline").read_bytes()
        except OSError:  # no process, or no more
            continue
        if command.startswith(b"ray::MapBatches(_worked)"):
            found.append(int(folder.name))
    return found


def start(address: str, source: Path, out: Path) -> subprocess.Popen[str]:
    words = [str(source), "-o", str(out), "--shard-size", "0.016", "--address", address]
    return subprocess.Popen(
        [sys.executable, "-m", "ropewalk", "corpus", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_worker_a_node_and_the_driver_are_killed(cluster: tuple[str, subprocess.Popen[str]], tmp_path: Path) -> None:
    address, second = cluster
    source, out = tmp_path / "in.parquet", tmp_path / "out"
    pq.write_table(pa.table({"id": list(TEXTS), "text": list(TEXTS.values())}), source)
    with start(address, source, out) as driver:
        wait_until(lambda: done(out) >= 1 and bool(working()))
        victim = working()[0]
        os.kill(victim, signal.SIGKILL)
        reached = done(out)
        wait_until(lambda: done(out) >= reached + 2)
        kill_group(second)
        reached = done(out)
        wait_until(lambda: done(out) >= reached + 2)
        driver.kill()
        driver.wait()
    parts = len(json.loads((out / "manifest.json").read_text(encoding="utf-8"))["inputs"][0]["cuts"]) - 1
    reached = done(out)
    assert 5 <= reached < parts, f"{reached} of {parts} parts were done when the driver was killed"
    with start(address, source, out) as driver:
        _, said = driver.communicate(timeout=SECONDS)
    assert driver.returncode == 0, said
    assert done(out) == parts
    found = rows(out)
    assert [row["id"] for row in found] == list(TEXTS)
    assert found == expected(TEXTS)
    assert not [file for file in (out / "data").iterdir() if file.suffix != ".parquet"]
    assert json.loads((out / "report.json").read_text(encoding="utf-8"))["documents"] == len(TEXTS)
