"""Learn the language identifier inside the package from the texts of treebanks.

    python recipes/language_identifier.py UD… [--output src/ropewalk/data] [--epochs N] [--measure]

Each UD is a folder of treebanks, `UD_LANGUAGE-NAME/CODE_NAME-ud-PART.conllu`, which may be compressed (`.xz`). The
training data are pieces of 12 to 150 characters of the train files, so that short texts are identified as well as long
ones. At the end the script prints the share of test sentences (of dev sentences where there is no test) whose language
is identified, by length and by language. It exits with 1 if that share is less than `BARS`, or if a language of
languages.tsv is missing. `--measure` does only this, with the identifier in the output folder. Treebanks whose licence
forbids commercial use are left out; Tamil is learnt from the sentences below.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from ropewalk.files import blocks, creating
from ropewalk.identification.identifier import (
    DESCRIPTION,
    WEIGHTS,
    LanguageIdentifier,
    blocks_of,
    buckets_of,
    normalized,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    Texts = dict[tuple[str, str], dict[str, list[str]]]  # by language, the sentences of its train, dev and test

TABLE = Path(__file__).resolve().parent / "languages.tsv"
BUCKETS = 12_000
SHORTEST, LONGEST = 12, 150  # characters of a piece that is learnt
MOST = 4000  # texts of a language in an epoch
LEAST = 1500  # texts of a small language are repeated up to this number
BATCH = 128
RARE = 0.002  # share of letters below which a block is not the language's own
LONG = 10_000  # characters; no sentence has more
BANDS = ((20, 50), (50, 100), (100, LONG), (50, LONG))
BARS = {(20, 50): 90.0, (50, LONG): 97.0}  # percent of the sentences of a band, at least
TEXT = re.compile(r"# text *=(.*)")
FILE = re.compile(r"([a-z]+)_\w+-ud-(train|dev|test)\.conllu(?:\.xz|\.gz)?")
LEFT_OUT = frozenset({"UD_Tamil-TTB"})  # the licence forbids commercial use
VARIETIES = {  # languages that UD tells apart by the names of their treebanks alone
    "UD_Norwegian-Bokmaal": ("nb", "Norwegian Bokmål"),
    "UD_Norwegian-Nynorsk": ("nn", "Norwegian Nynorsk"),
}
SCRIPTS_ALONE = {  # languages known by their script: a few invented sentences are enough
    ("ta", "Tamil"): (
        "அவள் கயிறு திரிக்கிறாள்.", "நான் இன்று பள்ளிக்குப் போகிறேன்.", "அவன் நேற்று புத்தகம் படித்தான்.",
        "எங்கள் வீட்டில் ஒரு பெரிய மரம் இருக்கிறது.", "நாளை மழை பெய்யும் என்று சொல்கிறார்கள்.", "இந்தக் கடையில் பழங்கள் மலிவாகக் கிடைக்கும்.",
        "குழந்தைகள் தோட்டத்தில் விளையாடுகிறார்கள்.", "உங்கள் பெயர் என்ன?", "எனக்குத் தண்ணீர் வேண்டும்.", "அவர்கள் ஊருக்குத் திரும்பி வந்தார்கள்.",
    ),
}  # fmt: skip


def texts_of(file: Path) -> list[str]:
    """Read the texts of the sentences of a file."""
    raw = b"".join(blocks(file, 1 << 20)).decode("utf-8")
    return [match[1].strip() for line in raw.split("\n") if (match := TEXT.match(line))]


def gather(homes: Iterable[Path]) -> tuple[Texts, list[str]]:
    """Read the texts of all treebanks: by language its train, dev and test; and the names of the treebanks."""
    texts: Texts = defaultdict(lambda: defaultdict(list))
    names = []
    for folder in sorted(folder for home in homes for folder in home.glob("UD_*-*")):
        if folder.name in LEFT_OUT:
            continue
        names.append(folder.name)
        language = folder.name.removeprefix("UD_").partition("-")[0].replace("_", " ")
        variety = VARIETIES.get(folder.name)
        for file in sorted(folder.iterdir()):
            if match := FILE.fullmatch(file.name):
                texts[variety or (match[1], language)][match[2]] += texts_of(file)
    for known, sentences in SCRIPTS_ALONE.items():
        texts[known]["train"] += sentences
    return {language: parts for language, parts in texts.items() if parts["train"]}, names


def piece(text: str, dice: random.Random) -> str:
    """Cut a piece of random length out of a text, at spaces if there are any."""
    size = round(SHORTEST * (LONGEST / SHORTEST) ** dice.random())
    if len(text) <= size:
        return text
    start = dice.randrange(len(text) - size)
    inside = text[start : start + size]
    words = inside.split(" ")
    return " ".join(words[1:-1]) if len(words) > 3 else inside


def chosen(texts: list[str], dice: random.Random) -> list[str]:
    """Choose the texts of an epoch."""
    if len(texts) >= MOST:
        return dice.sample(texts, MOST)
    return [*texts, *dice.choices(texts, k=max(0, LEAST - len(texts)))]


def bags(letters: list[str]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return buckets, where each text's begin, and their weights, as an EmbeddingBag takes them."""
    rows = [buckets_of(one, BUCKETS).astype(np.int64) for one in letters]
    sizes = np.array([len(row) for row in rows])
    weights = np.repeat(1 / np.sqrt(sizes), sizes).astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return torch.from_numpy(np.concatenate(rows)), torch.from_numpy(starts), torch.from_numpy(weights)


def learn(train: list[list[str]], epochs: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors of the buckets, and the biases."""
    torch.manual_seed(1)
    dice = random.Random(1)  # noqa: S311 - no secret
    bag = torch.nn.EmbeddingBag(BUCKETS, len(train), mode="sum")
    torch.nn.init.zeros_(bag.weight)
    bias = torch.nn.Parameter(torch.zeros(len(train)))
    optimizer = torch.optim.Adam([*bag.parameters(), bias], lr=0.02)
    for epoch in range(epochs):
        for group in optimizer.param_groups:
            group["lr"] = 0.02 * (1 - epoch / epochs)
        rows = [(number, text) for number, texts in enumerate(train) for text in chosen(texts, dice)]
        dice.shuffle(rows)
        total = 0.0
        for start in range(0, len(rows), BATCH):
            batch = [(number, normalized(piece(text, dice))) for number, text in rows[start : start + BATCH]]
            batch = [(number, letters) for number, letters in batch if len(letters) > 2]
            scores = bag(*bags([letters for _, letters in batch])) + bias
            wanted = torch.tensor([number for number, _ in batch])
            loss = torch.nn.functional.cross_entropy(scores, wanted)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            total += loss.item() * len(batch)
        sys.stderr.write(f"epoch {epoch + 1}/{epochs}: loss {total / len(rows):.4f}\n")
    return bag.weight.detach().numpy(), bias.detach().numpy()


def own_blocks(texts: list[str]) -> list[int]:
    """Return the blocks of characters that a language uses."""
    counts = Counter(np.concatenate([blocks_of(normalized(text)) for text in texts]).tolist())
    total = sum(counts.values())
    return sorted(block for block, count in counts.items() if count >= RARE * total)


def measured(identifier: LanguageIdentifier, tests: dict[str, list[str]]) -> tuple[str, bool]:
    """Return a report of the share of texts whose language is found, and whether it reaches the bars."""
    right: Counter[tuple[int, int]] = Counter()
    seen: Counter[tuple[int, int]] = Counter()
    by_language = {}
    for code, texts in tests.items():
        hits = 0
        for text in texts:
            found = identifier.identify(text).code == code
            hits += found
            for low, high in BANDS:
                if low <= len(text) < high:
                    right[low, high] += found
                    seen[low, high] += 1
        by_language[code] = (hits / len(texts), len(texts))
    shares = {band: 100 * right[band] / max(seen[band], 1) for band in BANDS}
    lines = [
        f"{low}{'' if high == LONG else f' to {high}'} characters{' or more' if high == LONG else ''}: "
        f"{shares[low, high]:.2f} % of {seen[low, high]:,}"
        for low, high in BANDS
    ]
    worst = sorted(by_language.items(), key=lambda item: item[1])[:15]
    lines.append("lowest: " + ", ".join(f"{code} {100 * hit:.1f} of {count}" for code, (hit, count) in worst))
    lines.append(f"{len(identifier.codes)} languages, {len(tests)} of them with sentences to measure on")
    missing = sorted(set(shipped()) - set(identifier.codes))
    if missing:
        lines.append(f"languages of {TABLE.name} that are missing: {', '.join(missing)}")
    return "\n".join(lines) + "\n", not missing and all(shares[band] >= bar for band, bar in BARS.items())


def shipped() -> list[str]:
    """Return the codes of the languages that have a model."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [row["code"] for row in csv.DictReader(file, delimiter="\t")]


def main() -> int:
    """Read treebanks, learn, write and report; return the exit code."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("homes", nargs="+", type=Path, metavar="UD")
    options.add_argument("--output", type=Path, default=Path("src/ropewalk/data"))
    options.add_argument("--epochs", type=int, default=8)
    options.add_argument("--measure", action="store_true")
    given = options.parse_args()
    texts, names = gather(given.homes)
    if not given.measure:
        write(texts, names, given.output, given.epochs)
    tests = {code: parts["test"] or parts["dev"] for (code, _), parts in texts.items()}
    identifier = LanguageIdentifier.load(given.output)
    report, enough = measured(identifier, {code: sentences for code, sentences in tests.items() if sentences})
    sys.stdout.write(report)
    return 0 if enough else 1


def write(texts: Texts, names: list[str], output: Path, epochs: int) -> None:
    """Learn from the texts of the treebanks `names`, and write the identifier into a folder."""
    languages = sorted(texts)
    weights, biases = learn([texts[language]["train"] for language in languages], epochs)
    scales = np.abs(weights).max(axis=0) / 127
    description = {
        "buckets": BUCKETS,
        "treebanks": names,
        "languages": [
            {
                "code": code,
                "name": name,
                "blocks": own_blocks(texts[code, name]["train"]),
                "bias": round(float(biases[at]), 4),
                "scale": float(f"{scales[at]:.6g}"),
            }
            for at, (code, name) in enumerate(languages)
        ],
    }
    with creating(output / DESCRIPTION) as file:
        file.write(json.dumps(description, ensure_ascii=False, indent=1).encode() + b"\n")
    with creating(output / WEIGHTS) as file:
        file.write(np.rint(weights / scales).astype(np.int8).tobytes())


if __name__ == "__main__":
    sys.exit(main())
