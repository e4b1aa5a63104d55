"""Trainings and drivers of corpora that are killed by SIGKILL, at random moments, and started again until they end.

Nothing may be lost but what was being computed: epochs and shards that were done stay done, the end is that of a run
that nobody killed, byte by byte, and nothing unfinished is left behind.

As a program it kills one kind so often: `python tests/fuzz_kills_runs.py corpus --kills 30 --seed 1`, or `training`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from process_tools import children, wait_until
from ropewalk.files import ASIDE

SECONDS = 240.0  # that anything may take on a busy machine
EPOCHS = 4
DOCUMENTS = 60
LEFT_BY_SCORES = {"seconds", "words_per_second"}  # what differs between equal runs


def unfinished(home: Path) -> list[Path]:
    """List what killed processes left below a folder."""
    return [file for file in home.rglob(".*") if ASIDE.fullmatch(file.name)]


# Training


class Trainings:
    """Short trainings in forks of this process, which has loaded torch."""

    def __init__(self, home: Path, chance: random.Random) -> None:
        import torch

        from training_tools import bank_of, config_of, write_bank

        torch.set_num_threads(1)
        self._chance = chance
        self._home = home
        self._config = config_of(write_bank(home / "data.conllu", bank_of(30)), None, epochs=EPOCHS)
        whole = home / "whole"
        begun = time.monotonic()
        assert self._ended(self._started(whole, sys.maxsize)) == 0, "a training that nobody kills fails"
        self._seconds = time.monotonic() - begun
        self._steps = int((home / "steps").read_text(encoding="utf-8"))
        self._expected = self._result(whole)
        self.run = 0

    def _started(self, out: Path, step: int) -> int:
        """Start a training, which goes on if there is one; it kills itself before a step."""
        from fault_tools import kill_before
        from ropewalk.training.training_run import train

        child = os.fork()
        if not child:
            seen = kill_before(step)
            train(self._config, out, resume=(out / "checkpoint" / "config.json").is_file())
            (self._home / "steps").write_text(str(seen()), encoding="utf-8")
            os._exit(0)
        return child

    @staticmethod
    def _ended(child: int) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def _result(self, out: Path) -> dict[str, Any]:
        """Read all that a finished training leaves, but for times."""
        files = sorted(file for file in out.rglob("*") if file.is_file())
        found: dict[str, Any] = {
            file.relative_to(out).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in files
            if file.name not in {"state.json", "log.jsonl", "README.md"}
        }
        lines = (out / "log.jsonl").read_text(encoding="utf-8").splitlines()
        found["log"] = [{k: v for k, v in json.loads(line).items() if k not in LEFT_BY_SCORES} for line in lines]
        return found

    def kill_until_done(self, most: int) -> int:
        """Kill one training up to so many times, and look at what it leaves each time; say how often it was killed."""
        self.run += 1
        out = self._home / f"run-{self.run}"
        kills = done = 0
        while True:
            by_step = self._chance.random() < 0.5 and kills < most
            child = self._started(out, self._chance.randint(1, self._steps // 2) if by_step else sys.maxsize)
            if not by_step and kills < most:
                time.sleep(self._chance.uniform(0, 0.7 * self._seconds))
                os.kill(child, signal.SIGKILL)
            status = self._ended(child)
            assert status in {0, -signal.SIGKILL}, f"a training ended with {status}"
            now = self._epochs(out)
            assert now >= done, f"{done} epochs were done, and after a kill {now}"
            done = now
            if status == 0:
                break
            kills += 1
        found = self._result(out)
        other = {name for name in {*found, *self._expected} if found.get(name) != self._expected.get(name)}
        assert not other, f"not as a run that nobody killed leaves it: {sorted(other)}"
        assert not unfinished(out), unfinished(out)
        shutil.rmtree(out)
        return kills

    @staticmethod
    def _epochs(out: Path) -> int:
        """Count the epochs that are done, each with weights that can be used."""
        from safetensors.numpy import load_file

        file = out / "checkpoint" / "state.json"
        if not file.is_file():
            return 0
        state = json.loads(file.read_text(encoding="utf-8"))
        tensors = out / "checkpoint" / state["tensors"]
        assert hashlib.sha256(tensors.read_bytes()).hexdigest() == state["sha256"], "a checkpoint that is not whole"
        if state["epoch"] > 1:
            assert load_file(out / "model.safetensors"), "no model, although an epoch was done"
        return int(state["epoch"])


# Corpora


class Corpora:
    """Runs of `ropewalk corpus` on this machine."""

    def __init__(self, home: Path, chance: random.Random) -> None:
        from corpus_tools import text

        self._chance = chance
        self._home = home
        with (home / "in.jsonl").open("w", encoding="utf-8") as file:
            for number in range(DOCUMENTS):
                file.write(json.dumps({"id": f"d{number}", "text": text(number, 40)}) + "\n")
        whole = home / "whole"
        begun = time.monotonic()
        process = self._started(whole)
        assert process.wait(SECONDS) == 0, "a run that nobody kills fails"
        self._seconds = time.monotonic() - begun
        self._expected = self._shards(whole)
        assert len(self._expected) > 10
        self.run = 0

    def _started(self, out: Path) -> subprocess.Popen[bytes]:
        words = [self._home / "in.jsonl", "-o", out, "--shard-size", "0.006", "--workers", "2", "--format", "jsonl"]
        return subprocess.Popen(
            [sys.executable, "-m", "ropewalk", "corpus", *map(str, words)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    @staticmethod
    def _shards(out: Path) -> dict[str, str]:
        """Read the shards of a finished run."""
        return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted((out / "data").iterdir())}

    def kill_until_done(self, most: int) -> int:
        """Kill drivers of one run up to so many times, and look at what they leave; say how many were killed."""
        self.run += 1
        out = self._home / f"run-{self.run}"
        kills = 0
        done: dict[str, tuple[int, str]] = {}
        while True:
            process = self._started(out)
            if kills < most:
                self._wait_for_moment(process, out)
                below = children(process.pid)
                process.kill()
                wait_until(lambda: not any(map(may_write, below)), SECONDS)  # noqa: B023 - called at once
            status = process.wait(SECONDS)
            assert status in {0, -signal.SIGKILL}, f"a driver ended with {status}"
            now = self._done(out)
            lost = {name for name in done if now.get(name) != done[name]}
            assert not lost, f"shards that were done are gone, changed or made again: {sorted(lost)}"
            done = now
            if status == 0:
                break
            kills += 1
        assert self._shards(out) == self._expected, "the end is not that of a run that nobody killed"
        assert len(done) == len(self._expected)
        assert not unfinished(out), unfinished(out)
        assert not (out / "tries").exists()
        report = json.loads((out / "report.json").read_text(encoding="utf-8"))
        assert report["documents"] == DOCUMENTS
        shutil.rmtree(out)
        return kills

    def _wait_for_moment(self, process: subprocess.Popen[bytes], out: Path) -> None:
        """Wait for any moment of a run, or two times of three for one when shards are written."""
        if self._chance.random() < 1 / 3:
            time.sleep(self._chance.uniform(0, self._seconds))
            return
        before = self._count(out)
        wait_until(lambda: self._count(out) > before or process.poll() is not None, SECONDS)
        time.sleep(self._chance.uniform(0, 0.3))

    @staticmethod
    def _count(out: Path) -> int:
        return len(list((out / "done").glob("part-*.json")))

    @staticmethod
    def _done(out: Path) -> dict[str, tuple[int, str]]:
        """Return the time and the hash of each shard whose record marks it as done."""
        found = {}
        for file in (out / "done").glob("part-*.json"):
            record = json.loads(file.read_text(encoding="utf-8"))
            shard = out / "data" / record["name"]
            digest = hashlib.sha256(shard.read_bytes()).hexdigest()
            assert digest == record["sha256"], f"{shard} is not what its record says"
            found[shard.name] = shard.stat().st_mtime_ns, digest
        return found


def may_write(process: int) -> bool:
    """Return whether a process is alive that is no agent of Ray; agents live a minute longer."""
    try:
        command = Path(f"/proc/{process}/cmdline").read_bytes()  # nothing if it has ended and nobody asked
    except OSError:
        return False
    return bool(command) and b"Agent" not in command


KINDS: dict[str, type[Corpora | Trainings]] = {"corpus": Corpora, "training": Trainings}


def main() -> None:
    """Kill runs of a kind until there were so many kills."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    chance = random.Random(given.seed)  # noqa: S311 - moments to kill at
    with tempfile.TemporaryDirectory() as home:
        runs = KINDS[given.kind](Path(home), chance)
        kills = 0
        while kills < given.kills:
            kills += runs.kill_until_done(min(given.kills - kills, chance.randint(2, 8)))
    sys.stdout.write(f"{kills} kills in {runs.run} runs: nothing was lost\n")


if __name__ == "__main__":
    main()
