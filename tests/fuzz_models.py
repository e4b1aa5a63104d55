"""Damaged model folders: flipped, cut, swapped and edited, each must be an error or the same trees.

A folder that was sealed again after the damage is a model of its own, whose trees nobody knows: it must be an error, or
give trees that are whole, over the text that it was given.

As a program it goes on for some time: `python tests/fuzz_models.py --minutes 10`.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import ropewalk
from ropewalk import conllu
from ropewalk.core.trees import check_heads
from ropewalk.errors import RopewalkError
from ropewalk.models.catalogue import embedded_folder
from ropewalk.models.storage import seal
from ropewalk.segmentation.tokens import text_of
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT = "The rope maker can't walk backwards all day, said Dr. Smith. Why not?"
SOURCE = embedded_folder() / "en"


def trees(folder: Path) -> bytes:
    """Return all predictions of a model for a text, without its name."""
    parser = ropewalk.load(folder, threads=1)
    return conllu.dumps(parser.treebank(Treebank.concat(parser.segmented([TEXT]))))


def flip(file: Path, chance: random.Random) -> None:
    """Turn one bit round."""
    raw = bytearray(file.read_bytes())
    raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
    file.write_bytes(raw)


def cut(file: Path, chance: random.Random) -> None:
    """Leave out the end."""
    raw = file.read_bytes()
    file.write_bytes(raw[: chance.randrange(len(raw))])


def swap(file: Path, chance: random.Random) -> None:
    """Replace this file by another."""
    other = chance.choice([one for one in sorted(file.parent.iterdir()) if one != file and one.suffix == file.suffix])
    file.write_bytes(other.read_bytes())


def drop(file: Path, chance: random.Random) -> None:
    """Remove it."""
    del chance
    file.unlink()


def edit(file: Path, chance: random.Random) -> None:
    """Change a value of a JSON file, shorten a list, or put something in its place."""
    if file.suffix != ".json":
        return flip(file, chance)
    table = json.loads(file.read_text(encoding="utf-8"))
    at = table
    while True:
        key = chance.choice(list(at) if isinstance(at, dict) else range(len(at)))
        inner = at[key]
        if isinstance(inner, dict | list) and inner and chance.random() < 0.8:
            at = inner
            continue
        odd: list[object] = [None, -1, 10**30, 1.5, "", "x", [], {}, [[]], True]
        if isinstance(at, list) and chance.random() < 0.5:
            del at[key]
        else:
            at[key] = chance.choice(odd)
        break
    file.write_text(json.dumps(table), encoding="utf-8")
    return None


DAMAGES: tuple[Callable[[Path, random.Random], None], ...] = (flip, flip, cut, swap, drop, edit, edit, edit)


def damaged(folder: Path, chance: random.Random) -> tuple[str, bool]:
    """Damage a copy of the model, and at times seal it again as if nothing had happened; say what was done."""
    file = chance.choice([one for one in sorted(folder.iterdir()) if one.name != "README.md"])
    how = chance.choice(DAMAGES)
    how(file, chance)
    sealed = chance.random() < 0.5 and (how is edit or file.name != "config.json")
    if sealed:
        with suppress(KeyError, TypeError, AttributeError):  # what has no version, or is no table, cannot be sealed
            seal(folder, json.loads((folder / "config.json").read_text(encoding="utf-8")))
    return f"{how.__name__} {file.name}{' and seal' if sealed else ''}", sealed


def whole(found: bytes) -> bool:
    """Return whether each sentence has one tree with one root, and the text is complete."""
    bank = conllu.loads(found, trees="required")
    return bool((check_heads(bank.heads, bank.offsets).roots == 1).all()) and text_of(bank) == TEXT


def attempt(seed: int, right: bytes, place: Path) -> str:
    """Try one damage; give what was done if it ended in anything but an error of ours or the same trees."""
    chance = random.Random(seed)  # noqa: S311 - the same damage for the same number
    folder = place / "en"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(SOURCE, folder)
    what, sealed = damaged(folder, chance)
    try:
        found = trees(folder)
    except RopewalkError:
        return ""
    except Exception as failure:  # noqa: BLE001 - that is what is looked for
        return f"{seed}: {what}: {failure!r}"
    good = whole(found) if sealed else found == right
    return "" if good else f"{seed}: {what}: {'broken' if sealed else 'other'} trees, and nothing said"


def main() -> None:
    """Go on until the time is over, and name what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    right = trees(SOURCE)
    end = time.monotonic() + 60 * given.minutes
    seed, found = given.seed, 0
    with tempfile.TemporaryDirectory() as place:
        while time.monotonic() < end:
            problem = attempt(seed, right, Path(place))
            found += bool(problem)
            if problem:
                sys.stdout.write(f"{problem}\n")
            seed += 1
    sys.stdout.write(f"{seed - given.seed} folders, {found} findings\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
