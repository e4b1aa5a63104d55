"""Marks for a text of any length: the network scores one window of text at a time.

Windows have `WINDOW` chunks and overlap by the context that the network reads on each side. The text may come in
pieces. Where windows begin does not depend on the pieces, so that marks do not depend on them.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ropewalk.core.ragged import starts_of
from ropewalk.formats.text import checked_texts
from ropewalk.segmentation.alignment import END, JOIN, MULTIWORD, SENTENCE
from ropewalk.segmentation.assembly import BETWEEN, Marked, demand_short
from ropewalk.segmentation.reading import LINE_BREAKS, codes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ropewalk.core.arrays import Bools
    from ropewalk.segmentation.alignment import MarkBits
    from ropewalk.segmentation.reading import CharacterReader, Reading

    Codes = npt.NDArray[np.uint32]
    Places = npt.NDArray[np.int64]
    CharacterScorer = Callable[[dict[str, npt.NDArray[Any]]], npt.NDArray[Any]]

WINDOW = 1024  # chunks of a window whose marks are used
BLOCK = 1 << 16  # characters that are read at a time
_BITS = np.array([END, SENTENCE, MULTIWORD, JOIN], dtype=np.uint8)  # a network may omit the last
_SENTENCE = 1  # the column of scores of the end of a sentence


def blocks(pieces: Iterable[str], size: int) -> Iterator[tuple[str, bool]]:
    """Yield the text of all `pieces` in blocks of `size` characters, each with whether it is the last.

    The last block is shorter and may be empty.
    """
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


def mark_many(  # noqa: PLR0913 - options with names
    texts: Sequence[str],
    reader: CharacterReader,
    score: CharacterScorer,
    context: int,
    *,
    bare: float = 0.0,
    together: int = 0,
) -> Marked:
    """Return the marks of several texts as one text, in which `BETWEEN` follows each of them.

    The network reads each text alone, so that its marks do not depend on the others. `context` is the number of chunks
    that the network reads on each side of a window. For `bare` see `Stored`. If `together` is not 0, the network can
    read several texts in one call: then texts of about `together` chunks are passed to `score`, with the index of each
    text's first chunk, and the number of chunks, as the array `texts`.
    """
    whole = "".join([part for text in texts for part in (text, BETWEEN)])
    codes = codes_of(whole)
    reading = reader.read(codes)
    marks = np.zeros(len(codes), dtype=np.uint8)
    bounds = starts_of([len(text) + len(BETWEEN) for text in texts])
    chunks = np.searchsorted(reading.openings(), bounds)
    scores = None
    for start, stop in _groups(chunks.tolist(), together):
        first, last = int(chunks[start]), int(chunks[stop])
        low = skip = first
        while skip < last:
            end = min(skip + WINDOW, last)
            part = reading.part(low, min(end + context, last))
            if stop - start > 1:
                part["texts"] = chunks[start : stop + 1] - first
            part_scores = score(part)
            if scores is None:
                scores = np.empty((len(reading.characters), part_scores.shape[1]), dtype=np.float32)
            here, before = slice(int(reading.first[skip]), int(reading.last[end - 1]) + 1), int(reading.first[low])
            scores[here] = part_scores[here.start - before : here.stop - before]
            skip, low = end, max(end - context, first)
    if scores is not None:
        _fill(marks, reading, _firm(scores, codes, reading.places, bare), 0)
    glued = reader.glued(codes)
    glued[bounds[1:] - len(BETWEEN) - 1] = False  # nothing attaches to the next text
    marks[glued] = 0
    return Marked(whole, marks, *reader.spaces(codes), last=True)


def _groups(chunks: list[int], together: int) -> Iterator[tuple[int, int]]:
    """Yield groups of consecutive texts, as the index of a group's first text and of the one after its last.

    `chunks` has the index of each text's first chunk, and the number of all chunks. A group has at most `together`
    chunks, or one text.
    """
    start = 0
    for stop in range(1, len(chunks)):
        if stop + 1 == len(chunks) or chunks[stop + 1] - chunks[start] > together:
            yield start, stop
            start = stop


def is_bare(codes: Codes, places: Places) -> Bools:
    """Return which places of a text have a letter or digit that is not the last character of its line."""
    line: Bools = (codes[np.minimum(places + 1, len(codes) - 1), None] == LINE_BREAKS).any(axis=1)
    letter = [unicodedata.category(chr(code))[0] in "LMN" for code in codes[places].tolist()]  # with marks on letters
    return np.array(letter, dtype=np.bool_) & ~line


def _firm(scores: npt.NDArray[Any], codes: Codes, places: Places, bare: float) -> npt.NDArray[Any]:
    """Return scores of characters without ends of sentences at bare places that are not greater than `bare`."""
    ends = scores[:, _SENTENCE]
    weak = np.flatnonzero((ends > 0) & (ends <= bare) & (places >= 0))
    if not len(weak):  # a shortcut for most short texts
        return scores
    scores = scores.copy()
    scores[weak[is_bare(codes, places[weak])], _SENTENCE] = 0
    return scores


def _fill(marks: MarkBits, reading: Reading, scores: npt.NDArray[Any], start: int) -> None:
    """Write the marks of the characters from index `start` of `reading` on into `marks`; `scores` are theirs."""
    stop = start + len(scores)
    places = reading.places[start:stop]
    bits = (scores > 0) @ _BITS[: scores.shape[1]]
    if scores.shape[1] == len(_BITS):
        joined = (bits & JOIN > 0) & reading.joinable(start, stop)
        bits = np.where(joined, JOIN, bits & (JOIN - 1))  # a token that continues does not end
    marks[places[places >= 0]] = bits[places >= 0]


def mark(
    pieces: Iterable[str], reader: CharacterReader, score: CharacterScorer, context: int, bare: float = 0.0
) -> Iterator[Marked]:
    """Yield consecutive parts of a text that comes in pieces, with the marks of their characters.

    `score` returns the network's scores [characters, 3 or 4], one for each kind of mark. A mark is set if its score is
    positive, or greater than `bare`, see `Stored`. `context` is the number of chunks that the network reads on each
    side of a window.
    """
    buffer = ""  # begins where a chunk begins, with the spaces before it
    done = 0  # characters of the buffer whose marks were yielded
    skip = 0  # chunks of the buffer that were marked
    characters = lines = 0  # counts of those before the buffer
    enough = 0  # a shorter buffer is not read again
    for block, final in blocks(pieces, BLOCK):
        buffer += block
        demand_short(buffer, lines)
        if not final and len(buffer) < enough:
            continue
        codes = codes_of(buffer, characters, lines)
        reading = reader.read(codes, begins=not characters)
        marks = np.zeros(len(codes), dtype=np.uint8)
        many = len(reading.first)
        low = 0  # start of the window's context
        while many > skip and (final or many > skip + WINDOW + context):
            stop = min(skip + WINDOW, many)
            here = slice(int(reading.first[skip]), int(reading.last[stop - 1]) + 1)
            scores = score(reading.part(low, min(stop + context, many)))[here.start - int(reading.first[low]) :]
            scores = _firm(scores[: here.stop - here.start], codes, reading.places[here], bare)
            _fill(marks, reading, scores, here.start)
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
