"""A text of any length, piece by piece, through a network that reads a window at a time.

Windows hold so many chunks and overlap by as many as the network can see to either side. Where they begin depends on
the text alone, not on its pieces, so the marks are the same however the text comes in.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk.core.ragged import starts_of
from ropewalk.formats.text import checked_texts
from ropewalk.segmentation.alignment import END, JOIN, MULTIWORD, SENTENCE
from ropewalk.segmentation.assembly import BETWEEN, Marked, demand_short
from ropewalk.segmentation.reading import codes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ropewalk.segmentation.alignment import MarkBits
    from ropewalk.segmentation.reading import CharacterReader, Numbers, Reading

    CharacterScorer = Callable[[dict[str, Numbers]], npt.NDArray[Any]]

WINDOW = 1024  # chunks of a window whose marks are used
BLOCK = 1 << 16  # characters that are read at a time
_BITS = np.array([END, SENTENCE, MULTIWORD, JOIN], dtype=np.uint8)  # of which a network may leave out the last


def blocks(pieces: Iterable[str], size: int) -> Iterator[tuple[str, bool]]:
    """Cut and join pieces to blocks of `size` characters; the last, which is told apart, may be smaller."""
    waiting: list[str] = []
    held = 0
    for piece in checked_texts(pieces):
        waiting.append(piece)
        held += len(piece)
        if held >= size:
            text = "".join(waiting)
            cuts = range(0, len(text) - size + 1, size)
            yield from ((text[cut : cut + size], False) for cut in cuts)
            waiting = [text[len(cuts) * size :]]
            held = len(waiting[0])
    yield "".join(waiting), True


def mark_many(texts: Sequence[str], reader: CharacterReader, score: CharacterScorer, context: int) -> Marked:
    """Mark the characters of several texts at once, laid end to end with `BETWEEN` after each.

    Each is read alone by the network: its marks are exactly those that it gets by itself.
    """
    whole = "".join([part for text in texts for part in (text, BETWEEN)])
    codes = codes_of(whole)
    reading = reader.read(codes)
    marks = np.zeros(len(codes), dtype=np.uint8)
    bounds = starts_of([len(text) + len(BETWEEN) for text in texts])
    for start, stop in pairwise(np.searchsorted(reading.openings(), bounds).tolist()):
        low = skip = start
        while skip < stop:
            end = min(skip + WINDOW, stop)
            _fill(marks, reading, score, (low, skip, end, min(end + context, stop)))
            skip, low = end, max(end - context, start)
    glued = reader.glued(codes)
    glued[bounds[1:] - len(BETWEEN) - 1] = False  # nothing sticks to what is no part of its text
    marks[glued] = 0
    return Marked(whole, marks, *reader.spaces(codes), last=True)


def _fill(marks: MarkBits, reading: Reading, score: CharacterScorer, window: tuple[int, int, int, int]) -> None:
    """Mark the characters of some chunks, in a window: where its context begins, they begin and end, and it ends."""
    low, start, stop, high = window
    here = slice(int(reading.first[start]), int(reading.last[stop - 1]) + 1)
    scores = score(reading.part(low, high))[here.start - int(reading.first[low]) :][: here.stop - here.start]
    places = reading.places[here]
    found = (scores > 0) @ _BITS[: scores.shape[1]]
    if scores.shape[1] == len(_BITS):
        joined = (found & JOIN > 0) & reading.joinable(here.start, here.stop)
        found = np.where(joined, JOIN, found & (JOIN - 1))  # a token that goes on does not end
    marks[places[places >= 0]] = found[places >= 0]


def mark(pieces: Iterable[str], reader: CharacterReader, score: CharacterScorer, context: int) -> Iterator[Marked]:
    """Mark the characters of a text; `score` gives a row of numbers for each character of some chunks, [n, 3 or 4]."""
    buffer = ""  # begins where a chunk begins, with the spaces before it
    done = 0  # characters of the buffer whose marks are out
    skip = 0  # chunks likewise
    characters = lines = 0  # before the buffer
    enough = 0  # a buffer shorter than this is not worth another look
    for block, final in blocks(pieces, BLOCK):
        buffer += block
        demand_short(buffer, lines)
        if not final and len(buffer) < enough:
            continue
        codes = codes_of(buffer, characters, lines)
        reading = reader.read(codes, begins=not characters)
        marks = np.zeros(len(codes), dtype=np.uint8)
        many = len(reading.first)
        low = 0  # where the window's context begins
        while many > skip and (final or many > skip + WINDOW + context):
            stop = min(skip + WINDOW, many)
            _fill(marks, reading, score, (low, skip, stop, min(stop + context, many)))
            skip = stop
            low = max(stop - context, 0)
        out = len(codes) if final else int(reading.opening(skip)) if skip else 0
        if final or out > done:
            marks[reader.glued(codes)] = 0
            yield Marked(buffer[done:out], marks[done:out], *reader.spaces(codes[done:out]), last=final)
        enough = 0 if low else 2 * len(buffer)
        if low:
            cut = int(reading.places[reading.last[low - 1]]) + 1
            characters += cut
            lines += buffer.count("\n", 0, cut)
            buffer = buffer[cut:]
            done, skip = out - cut, skip - low
        else:
            done = out
