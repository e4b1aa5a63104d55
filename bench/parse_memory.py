"""Parse a million words through a pipe and watch the memory: `python bench/parse_memory.py MODEL`.

The text is invented, sentence by sentence, and never lies anywhere as a whole. Exits with 1 if the program needs more
than 400 MB at any time, or in the last quarter a tenth more than in the second. Every other word is a new one, so that
whatever remembers so many words is full in the first quarter, and whatever remembers all of them is found out.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO

COMMON = (
    "the a old new long rope ship harbour maker walker hemp day night line knot anchor sail water storm he she they we "
    "it walks twists holds carries breaks says sees and or but when because slowly always never again in on under with"
)
RARE = 50  # of a hundred words are made up and hardly ever come again
BLOCK = 500  # sentences written at once
MOST = 400.0  # MB


def sentence(rng: random.Random, form: str, number: int) -> tuple[str, int]:
    """Invent a sentence; give it as the program reads it, and how many words it has."""
    common = COMMON.split()
    rare = [f"{rng.randrange(36**6):x}" if rng.randrange(100) < RARE else "" for _ in range(rng.randint(3, 30))]
    words = [word or rng.choice(common) for word in rare] + ["."]
    if form == "tokens":
        return " ".join(words) + "\n", len(words)
    if form == "conllu":
        lines = "".join(f"{place}\t{word}" + "\t_" * 8 + "\n" for place, word in enumerate(words, start=1))
        return f"# sent_id = {number}\n{lines}\n", len(words)
    return " ".join(words[:-1]).capitalize() + (".\n\n" if rng.random() < 0.1 else ". "), len(words)


def feed(out: IO[bytes], form: str, words: int) -> None:
    """Write so many words."""
    rng = random.Random(1)  # noqa: S311 - invented sentences
    done = number = 0
    with out:
        while done < words:
            block = [sentence(rng, form, number + at) for at in range(BLOCK)]
            number += BLOCK
            done += sum(count for _, count in block)
            out.write("".join(text for text, _ in block).encode())


def resident(process: int) -> float:
    """Return the megabytes that a process uses now; Linux only."""
    for line in Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def main() -> None:
    """Run the program once."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("model")
    options.add_argument("--words", type=int, default=1_000_000)
    options.add_argument("--input", default="text", choices=("text", "tokens", "conllu"))
    options.add_argument("--output", default="conllu", choices=("conllu", "json", "tree"))
    given = options.parse_args()
    command = ["parse", "--model", given.model, "--input", given.input, "--output", given.output, "--threads", "1", "-"]
    program = [sys.executable, "-c", "from ropewalk.cli import main; main()", *command]
    begun = time.monotonic()
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None  # noqa: S101 - it was asked for
        assert process.stdout is not None  # noqa: S101 - likewise
        threading.Thread(target=feed, args=(process.stdin, given.input, given.words), daemon=True).start()
        seen: list[float] = []
        size = 0
        while block := process.stdout.read(1 << 16):
            size += len(block)
            seen.append(resident(process.pid))
        code = process.wait()
    taken = time.monotonic() - begun
    quarters = [max(seen[len(seen) * at // 4 : len(seen) * (at + 1) // 4], default=0.0) for at in range(4)]
    print(f"{given.words:,} words of {given.input} in {taken:.1f} s, {given.words / taken:,.0f} words a second")
    print(
        f"{size / 1e6:.1f} MB of {given.output}; peak memory by quarters: {', '.join(f'{q:.0f} MB' for q in quarters)}"
    )
    flat = quarters[3] <= 1.1 * quarters[1]
    print("flat" if flat else "it grows", "and under" if max(quarters) < MOST else "and over", f"{MOST:.0f} MB")
    sys.exit(code or not flat or max(quarters) >= MOST)


if __name__ == "__main__":
    main()
