"""Convert the segmenter of an exported model, so that its network reads several texts in one call.

    python recipes/segmenter_network.py MODEL TEXT

Segmenters that `ropewalk train-segmenter` and `ropewalk build` write have such networks since version 0.3. MODEL is the
folder of an exported model, whose segmenter is replaced; its hash changes. TEXT is a file with some text of the
language: the range of int8 numbers is chosen for it. Marks differ only where the old network was undecided.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import onnx

from ropewalk.segmentation.reading import CharacterReader, codes_of
from ropewalk.segmentation.segmenter_files import load, save
from ropewalk.segmentation.windows import WINDOW
from ropewalk.training.onnx_neighbours import several_texts

MOST = 300_000  # characters of the text


def main() -> None:
    """Convert a segmenter."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("text", type=Path)
    given = parser.parse_args()
    stored = load(given.model)
    reading = CharacterReader(stored.vocabulary).read(codes_of(given.text.read_text(encoding="utf-8")[:MOST]))
    chunks = len(reading.first)
    samples = [reading.part(start, min(start + WINDOW, chunks)) for start in range(0, chunks, WINDOW)]
    network = several_texts(onnx.load_from_string(stored.graph), samples, stored.context)
    save(given.model, replace(stored, graph=network.SerializeToString(deterministic=True)))


if __name__ == "__main__":
    main()
