"""Measure the time of rules, and the share of `ropewalk enhance` that examples/rules/enhance.rules does.

python bench/rewriting.py en_ewt-ud-test.conllu
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from ropewalk import Treebank, conllu, search
from ropewalk.morphology.enhancement import by_rules, copied

RULES = Path(__file__).parent.parent / "examples" / "rules"


def arcs(bank: Treebank) -> set[tuple[int, str]]:
    """Return all items of DEPS with the numbers of their words."""
    return {(word, item) for word, text in enumerate(bank.column("deps")) for item in text.split("|")}


def main() -> None:
    """Print seconds, changes, and the share of arcs."""
    bank = conllu.read(sys.argv[1], trees="required")
    plain = bank.with_graphs(copied(bank))
    for name in ("corrections", "enhance"):
        rules = (RULES / f"{name}.rules").read_text(encoding="utf-8")
        start = time.perf_counter()
        done = search.rewrite(plain, rules, on_refusal="skip")
        took = time.perf_counter() - start
        print(f"{name}: {done.changes:,} changes, {len(done.refused)} refused, {bank.words:,} words, {took:.2f} s")
    basic, wanted, found = arcs(plain), arcs(bank.with_graphs(by_rules(bank))), arcs(done.treebank)
    new = wanted - basic
    others = len(found - basic - new)
    print(f"of {len(new):,} arcs that `enhance` adds, the rules add {len(new & found):,}, and {others} others")


if __name__ == "__main__":
    main()
