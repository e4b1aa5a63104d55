"""CoNLL-U from text to arrays in one pass over its bytes, and back from arrays to text."""

from __future__ import annotations

from dataclasses import dataclass

from ropewalk.kernels import Ints

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:  # compiled, the .pxd includes them
    from ropewalk.kernels.codes import *


@dataclass(repr=False, eq=False)
class ScanBuffer:
    """The output of `scan`, with space for one entry per line, and six problems per line.

    `fields`, `heads`, `offsets`, `sentences`, `lines`, `multiwords` and `empties` receive the attributes of these names
    of `Source` and `Treebank`. A row of `problems` holds a kind, the start of the line, the start and stop of the span
    at fault, and a number that depends on the kind: an expected value or a count. `counts` receives the numbers of
    sentences, words and problems.
    """

    fields: Ints
    heads: Ints
    offsets: Ints
    sentences: Ints
    lines: Ints
    multiwords: Ints
    empties: Ints
    problems: Ints
    counts: Ints


@dataclass(repr=False, eq=False)
class WrittenWords:
    """The positions of sentences and columns in CoNLL-U text, as in `Source`; `offsets` are those of sentences."""

    offsets: Ints
    sentences: Ints
    fields: Ints


@dataclass(repr=False, eq=False)
class Replacements:
    """Columns with a new text for every word.

    `columns` lists the indices of these columns, in increasing order. Column `columns[k]` of word w becomes
    `names[marks[x]:marks[x+1]]` with x = `choices[k, w]`.
    """

    columns: Ints
    choices: Ints
    names: Ints
    marks: Ints


@dataclass(repr=False, eq=False)
class CopyBuffer:
    """The positions of sentences and columns in the copy that `splice` makes."""

    sentences: Ints
    fields: Ints


def _number(raw: Ints, start: int, stop: int) -> int:
    """Return the integer written in `raw[start:stop]`, at most HUGE; -1 if it is no integer or has leading zeros."""
    if stop <= start or (raw[start] == ZERO and stop > start + 1):
        return -1
    value = 0
    for i in range(start, stop):
        digit = raw[i]
        if digit < ZERO or digit > NINE:
            return -1
        value = min(value * 10 + digit - ZERO, HUGE)
    return value


def _report(problems: Ints, p: int, kind: int, at: int, start: int, stop: int, extra: int) -> int:
    problems[p, 0] = kind
    problems[p, 1] = at
    problems[p, 2] = start
    problems[p, 3] = stop
    problems[p, 4] = extra
    return p + 1


def scan(raw: Ints, begin: int, first_line: int, out: ScanBuffer) -> None:
    """Find sentences, words and columns in the CoNLL-U text `raw` from byte `begin` on, and all problems.

    A sentence with a problem is listed too, but its words may be incomplete.
    """
    fields = out.fields
    heads = out.heads
    offsets = out.offsets
    sentences = out.sentences
    lines = out.lines
    problems = out.problems
    with cython.nogil:
        size = raw.shape[0]
        i = begin
        s = 0
        w = 0
        p = 0
        line = first_line
        offsets[0] = 0
        sentences[0] = 0
        lines[0] = line
        multiword = 0
        empty = 0
        inside = 0  # 1 after a comment, 2 after any other line of the sentence
        last = 0  # the latest word's ID
        sub = 0  # the latest empty node's number after that word
        range_end = 0
        range_at = 0
        range_cut = 0
        range_stop = 0
        broken = 0  # the sentence's words cannot be counted
        returned = 0  # a CR LF was reported in this sentence
        while i < size:
            # find the end of the line and its columns
            start = i
            closes = 0
            columns = 1
            fields[w, 0] = start
            nul = -1
            if raw[start] == HASH:
                while i < size and raw[i] != NEWLINE:
                    if raw[i] == 0:
                        nul = i
                    i += 1
            else:
                while i < size and raw[i] != NEWLINE:
                    if raw[i] == TAB:
                        if columns < COLUMNS:
                            fields[w, columns] = i + 1
                        columns += 1
                    elif raw[i] == 0:
                        nul = i
                    i += 1
            if nul >= 0:
                p = _report(problems, p, NUL_BYTE, start, nul, nul + 1, 0)
            stop = i
            if i < size and i > start and raw[i - 1] == RETURN:
                stop = i - 1
                if not returned:
                    p = _report(problems, p, CARRIAGE_RETURN, start, stop, i, 0)
                returned = 1
            if i < size:
                i += 1
            elif stop > start:
                p = _report(problems, p, NO_FINAL_NEWLINE, start, start, stop, 0)
            line += 1
            if stop == start:  # a blank line ends the sentence
                closes = 1
                if inside == 0:
                    p = _report(problems, p, STRAY_BLANK, start, start, stop, 0)
                    while i < size and raw[i] == NEWLINE:
                        i += 1
                        line += 1
                elif inside == 1:
                    p = _report(problems, p, NO_WORDS, start, start, stop, 0)
            elif raw[start] == HASH:  # a comment
                if inside == 2:
                    p = _report(problems, p, COMMENT, start, start, stop, 0)
                else:
                    inside = 1
            else:  # a word, a multiword token or an empty node
                inside = 2
                if columns == COLUMNS:
                    fields[w, COLUMNS] = stop + 1
                    id_stop = fields[w, 1] - 1
                    for c in range(COLUMNS):
                        if fields[w, c + 1] - 1 == fields[w, c]:
                            p = _report(problems, p, EMPTY_COLUMN, start, start, stop, c)
                            break
                else:
                    p = _report(problems, p, COLUMN_COUNT, start, start, stop, columns)
                    id_stop = stop if columns == 1 else fields[w, 1] - 1
                cut = start
                while cut < id_stop and raw[cut] != HYPHEN and raw[cut] != DOT:
                    cut += 1
                a = _number(raw, start, cut)
                if cut == id_stop:  # a word
                    if a < 0:
                        if columns == COLUMNS:
                            p = _report(problems, p, BAD_ID, start, start, id_stop, 0)
                        broken = 1
                        a = last + 1
                    elif a != last + 1:
                        p = _report(problems, p, ID_ORDER, start, start, id_stop, last + 1)
                        broken = 1
                    last = a
                    sub = 0
                    if columns == COLUMNS:
                        head = -1
                        head_start = fields[w, HEAD]
                        head_stop = fields[w, HEAD + 1] - 1
                        if head_stop - head_start != 1 or raw[head_start] != UNDERSCORE:
                            head = _number(raw, head_start, head_stop)
                            if head < 0 and head_stop > head_start:
                                p = _report(problems, p, BAD_HEAD, start, head_start, head_stop, 0)
                        heads[w] = head
                        w += 1
                else:
                    b = _number(raw, cut + 1, id_stop)
                    if a < 0 or b < 0 or columns != COLUMNS:
                        if columns == COLUMNS:
                            p = _report(problems, p, BAD_ID, start, start, id_stop, 0)
                    elif raw[cut] == HYPHEN:  # a multiword token
                        multiword += 1
                        if a != last + 1:
                            p = _report(problems, p, RANGE_START, start, start, id_stop, last + 1)
                        elif a <= range_end:
                            p = _report(problems, p, RANGE_OVERLAP, start, start, id_stop, range_end)
                        elif b < a:
                            p = _report(problems, p, RANGE_ORDER, start, start, id_stop, 0)
                        if b > range_end:
                            range_end = b
                            range_at = start
                            range_cut = cut + 1
                            range_stop = id_stop
                    else:  # an empty node
                        empty += 1
                        if a != last or b != sub + 1:
                            p = _report(problems, p, EMPTY_ORDER, start, start, id_stop, (last << 32) + sub + 1)
                        sub = b
            if i >= size and not closes:
                closes = 1
                if raw[size - 1] == NEWLINE:
                    p = _report(problems, p, NO_FINAL_BLANK, start, start, stop, 0)
            if closes:  # check the sentence and begin the next
                if not broken:
                    for d in range(offsets[s], w):
                        if heads[d] > last:
                            p = _report(
                                problems, p, HEAD_RANGE, fields[d, 0], fields[d, HEAD], fields[d, HEAD + 1] - 1, last
                            )
                    if range_end > last:
                        p = _report(problems, p, RANGE_END, range_at, range_cut, range_stop, last)
                out.multiwords[s] = multiword
                out.empties[s] = empty
                s += 1
                offsets[s] = w
                sentences[s] = i
                lines[s] = line
                multiword = 0
                empty = 0
                inside = 0
                last = 0
                sub = 0
                range_end = 0
                broken = 0
                returned = 0
        out.counts[0] = s
        out.counts[1] = w
        out.counts[2] = p


def splice(raw: Ints, text: WrittenWords, edits: Replacements, out: Ints, copied: CopyBuffer) -> None:
    """Copy CoNLL-U text from `raw` to `out`, with the text of some columns replaced."""
    with cython.nogil:
        many = edits.columns.shape[0]
        shift = 0  # the position in the copy minus that in `raw`
        i = 0
        copied.sentences[0] = 0
        for s in range(text.offsets.shape[0] - 1):
            for w in range(text.offsets[s], text.offsets[s + 1]):
                c = 0
                for k in range(many):
                    column = edits.columns[k]
                    while c <= column:
                        copied.fields[w, c] = text.fields[w, c] + shift
                        c += 1
                    stop = text.fields[w, column]
                    while i < stop:
                        out[i + shift] = raw[i]
                        i += 1
                    x = edits.choices[k, w]
                    first = edits.marks[x]
                    length = edits.marks[x + 1] - first
                    for j in range(length):
                        out[i + shift + j] = edits.names[first + j]
                    stop = text.fields[w, column + 1] - 1
                    shift += length - (stop - i)
                    i = stop
                while c <= COLUMNS:
                    copied.fields[w, c] = text.fields[w, c] + shift
                    c += 1
            stop = text.sentences[s + 1]
            while i < stop:
                out[i + shift] = raw[i]
                i += 1
            copied.sentences[s + 1] = i + shift
